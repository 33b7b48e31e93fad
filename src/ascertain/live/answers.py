"""What a plant answers to words from reset, voted on and kept: the membership oracle of learning.

A *run* is a reset followed by a word. The tree holds all runs that were made, each node being a history: what was done
and read since the reset. A letter is *settled* when its most frequent reading leads the next one by enough votes. Only
runs that read, up to there, what is settled have a vote: one that went another way may have been in any state since.
So an answer is a history that was read as a whole, as often as votes were asked for.

Words that are not settled are run again; those that stay unsettled are unstable, and no answer is given. What was
settled may be outvoted by later runs. Then whoever learns must begin again, which costs little: runs are never lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from ascertain.errors import FileError, PlantFault, TaskError
from ascertain.live.conduct import run_word
from ascertain.live.deadline import NO_DEADLINE, Deadline
from ascertain.live.faults import FaultPolicy
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Late

Letters: TypeAlias = tuple[str, ...]
"""Names of actions, or of what was read at each of them."""


class Undecided(Exception):
    """Learning cannot go on; the message says why."""


@final
class Unstable(Undecided):
    """The plant did not repeat itself, and votes did not decide."""

    def __init__(self, word: Letters, votes: Mapping[str, int]) -> None:
        self.word, self.votes = word, dict(votes)
        counted = ", ".join(f"{reading!r} {count} times" for reading, count in self.votes.items())
        super().__init__(f"the plant does not repeat itself: the last action of {' '.join(word)!r} read {counted}")


@final
class LimitMet(Undecided):
    """A limit that was set is met."""


@final
class Revised(Exception):
    """Later runs have outvoted an answer that was given."""


@final
@dataclass(eq=False)
class Node:
    """A history, and how often it was seen."""

    votes: int = 0
    following: dict[str, dict[str, Node]] = field(default_factory=dict[str, "dict[str, Node]"])
    """By action and reading."""
    given: dict[str, str] = field(default_factory=dict[str, str])
    """By action: the reading that was answered."""

    def tally(self, action: str) -> dict[str, int]:
        """How often each reading was seen, the most frequent first."""
        counts = {reading: node.votes for reading, node in self.following.get(action, {}).items()}
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def leader(self, action: str, lead: int) -> str | None:
        """The reading that is settled, if one is."""
        readings = self.following.get(action, {})
        if len(readings) <= 1:  # as almost always
            return next((reading for reading, node in readings.items() if node.votes >= lead), None)
        counts = self.tally(action)
        ranked = [*counts.values(), 0, 0]
        return next(iter(counts)) if ranked[0] - ranked[1] >= lead else None


@final
class Answers:
    """Runs words on a plant, each from a reset, until they are settled; every run is recorded when it is done.

    `lead` is by how many votes a reading must lead, `most` how often one question makes a word run. `max_runs` and
    the deadline hold for the runs that are made here, not for those that the recorder has brought along.
    """

    def __init__(
        self,
        plant: AbstractPlant,
        reset: str,
        *,
        recorder: Journal | Notebook,
        lead: int = 2,
        most: int = 10,
        retries: int = 2,
        max_runs: int | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        if not 1 <= lead <= most <= 1000:
            raise TaskError(f"votes: a lead of {lead} in at most {most} runs; 1 <= lead <= runs <= 1000 is needed")
        self.plant, self.reset = plant, reset
        self._recorder, self._lead, self._most, self._retries = recorder, lead, most, retries
        self._max_runs, self._deadline = max_runs, deadline
        self._root = Node()
        self.faults: list[PlantFault] = []
        self.num_runs = self.num_actions = 0
        """Made here, resets apart."""
        for number, record in enumerate(recorder.records):
            if record["record"] == "run":
                self._count(*_read_run(record, f"{getattr(recorder, 'path', '')}: record {number}"))

    def ask(self, word: Letters) -> Letters:
        """What is read along a word after a reset; raises `Undecided` when it cannot be known, or `Revised`."""
        asked = (self.reset, *word)
        for runs in range(self._most + 1):
            node, readings = self._follow(asked)
            if len(readings) == len(asked):
                self._give(asked, readings)
                return readings[1:]
            if runs == self._most:
                raise Unstable(asked[: len(readings) + 1], node.tally(asked[len(readings)]))
            self._run(asked)
        raise AssertionError("the last round answers or raises")

    def forget_given(self) -> None:
        """Whoever was given answers begins again."""
        stack = [self._root]
        while stack:
            node = stack.pop()
            node.given.clear()
            stack.extend(child for children in node.following.values() for child in children.values())

    @property
    def reset_reading(self) -> str:
        """What the reset reads."""
        self.ask(())
        return self._follow((self.reset,))[1][0]

    def settled(self, actions: Sequence[str]) -> Iterator[tuple[Letters, Letters]]:
        """The longest settled words over these actions, with what is read along them."""
        start, readings = self._follow((self.reset,))
        stack: list[tuple[Node, Letters, Letters]] = [(start, (), ())] if readings else []
        while stack:
            node, word, read = stack.pop()
            ahead = [(a, y) for a in actions if (y := node.leader(a, self._lead)) is not None]
            if word and not ahead:
                yield word, read
            stack.extend((node.following[a][y], (*word, a), (*read, y)) for a, y in reversed(ahead))

    def disputed(self, actions: Sequence[str]) -> Iterator[tuple[Letters, dict[str, int]]]:
        """The settled words over these actions whose last letter was read in several ways, with the votes."""
        stack: list[tuple[Node, Letters]] = [(self._root, ())]
        while stack:
            node, word = stack.pop()
            for action in (self.reset,) if not word else actions:
                reading = node.leader(action, self._lead)
                if reading is not None:
                    stack.append((node.following[action][reading], (*word, action)))
                    if len(node.following[action]) > 1:
                        yield (*word, action), node.tally(action)

    def _follow(self, asked: Letters) -> tuple[Node, Letters]:
        """What is settled of a word, and the node where that ends."""
        node, readings = self._root, list[str]()
        for action in asked:
            reading = node.leader(action, self._lead)
            if reading is None:
                break
            readings.append(reading)
            node = node.following[action][reading]
        return node, tuple(readings)

    def _give(self, asked: Letters, readings: Letters) -> None:
        node = self._root
        for action, reading in zip(asked, readings, strict=True):
            if node.given.setdefault(action, reading) != reading:
                raise Revised
            node = node.following[action][reading]

    def _run(self, asked: Letters) -> None:
        if self._deadline.is_over:
            raise LimitMet(self._deadline.reason)
        if self._max_runs is not None and self.num_runs >= self._max_runs:
            raise LimitMet(f"{self._max_runs} queries were made, and more are needed")
        self.plant.wait_at_most(self._deadline.left)
        try:
            steps = run_word(self.plant, asked, FaultPolicy(self._retries), self.faults)
        except Late:
            if self._deadline.is_over:
                raise LimitMet(self._deadline.reason) from None
            raise
        readings = tuple(reading for _, reading in steps)
        self._recorder.append({"record": "run", "actions": list(asked), "readings": list(readings)})
        self._count(asked, readings)
        self.num_runs += 1
        self.num_actions += len(asked) - 1

    def _count(self, asked: Letters, readings: Letters) -> None:
        node = self._root
        for action, reading in zip(asked, readings, strict=True):
            node = node.following.setdefault(action, {}).setdefault(reading, Node())
            node.votes += 1


def _read_run(record: Mapping[str, Any], where: str) -> tuple[Letters, Letters]:
    """A run as it was recorded, names in two lists; the file may come from anyone."""
    actions, readings = tuple(record["actions"]), tuple(record["readings"])
    if not actions or len(actions) != len(readings):
        raise FileError(f"{where}: a run has as many readings as actions, and a reset at least")
    return actions, readings
