"""Certified trees: a distinguishing tree of the noiseless skeleton, with a sequential test at every node.

The *skeleton* of a noisy task reads, of each law, the likeliest reading. Its deterministic optimum is a tree: at node v
the configuration S_v is known up to the truth, the action a_v splits it by reading, and each part goes on. With noise
one reading does not tell the parts apart, so a_v is repeated: a *loop* is a word that begins with a_v and brings every
member of S_v back to where it was. Each round of the loop gives one fresh reading of the law of the part, so a node is
a question of its own, *which part?*, about a plant that does not move; a price search (`lagrangian.py`) finds a policy
for it with evaluated alpha_v, beta_v, cost c_v and a horizon. It starts afresh from a configuration that is known given
that the path was right, so its guarantee holds whatever happened before.

**Composition** (the paper's Theorem 3.3, with the horizon that its cost needs). A wrong answer needs a wrong part at
some node of the truth's own path, each with conditional probability at most alpha_v: so alpha is at most the largest
sum over paths of alpha_v, and likewise beta. On its own path the truth h costs at most the sum of c_v(h). Off it, which
happens with probability at most alpha, a node's bound does not cover h, for h does not belong there; but no path asks
more than its horizons allow, nor anything that is not defined wherever the truth may be (otherwise there is no tree).
So the expected cost is at most (own path) + alpha * (largest sum of horizon costs over paths).

*The split.* `uniform` gives every node on a path alpha / (largest number of tests on a path). `best` chooses for every
node among tests of several risks so that no path sums to more than alpha and the most expensive path is cheapest: a
dynamic program over the tree with alpha in `GRID` parts, exact for these choices.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.drawing.shown import Shown
from ascertain.errors import LimitError
from ascertain.model import Machine, Model, NoisyMachine
from ascertain.planning.controller import CertifiedController
from ascertain.planning.lagrangian import search_prices
from ascertain.planning.limits import SearchLimits
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.quotients.separation import list_reachable
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, Reading

Split: TypeAlias = Literal["uniform", "best"]
"""How alpha is divided among the tests on a path."""
GRID = 48
"""Parts that alpha is cut into: divisible by two and three, so that the usual splits are among the choices."""
PARTS = (48, 24, 16, 12, 8, 6, 4, 3, 2, 1)
"""The parts of alpha, out of GRID, that a node may be given: its divisors, each to be evaluated."""
MAX_LOOPS = 4000
"""Joint states that are looked at for a loop: one that is not found among so many would make the test too expensive."""
NODE_LIMITS = SearchLimits(max_nodes=20_000, weight_rounds=2, mixing_trials=12)
"""For the test of a node, which has one action: a tree needs many of them."""


@final
@dataclass(frozen=True, eq=False)
class NodeTest:
    """The test at a node: what it asks, the loop it goes round, its parts, and the policy that tells them apart."""

    action: Action
    loop: tuple[Action, ...]
    part: Mapping[int, int]
    """`part[h]` for every member h."""
    test: CertifiedController | None
    """None when there is one part only: then the action is done once."""


@final
@dataclass(frozen=True, eq=False)
class CertifiedTree(Shown):
    """A tree with tests: node v goes on to `children[v][part]`, or answers `label[v]`."""

    node: tuple[NodeTest, ...]
    children: tuple[tuple[int, ...], ...]
    label: tuple[int, ...]
    wrong: Fraction
    abstain: Fraction
    cost: Fraction

    def shown(self) -> Mapping[str, object]:
        return {"nodes": len(self.node), "cost": float(self.cost)}


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
    return replace(task, model=machine)


def compose(task: Task, tree: Automaton, alpha: Fraction, beta: Fraction) -> dict[Split, CertifiedTree | None]:
    """The tree of the skeleton with tests at its nodes, by each split.

    None when a node cannot be read again, or has no test.
    """
    composition = _Composition(task, tree, alpha, beta)
    return {"uniform": composition.run("uniform"), "best": composition.run("best")}


@final
@dataclass(frozen=True, eq=False)
class _Site:
    """A node of the tree, its action (NOWHERE at a leaf), and the hypotheses that come there, each with its state."""

    node: int
    action: Action
    members: tuple[tuple[int, int], ...]
    readings: list[Reading]
    """The readings that split it."""
    children: list[int]
    """The sites that they lead to."""

    @property
    def is_test(self) -> bool:
        return len(self.children) > 1


class _Composition:
    """The sites of the tree, numbered from the root, and what their tests may be."""

    def __init__(self, task: Task, tree: Automaton, alpha: Fraction, beta: Fraction) -> None:
        self.task, self.tree, self.alpha = task, tree, alpha
        self.output = skeleton(task).model.behaviour
        self.sites: list[_Site] = []
        self.unfold(tree.start(), tuple((h, int(s)) for h, s in enumerate(task.state.tolist())))
        self.depth = max(int(self.largest_path(lambda i: Fraction(self.sites[i].is_test))), 1)
        """The largest number of tests on a path."""
        self.beta_of_test = beta / self.depth
        words = [self.find_loop(site) for site in self.sites]
        self.loops = [word for word in words if word is not None]
        self.may_repeat = len(self.loops) == len(words) and self.is_safe()
        """Whether every test can be read again, without harm on wrong branches too."""
        self.found: dict[tuple[object, Fraction], CertifiedController | None] = {}

    def run(self, split: Split) -> CertifiedTree | None:
        if not self.may_repeat:
            return None
        parts = [Fraction(1, self.depth)] * len(self.sites)
        if split == "best" and self.depth > 1:  # else every test has all of alpha already
            parts = self.choose_parts()
        tried = [self.test(i, part * self.alpha) for i, part in enumerate(parts)]
        tests = [test for test in tried if test is not None]
        return self.conclude(tests) if len(tests) == len(tried) else None

    def unfold(self, node: int, members: tuple[tuple[int, int], ...]) -> int:
        """Number the sites from the root; trees are no deeper than the optimum is long."""
        number, action = len(self.sites), self.tree.action[node]
        site = _Site(node, action, members, [], [])
        self.sites.append(site)
        for y, child in sorted(self.tree.children[node].items()):
            there = [(h, int(self.task.model.successor[s, action])) for h, s in members if self.output[s, action] == y]
            if there:
                site.readings.append(y)
                site.children.append(self.unfold(child, tuple(there)))
        return number

    def part_of(self, site: _Site, state: int) -> int:
        return site.readings.index(int(self.output[state, site.action]))

    def is_safe(self) -> bool:
        """Whether every action that is used is defined wherever a truth that took a wrong branch may be."""
        asked = {site.action for site in self.sites if site.action != NOWHERE}
        used = sorted(asked.union(*self.loops))
        reached = list_reachable(self.task.model, self.task.state)
        return bool((self.task.model.successor[reached][:, used] != UNDEFINED).all())

    def find_loop(self, site: _Site) -> tuple[Action, ...] | None:
        """A word that begins with the node's action and brings all members back; empty where none is needed."""
        if not site.is_test:
            return ()
        home = tuple(sorted({s for _, s in site.members}))
        return cheapest_return(self.task.model, home, site.action, self.task.cost)

    def question(self, site: _Site, loop: tuple[Action, ...]) -> Task:
        """Which part? on a plant that stays where it is; laws that one part has several of stay apart."""
        model, action = self.task.model, site.action
        # Members of one part that share a law are one hypothesis of the node.
        state_of = {(self.part_of(site, s), int(model.behaviour[s, action])): s for _, s in site.members}
        kinds = sorted(state_of)
        law_of = [tuple(sorted(model.reading_law(state_of[kind], action).items())) for kind in kinds]
        laws = tuple(dict.fromkeys(law_of))
        states = np.arange(len(kinds), dtype=np.int32)
        still = NoisyMachine(
            states=tuple(f"part{p}.{k}" for p, k in kinds),
            actions=("round",),
            readings=model.readings,
            successor=states.reshape(-1, 1),
            law=np.array([[laws.index(law)] for law in law_of], dtype=np.int32),
            laws=laws,
        )
        return Task(
            model=still,
            state=states,
            label=np.array([p for p, _ in kinds], dtype=np.int32),
            labels=tuple(str(y) for y in site.readings),
            cost=(self.cost_of(loop),),
        )

    def cost_of(self, word: tuple[Action, ...]) -> Fraction:
        return sum((self.task.cost[a] for a in word), Fraction(0))

    def test(self, i: int, alpha: Fraction) -> NodeTest | None:
        """The test of a site at this risk; None where none was found."""
        site, loop = self.sites[i], self.loops[i]
        part = {h: self.part_of(site, s) for h, s in site.members} if site.readings else {}
        if not site.is_test:
            return NodeTest(site.action, (site.action,) if site.action != NOWHERE else (), part, None)
        policy = self.find_policy(self.question(site, loop), alpha)
        return None if policy is None else NodeTest(site.action, loop, part, policy)

    def find_policy(self, question: Task, alpha: Fraction) -> CertifiedController | None:
        """A policy for a node's question; sites that ask the same question share it."""
        laws = tuple(tuple(sorted(question.model.reading_law(s, 0).items())) for s in range(question.model.num_states))
        key = ((laws, tuple(question.label.tolist()), question.cost), alpha)
        if key not in self.found:
            try:
                self.found[key] = search_prices(question, alpha, self.beta_of_test, limits=NODE_LIMITS).best
            except LimitError:
                self.found[key] = None
        return self.found[key]

    def choose_parts(self) -> list[Fraction]:
        """The parts of alpha, by dynamic programming from the leaves: `table[i][g]` for a subtree that may spend g."""
        table: dict[int, list[tuple[float, int]]] = {}
        for i in reversed(range(len(self.sites))):
            site, price = self.sites[i], {0: 0.0}
            if site.is_test:
                tests = [(p, self.test(i, self.alpha * p / GRID)) for p in PARTS]
                price = {p: math.inf if test is None else float(self.node_cost(test, None)) for p, test in tests}
            # The dearest child counts, as paths share nothing but the nodes above.
            row: list[tuple[float, int]] = []
            for g in range(GRID + 1):
                found = [
                    (c + max((table[j][g - p][0] for j in site.children), default=0.0), p)
                    for p, c in price.items()
                    if p <= g
                ]
                row.append(min(found, default=(math.inf, 0)))
            table[i] = row
        # Down from the root: each site takes its part, and what is left goes to every child, as paths share nothing.
        parts = [Fraction(0)] * len(self.sites)
        stack = [(0, GRID)]
        while stack:
            i, g = stack.pop()
            p = table[i][g][1]
            parts[i] = Fraction(p, GRID)
            stack += [(j, g - p) for j in self.sites[i].children]
        return parts

    def node_cost(self, test: NodeTest, h: int | None) -> Fraction:
        """What a node costs hypothesis h, or its dearest member: rounds of the loop but for the end of the last."""
        if test.test is None:
            return self.cost_of(test.loop)
        label: list[int] = test.test.policy.graph.tables.task.label.tolist()
        costs = [c for c, p in zip(test.test.risk.cost, label, strict=True) if h is None or p == test.part[h]]
        return max(costs) - self.cost_of(test.loop[1:])

    def conclude(self, tests: list[NodeTest]) -> CertifiedTree:
        """Sums over paths, as the theorem says."""
        rounds = [1 if test.test is None else test.test.policy.horizon for test in tests]
        worst = [(Fraction(0), Fraction(0)) if test.test is None else test.test.risk.worst[:2] for test in tests]
        horizon_cost = self.largest_path(lambda i: rounds[i] * self.cost_of(tests[i].loop))
        wrong, abstain = (self.largest_path(lambda i, k=k: worst[i][k]) for k in (0, 1))
        own = max(self.own_path(0, h, tests) for h in range(self.task.num_hypotheses))
        return CertifiedTree(
            tuple(tests),
            tuple(tuple(site.children) for site in self.sites),
            tuple(self.tree.label[site.node] for site in self.sites),
            wrong,
            abstain,
            own + wrong * horizon_cost,
        )

    def largest_path(self, value: Callable[[int], Fraction], i: int = 0) -> Fraction:
        return value(i) + max((self.largest_path(value, j) for j in self.sites[i].children), default=Fraction(0))

    def own_path(self, i: int, h: int, tests: list[NodeTest]) -> Fraction:
        # Theorem 3.3: on its own path the truth pays what its own part costs at each node.
        own, children = self.node_cost(tests[i], h), self.sites[i].children
        return own + (self.own_path(children[tests[i].part[h]], h, tests) if children else Fraction(0))


def cheapest_return(
    model: Model, home: tuple[int, ...], first: Action, cost: tuple[Fraction, ...]
) -> tuple[Action, ...] | None:
    """A shortest word that begins with `first` and leads every state of `home` back to itself, if found."""
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
