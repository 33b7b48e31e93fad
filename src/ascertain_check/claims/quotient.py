"""The claim that a partition of the states is the coarsest stable one: what no experiment can tell apart is merged.

A partition is *stable* when two states of one class allow the same actions, give the same law of the reading for each,
and are led by each into one class again; in a task about the current state they also have the same label. The classes
of a stable partition are themselves the states of a machine, the *quotient*, and no experiment can tell a state from
its class.

*Stability* is checked on every state and action of the original task, against the first state of its class.

*Coarsest* is checked on the quotient by replaying splits. At the start all classes form one part (in a task about the
current state, one part for each label). A split (p, a) divides part p by what action a does there: whether it is
allowed, which law it gives, and which part it leads into. Every stable partition of the quotient has the invariant that
two of its equivalent classes are in one part: it holds at the start, and equivalent classes have equal actions, laws
and, by the invariant, equal parts of their successors, so a split keeps them together. If in the end every part is a
single class, no stable partition merges any two of them. Part numbers: the classes that stay with the lowest class of p
keep the number p; the other groups, in the order of their lowest classes, get the next free numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ascertain_check.claim import LISTED, register
from ascertain_check.reading import Object, read_index, read_list, read_object
from ascertain_check.task import Table, Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend


@dataclass(frozen=True)
class Quotient:
    """The machine of the classes. `block[s]` is the class of state s; the tables are those of the task."""

    block: list[int]
    successor: Table
    behaviour: Table
    current: list[int] | None

    @property
    def num_classes(self) -> int:
        return len(self.successor)


@register("quotient", about=LISTED)
def check_quotient(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim block splits", "the claim 'quotient'")
    quotient = read_quotient(task, data["block"])
    entries = [read_list(entry, "a split", 2) for entry in read_list(data["splits"], "splits")]
    part, members = start_parts(quotient)
    for p, a in entries:
        split(
            quotient, part, members, read_index(p, len(members), "a part"), read_index(a, task.num_actions, "an action")
        )
    for classes in members:
        if len(classes) > 1:
            raise Refuted(f"classes {classes[0]} and {classes[1]} are not told apart by the splits")
    return f"the coarsest stable partition has {quotient.num_classes} classes, as given"


def read_quotient(task: Task, value: object) -> Quotient:
    """The quotient by a partition that is checked to be stable."""
    block = [read_index(c, task.num_states, "a class") for c in read_list(value, "block", task.num_states)]
    first: dict[int, int] = {}
    for s, c in enumerate(block):
        first.setdefault(c, s)
    if max(block) >= len(first):
        raise Malformed("block must use every number from 0 to its largest")
    for s, c in enumerate(block):
        check_alike(task, block, first[c], s)
    states = [first[c] for c in range(len(first))]
    return Quotient(
        block,
        [[None if t is None else block[t] for t in task.successor[s]] for s in states],
        [task.behaviour[s] for s in states],
        None if task.current is None else [task.current[s] for s in states],
    )


def read_classes(task: Task, claim: Object) -> Quotient:
    """The quotient that a claim is about; where it brings no partition, each state is a class of its own."""
    return read_quotient(task, claim.get("block", list(range(task.num_states))))


def check_alike(task: Task, block: list[int], s: int, t: int) -> None:
    """Two states of one class do not differ in anything that matters. Laws are compared by number: see task.py."""
    if task.behaviour[s] != task.behaviour[t]:
        raise Refuted(f"states {s} and {t} of class {block[s]} differ in the actions they allow or in what is read")
    for a in range(task.num_actions):
        x, y = task.successor[s][a], task.successor[t][a]
        if x is not None and y is not None and block[x] != block[y]:
            raise Refuted(f"states {s} and {t} of class {block[s]} are led by action {a} into different classes")
    if task.current is not None and task.current[s] != task.current[t]:
        raise Refuted(f"states {s} and {t} of class {block[s]} have different labels")


def start_parts(quotient: Quotient) -> tuple[list[int], list[list[int]]]:
    """Before the first split: the part of every class, and the classes of every part in ascending order."""
    number: dict[int, int] = {}
    part: list[int] = []
    members: list[list[int]] = []
    for c, k in enumerate(quotient.current or [0] * quotient.num_classes):
        if k not in number:
            number[k] = len(members)
            members.append([])
        part.append(number[k])
        members[number[k]].append(c)
    return part, members


def split(quotient: Quotient, part: list[int], members: list[list[int]], p: int, a: int) -> None:
    """Divide part p, in place, by what action a does there."""
    groups: dict[tuple[int | None, int | None], list[int]] = {}
    spend(5 * len(members[p]))
    for c in members[p]:
        successor = quotient.successor[c][a]
        key = (quotient.behaviour[c][a], None if successor is None else part[successor])
        groups.setdefault(key, []).append(c)
    members[p], *others = groups.values()
    for group in others:
        for c in group:
            part[c] = len(members)
        members.append(group)
