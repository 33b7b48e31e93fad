"""What a policy costs, exactly, on each hypothesis of a task on a machine without noise."""

from __future__ import annotations

from fractions import Fraction

from ascertain.errors import TaskError
from ascertain.model import Machine
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.task.task import Task


def cost_by_hypothesis(task: Task, policy: Automaton) -> list[Fraction]:
    """The cost of the one walk of each hypothesis; the policy asks only what is allowed and knows every reading."""
    if not isinstance(task.model, Machine):
        raise TaskError("walks are certain only on machines without noise; this task is on a noisy one")
    successor, output = task.model.successor, task.model.output
    costs: list[Fraction] = []
    for start in task.state.tolist():
        s, node, cost = int(start), policy.start(), Fraction(0)
        while (a := policy.action[node]) != NOWHERE:
            cost += task.cost[a]
            node = policy.children[node][int(output[s, a])]
            s = int(successor[s, a])
        costs.append(cost)
    return costs
