"""Policies as things to keep: every upper side of two-sided bounds as a finite controller, or a product of them.

What a search finds lives on its belief graph. What is saved, drawn, simulated, run and certified is smaller:

    a table             `policy/automaton.py`: trees of tests, deterministic plans, whatever has few memories
    a table with slots  `policy/slots.py`: controllers on belief graphs, which count, and may keep hypotheses sorted
    a product           `policy/product.py`, each factor a table: independent bits of a plant that is not enumerated
    levels              `planning/sequential_tests.py`: all bits of such a plant raised together

`export_policy` makes one of these four of anything that `bound_both_sides` returns, and never changes what it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

from ascertain.drawing.outline import Names, Outline, outline_nodes
from ascertain.drawing.shown import Shown
from ascertain.errors import LimitError, TaskError
from ascertain.planning.controller import ABSTAIN, FiniteStateController
from ascertain.planning.factors import Factors, evaluate_form, find_factors
from ascertain.planning.sequential_tests import LevelwiseTest, evaluate_levels
from ascertain.policy.automaton import NOWHERE, AbstractNodes, PolicyTable
from ascertain.policy.chain import follow, tabulate
from ascertain.policy.combination import evaluate_product
from ascertain.policy.evaluate import evaluate
from ascertain.policy.plain import as_ordered
from ascertain.policy.policy import AbstractPolicy
from ascertain.policy.product import Factor, Product
from ascertain.policy.slots import SlotTable
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from ascertain.types import State

Form: TypeAlias = AbstractNodes | SlotTable | Product | LevelwiseTest
"""What a policy is kept as."""
MAX_PLACES = 100_000
"""Places (memory, label, state) of a policy that is listed: a table of some megabytes, evaluated in half a minute."""


@final
@dataclass(frozen=True, eq=False)
class Controller(Shown):
    """A policy for a question, in the form in which it is kept."""

    question: Task | PlantTask
    form: Form

    def shown(self) -> Mapping[str, object]:
        return {"policy": repr(self.form)}

    @property
    def policy(self) -> AbstractPolicy[Any]:
        return self.form

    @property
    def is_product(self) -> bool:
        """Whether it is about a plant that is not enumerated."""
        return isinstance(self.form, Product | LevelwiseTest)

    def label(self, answer: int) -> str:
        """The name of an answer that the policy gives by number."""
        if not isinstance(self.form, Product | LevelwiseTest):
            return listed(self.question).labels[answer]
        factors = factors_of(self.question)
        if factors.asks == "nominal":
            # 0 is nominal, which is where the centre is; any form that differs makes it another state.
            state = factors.centre if answer == 0 else factors.centre ^ factors.differences[0]
        else:
            state = _state_with(factors, [answer >> i & 1 for i in range(len(factors.forms))])
        return next(iter(self.question.true_labels(state, state)))

    def risk(self) -> tuple[Fraction, Fraction, Fraction]:
        """How probable a wrong answer and an abstention are at most, and what it costs, in the worst case.

        LimitError where there are too many places to list, TaskError where it asks what is not allowed or never ends.
        """
        if isinstance(self.form, Product):
            found = evaluate_product(self.form)
            wrong, abstain, cost = found.alpha, found.beta, found.cost
        elif isinstance(self.form, LevelwiseTest):
            known = dict(zip(factors_of(self.question).actions, factors_of(self.question).costs, strict=True))
            levels = evaluate_levels(self.form, [known[a] for a in self.form.actions])
            wrong, abstain, cost = levels.wrong, levels.abstain, levels.cost
        else:
            evaluated = evaluate(listed(self.question), self.policy, max_places=MAX_PLACES)
            wrong, abstain, cost = evaluated.alpha, evaluated.beta, evaluated.cost
        if cost is None:
            raise TaskError("the policy may go on for ever, so that its expected cost is infinite")
        return wrong, abstain, cost

    def table(self) -> AbstractNodes:
        """The policy as one plain table, for certificates; LimitError where that is too large, or there is none."""
        if self.is_product:
            raise LimitError("a question about a plant that is not enumerated has no certificate of this kind")
        if isinstance(self.form, AbstractNodes) and self.form.names is not None:
            return self.form
        return as_table(listed(self.question), self.form)

    def outline(self) -> Outline:
        """The policy as a tree that can be drawn: as it is, or test by test."""
        if isinstance(self.form, Product):
            return _outline_product(self.question, self.form)
        if isinstance(self.form, LevelwiseTest):
            return _outline_levels(self.question, self.form)
        return self.table().outline


def export_policy(question: Task | PlantTask, policy: Any) -> Controller:
    """Any policy of `bound_both_sides` or of a search, in the form in which it is kept."""
    if isinstance(policy, Controller):
        return policy
    if isinstance(policy, LevelwiseTest):
        form: Form = policy
    elif isinstance(policy, Product):
        form = Product(tuple(_tabulate_factor(question, factor) for factor in policy.factors))
    elif isinstance(policy, FiniteStateController):
        form = compress_controller(policy)
    elif isinstance(policy, AbstractNodes | SlotTable):
        form = policy
    else:
        form = as_table(listed(question), policy)
    return Controller(question, form)


def as_table(task: Task, policy: AbstractPolicy[Any]) -> AbstractNodes:
    """The policy as a plain table of the memories that some hypothesis reaches, with the names of the task."""
    return as_ordered(tabulate(follow(task, policy, max_places=MAX_PLACES))).named(task)


def compress_controller(controller: FiniteStateController) -> SlotTable:
    """A controller on a belief graph, as a table of the nodes that it can come to."""
    graph, choice = controller.graph, controller.choice
    tables, slot = graph.tables, graph.slot
    number, order = {0: 0}, [0]
    children: list[dict[int, int]] = []
    moves: list[dict[int, tuple[int, ...]]] = []
    for v in order:  # grows while it is walked, breadth first
        k, following, moved = int(choice[v]), dict[int, int](), dict[int, tuple[int, ...]]()
        for y in range(tables.num_readings) if k >= 0 else ():
            child = int(graph.child[v, k, y])
            if child == NOWHERE:
                continue
            if child not in number:
                number[child] = len(order)
                order.append(child)
            following[y] = number[child]
            # A move that leaves everything where it is says nothing.
            if slot is not None and (move := tuple(slot[v, k, y].tolist())) != tuple(range(tables.num_slots)):
                moved[y] = move
        children.append(following)
        moves.append(moved)
    chosen = [int(choice[v]) for v in order]
    nodes = PolicyTable(
        action=tuple(int(graph.option[v, k]) if k >= 0 else NOWHERE for v, k in zip(order, chosen, strict=True)),
        label=tuple(NOWHERE if k >= 0 or k == ABSTAIN else -1 - k for k in chosen),
        children=tuple(children),
    )
    if tables.slots == "named":
        return SlotTable(nodes, controller.horizon)
    labels: list[int] = tables.task.label.tolist()
    if not any(moves):  # slot i holds hypothesis i all the time
        said = tuple(k if k == NOWHERE else labels[k] for k in nodes.label)
        return SlotTable(replace(nodes, label=said), controller.horizon)
    sensors = tuple(range(tables.num_slots)) if tables.slots == "ranked" else ()
    return SlotTable(nodes, controller.horizon, tuple(labels), sensors, tuple(moves))


def _tabulate_factor(question: Task | PlantTask, factor: Factor) -> Factor:
    """The factor with its test as a table, and at the cost of its own action."""
    task = replace(factor.task, cost=tuple(question.cost[a] for a in factor.actions))
    return replace(factor, task=task, policy=as_ordered(tabulate(follow(factor.task, factor.policy))))


def listed(question: Task | PlantTask) -> Task:
    """The question, where its states are listed; TaskError where they are not."""
    if question.model.listed is None:
        raise TaskError("this policy is a table, and the states of the plant are not listed; a product is needed")
    return cast("Task", question)


def factors_of(question: Task | PlantTask) -> Factors:
    """The factors of a question about a plant that is not enumerated; TaskError where it has none."""
    if question.model.listed is not None:
        raise TaskError("this policy is a product of tests, and the question lists its states; a table is needed")
    found = find_factors(cast("PlantTask", question))
    if found is None:
        raise TaskError("the question has no factors: two of its states read alike and differ in label")
    return found


def _state_with(factors: Factors, values: Sequence[int]) -> State:
    state = 0
    for form, difference, value in zip(factors.forms, factors.differences, values, strict=True):
        if evaluate_form(form, 0) != value:
            state ^= difference
    return state


def _outline_product(question: Task | PlantTask, product: Product) -> Outline:
    """One branch for each different test, and what reads it."""
    read: dict[int, list[int]] = {}
    for i, factor in enumerate(product.factors):
        read.setdefault(id(factor.policy), []).append(i)
    branches = [_outline_test(question, product.factors[group[0]], group, product) for group in read.values()]
    text = f"{len(product.factors)} tests, one after the other"
    return Outline("", text, "ask", 0, children=tuple(branches))


def _outline_test(question: Task | PlantTask, factor: Factor, group: list[int], product: Product) -> Outline:
    assert isinstance(factor.policy, AbstractNodes)
    names = [question.model.actions[product.factors[i].actions[0]] for i in group]
    several = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
    spoken = Names((several,), factor.task.model.readings, factor.task.labels, (factor.task.cost[0],))
    root = outline_nodes(factor.policy.action, factor.policy.label, factor.policy.children, spoken)
    return replace(root, reading=", ".join(names))


def _outline_levels(question: Task | PlantTask, levels: LevelwiseTest) -> Outline:
    """One line for each level."""
    names = ", ".join(question.model.actions[a] for a in levels.actions)
    rows = [
        f"level {k + 1}: each until it is {k + 1} ahead, at most {cap} readings a visit"
        for k, cap in enumerate(levels.caps)
    ]
    ends = [("all levels passed", "nominal"), (f"one is {levels.down} behind", "not nominal")]
    leaves = [Outline("", row, "ask", k + 1) for k, row in enumerate(rows)]
    leaves += [Outline(when, text, "answer", len(rows) + 1 + k) for k, (when, text) in enumerate(ends)]
    return Outline("", f"{len(levels.actions)} bits, level by level: {names}", "ask", 0, children=tuple(leaves))
