"""The quotient of random automata: whether it keeps what it costs to tell states apart.

D is found here without any short cut, from the Bellman recursion itself: a configuration is a set of (label, state),
one of a single label costs nothing, and any other costs the least, over actions, of the action and of the worst
configuration that a reading leaves. From "infinite everywhere" the recursion is repeated until nothing changes; what
remains infinite cannot be settled. So the automaton and its quotient are measured by the same plain procedure, and the
solver, which takes quotients itself, is a third opinion.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

from ascertain.model import Machine
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain.search.exact import solve
from ascertain.search.solution import Solved, Unsolvable
from ascertain.task.task import Task
from ascertain_paper.studies.invariants.draws import draw_automaton

Configuration: TypeAlias = frozenset[tuple[int, int]]
"""Pairs (label, state) that are still possible."""
Moves: TypeAlias = dict[Configuration, list[tuple[Fraction, list[Configuration]]]]
"""For every configuration that is not pure: the cost of each action and what its readings leave."""


def check_automaton(number: int) -> dict[str, Any]:
    """One automaton of the study: a pure function of its number."""
    task = draw_automaton(number)
    return {"number": number, **compare_costs(task, take_quotient(task))}


def compare_costs(task: Task, quotient: Quotient) -> dict[str, Any]:
    """The cost of the whole question and of every pair of states, on the automaton and on its quotient."""
    reduced, block = quotient.reduced, quotient.block
    pairs = list(combinations(range(task.model.num_states), 2))
    whole = frozenset(zip(task.label.tolist(), task.state.tolist(), strict=True))
    merged = frozenset(zip(reduced.label.tolist(), reduced.state.tolist(), strict=True))
    before = measure(task, [whole, *(frozenset({(0, s), (1, t)}) for s, t in pairs)])
    after = measure(reduced, [merged, *(frozenset({(0, int(block[s])), (1, int(block[t]))}) for s, t in pairs)])
    names = ["the question", *(f"telling s{s} from s{t}" for s, t in pairs)]
    wrong = [
        f"{name} costs {_show(one)} and on the quotient {_show(other)}"
        for name, one, other in zip(names, before, after, strict=True)
        if one != other
    ]
    wrong += [
        f"s{s} and s{t} are in two classes, and nothing tells them apart"
        for (s, t), cost in zip(pairs, before[1:], strict=True)
        if block[s] != block[t] and cost is None
    ]
    by_solver = _ask_solver(task)
    if by_solver != before[0]:
        wrong.append(f"the question costs {_show(before[0])} and the solver says {_show(by_solver)}")
    return {
        "states": task.model.num_states,
        "classes": quotient.num_classes,
        "cost": None if before[0] is None else str(before[0]),
        "pairs": len(pairs),
        "violations": wrong,
    }


def measure(task: Task, starts: Sequence[Configuration]) -> list[Fraction | None]:
    """D of each of these configurations, None where it is infinite."""
    moves = _list_moves(task, starts)
    value: dict[Configuration, Fraction] = {}
    changed = True
    while changed:
        changed = False
        for configuration, choices in moves.items():
            options = [cost + worst for cost, left in choices if (worst := _worst(left, moves, value)) is not None]
            if options and min(options) < value.get(configuration, min(options) + 1):
                value[configuration] = min(options)
                changed = True
    return [Fraction(0) if start not in moves else value.get(start) for start in starts]


def _worst(left: list[Configuration], moves: Moves, value: dict[Configuration, Fraction]) -> Fraction | None:
    """The largest value of these; None where one of them is not known to be finite."""
    worst = Fraction(0)
    for configuration in left:
        if configuration in moves:
            if configuration not in value:
                return None
            worst = max(worst, value[configuration])
    return worst


def _list_moves(task: Task, starts: Sequence[Configuration]) -> Moves:
    """What can become of these configurations."""
    assert isinstance(task.model, Machine)
    successor, output = task.model.successor.tolist(), task.model.output.tolist()
    moves: Moves = {}
    waiting = list(starts)
    while waiting:
        here = waiting.pop()
        if here in moves or len({label for label, _ in here}) == 1:
            continue
        moves[here] = []
        for a, cost in enumerate(task.cost):
            left: dict[int, set[tuple[int, int]]] = {}
            for label, s in here:
                left.setdefault(output[s][a], set()).add((label, successor[s][a]))
            found = [frozenset(members) for _, members in sorted(left.items())]
            moves[here].append((cost, found))
            waiting += found
    return moves


def _ask_solver(task: Task) -> Fraction | None:
    solution = solve(task, prove="never")
    assert isinstance(solution, Solved | Unsolvable)
    return solution.cost if isinstance(solution, Solved) else None


def _show(cost: Fraction | None) -> str:
    return "infinitely much" if cost is None else str(cost)
