"""A finite-state controller written out as an automaton, which is evaluated by other means."""

from __future__ import annotations

from ascertain.planning.controller import FiniteStateController
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.policy.policy import Answer, Ask


def as_automaton(policy: FiniteStateController) -> Automaton:
    """The same policy as an automaton: one node for each memory and number of readings, layer by layer."""
    number = {policy.start(): 0}
    queue = [policy.start()]
    actions: list[int] = []
    labels: list[int] = []
    children: list[dict[int, int]] = []
    for memory in queue:
        decision = policy.decide(memory)
        follow: dict[int, int] = {}
        actions.append(decision.action if isinstance(decision, Ask) else -1)
        labels.append(decision.label if isinstance(decision, Answer) else -1)
        if isinstance(decision, Ask):
            for y in range(policy.graph.tables.num_readings):
                after = policy.next(memory, y)
                if after[0] == NOWHERE:
                    continue
                if after not in number:
                    number[after] = len(number)
                    queue.append(after)
                follow[y] = number[after]
        children.append(follow)
    return Automaton(tuple(actions), tuple(labels), tuple(children))
