"""The slow obvious twin of a first policy: one-step greedy in plain Python, by the shortest words that split."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ascertain.task.task import Task

Members = tuple[tuple[int, int], ...]
"""(state, label), ascending."""


def greedy_cost(task: Task, *, by_largest: bool = False) -> Fraction:
    """The worst cost of the policy that always takes, of the shortest words that split, the one that leaves least.

    What is left is the sum of the squares of the sizes of branches, or the largest of them; every label is that of one
    hypothesis.
    """
    worst = Fraction(0)
    start: Members = tuple(sorted((int(s), int(k)) for s, k in zip(task.state, task.label, strict=True)))
    stack = [(start, Fraction(0))]
    while stack:
        members, spent = stack.pop()
        if len({k for _, k in members}) == 1:
            worst = max(worst, spent)
            continue
        price, branches = shortest_split(task, members, max if by_largest else sum)
        stack.extend((branch, spent + price) for branch in branches)
    return worst


def shortest_split(task: Task, members: Members, total: Callable[[list[int]], int]) -> tuple[Fraction, list[Members]]:
    """The price of the best of the shortest words that split, and what it leaves; there is one."""
    front, seen = [(Fraction(0), members)], {members}
    while True:
        best: tuple[int, Fraction, list[Members]] | None = None
        onward: list[tuple[Fraction, Members]] = []
        for spent, here in front:
            for a in range(task.model.num_actions):
                left: dict[int, set[tuple[int, int]]] = {}
                for s, k in here:
                    left.setdefault(int(task.model.behaviour[s, a]), set()).add((int(task.model.successor[s, a]), k))
                if any(len({s for s, _ in branch}) < len(branch) for branch in left.values()):
                    continue
                after: list[Members] = [tuple(sorted(branch)) for _, branch in sorted(left.items())]
                rest = total([len(branch) ** 2 for branch in after])
                if len(after) > 1 and (best is None or rest < best[0]):
                    best = (rest, spent + task.cost[a], after)
                elif len(after) == 1 and after[0] not in seen:
                    seen.add(after[0])
                    onward.append((spent + task.cost[a], after[0]))
        if best is not None:
            return best[1], best[2]
        front = onward
