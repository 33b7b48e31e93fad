"""Ranked endpoints: for each state the least score of the paths that end there, best first, then by state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ascertain.bank.operation import Operation
from ascertain.bank.score import clip_window
from ascertain.kernels.bank.merge import Layer, nearest_counts
from ascertain.kernels.model.boolean import WordArray
from ascertain.types import LongArray


@final
@dataclass(frozen=True, eq=False)
class Ranked:
    """States in the order of their scores, and the counts of a path that attains each: one of fewest replacements."""

    state: WordArray
    score: LongArray
    """`score[i]` is (mis, so + sy, max(so, sy)) of `state[i]`."""
    replaced: LongArray
    mis: LongArray
    flips: LongArray


def score_arrays(operation: Operation, mis: LongArray, replaced: LongArray, flips: LongArray) -> LongArray:
    """One row for each path."""
    so = _distances(replaced, *clip_window(operation.replacement_window, "replacements"))
    sy = _distances(flips, *clip_window(operation.flip_window, "flips"))
    return np.stack((mis, so + sy, np.maximum(so, sy)), axis=1)


def rank(operation: Operation, state: WordArray, mis: LongArray, replaced: LongArray, flips: LongArray) -> Ranked:
    """The ranked endpoints of paths with these states and counts."""
    score = score_arrays(operation, mis, replaced, flips)
    order = np.lexsort((replaced, score[:, 2], score[:, 1], score[:, 0], state))
    first = np.ones(order.size, dtype=np.bool_)
    first[1:] = state[order][1:] != state[order][:-1]
    best = order[first]
    best = best[np.lexsort((state[best], score[best, 2], score[best, 1], score[best, 0]))]
    return Ranked(state[best], score[best], replaced[best], mis[best], flips[best])


def rank_layer(operation: Operation, layer: Layer) -> Ranked:
    """The ranked endpoints of the layer after the last command."""
    size = int(layer.start[-1])
    flips = np.empty(size, dtype=np.int32)
    nearest_counts(layer, *clip_window(operation.flip_window, "flips"), flips)
    replaced = np.repeat(np.arange(operation.max_replaced + 1), np.diff(layer.start))
    return rank(operation, layer.state[:size], layer.mis[:size].astype(np.int64), replaced, flips.astype(np.int64))


def _distances(count: LongArray, low: int, high: int) -> LongArray:
    return np.maximum(np.maximum(low - count, count - high), 0)
