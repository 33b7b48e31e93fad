"""Rows for a mean by brute force, proofs of a mean replayed row by row, and what sets in place of weights would say."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np

from ascertain.search.solution import MeanProof, MeanRow
from ascertain.task.task import Task
from tests.reference.optimum import is_pure
from tests.reference.search import Weighted, expected_optima, explore, move, support


def weighted_start(task: Task, weights: Sequence[Fraction]) -> Weighted:
    start: dict[tuple[int, int], Fraction] = {}
    for s, k, w in zip(task.state, task.label, weights, strict=True):
        start[int(k), int(s)] = start.get((int(k), int(s)), Fraction(0)) + w
    return frozenset(start.items())


def best_mean_rows(task: Task, weights: Sequence[Fraction], rng: Random | None = None) -> MeanProof:
    """A proof of the least mean cost, which is finite: whole weighted configurations, each with its value.

    With `rng`, some rows weigh only a fraction of what they stand for, and are taken several times.
    """
    root = weighted_start(task, weights)
    values = expected_optima(task, root)
    best, total = values[root], sum(weights, Fraction(0))
    assert best is not None
    block = np.arange(task.model.num_states, dtype=np.int32)
    if is_pure(support(root)):
        return MeanProof((), (), block, Fraction(0), tuple(weights))
    order = [here for here in values if not is_pure(support(here))]
    number = {here: i for i, here in enumerate(order)}
    times = {here: Fraction(1 if rng is None else rng.choice((1, 1, 2, 3))) for here in order}
    rows: list[MeanRow] = []
    for here in order:
        moves = {}
        clash = len({s for _, s in support(here)}) < len(here)
        for a in range(0 if clash else task.model.num_actions):
            if move(task, here, a) is not None:
                by_reading = after_each(task, here, a)
                parts = [(y, number[c], times[c]) for y, c in by_reading.items() if c in number]
                moves[a] = tuple(parts)
        value = values[here]
        rows.append(
            MeanRow(
                members=tuple(sorted((k, s, w / times[here]) for (k, s), w in here)),  # type: ignore[arg-type]
                bound=None if value is None else value / times[here],
                # Of a row that weighs less, less is left.
                moves={a: tuple((y, n, t / times[here]) for y, n, t in parts) for a, parts in moves.items()},  # type: ignore[misc]
            )
        )
    return MeanProof(tuple(rows), ((number[root], times[root]),), block, best / total, tuple(weights))


def after_each(task: Task, here: Weighted, action: int) -> dict[int, Weighted]:
    """What is left after each reading, by reading; the action is allowed."""
    result: dict[int, Weighted] = {}
    for y in range(len(task.model.readings)):
        held = frozenset(((k, s), w) for (k, s), w in here if task.model.reading_law(s, action).get(y))
        if held:
            (result[y],) = move(task, held, action) or []
    return result


def replay_mean(task: Task, proof: MeanProof) -> Fraction:
    """The bound on the mean that a proof establishes on the reduced task, whose states are classes."""
    rows = proof.rows
    for row in rows:
        here: Weighted = frozenset(((k, s), Fraction(w)) for k, s, w in row.members)
        assert not is_pure(support(here))
        assert task.state_label is None or all(task.state_label[s] == k for k, s in support(here))
        if len({s for _, s in support(here)}) < len(here):
            continue
        for a, cost in enumerate(task.cost):
            if move(task, here, a) is None:
                continue
            named = row.moves.get(a, ())
            left = after_each(task, here, a)
            for y in {y for y, _, _ in named}:
                assert holds(rows, left[y], [(n, Fraction(t)) for z, n, t in named if z == y])
            if any(rows[n].bound is None for _, n, _ in named):
                continue
            value = cost * sum(w for _, w in here) + sum(t * (rows[n].bound or 0) for _, n, t in named)
            assert row.bound is not None
            assert row.bound <= value
    start = weighted_start(task, proof.weights)
    assert holds(rows, start, list(proof.parts))
    bounds = [t * bound for n, t in proof.parts if (bound := rows[n].bound) is not None]
    assert len(bounds) == len(proof.parts)
    return sum(bounds, Fraction(0)) / sum(proof.weights)


def holds(rows: Sequence[MeanRow], whole: Weighted, parts: Sequence[tuple[int, Fraction]]) -> bool:
    """Whether a weighted configuration has room for all the parts, and tells apart what each part tells apart."""
    labels = {s: {k for k, t in support(whole) if t == s} for _, s in support(whole)}
    room = {s: sum(w for (_, t), w in whole if t == s) for s in labels}
    for n, times in parts:
        members = rows[n].members
        for k, s, w in members:
            if s not in room:
                return False
            room[s] -= times * w
            for other, t, _ in members:
                if k != other and s != t and labels[s] == labels[t]:
                    return False
                if k != other and s == t and len(labels[s]) < 2:
                    return False
    return all(left >= 0 for left in room.values())


def value_as_sets(task: Task, weights: Sequence[Fraction]) -> Fraction | None:
    """What the recursion says when configurations are sets; None when infinite.

    Weights then do not move with members: each (label, state) has one weight, the largest that it ever has.
    """
    root = weighted_start(task, weights)
    heaviest: dict[tuple[int, int], Fraction] = {}
    graph = explore(task, root)
    for here in graph:
        for member, w in here:
            heaviest[member] = max(heaviest.get(member, Fraction(0)), w)
    as_sets = {here: frozenset((member, heaviest[member]) for member in support(here)) for here in graph}
    merged = {
        as_sets[here]: {a: [as_sets[c] for c in after] for a, after in actions.items()}
        for here, actions in graph.items()
    }
    value: dict[Weighted, Fraction | None] = {c: Fraction(0) if is_pure(support(c)) else None for c in merged}
    for _ in merged:
        for here, actions in merged.items():
            for a, after in actions.items():
                rest = [value[c] for c in after]
                if None not in rest and not is_pure(support(here)):
                    new = task.cost[a] * sum(w for _, w in here) + sum(r for r in rest if r is not None)
                    old = value[here]
                    value[here] = new if old is None else min(old, new)
    best = value[as_sets[root]]
    return None if best is None else best / sum(weights, Fraction(0))
