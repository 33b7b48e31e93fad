"""The slow obvious twin of the exact solver: value iteration over frozen sets of (label, state).

D(S) = 0 when one label is left in S; otherwise the least, over the actions that every member of S allows, of the cost
plus the largest D of what is left after each reading that a member can give (with noise: after a reading of positive
probability, those that can give it). Costs are positive, so the least solution is also what the best tree that ends
costs: it is reached from above, starting from "no tree known yet" everywhere but at pure sets.
"""

from __future__ import annotations

from fractions import Fraction

from ascertain.task.task import Task

Configuration = frozenset[tuple[int, int]]


def start_of(task: Task) -> Configuration:
    """The configuration of all hypotheses."""
    return frozenset((int(k), int(s)) for s, k in zip(task.state, task.label, strict=True))


def is_pure(configuration: Configuration) -> bool:
    return len({k for k, _ in configuration}) <= 1


def branches(task: Task, configuration: Configuration, action: int) -> list[Configuration] | None:
    """What is left after each reading; None when some member forbids the action."""
    model = task.model
    left: dict[int, set[tuple[int, int]]] = {}
    for k, s in configuration:
        t = int(model.successor[s, action])
        if t < 0:
            return None
        label = k if task.state_label is None else int(task.state_label[t])
        for y in model.reading_law(s, action):
            left.setdefault(y, set()).add((label, t))
    return [frozenset(members) for members in left.values()]


def explore(task: Task) -> dict[Configuration, dict[int, list[Configuration]]]:
    """Every configuration reachable from the start, with its branches under each allowed action."""
    graph: dict[Configuration, dict[int, list[Configuration]]] = {}
    stack = [start_of(task)]
    while stack:
        here = stack.pop()
        if here in graph:
            continue
        graph[here] = {}
        if is_pure(here):
            continue
        for a in range(task.model.num_actions):
            after = branches(task, here, a)
            if after is not None:
                graph[here][a] = after
                stack.extend(after)
    return graph


def optimum(task: Task) -> Fraction | None:
    """D of the task, exactly; None when it is infinite."""
    return optima(task)[start_of(task)]


def optima(task: Task) -> dict[Configuration, Fraction | None]:
    """D of every configuration reachable from the start: values only ever fall, until nothing changes.

    A set has a value once some action leads to valued sets only, so each value is what some tree that ends costs.
    """
    graph = explore(task)
    value: dict[Configuration, Fraction | None] = {c: Fraction(0) if is_pure(c) else None for c in graph}
    changed = True
    while changed:
        changed = False
        for here, actions in graph.items():
            for a, after in actions.items():
                worst = [value[c] for c in after]
                if any(w is None for w in worst):
                    continue
                new = task.cost[a] + max(w for w in worst if w is not None)
                old = value[here]
                if old is None or new < old:
                    value[here] = new
                    changed = True
    return value
