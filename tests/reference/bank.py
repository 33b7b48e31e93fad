"""Candidates the slow and obvious way: every choice of positions and words, each path walked from the start."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from ascertain.bank.operation import Operation, Replacement
from ascertain.model.boolean import BooleanPlant


def list_paths(operation: Operation) -> Iterator[tuple[Replacement, ...]]:
    """Every set of replacements that is declared possible."""
    for count in range(operation.max_replaced + 1):
        for positions in combinations(range(operation.length), count):
            for words in product(*(operation.alternatives[operation.sent[t]] for t in positions)):
                yield tuple(zip(positions, words, strict=True))


def walk(operation: Operation, replacements: tuple[Replacement, ...]) -> tuple[int, list[int], list[int]] | None:
    """Where a path ends, and which trusted and ordinary readings it contradicts; None when it has not happened."""
    model, state, instead = operation.model, operation.start, dict(replacements)
    wrong: tuple[list[int], list[int]] = ([], [])
    for t, (sent, reading) in enumerate(zip(operation.sent.tolist(), operation.readings.tolist(), strict=True)):
        shown = None
        for command in instead.get(t, (sent,)):
            if isinstance(model, BooleanPlant):
                state, _ = model.step(state, command)
                continue
            law = model.reading_law(state, command)
            if not law:
                return None
            shown = {y for y, p in law.items() if p == max(law.values())}
            state = int(model.successor[state, command])
        if isinstance(model, BooleanPlant):
            shown = {state >> model.commands[sent].tap & 1}
        if reading >= 0 and shown is not None and reading not in shown:
            wrong[0 if operation.trusted[t] else 1].append(t)
    return state, *wrong


def score(operation: Operation, replaced: int, mis: int, flips: int) -> tuple[int, int, int]:
    def outside(count: int, window: tuple[int, int]) -> int:
        return min(abs(count - x) for x in range(window[0], window[1] + 1))

    so, sy = outside(replaced, operation.replacement_window), outside(flips, operation.flip_window)
    return mis, so + sy, max(so, sy)


def compile_naively(operation: Operation) -> dict[int, tuple[tuple[int, int, int], int]]:
    """For each endpoint its score, and the fewest replacements with which it is attained."""
    best: dict[int, tuple[tuple[int, int, int], int]] = {}
    for replacements in list_paths(operation):
        walked = walk(operation, replacements)
        if walked is not None:
            state, mis, flips = walked
            found = score(operation, len(replacements), len(mis), len(flips)), len(replacements)
            best[state] = min(best.get(state, found), found)
    return best


def is_as_good(low: int, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether of two paths in the same place, each (mis, flips), the one does for the other whatever follows."""
    (mis, flips), (other_mis, other_flips) = one, other
    if mis != other_mis:
        return mis < other_mis
    return flips == other_flips or low <= flips <= other_flips
