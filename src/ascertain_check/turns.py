"""The actions of a run that the settings determine: limits of how often, and a rule that takes them in turn.

Evidence is valid whichever actions are chosen, as long as the choice does not look ahead. So most probing rules are not
computed again. `round-robin` is fixed beforehand where nothing can forbid an action or put it back: sensor after sensor
in order of their numbers, and one that several actions read is read by each of them in turn. The sensor of a command of
a Boolean plant is its tap; elsewhere each action has its own.

An action is put back where it may *merge* hypotheses, so that a question about the start is lost: only where it leads
no two states to one, or the question is about the current state, is the turn certain.
"""

from __future__ import annotations

from collections import Counter

from ascertain_check.chain import Story
from ascertain_check.hidden_task import HiddenTask
from ascertain_check.plant_task import PlantTask
from ascertain_check.question import Question
from ascertain_check.verdicts import Refuted

REVERSIBLE = ("not", "cnot", "toffoli")


def check_turns(task: Question, story: Story) -> None:
    """Refuted where an action was done more often than allowed, or out of turn."""
    done = Counter(step.action for step in story.steps)
    for action, most in story.commitment.limits.items():
        if done[action] > most:
            raise Refuted(f"action {action} was done more than {most} times, the limit of the settings")
    if story.commitment.probing != "round-robin" or story.commitment.limits or story.resets or not is_free(task):
        return
    by_sensor: dict[int, list[int]] = {}
    for action in task.actions:
        by_sensor.setdefault(task.commands[action].tap if isinstance(task, PlantTask) else action, []).append(action)
    sensors = [by_sensor[sensor] for sensor in sorted(by_sensor)]
    for turn, step in enumerate(story.steps):
        actions = sensors[turn % len(sensors)]
        if step.action != actions[turn // len(sensors) % len(actions)]:
            raise Refuted(f"step {turn} is not the action whose turn it is by the rule of the settings")


def is_free(task: Question) -> bool:
    """Whether every action may be done at any time, and none merges what is to be told apart."""
    if isinstance(task, HiddenTask):
        return all(None not in row for row in task.law)
    if isinstance(task, PlantTask):
        kept = all(gate.op in REVERSIBLE for a in task.actions for gate in task.commands[a].gates)
        return not task.never and (task.about_current or kept)
    if any(None in row for row in task.successor):
        return False
    return task.current is not None or all(
        len({row[a] for row in task.successor}) == task.num_states for a in range(task.num_actions)
    )
