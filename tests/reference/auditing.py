"""The numbers of the audit, slow and obvious: rationals along every path, and all strings of flips one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from random import Random

from ascertain.evidence.trigger import Trigger
from ascertain.model.abstract import AbstractDeterministic
from ascertain.model.boolean import BooleanPlant
from ascertain.model.named import register
from ascertain.policy.verdict import Certified
from ascertain.types import State
from ascertain_paper.importance_sampling import AuditedObserver


def evidence_along(
    plant: BooleanPlant,
    weights: dict[int, Fraction],
    truth: int,
    commands: Sequence[int],
    readings: Sequence[int],
    start: int = 0,
) -> list[Fraction]:
    """E against the truth before the first scored reading and after each of them, by multiplying likelihoods."""

    def likelihoods(state: int) -> list[Fraction]:
        found, product_so_far = [Fraction(1)], Fraction(1)
        for i, (command, reading) in enumerate(zip(commands, readings, strict=True)):
            state, tapped = plant.step(state, command)
            if i >= start:
                product_so_far *= 1 - plant.flip if tapped == reading else plant.flip
                found.append(product_so_far)
        return found

    of_truth = likelihoods(truth)
    of_bank = [(w, likelihoods(z)) for z, w in weights.items()]
    return [sum((w * path[t] for w, path in of_bank), Fraction(0)) / of_truth[t] for t in range(len(of_truth))]


def crosses(flips: Sequence[int], flip: Fraction, bound: Fraction) -> bool:
    """Whether the trigger ever exceeds the bound when a true nominal is read with these flips."""
    trigger = Trigger(register(1, flip), 0)
    for wrong in flips:
        trigger.observe(0, wrong)
        if trigger.exceeds(bound):
            return True
    return False


def crossing_probability(length: int, flip: Fraction, bound: Fraction, noise: Fraction) -> Fraction:
    """The probability of that, over all strings of flips."""
    total = Fraction(0)
    for flips in product((0, 1), repeat=length):
        if crosses(flips, flip, bound):
            total += noise ** sum(flips) * (1 - noise) ** (length - sum(flips))
    return total


def count_wrong(
    model: AbstractDeterministic,
    truth: State,
    label: str,
    observer: Callable[[], AuditedObserver],
    *,
    num_runs: int,
    budget: int,
    seed: int,
) -> int:
    """Wrong answers in plain simulation of the truth: what an audit is compared with where both can be had."""
    random = Random(seed)
    wrong = 0
    for _ in range(num_runs):
        watcher, state, verdict = observer(), truth, None
        for _ in range(budget):
            verdict = watcher.verdict()
            if verdict is not None:
                break
            action = watcher.choose()
            watcher.observe(action, _draw(list(model.reading_law(state, action).items()), random))
            state = model.next_state(state, action)
        verdict = verdict or watcher.verdict()
        wrong += isinstance(verdict, Certified) and verdict.label != label
    return wrong


def _draw(law: Sequence[tuple[int, Fraction]], random: Random) -> int:
    at = Fraction(random.getrandbits(64), 1 << 64)
    for value, probability in law:
        at -= probability
        if at < 0:
            return value
    return law[-1][0]
