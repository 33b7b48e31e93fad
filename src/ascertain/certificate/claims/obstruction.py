"""The claim that no experiment tells two hypotheses with different labels apart, as plain data."""

from __future__ import annotations

from typing import Any

from ascertain.errors import CertificateError
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, State


def obstruction_claim(task: Task, h: int, g: int) -> dict[str, Any]:
    """Hypotheses h and g differ in label, and the pairs of states that they can reach together never differ."""
    if task.label[h] == task.label[g]:
        raise CertificateError(f"hypotheses {h} and {g} have the same label; an obstruction needs two labels")
    pairs = reachable_pairs(task, int(task.state[h]), int(task.state[g]))
    return {"claim": "obstruction", "pair": [h, g], "pairs": [list(pair) for pair in sorted(pairs)]}


def reachable_pairs(task: Task, s: State, t: State) -> set[tuple[State, State]]:
    """Where actions that both allow lead two states together, provided that they are never told apart."""
    successor, behaviour = task.model.successor.tolist(), task.model.behaviour.tolist()
    found, stack = {(s, t)}, [(s, t)]
    while stack:
        s, t = stack.pop()
        if task.state_label is not None and task.state_label[s] == task.state_label[t]:
            raise CertificateError(f"no obstruction: states {s} and {t} are reached, and they have the same label")
        for a, (x, y) in enumerate(zip(successor[s], successor[t], strict=True)):
            if UNDEFINED in (x, y):
                continue
            if behaviour[s][a] != behaviour[t][a]:
                raise CertificateError(f"no obstruction: action {a} tells states {s} and {t} apart")
            if (x, y) not in found:
                found.add((x, y))
                stack.append((x, y))
    return found
