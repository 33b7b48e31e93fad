"""Misfit, measured: false alarms at the declared noise, delay at other noise, and the wrong answers that it prevents.

    python benchmarks/statistical/misfit.py [RUNS]

The plant is a shift register of six bits that is read at both ends, told to flip 1/50 of its readings. *Alarms and
delay*: nothing is ever beaten (alpha 0), so that a run goes on until the alarm or 400 readings. *Wrong answers*: every
state is a candidate, at alpha 1/20, which is large so that wrong answers are common enough to be counted; each stream
of readings is given to an observer without misfit and to one with it.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from statistics import median

from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.misfit import MISFIT
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, start_observer
from ascertain.observer.stages import NO_MODEL
from ascertain.policy.verdict import Abstained, Certified
from ascertain.task.bank import nominal_bank
from ascertain.task.plant_task import PlantTask, StateRule

DECLARED = Fraction(1, 50)
NUM_BITS = 6
LONGEST = 400
ACTUAL = (Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2))


def shift_register() -> BooleanPlant:
    """The bits move up by one, and the lowest becomes the exclusive or of the two highest; either end is read."""
    n = NUM_BITS
    turn = (*(Gate("cnot", i, ((i - 1) % n,)) for i in range(n)), Gate("cnot", 0, (n - 2,)))
    commands = (Command("low", turn, 0), Command("high", turn, n - 1), Command("look", (), n // 2))
    return BooleanPlant(tuple(f"b{i}" for i in range(n)), commands, DECLARED)


def alarm_after(plant: BooleanPlant, actual: Fraction, rng: Random) -> int | None:
    """After how many readings a plant with that noise raises the alarm; None: not within LONGEST."""
    world, state = BooleanWorld(plant, nominal_bank(0), Fraction(0)), rng.randrange(plant.num_states)
    for t in range(LONGEST):
        action = t % plant.num_actions
        state, right = plant.step(state, action)
        world.observe(action, int(right ^ (rng.random() < actual)))
        if world.misfits(MISFIT):
            return t + 1
    return None


def answer(settings: ObserverSettings, plant: BooleanPlant, actual: Fraction, seed: str) -> str:
    """How a run ends: "right", "wrong", "misfit" or "no answer"."""
    rng = Random(seed)
    start = state = rng.randrange(plant.num_states)
    observer = start_observer(settings)
    while isinstance(act := observer.next(), Act):
        state, right = plant.step(state, act.action)
        observer = observer.update(act.action, int(right ^ (rng.random() < actual)))
    if isinstance(act, Certified):
        return "right" if act.label == plant.name_state(start) else "wrong"
    return "misfit" if act == Abstained(NO_MODEL) else "no answer"


def main() -> None:
    runs, plant = int(sys.argv[1]) if len(sys.argv) > 1 else 400, shift_register()
    print(f"{runs} runs each; declared {DECLARED}, gamma {MISFIT}")
    for actual in ACTUAL:
        rng = Random(f"misfit, {actual}")
        found = [alarm_after(plant, actual, rng) for _ in range(runs)]
        alarms = [t for t in found if t is not None]
        middle = median(t if t is not None else LONGEST + 1 for t in found)
        print(f"actual {actual}: {len(alarms)} alarms within {LONGEST} readings; median delay {middle}")
    question = PlantTask(
        model=plant, cost=(Fraction(1),) * 3, rule=StateRule(), actions=(0, 1, 2), alpha=Fraction(1, 20)
    )
    off = ObserverSettings(question=question, alpha=question.alpha, policy="eager", budget=LONGEST)
    on = replace(off, misfit=MISFIT)
    for actual in ACTUAL:
        pairs = [tuple(answer(s, plant, actual, f"answers, {actual}, {i}") for s in (off, on)) for i in range(runs)]
        without, with_it = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
        prevented = sum(pair == ("wrong", "misfit") for pair in pairs)
        lost = sum(pair == ("right", "misfit") for pair in pairs)
        print(f"actual {actual}: without {dict(without)}; with {dict(with_it)}; prevented {prevented}, lost {lost}")


if __name__ == "__main__":
    main()
