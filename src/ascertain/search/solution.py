"""What a search answers: the optimum with a policy that attains it, a proof that there is none, or an interval.

A proof is a list of rows on (label, class), classes being those of `block`, and the number of the row that speaks of
the task: a part of its hypotheses. Each row is a set of possibilities, what it costs at least to settle them, and why.
The rows hold one another up: for every action that all members of a row allow, the row names a reading y and another
row, which must be contained in what is left of this one after that action and that reading, and whose bound must be at
least this bound less the cost of the action. No move is needed where the bound is at most the cost of the action, nor
in a row in which two members share a state and differ in label: nothing settles it. Every row holds at least two
labels. The theorem and its proof are in `ascertain_check/claims/lower.py`, which replays a proof on the original task.

A proof about a mean has weighted rows. A row names for an action any number of *parts*, (reading, row, t): a row, t
times. Its bound must be at most the cost of the action times its weight plus the sum of t times the bounds of the
parts. What is left after a reading must hold the parts named for it: t times their weights are together at most its
weights. A member of weight 0 costs nothing, but has to be told apart (`ascertain_check/claims/lower_expected.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, final

from ascertain.drawing.shown import Shown
from ascertain.policy.automaton import Automaton
from ascertain.types import Action, IntArray, Reading

Objective: TypeAlias = Literal["worst", "expected"]
"""What is minimised: the largest cost over hypotheses, or their weighted mean."""
StopReason: TypeAlias = Literal["time", "memory", "interrupt"]
"""The limit that ended a search before its bounds met."""


@final
@dataclass(frozen=True)
class SearchStats:
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
    compiling_seconds: float = 0.0
    """The part of `seconds` in which kernels were compiled."""


@final
@dataclass(frozen=True)
class ProofRow:
    """Members are (label, state) of the original task, or (label, class) when the proof brings a partition."""

    members: tuple[tuple[int, int], ...]
    bound: Fraction | None
    """None stands for infinity: nothing settles the members."""
    moves: Mapping[Action, tuple[Reading, int]]
    """`moves[a]` is the reading and the number of the row that are named for action a."""


@final
@dataclass(frozen=True, eq=False)
class Proof(Shown):
    """Why the cost cannot be lower than `bound`."""

    rows: tuple[ProofRow, ...]
    root: int | None
    """The row that is about the task; None when the bound is 0, which needs no proof."""
    block: IntArray
    """`block[s]` is the class of the original state s; the rows hold (label, class), up to a renaming of labels in
    all rows but the root."""
    bound: Fraction | None
    """None stands for infinity."""

    def shown(self) -> Mapping[str, object]:
        return {"bound": "infinite" if self.bound is None else self.bound, "rows": len(self.rows)}


@final
@dataclass(frozen=True)
class MeanRow:
    """A row of a proof about a mean: members are (label, class, weight)."""

    members: tuple[tuple[int, int, int], ...]
    bound: Fraction | None
    """None stands for infinity: nothing settles the members."""
    moves: Mapping[Action, tuple[tuple[Reading, int, int], ...]]
    """`moves[a]` are the parts named for action a: reading, number of a row, and how many times it is taken."""


@final
@dataclass(frozen=True, eq=False)
class MeanProof(Shown):
    """Why the mean cost cannot be lower than `bound`."""

    rows: tuple[MeanRow, ...]
    parts: tuple[tuple[int, Fraction], ...]
    """Parts of the hypotheses: the number of a row, and how many times it is taken. The sum of times the bounds is the
    bound times the sum of the weights."""
    block: IntArray
    """`block[s]` is the class of the original state s; labels of rows are renamed."""
    bound: Fraction
    weights: tuple[Fraction, ...]
    """Of the hypotheses of the original task."""

    def shown(self) -> Mapping[str, object]:
        return {"bound": self.bound, "rows": len(self.rows)}


@final
@dataclass(frozen=True, eq=False)
class SharesProof(Shown):
    """Why the worst cost cannot be lower than `bound`: what the steps of a reference cost, shared out among rivals.

    The reference is a hypothesis, or fixed readings; see `ascertain_check/claims/shares.py` for the theorem.
    """

    bound: Fraction
    block: IntArray
    """`block[s]` is the class of the original state s."""
    reference: int | None
    """A hypothesis of the original task; None where readings are fixed."""
    readings: tuple[Reading, ...]
    """The reading of each action, where they are fixed."""
    joint: tuple[int, ...]
    """Hypotheses of the original task whose joint states are those of the reference, where readings are fixed."""
    rivals: tuple[int, ...]
    """Hypotheses of the original task, of different labels."""
    by_label: tuple[tuple[int, Action, int, Fraction], ...]
    """(state of the reference, action, label, share)."""
    by_state: tuple[tuple[int, Action, int, Fraction], ...]
    """(state of the reference, action, class, share)."""
    potential: tuple[tuple[int, Fraction], ...]

    def shown(self) -> Mapping[str, object]:
        return {"bound": self.bound, "shares": len(self.by_label) + len(self.by_state)}


@final
@dataclass(frozen=True, eq=False)
class Solved(Shown):
    """The optimum, a policy on the original task that attains it, and why nothing is cheaper."""

    cost: Fraction
    policy: Automaton
    proof: Proof | MeanProof | SharesProof | None
    """None where no proof was wanted."""
    stats: SearchStats
    objective: Objective = "worst"
    mean: Fraction | None = None
    """The mean cost of the policy under the weights."""
    mean_is_least: bool = False
    """Whether no policy of the least worst cost (or, where the mean is minimised, none at all) has a lower mean. Of
    worst costs this is the search's word: the proof is about the worst cost."""

    def shown(self) -> Mapping[str, object]:
        return {"cost": self.cost, "objective": self.objective, "policy": repr(self.policy)}


@final
@dataclass(frozen=True, eq=False)
class Unsolvable(Shown):
    """No policy settles the question, whatever it may cost; the witness proves it."""

    witness: Proof
    stats: SearchStats
    objective: Objective = "worst"

    def shown(self) -> Mapping[str, object]:
        return {"members": len(self.members), "objective": self.objective}

    @property
    def members(self) -> tuple[tuple[int, int], ...]:
        """The hypotheses, as (label, class), that cannot be settled even among themselves."""
        return () if self.witness.root is None else self.witness.rows[self.witness.root].members


@final
@dataclass(frozen=True, eq=False)
class Bounded(Shown):
    """The interval reached when a limit was met: lower <= optimum <= upper."""

    lower: Fraction
    upper: Fraction | None
    """None when no policy has been found."""
    policy: Automaton | None
    """Attains `upper`."""
    proof: Proof | MeanProof | SharesProof | None
    """Why the cost cannot be below `lower`; None where no proof was wanted, or Ctrl-C ended it."""
    why: StopReason
    stats: SearchStats
    objective: Objective = "worst"

    def shown(self) -> Mapping[str, object]:
        return {"lower": self.lower, "upper": self.upper, "objective": self.objective, "stopped_by": self.why}


Solution: TypeAlias = Solved | Unsolvable | Bounded
"""What `solve` returns."""
