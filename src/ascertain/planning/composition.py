"""Certified trees: a distinguishing tree of the noiseless skeleton, with a sequential test at every node.

The *skeleton* of a noisy task reads, of each law, the likeliest reading. Its deterministic optimum is a tree: at node v
the configuration S_v is known up to the truth, the action a_v splits it by reading, and each part goes on. With noise
one reading does not tell the parts apart, so a_v is repeated: a *loop* is a word that begins with a_v and brings every
member of S_v back to where it was. Each round of the loop gives one fresh reading of the law of the part, so a node is
a question of its own, *which part?*, about a plant that does not move; a driven policy (`driven.py`) answers it with
evaluated alpha_v, beta_v, cost c_v and a hard cap. It starts afresh from a configuration that is known given that the
path was right, so its guarantee holds whatever happened before.

**Composition** (the paper's Theorem 3.3, with the cap that its cost needs). A wrong answer needs a wrong part at some
node of the truth's own path, each with conditional probability at most alpha_v: so alpha is at most the largest sum
over paths of alpha_v, and likewise beta. On its own path the truth h costs at most the sum of c_v(h). Off it, which
happens with probability at most alpha, a node's bound does not cover h, for h does not belong there; but no path asks
more than its caps allow, nor anything that is not defined wherever the truth may be (otherwise there is no tree). So
the expected cost is at most (own path) + alpha * (largest sum of caps over paths).

*The split.* `uniform` gives every node on a path alpha / (largest number of tests on a path). `best` chooses for every
node among tests of several risks so that no path sums to more than alpha and the most expensive path is cheapest: a
dynamic program over the tree with alpha in `GRID` parts, exact for these choices.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.model import Machine, Model, NoisyMachine
from ascertain.planning.driven import Driven, Effort, drive
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.quotients.separation import list_reachable
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, Reading

Split: TypeAlias = Literal["uniform", "best"]
GRID = 48
PARTS = (48, 24, 16, 12, 8, 6, 4, 3, 2, 1)
"""The parts of alpha, out of GRID, that a node may be given."""
MAX_LOOPS = 4000
"""Joint states that are looked at for a loop."""


@final
@dataclass(frozen=True, eq=False)
class NodeTest:
    """The test at a node: what it asks, the loop it goes round, its parts, and the policy that tells them apart."""

    action: Action
    loop: tuple[Action, ...]
    part: Mapping[int, int]
    """`part[h]` for every member h."""
    test: Driven | None
    """None when there is one part only: then the action is done once."""


@final
@dataclass(frozen=True, eq=False)
class CertifiedTree:
    """A tree with tests: node v goes on to `children[v][part]`, or answers `label[v]`."""

    node: tuple[NodeTest | None, ...]
    children: tuple[tuple[int, ...], ...]
    label: tuple[int, ...]
    wrong: Fraction
    abstain: Fraction
    cost: Fraction


def skeleton(task: Task) -> Task:
    """The task on the machine that reads the likeliest reading, the first of those if there are several."""
    model = task.model
    likeliest = [max(law, key=lambda entry: (entry[1], -entry[0]))[0] for law in model.laws]
    output = np.where(model.behaviour == UNDEFINED, UNDEFINED, np.array(likeliest, dtype=np.int32)[model.behaviour])
    machine = Machine(
        states=model.states,
        actions=model.actions,
        readings=model.readings,
        successor=model.successor,
        output=output.astype(np.int32),
        initial=model.initial,
        origin=model.origin,
    )
    return Task(
        model=machine,
        state=task.state,
        label=task.label,
        labels=task.labels,
        cost=task.cost,
        alpha=task.alpha,
        beta=task.beta,
        state_label=task.state_label,
    )


def compose(task: Task, tree: Automaton, alpha: Fraction, beta: Fraction, split: Split) -> CertifiedTree | None:
    """The tree of the skeleton with tests at its nodes; None when a node cannot be read again, or has no test."""
    return _Composing(task, tree, alpha, beta).run(split)


@final
@dataclass(frozen=True)
class _Site:
    """A node of the tree with the hypotheses that come there and where each of them is."""

    members: tuple[tuple[int, int], ...]
    node: int


class _Composing:
    def __init__(self, task: Task, tree: Automaton, alpha: Fraction, beta: Fraction) -> None:
        self.task, self.tree, self.alpha, self.beta = task, tree, alpha, beta
        self.output = skeleton(task).model.behaviour
        self.sites: list[_Site] = []
        self.follow: list[list[int]] = []
        self.tested: dict[tuple[object, Fraction, Fraction], Driven | None] = {}

    def run(self, split: Split) -> CertifiedTree | None:
        start = tuple((h, int(s)) for h, s in enumerate(self.task.state.tolist()))
        self.unfold(_Site(start, self.tree.start()))
        found = [self.find_loop(i) for i in range(len(self.sites))]
        loops = [loop for loop in found if loop is not None]
        if len(loops) < len(found) or not self.is_safe(loops):
            return None
        depth = self.count_tests(0)
        if split == "uniform" or depth == 0:
            parts = [Fraction(1, max(depth, 1))] * len(self.sites)
        else:
            parts = self.choose_parts(loops, depth)
        tests = [
            self.test(i, loops[i], parts[i] * self.alpha, self.beta / max(depth, 1)) for i in range(len(self.sites))
        ]  # type: ignore[arg-type]
        if any(test is None for test in tests):
            return None
        return self.conclude([test for test in tests if test is not None])

    def unfold(self, site: _Site) -> int:
        """Number the sites from the root; trees are no deeper than the optimum is long."""
        number = len(self.sites)
        self.sites.append(site)
        self.follow.append([])
        action = self.tree.action[site.node]
        if action != NOWHERE:
            for y, child in sorted(self.tree.children[site.node].items()):
                there = tuple(
                    (h, int(self.task.model.successor[s, action]))
                    for h, s in site.members
                    if self.output[s, action] == y
                )
                if there:
                    self.follow[number].append(self.unfold(_Site(there, child)))
        return number

    def readings(self, i: int) -> list[Reading]:
        """The readings that split site i, in the order of its children."""
        action = self.tree.action[self.sites[i].node]
        return sorted({int(self.output[s, action]) for _, s in self.sites[i].members}) if action != NOWHERE else []

    def is_test(self, i: int) -> bool:
        return len(self.follow[i]) > 1

    def count_tests(self, i: int) -> int:
        return int(self.is_test(i)) + max((self.count_tests(j) for j in self.follow[i]), default=0)

    def is_safe(self, loops: list[tuple[Action, ...]]) -> bool:
        """Whether every action that is used is defined wherever a truth that took a wrong branch may be."""
        asked = {self.tree.action[site.node] for site in self.sites if self.tree.action[site.node] != NOWHERE}
        used = sorted(asked | {a for loop in loops for a in loop})
        reached = list_reachable(self.task.model, self.task.state)
        return bool((self.task.model.successor[reached][:, used] != UNDEFINED).all())

    def find_loop(self, i: int) -> tuple[Action, ...] | None:
        """A word that begins with the node's action and brings all members back; empty where none is needed."""
        if not self.is_test(i):
            return ()
        site, model = self.sites[i], self.task.model
        home = tuple(sorted({s for _, s in site.members}))
        first = self.tree.action[site.node]
        return cheapest_return(model, home, first, self.task.cost)

    def question(self, i: int, loop: tuple[Action, ...]) -> Task:
        """Which part? on a plant that stays where it is; laws that one part has several of stay apart."""
        model, site = self.task.model, self.sites[i]
        action = self.tree.action[site.node]
        parts = self.readings(i)
        kinds = sorted(
            {(parts.index(int(self.output[s, action])), int(model.behaviour[s, action])) for _, s in site.members}
        )
        law_of = {
            k: tuple(sorted(model.reading_law(s, action).items()))
            for _, s in site.members
            for k in [int(model.behaviour[s, action])]
        }
        laws = tuple(dict.fromkeys(law_of[k] for _, k in kinds))
        n = len(kinds)
        still = NoisyMachine(
            states=tuple(f"part{p}.{k}" for p, k in kinds),
            actions=("round",),
            readings=model.readings,
            successor=np.arange(n, dtype=np.int32).reshape(-1, 1),
            law=np.array([[laws.index(law_of[k])] for _, k in kinds], dtype=np.int32),
            laws=laws,
        )
        return Task(
            model=still,
            state=np.arange(n, dtype=np.int32),
            label=np.array([p for p, _ in kinds], dtype=np.int32),
            labels=tuple(str(y) for y in parts),
            cost=(sum((self.task.cost[a] for a in loop), Fraction(0)),),
        )

    def test(self, i: int, loop: tuple[Action, ...], alpha: Fraction, beta: Fraction) -> NodeTest | None:
        site = self.sites[i]
        action = self.tree.action[site.node]
        parts = self.readings(i)
        part = {h: parts.index(int(self.output[s, action])) for h, s in site.members} if parts else {}
        if not self.is_test(i):
            return NodeTest(action, (action,) if action != NOWHERE else (), part, None)
        driven = self.drive(self.question(i, loop), alpha, beta)
        return None if driven is None or driven.policy is None else NodeTest(action, loop, part, driven)

    def drive(self, question: Task, alpha: Fraction, beta: Fraction) -> Driven | None:
        laws = tuple(tuple(sorted(question.model.reading_law(s, 0).items())) for s in range(question.model.num_states))
        key = ((laws, tuple(question.label.tolist()), question.cost), alpha, beta)
        if key not in self.tested:
            self.tested[key] = drive(question, alpha, beta, effort=Effort(max_nodes=20_000, rounds=2, trials=12))
        return self.tested[key]

    def choose_parts(self, loops: list[tuple[Action, ...]], depth: int) -> list[Fraction]:
        """The parts of alpha, by dynamic programming from the leaves: `table[i][g]` for a subtree that may spend g."""
        table: dict[int, list[tuple[float, int]]] = {}
        price: Callable[[int, int], float] = lambda i, p: self.price(i, loops[i], p, depth)  # noqa: E731
        for i in reversed(range(len(self.sites))):
            row: list[tuple[float, int]] = []
            for g in range(GRID + 1):
                choices = [(0, 0.0)] if not self.is_test(i) else [(p, price(i, p)) for p in PARTS if p <= g]
                found = [(c + max((table[j][g - p][0] for j in self.follow[i]), default=0.0), p) for p, c in choices]
                row.append(min(found, default=(math.inf, 0)))
            table[i] = row
        parts = [Fraction(0)] * len(self.sites)
        stack = [(0, GRID)]
        while stack:
            i, g = stack.pop()
            p = table[i][g][1]
            parts[i] = Fraction(p, GRID)
            stack += [(j, g - p) for j in self.follow[i]]
        return parts

    def price(self, i: int, loop: tuple[Action, ...], part: int, depth: int) -> float:
        test = self.test(i, loop, self.alpha * part / GRID, self.beta / depth)
        return math.inf if test is None else float(self.node_cost(i, test, None))

    def node_cost(self, i: int, test: NodeTest, h: int | None) -> Fraction:
        """What the node costs hypothesis h, or its dearest member: rounds of the loop but for the end of the last."""
        action = self.tree.action[self.sites[i].node]
        if action == NOWHERE:
            return Fraction(0)
        if test.test is None or test.test.risk is None:
            return self.task.cost[action]
        rest = sum((self.task.cost[a] for a in test.loop[1:]), Fraction(0))
        question = self.question(i, test.loop)
        costs = [
            c
            for c, p in zip(test.test.risk.cost, question.label.tolist(), strict=True)
            if h is None or p == test.part[h]
        ]
        return max(costs) - rest

    def node_cap(self, i: int, test: NodeTest) -> Fraction:
        action = self.tree.action[self.sites[i].node]
        if action == NOWHERE:
            return Fraction(0)
        if test.test is None or test.test.policy is None:
            return self.task.cost[action]
        return test.test.policy.horizon * sum((self.task.cost[a] for a in test.loop), Fraction(0))

    def conclude(self, tests: list[NodeTest]) -> CertifiedTree:
        caps = self.largest_path(lambda i: self.node_cap(i, tests[i]))
        wrong = self.largest_path(lambda i: _risk(tests[i])[0])
        abstain = self.largest_path(lambda i: _risk(tests[i])[1])
        own = max(self.own_path(0, h, tests) for h in range(self.task.num_hypotheses))
        return CertifiedTree(
            tuple(tests),
            tuple(tuple(f) for f in self.follow),
            tuple(self.tree.label[site.node] for site in self.sites),
            wrong,
            abstain,
            own + wrong * caps,
        )

    def largest_path(self, value: Callable[[int], Fraction], i: int = 0) -> Fraction:
        return value(i) + max((self.largest_path(value, j) for j in self.follow[i]), default=Fraction(0))

    def own_path(self, i: int, h: int, tests: list[NodeTest]) -> Fraction:
        own = self.node_cost(i, tests[i], h)
        return own + (self.own_path(self.follow[i][tests[i].part[h]], h, tests) if self.follow[i] else Fraction(0))


def _risk(test: NodeTest) -> tuple[Fraction, Fraction]:
    if test.test is None or test.test.risk is None:
        return Fraction(0), Fraction(0)
    return test.test.risk.worst[:2]


def cheapest_return(
    model: Model, home: tuple[int, ...], first: Action, cost: tuple[Fraction, ...]
) -> tuple[Action, ...] | None:
    """A shortest word that begins with `first` and leads every state of `home` back to itself; None if none."""
    where = tuple(int(model.successor[s, first]) for s in home)
    if len(set(where)) < len(home):
        return None
    words: dict[tuple[int, ...], tuple[Action, ...]] = {where: (first,)}
    queue = deque([where])
    order = sorted(range(model.num_actions), key=lambda a: cost[a])
    while queue and len(words) < MAX_LOOPS:
        here = queue.popleft()
        if here == home:
            return words[here]
        for a in order:
            after = tuple(int(model.successor[s, a]) for s in here)
            if UNDEFINED not in after and len(set(after)) == len(home) and after not in words:
                words[after] = (*words[here], a)
                queue.append(after)
    return None
