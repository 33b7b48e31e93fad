"""What a search answers: the optimum with a policy that attains it, a proof that there is none, or an interval.

A proof is a list of rows (`search/rows.py`) on (label, class), classes being those of `block`, and the number of the
row that speaks of the task: a part of its hypotheses. `ascertain_check` replays it on the original task.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, final

from ascertain.policy.automaton import Automaton
from ascertain.search.rows import Row
from ascertain.types import IntArray

Objective: TypeAlias = Literal["worst", "expected"]
Why: TypeAlias = Literal["time", "memory", "interrupt"]


@final
@dataclass(frozen=True)
class Stats:
    """How much was done."""

    seconds: float
    configurations: int
    """Configurations met."""
    expanded: int
    """Configurations whose branches were formed."""
    visits: int
    """Times a configuration was looked at."""
    bytes: int
    """What the tables of the search take."""


@final
@dataclass(frozen=True, eq=False)
class Proof:
    """Why the cost cannot be lower than `bound`."""

    rows: tuple[Row, ...]
    root: int | None
    """The row that is about the task; None when the bound is 0, which needs no proof."""
    block: IntArray
    """`block[s]` is the class of the original state s; the rows hold (label, class), up to a renaming of labels in
    all rows but the root."""
    bound: Fraction | None
    """None stands for infinity."""


@final
@dataclass(frozen=True, eq=False)
class Solved:
    """The optimum, a policy on the original task that attains it, and, for worst costs, why nothing is cheaper."""

    cost: Fraction
    policy: Automaton
    proof: Proof | None
    stats: Stats
    objective: Objective = "worst"


@final
@dataclass(frozen=True, eq=False)
class Unsolvable:
    """No policy settles the question, whatever it may cost; the witness proves it."""

    witness: Proof
    stats: Stats
    objective: Objective = "worst"

    @property
    def members(self) -> tuple[tuple[int, int], ...]:
        """The hypotheses, as (label, class), that cannot be settled even among themselves."""
        return () if self.witness.root is None else self.witness.rows[self.witness.root].members


@final
@dataclass(frozen=True, eq=False)
class Bounded:
    """The interval reached when a limit was met: lower <= optimum <= upper."""

    lower: Fraction
    upper: Fraction | None
    """None when no policy has been found."""
    policy: Automaton | None
    """Attains `upper`."""
    proof: Proof | None
    """Why the cost cannot be below `lower`, for worst costs."""
    why: Why
    stats: Stats
    objective: Objective = "worst"


Solution: TypeAlias = Solved | Unsolvable | Bounded
