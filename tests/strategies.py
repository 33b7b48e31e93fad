"""Hypothesis strategies for small models and tasks, shared by every test.

Sizes are inclusive. `partial` says whether actions may be undefined: True, False, or None for either. Everything
shrinks towards few states, action 0, reading 0 and unit costs.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from ascertain.model import Machine, Model, NoisyMachine
from ascertain.model.noisy import Law, make_law
from ascertain.task.question import About
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, IntArray

# The first example of a test may have to compile its kernels, so no example has a deadline.
settings.register_profile("ascertain", deadline=None)
settings.load_profile("ascertain")

RISKS = (Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 4))
COSTS = (Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2), Fraction(7, 3))


def names(letter: str, count: int) -> tuple[str, ...]:
    """`count` distinct names that begin with the letter."""
    return tuple(f"{letter}{i}" for i in range(count))


@st.composite
def tables(draw: st.DrawFn, rows: int, columns: int, bound: int) -> IntArray:
    """A table of entries in 0 .. bound - 1."""
    size = rows * columns
    entries = draw(st.lists(st.integers(0, bound - 1), min_size=size, max_size=size))
    return np.array(entries, dtype=np.int32).reshape(rows, columns)


@st.composite
def holes(draw: st.DrawFn, rows: int, columns: int, partial: bool | None) -> np.ndarray:
    """Where actions are undefined: nowhere unless `partial` allows it, else in about a quarter of the places."""
    if partial is False or (partial is None and not draw(st.booleans())):
        return np.zeros((rows, columns), dtype=np.bool_)
    size = rows * columns
    entries = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    return np.array(entries).reshape(rows, columns) == 3


@st.composite
def machines(
    draw: st.DrawFn,
    *,
    min_states: int = 1,
    max_states: int = 6,
    max_actions: int = 3,
    max_readings: int = 3,
    partial: bool | None = None,
) -> Machine:
    """Machines of any shape; often with equivalent states, traps and unreachable parts."""
    n = draw(st.integers(min_states, max_states))
    num_actions = draw(st.integers(1, max_actions))
    num_readings = draw(st.integers(1, max_readings))
    undefined = draw(holes(n, num_actions, partial))
    successor = draw(tables(n, num_actions, n))
    output = draw(tables(n, num_actions, num_readings))
    initial = draw(st.lists(st.integers(0, n - 1), max_size=2, unique=True))
    return Machine(
        states=names("s", n),
        actions=names("a", num_actions),
        readings=names("y", num_readings),
        successor=np.where(undefined, UNDEFINED, successor),
        output=np.where(undefined, UNDEFINED, output),
        initial=tuple(initial),
    )


@st.composite
def reading_laws(draw: st.DrawFn, num_readings: int) -> Law:
    """A law with a small denominator; certain readings are frequent."""
    weights = draw(st.lists(st.integers(0, 3), min_size=num_readings, max_size=num_readings))
    if not any(weights):
        weights = [1] + [0] * (num_readings - 1)
    return make_law({y: Fraction(w, sum(weights)) for y, w in enumerate(weights)})


@st.composite
def noisy_machines(
    draw: st.DrawFn,
    *,
    min_states: int = 1,
    max_states: int = 5,
    max_actions: int = 3,
    max_readings: int = 3,
    max_laws: int = 3,
    partial: bool | None = None,
) -> NoisyMachine:
    """Noisy machines with a few laws, so that many entries share one."""
    skeleton = draw(
        machines(
            min_states=min_states,
            max_states=max_states,
            max_actions=max_actions,
            max_readings=max_readings,
            partial=partial,
        )
    )
    number = len(skeleton.readings)
    laws = tuple(draw(st.lists(reading_laws(number), min_size=1, max_size=max_laws, unique=True)))
    law = draw(tables(skeleton.num_states, skeleton.num_actions, len(laws)))
    return NoisyMachine(
        states=skeleton.states,
        actions=skeleton.actions,
        readings=skeleton.readings,
        successor=skeleton.successor,
        initial=skeleton.initial,
        law=np.where(skeleton.output == UNDEFINED, UNDEFINED, law),
        laws=laws,
    )


def models(**sizes: int | bool | None) -> st.SearchStrategy[Model]:
    """Machines with and without noise."""
    return st.one_of(machines(**sizes), noisy_machines(**sizes))  # type: ignore[arg-type]


@st.composite
def tasks(
    draw: st.DrawFn,
    model: st.SearchStrategy[Model] | None = None,
    *,
    about: About | None = None,
    max_labels: int = 3,
    max_hypotheses: int = 6,
    unit_costs: bool = False,
    shared_states: bool = True,
    risk: bool = False,
) -> Task:
    """Tasks on machines (or on what `model` draws), about the start or the current state (None: either).

    `shared_states` allows, rarely, one state under two labels; `risk` draws alpha and beta, which are zero otherwise.
    """
    plant = draw(machines() if model is None else model)
    n, num_labels = plant.num_states, draw(st.integers(1, max_labels))
    subject = about if about is not None else draw(st.sampled_from(("start", "current")))
    of_state = np.array(draw(st.lists(st.integers(0, num_labels - 1), min_size=n, max_size=n)), dtype=np.int32)
    order = draw(st.permutations(range(n)))
    state = list(order[: draw(st.integers(1, min(n, max_hypotheses)))])
    label = [int(of_state[s]) for s in state]
    twice = shared_states and subject == "start" and num_labels > 1 and len(state) < max_hypotheses
    if twice and draw(st.integers(0, 7)) == 7:
        state.append(state[0])
        label.append((label[0] + 1) % num_labels)
    cost = [Fraction(1) if unit_costs else draw(st.sampled_from(COSTS)) for _ in plant.actions]
    alpha, beta = (draw(st.sampled_from(RISKS)) if risk else Fraction(0) for _ in range(2))
    return Task(
        model=plant,
        state=np.array(state, dtype=np.int32),
        label=np.array(label, dtype=np.int32),
        labels=names("l", num_labels),
        cost=tuple(cost),
        alpha=alpha,
        beta=beta,
        state_label=of_state if subject == "current" else None,
    )
