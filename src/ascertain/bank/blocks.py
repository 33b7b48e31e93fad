"""Blocks of paths that are simulated together: bit-sliced on a Boolean plant, in a list on a machine.

All paths of a block have the same number of replacements and are at the same position of the log.
"""

from __future__ import annotations

from typing import Self, TypeVar, final

import numpy as np

from ascertain.bank.encoding import count_readings, encode
from ascertain.bank.endpoints import Endpoints
from ascertain.bank.operation import Operation, Window
from ascertain.bank.score import clip_window
from ascertain.errors import LimitError
from ascertain.kernels.bank.best import distance
from ascertain.kernels.bank.blocks import (
    Paths,
    Shape,
    append_children,
    move_paths,
    record_block,
    record_paths,
    replace_block,
    run_block,
)
from ascertain.kernels.bank.steps import Tables
from ascertain.types import WordArray


@final
class Exploration:
    """What the blocks of one compilation share: the operation, the endpoints met, and counts of the work done."""

    def __init__(self, operation: Operation, endpoints: Endpoints) -> None:
        self.operation = operation
        self.endpoints = endpoints
        self.tables: Tables = encode(operation)
        self.length = operation.length
        self.flips: Window = clip_window(operation.flip_window, "flips")
        self.replacements: Window = clip_window(operation.replacement_window, "replacements")
        self.num_trusted = int(count_readings(operation, trusted=True)[0])
        self.num_ordinary = int(count_readings(operation, trusted=False)[0])
        self.model_steps = 0
        self.evaluations = 0
        self.block_bytes = 0
        """The size of the largest block."""

    @property
    def peak_bytes(self) -> int:
        """The blocks that were alive together, one for each number of replacements, and the endpoints."""
        return self.block_bytes * (self.operation.max_replaced + 1) + self.endpoints.nbytes

    def claim(self, nbytes: int) -> None:
        """Make sure that a block of that many bytes may be made."""
        if nbytes > self.endpoints.memory_limit:
            raise LimitError(
                f"{nbytes:,} bytes of paths are more than the {self.endpoints.memory_limit:,} allowed; "
                "the merging compiler takes far fewer"
            )
        self.block_bytes = max(self.block_bytes, nbytes)

    def words(self, t: int) -> range:
        """The alternatives at position t."""
        c = int(self.tables.sent[t])
        return range(int(self.tables.alternative[c]), int(self.tables.alternative[c + 1]))

    def steps(self, w: int) -> int:
        """The commands of word w."""
        return int(self.tables.word[w + 1] - self.tables.word[w])

    def miss(self, replaced: int) -> int:
        """`so` of that many replacements."""
        return distance(replaced, *self.replacements)


@final
class SlicedBlock:
    """Paths of a Boolean plant, 64 to a word."""

    def __init__(self, work: Exploration, room: int, paths: int = 0) -> None:
        self.work, self.paths = work, paths
        self.shape = Shape(len(work.operation.model.bits), work.num_trusted.bit_length())
        rows = sum(self.shape) + work.num_ordinary.bit_length()
        work.claim(8 * rows * -(-room // 64))
        self.block: WordArray = np.zeros((rows, -(-room // 64)), dtype=np.uint64)

    @classmethod
    def begin(cls, work: Exploration) -> Self:
        """The path that has done nothing yet."""
        root = cls(work, 1, 1)
        for bit in range(root.shape.num_bits):
            root.block[bit] = work.operation.start >> bit & 1
        return root

    def replaced(self, t: int, w: int, last: int) -> Self:
        """These paths after word w at position t and then what was sent, up to position `last`."""
        child = type(self)(self.work, self.paths, self.paths)
        replace_block(self.work.tables, self.shape, self.block, self._width, t, w, last, child.block)
        self.work.model_steps += self.paths * (self.work.steps(w) + last - t - 1)
        return child

    def advance(self, first: int, last: int) -> None:
        """Do what was sent from position `first` to `last`."""
        run_block(self.work.tables, self.shape, self.block, self._width, first, last)
        self.work.model_steps += self.paths * (last - first)

    def adopt(self, root: SlicedBlock, t: int) -> None:
        """Take in the only path of `root` after each alternative at position t; there is room for it."""
        one = np.empty((len(self.block), 1), dtype=np.uint64)
        self.paths = append_children(self.work.tables, self.shape, root.block, t, self.block, self.paths, one)
        self.work.model_steps += sum(map(self.work.steps, self.work.words(t)))

    def record(self, replaced: int) -> None:
        """Note the endpoints of the paths, each with that many replacements."""
        work, pair = self.work, np.empty((2, 64), dtype=np.uint64)
        so = work.miss(replaced)
        while not record_block(self.block, self.paths, self.shape, so, *work.flips, pair, work.endpoints.best):
            work.endpoints.grow()
        work.evaluations += self.paths

    @property
    def _width(self) -> int:
        return -(-self.paths // 64)


@final
class ListedBlock:
    """Paths of a machine, one by one; it does what a sliced block does."""

    def __init__(self, work: Exploration, room: int, paths: int = 0) -> None:
        self.work, self.paths = work, paths
        work.claim(16 * room)
        self.list = Paths(
            state=np.full(room, work.operation.start, dtype=np.uint64),
            mis=np.zeros(room, dtype=np.int32),
            flips=np.zeros(room, dtype=np.int32),
        )

    @classmethod
    def begin(cls, work: Exploration) -> Self:
        """The path that has done nothing yet."""
        return cls(work, 1, 1)

    def replaced(self, t: int, w: int, last: int) -> Self:
        child = type(self)(self.work, self.paths)
        child.paths = self._move(self, t, w, child, 0)
        child.advance(t + 1, last)
        return child

    def advance(self, first: int, last: int) -> None:
        for t in range(first, last):
            self.paths = self._move(self, t, int(self.work.tables.sent[t]), self, 0)

    def adopt(self, root: ListedBlock, t: int) -> None:
        for w in self.work.words(t):
            self.paths = self._move(root, t, w, self, self.paths)

    def record(self, replaced: int) -> None:
        work = self.work
        so = work.miss(replaced)
        while not record_paths(self.list, self.paths, so, *work.flips, work.endpoints.best):
            work.endpoints.grow()
        work.evaluations += self.paths

    def _move(self, source: ListedBlock, t: int, w: int, target: ListedBlock, end: int) -> int:
        self.work.model_steps += source.paths * self.work.steps(w)
        return move_paths(self.work.tables, source.list, source.paths, t, w, target.list, end)


Block = TypeVar("Block", SlicedBlock, ListedBlock)
"""Either kind of block, the same throughout."""
