"""A policy that goes by its ledger, and its risk and cost, evaluated hypothesis by hypothesis with rounding upwards.

The policy is a choice at every memory, an action, an answer or abstention, and a clock: after `horizon` readings it
abstains. Its law under hypothesis h is a Markov chain on (memory, slot of h, state of h), started at one point. The
probability of each point after t readings is carried forward in floats, so everything is a sum of products of
nonnegative numbers, and the mass that is answered wrongly, abstained and spent is added up.

*The error is bounded.* A sum of n nonnegative products of m factors each is off by a relative (n + m) u / (1 - (n + m)
u) at most, u = 2^-53; a factor K(y | s, a) is off by u itself. One step adds at most (largest number of edges into a
point) + 2 roundings to those of the step before; so after t steps each number is off by less than
2 (t + 1) (edges + 3 + points) u, relatively, counting the final sums over points too. `Risk` adds that to every
number before it becomes a rational: it states upper bounds, and tight ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.errors import TaskError
from ascertain.kernels.planning.controllers import carry
from ascertain.planning.belief_graph import Ledgers
from ascertain.planning.information_state import NOWHERE, FloatArray
from ascertain.policy.automaton import Automaton
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.types import LongArray, Reading

ABSTAIN = -(1 << 30)
_U = 2.0**-53


@final
@dataclass(frozen=True, eq=False)
class Remembering:
    """Node v takes option `choice[v]`, answers label -1 - choice[v] where that is negative, or abstains at ABSTAIN."""

    ledgers: Ledgers
    choice: LongArray
    horizon: int

    def start(self) -> tuple[int, int, tuple[int, ...]]:
        """A memory is a node, the readings so far, and which hypothesis each slot stands for."""
        return 0, 0, tuple(range(self.ledgers.book.num_slots))

    def decide(self, memory: tuple[int, int, tuple[int, ...]]) -> Decision:
        v, taken, holds = memory
        if v == NOWHERE:
            return Abstain("none of these: a reading that no hypothesis left explains")
        choice = int(self.choice[v])
        if choice == ABSTAIN:
            return Abstain("the evidence does not pay for an answer")
        if choice < 0:
            label = -1 - choice
            return Answer(int(self.ledgers.book.task.label[holds[label]]) if self.by_rank else label)
        if taken >= self.horizon:
            return Abstain(f"no answer after {self.horizon} readings")
        asked = int(self.ledgers.option[v, choice])
        return Ask(holds[asked] if self.ledgers.book.exchangeable else asked)

    def next(self, memory: tuple[int, int, tuple[int, ...]], reading: Reading) -> tuple[int, int, tuple[int, ...]]:
        v, taken, holds = memory
        k = int(self.choice[v])
        child = int(self.ledgers.child[v, k, reading])
        if self.ledgers.slot is None or child == NOWHERE:
            return child, taken + 1, holds
        moved = self.ledgers.slot[v, k, reading].tolist()
        after = [0] * len(holds)
        for i, j in enumerate(moved):
            after[j] = holds[i]
        return child, taken + 1, tuple(after)

    @property
    def by_rank(self) -> bool:
        """Whether answers (and, of exchangeable hypotheses, actions) count slots instead of hypotheses."""
        return self.ledgers.slot is not None


@final
@dataclass(frozen=True, eq=False)
class Risk:
    """Upper bounds, one for each hypothesis: probability of a wrong answer, of abstention, and expected cost."""

    wrong: tuple[Fraction, ...]
    abstain: tuple[Fraction, ...]
    cost: tuple[Fraction, ...]

    @property
    def worst(self) -> tuple[Fraction, Fraction, Fraction]:
        """The largest of each: the (alpha, beta, cost) that the policy is certified for."""
        return max(self.wrong), max(self.abstain), max(self.cost)


def evaluate_remembering(policy: Remembering) -> Risk:
    """The risk and cost of a policy that goes by its ledger."""
    chains = [_Chain(policy, h) for h in range(policy.ledgers.book.num_slots)]
    for chain in chains:
        chain.run(policy.horizon, 0.0)
    return _summarise(chains, policy.horizon)


def set_clock(
    ledgers: Ledgers, choice: LongArray, alpha: Fraction, beta: Fraction, longest: int
) -> tuple[Remembering, Risk] | None:
    """The policy of these choices with the earliest horizon that keeps abstention within beta, and its risk.

    None when no horizon up to `longest` does, or when it is wrong too often: it is given up as soon as that shows.
    """
    policy = Remembering(ledgers, choice, longest)
    chains: list[_Chain] = []
    for h in range(ledgers.book.num_slots):
        chain = _Chain(policy, h)
        if not chain.run(longest, float(beta) * (1 - 1e-6), float(alpha)):
            return None
        chains.append(chain)
    horizon = max(len(chain.course.left) - 1 for chain in chains)
    for chain in chains:
        chain.run(horizon, 0.0)
    risk = _summarise(chains, horizon)
    wrong, abstain, _ = risk.worst
    return (Remembering(ledgers, choice, horizon), risk) if wrong <= alpha and abstain <= beta else None


def _summarise(chains: list[_Chain], horizon: int) -> Risk:
    rows = [chain.course.at(horizon) for chain in chains]
    return Risk(tuple(r[0] for r in rows), tuple(r[1] for r in rows), tuple(r[2] for r in rows))


@final
@dataclass(frozen=True, eq=False)
class _Course:
    """What has become of the probability after so many readings, and how far off the numbers may be."""

    wrong: list[float]
    abstain: list[float]
    cost: list[float]
    left: list[float]
    per_step: float

    def add(self, wrong: float, abstain: float, cost: float, left: float) -> None:
        """One more reading."""
        self.wrong.append(wrong)
        self.abstain.append(abstain)
        self.cost.append(cost)
        self.left.append(left)

    def at(self, horizon: int) -> tuple[Fraction, Fraction, Fraction]:
        """Upper bounds on wrong, abstain and cost when the clock stops then."""
        t = min(horizon, len(self.left) - 1)
        assert t == horizon or self.left[t] == 0.0, "a course is followed to its end"
        more = 1 + Fraction(2 * (t + 2) * self.per_step)
        gone = Fraction(self.abstain[t]) + Fraction(self.left[t])
        return Fraction(self.wrong[t]) * more, gone * more, Fraction(self.cost[t]) * more


class _Chain:
    """The Markov chain on (node, slot, state) of a policy under one hypothesis, restricted to what can be reached."""

    def __init__(self, policy: Remembering, h: int) -> None:
        self.policy, self.h = policy, h
        self.ledgers, self.book = policy.ledgers, policy.ledgers.book
        self.num_states = self.book.task.model.num_states
        self.explore()
        self.now, self.after = np.zeros(self.sink + 1), np.zeros(self.sink + 1)
        self.now[self.begin] = 1.0
        self.wrong = self.abstained = self.cost = 0.0
        self.course = _Course([], [], [], [], (self.inward + 4 + self.sink) * _U)
        self.wrong_at, right_at = self.endings()
        self.quit_at = np.flatnonzero(self.choice == ABSTAIN)
        self.ends = np.concatenate([self.wrong_at, right_at, self.quit_at])

    def explore(self) -> None:
        begin = self.h * self.num_states + int(self.book.task.state[self.h])
        frontier: LongArray = np.array([begin], dtype=np.int64)
        seen = np.zeros(self.ledgers.size * self.book.num_slots * self.num_states, dtype=np.bool_)
        seen[begin] = True
        edges: list[tuple[LongArray, LongArray, FloatArray]] = []
        while len(frontier):
            layer = [self.expand(frontier, y) for y in range(self.book.num_readings)]
            edges += layer
            fresh = np.unique(np.concatenate([target[target >= 0] for _, target, _ in layer]))
            frontier = fresh[~seen[fresh]]
            seen[frontier] = True
        known = np.flatnonzero(seen)
        source, target = (np.concatenate([edge[i] for edge in edges]) for i in range(2))
        self.begin = int(np.searchsorted(known, begin))
        self.sink = len(known)
        self.source = np.searchsorted(known, source).astype(np.int64)
        self.target = np.where(target >= 0, np.searchsorted(known, target), self.sink).astype(np.int64)
        self.chance: FloatArray = np.concatenate([edge[2] for edge in edges])
        inward = np.bincount(self.target, minlength=self.sink + 1)
        self.inward = int(inward.max())
        node = known // (self.book.num_slots * self.num_states)
        self.choice = np.append(self.policy.choice[node], ABSTAIN)
        self.slot = np.append((known // self.num_states) % self.book.num_slots, 0)
        asked = self.ledgers.option[np.append(node, 0), np.maximum(self.choice, 0)]
        self.cost_of = np.where(self.choice >= 0, self.book.cost[asked], 0.0)

    def expand(self, points: LongArray, y: int) -> tuple[LongArray, LongArray, FloatArray]:
        """Edges from these points when y is read."""
        n = self.book.num_slots
        node, slot, s = points // (n * self.num_states), (points // self.num_states) % n, points % self.num_states
        choice = self.policy.choice[node]
        ask = choice >= 0
        points, node, slot, s, choice = points[ask], node[ask], slot[ask], s[ask], choice[ask]
        child = self.ledgers.child[node, choice, y].astype(np.int64)
        action = self.ledgers.option[node, choice]
        if self.book.exchangeable:
            own = np.where(action == slot, 0, 1)
            chance, after = self.book.chance[self.book.task.state[own], 0, y], s
        else:
            chance, after = self.book.chance[s, action, y], self.book.successor[s, action].astype(np.int64)
        moved = slot if self.ledgers.slot is None else self.ledgers.slot[node, choice, y, slot].astype(np.int64)
        possible = chance > 0
        target = np.where(child >= 0, (child * n + moved) * self.num_states + after, NOWHERE)
        return points[possible], target[possible], chance[possible]

    def run(self, horizon: int, enough: float, most_wrong: float = 1.0) -> bool:
        """Follow the probability to so many readings, or until what is left and abstained is at most `enough`.

        False when that will not come about, or more than `most_wrong` has been answered wrongly.
        """
        course = self.course
        while True:
            if course.left:
                if course.left[-1] == 0.0 or course.left[-1] + course.abstain[-1] <= enough:
                    return course.abstain[-1] <= enough and course.wrong[-1] <= most_wrong
                if (
                    len(course.left) > horizon
                    or (enough and course.abstain[-1] > enough)
                    or course.wrong[-1] > most_wrong
                ):
                    return False
                spent = carry(self.source, self.target, self.chance, self.cost_of, self.now, self.after)
                self.cost += float(spent)
                self.now, self.after = self.after, self.now
            self.take_endings()

    def take_endings(self) -> None:
        """Take out what has come to an answer or to abstention."""
        self.wrong += float(self.now[self.wrong_at].sum())
        self.abstained += float(self.now[self.quit_at].sum())
        self.now[self.ends] = 0.0
        self.course.add(self.wrong, self.abstained, self.cost, float(self.now.sum()))

    def endings(self) -> tuple[LongArray, LongArray]:
        """At which points the answer is wrong for the hypothesis, and at which it is right."""
        answers = (self.choice < 0) & (self.choice != ABSTAIN)
        said = -1 - self.choice
        right = said == (self.slot if self.policy.by_rank else self.book.task.label[self.h])
        return np.flatnonzero(answers & ~right), np.flatnonzero(answers & right)


def as_automaton(policy: Remembering, *, max_nodes: int = 200_000) -> Automaton:
    """The same policy as an automaton: one node for each memory and number of readings, layer by layer."""
    number = {policy.start(): 0}
    queue = [policy.start()]
    actions: list[int] = []
    labels: list[int] = []
    children: list[dict[int, int]] = []
    for memory in queue:
        decision = policy.decide(memory)
        follow: dict[int, int] = {}
        actions.append(decision.action if isinstance(decision, Ask) else -1)
        labels.append(decision.label if isinstance(decision, Answer) else -1)
        if isinstance(decision, Ask):
            for y in range(policy.ledgers.book.penalty.shape[2]):
                after = policy.next(memory, y)
                if after[0] == NOWHERE:
                    continue
                if after not in number:
                    if len(number) >= max_nodes:
                        raise TaskError(f"the policy has more than {max_nodes} nodes when written out")
                    number[after] = len(number)
                    queue.append(after)
                follow[y] = number[after]
        children.append(follow)
    return Automaton(tuple(actions), tuple(labels), tuple(children))
