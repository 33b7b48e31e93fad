"""Paths of a machine in lists: the state and both counts of contradicted readings of each, one by one."""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.bank.best import Best, distance, pack, record
from ascertain.kernels.bank.steps import CONTRADICTED, GONE, Tables, step_word
from ascertain.kernels.model.boolean import WordArray
from ascertain.types import IntArray


class Paths(NamedTuple):
    """Room for paths; how many there are stands elsewhere."""

    state: WordArray
    mis: IntArray
    flips: IntArray


@kernel(work=lambda size: 10 * size)
def move_paths(tables: Tables, source: Paths, size: int, t: int, w: int, target: Paths, end: int) -> int:
    """Append to the first `end` paths of `target` those of `source` after word w at position t; the new end.

    Paths on which the word is not defined are left out. With `end` 0 the target may be the source itself.
    """
    for i in range(size):
        state, flag = step_word(tables, t, w, source.state[i])
        if flag == GONE:
            continue
        wrong = flag == CONTRADICTED
        target.mis[end] = source.mis[i] + (1 if wrong and tables.trusted[t] else 0)
        target.flips[end] = source.flips[i] + (1 if wrong and not tables.trusted[t] else 0)
        target.state[end] = state
        end += 1
    return end


@kernel(work=lambda size: 10 * size)
def record_paths(paths: Paths, size: int, so: int, low: int, high: int, best: Best) -> bool:
    """Note where all paths end; False when there was no room for all."""
    room = True
    for i in range(size):
        score = pack(paths.mis[i], so, distance(paths.flips[i], low, high))
        room = room and record(best, paths.state[i], score)
    return room
