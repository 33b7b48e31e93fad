"""Slow and obvious twins of conformance: sets of words, machines as tables, everything by the definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TypeAlias

Word: TypeAlias = tuple[int, ...]
Table: TypeAlias = tuple[tuple[tuple[int, int], ...], ...]
"""`table[s][i]` is (successor, reading); state 0 is the start."""


def run(table: Table, word: Word, state: int = 0) -> tuple[int, tuple[int, ...]]:
    readings: list[int] = []
    for i in word:
        state, reading = table[state][i]
        readings.append(reading)
    return state, tuple(readings)


def prefixes(words: Iterable[Word]) -> set[Word]:
    return {word[:k] for word in words for k in range(len(word) + 1)} | {()}


def extended(words: Iterable[Word], num_actions: int, extra: int) -> set[Word]:
    return {
        word + tail
        for word in words
        for length in range(extra + 1)
        for tail in product(range(num_actions), repeat=length)
    }


def are_apart(table: Table, tree: set[Word], u: Word, v: Word) -> bool:
    """Whether the tree has a word after both along which they read differently."""
    tails = {w[len(u) :] for w in tree if w[: len(u)] == u}
    return any(
        v + tail in tree and run(table, u + tail)[1][len(u) :] != run(table, v + tail)[1][len(v) :] for tail in tails
    )


def is_complete(table: Table, tree: set[Word], access: Iterable[Word], extra: int) -> bool:
    """The hypothesis of the theorem."""
    access = list(access)
    num_actions = len(table[0])
    outer, inner = extended(access, num_actions, extra + 1), extended(access, num_actions, extra)
    return outer <= tree and all(
        are_apart(table, tree, u, v) for u in outer for v in inner if run(table, u)[0] != run(table, v)[0]
    )


def all_machines(num_states: int, num_actions: int, num_readings: int) -> Iterator[Table]:
    """Every table of exactly so many states."""
    cells = list(product(range(num_states), range(num_readings)))
    yield from product(product(cells, repeat=num_actions), repeat=num_states)


def in_domain(table: Table, access: Iterable[Word], extra: int) -> bool:
    """Whether all reachable states are reached by an access word and at most `extra` actions."""
    reached, stack = {0}, [0]
    while stack:
        for successor, _ in table[stack.pop()]:
            if successor not in reached:
                reached.add(successor)
                stack.append(successor)
    return reached <= {run(table, word)[0] for word in extended(access, len(table[0]), extra)}


def are_equivalent(one: Table, other: Table) -> bool:
    seen, stack = {(0, 0)}, [(0, 0)]
    while stack:
        s, t = stack.pop()
        for (x, y), (x2, y2) in zip(one[s], other[t], strict=True):
            if y != y2:
                return False
            if (x, x2) not in seen:
                seen.add((x, x2))
                stack.append((x, x2))
    return True
