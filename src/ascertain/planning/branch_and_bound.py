"""Branch and bound over the first decisions: sharper lower bounds, for policies that draw nothing at random.

The bound of `column_generation.py` is what the best *mixture* of policies costs. A policy here draws nothing at random:
it has one first action, and one decision after each history. A *partial policy* is a finite tree of histories with a
decision at each of them except at its *leaves*, where everything is left open.

*Theorem.* Let a partial policy T be given, and prices (w, A, B) with sum of w_h equal to 1. Let q(t) for a history t of
T be

    the value V of its information state (`ColumnGeneration.value_nodes`), if t is a leaf;
    what the answer or the abstention costs at those prices, if T stops at t;
    c(a) mass + sum over readings y of factor * q(t y), if T asks a there.

Every policy that begins with T and keeps to (alpha, beta) costs at least q(root) - alpha sum A - beta sum B under some
hypothesis. *Proof.* Its cost is at least the priced sum minus what the risks may cost, by weak duality. The priced sum
is the sum over the histories t of T of what is spent at t, and over the leaves of what is spent from there on. From a
leaf on at least V of its information state is spent, V being the least over all continuations, whichever they are: they
may depend on the whole history, and do what they like where an information state of T is met again. Only histories are
bound. QED

In particular the complexity is at least the least, over first decisions a, of the bound of the partial policy that asks
a; and so on: for every partial policy and each of its leaves, a policy that begins with it decides somehow there. So
*branching* keeps a list of partial policies one of which every policy begins with, takes the one with the least bound,
and replaces it by one for each decision at one of its leaves. The least bound in the list bounds the complexity.

- *Decisions that break a risk* are left out: answering there errs, or abstaining abstains, with more than alpha (beta)
  under some hypothesis already. Weights in a belief graph never exceed the true ones, so this is safe.
- *Idle actions*, which tell nothing and move nothing, are no options of a node (`belief_graph.py`). But they are a coin
  that a policy may toss, so they are not left out: the least cost of such an action is spent, and then all is open
  again at the same information state. V of that is the sum over y of V after y, since all hypotheses left read y alike.
  That leaf is never decided: after each reading the policy may decide otherwise.
- *Exchangeable hypotheses* (`information_state.py`). Let p rename hypotheses, and with them their sensors. A policy
  becomes another one by p, which keeps to the same risks and costs as much in the worst case. If p leaves alone every
  hypothesis whose sensor T asks or whose label T answers, it maps policies that begin with T to such policies, and
  those that ask the sensor of h at a leaf to those that ask that of p(h) there. So of all hypotheses that T does not
  name one stands for all, among what may be asked, and among what may be answered.

*Prices* come from the master program of `column_generation.py`, but each leaf mixes columns for itself: the leaves may
be treated differently, so one column enters once for each of them.

Reference: Barnhart and others, Operations Research 46 (1998), on branch and price.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.kernels.planning.controllers import SHRINK
from ascertain.planning.belief_graph import BeliefGraph
from ascertain.planning.column_generation import LP_ZERO, RISK_PENALTY, ColumnGeneration, Mixture, PricedValues, Prices
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.information_state import is_exchangeable
from ascertain.planning.local_search import LocalSearch
from ascertain.planning.multipliers import Branch, Branching, Multipliers
from ascertain.policy.automaton import NOWHERE
from ascertain.types import UNDEFINED, BoolArray, FloatArray, LongArray

UNDECIDED = -(1 << 31)
"""The decision at a leaf: none yet. Below ABSTAIN and every answer."""
IDLE = UNDECIDED + 1
"""The decision to ask what tells nothing."""
UNANIMOUS = 1 - 1e-6
"""A larger share than this of one column, or of one decision, is all of it but for the solver's tolerance."""
NUM_NEWEST = 5
"""Columns that stay in the pool although they are not used: what was asked for last is often used next."""
MAX_KNOWN = 2000
"""Nodes, the first ones, that branching looks at: outcomes from them on are kept for every column."""


@final
@dataclass(frozen=True, eq=False)
class PartialPolicy:
    """A decision at each history t: an option, an answer, ABSTAIN, IDLE or UNDECIDED; `after[t][y]` is the next one."""

    node: tuple[int, ...] = (0,)
    scale: tuple[float, ...] = (1.0,)
    """Times the weights of its node it is the probability of t under each hypothesis, approximately."""
    decision: tuple[int, ...] = (UNDECIDED,)
    after: tuple[tuple[int, ...], ...] = ((),)
    after_idle: frozenset[int] = frozenset()
    """Leaves after an idle action."""

    @property
    def leaves(self) -> list[int]:
        return [t for t, decision in enumerate(self.decision) if decision == UNDECIDED]

    def decide(self, program: ColumnGeneration, t: int, decision: int) -> PartialPolicy:
        """The same with this decision at the leaf t, whose readings lead to new leaves."""
        assert self.decision[t] == UNDECIDED
        first, v = len(self.node), self.node[t]
        if decision == IDLE:
            children, factor = [v], [1.0]
        elif decision < 0:
            children, factor = list[int](), list[float]()
        else:
            children, factor = program.graph.child[v, decision].tolist(), program.graph.factor[v, decision].tolist()
        # `scale` carries the factors along the history, as weights at a node are relative to its likeliest hypothesis.
        new = [(w, self.scale[t] * part) for w, part in zip(children, factor, strict=True) if w >= 0]
        number = iter(range(first, first + len(new)))
        after = tuple(next(number) if w >= 0 else NOWHERE for w in children)
        return PartialPolicy(
            self.node + tuple(w for w, _ in new),
            self.scale + tuple(scale for _, scale in new),
            (*self.decision[:t], decision, *self.decision[t + 1 :], *[UNDECIDED] * len(new)),
            (*self.after[:t], after, *self.after[t + 1 :], *[()] * len(new)),
            self.after_idle | {first} if decision == IDLE else self.after_idle,
        )

    def value(self, program: ColumnGeneration, priced: PricedValues) -> float:
        """q(root), on the safe side: each step is shrunk by more than its rounding."""
        graph, q = program.graph, [0.0] * len(self.node)
        # Children are numbered after their parents, so that one pass backwards evaluates the recursion of the theorem.
        for t in range(len(q) - 1, -1, -1):
            v, decision = self.node[t], self.decision[t]
            if decision == UNDECIDED:
                q[t] = float(priced.value[v])
            elif decision == IDLE:
                q[t] = (idle_cost(program, v) * float(priced.mass[v]) + q[self.after[t][0]]) * SHRINK
            elif decision == ABSTAIN:
                q[t] = float(priced.abstain[v]) * SHRINK
            elif decision < 0:
                q[t] = float(priced.answer[v, -1 - decision]) * SHRINK
            else:
                total = float(graph.tables.cost[graph.option[v, decision]] * priced.mass[v])
                for y, u in enumerate(self.after[t]):
                    total += float(graph.factor[v, decision, y]) * q[u] if u >= 0 else 0.0
                q[t] = total * SHRINK
        return q[0]

    def probability(self, program: ColumnGeneration, t: int) -> float:
        """Of t, under the hypothesis that makes it most likely."""
        return self.scale[t] * float(program.graph.weight[self.node[t]].max())


@final
@dataclass(frozen=True, eq=False)
class LeafMixture:
    """The cheapest mixture after a partial policy: `share[i, k]` of column k at the i-th leaf, and the multipliers."""

    leaves: list[int]
    share: FloatArray
    value: float
    prices: Prices

    def votes(self, partial: PartialPolicy, choices: list[LongArray], i: int) -> dict[int, float]:
        """What the columns that are mixed at the i-th leaf would do there, each decision with its share."""
        v, result = partial.node[self.leaves[i]], dict[int, float]()
        for k in np.flatnonzero(self.share[i] > LP_ZERO).tolist():
            decision = int(choices[k][v])
            result[decision] = result.get(decision, 0.0) + float(self.share[i, k])
        return result


@final
@dataclass(frozen=True, eq=False)
class BranchBound:
    """What was proved for policies that begin with a partial policy, at which prices, and the last mixture."""

    lower: Fraction
    prices: Prices
    mixed: LeafMixture


@final
class ColumnPool:
    """Columns that partial policies go on with, and column generation for each partial policy."""

    def __init__(self, program: ColumnGeneration, mixture: Mixture, known: int | None = None) -> None:
        """`known` nodes, the first, are those that a partial policy may meet; all of them if not given."""
        self.program, self.graph = program, program.graph
        self.known = known or self.graph.size
        self.search = LocalSearch(program, max(mixture.value, float(self.graph.tables.cost.min())))
        self.average = np.zeros((len(program.group), len(program.group_size)))
        self.average[np.arange(len(program.group)), program.group] = 1.0 / program.group_size[program.group]
        self.choices: list[LongArray] = []
        self.outcomes: list[FloatArray] = []
        """The outcome of each column from each known node on, for each group."""
        self.room = 1.0
        """Part of the risks that mixtures may use up."""
        self.symmetric = is_exchangeable(self.graph.tables.task)
        for column, share in zip(mixture.columns, mixture.share, strict=True):
            if share > LP_ZERO:
                self.add(column.choice)

    def add(self, choice: LongArray) -> None:
        choice = self.program.possible(choice)
        self.choices.append(choice)
        self.outcomes.append(self.by_group(self.search.outcomes(choice)[: self.known]))

    def by_group(self, outcomes: FloatArray) -> FloatArray:
        n = len(self.average)
        return np.hstack([outcomes[:, i * n : (i + 1) * n] @ self.average for i in range(3)])

    def spent(self, partial: PartialPolicy) -> FloatArray:
        """The outcome of the decisions of a partial policy themselves."""
        total = np.zeros((1, len(self.search.scale)))
        for t, (v, decision) in enumerate(zip(partial.node, partial.decision, strict=True)):
            if decision == IDLE:
                total[0, : len(self.average)] += partial.scale[t] * idle_cost(self.program, v) * self.graph.weight[v]
            elif decision != UNDECIDED:
                total += partial.scale[t] * self.search.immediate(np.array([v]), np.array([decision]))
        return self.by_group(total)[0]

    def outcomes_at(self, partial: PartialPolicy) -> FloatArray:
        """`[i, k]`: the outcome of column k from the i-th leaf on."""
        scale = np.array([partial.scale[t] for t in partial.leaves])
        nodes = [partial.node[t] for t in partial.leaves]
        return np.stack([scale[:, None] * outcomes[nodes] for outcomes in self.outcomes], axis=1)

    def mix(self, partial: PartialPolicy) -> LeafMixture:
        """The cheapest mixture within the risks, which may be exceeded at a high price."""
        leaves, n, unsafe = partial.leaves, len(self.program.group_size), RISK_PENALTY * self.search.unit
        spent = self.spent(partial)
        if not leaves:
            value = float(spent[:n].max()) + unsafe * float(np.maximum(0.0, spent[n:] - self.room).sum())
            return LeafMixture(leaves, np.zeros((0, len(self.choices))), value, self.program.uniform_prices(1.0))
        limit = np.concatenate([np.zeros(n), np.full(2 * n, self.room)]) - spent
        value, share, prices = self.program.solve_master(self.outcomes_at(partial), limit, unsafe)
        return LeafMixture(leaves, share, value, prices)

    def bound(
        self, partial: PartialPolicy, rounds: int, prices: Prices, enough: float = 1e-3, target: float = np.inf
    ) -> BranchBound:
        """Add columns at the mixture's prices until they hardly make it cheaper, or the bound is at the target."""
        # As in `ColumnGeneration.generate`: two of three rounds stay half-way to the best prices, against oscillation.
        best = self.add_best(partial, prices), prices
        mixed = self.mix(partial)
        for turn in range(rounds):
            done = mixed.value - float(best[0]) <= enough * mixed.value or float(best[0]) >= target
            if done or self.program.limits.is_over:
                break
            prices = 0.5 * mixed.prices + 0.5 * best[1] if turn % 3 else mixed.prices
            lower = self.add_best(partial, prices)
            if lower > best[0]:
                best = lower, prices
            mixed = self.mix(partial)
        return BranchBound(best[0], best[1], mixed)

    def add_best(self, partial: PartialPolicy, prices: Prices) -> Fraction:
        """Add the best column at these prices; what they prove of policies that begin with the partial policy."""
        priced = self.program.value_nodes(prices)
        self.add(priced.choice)
        return self.program.bound(partial.value(self.program, priced), prices)

    def forget(self, mixed: LeafMixture) -> LeafMixture:
        """Leave columns out of the pool that are not used, except for the newest."""
        # Without leaves nothing is used, and the newest stay.
        used: BoolArray = mixed.share.max(axis=0, initial=0.0) > LP_ZERO
        used[-NUM_NEWEST:] = True
        keep = np.flatnonzero(used)
        self.choices, self.outcomes = [self.choices[k] for k in keep], [self.outcomes[k] for k in keep]
        return replace(mixed, share=mixed.share[:, keep])

    def list_decisions(self, partial: PartialPolicy, t: int) -> list[int]:
        """The decisions at the leaf t that may keep to the risks; of those alike by symmetry the first."""
        options = np.flatnonzero(self.graph.option[partial.node[t]] >= 0).tolist()
        answers = range(-1, -1 - self.graph.tables.num_answers, -1)
        found = [*options, *(d for d in (*answers, ABSTAIN) if self.may_stop(partial, t, d))]
        if idle_cost(self.program, partial.node[t]) < np.inf:
            found.append(IDLE)
        return self.represent(partial, found)

    def represent(self, partial: PartialPolicy, decisions: list[int]) -> list[int]:
        """One decision for all that are the same but for hypotheses that the partial policy does not name."""
        if not self.symmetric:
            return decisions
        named = {self.hypothesis(d) for d in partial.decision}
        result: list[int] = []
        seen: set[bool] = set()
        for d in decisions:
            # A decision about a hypothesis that nothing named so far stands for all such decisions of its kind.
            name = self.hypothesis(d)
            fresh = name is not None and name not in named
            if not fresh or (d >= 0) not in seen:
                result.append(d)
            if fresh:
                seen.add(d >= 0)
        return result

    def hypothesis(self, decision: int) -> int | None:
        """The hypothesis whose sensor is asked, or whose label is answered."""
        if decision >= 0:
            return decision
        owner = np.flatnonzero(self.graph.tables.task.label == -1 - decision)
        return int(owner[0]) if decision > ABSTAIN and len(owner) else None

    def may_stop(self, partial: PartialPolicy, t: int, decision: int) -> bool:
        """Whether stopping there does not break a risk by itself; on the safe side."""
        program = self.program
        missed = 1.0 if decision == ABSTAIN else self.graph.right[partial.node[t]] != -1 - decision
        risk = program.beta if decision == ABSTAIN else program.alpha
        lost = partial.scale[t] * np.bincount(program.group, weights=self.graph.weight[partial.node[t]] * missed)
        return bool((lost * (1 - 1e-9) <= float(risk) * program.group_size).all())

    def find_leaf(self, partial: PartialPolicy, mixed: LeafMixture) -> int | None:
        """The leaf where the columns that are mixed disagree most on what to do, if any is known and not terminal."""
        best: tuple[float, int] | None = None
        for i, t in enumerate(mixed.leaves):
            v = partial.node[t]
            if t in partial.after_idle or self.graph.closed[v] or int(self.graph.child[v].max()) >= self.known:
                continue
            votes = mixed.votes(partial, self.choices, i)
            apart = (1 - max(votes.values()) + 1e-6) * partial.probability(self.program, t)
            if best is None or apart > best[0]:
                best = apart, t
        return None if best is None else best[1]


def bound_by_branching(
    program: ColumnGeneration, mixture: Mixture, *, branches: int, rounds: int, target: float = np.inf
) -> Branching:
    """A lower bound for policies that draw nothing at random, from so many branchings, or until it is at the target.

    The belief graph has all actions and named slots.
    """
    assert program.graph.has_all_actions
    pool = ColumnPool(program, mixture, MAX_KNOWN)
    root = pool.bound(PartialPolicy(), 0, mixture.prices)
    queue: list[tuple[Fraction, int, PartialPolicy, BranchBound]] = [(mixture.lower, 0, PartialPolicy(), root)]
    record = [Branch(Multipliers.of_groups(mixture.prices, program.group))]
    least = mixture.lower
    for _ in range(branches):
        # Best first: only raising the least bound of the list raises what is proved.
        lower, number, partial, found = queue[0]
        t = pool.find_leaf(partial, pool.mix(partial))
        if t is None or float(lower) >= target or program.limits.is_over:
            break
        heapq.heappop(queue)
        cases: dict[int, int] = {}
        for decision in pool.list_decisions(partial, t):
            cases[decision] = len(record)
            longer = partial.decide(program, t, decision)
            proved = pool.bound(longer, rounds, found.prices, target=target)
            heapq.heappush(queue, (max(lower, proved.lower), len(record), longer, proved))
            # Prices that prove a bound of all policies that begin in some way prove it of those that go on from there.
            better = Multipliers.of_groups(proved.prices, program.group)
            record.append(Branch(better if proved.lower > lower else record[number].multipliers))
        record[number] = replace(record[number], at=t, cases=cases)
        if not queue:
            break
        least = queue[0][0]
    return Branching(least, tuple(record), pool.symmetric)


def idle_cost(program: ColumnGeneration, v: int) -> float:
    """The least cost of an idle action at a node; inf if there is none."""
    cost = program.graph.tables.cost
    return min((float(cost[a]) for a in idle_actions(program.graph, v)), default=np.inf)


def idle_actions(graph: BeliefGraph, v: int) -> list[int]:
    """The actions that are allowed at a node but no options there: they tell nothing and move nothing."""
    allowed: BoolArray = np.all(graph.tables.successor[graph.state[v][graph.state[v] != NOWHERE]] != UNDEFINED, axis=0)
    options = set(graph.option[v].tolist())
    return [a for a in range(graph.tables.num_actions) if allowed[a] and a not in options]
