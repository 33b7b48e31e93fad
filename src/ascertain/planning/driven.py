"""Driven policies: no tree at all, but the action that pays best at every memory, and an answer when it is earned.

A driven policy goes by its ledger (`ledger.py`). Where all memories of the task can be listed it is the solution of the
dynamic program at the best prices that were found (`pricing.py`), and the same program proves a lower bound. Where they
are too many, a guide narrows the actions at each memory (`guiding.py`: least evidence first, towards sensors, and,
given the visits of the program bound, as Chernoff would); the program then chooses among those. Weights of hypotheses
are moved towards the ones whose cost is largest, since the largest is what counts.

Every policy here is certified in one way: its wrong-answer probability, abstention and cost under every hypothesis are
evaluated with rounding upwards (`remembering.py`), on the whole law of its readings and with the clock's abstentions
counted; it is returned only if it keeps to alpha and beta. The running evidence rule (every rival at 1/alpha) needs no
evaluation and is what `close` rests on; evaluation lets a policy answer earlier than that rule would.

*Mixed thresholds.* Prices move whole groups of memories from answering to asking at once, since evidence lies on a
lattice. Between the last policy that is too rash and the first that is careful enough, memories are moved one after the
other, as many as alpha bears: threshold 8 here and 9 there, or 8 until some time and 9 from then on (`clocked.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import AbstractGuide, Ledgers, spread
from ascertain.planning.clocked import unroll
from ascertain.planning.controller import ABSTAIN, Remembering, Risk, set_clock
from ascertain.planning.guiding import MAX_STATES, Informative, Only
from ascertain.planning.information_state import Book, FloatArray, open_book
from ascertain.planning.likely import spread_likely
from ascertain.planning.pricing import Priced, Pricing, start_penalties
from ascertain.task.task import Task
from ascertain.types import LongArray

LONGEST = 1500
"""No policy asks more often than this."""


@final
@dataclass(frozen=True, eq=False)
class Driven:
    """The best driven policy that was found, if any keeps to the risk, and the best lower bound that was proved."""

    policy: Remembering | None
    risk: Risk | None
    lower: Fraction | None
    num_memories: int
    options: int | None
    """How many actions were considered at each likely memory; None for all of them, at all memories."""

    @property
    def cost(self) -> Fraction | None:
        return None if self.risk is None else self.risk.worst[2]


@final
@dataclass(frozen=True)
class Effort:
    """How far to look: memories in all, or of the likely ones, and rounds of moving the weights."""

    max_nodes: int = 60_000
    max_likely: int = 60_000
    rounds: int = 3
    trials: int = 30
    """Evaluations spent on mixing two policies."""


def drive(
    task: Task,
    alpha: Fraction,
    beta: Fraction,
    *,
    effort: Effort | None = None,
    preference: FloatArray | None = None,
    by_rank: bool = True,
    nameless: bool = False,
) -> Driven:
    """The best driven policy for a task about the start; LimitError when no ledger of it fits.

    `preference[h, a]` are expected visits, as the program bound gives them.
    """
    effort = effort or Effort()
    book = open_book(task, by_rank=by_rank, nameless=nameless)
    if nameless:
        return _Driving(book, alpha, beta, effort, None).run()
    for options in (None, 3, 2, 1):
        if options is not None and (options > book.num_actions or task.model.num_states > MAX_STATES):
            continue
        guide = None if options is None else Informative(book, options, preference)
        found = _try(_Driving(book, alpha, beta, effort, guide))
        if found is not None and (found.policy is not None or options is None):
            return found
    repeated = [_try(_Driving(book, alpha, beta, effort, Only(a))) for a in range(book.num_actions)]
    costs = [(one.cost, a) for a, one in enumerate(repeated) if one is not None and one.cost is not None]
    best = repeated[min(costs)[1]] if costs else None
    if best is None:
        raise LimitError("no driven policy within reach keeps to the risk; the task leads to too many memories")
    return best


def _try(driving: _Driving) -> Driven | None:
    try:
        return driving.run()
    except LimitError:
        return None


class _Driving:
    """One way of driving: prices and weights are looked for, and what was best is kept."""

    def __init__(
        self,
        book: Book,
        alpha: Fraction,
        beta: Fraction,
        effort: Effort,
        guide: AbstractGuide | None,
    ) -> None:
        self.book, self.alpha, self.beta, self.effort, self.guide = book, alpha, beta, effort, guide
        self.best: tuple[Remembering, Risk] | None = None
        self.lower: Fraction | None = None
        self.size = 0

    def run(self) -> Driven:
        weights = np.ones(self.book.num_slots) / self.book.num_slots
        rounds = 1 if self.book.exchangeable or self.book.nameless else self.effort.rounds
        for _ in range(rounds):
            risk = self.attempt(weights)
            if risk is None:
                break
            cost = np.array([float(c) for c in risk.cost])
            if cost.max() - cost.min() <= 1e-3 * cost.max():
                break
            weights = weights * np.exp(2.0 * (cost / cost.max() - 1))
            weights = np.maximum(weights / weights.sum(), 1e-4 / len(weights))
        policy, risk = self.best or (None, None)
        return Driven(policy, risk, self.lower, self.size, None if self.guide is None else self.guide.num_options)

    def attempt(self, weights: FloatArray) -> Risk | None:
        """Look for prices with these weights; the risk of the best policy that keeps to alpha and beta."""
        start, total = start_penalties(weights)
        pricing = Pricing(self.spread(start), total)
        self.size = max(self.size, pricing.ledgers.size)
        tries = _Tries(pricing, self)
        first = tries.first_careful()
        for i in range(max(0, first - 10), min(first + 2, len(tries.prices))):
            self.note(tries.solve(i).lower)
        if first == len(tries.prices):
            return None
        careful = tries.evaluate(first)
        assert careful is not None
        found = [careful]
        if first > 0:
            rash = tries.solve(first - 1).choice
            found += self.mix(pricing.ledgers, rash, careful[0].choice, tries.order())
            found += self.mix_in_time(pricing, rash, careful[0])
        best = min(found, key=lambda one: one[1].worst[2])
        if self.best is None or best[1].worst[2] < self.best[1].worst[2]:
            self.best = best
        return best[1]

    def spread(self, start: LongArray) -> Ledgers:
        cap = math.log(1 / self.alpha) + math.log(self.book.num_slots) + 1.0
        close = float(self.alpha) / (4 * self.book.num_slots)
        most = self.effort.max_nodes
        if self.guide is None:
            return spread(self.book, cap=cap, close=close, start=start, max_nodes=most)
        rare, most = float(self.beta) / self.book.num_slots, self.effort.max_likely
        for least in (rare / 1_000, rare / 100, rare / 10):
            try:
                return spread_likely(
                    self.book,
                    cap=cap,
                    close=close,
                    guide=self.guide,
                    start=start,
                    least=least,
                    remaining=rare / 4,
                    max_nodes=most,
                )
            except LimitError:
                continue
        raise LimitError(f"even the likely readings of this task lead to more than {most} memories")

    def note(self, lower: Fraction | None) -> None:
        if lower is not None and (self.lower is None or lower > self.lower):
            self.lower = lower

    def mix_in_time(self, pricing: Pricing, rash: LongArray, careful: Remembering) -> list[tuple[Remembering, Risk]]:
        """The same with the clock in the memory, the earliest first; nothing where that has too many nodes."""
        try:
            ledgers, node = unroll(pricing.ledgers, careful.choice, careful.horizon, self.effort.max_nodes // 4)
        except LimitError:
            return []
        asks = ledgers.option[:, 0] >= 0
        choice = np.where(asks, 0, np.where(careful.choice[node] < 0, careful.choice[node], ABSTAIN))
        early = np.where(asks & (rash[node] < 0), rash[node], choice)
        return self.mix(ledgers, early, choice, np.arange(len(node)))

    def mix(
        self, ledgers: Ledgers, rash: LongArray, careful: LongArray, order: LongArray
    ) -> list[tuple[Remembering, Risk]]:
        """Take from the rash choices as many early answers as alpha bears: groups first, then halves of what failed."""
        early = order[(rash[order] < 0) & (careful[order] >= 0)]
        choice = careful.copy()
        groups, trials = [early], min(self.effort.trials, 4 + 200_000 // ledgers.size)
        found: list[tuple[Remembering, Risk]] = []
        while groups and trials > 0:
            group, trials = groups.pop(), trials - 1
            attempt = choice.copy()
            attempt[group] = rash[group]
            clocked = set_clock(ledgers, attempt, self.alpha, self.beta, LONGEST)
            if clocked is not None:
                choice = attempt
                found.append(clocked)
            elif len(group) > 1:
                groups += [group[len(group) // 2 :], group[: len(group) // 2]]
        return found


class _Tries:
    """Prices of a wrong answer, from rash to careful, with what they lead to; each is solved once."""

    def __init__(self, pricing: Pricing, driving: _Driving) -> None:
        self.pricing, self.driving = pricing, driving
        alpha, beta = driving.alpha, driving.beta
        middle = math.log(1 / alpha)
        # Where the risk of the best policy meets alpha, the price is about the same as 1 / alpha.
        self.prices = [math.exp(middle + step / 4) for step in range(-16, 33)]
        dear = pricing.solve(float(1 / alpha), 1e6, alpha, beta)
        self.abstain = 3.0 * float(dear.value[0]) / pricing.total
        self.solved: dict[int, Priced] = {}
        self.evaluated: dict[int, tuple[Remembering, Risk] | None] = {}

    def solve(self, i: int) -> Priced:
        if i not in self.solved:
            below = max((j for j in self.solved if j < i), default=None)
            start = None if below is None else self.solved[below]
            driving = self.driving
            self.solved[i] = self.pricing.solve(self.prices[i], self.abstain, driving.alpha, driving.beta, start)
        return self.solved[i]

    def evaluate(self, i: int) -> tuple[Remembering, Risk] | None:
        """The policy at price i, if it keeps to alpha and beta."""
        if i not in self.evaluated:
            choice, driving = self.solve(i).choice, self.driving
            self.evaluated[i] = set_clock(self.pricing.ledgers, choice, driving.alpha, driving.beta, LONGEST)
        return self.evaluated[i]

    def order(self) -> LongArray:
        """Memories, those where the rivals have least of the mass first."""
        return np.argsort(self.pricing.rivals / self.pricing.mass, kind="stable")

    def first_careful(self) -> int:
        """The first price, by halving, whose policy keeps to alpha and beta; the number of prices if none does."""
        low, high = 0, len(self.prices)
        while low < high:
            middle = (low + high) // 2
            if self.evaluate(middle) is not None:
                high = middle
            else:
                low = middle + 1
        return low
