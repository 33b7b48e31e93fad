"""Slow obvious twins of the quotient: Moore's rounds with dictionaries, and laws of whole transcripts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product


def naive_partition(model, seed=None) -> list[int]:
    """Blocks of the coarsest stable partition, numbered by first appearance: rounds until nothing changes."""
    rows = range(model.num_states)
    block = number([(int(seed[s]) if seed is not None else 0, tuple(model.behaviour[s].tolist())) for s in rows])
    while True:
        new = number(
            [(block[s], tuple(block[t] if t >= 0 else None for t in model.successor[s].tolist())) for s in rows]
        )
        if new == block:
            return block
        block = new


def number(keys) -> list[int]:
    """Equal keys get equal numbers, in the order of first appearance."""
    seen: dict[object, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def transcript_law(model, state: int, word) -> dict[tuple[int, ...], Fraction] | None:
    """The law of the readings of a word done from a state; None when some action of it is not allowed."""
    law = {(): Fraction(1)}
    for a in word:
        if model.successor[state, a] < 0:
            return None
        step = model.reading_law(state, a)
        law = {(*past, y): p * q for past, p in law.items() for y, q in step.items()}
        state = int(model.successor[state, a])
    return law


def words(model, longest: int):
    """All words of actions up to a length, the empty one included."""
    for length in range(longest + 1):
        yield from product(range(model.num_actions), repeat=length)


def end_label(task, state: int, word) -> int | None:
    """The label of the state where an allowed word ends, in a task about the current state."""
    for a in word:
        state = int(task.model.successor[state, a])
    return int(task.state_label[state])


def is_obstructed(task, h: int, g: int, longest: int) -> bool:
    """By trying all words up to a length: none that both allow differs in law (or ends in one current label)."""
    if task.label[h] == task.label[g]:
        return False
    s, t = int(task.state[h]), int(task.state[g])
    for word in words(task.model, longest):
        one, other = transcript_law(task.model, s, word), transcript_law(task.model, t, word)
        if one is None or other is None:
            continue
        if one != other or (task.state_label is not None and end_label(task, s, word) == end_label(task, t, word)):
            return False
    return True
