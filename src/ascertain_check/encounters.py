"""What two hypotheses show each other: the laws that an action has in their two states, wherever a common word leads.

Throughout: the first state, s, is that of the truth, and t that of a rival. An action that one of them does not allow
is BLOCKED. In a task about the current state nothing is asked of a rival whose label has come to agree with the
truth's; to give that away is to let the truth show something there that the rival never shows, so such an action is
REVEALING: relative entropy infinite, total variation 1. Otherwise the two laws are shown.

While readings have not ruled a rival out, only what it allows may be done. To rule it out takes a reading that it never
gives, so a rival that no common word brings to infinite relative entropy is never ruled out.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from ascertain_check.logarithm import Bounds, Law, relative_entropy, total_variation
from ascertain_check.task import Task
from ascertain_check.work import KEEP, spend

Shown = tuple[Law, Law] | str
BLOCKED, REVEALING = "blocked", "revealing"


def law_at(task: Task, state: int, action: int) -> Law | None:
    """The law of the reading; None where the action is not allowed."""
    number = task.behaviour[state][action]
    if number is None:
        return None
    return task.laws[number] if task.noisy else ((number, Fraction(1)),)


def show(task: Task, s: int, t: int, action: int) -> Shown:
    law, other = law_at(task, s, action), law_at(task, t, action)
    x, y = task.successor[s][action], task.successor[t][action]
    if law is None or other is None or x is None or y is None:
        return BLOCKED
    if task.current is not None and task.current[x] == task.current[y]:
        return REVEALING
    return law, other


def explore(task: Task, s: int, t: int) -> set[tuple[Shown, Fraction]]:
    """Whatever a common word of actions leads two states to show, with the cost of the action that shows it."""
    found: dict[object, tuple[Shown, Fraction]] = {}
    seen, stack = {(s, t)}, [(s, t)]
    while stack:
        s, t = stack.pop()
        spend(KEEP + 10 * task.num_actions)
        for a, cost in enumerate(task.cost):
            shown = show(task, s, t, a)
            x, y = task.successor[s][a], task.successor[t][a]
            if shown == BLOCKED or x is None or y is None:
                continue
            key = (task.behaviour[s][a], task.behaviour[t][a], shown == REVEALING, a)  # laws are long to compare
            if key not in found:
                spend(KEEP + weigh(shown))
                found[key] = shown, cost
            if (x, y) not in seen:
                seen.add((x, y))
                stack.append((x, y))
    return set(found.values())


def weigh(shown: Shown) -> int:
    """Steps to look something up by what is shown."""
    return 0 if isinstance(shown, str) else 5 * (len(shown[0]) + len(shown[1]))


@cache
def entropy_of(shown: Shown) -> Bounds | None:
    """Rationals on either side of the relative entropy of what is shown; None where it is infinite."""
    if isinstance(shown, str):
        return None
    return relative_entropy(*shown)


@cache
def variation_of(shown: Shown) -> Fraction | None:
    """The total variation of what is shown; None where nothing may be."""
    if isinstance(shown, str):
        return None if shown == BLOCKED else Fraction(1)
    return total_variation(*shown)
