"""The task of a hidden model: where an action leads is random, and a hypothesis is a belief that the plant begins with.

`law[s][a]` is the number of the joint law of action a in state s, or None where a is not allowed in s. A joint law
lists (t, y, p): with probability p the action leads to t and y is read. A hypothesis is a belief, which lists (s, p):
with probability p the plant begins in s; and `label[h]` is the right answer if hypothesis h is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TypeAlias

from ascertain_check.reading import canonical_bytes, read_index, read_list, read_names, read_object, read_rational
from ascertain_check.task import Table, read_costs, read_header, read_risk, read_table
from ascertain_check.verdicts import Malformed

JointLaw: TypeAlias = tuple[tuple[int, int, Fraction], ...]
"""(state, reading, probability), ascending."""
Belief: TypeAlias = tuple[tuple[int, Fraction], ...]
"""(state, probability), ascending."""


@dataclass(frozen=True)
class HiddenTask:
    kind = "hidden"
    num_actions: int
    num_readings: int
    labels: list[str]
    law: Table
    laws: list[JointLaw]
    beliefs: list[Belief]
    label: list[int]
    alpha: Fraction
    sha256: str

    @property
    def num_hypotheses(self) -> int:
        return len(self.beliefs)

    @property
    def actions(self) -> range:
        """Those that an experiment may use."""
        return range(self.num_actions)

    @property
    def num_candidates(self) -> int:
        """A candidate of a bank is a hypothesis."""
        return self.num_hypotheses

    @property
    def candidates(self) -> range:
        return range(self.num_hypotheses)

    def law_of(self, s: int, a: int) -> JointLaw:
        """The joint law of an action in a state; empty where it is not allowed."""
        number = self.law[s][a]
        return () if number is None else self.laws[number]


def read_hidden_task(value: object) -> HiddenTask:
    data = read_object(value, "format version model hypotheses labels cost alpha beta", "the task")
    read_header(data, "ascertain-task", "the task")
    model = read_object(data["model"], "kind states actions readings law laws", "a model of kind 'hidden'")
    num_states, num_actions, num_readings = (
        len(read_names(model[names], names)) for names in ("states", "actions", "readings")
    )
    laws = [read_joint(law, num_states, num_readings) for law in read_list(model["laws"], "laws")]
    if len(set(laws)) < len(laws):
        raise Malformed("a joint law is listed twice")
    labels = read_names(data["labels"], "labels")
    rows = [read_list(row, "a hypothesis", 3) for row in read_list(data["hypotheses"], "hypotheses")]
    read_names([row[0] for row in rows], "the names of hypotheses")
    pairs = [(read_belief(belief, num_states), read_index(k, len(labels), "a label")) for _, belief, k in rows]
    if len(set(pairs)) < len(pairs):
        raise Malformed("a hypothesis, a belief and its label, is listed twice")
    read_costs(data["cost"], num_actions)
    read_risk(data["beta"], "beta")
    return HiddenTask(
        num_actions=num_actions,
        num_readings=num_readings,
        labels=labels,
        law=read_table(model["law"], num_states, num_actions, len(laws), "law"),
        laws=laws,
        beliefs=[belief for belief, _ in pairs],
        label=[k for _, k in pairs],
        alpha=read_risk(data["alpha"], "alpha"),
        sha256=sha256(canonical_bytes(data, "the task")).hexdigest(),
    )


def read_joint(value: object, num_states: int, num_readings: int) -> JointLaw:
    rows = [read_list(row, "an entry of a joint law", 3) for row in read_list(value, "a joint law")]
    law = tuple(
        (
            read_index(t, num_states, "a state"),
            read_index(y, num_readings, "a reading"),
            read_rational(p, "a probability"),
        )
        for t, y, p in rows
    )
    places = [(t, y) for t, y, _ in law]
    if places != sorted(set(places)):
        raise Malformed("a joint law must list states and readings in ascending order, each pair once")
    check_masses([p for _, _, p in law], "a joint law")
    return law


def read_belief(value: object, num_states: int) -> Belief:
    rows = [read_list(row, "an entry of a belief", 2) for row in read_list(value, "a belief")]
    belief = tuple((read_index(s, num_states, "a state"), read_rational(p, "a probability")) for s, p in rows)
    states = [s for s, _ in belief]
    if states != sorted(set(states)):
        raise Malformed("a belief must list its states in ascending order, each once")
    check_masses([p for _, p in belief], "a belief")
    return belief


def check_masses(masses: list[Fraction], what: str) -> None:
    if not all(masses) or sum(masses) != 1:
        raise Malformed(f"the probabilities of {what} must be positive and sum to 1")
