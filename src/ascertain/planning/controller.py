"""Finite-state controllers on a belief graph, and their risk and cost under every hypothesis, rounded upwards.

A controller takes a choice at every node of a belief graph, an option, an answer or abstention, and has a *horizon*: it
abstains after so many readings. Under hypothesis h it is a Markov chain on points (node, slot of h, state of h),
started at one point. The probability of each point after t readings is carried forward in floats, so everything is a
sum of products of nonnegative numbers; what is answered wrongly, abstained and spent is added up.

*The error is bounded.* A sum of n nonnegative products of m factors each is off by a relative (n + m) u / (1 - (n + m)
u) at most, u = 2^-53 (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3); a factor K(y | s, a) is off
by u itself. One step adds at most (largest number of edges into a point) + 2 roundings to those of the step before. So
after t steps each number is off by less than 2 (t + 1) (edges + 3 + points) u, relatively, counting the final sums over
points too. `CertifiedRisk` adds that to every number before it becomes a rational: it states upper bounds, and tight
ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.drawing.shown import Shown
from ascertain.kernels.planning.controllers import push_forward
from ascertain.planning.belief_graph import BeliefGraph
from ascertain.policy.automaton import NOWHERE
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.types import FloatArray, LongArray, Reading

ABSTAIN = -(1 << 30)
"""The choice to abstain: below -1 - label for every label."""
MAX_HORIZON = 1500
"""No policy of a search asks more often: one that would is far from the best, and evaluation goes step by step."""
_U = 2.0**-53
"""The unit roundoff of a float."""


@final
@dataclass(frozen=True, eq=False)
class FiniteStateController(Shown):
    """Node v takes option `choice[v]`, answers label -1 - choice[v] where that is negative, or abstains at ABSTAIN.

    Where slots are not named, answers count slots; where they are ranked, options do so too.
    """

    graph: BeliefGraph
    choice: LongArray
    horizon: int

    def shown(self) -> Mapping[str, object]:
        return {"nodes": len(self.choice), "horizon": self.horizon}

    def start(self) -> tuple[int, int, tuple[int, ...]]:
        """A memory is a node, the readings so far, and which hypothesis each slot stands for."""
        return 0, 0, tuple(range(self.graph.tables.num_slots))

    def decide(self, memory: tuple[int, int, tuple[int, ...]]) -> Decision:
        v, taken, holds = memory
        if v == NOWHERE:
            return Abstain("none of these: a reading that no hypothesis left explains")
        choice, tables = int(self.choice[v]), self.graph.tables
        if choice == ABSTAIN:
            return Abstain("the evidence is not enough for an answer at these risks")
        if choice < 0:
            said = -1 - choice
            return Answer(said if tables.slots == "named" else int(tables.task.label[holds[said]]))
        if taken >= self.horizon:
            return Abstain(f"no answer after {self.horizon} readings")
        asked = int(self.graph.option[v, choice])
        return Ask(holds[asked] if tables.slots == "ranked" else asked)

    def next(self, memory: tuple[int, int, tuple[int, ...]], reading: Reading) -> tuple[int, int, tuple[int, ...]]:
        v, taken, holds = memory
        k = int(self.choice[v])
        child = int(self.graph.child[v, k, reading])
        if self.graph.slot is None or child == NOWHERE:
            return child, taken + 1, holds
        after = [0] * len(holds)
        for i, j in enumerate(self.graph.slot[v, k, reading].tolist()):
            after[j] = holds[i]
        return child, taken + 1, tuple(after)


@final
@dataclass(frozen=True, eq=False)
class CertifiedRisk:
    """Upper bounds, one for each hypothesis: probability of a wrong answer, of abstention, and expected cost."""

    wrong: tuple[Fraction, ...]
    abstain: tuple[Fraction, ...]
    cost: tuple[Fraction, ...]

    @property
    def worst(self) -> tuple[Fraction, Fraction, Fraction]:
        """The largest of each: the (alpha, beta, cost) that the policy is certified for."""
        return max(self.wrong), max(self.abstain), max(self.cost)


@final
@dataclass(frozen=True, eq=False)
class CertifiedController:
    """A controller that keeps to some alpha and beta, and its risk."""

    policy: FiniteStateController
    risk: CertifiedRisk

    @property
    def cost(self) -> Fraction:
        """Under the worst hypothesis."""
        return self.risk.worst[2]


def evaluate_controller(controller: FiniteStateController) -> CertifiedRisk:
    """The risk and cost of a controller under every hypothesis."""
    chains = [_Chain(controller, h) for h in range(controller.graph.tables.num_slots)]
    return _conclude(chains, controller.horizon)


def fit_horizon(graph: BeliefGraph, choice: LongArray, alpha: Fraction, beta: Fraction) -> CertifiedController | None:
    """The controller of these choices with the earliest horizon that keeps abstention within beta, and its risk.

    None when no horizon up to MAX_HORIZON does, or when it is wrong too often: it is given up as soon as that shows.
    """
    controller = FiniteStateController(graph, choice, MAX_HORIZON)
    chains: list[_Chain] = []
    for h in range(graph.tables.num_slots):
        chain = _Chain(controller, h)
        # A little below beta, as the error bound is added afterwards.
        if not chain.run(MAX_HORIZON, float(beta) * (1 - 1e-6), float(alpha)):
            return None
        chains.append(chain)
    horizon = max(chain.taken for chain in chains)
    risk = _conclude(chains, horizon)
    wrong, abstain, _ = risk.worst
    if wrong > alpha or abstain > beta:
        return None
    return CertifiedController(FiniteStateController(graph, choice, horizon), risk)


def _conclude(chains: list[_Chain], horizon: int) -> CertifiedRisk:
    """The risk when the controller abstains at the horizon, which no chain has passed."""
    for chain in chains:
        chain.run(horizon, 0.0)
    wrong, abstain, cost = zip(*(chain.upper_bounds() for chain in chains), strict=True)
    return CertifiedRisk(wrong, abstain, cost)


class _Chain:
    """The Markov chain on points (node, slot, state) of a controller under one hypothesis."""

    def __init__(self, controller: FiniteStateController, h: int) -> None:
        self.controller, self.h = controller, h
        self.graph, self.tables = controller.graph, controller.graph.tables
        self.num_states = self.tables.task.model.num_states
        self.explore()
        self.now, self.after = np.zeros(self.sink + 1), np.zeros(self.sink + 1)
        self.now[self.begin] = 1.0
        self.wrong = self.abstained = self.cost = 0.0
        self.taken = 0
        self.take_endings()

    def explore(self) -> None:
        """Number the points that can be reached, and list the edges; an unexpected reading leads to a sink."""
        # A point has the number (node * slots + slot) * states + state; the start is node 0, where h is in slot h.
        begin = self.h * self.num_states + int(self.tables.task.state[self.h])
        frontier: LongArray = np.array([begin], dtype=np.int64)
        seen = np.zeros(self.graph.size * self.tables.num_slots * self.num_states, dtype=np.bool_)
        seen[begin] = True
        number: LongArray = np.zeros(len(seen), dtype=np.int64)
        edges: list[tuple[LongArray, LongArray, FloatArray]] = []
        while len(frontier):
            layer = self.expand(frontier)
            edges.append(layer)
            # Breadth first over points: each is expanded once, for all readings. Of a point that is met several times
            # in a layer the last one counts, which needs no sorting.
            fresh = layer[1][layer[1] >= 0]
            fresh = fresh[~seen[fresh]]
            seen[fresh] = True
            number[fresh] = np.arange(len(fresh))
            frontier = fresh[number[fresh] == np.arange(len(fresh))]
        # From here on points are numbered without gaps, and the sink comes last.
        known = np.flatnonzero(seen)
        number[known] = np.arange(len(known))
        source: LongArray = np.concatenate([edge[0] for edge in edges])
        target: LongArray = np.concatenate([edge[1] for edge in edges])
        self.begin = int(number[begin])
        self.sink = len(known)
        self.source = number[source]
        self.target = np.where(target >= 0, number[np.maximum(target, 0)], self.sink)
        self.chance: FloatArray = np.concatenate([edge[2] for edge in edges])
        # The error bound of the module docstring, for one step: roundings of the sums into a point, of the products,
        # and of the sums over all points.
        edges_into = int(np.bincount(self.target, minlength=self.sink + 1).max())
        self.error_of_step = (edges_into + 4 + self.sink) * _U
        node = known // (self.tables.num_slots * self.num_states)
        slot = np.append((known // self.num_states) % self.tables.num_slots, 0)
        choice = np.append(self.controller.choice[node], ABSTAIN)  # the sink abstains
        asked = self.graph.option[np.append(node, 0), np.maximum(choice, 0)]
        self.cost_of = np.where(choice >= 0, self.tables.cost[asked], 0.0)
        task = self.tables.task
        right = slot if self.tables.slots != "named" else task.label[self.h]
        if task.state_label is not None:  # it goes with the state that the truth is in
            right = np.append(task.state_label[known % self.num_states], 0)
        self.abstains_at = np.flatnonzero(choice == ABSTAIN)
        self.wrong_at = np.flatnonzero((choice < 0) & (choice != ABSTAIN) & (-1 - choice != right))
        self.ends_at = np.flatnonzero(choice < 0)

    def expand(self, points: LongArray) -> tuple[LongArray, LongArray, FloatArray]:
        """Edges from these points: sources, targets (NOWHERE: the sink) and probabilities."""
        tables, n = self.tables, self.tables.num_slots
        choice = self.controller.choice[points // (n * self.num_states)]
        points, choice = points[choice >= 0], choice[choice >= 0]
        node, slot, s = points // (n * self.num_states), (points // self.num_states) % n, points % self.num_states
        # One row for each point, one column for each reading.
        child = self.graph.child[node, choice].astype(np.int64)
        action = self.graph.option[node, choice]
        # The law of a rank is that of the hypothesis of that number: what counts is whether it is the one asked for.
        chance = tables.chance[tables.task.state[slot] if tables.slots == "ranked" else s, action]
        after = tables.successor[s, action].astype(np.int64)[:, None]
        moved = slot[:, None] if self.graph.slot is None else self.graph.slot[node, choice, :, slot].astype(np.int64)
        possible = chance > 0
        target = np.where(child >= 0, (child * n + moved) * self.num_states + after, NOWHERE)
        return np.broadcast_to(points[:, None], target.shape)[possible], target[possible], chance[possible]

    def run(self, horizon: int, enough: float, most_wrong: float = 1.0) -> bool:
        """Follow the probability to so many readings, or until what is left and abstained is at most `enough`.

        False when that will not come about, or more than `most_wrong` has been answered wrongly.
        """
        while self.left and self.left + self.abstained > enough:
            if self.taken >= horizon or self.wrong > most_wrong or (enough and self.abstained > enough):
                return False
            self.cost += float(push_forward(self.source, self.target, self.chance, self.cost_of, self.now, self.after))
            self.now, self.after = self.after, self.now
            self.taken += 1
            self.take_endings()
        return self.abstained <= enough and self.wrong <= most_wrong

    def take_endings(self) -> None:
        """Take out what has come to an answer or to abstention."""
        self.wrong += float(self.now[self.wrong_at].sum())
        self.abstained += float(self.now[self.abstains_at].sum())
        self.now[self.ends_at] = 0.0
        self.left = float(self.now.sum())

    def upper_bounds(self) -> tuple[Fraction, Fraction, Fraction]:
        """On wrong, abstain and cost, if the controller abstains now wherever it has not ended."""
        # Relative errors of t steps add up; twice their sum covers the higher orders (n u is far below 1/2).
        factor = 1 + Fraction(2 * (self.taken + 2) * self.error_of_step)
        abstained = Fraction(self.abstained) + Fraction(self.left)
        return Fraction(self.wrong) * factor, abstained * factor, Fraction(self.cost) * factor
