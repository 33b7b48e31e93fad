"""Slow obvious twins: every transcript of a lattice test, and every transcript of any policy, multiplied out."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from ascertain.planning.sequential_tests import LatticeTest, OperatingCharacteristic
from ascertain.policy.policy import Abstain, Answer, Ask
from ascertain.task.task import Task


def enumerate_test(test: LatticeTest, value: int) -> OperatingCharacteristic:
    """The outcome of a test by going through all readings of full length, each cut where the test ends."""
    one = zero = abstain = readings = Fraction(0)
    for word in product((0, 1), repeat=test.cap):
        chance = Fraction(1)
        for y in word:
            chance *= 1 - test.flip if y == value else test.flip
        memory, taken = test.start(), 0
        while isinstance(test.decide(memory), Ask):
            memory, taken = test.next(memory, word[taken]), taken + 1
        decision = test.decide(memory)
        readings += chance * taken
        if isinstance(decision, Answer):
            one, zero = (one + chance, zero) if decision.label == 1 else (one, zero + chance)
        else:
            abstain += chance
    return OperatingCharacteristic(one, zero, abstain, readings)


def walk_policy(task: Task, policy: Any, h: int) -> tuple[Fraction, Fraction, Fraction]:
    """Wrong, abstain and expected cost of a policy under hypothesis h, transcript by transcript, in rationals."""
    wrong = abstain = cost = Fraction(0)
    stack = [(policy.start(), int(task.state[h]), Fraction(1))]
    while stack:
        memory, s, chance = stack.pop()
        decision = policy.decide(memory)
        if isinstance(decision, Answer):
            wrong += chance if decision.label != task.label[h] else 0
        elif isinstance(decision, Abstain):
            abstain += chance
        else:
            cost += chance * task.cost[decision.action]
            after = int(task.model.successor[s, decision.action])
            for y, p in task.model.reading_law(s, decision.action).items():
                stack.append((policy.next(memory, y), after, chance * p))
    return wrong, abstain, cost


def walk_with_memory(task: Task, policy: Any, h: int) -> tuple[Fraction, Fraction, Fraction]:
    """The same, transcripts that have come to the same memory and state being added up: for longer policies."""
    wrong = abstain = cost = Fraction(0)
    now = {(policy.start(), int(task.state[h])): Fraction(1)}
    while now:
        after: dict[tuple[Any, int], Fraction] = {}
        for (memory, s), chance in now.items():
            decision = policy.decide(memory)
            if isinstance(decision, Answer):
                right = task.label[h] if task.state_label is None else task.state_label[s]
                wrong += chance if decision.label != right else 0
            elif isinstance(decision, Abstain):
                abstain += chance
            else:
                cost += chance * task.cost[decision.action]
                t = int(task.model.successor[s, decision.action])
                for y, p in task.model.reading_law(s, decision.action).items():
                    key = (policy.next(memory, y), t)
                    after[key] = after.get(key, Fraction(0)) + chance * p
        now = after
    return wrong, abstain, cost
