"""Slow and obvious twins of conformance: sets of words, machines as tables, everything by the definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any, TypeAlias

from ascertain.task.task import Task

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


# Claims about conformance, judged by the definitions.


def is_true(task: Task, claim: dict[str, Any]) -> bool:
    """Whether a claim of the right shape is true, as far as what was observed can show."""
    if claim["claim"] == "none-of-these":
        return not left_by(task, claim["transcript"])
    observed = read_claim(task, claim)
    if observed is None:
        return False
    table, runs = observed
    number = {a: i for i, a in enumerate(claim["actions"])}
    access = [tuple(number[a] for a in word) for word in claim["access"]]
    if claim["claim"] == "conforms":
        extra = claim["extra"]
        return extra < max(map(len, runs), default=0) and is_complete(table, prefixes(runs), access, extra)
    drawn = [draw(claim["seed"], j, access, len(number), claim["stop"]) for j in range(claim["words"])]
    enough = (1 - Fraction(claim["bound"])) ** claim["words"] <= 1 - Fraction(claim["confidence"])
    return enough and runs[claim["first"] :][: claim["words"]] == drawn


def left_by(task: Task, steps: Sequence[Any]) -> list[int]:
    """The hypotheses that can have shown these steps, numbers of actions and readings, or names of readings."""
    left: list[int] = []
    for h, state in enumerate(task.state.tolist()):
        z: int | None = state
        for a, y in steps:
            z = task.model.next_state(z, a) if z is not None and y in task.model.reading_law(z, a) else None
        if z is not None:
            left.append(h)
    return left


def read_claim(task: Task, claim: dict[str, Any]) -> tuple[Table, list[Word]] | None:
    """The minimal machine from reset on, and the runs from there; None where the model contradicts the claim."""
    model, home, actions = task.model, claim["reset"], claim["actions"]
    z = int(task.state[claim["hypothesis"]])
    start = model.next_state(z, home)
    reached = [start]
    for s in reached:
        if s < 0 or model.next_state(s, home) != start:
            return None
        reached += [t for t in dict.fromkeys(model.next_state(s, a) for a in actions) if t not in reached]
    runs: list[Word] = [()] if z == start else []
    for a, y in claim["transcript"]:
        if z < 0 or (a != home and a not in actions) or [y] != list(model.reading_law(z, a)):
            return None
        z = model.next_state(z, a)
        if a == home:
            runs.append(())
        elif runs:
            runs[-1] = (*runs[-1], actions.index(a))
    rows = {s: [(model.next_state(s, a), *model.reading_law(s, a)) for a in actions] for s in reached}
    block = dict.fromkeys(reached, 0)
    for _ in reached:  # Moore's refinement, once for every state
        seen = {s: (block[s], tuple((block[t], y) for t, y in rows[s])) for s in reached}
        names = {name: i for i, name in enumerate(dict.fromkeys(seen.values()))}
        block = {s: names[seen[s]] for s in reached}
    first = {c: s for s, c in reversed(block.items())}
    return tuple(tuple((block[t], y) for t, y in rows[first[c]]) for c in range(len(first))), runs


def draw(seed: str, word: int, access: Sequence[Word], num_actions: int, stop: int) -> Word:
    """A word of the declared distribution."""
    count = 0

    def below(bound: int) -> int:
        nonlocal count
        while True:
            drawn = int(sha256(f"{seed}:{word}:{count}".encode()).hexdigest(), 16)
            count += 1
            if drawn < 2**256 - 2**256 % bound:
                return drawn % bound

    found = [*access[below(len(access))], below(num_actions)]
    while below(stop):
        found.append(below(num_actions))
    return tuple(found)
