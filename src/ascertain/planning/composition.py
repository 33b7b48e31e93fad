"""Certified trees: a distinguishing tree of the noiseless skeleton, with a sequential test at every node.

The *skeleton* of a noisy task reads, of each law, the likeliest reading. Its deterministic optimum is a tree: at node v
the configuration S_v is known up to the truth, the action a_v splits it by reading, and each part goes on. With noise
one reading does not tell the parts apart, so a_v is repeated: a *loop* is a word that begins with a_v and brings every
member of S_v back to where it was. Each round of the loop gives one fresh reading of the law of the part, so a node is
a question of its own, *which part?*, about a plant that does not move; a price search (`lagrangian.py`) finds a policy
for it with evaluated alpha_v, beta_v, cost c_v and a horizon. It starts afresh from a configuration that is known given
that the path was right, so its guarantee holds whatever happened before.

**Composition** (the paper's Theorem 3.3, with what its cost and its abstention need off the path). A wrong answer needs
a wrong part at some node of the truth's own path, each with conditional probability at most alpha_v: so alpha is at
most the largest sum over paths of alpha_v. On its own path the truth h costs at most the sum of c_v(h). Off it, which
happens with probability at most alpha, a node's bounds do not cover h, for h does not belong there; but no path asks
more than its horizons allow, nor anything that is not defined wherever the truth may be (otherwise there is no tree).
So the expected cost is at most (own path) + alpha * (largest sum of horizon costs over paths).

*Abstention.* The sum of beta_v over the truth's path bounds only what is abstained there; a truth that was sent the
wrong way may meet a test that does not know its readings, and abstain for certain. Let F(v, s) bound the abstention
from node v on when the plant is in state s. If the loop of v brings s back, and s reads a_v by the law of some member,
then the test treats it as that member, say of part p, with its own alpha_v and beta_v: so F(v, s) is beta_v + F(v_p) +
alpha_v * (largest F(v_q) - F(v_p)), where v_q is the child of part q, and its F is taken where a_v leads from s.
Otherwise F(v, s) = 1. On the truth's path this is the paper's sum, plus alpha_v where a wrong branch may not know h. So
beta is at most the largest F(root, h), which never exceeds (sum of beta_v) + (sum of alpha_v) over a path. Where that
is more than was asked for, the tree is evaluated place by place if it is small, and composed anew with smaller risks if
it does abstain too often.

*The split.* `uniform` gives every node on a path alpha / (largest number of tests on a path). `best` chooses for every
node among tests of several risks so that no path sums to more than alpha and the most expensive path is cheapest: a
dynamic program over the tree with alpha in `GRID` parts, exact for these choices.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np

from ascertain.drawing.shown import Shown
from ascertain.errors import LimitError, TaskError
from ascertain.model import Machine, Model, NoisyMachine
from ascertain.planning.controller import CertifiedController, CertifiedRisk
from ascertain.planning.lagrangian import search_prices
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.policy.evaluate import evaluate
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.quotients.separation import list_reachable
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, Reading, State

Split: TypeAlias = Literal["uniform", "best"]
"""How alpha is divided among the tests on a path."""
GRID = 48
"""Parts that alpha is cut into: divisible by two and three, so that the usual splits are among the choices."""
PARTS = (48, 24, 16, 12, 8, 6, 4, 3, 2, 1)
"""The parts of alpha, out of GRID, that a node may be given: its divisors, each to be evaluated."""
MAX_LOOPS = 4000
"""Joint states that are looked at for a loop: one that is not found among so many would make the test too expensive."""
MAX_PLACES = 50_000
"""Places of a tree that is evaluated as a whole, which takes about a second."""
NODE_LIMITS = SearchLimits(max_nodes=5_000, weight_rounds=2, mixing_trials=12)
"""For the test of a node, which has one action: a tree needs many of them."""


TreeMemory: TypeAlias = tuple[int, tuple[Any, ...], int]
"""(node, what its test remembers, place in the loop); readings on the way round are not looked at."""


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
    """A policy: node v runs its test and goes on to `children[v][part]`, or answers `label[v]` where it has none."""

    node: tuple[NodeTest, ...]
    children: tuple[tuple[int, ...], ...]
    label: tuple[int, ...]
    wrong: Fraction
    abstain: Fraction
    cost: Fraction
    origin: tuple[int, ...] = ()
    """The node of the deterministic tree that each was made of."""

    def shown(self) -> Mapping[str, object]:
        return {"nodes": len(self.node), "cost": float(self.cost)}

    def start(self) -> TreeMemory:
        return self._enter(0)

    def decide(self, memory: TreeMemory) -> Decision:
        v, inner, place = memory
        if not self.children[v]:
            return Answer(self.label[v])
        node = self.node[v]
        if node.test is None or place:
            return Ask(node.loop[place])
        decision = node.test.policy.decide(inner)
        # A test that has answered is left at once, by `next`.
        assert not isinstance(decision, Answer)
        return Ask(node.action) if isinstance(decision, Ask) else decision

    def next(self, memory: TreeMemory, reading: Reading) -> TreeMemory:
        v, inner, place = memory
        node = self.node[v]
        if node.test is None:
            return self._enter(self.children[v][0])
        if place == 0:
            inner = node.test.policy.next(inner, reading)
            decision = node.test.policy.decide(inner)
            if isinstance(decision, Answer):
                # The action is done, which was the tree's own step: the way back is not gone.
                return self._enter(self.children[v][decision.label])
            if isinstance(decision, Abstain):
                return v, inner, 0
        return v, inner, (place + 1) % len(node.loop)

    def _enter(self, v: int) -> TreeMemory:
        test = self.node[v].test
        return v, () if test is None else test.policy.start(), 0


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


def compose(
    task: Task,
    tree: Automaton,
    alpha: Fraction,
    beta: Fraction,
    limits: SearchLimits = DEFAULT_LIMITS,
    splits: tuple[Split, ...] = ("uniform", "best"),
) -> dict[Split, CertifiedTree | None]:
    """The tree of the skeleton with tests at its nodes, by each split.

    None when a node cannot be read again, or has no test.
    """
    composition = _Composition(task, tree, alpha, beta, limits.until)
    return {split: _keep_within(composition, split) for split in splits}


def compose_given(task: Task, tree: Automaton, risks: Mapping[int, tuple[Fraction, Fraction]]) -> CertifiedTree:
    """The tree with the tests that someone asks for: `risks[v]` is (alpha_v, beta_v) of node v of the tree.

    TaskError where a node cannot be read again, or no test keeps to its risks.
    """
    composition = _Composition(task, tree, Fraction(0), Fraction(0), DEFAULT_LIMITS.until)
    if not composition.may_repeat:
        raise TaskError("the tests of this tree cannot be repeated: no word leads back to where each is asked")
    tests: list[NodeTest] = []
    for i, site in enumerate(composition.sites):
        alpha, beta = risks.get(site.node, (Fraction(0), Fraction(0)))
        test = composition.test(i, alpha, beta)
        if test is None:
            raise TaskError(f"node {site.node}: no test was found that is wrong with {alpha} and abstains with {beta}")
        tests.append(test)
    return composition.conclude(tests)


def _keep_within(composition: _Composition, split: Split) -> CertifiedTree | None:
    """The tree by this split, if need be with smaller risks, so that it abstains no more often than it may."""
    task, alpha, beta = composition.task, composition.alpha, composition.beta
    found = composition.run(split)
    if found is None or found.abstain <= beta:
        return found
    with suppress(LimitError):
        abstain = evaluate(task, found, max_places=MAX_PLACES).beta
        if abstain <= beta:
            return replace(found, abstain=abstain)
    # Off its path the truth may abstain for certain: so what the tests err and abstain must together stay within beta.
    least = min(alpha, beta / 2)
    found = _Composition(task, composition.tree, least, beta - least, composition.until).run(split)
    return found if found is not None and found.abstain <= beta else None


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

    def __init__(self, task: Task, tree: Automaton, alpha: Fraction, beta: Fraction, until: float) -> None:
        self.task, self.tree, self.alpha, self.beta, self.until = task, tree, alpha, beta, until
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
        self.found: dict[tuple[object, Fraction, Fraction], CertifiedController | None] = {}

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
        model, state_of = self.task.model, self.kinds(site)
        kinds = list(state_of)
        law_of = [tuple(sorted(model.reading_law(s, site.action).items())) for s in state_of.values()]
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

    def kinds(self, site: _Site) -> dict[tuple[int, int], int]:
        """The hypotheses of a node's question: (part, number of the law), each with the state of such a member."""
        law = self.task.model.behaviour[:, site.action]
        return dict(sorted({(self.part_of(site, s), int(law[s])): s for _, s in site.members}.items()))

    def cost_of(self, word: tuple[Action, ...]) -> Fraction:
        return sum((self.task.cost[a] for a in word), Fraction(0))

    def test(self, i: int, alpha: Fraction, beta: Fraction | None = None) -> NodeTest | None:
        """The test of a site at these risks, beta an even share unless given; None where none was found."""
        site, loop = self.sites[i], self.loops[i]
        part = {h: self.part_of(site, s) for h, s in site.members} if site.readings else {}
        if not site.is_test:
            return NodeTest(site.action, (site.action,) if site.action != NOWHERE else (), part, None)
        policy = self.find_policy(self.question(site, loop), alpha, self.beta_of_test if beta is None else beta)
        return None if policy is None else NodeTest(site.action, loop, part, policy)

    def find_policy(self, question: Task, alpha: Fraction, beta: Fraction) -> CertifiedController | None:
        """A policy for a node's question; sites that ask the same question share it."""
        laws = tuple(tuple(sorted(question.model.reading_law(s, 0).items())) for s in range(question.model.num_states))
        key = ((laws, tuple(question.label.tolist()), question.cost), alpha, beta)
        if key not in self.found:
            try:
                limits = replace(NODE_LIMITS, until=self.until)
                self.found[key] = search_prices(question, alpha, beta, limits=limits).best
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
        alphas = [Fraction(0) if test.test is None else test.test.risk.worst[0] for test in tests]
        horizon_cost = self.largest_path(lambda i: rounds[i] * self.cost_of(tests[i].loop))
        wrong = self.largest_path(lambda i: alphas[i])
        states: list[int] = self.task.state.tolist()
        abstain = max(self.abstention(tests, 0, s, {}) for s in states)
        own = max(self.own_path(0, h, tests) for h in range(self.task.num_hypotheses))
        return CertifiedTree(
            tuple(tests),
            tuple(tuple(site.children) for site in self.sites),
            tuple(self.tree.label[site.node] for site in self.sites),
            wrong,
            abstain,
            own + wrong * horizon_cost,
            tuple(site.node for site in self.sites),
        )

    def largest_path(self, value: Callable[[int], Fraction], i: int = 0) -> Fraction:
        return value(i) + max((self.largest_path(value, j) for j in self.sites[i].children), default=Fraction(0))

    def own_path(self, i: int, h: int, tests: list[NodeTest]) -> Fraction:
        # Theorem 3.3: on its own path the truth pays what its own part costs at each node.
        own, children = self.node_cost(tests[i], h), self.sites[i].children
        return own + (self.own_path(children[tests[i].part[h]], h, tests) if children else Fraction(0))

    def abstention(self, tests: list[NodeTest], i: int, s: State, known: dict[tuple[int, State], Fraction]) -> Fraction:
        """F(v, s) of the module docstring: a bound on abstention from site i on, wherever the truth belongs."""
        site, test = self.sites[i], tests[i].test
        if not site.children:
            return Fraction(0)
        if (i, s) not in known:
            after = int(self.task.model.successor[s, site.action])
            below = [self.abstention(tests, j, after, known) for j in site.children]
            known[i, s] = below[0] if test is None else self.abstention_at(tests[i], test.risk, site, s, below)
        return known[i, s]

    def abstention_at(
        self, node: NodeTest, risk: CertifiedRisk, site: _Site, s: State, below: list[Fraction]
    ) -> Fraction:
        """F(v, s) where there is a test, from what it is `below` for each part."""
        law = int(self.task.model.behaviour[s, site.action])
        alike = [(k, part) for k, (part, number) in enumerate(self.kinds(site)) if number == law]
        if not alike or follow_word(self.task.model, s, node.loop) != s:
            return Fraction(1)
        k, part = alike[0]
        return min(risk.abstain[k] + below[part] + risk.wrong[k] * (max(below) - below[part]), Fraction(1))


def follow_word(model: Model, s: State, word: tuple[Action, ...]) -> State:
    """Where a word leads that is defined from this state."""
    for a in word:
        s = int(model.successor[s, a])
    return s


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
