"""The claim that a policy stays within stated risks at a stated expected cost, whatever is true: never solved for.

A policy is a list of nodes as in achieves.py, but a node may answer null, which is an abstention, a reading that a node
does not provide for is an abstention too, and, where the claim brings values, a child may be any node.

A *place* is (node, label, state). Each hypothesis (k, s) starts at (0, k, s). At a place that asks a, the plant moves
to the successor t, the label stays (or, in a task about the current state, becomes that of t), and reading y, with
the probability p(y) of its law, leads to the node that is named for y. Every place that can be reached must allow
what it asks: a hypothesis may still be true exactly after those transcripts that it gives a positive probability, so
this says the same as "an action is asked only while every hypothesis that may still be true allows it".

Write v for the probability of a wrong answer, of no answer, or for the expected cost, from a place on. At an ending v
is 0 or 1, and 0 for the cost. Elsewhere v is the least non-negative solution of v = c + sum of p(y) v(next place),
where c is the cost of the action for the cost and 0 for the others.

*Without values*, children come after their parents, so v is computed from the last node back.

*With values*, the claim lists numbers u >= 0 for every place that asks and can be reached, and each must satisfy
u >= c + sum of p(y) u(next place), where endings count as above. *Theorem.* Then v <= u. *Proof.* Let v_n be v for runs
that are cut off after n actions (what a run would do after that counts nothing). v_0 = 0 <= u at every place that asks,
and if v_n <= u then v_(n+1) = c + sum p v_n <= c + sum p u <= u. As n grows v_n rises to v. QED. A step costs at least
what the cheapest action does, so a finite bound on the expected cost also says that the policy ends with probability
one: looking for ever is no way to avoid an abstention.

*Noise as a bound.* Where errors have probability at most f given the past, and a reading may be lost with at most l, v
is the worst case over every noise within that, which may look at all that has happened: for each of the three numbers
by itself the least non-negative solution of

    v = c + (1 - f) (1 - l) v(predicted) + (1 - f) l max(v(predicted), v(silence)) + f max over readings y of v(y),

where v(y) is v at the place after y. The laws that a reading may have form a polytope, and of a linear function an end
of it is worst. In general v = c + sum, over parts of the probability, of p times the largest v that noise can send the
part to. Values that satisfy u >= c + sum of p max u bound it by the same proof: noise that is cut off after n actions
has v_(n+1) <= c + sum p max v_n <= c + sum p max u <= u, whatever it does.

*A Boolean plant* has no list of states. Its policy is one of tests of bits, and `bit_tests.py` says what it achieves.

Numbers are compared exactly. One that needs more than MAX_BITS bits is not followed further: a claim that needs it can
bring values instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ascertain_check.bit_tests import measure, read_bit_policy
from ascertain_check.claim import LISTED, register
from ascertain_check.claims.achieves import Ask, read_ask
from ascertain_check.plant_task import PlantTask
from ascertain_check.reading import (
    Object,
    read_index,
    read_list,
    read_map,
    read_object,
    read_rational,
)
from ascertain_check.task import Task, predicted
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import KEEP, spend

Place: TypeAlias = tuple[int, int, int]
"""(node, label, state)."""
Triple: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""(wrong, no answer, cost)."""

MAX_BITS = 20_000
ZERO, ONE = Fraction(0), Fraction(1)
LOST = -1
"""The node after a reading that is not provided for."""
NAMES = ("probability of a wrong answer", "probability of no answer", "expected cost")


@dataclass(frozen=True)
class End:
    label: int | None


@dataclass(frozen=True)
class Policy:
    nodes: list[Ask | End]

    def at(self, node: int) -> Ask | End:
        return End(None) if node == LOST else self.nodes[node]


@register("within-risk", about=(*LISTED, "boolean"))
def check_within_risk(task: Task | PlantTask, claim: Object) -> str:
    data = read_object(claim, "claim alpha beta cost policy values?", "the claim 'within-risk'")
    limits = (
        read_rational(data["alpha"], "alpha"),
        read_rational(data["beta"], "beta"),
        read_rational(data["cost"], "cost"),
    )
    alpha, beta, cost = limits
    risk = f"the policy errs with probability at most {alpha}, abstains with at most {beta}, and costs at most {cost}"
    if isinstance(task, PlantTask):
        if "values" in data:
            raise Malformed("tests of bits have no values")
        check_limits(measure(task, read_bit_policy(task, data["policy"])), limits, "the tests")
        return risk
    policy = read_policy(task, data["policy"], loops="values" in data)
    places = find_places(task, policy)
    if "values" in data:
        values = read_values(task, policy, data["values"])
        check_values(task, policy, places, values)
    else:
        values = compute_values(task, policy, places)
    for h, (label, s) in enumerate(task.hypotheses):
        check_limits(value_at(policy, (0, label, s), values), limits, f"hypothesis {h}")
    return risk if task.at_most is None else f"{risk}, whatever the noise within its bound"


def read_policy(task: Task, value: object, *, loops: bool) -> Policy:
    nodes = read_list(read_object(value, "nodes", "the policy")["nodes"], "nodes")
    if not nodes:
        raise Malformed("a policy needs at least one node")
    return Policy([read_node(task, node, v, len(nodes), loops=loops) for v, node in enumerate(nodes)])


def read_node(task: Task, value: object, v: int, size: int, *, loops: bool) -> Ask | End:
    where = f"policy node {v}"
    if "answer" in read_map(value, where):
        label = read_object(value, "answer", where)["answer"]
        return End(None if label is None else read_index(label, task.num_labels, where))
    ask = read_ask(task, value, size, where)
    if not loops and any(child <= v for child in ask.next.values()):
        raise Malformed(f"{where} leads to a node that does not come after it, which needs values")
    return ask


def read_values(task: Task, policy: Policy, value: object) -> dict[Place, Triple]:
    """Values by place; places that no run reaches may be listed too."""
    values: dict[Place, Triple] = {}
    for row in read_list(value, "values"):
        node, label, s, *numbers = read_list(row, "a row of values", 6)
        place = (
            read_index(node, len(policy.nodes), "a row of values"),
            read_index(label, task.num_labels, "a row of values"),
            read_index(s, task.num_states, "a row of values"),
        )
        wrong, none, cost = (read_rational(x, "a value") for x in numbers)
        if place in values:
            raise Malformed(f"the place {place} has values twice")
        values[place] = (wrong, none, cost)
    return values


def find_places(task: Task, policy: Policy) -> list[Place]:
    """The places that ask and can be reached, in any order; each allows what it asks."""
    stack = [(0, label, s) for label, s in task.hypotheses]
    seen = set(stack)
    asking: list[Place] = []
    while stack:
        place = stack.pop()
        node = policy.at(place[0])
        spend(2 * KEEP)
        if isinstance(node, Ask):
            asking.append(place)
            for _, reached in step(task, node, place):
                stack += [after for after in reached if after not in seen]
                seen.update(reached)
    return asking


def step(task: Task, node: Ask, place: Place) -> list[tuple[Fraction, list[Place]]]:
    """Parts of the probability, and where the action, or noise that is a bound, can send each; different places."""
    _, label, s = place
    successor, behaviour = task.successor[s][node.action], task.behaviour[s][node.action]
    if successor is None or behaviour is None:
        raise Refuted(f"action {node.action} is asked where the plant may be in state {s}, which does not allow it")
    label = task.label_after(label, successor)
    parts = spread(task, behaviour)
    spend(5 * sum(len(ys) for _, ys in parts))
    return [(p, [(v, label, successor) for v in dict.fromkeys(node.next.get(y, LOST) for y in ys)]) for p, ys in parts]


def spread(task: Task, behaviour: int) -> list[tuple[Fraction, list[int]]]:
    """The reading as parts of probability, each with the readings that it may become."""
    if not task.noisy:
        return [(ONE, [behaviour])]
    law, f = task.laws[behaviour], task.at_most
    if f is None or len(law) == 1:
        return [(p, [y]) for y, p in law]
    shown = predicted(law, f, task.lost)
    silence, loss = task.lost or (shown, ZERO)
    sure, lost = (1 - f) * (1 - loss), (1 - f) * loss
    return [(sure, [shown]), (lost, [shown, silence]), (f, [y for y, _ in law])]


def compute_values(task: Task, policy: Policy, places: list[Place]) -> dict[Place, Triple]:
    """The values themselves, from the last node back."""
    values: dict[Place, Triple] = {}
    for place in sorted(places, reverse=True):
        values[place] = value_after(task, policy, place, values)
        if any(x.denominator.bit_length() > MAX_BITS for x in values[place]):
            raise Refuted(f"the numbers at node {place[0]} are longer than {MAX_BITS} bits; such a claim needs values")
    return values


def check_values(task: Task, policy: Policy, places: list[Place], values: dict[Place, Triple]) -> None:
    for place in places:
        if place not in values:
            raise Refuted(f"the place {place} is reached and has no values")
    for place in places:
        check_limits(value_after(task, policy, place, values), values[place], f"the place {place}")


def check_limits(value: Triple, limits: Triple, where: str) -> None:
    for name, x, limit in zip(NAMES, value, limits, strict=True):
        if x > limit:
            raise Refuted(f"{where}: the {name} is more than what is stated")


def value_after(task: Task, policy: Policy, place: Place, values: dict[Place, Triple]) -> Triple:
    """c + sum of p times the worst values of the next place, for each of the three."""
    node = policy.at(place[0])
    assert isinstance(node, Ask)
    wrong, none, cost = ZERO, ZERO, task.cost[node.action]
    for p, reached in step(task, node, place):
        w, b, c = map(max, zip(*(value_at(policy, after, values) for after in reached), strict=True))
        wrong, none, cost = wrong + p * w, none + p * b, cost + p * c
    return wrong, none, cost


def value_at(policy: Policy, place: Place, values: dict[Place, Triple]) -> Triple:
    """At an ending what it is worth, elsewhere what was stated or computed."""
    node = policy.at(place[0])
    if isinstance(node, Ask):
        return values[place]
    if node.label is None:
        return ZERO, ONE, ZERO
    return (ZERO if node.label == place[1] else ONE), ZERO, ZERO
