"""A policy: what to do next, given what was read so far.

A policy is walked, not called: `start` gives a memory, `decide` says what to do at a memory (ask the plant, answer, or
abstain), and `next` gives the memory after a reading. Memories are small integers or tuples; they never see the plant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from ascertain.types import Action, Reading

Memory = TypeVar("Memory")
"""What a policy remembers of the readings so far."""


@dataclass(frozen=True)
class Ask:
    """Send this action to the plant and read."""

    action: Action


@dataclass(frozen=True)
class Answer:
    """Stop: the label of this number is the answer."""

    label: int


@dataclass(frozen=True)
class Abstain:
    """Stop without an answer."""

    reason: str


Decision: TypeAlias = Ask | Answer | Abstain
"""What a policy does next."""


class AbstractPolicy(Protocol, Generic[Memory]):
    """The interface of every policy: a tree, a table automaton, a product of independent tests."""

    def start(self) -> Memory: ...

    def decide(self, memory: Memory) -> Decision: ...

    def next(self, memory: Memory, reading: Reading) -> Memory: ...
