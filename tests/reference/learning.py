"""Slow and obvious twins of learning: votes counted by going through all runs, and machines compared word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TypeAlias

from ascertain.model import Machine

Run: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""What was done from a reset on, the reset included, and what was read."""


def count_votes(runs: Iterable[Run], word: Sequence[str], settled: Sequence[str]) -> Counter[str]:
    """What the last action of a word read in the runs that read, before it, what is settled."""
    return Counter(
        readings[len(word) - 1]
        for actions, readings in runs
        if tuple(actions[: len(word)]) == tuple(word) and tuple(readings[: len(settled)]) == tuple(settled)
    )


def settle_word(runs: Iterable[Run], word: Sequence[str], lead: int) -> tuple[str, ...]:
    """What is settled of a word, letter by letter, up to the first letter that is not."""
    runs, settled = list(runs), list[str]()
    for k in range(len(word)):
        (best, most), (_, next_most) = [*count_votes(runs, word[: k + 1], settled).most_common(2), ("", 0), ("", 0)][:2]
        if most - next_most < lead:
            break
        settled.append(best)
    return tuple(settled)


def read_along(machine: Machine, word: Sequence[str]) -> tuple[str, ...]:
    """What a machine reads along a word from its initial state on."""
    state, readings = machine.initial[0], list[str]()
    for action in word:
        a = machine.actions.index(action)
        readings.append(machine.readings[int(machine.output[state, a])])
        state = int(machine.successor[state, a])
    return tuple(readings)


def are_equivalent(one: Machine, other: Machine, actions: Sequence[str]) -> bool:
    """Whether two machines read alike along all words that could tell them apart: those shorter than both together."""
    longest = one.num_states + other.num_states - 1
    words = (word for length in range(1, longest + 1) for word in product(actions, repeat=length))
    return all(read_along(one, word) == read_along(other, word) for word in words)
