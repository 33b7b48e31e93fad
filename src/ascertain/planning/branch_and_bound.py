"""Openings: the first decisions of a policy, one for each history, and sharper bounds for policies that draw nothing.

The bound of `columns.py` is what the best *mixture* of policies costs. A policy here draws nothing at random: it has
one first action, and one decision after each history. An *opening* is a finite tree of histories with a decision at
each of them but at its *ends*, where everything is left open.

*Theorem.* Let an opening T be given, and prices (w, A, B) with sum of w_h equal to 1. Let q(t) for a history t of T be

    the value V of its memory (`Columns.appraise`), if t is an end;
    what the answer or the abstention costs at those prices, if T stops at t;
    c(a) mass + sum over readings y of factor * q(t y), if T asks a there.

Every policy that begins with T and keeps to (alpha, beta) costs at least q(root) - alpha sum A - beta sum B under some
hypothesis. *Proof.* Its cost is at least the priced sum minus what the risks may cost, as in `columns.py`. The priced
sum is the sum over the histories t of T of what is paid at t, and over the ends of what is paid from there on. What is
paid from an end on is at least V of its memory, V being the least over all continuations, whichever they are: they may
depend on the whole history, and do what they like where a memory of T is met again. Only histories are bound. QED

In particular the complexity is at least the least, over first decisions a, of the bound of the opening that asks a;
and so on: for every opening and each of its ends, a policy that begins with it decides somehow there. So *branching*
keeps a list of openings one of which every policy begins with, takes the one with the least bound, and replaces it by
one opening for each decision at one of its ends. The least bound in the list is a bound on the complexity.

- *Decisions that break a risk* are left out: answering there errs, or abstaining abstains, with more than alpha (beta)
  under some hypothesis already. Weights of ledgers never exceed the true ones, so this is safe.
- *Actions that tell nothing* and move nothing have no place among the options of a memory (`spreading.py`). But they
  are a coin that a policy may toss, so openings that *idle* are not left out: the least cost of such an action is paid,
  and then all is open again at the same memory. V of that is the sum over y of V after y, since all who live read y
  alike. That end is never decided: after each reading the policy may decide otherwise.
- *Exchangeable hypotheses* (`ledger.py`). Let p rename hypotheses, and with them their sensors. A policy becomes
  another one by p, which keeps to the same risks and costs as much in the worst case. If p leaves alone every
  hypothesis whose sensor T asks or whose label T answers, it maps policies that begin with T to such policies, and
  those that ask the sensor of h at an end to those that ask that of p(h) there. So of all hypotheses that T does not
  name one stands for all, among what may be asked, and among what may be answered.

*Prices.* The linear program of `columns.py`, but each end mixes plans for itself: the ends may be treated differently,
so one plan gives a column to each of them.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast, final

import numpy as np
from scipy.optimize import linprog  # pyright: ignore[reportUnknownVariableType]
from scipy.sparse import csr_array

from ascertain.kernels.planning.controllers import SHRINK
from ascertain.planning.column_generation import DEAR, SLIGHT, Appraisal, Columns, Mixture, Plan, Prices
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.information_state import NOWHERE, FloatArray, is_exchangeable
from ascertain.planning.rounding import Rounding
from ascertain.types import UNDEFINED, BoolArray, LongArray

OPEN = -(1 << 31)
"""The decision at an end: none yet."""
IDLE = OPEN + 1
"""The decision to ask what tells nothing."""
SURE = 1 - 1e-6


@final
@dataclass(frozen=True, eq=False)
class Opening:
    """`decision[t]` at history t: an option, an answer, ABSTAIN or OPEN; `after[t][y]` is a history or NOWHERE."""

    memory: tuple[int, ...] = (0,)
    scale: tuple[float, ...] = (1.0,)
    """Times the weights of its memory it is the probability of t under each hypothesis; about."""
    decision: tuple[int, ...] = (OPEN,)
    after: tuple[tuple[int, ...], ...] = ((),)
    tossed: frozenset[int] = frozenset()
    """Ends after an idle action."""

    @property
    def ends(self) -> list[int]:
        return [t for t, decision in enumerate(self.decision) if decision == OPEN]

    def decide(self, columns: Columns, t: int, decision: int) -> Opening:
        """The same with this decision at the end t, whose readings lead to new ends."""
        assert self.decision[t] == OPEN
        decisions = (*self.decision[:t], decision, *self.decision[t + 1 :])
        if decision == IDLE:
            return self.idle(t, decisions)
        if decision < 0:
            return replace(self, decision=decisions)
        v = self.memory[t]
        children: list[int] = columns.ledgers.child[v, decision].tolist()
        new = [(w, self.scale[t] * float(columns.factor[v, decision, y])) for y, w in enumerate(children) if w >= 0]
        number = iter(range(len(self.memory), len(self.memory) + len(new)))
        after = (*self.after[:t], tuple(next(number) if w >= 0 else NOWHERE for w in children), *self.after[t + 1 :])
        return Opening(
            self.memory + tuple(w for w, _ in new),
            self.scale + tuple(scale for _, scale in new),
            decisions + (OPEN,) * len(new),
            after + ((),) * len(new),
            self.tossed,
        )

    def idle(self, t: int, decisions: tuple[int, ...]) -> Opening:
        u = len(self.memory)
        return Opening(
            (*self.memory, self.memory[t]),
            (*self.scale, self.scale[t]),
            (*decisions, OPEN),
            (*self.after[:t], (u,), *self.after[t + 1 :], ()),
            self.tossed | {u},
        )

    def value(self, columns: Columns, worth: Appraisal) -> float:
        """q(root) at the prices of the appraisal, on the safe side: each step is shrunk by more than its rounding."""
        ledgers, q = columns.ledgers, [0.0] * len(self.memory)
        for t in range(len(q) - 1, -1, -1):
            v, decision = self.memory[t], self.decision[t]
            if decision == OPEN:
                q[t] = float(worth.value[v])
            elif decision == IDLE:
                q[t] = (find_idle(columns, v) * float(worth.mass[v]) + q[self.after[t][0]]) * SHRINK
            elif decision == ABSTAIN:
                q[t] = float(worth.leave[v]) * SHRINK
            elif decision < 0:
                q[t] = float(worth.missed[v, -1 - decision]) * SHRINK
            else:
                total = float(ledgers.book.cost[ledgers.option[v, decision]] * worth.mass[v])
                for y, u in enumerate(self.after[t]):
                    total += float(columns.factor[v, decision, y]) * q[u] if u >= 0 else 0.0
                q[t] = total * SHRINK
        return q[0]

    def often(self, columns: Columns, t: int) -> float:
        """The probability of t under the hypothesis that makes it most likely."""
        return self.scale[t] * float(columns.weight[self.memory[t]].max())


@final
@dataclass(frozen=True, eq=False)
class Mixed:
    """The cheapest mixture after an opening: `share[i, k]` of plan k at the i-th end, and the multipliers."""

    ends: list[int]
    share: FloatArray
    value: float
    prices: Prices

    def opinions(self, opening: Opening, choices: list[LongArray], i: int) -> dict[int, float]:
        """What the plans that are mixed at the i-th end would do there, each decision with its share."""
        v, result = opening.memory[self.ends[i]], dict[int, float]()
        for k in np.flatnonzero(self.share[i] > SLIGHT).tolist():
            decision = int(choices[k][v])
            result[decision] = result.get(decision, 0.0) + float(self.share[i, k])
        return result

    def is_settled(self, i: int) -> bool:
        return float(self.share[i].max()) > SURE


@final
@dataclass(frozen=True, eq=False)
class Bounded:
    """What was proved for policies that begin with an opening, at which prices, and the last mixture."""

    lower: Fraction
    prices: Prices
    mixed: Mixed


class Openings:
    """A pool of plans that opened policies go on with, and column generation for each opening."""

    def __init__(self, columns: Columns, mixture: Mixture, known: int | None = None) -> None:
        """`known` memories, the first, are those that an opening may meet; all of them if not given."""
        self.columns, self.ledgers = columns, columns.ledgers
        self.known = self.ledgers.size if known is None else min(known, self.ledgers.size)
        self.rounding = Rounding(columns, max(mixture.value, float(self.ledgers.book.cost.min())))
        self.average = np.zeros((len(columns.party), len(columns.members)))
        self.average[np.arange(len(columns.party)), columns.party] = 1.0 / columns.members[columns.party]
        self.choices: list[LongArray] = []
        self.worth: list[FloatArray] = []
        """What each plan costs, errs and abstains from each memory on, for each party, in units of the risks."""
        self.room = 1.0
        """Parts of the risks that mixtures may use up."""
        self.symmetric = is_exchangeable(self.ledgers.book.task)
        for plan, share in zip(mixture.plans, mixture.share, strict=True):
            if share > SLIGHT:
                self.add(plan)

    def add(self, plan: Plan | LongArray) -> None:
        choice = plan.choice if isinstance(plan, Plan) else plan
        asked = self.ledgers.option[np.arange(len(choice)), np.maximum(choice, 0)]
        choice = np.where((choice >= 0) & (asked < 0), ABSTAIN, choice)
        worth = self.rounding.foresee(choice, np.zeros((self.ledgers.size, len(self.rounding.scale))))
        self.choices.append(choice)
        self.worth.append(self.by_party(worth[: self.known]))

    def by_party(self, achieved: FloatArray) -> FloatArray:
        n = len(self.average)
        return np.hstack([achieved[:, i * n : (i + 1) * n] @ self.average for i in range(3)])

    def paid(self, opening: Opening) -> FloatArray:
        """What the decisions of an opening themselves cost, err and abstain."""
        total = np.zeros((1, len(self.rounding.scale)))
        for t, (v, decision) in enumerate(zip(opening.memory, opening.decision, strict=True)):
            if decision == IDLE:
                total[0, : len(self.average)] += opening.scale[t] * find_idle(self.columns, v) * self.columns.weight[v]
            elif decision != OPEN:
                total += opening.scale[t] * self.rounding.pay(np.array([v]), np.array([decision]))
        return self.by_party(total)[0]

    def follow(self, opening: Opening) -> FloatArray:
        """`[i, k]`: what plan k achieves from the i-th end on."""
        ends = opening.ends
        scale, memory = np.array([opening.scale[t] for t in ends]), [opening.memory[t] for t in ends]
        return np.stack([scale[:, None] * worth[memory] for worth in self.worth], axis=1)

    def mix(self, opening: Opening) -> Mixed:
        """The cheapest mixture within the risks, which may be broken dearly."""
        ends, n = opening.ends, len(self.columns.members)
        if not ends:
            paid, even = self.paid(opening), self.columns.even(1.0)
            above = float(np.maximum(0.0, paid[n:] - self.room).sum())
            return Mixed(
                ends,
                np.zeros((0, len(self.choices))),
                float(paid[:n].max()) + DEAR * self.rounding.unit * above,
                even,
            )
        achieved = self.follow(opening)
        count = achieved.shape[0] * achieved.shape[1]
        rows = achieved.reshape(count, 3 * n).T
        matrix = np.hstack([np.where(rows < SLIGHT, 0.0, rows), np.zeros((3 * n, 1)), -np.eye(3 * n)[:, n:]])
        matrix[:n, count] = -1.0
        limit = np.concatenate([np.zeros(n), np.full(2 * n, self.room)]) - self.paid(opening)
        goal = np.concatenate([np.zeros(count), [1.0], np.full(2 * n, DEAR * self.rounding.unit)])
        total = np.zeros((len(ends), matrix.shape[1]))
        total[np.arange(count) // achieved.shape[1], np.arange(count)] = 1.0
        found = cast(
            "Any",
            linprog(goal, A_ub=matrix, b_ub=limit, A_eq=csr_array(total), b_eq=np.ones(len(ends)), method="highs"),
        )
        if found.x is None or found.ineqlin.marginals is None or found.status not in (0, 4):
            return self.mix_evenly(ends)
        dual = np.maximum(0.0, -np.asarray(found.ineqlin.marginals, dtype=np.float64)).reshape(3, n)
        share = np.asarray(found.x[:count], dtype=np.float64).reshape(achieved.shape[:2])
        return Mixed(ends, share, float(found.fun), self.columns.read_prices(dual))

    def mix_evenly(self, ends: list[int]) -> Mixed:
        """Where the program is too hard for floats: any prices prove something."""
        count = len(self.choices)
        return Mixed(ends, np.full((len(ends), count), 1.0 / count), np.inf, self.columns.even(1.0))

    def bound(
        self, opening: Opening, rounds: int, prices: Prices, enough: float = 1e-3, target: float = np.inf
    ) -> Bounded:
        """Ask for plans at the mixture's prices until they hardly make it cheaper, or the bound is at the target."""
        best = self.ask(opening, prices), prices
        mixed = self.mix(opening)
        for turn in range(rounds):
            if mixed.value - float(best[0]) <= enough * mixed.value or float(best[0]) >= target:
                break
            prices = mixed.prices.towards(best[1], 0.5) if turn % 3 else mixed.prices
            lower = self.ask(opening, prices)
            if lower > best[0]:
                best = lower, prices
            mixed = self.mix(opening)
        return Bounded(best[0], best[1], mixed)

    def ask(self, opening: Opening, prices: Prices) -> Fraction:
        """Add the best plan at these prices to the pool; what they prove of policies that begin with the opening."""
        worth = self.columns.appraise(prices)
        self.add(worth.choice)
        return self.columns.bound(opening.value(self.columns, worth), prices)

    def forget(self, mixed: Mixed, newest: int = 5) -> Mixed:
        """Leave plans out of the pool that are not used, but for the newest."""
        used: BoolArray = mixed.share.max(axis=0, initial=0.0) > SLIGHT
        used[-newest:] = True
        keep = np.flatnonzero(used)
        self.choices, self.worth = [self.choices[k] for k in keep], [self.worth[k] for k in keep]
        return replace(mixed, share=mixed.share[:, keep])

    def list_decisions(self, opening: Opening, t: int) -> list[int]:
        """The decisions at the end t that may keep to the risks; of those alike by symmetry the first."""
        options = np.flatnonzero(self.ledgers.option[opening.memory[t]] >= 0).tolist()
        answers = range(-1, -1 - self.columns.misses.shape[1], -1)
        found = [*options, *(d for d in (*answers, ABSTAIN) if self.may_stop(opening, t, d))]
        if find_idle(self.columns, opening.memory[t]) < np.inf:
            found.append(IDLE)
        return self.represent(opening, found) if self.symmetric else found

    def represent(self, opening: Opening, decisions: list[int]) -> list[int]:
        """One decision for all that are the same but for names that the opening does not use."""
        named = {self.name(d) for d in opening.decision}
        result: list[int] = []
        seen: set[bool] = set()
        for d in decisions:
            name = self.name(d)
            fresh = name is not None and name not in named
            if not fresh or (d >= 0) not in seen:
                result.append(d)
            if fresh:
                seen.add(d >= 0)
        return result

    def name(self, decision: int) -> int | None:
        """The hypothesis whose sensor is asked, or whose label is answered."""
        if decision >= 0:
            return decision
        owner = np.flatnonzero(self.ledgers.book.task.label == -1 - decision)
        return int(owner[0]) if decision > ABSTAIN and len(owner) else None

    def may_stop(self, opening: Opening, t: int, decision: int) -> bool:
        """Whether stopping there does not break a risk by itself; on the safe side."""
        columns = self.columns
        missed = 1.0 if decision == ABSTAIN else columns.misses[:, -1 - decision]
        risk = columns.beta if decision == ABSTAIN else columns.alpha
        lost = opening.scale[t] * np.bincount(columns.party, weights=columns.weight[opening.memory[t]] * missed)
        return bool((lost * (1 - 1e-9) <= float(risk) * columns.members).all())

    def find_end(self, opening: Opening, mixed: Mixed) -> int | None:
        """The end where the plans that are mixed disagree most on what to do, if any is known and not closed."""
        best: tuple[float, int] | None = None
        for i, t in enumerate(mixed.ends):
            v = opening.memory[t]
            if t in opening.tossed or self.columns.closed[v] or int(self.ledgers.child[v].max()) >= self.known:
                continue
            opinions = mixed.opinions(opening, self.choices, i)
            apart = (1 - max(opinions.values()) + 1e-6) * opening.often(self.columns, t)
            if best is None or apart > best[0]:
                best = apart, t
        return None if best is None else best[1]


def bound_by_openings(
    columns: Columns, mixture: Mixture, *, branches: int, rounds: int, known: int = 2000, target: float = np.inf
) -> Fraction:
    """A lower bound for policies that draw nothing at random, from so many branchings; ledgers are whole and named."""
    assert columns.ledgers.whole
    assert columns.ledgers.slot is None
    pool = Openings(columns, mixture, known)
    root = pool.bound(Opening(), 0, mixture.prices)
    queue: list[tuple[Fraction, int, Opening, Bounded]] = [(mixture.lower, 0, Opening(), root)]
    number = 0
    for _ in range(branches):
        lower, _, opening, found = queue[0]
        t = pool.find_end(opening, pool.mix(opening))
        if t is None or float(lower) >= target:
            break
        heapq.heappop(queue)
        for decision in pool.list_decisions(opening, t):
            number += 1
            longer = opening.decide(columns, t, decision)
            proved = pool.bound(longer, rounds, found.prices, target=target)
            heapq.heappush(queue, (max(lower, proved.lower), number, longer, proved))
        if not queue:
            return lower
    return queue[0][0]


def find_idle(columns: Columns, v: int) -> float:
    """The least cost of an action that is allowed at a memory but no option there, telling nothing; inf if none is."""
    state, book = columns.ledgers.state[v], columns.ledgers.book
    after = book.successor[np.maximum(state, 0)]
    undefined: BoolArray = np.any((after == UNDEFINED)[state != NOWHERE], axis=0)
    options = set(columns.ledgers.option[v].tolist())
    left = [a for a in range(book.num_actions) if not undefined[a] and a not in options]
    return min((float(book.cost[a]) for a in left), default=np.inf)
