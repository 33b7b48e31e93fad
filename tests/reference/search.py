"""Slow obvious twins of the exact solver: mean costs by value iteration, and proofs replayed row by row."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ascertain.model import Machine
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.search.solution import Proof
from ascertain.task.task import Task
from tests.reference.optimum import branches, is_pure

Weighted = frozenset[tuple[tuple[int, int], Fraction]]
"""((label, state), weight)."""


def expected_optimum(task: Task, weights: Sequence[Fraction]) -> Fraction | None:
    """The least mean cost, by value iteration from above over weighted configurations; None when infinite."""
    start: dict[tuple[int, int], Fraction] = {}
    for s, k, w in zip(task.state, task.label, weights, strict=True):
        start[int(k), int(s)] = start.get((int(k), int(s)), Fraction(0)) + w
    root: Weighted = frozenset(start.items())
    best = expected_optima(task, root)[root]
    return None if best is None else best / sum(weights, Fraction(0))


def expected_optima(task: Task, root: Weighted) -> dict[Weighted, Fraction | None]:
    """Weight times the least mean cost of every weighted configuration that the root leads to; None when infinite."""
    graph = explore(task, root)
    value: dict[Weighted, Fraction | None] = {c: Fraction(0) if is_pure(support(c)) else None for c in graph}
    changed = True
    while changed:
        changed = False
        for here, actions in graph.items():
            total = sum((w for _, w in here), Fraction(0))
            for a, after in actions.items():
                rest = [value[c] for c in after]
                if any(r is None for r in rest):
                    continue
                new = task.cost[a] * total + sum((r for r in rest if r is not None), Fraction(0))
                old = value[here]
                if old is None or new < old:
                    value[here] = new
                    changed = True
    return value


def support(configuration: Weighted) -> frozenset[tuple[int, int]]:
    return frozenset(member for member, _ in configuration)


def explore(task: Task, root: Weighted) -> dict[Weighted, dict[int, list[Weighted]]]:
    graph: dict[Weighted, dict[int, list[Weighted]]] = {}
    stack = [root]
    while stack:
        here = stack.pop()
        if here in graph:
            continue
        graph[here] = {}
        if is_pure(support(here)):
            continue
        for a in range(task.model.num_actions):
            after = move(task, here, a)
            if after is not None:
                graph[here][a] = after
                stack.extend(after)
    return graph


def move(task: Task, here: Weighted, action: int) -> list[Weighted] | None:
    left: dict[int, dict[tuple[int, int], Fraction]] = {}
    for (k, s), w in here:
        t = int(task.model.successor[s, action])
        if t < 0:
            return None
        label = k if task.state_label is None else int(task.state_label[t])
        (y,) = task.model.reading_law(s, action)
        group = left.setdefault(y, {})
        group[label, t] = group.get((label, t), Fraction(0)) + w
    return [frozenset(group.items()) for group in left.values()]


def walk(task: Task, policy: Automaton) -> list[Fraction]:
    """What the policy costs each hypothesis; an assertion fails if it errs, abstains or asks what is forbidden."""
    spent: list[Fraction] = []
    for s, k in zip(task.state, task.label, strict=True):
        state, label, node, cost = int(s), int(k), 0, Fraction(0)
        while policy.action[node] != NOWHERE:
            a = policy.action[node]
            cost += task.cost[a]
            (y,) = task.model.reading_law(state, a)
            state = int(task.model.successor[state, a])
            node = policy.children[node][y]
        right = label if task.state_label is None else int(task.state_label[state])
        assert policy.label[node] == right
        spent.append(cost)
    return spent


def replay(task: Task, proof: Proof) -> Fraction | None:
    """The bound that a proof establishes on the reduced task, whose states are classes; None if infinite."""
    if proof.root is None:
        return Fraction(0)
    assert isinstance(task.model, Machine)
    for row in proof.rows:
        members = frozenset(row.members)
        assert not is_pure(members)
        assert task.state_label is None or all(task.state_label[s] == k for k, s in members)
        if len({s for _, s in members}) < len(members):
            continue
        for a, cost in enumerate(task.cost):
            after = branches(task, members, a)
            if after is None or (row.bound is not None and row.bound <= cost):
                continue
            if a not in row.moves:
                # Some reading leaves more labels than any tree tells apart for what is left to spend.
                assert task.state_label is None and row.bound is not None
                most = most_leaves(task, row.bound - cost)
                assert any(len({k for k, _ in left}) > most for left in after)
                continue
            y, number = row.moves[a]
            held = frozenset((k, s) for k, s in members if task.model.output[s, a] == y)
            (left,) = branches(task, held, a) or [frozenset()]
            target = proof.rows[number]
            assert stands_for(target.members, left)
            assert target.bound is None or (row.bound is not None and target.bound >= row.bound - cost)
    root = proof.rows[proof.root]
    start = frozenset((int(k), int(s)) for k, s in zip(task.label, task.state, strict=True))
    assert stands_for(root.members, start)
    return root.bound


def most_leaves(task: Task, below: Fraction) -> int:
    """The leaves of the widest tree whose worst cost is below a positive number: all trees, level by level."""
    assert isinstance(task.model, Machine)
    widths = [(cost, len(set(task.model.output[:, a].tolist()) - {-1})) for a, cost in enumerate(task.cost)]
    return max([1, *(width * most_leaves(task, below - cost) for cost, width in widths if cost < below)])


def stands_for(members: Sequence[tuple[int, int]], left: frozenset[tuple[int, int]]) -> bool:
    """Whether a row is a part of what is left, or tells apart no two members that have equal labels there."""
    if frozenset(members) <= left:
        return True
    if len({s for _, s in members}) < len(members):
        return len({s for _, s in members}) == 1 and len(members) <= len([k for k, s in left if s == members[0][1]])
    label = {s: k for k, s in left}
    if not all(s in label for _, s in members):
        return False
    return all(k == other or label[s] != label[t] for k, s in members for other, t in members)
