"""The claim that a policy settles the question at a stated cost: it is walked on the task, one hypothesis at a time.

A policy is a list of nodes, the root first. A node asks an action and names the node to go on to for every reading
that may come, or it answers a label. Children have larger numbers than their parents, so that every walk ends; nodes
may be shared.

*An action is allowed at a node only if every hypothesis that may still be true allows it*, and an answer is right only
if it is so for all of them. That is a condition on sets of hypotheses, but no set needs to be followed. The machine is
deterministic, so each hypothesis has one walk, and those that may still be true after a transcript (the actions done
and the readings seen) are those whose own walk has that transcript. Hence "every remaining hypothesis allows the action
after every transcript" says the same as "every hypothesis allows each action of its own walk", and likewise for the
answers. The check is therefore exact, and linear in the lengths of the walks. For a task about the current state the
right answer is the label of the state that the walk ends in.

`achieves` bounds the cost of every walk; `achieves-expected` bounds their mean under given positive weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ascertain_check.claim import register
from ascertain_check.reading import (
    Object,
    read_index,
    read_key,
    read_list,
    read_map,
    read_object,
    read_rational,
)
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend


@dataclass(frozen=True)
class Ask:
    action: int
    next: dict[int, int]


@dataclass(frozen=True)
class Answer:
    label: int


@register("achieves", about=("machine",))
def check_achieves(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim cost policy", "the claim 'achieves'")
    limit = read_rational(data["cost"], "cost")
    nodes = read_policy(task, data["policy"])
    for h in range(len(task.hypotheses)):
        if walk(task, nodes, h) > limit:
            raise Refuted(f"hypothesis {h} costs more than {limit}")
    return f"the policy settles the question at a cost of at most {limit}"


@register("achieves-expected", about=("machine",))
def check_achieves_expected(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim cost weights policy", "the claim 'achieves-expected'")
    limit = read_rational(data["cost"], "cost")
    weights = read_weights(task, data["weights"])
    nodes = read_policy(task, data["policy"])
    total = sum((w * walk(task, nodes, h) for h, w in enumerate(weights)), Fraction(0))
    if total > limit * sum(weights):
        raise Refuted(f"the mean cost is more than {limit}")
    return f"the policy settles the question at a mean cost of at most {limit}"


def read_weights(task: Task, value: object) -> list[Fraction]:
    """A positive weight for each hypothesis."""
    weights = [read_rational(w, "a weight") for w in read_list(value, "weights", len(task.hypotheses))]
    if not all(weights):
        raise Malformed("a weight must be positive")
    return weights


def read_policy(task: Task, value: object) -> list[Ask | Answer]:
    """The nodes of a policy, each well formed whether a walk reaches it or not."""
    nodes = read_list(read_object(value, "nodes", "the policy")["nodes"], "nodes")
    if not nodes:
        raise Malformed("a policy needs at least one node")
    return [read_node(task, node, v, len(nodes)) for v, node in enumerate(nodes)]


def read_node(task: Task, value: object, v: int, size: int) -> Ask | Answer:
    where = f"policy node {v}"
    if "answer" in read_map(value, where):
        data = read_object(value, "answer", where)
        return Answer(read_index(data["answer"], task.num_labels, where))
    ask = read_ask(task, value, size, where)
    if any(child <= v for child in ask.next.values()):
        raise Malformed(f"{where} leads to a node that does not come after it")
    return ask


def read_ask(task: Task, value: object, size: int, where: str) -> Ask:
    """A node that asks, in a policy of so many nodes."""
    data = read_object(value, "ask next", where)
    children: dict[int, int] = {}
    for key, child in read_map(data["next"], where).items():
        children[read_key(key, task.num_readings, where)] = read_index(child, size, where)
    return Ask(read_index(data["ask"], task.num_actions, where), children)


def walk(task: Task, nodes: list[Ask | Answer], h: int) -> Fraction:
    """What the policy costs when hypothesis h is true; refuted if it errs on the way."""
    label, s = task.hypotheses[h]
    node, cost = nodes[0], Fraction(0)
    while isinstance(node, Ask):
        spend(4)
        a = node.action
        successor, y = task.successor[s][a], task.behaviour[s][a]
        if successor is None or y is None:
            raise Refuted(f"hypothesis {h}: action {a} is asked in state {s}, which does not allow it")
        if y not in node.next:
            raise Refuted(f"hypothesis {h}: reading {y} after action {a} in state {s} is not provided for")
        s, node, cost = successor, nodes[node.next[y]], cost + task.cost[a]
    right = task.label_after(label, s)
    if node.label != right:
        raise Refuted(f"hypothesis {h}: the answer is label {node.label}, but label {right} is right")
    return cost
