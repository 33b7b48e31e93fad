"""The task, read from its canonical JSON form and validated once.

Throughout: s is a state, a an action, y a reading, k a label, all of them indices. `successor[s][a]` is where a leads
from s, or None where a is not allowed in s. `behaviour[s][a]` is what is read there: the reading itself on a machine,
the number of its law on a noisy machine (laws are listed once each, so equal numbers mean equal laws); `laws` lists the
laws of a noisy machine and is empty for a machine. A hypothesis is a pair (k, s): the plant may be in s, and then k is
the right answer. In a task about the *current* state, `current[s]` is the label of every state and the right answer is
the label of the state that the experiment ends in; otherwise `current` is None and the label stays with the hypothesis.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TypeAlias

from ascertain_check.reading import (
    Object,
    canonical_bytes,
    read_index,
    read_list,
    read_names,
    read_object,
    read_rational,
)
from ascertain_check.verdicts import Malformed

Table: TypeAlias = list[list[int | None]]
Pair: TypeAlias = tuple[int, int]
"""(label, state), or (label, class)."""
Law: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Readings of positive probability, ascending, with their probabilities."""


Lost: TypeAlias = tuple[int, Fraction] | None
"""The reading that stands for a lost one, and the bound on losing; None: nothing is lost."""


@dataclass(frozen=True)
class Task:
    kind: str
    """Of its model: machine or noisy."""
    readings: list[str]
    labels: list[str]
    successor: Table
    behaviour: Table
    laws: list[Law]
    at_most: Fraction | None
    """Where noise is a bound: errors have at most this probability given the past, and may be any reading. A law then
    says what is predicted, its reading of probability 1 - at_most, and what else the action can give."""
    lost: Lost
    """With a bound: the reading that stands for a lost one, and the bound on the probability that one is lost."""
    hypotheses: list[Pair]
    cost: list[Fraction]
    alpha: Fraction
    beta: Fraction
    current: list[int] | None
    sha256: str

    @property
    def noisy(self) -> bool:
        return self.kind == "noisy"

    @property
    def num_readings(self) -> int:
        return len(self.readings)

    @property
    def num_labels(self) -> int:
        return len(self.labels)

    @property
    def num_states(self) -> int:
        return len(self.successor)

    @property
    def num_actions(self) -> int:
        return len(self.cost)

    @property
    def actions(self) -> range:
        """Those that an experiment may use."""
        return range(self.num_actions)

    @property
    def num_candidates(self) -> int:
        """A candidate of a bank is a state."""
        return self.num_states

    @property
    def candidates(self) -> set[int]:
        """The states that the plant may begin in."""
        return {state for _, state in self.hypotheses}

    def label_after(self, label: int, state: int) -> int:
        """The right answer in this state for a hypothesis that started with this label."""
        return label if self.current is None else self.current[state]


def read_task(value: object) -> Task:
    data = read_object(value, "format version model hypotheses labels cost alpha beta current", "the task")
    read_header(data, "ascertain-task", "the task")
    kind, readings, successor, behaviour, laws, at_most, lost = read_model(data["model"])
    num_states, num_actions = len(successor), len(successor[0])
    labels = read_names(data["labels"], "labels")
    hypotheses = read_hypotheses(data["hypotheses"], num_states, len(labels))
    cost = read_costs(data["cost"], num_actions)
    alpha, beta = (read_risk(data[risk], risk) for risk in ("alpha", "beta"))
    current = read_current(data["current"], num_states, len(labels))
    if current is not None and any(current[s] != k for k, s in hypotheses):
        raise Malformed("in a task about the current state each hypothesis has the label of its state")
    return Task(
        kind=kind,
        readings=readings,
        labels=labels,
        successor=successor,
        behaviour=behaviour,
        laws=laws,
        at_most=at_most,
        lost=lost,
        hypotheses=hypotheses,
        cost=cost,
        alpha=alpha,
        beta=beta,
        current=current,
        sha256=sha256(canonical_bytes(data, "the task")).hexdigest(),
    )


def read_costs(value: object, num_actions: int) -> list[Fraction]:
    cost = [read_rational(c, "a cost") for c in read_list(value, "cost", num_actions)]
    if not all(cost):
        raise Malformed("a cost must be positive")
    return cost


def read_risk(value: object, name: str) -> Fraction:
    risk = read_rational(value, name)
    if risk >= 1:
        raise Malformed(f"{name} must be less than 1")
    return risk


def read_header(data: Object, name: str, where: str) -> None:
    """Every file says what it is, in which version."""
    if data["format"] != name or type(data["version"]) is not int or data["version"] != 1:
        raise Malformed(f'{where} must have the format "{name}" and the version 1')


def read_model(value: object) -> tuple[str, list[str], Table, Table, list[Law], Fraction | None, Lost]:
    """The kind of the model, its readings, its two tables, its laws, and the bounds on noise, if any."""
    every = "kind states actions readings successor output? law? laws? at_most? lost?"
    kind = read_object(value, every, "the model")["kind"]
    if kind not in ("machine", "noisy"):
        raise Malformed('the kind of the model must be "machine", "noisy", "boolean" or "hidden"')
    own = "output" if kind == "machine" else "law laws at_most? lost?"
    data = read_object(value, f"kind states actions readings successor {own}", f"a model of kind {kind!a}")
    num_states = len(read_names(data["states"], "states"))
    num_actions = len(read_names(data["actions"], "actions"))
    readings = read_names(data["readings"], "readings")
    successor = read_table(data["successor"], num_states, num_actions, num_states, "successor")
    laws: list[Law] = []
    if kind == "machine":
        behaviour = read_table(data["output"], num_states, num_actions, len(readings), "output")
    else:
        laws = read_laws(data["laws"], len(readings))
        behaviour = read_table(data["law"], num_states, num_actions, len(laws), "law")
    if [[x is None for x in row] for row in successor] != [[x is None for x in row] for row in behaviour]:
        raise Malformed("an action must have both a successor and a reading in a state, or neither")
    if "lost" in data and "at_most" not in data:
        raise Malformed("lost is a bound beside at_most, which is missing")
    lost = read_lost(data["lost"], len(readings)) if "lost" in data else None
    at_most = read_bound(data["at_most"], lost, behaviour, laws) if "at_most" in data else None
    return str(kind), readings, successor, behaviour, laws, at_most, lost


def read_lost(value: object, num_readings: int) -> tuple[int, Fraction]:
    reading, bound = read_list(value, "lost", 2)
    return read_index(reading, num_readings, "the reading that stands for a lost one"), read_risk(bound, "lost")


def read_bound(value: object, lost: Lost, behaviour: Table, laws: list[Law]) -> Fraction:
    """A bound on noise, after checking that each law predicts one reading, and that an action can give the same in
    every state: otherwise one state would rule out what is an error in another."""
    bound = read_rational(value, "at_most")
    if not 0 < bound < Fraction(1, 2):
        raise Malformed("at_most must be positive and less than 1/2")
    if lost is not None and not (lost[1] and (1 - bound) * (1 - lost[1]) > bound):
        raise Malformed("lost must be positive, and (1 - at_most) (1 - lost) more than at_most")
    for a in range(len(behaviour[0])):
        used = [laws[k] for k in {row[a] for row in behaviour} if k is not None]
        if len({tuple(y for y, _ in law) for law in used}) > 1:
            raise Malformed("with at_most an action can give the same readings in every state")
        for law in used:
            check_within(law, bound, lost)
    return bound


def check_within(law: Law, bound: Fraction, lost: Lost) -> None:
    """The law is itself a noise within the bounds: an error that is not lost has at most the probability of one. What
    is predicted has the least that it may have, so that the rest is what may be lost."""
    right = predicted(law, bound, lost)
    if sum(p for y, p in law if y != right and (lost is None or y != lost[0])) > bound:
        raise Malformed("with lost what a law reads by mistake, and does not lose, has more probability than at_most")


def predicted(law: Law, bound: Fraction, lost: Lost) -> int:
    """What a law says is right: its only reading, or the one of the probability that what is right has."""
    if len(law) == 1:
        return law[0][0]
    silence, loss = lost or (None, Fraction(0))
    right = [y for y, p in law if p == (1 - bound * (1 - loss) if y == silence else (1 - bound) * (1 - loss))]
    if len(right) != 1:
        raise Malformed("with at_most a law has one reading of the probability that what is right has")
    return right[0]


def read_table(value: object, num_states: int, num_actions: int, bound: int, where: str) -> Table:
    rows = [read_list(row, where, num_actions) for row in read_list(value, where, num_states)]
    return [[None if x is None else read_index(x, bound, where) for x in row] for row in rows]


def read_laws(value: object, num_readings: int) -> list[Law]:
    """The laws, after checking that each is one and stands once."""
    laws = [read_law(law, num_readings) for law in read_list(value, "laws")]
    if len(set(laws)) < len(laws):
        raise Malformed("a reading law is listed twice")
    return laws


def read_law(value: object, num_readings: int) -> Law:
    pairs = [read_list(pair, "an entry of a law", 2) for pair in read_list(value, "a law")]
    law = tuple((read_index(y, num_readings, "a reading"), read_rational(p, "a probability")) for y, p in pairs)
    readings = [y for y, _ in law]
    if readings != sorted(set(readings)):
        raise Malformed("a law must list its readings in ascending order, each once")
    if not all(p for _, p in law) or sum(p for _, p in law) != 1:
        raise Malformed("the probabilities of a law must be positive and sum to 1")
    return law


def read_hypotheses(value: object, num_states: int, num_labels: int) -> list[Pair]:
    entries = [read_list(entry, "a hypothesis", 2) for entry in read_list(value, "hypotheses")]
    pairs = [(read_index(k, num_labels, "a label"), read_index(s, num_states, "a state")) for s, k in entries]
    if not pairs or len(set(pairs)) < len(pairs):
        raise Malformed("there must be at least one hypothesis, each listed once")
    return pairs


def read_current(value: object, num_states: int, num_labels: int) -> list[int] | None:
    if value is None:
        return None
    return [read_index(k, num_labels, "the label of a state") for k in read_list(value, "current", num_states)]
