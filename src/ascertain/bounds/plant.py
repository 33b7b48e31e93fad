"""Program bounds on Boolean plants of any size: on a few of their states, or, by symmetry, on one that stands for all.

*A family.* A policy that is valid for every state of the plant is valid for some of them, at no higher cost. So a lower
bound on the task whose hypotheses are a few states of the plant, and whose model is what these can become, holds for
the question about the plant.

*Affine commands.* A command is *affine* when its gates are among xor, cnot, not, copy, set and clear: it maps x to
L x + c over the field of two elements. Two states that differ by d then differ by L d after it, whatever they are, and
their tapped bits differ by the tapped bit of L d. So what a truth x and a rival x + d show each other depends on d
alone, and the joint graph of any x and the rivals x + d is that of 0 and the rivals d on the *linear* plant, where
constants are left out.

*Symmetry.* Let every state be a hypothesis, labelled by itself or by some of its bits, so that label(x + v) = label(x)
+ label(v). Given a policy and a v, let another policy keep v_t, what becomes of v under the actions done; it turns
each reading over when the tapped bit of v_t is 1, feeds that to the first policy, does as that says, and adds label(v)
to its answer. Under x + v it does what the first does under x, with the answers moved by label(v): readings are
flipped with the same probability whatever they are. So translations act on valid policies and keep their worst cost,
and they are transitive on hypotheses. As `bounds.split` says, shares may be assumed invariant: the probability that
label l is answered when x is true depends on l + label(x) alone. Call it q(l + label(x)); the sum of q over all labels
other than that of 0 is at most alpha. The program of the truth 0 is then that of every truth, the row of rival d holds
the share q(label(d)), and *all* these shares together sum to at most alpha. Dropping rivals keeps this valid, if the
same differences are dropped for every truth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from ascertain.bounds.encounters import find_encounters
from ascertain.bounds.information import check_risks, rank_rivals
from ascertain.bounds.joint import build_joint
from ascertain.bounds.program import MAX_NODES, ProgramBound, bound_by_program, count_actions
from ascertain.bounds.proof import prove
from ascertain.bounds.split import solve_split
from ascertain.errors import LimitError, TaskError
from ascertain.model import NoisyMachine
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.noisy import make_law
from ascertain.task.plant_task import BitsRule, NominalRule, PlantTask, StateRule
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, State

AFFINE = frozenset({"xor", "cnot", "not", "copy", "set", "clear"})
"""The gates that are affine; the others multiply two bits."""
MOST_STATES = 2_000
"""States of a family: the program looks at every pair of them, in Python."""
MOST_LISTED = 64
"""Of listed hypotheses the family takes this many, unless others are given: the program looks at every pair of them."""


def is_translation_invariant(question: PlantTask) -> bool:
    """Whether the theorem above applies: every state, a label of bits, about the start, affine commands, no taboo."""
    return (
        question.states is None
        and question.about == "start"
        and not question.never
        and isinstance(question.rule, StateRule | BitsRule)
        and all(g.op in AFFINE for a in question.actions for g in question.model.commands[a].gates)
    )


def linear_part(plant: BooleanPlant) -> BooleanPlant:
    """The plant on differences: constants are left out, so that the difference 0 stays 0. Affine commands only."""
    commands: list[Command] = []
    for c in plant.commands:
        kept = [Gate("clear", gate.target) if gate.op == "set" else gate for gate in c.gates if gate.op != "not"]
        commands.append(Command(c.name, tuple(kept), c.tap))
    return replace(plant, commands=tuple(commands))


def bound_plant(
    question: PlantTask,
    alpha: Fraction | None = None,
    beta: Fraction | None = None,
    *,
    states: tuple[State, ...] | None = None,
    max_rivals: int = 24,
    time_limit: float | None = None,
) -> ProgramBound:
    """A program bound on a plant that is not enumerated; hypotheses in it are numbered as in the family used.

    By symmetry where `is_translation_invariant`; `states` are then the differences considered (default: of at most two
    bits, if what these become can be listed, else of one). Otherwise on the family of `states` (default: the nominal
    state, or the first one, and its neighbours).
    """
    alpha, beta = check_risks(question, alpha, beta)
    if is_translation_invariant(question) and alpha > 0 and 2 * alpha + beta < 1:
        return _bound_by_symmetry(question, alpha, beta, states, max_rivals, time_limit)
    family = states or _default_family(question)
    task = restrict_plant_task(question, family)
    return bound_by_program(task, alpha, beta, max_rivals=max_rivals, time_limit=time_limit)


def _default_family(question: PlantTask) -> tuple[State, ...]:
    """The nominal state, or the first, and its neighbours among the hypotheses."""
    first = question.states[0] if question.states else 0
    centre = question.rule.state if isinstance(question.rule, NominalRule) else first
    near = [centre, *neighbours(centre, question.model.num_bits)]
    return tuple(near if question.states is None else dict.fromkeys(question.states[:MOST_LISTED]))


def _bound_by_symmetry(
    question: PlantTask,
    alpha: Fraction,
    beta: Fraction,
    differences: tuple[State, ...] | None,
    max_rivals: int,
    time_limit: float | None,
) -> ProgramBound:
    linear = replace(question, model=linear_part(_with_used_commands(question)))
    if differences is not None and 0 in differences:
        raise TaskError("a rival differs from the truth, so 0 is not among the differences")
    task = _family_of_differences(linear, differences)
    met = find_encounters(task)
    rivals = rank_rivals(met, max_rivals)[0]
    if not rivals:
        return ProgramBound(Fraction(0))
    graph = build_joint(met, 0, rivals, MAX_NODES)
    found = solve_split((graph,), alpha, beta, transitive=True, time_limit=time_limit)
    if found is None:
        return ProgramBound(Fraction(0), cut=True)
    proof = prove(found)
    return ProgramBound(
        proof.value,
        hypothesis=0,
        visits={0: count_actions(found)},
        by_hypothesis={0: found.value if found.feasible else float("inf")},
        share=found.share,
        dual=proof if proof.truths else None,
        cut=True,
        symmetric=True,
    )


def _with_used_commands(question: PlantTask) -> BooleanPlant:
    """The plant with the gates of unused commands left out: they need not be affine."""
    used = set(question.actions)
    commands = [c if a in used else replace(c, gates=()) for a, c in enumerate(question.model.commands)]
    return replace(question.model, commands=tuple(commands))


def _family_of_differences(linear: PlantTask, differences: tuple[State, ...] | None) -> Task:
    """The task of the truth 0 and its rivals on the linear plant; rivals of the label of 0 ask nothing."""
    if differences is not None:
        return restrict_plant_task(linear, (0, *differences))
    bits = linear.model.num_bits
    try:
        return restrict_plant_task(linear, (0, *neighbours(0, bits, 2)))
    except LimitError:
        return restrict_plant_task(linear, (0, *neighbours(0, bits)), most=2 * MOST_STATES)


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
