"""Small questions and the settings of observers for them, shared by the tests of the observer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ascertain.evidence.evidence import Step
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Observer
from ascertain.task.bank import Bank
from ascertain.task.plant_task import PlantTask, StateRule
from ascertain.task.task import Task

ALPHA = Fraction(1, 4)


def lossy_plant(flip: Fraction = Fraction(1, 5)) -> BooleanPlant:
    """Two bits, irreversible: two commands look, one mixes, one copies a bit over the other, one forgets."""
    commands = (
        Command("look0", (), 0),
        Command("look1", (), 1),
        Command("mix", (Gate("xor", 0, (0, 1)),), 0),
        Command("copy", (Gate("copy", 1, (0,)),), 1),
        Command("forget", (Gate("clear", 0),), 1),
    )
    return BooleanPlant(("b0", "b1"), commands, flip)


def ask(plant: BooleanPlant, **changes: Any) -> PlantTask:
    given = {"rule": StateRule(), "actions": tuple(range(plant.num_actions)), "alpha": ALPHA} | changes
    return PlantTask(model=plant, cost=(Fraction(1),) * plant.num_actions, **given)


def set_up(question: PlantTask | Task, **changes: Any) -> ObserverSettings:
    return ObserverSettings(question=question, **({"alpha": question.alpha, "nominal": 2, "budget": 8} | changes))


def tell(observer: Observer, step: Step) -> Observer:
    return observer.update(step.action, step.reading) if step.certain else observer.doubt(step.action)


def refuse() -> Bank:
    raise AssertionError("nobody asked for the bank")
