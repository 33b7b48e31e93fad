"""A family of states of a Boolean plant that is too large to list, as an ordinary task: a bound on it bounds the whole.

A policy that is valid for every state of the plant is valid for some of them, at no higher cost. So a lower bound on
the task whose hypotheses are a few states of the plant, and whose model is what these can become, holds for the
question about the plant.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from ascertain.errors import LimitError, TaskError
from ascertain.model import NoisyMachine
from ascertain.model.noisy import make_law
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, State

MOST_STATES = 2_000


def restrict_plant_task(question: PlantTask, states: Iterable[State], *, most: int = MOST_STATES) -> Task:
    """The task whose hypotheses are these states and whose model is what its commands make of them.

    Actions keep the order of `question.actions`. Raises a LimitError when more than `most` states are needed.
    """
    hypotheses = list(dict.fromkeys(states))
    listed = hypotheses if question.states is None else set(question.states)
    if not hypotheses or not set(hypotheses) <= set(listed):
        raise TaskError("a family needs at least one state, each a hypothesis of the task")
    model, members = _enumerate(question, hypotheses, most)
    names = [question.label_of(z) for z in members]
    labels = tuple(dict.fromkeys(names))
    of_state = np.array([labels.index(name) for name in names], dtype=np.int32)
    return Task(
        model=model,
        state=np.arange(len(hypotheses), dtype=np.int32),
        label=of_state[: len(hypotheses)],
        labels=labels,
        cost=tuple(question.cost[a] for a in question.actions),
        alpha=question.alpha,
        beta=question.beta,
        state_label=of_state if question.about == "current" else None,
    )


def _enumerate(question: PlantTask, hypotheses: list[State], most: int) -> tuple[NoisyMachine, list[State]]:
    """The part of the plant that these states can become, themselves first."""
    plant, forbidden = question.model, set(question.never)
    number = {z: i for i, z in enumerate(hypotheses)}
    members = list(hypotheses)
    successor: list[list[int]] = []
    law: list[list[int]] = []
    for z in members:
        moves = [plant.step(z, a) for a in question.actions]
        for after, _ in moves:
            if after not in number and after not in forbidden:
                number[after] = len(members)
                members.append(after)
        if len(members) > most:
            raise LimitError(
                f"the family grows beyond {most} states under its commands; choose fewer states or actions"
            )
        successor.append([UNDEFINED if after in forbidden else number[after] for after, _ in moves])
        law.append([UNDEFINED if after in forbidden else tapped for after, tapped in moves])
    right, wrong = 1 - plant.flip, plant.flip
    model = NoisyMachine(
        states=tuple(plant.name_state(z) for z in members),
        actions=tuple(plant.actions[a] for a in question.actions),
        readings=plant.readings,
        successor=np.array(successor, dtype=np.int32),
        law=np.array(law, dtype=np.int32),
        laws=(make_law({0: right, 1: wrong}), make_law({0: wrong, 1: right})),
    )
    return model, members


def neighbours(state: State, num_bits: int, distance: int = 1) -> list[State]:
    """The states that differ from this one in at least one and at most so many bits, the nearest first."""
    found: list[State] = []
    for k in range(1, distance + 1):
        found += [state ^ sum(1 << b for b in bits) for bits in combinations(range(num_bits), k)]
    return found
