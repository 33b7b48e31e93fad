"""Shells: candidates of equal score, the best score first, of which a bank keeps the first J, and the nominal.

The *rank* of a state says how many shells a bank must keep to hold it. It is 0 for the nominal, which is kept however
few shells are; otherwise the number, from 1, of the shell that holds the state; and None, which stands for infinity,
for a state that no path of the operation ends in.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, TypeAlias, final

from ascertain.bank.candidates import Compiled, Shell
from ascertain.bank.weights import DEFAULT, Weighting
from ascertain.errors import TaskError
from ascertain.task.bank import Bank, nominal_bank, weighted_bank
from ascertain.types import State

Rank: TypeAlias = int | None
"""How many shells it takes; None stands for infinity: no number of them is enough."""


@final
@dataclass(frozen=True)
class KeptShells:
    """How many shells a bank keeps, and what says so."""

    number: int | None = None
    """None: all of them."""
    said_by: Literal["default", "number", "calibration", "compiler"] = "default"
    """Nothing, so that all are kept; a number that was given; a calibration; a compiler that never gives all."""
    coverage: Fraction | None = None
    """Of a calibration: how likely it is at least that they are enough. It is promised for operations like those that
    were calibrated on; no certificate proves it."""

    def __str__(self) -> str:
        many = "all" if self.number is None else str(self.number)
        why = "" if self.said_by in ("default", "number") else f", as the {self.said_by} says"
        return f"{many}{why}" + ("" if self.coverage is None else f" (promised coverage at least {self.coverage})")

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        coverage = None if self.coverage is None else str(self.coverage)
        return {"kept": "all" if self.number is None else self.number, "said_by": self.said_by, "coverage": coverage}


def keep_shells(compiled: Compiled, limit: int) -> tuple[Shell, ...]:
    """The first `limit` shells; fewer when the operation has no more."""
    if limit < 0:
        raise TaskError(f"{limit} shells cannot be kept; 0, for the nominal alone, or more")
    kept = tuple(islice(compiled.shells(), limit))
    if len(kept) < limit and not compiled.complete:
        raise TaskError(f"only the first {len(kept)} shells were compiled; compile {limit} to keep as many")
    return kept


def rank_state(compiled: Compiled, state: State) -> Rank:
    """The rank of a state: how many shells have to be kept to keep it."""
    if state == compiled.nominal:
        return 0
    score = compiled.score_of(state)
    if score is None:
        return None
    return next(rank for rank, shell in enumerate(compiled.shells(), start=1) if shell.score == score)


def bank_shells(compiled: Compiled, limit: int, weighting: Weighting = DEFAULT) -> Bank:
    """The bank of the first `limit` shells and the nominal; its weights sum to exactly 1.

    Without a nominal, where the log as sent cannot have happened, the shells share all.
    """
    kept = keep_shells(compiled, limit)
    if not kept:
        if compiled.nominal is None:
            raise TaskError("no shell is kept and there is no nominal, so the bank would be empty; keep a shell")
        return nominal_bank(compiled.nominal)
    parts = [[int(state) for state in shell.states] for shell in kept]
    left, weight = Fraction(1), dict[State, Fraction]()
    if compiled.nominal is not None:
        if weighting.nominal is not None:
            left, weight = 1 - weighting.nominal, {compiled.nominal: weighting.nominal}
        elif not any(compiled.nominal in part for part in parts):
            parts.append([compiled.nominal])
    for part, share in zip(parts, weighting.shares([len(part) for part in parts]), strict=True):
        each = left * share / len(part)
        for state in part:
            weight[state] = weight.get(state, Fraction(0)) + each
    return weighted_bank(weight)
