"""The Markov chain that a policy makes of a task: where a run may be, what a step costs there, where it goes next.

A *place* is (memory, label, state): what the policy remembers, which answer would be right, and where the plant is.
Given the truth, the place after the next reading depends on nothing but the place now, because actions depend on the
memory alone and readings on the state alone. Each hypothesis starts at a place of its own; the label stays with it,
or, in a task about the current state, follows the state. Only places of positive probability are listed.

*Noise as a bound.* Where a model says no more than how probable an error is at most, the place after the next reading
also depends on the noise, which may do its worst: `parts` then lists, place by place, parts of probability and where
noise may send each (`robust.py`); the arrows are those of the law in which errors are spread evenly.

*An action is allowed only while every hypothesis that may still be true allows it.* A hypothesis may still be true
after a transcript exactly when it gives that transcript a positive probability, so this says that every listed place
allows the action that is asked there; `follow` checks it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, final

from ascertain.errors import LimitError, TaskError
from ascertain.policy.automaton import NOWHERE, PolicyTable
from ascertain.policy.policy import AbstractPolicy, Answer, Ask, Decision
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, Reading, State

Memory = TypeVar("Memory", bound=Hashable)
"""What a policy remembers; it is numbered, so it must be hashable."""
Place: TypeAlias = tuple[int, int, State]
"""(number of the memory, label, state)."""
Arrow: TypeAlias = tuple[int, Fraction]
"""Where a step may lead, and how probable that is."""
Part: TypeAlias = tuple[Fraction, tuple[int, ...]]
"""A part of the probability, and the places that noise may send it to, first the one without an error."""

MAX_PLACES = 2_000_000
"""Places are listed with their arrows as Python objects, about 460 bytes each: a gigabyte at this many."""


class End(Enum):
    """How a run ends at a place."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSTAIN = "abstain"


@final
@dataclass(frozen=True)
class Chain:
    """Places by number; `arrows[i]` is empty exactly where `end[i]` says how the run ends."""

    places: tuple[Place, ...]
    end: tuple[End | None, ...]
    cost: tuple[Fraction, ...]
    arrows: tuple[tuple[Arrow, ...], ...]
    start: tuple[int, ...]
    """The place where each hypothesis starts."""
    decisions: tuple[Decision, ...]
    """What is decided at each memory."""
    following: tuple[dict[Reading, int], ...]
    """The memory after each reading that may come at a memory."""
    parts: tuple[tuple[Part, ...], ...] | None = None
    """Where noise is a bound: where each part of the probability may go."""

    @property
    def size(self) -> int:
        return len(self.places)


def follow(task: Task, policy: AbstractPolicy[Memory], *, max_places: int = MAX_PLACES) -> Chain:
    """The chain of a policy with finitely many memories; TaskError where it asks what is not allowed."""
    return _Follower(task, policy, max_places).run()


def tabulate(chain: Chain) -> PolicyTable:
    """The policy itself, as a table of the memories that are reached; parents come first if it can never go back."""
    number = number_memories(chain)
    order = list(number)
    decisions = [chain.decisions[m] for m in order]
    return PolicyTable(
        action=tuple(d.action if isinstance(d, Ask) else NOWHERE for d in decisions),
        label=tuple(d.label if isinstance(d, Answer) else NOWHERE for d in decisions),
        children=tuple({y: number[c] for y, c in sorted(chain.following[m].items())} for m in order),
    )


def number_memories(chain: Chain) -> dict[int, int]:
    """The node of each memory in the table, in ascending order; parents first if the policy can never go back."""
    # The reverse of the order in which a depth-first walk leaves them: parents first where there is no circle.
    following = chain.following
    left: list[int] = []
    seen = {0}
    stack = [(0, iter(following[0].values()))]
    while stack:
        m, children = stack[-1]
        child = next((c for c in children if c not in seen), None)
        if child is None:
            left.append(m)
            stack.pop()
        else:
            seen.add(child)
            stack.append((child, iter(following[child].values())))
    return {m: v for v, m in enumerate(reversed(left))}


@final
class _Follower:
    """The places found so far, numbered as they are found; each is looked at once."""

    def __init__(self, task: Task, policy: AbstractPolicy[Any], max_places: int) -> None:
        self.task, self.policy, self.max_places = task, policy, max_places
        self.memories: dict[Hashable, int] = {}
        self.memory_of: list[Any] = []
        self.decisions: list[Decision] = []
        self.following: list[dict[Reading, int]] = []
        self.number: dict[Place, int] = {}
        self.places: list[Place] = []
        self.laws: dict[tuple[State, Action], list[Arrow]] = {}

    def run(self) -> Chain:
        root = self._remember(self.policy.start())
        start = [self._visit((root, int(k), int(s))) for s, k in zip(self.task.state, self.task.label, strict=True)]
        end: list[End | None] = []
        cost: list[Fraction] = []
        arrows: list[tuple[Arrow, ...]] = []
        parts: list[tuple[Part, ...]] = []
        bounded = self.task.model.noise_bound is not None
        # Breadth first: the list grows while it is walked, and places are looked at in the order they were found.
        for place in self.places:
            decision = self.decisions[place[0]]
            asks = isinstance(decision, Ask)
            end.append(None if asks else _ending(decision, place[1]))
            cost.append(self.task.cost[decision.action] if asks else Fraction(0))
            arrows.append(self._step(place, decision.action) if asks else ())
            if bounded:
                parts.append(self._spread(place, decision.action) if asks else ())
        return Chain(
            tuple(self.places),
            tuple(end),
            tuple(cost),
            tuple(arrows),
            tuple(start),
            tuple(self.decisions),
            tuple(self.following),
            tuple(parts) if bounded else None,
        )

    def _remember(self, memory: Hashable) -> int:
        number = self.memories.get(memory)
        if number is None:
            number = self.memories[memory] = len(self.memory_of)
            self.memory_of.append(memory)
            self.decisions.append(self._decide(memory))
            self.following.append({})
        return number

    def _decide(self, memory: Hashable) -> Decision:
        decision = self.policy.decide(memory)
        if isinstance(decision, Ask) and not 0 <= decision.action < self.task.model.num_actions:
            raise TaskError(f"the policy asks action {decision.action}, which the model does not have")
        if isinstance(decision, Answer) and not 0 <= decision.label < len(self.task.labels):
            raise TaskError(f"the policy answers label {decision.label}, which the task does not have")
        return decision

    def _visit(self, place: Place) -> int:
        number = self.number.get(place)
        if number is None:
            number = self.number[place] = len(self.places)
            if number >= self.max_places:
                raise LimitError(f"the policy reaches more than {self.max_places} places (memory, label, state)")
            self.places.append(place)
        return number

    def _step(self, place: Place, action: Action) -> tuple[Arrow, ...]:
        m, label, s = place
        to = int(self.task.model.successor[s, action])
        if to == UNDEFINED:
            name, state = self.task.model.actions[action], self.task.model.states[s]
            raise TaskError(f"the policy asks {name!r} where the plant may be in {state!r}, which does not allow it")
        if self.task.state_label is not None:
            label = int(self.task.state_label[to])
        # Readings that the policy remembers alike lead to one place: their probabilities are added.
        chance: dict[int, Fraction] = {}
        for y, p in self._law(s, action):
            target = self._visit((self._next(m, y), label, to))
            chance[target] = chance[target] + p if target in chance else p
        return tuple(chance.items())

    def _spread(self, place: Place, action: Action) -> tuple[Part, ...]:
        """Where noise may send each part of the probability; all of these places are known from `_step`."""
        m, label, s = place
        to = int(self.task.model.successor[s, action])
        label = label if self.task.state_label is None else int(self.task.state_label[to])

        def visit(y: Reading) -> int:
            return self.number[self._next(m, y), label, to]

        spread = self.task.model.spread_noise(s, action)
        return tuple((p, tuple(dict.fromkeys(map(visit, readings)))) for p, readings in spread)

    def _next(self, m: int, reading: Reading) -> int:
        after = self.following[m].get(reading)
        if after is None:
            after = self.following[m][reading] = self._remember(self.policy.next(self.memory_of[m], reading))
        return after

    def _law(self, s: State, action: Action) -> list[Arrow]:
        if (s, action) not in self.laws:
            self.laws[s, action] = list(self.task.model.reading_law(s, action).items())
        return self.laws[s, action]


def _ending(decision: Decision, label: int) -> End:
    if not isinstance(decision, Answer):
        return End.ABSTAIN
    return End.RIGHT if decision.label == label else End.WRONG
