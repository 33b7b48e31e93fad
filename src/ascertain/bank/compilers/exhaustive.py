"""The exhaustive compiler: every path, the reference that the others are held against.

Paths share what they have in common: a path with one replacement is simulated from there on only. All paths with
one replacement so far travel together in one block, and at each position the block is copied once for each
alternative. The copies go on, and are copied in turn while more replacements are allowed. So a model step is done once
for each prefix, which is the paper's count: 302 million for an operation of the testbed.
"""

from __future__ import annotations

import time

from ascertain.bank.blocks import Block, Exploration, ListedBlock, SlicedBlock
from ascertain.bank.candidates import Compiled, CompileStats, list_candidates
from ascertain.bank.compile import Compiler
from ascertain.bank.encoding import count_paths
from ascertain.bank.endpoints import Endpoints
from ascertain.bank.operation import Operation
from ascertain.errors import LimitError
from ascertain.interruption import look_up
from ascertain.types import Progress

MAX_PATHS = 2**40
"""At the 2 * 10^7 paths a second of the testbed's operations these take half a day; nobody waits for more."""


def compile_exhaustive(
    operation: Operation, shells: int | None, memory_limit: int, progress: Progress | None
) -> Compiled:
    """Every endpoint with its score, or those of the first `shells` shells."""
    started = time.perf_counter()
    work = explore(operation, memory_limit, progress)
    stats = CompileStats(
        compiler="exhaustive",
        paths=count_paths(operation),
        model_steps=work.model_steps,
        evaluations=work.evaluations,
        seconds=time.perf_counter() - started,
        peak_bytes=work.peak_bytes,
    )
    return list_candidates(operation, work.tables, work.endpoints.ranked(), shells, stats)


EXHAUSTIVE = Compiler("exhaustive", compile_exhaustive)


def explore(operation: Operation, memory_limit: int, progress: Progress | None) -> Exploration:
    """Evaluate every path; the endpoints and the counts are in what is returned."""
    paths = count_paths(operation)
    if paths > MAX_PATHS:
        raise LimitError(f"{paths:,} paths or more are too many for the exhaustive compiler; use the merging one")
    work = Exploration(operation, Endpoints(memory_limit))
    sent: list[int] = operation.sent.tolist()
    single = sum(len(operation.alternatives[c]) for c in sent) if operation.max_replaced else 0
    if operation.model.bits:
        _explore_from(work, SlicedBlock.begin(work), SlicedBlock(work, single), progress)
    else:
        _explore_from(work, ListedBlock.begin(work), ListedBlock(work, single), progress)
    return work


def _explore_from(work: Exploration, root: Block, single: Block, progress: Progress | None) -> None:
    """Every path: `root` is the one without replacements, `single` takes those with one as they come up."""
    most = work.operation.max_replaced
    for t in range(work.length):
        if single.paths:
            _branch(single, 1, t, most)
            single.advance(t, t + 1)
        if most:
            single.adopt(root, t)
        root.advance(t, t + 1)
        if progress is not None:
            progress(t + 1, work.length)
    root.record(0)
    single.record(1)


def _branch(block: SlicedBlock | ListedBlock, replaced: int, t: int, most: int) -> None:
    """Follow the paths of a block that are replaced once more, at position t."""
    if replaced < most:
        # What is replaced for the last time branches no more, and goes to the end of the log in one stride.
        last = t + 1 if replaced + 1 < most else block.work.length
        for w in block.work.words(t):
            look_up()  # with several replacements it is long until progress is reported
            _follow(block.replaced(t, w, last), replaced + 1, last, most)


def _follow(block: SlicedBlock | ListedBlock, replaced: int, first: int, most: int) -> None:
    """A block from a position to the end of the log, with all that branches off."""
    for t in range(first, block.work.length):
        if block.paths:
            _branch(block, replaced, t, most)
            block.advance(t, t + 1)
    block.record(replaced)
