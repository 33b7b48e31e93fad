"""What was observed of a plant from reset on, and the specification that it agrees with.

A claim about conformance names a hypothesis, an action that is the reset, and the other actions that were tried. The
specification is what the model does from where the reset leads on, over those actions, up to `classes`: a partition of
the states that can be reached in which equal classes read alike and lead alike. The transcript begins at the state of
the hypothesis. Where the reset leads elsewhere, what was done before the first one must read as the model says, and
counts for nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ascertain_check.plants import read_plant
from ascertain_check.reading import Object, read_index, read_list
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted

Word: TypeAlias = tuple[int, ...]

KEYS = "claim hypothesis reset actions classes transcript plant?"
"""The keys that claims about conformance share."""


@dataclass(frozen=True)
class Observed:
    """Everything is checked: classes are sound, and the transcript agrees with the specification."""

    hypothesis: int
    actions: list[int]
    classes: list[int | None]
    runs: list[Word]
    """What was done from each reset to the next; also before the first one, if that began where a reset leads."""
    start: int
    """Where a reset leads."""
    plant: str
    """The plant and the times that the claim names, as the end of a sentence."""

    @property
    def num_classes(self) -> int:
        return len({c for c in self.classes if c is not None})


def read_observed(task: Task, data: Object) -> Observed:
    """The specification and the runs of a claim."""
    hypothesis = read_index(data["hypothesis"], len(task.hypotheses), "hypothesis")
    first = task.hypotheses[hypothesis][1]
    reset = read_index(data["reset"], task.num_actions, "reset")
    actions = [read_index(a, task.num_actions, "actions") for a in read_list(data["actions"], "actions")]
    if not actions or len(set(actions)) < len(actions) or reset in actions:
        raise Malformed("actions must be listed once each, at least one and not the reset")
    start = task.successor[first][reset]
    if start is None:
        raise Refuted("the reset is not defined in the state of the hypothesis")
    classes = read_classes(data["classes"], task.num_states)
    check_classes(task, classes, actions, reset, start)
    runs = read_runs(task, data, actions, reset, first)
    kept = runs if first == start else runs[1:]
    return Observed(hypothesis, actions, classes, kept, start, read_plant(data))


def read_classes(value: object, num_states: int) -> list[int | None]:
    items = read_list(value, "classes", num_states)
    return [None if c is None else read_index(c, num_states, "classes") for c in items]


def check_classes(task: Task, classes: list[int | None], actions: list[int], reset: int, start: int) -> None:
    """Where a reset leads has a class; what has one leads to what has one; states of a class read and lead alike."""
    if classes[start] is None:
        raise Refuted("the state that the reset leads to has no class")
    rows: dict[int, list[tuple[int | None, int | None]]] = {}
    for s, c in enumerate(classes):
        if c is None:
            continue
        if task.successor[s][reset] != start:
            raise Refuted(f"the reset does not lead from state {s} to where it leads from the hypothesis")
        row: list[tuple[int | None, int | None]] = []
        for a in actions:
            after = task.successor[s][a]
            if after is None or classes[after] is None:
                raise Refuted(f"action {a} leads state {s} to a state without a class, or is not defined there")
            row.append((task.behaviour[s][a], classes[after]))
        if rows.setdefault(c, row) != row:
            raise Refuted(f"state {s} differs from another state of its class")


def read_runs(task: Task, data: Object, actions: list[int], reset: int, first: int) -> list[Word]:
    """The runs of a transcript that reads as the model says from this state on."""
    known = {*actions, reset}
    runs: list[list[int]] = [[]]
    state = first
    for number, item in enumerate(read_list(data["transcript"], "transcript")):
        step = read_list(item, "a step of the transcript", 2)
        action = read_index(step[0], task.num_actions, "an action")
        reading = read_index(step[1], task.num_readings, "a reading")
        if action not in known:
            raise Refuted(f"step {number} is an action that the claim does not list")
        if task.behaviour[state][action] != reading:
            raise Refuted(f"step {number} does not read as the model says")
        after = task.successor[state][action]
        assert after is not None  # defined where it is read
        state = after
        if action == reset:
            runs.append([])
        else:
            runs[-1].append(action)
    return [tuple(run) for run in runs]


def read_words(value: object, actions: list[int], where: str) -> list[Word]:
    """A list of words over the actions, each once, the empty one among them."""
    known, bound = set(actions), max(actions) + 1
    words: list[Word] = []
    for item in read_list(value, where):
        word = tuple(read_index(a, bound, where) for a in read_list(item, where))
        if not known.issuperset(word):
            raise Malformed(f"{where}: a word has an action that the claim does not list")
        words.append(word)
    if () not in words or len(set(words)) < len(words):
        raise Malformed(f"{where}: each word must stand once, and the empty word among them")
    return words
