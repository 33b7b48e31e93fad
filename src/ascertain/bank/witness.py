"""Witnesses: what may have gone wrong, a path that ends in a given state and explains the log best.

The layers that a compiler goes through are not kept. They are made again from a few that are, pieces of the log within
pieces, from the end to the beginning; at each position every path is taken back to an entry of the layer before. With
`fan` layers kept at each of d levels the log may be fan^d long, and each layer is made d times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import final

import numpy as np

from ascertain.bank.encoding import encode, list_words
from ascertain.bank.layers import MEMORY_LIMIT, Merger, Ranked, layer_bytes, make_room, rank_layer
from ascertain.bank.operation import Operation, Replacement
from ascertain.kernels.bank.merge import Layer
from ascertain.kernels.bank.steps import CONTRADICTED
from ascertain.kernels.bank.trace import Trails, trace_back
from ascertain.types import State


@final
@dataclass(frozen=True)
class Witness:
    """A path: what was replaced, and which readings it contradicts, by position in the log from 0."""

    replacements: tuple[Replacement, ...]
    contradicted_trusted: tuple[int, ...]
    contradicted: tuple[int, ...]
    """The ordinary readings that it contradicts."""


def find_witnesses(
    operation: Operation, states: Sequence[State], *, memory_limit: int = MEMORY_LIMIT
) -> tuple[Witness, ...]:
    """For each state, which must be an endpoint, a path of least score and, among those, of fewest replacements."""
    merger = Merger(operation, encode(operation), memory_limit)
    start = merger.start()
    ranked = rank_layer(operation, merger.run(start, 0, operation.length))
    tracer = _Tracer(merger, _begin_trails(ranked, states), memory_limit)
    tracer.trace(start, 0, operation.length)
    return tracer.witnesses()


def _begin_trails(ranked: Ranked, states: Sequence[State]) -> Trails:
    """A trail for each state, at the end of the log."""
    order = np.argsort(ranked.state)
    at = order[np.searchsorted(ranked.state[order], np.array(states, dtype=np.uint64))]
    assert np.array_equal(ranked.state[at], np.array(states, dtype=np.uint64))
    return Trails(
        state=ranked.state[at],
        replaced=ranked.replaced[at].astype(np.int32),
        mis=ranked.mis[at].astype(np.int32),
        flips=ranked.flips[at].astype(np.int32),
        word=np.empty(at.size, dtype=np.int32),
        flag=np.empty(at.size, dtype=np.int32),
        following=np.empty(at.size, dtype=np.int32),
        entry=np.empty(at.size, dtype=np.int32),
    )


@final
class _Tracer:
    """Takes trails back from the end of the log to its beginning and notes what happened on the way."""

    def __init__(self, merger: Merger, trails: Trails, memory_limit: int) -> None:
        self.merger, self.trails = merger, trails
        length, number = merger.operation.length, trails.state.size
        affordable = memory_limit // (4 * layer_bytes(merger, merger.largest))
        self.fan = max(2, min(isqrt(length - 1) + 1, affordable))
        self.room = make_room(max(4, 1 << (2 * number).bit_length()), merger.done)
        self.replaced: list[list[Replacement]] = [[] for _ in range(number)]
        self.wrong: list[list[int]] = [[] for _ in range(number)]
        self.words = list_words(merger.operation)

    def trace(self, layer: Layer, first: int, last: int) -> None:
        """From position `last` back to `first`, the layer before which is given."""
        if last - first == 1:
            self._step(layer, first)
            return
        # `fan` pieces. The layers before them are made in order and kept; the last piece is traced first.
        piece = -(-(last - first) // self.fan)
        cuts = [*range(first, last, piece), last]
        layers = [layer]
        for begin, end in pairwise(cuts[:-1]):
            layers.append(self.merger.run(layers[-1], begin, end))
        for end, begin in pairwise(reversed(cuts)):
            self.trace(layers.pop(), begin, end)

    def witnesses(self) -> tuple[Witness, ...]:
        trusted = self.merger.operation.trusted
        return tuple(
            Witness(
                tuple(reversed(replaced)),
                tuple(t for t in reversed(wrong) if trusted[t]),
                tuple(t for t in reversed(wrong) if not trusted[t]),
            )
            for replaced, wrong in zip(self.replaced, self.wrong, strict=True)
        )

    def _step(self, layer: Layer, t: int) -> None:
        trails, num_commands = self.trails, len(self.merger.operation.model.actions)
        found = trace_back(self.merger.tables, t, layer, trails, self.room)
        assert found == trails.state.size, "a path has no beginning"
        trails.state[:] = layer.state[trails.entry]
        for i in np.flatnonzero(trails.word >= num_commands).tolist():
            self.replaced[i].append((t, self.words[int(trails.word[i])]))
        for i in np.flatnonzero(trails.flag == CONTRADICTED).tolist():
            self.wrong[i].append(t)
