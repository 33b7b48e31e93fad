"""A policy that treats all hypotheses alike, and the best lower bound that ledgers prove.

The worst hypothesis is what counts. A policy that asks the sensors in their order is quick if the first hypothesis is
true and slow if the last one is; so it should take more care before it names the first, which leaves the last one room
to be named earlier. `columns.py` finds what mixtures of plans can do, and that bounds every policy from below. Then one
policy is made out of the mixture:

- *narrow*: memories that no plan met so far are left out, and what leads there ends there;
- *follow*: decide history by history for as long as it matters, then follow one plan after each history
  (`following.py`); where every hypothesis has its own label. If that comes near the bound it is all. Else:
- *dive*: where its plans decide differently, at the memory that is met most often, all are bound to decide like most of
  them, and the best mixture under that is found, a few times over. What is left to disagree on is then rarely met;
- *round*: the plans met on the way that are nearest to keeping the risks are changed decision by decision
  (`rounding.py`), and the best of what comes of it is evaluated like every other policy.

Ledgers by name serve both purposes. Where they are too large, by rank or without names they still give the bound.
By name they also give a sharper one, for policies that draw nothing at random: `openings.py`. It is looked for where
the policy is not yet near the bound of mixtures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import Ledgers, narrow, spread
from ascertain.planning.branch_and_bound import bound_by_openings
from ascertain.planning.column_generation import Columns, Mixture, Plan
from ascertain.planning.controller import Remembering, Risk, set_clock
from ascertain.planning.following import Following
from ascertain.planning.information_state import FloatArray, is_exchangeable, may_be_nameless, open_book
from ascertain.planning.rounding import Rounding
from ascertain.task.task import Task
from ascertain.types import BoolArray, LongArray

LONGEST = 1500
RARE = 1e-3
"""Memories met less often than this are not worth binding."""
FEW = 2_000
"""Memories beyond which fewer plans are changed, and fewer times."""
UNHEARD = 1e-9
"""Memories met less often than this by all plans are left out of policies."""
NEAR, CLOSE = Fraction(102, 100), Fraction(105, 100)
"""A policy that costs no more than this times the bound leaves nothing to look for; nor, so much, another policy."""
TURNS, LONG_TURNS = 10, 20
"""Rounds of column generation after an opening, for a policy and for a bound."""
GENEROUS, SPARE = 4.0, 1.0
"""Nats beyond 1/alpha that a hypothesis is remembered for, if there is room, and if there is not."""


@final
@dataclass(frozen=True)
class Pains:
    """How far to go."""

    max_memories: int = 60_000
    """The largest ledgers that a policy is made from."""
    max_bounded: int = 250_000
    """The largest ledgers that a bound is read off."""
    work: int = 30_000_000
    """Rounds of column generation times options of all memories."""
    dives: int = 12
    starts: int = 24
    changes: int = 150
    ends: int = 400
    """Histories after which a policy follows a plan of its own."""
    branches: int = 16
    """Openings that are made longer, for the bound."""


@final
@dataclass(frozen=True, eq=False)
class Balanced:
    """The best policy found, with its risk, if any keeps to alpha and beta, and the lower bounds that were proved."""

    policy: Remembering | None
    risk: Risk | None
    lower: Fraction
    """For mixtures of policies too."""
    opened: Fraction
    """For policies that draw nothing at random; never below `lower`."""


def bound_by_columns(task: Task, alpha: Fraction, beta: Fraction, pains: Pains | None = None) -> Fraction:
    """The lower bound alone, on the smallest ledgers that the task has; LimitError where all are too large."""
    pains = pains or Pains()
    named = not is_exchangeable(task) and not may_be_nameless(task)
    return mix_plans(task, alpha, beta, pains, named=named, most=pains.max_bounded)[1].lower


def mix_plans(
    task: Task, alpha: Fraction, beta: Fraction, pains: Pains, *, named: bool, most: int
) -> tuple[Columns, Mixture]:
    """The best mixture of plans on ledgers of at most so many memories; LimitError where there are more."""
    ledgers = _fit(task, alpha, most, named=named)
    columns = Columns(ledgers, alpha, beta)
    return columns, columns.generate(_rounds(ledgers, pains))


def balance(task: Task, alpha: Fraction, beta: Fraction, pains: Pains | None = None) -> Balanced:
    """A balanced policy for a task about the start; LimitError where its memories by name are too many."""
    pains = pains or Pains()
    columns, mixture = mix_plans(task, alpha, beta, pains, named=True, most=pains.max_memories)
    policy, risk = _make(columns, mixture, pains) or (None, None)
    target = math.inf if risk is None else float(risk.worst[2] / NEAR)
    opened = bound_by_openings(
        columns, mixture, branches=_branches(columns.ledgers, pains), rounds=LONG_TURNS, target=target
    )
    return Balanced(policy, risk, mixture.lower, opened)


def _make(columns: Columns, mixture: Mixture, pains: Pains) -> tuple[Remembering, Risk] | None:
    """The best policy that the memories met so far have room for."""
    often = columns.weight.max(axis=1)
    keep = np.zeros(len(often), dtype=np.bool_)
    for plan in mixture.plans:
        keep |= (plan.visits * often > UNHEARD) & (plan.choice >= 0)
    ledgers, node = narrow(columns.ledgers, keep)
    fewer = Columns(ledgers, columns.alpha, columns.beta)
    plans = tuple(fewer.plan_of(plan.choice[node], Fraction(0)) for plan in mixture.plans)
    followed: tuple[Remembering, Risk] | None = None
    if len(fewer.members) == len(fewer.party):
        followed = Following(fewer, replace(mixture, plans=plans), ends=pains.ends, rounds=TURNS).make()
        if followed is not None and followed[1].worst[2] <= CLOSE * mixture.lower:
            return followed
    made = _Making(fewer, fewer.generate(_rounds(ledgers, pains), plans), pains).make()
    found = [one for one in (followed, made) if one is not None]
    return min(found, key=lambda one: one[1].worst[2], default=None)


def _branches(ledgers: Ledgers, pains: Pains) -> int:
    """As many as the work allows, but two at least, if three decisions are to be looked at for each."""
    return min(pains.branches, max(2, pains.work // (3 * LONG_TURNS * ledgers.size * ledgers.option.shape[1])))


def _fit(task: Task, alpha: Fraction, most: int, *, named: bool) -> Ledgers:
    """Whole ledgers, that remember as much as there is room for."""
    nameless = not named and not is_exchangeable(task)
    book = open_book(task, by_rank=not named, nameless=nameless)
    far = math.log(1 / alpha) + math.log(book.num_slots)
    for more in (GENEROUS, SPARE):
        close = float(alpha) * math.exp(1 - more) / (4 * book.num_slots)
        try:
            return spread(book, cap=far + more, close=close, max_nodes=most)
        except LimitError:
            continue
    raise LimitError(f"the readings of this task lead to more than {most} different memories")


def _rounds(ledgers: Ledgers, pains: Pains) -> int:
    return min(100, max(12, pains.work // (ledgers.size * ledgers.option.shape[1])))


class _Making:
    """One policy out of a mixture."""

    def __init__(self, columns: Columns, mixture: Mixture, pains: Pains) -> None:
        self.columns, self.mixture, self.pains = columns, mixture, pains
        self.ledgers = columns.ledgers
        self.rounds = min(60, _rounds(self.ledgers, pains))
        self.rounding = Rounding(columns, max(mixture.value, float(self.ledgers.book.cost.min())))
        self.found: list[tuple[float, LongArray]] = []

    def make(self) -> tuple[Remembering, Risk] | None:
        self.dive()
        best: tuple[Remembering, Risk] | None = None
        part = min(1.0, FEW / self.ledgers.size)
        for _, choice in self.list_starts(max(3, int(self.pains.starts * part))):
            changed = self.rounding.improve(choice, max(20, int(self.pains.changes * part)))
            clocked = set_clock(self.ledgers, changed, self.columns.alpha, self.columns.beta, LONGEST)
            if clocked is not None and (best is None or clocked[1].worst[2] < best[1].worst[2]):
                best = clocked
        return best

    def note(self, plans: tuple[Plan, ...]) -> None:
        self.found += [(self.rounding.value_of(plan), plan.choice) for plan in plans]

    def list_starts(self, most: int) -> list[tuple[float, LongArray]]:
        """The best plans, no two of the same value."""
        starts: list[tuple[float, LongArray]] = []
        for value, choice in sorted(self.found, key=lambda one: one[0]):
            if not starts or value > starts[-1][0] * (1 + 1e-6):
                starts.append((value, choice))
        return starts[:most]

    def dive(self) -> None:
        """Bind the plans together, memory by memory."""
        mixture, ban = self.mixture, np.zeros((self.ledgers.size, 1 + self.ledgers.option.shape[1]), dtype=np.bool_)
        self.note(mixture.plans)
        dives = min(self.pains.dives, max(3, self.pains.work // (self.rounds * self.ledgers.size * ban.shape[1])))
        for _ in range(dives):
            bound = self.bind(mixture, ban)
            if bound is None:
                break
            v, decision = bound
            kept = tuple(plan for plan in mixture.plans if not plan.visits[v] or plan.choice[v] == decision)
            mixture = self.columns.generate(self.rounds, kept, ban, enough=2e-3)
            self.note(mixture.plans[len(kept) :])

    def bind(self, mixture: Mixture, ban: BoolArray) -> tuple[int, int] | None:
        """Ban all but the commonest decision at the memory where plans disagree most; None where they hardly do."""
        used = [k for k, share in enumerate(mixture.share) if share > 1e-6]
        choice = np.array([mixture.plans[k].choice for k in used])
        often: FloatArray = self.columns.weight.max(axis=1)
        met = np.array([mixture.share[k] * mixture.plans[k].visits * often for k in used])
        commonest = choice[met.argmax(axis=0), np.arange(self.ledgers.size)]
        apart = np.where(choice != commonest, met, 0.0).sum(axis=0)
        v = int(apart.argmax())
        if apart[v] < RARE:
            return None
        decision = int(commonest[v])
        ban[v] = True
        ban[v, 1 + decision if decision >= 0 else 0] = False
        return v, decision
