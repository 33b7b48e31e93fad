"""The claim that the plant is none of the hypotheses: under each of them what was read is impossible.

The transcript begins when the hypotheses are posed. A reading that the model does not have is written as its name.
"""

from __future__ import annotations

from ascertain_check import trust
from ascertain_check.claim import LISTED, register
from ascertain_check.plants import read_plant
from ascertain_check.reading import Object, read_index, read_list, read_object, read_text
from ascertain_check.task import Task
from ascertain_check.verdicts import Refuted
from ascertain_check.work import spend


@register(
    "none-of-these",
    about=LISTED,
    trusted=(trust.SHOWN,),
)
def check_none_of_these(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim transcript plant?", "the claim 'none-of-these'")
    plant = read_plant(data)
    left = {h: state for h, (_, state) in enumerate(task.hypotheses)}
    steps = read_list(data["transcript"], "transcript")
    shown = list_shown(task)
    for item in steps:
        step = read_list(item, "a step of the transcript", 2)
        action = read_index(step[0], task.num_actions, "an action")
        reading = read_reading(task, step[1])
        spend(5 * len(left))
        left = {h: follow(task, h, s, action) for h, s in left.items() if reading in read_in(task, shown, s, action)}
    if left:
        raise Refuted(f"hypothesis {min(left)} explains the transcript")
    return f"none of the {len(task.hypotheses)} hypotheses can have shown these {len(steps)} readings{plant}"


def read_reading(task: Task, value: object) -> int | None:
    """The number of a reading; None where the model does not have it."""
    if isinstance(value, str):
        if read_text(value, "a reading") in task.readings:
            raise Refuted("a reading that the model has must be written as its number")
        return None
    return read_index(value, task.num_readings, "a reading")


def list_shown(task: Task) -> list[set[int]]:
    """The readings of every behaviour; laws are long, and are looked through once."""
    if not task.noisy:
        return [{y} for y in range(task.num_readings)]
    return [{y for y, _ in law} for law in task.laws]


def read_in(task: Task, shown: list[set[int]], state: int, action: int) -> set[int]:
    behaviour = task.behaviour[state][action]
    if behaviour is None:
        raise Refuted(f"action {action} is not allowed in state {state}, which the plant may be in")
    return shown[behaviour]


def follow(task: Task, hypothesis: int, state: int, action: int) -> int:
    after = task.successor[state][action]
    if after is None:
        raise Refuted(f"action {action} is not allowed under hypothesis {hypothesis}")
    return after
