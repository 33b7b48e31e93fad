"""The direct compiler: the first J shells, without evaluating all paths where that can be proved to be unnecessary.

Partial paths, the *nodes*, are evaluated best bound first (`kernels/bank/direct.py`). A bound is *admissible*: no
completion scores less; and it never falls along a path. Of nodes with equal future only the best go on
(`kernels/bank/seen.py`): a path that comes to a position in a state and with a number of replacements where one that is
as good or better has been, is followed no further. Let b be the J-th least among the distinct scores that the endpoints
met so far have, each the least of its paths.

*If every open node has a bound greater than b, then the first J shells are known*: an *early proof*. For let p be any
path that scores b or less. Among the paths that end where p does and score no more, let q be one that has come farthest
before it was stopped, and of these one that was best there. If q came to the end, it was recorded. If not, what stopped
it was neither its bound, which is at most b and so is not above the bar, nor that it is still open, as no open node has
such a bound. So it was a path that has been in the same state at the same position with as many replacements, and is
as good or better: it came there before q, which then came no farther than the position before, or after q was left
open there, and is then better. With q's continuation it ends where p does and scores no more than q, and it has come
farther than q or was better there, which q was to be.

First a *probe* looks for a threshold: it goes on until the endpoints met have PROBE_SHELLS distinct scores, or until
PROBE_EVALUATIONS evaluations are spent. Then the last of these scores is the *bar*: nodes beyond it are no longer
opened, and the rest is evaluated until the proof is there. As scores fall shells can merge, and b may rise, for which
the bar leaves room. If it rises above the bar, if the probe has found too few shells or if memory runs out, every path
is evaluated by the exhaustive compiler.

That paths merge is ours. *Without merging* it is the paper's own compiler (`direct_unmerged.py`), and the proof is
shorter: a path that scores b or less is stopped by nothing.
"""

from __future__ import annotations

import time
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.bank.candidates import Compiled, CompileStats, list_candidates
from ascertain.bank.compile import Compiler
from ascertain.bank.compilers.exhaustive import explore
from ascertain.bank.encoding import count_paths, count_readings, encode
from ascertain.bank.endpoints import Endpoints
from ascertain.bank.layers import MEMORY_LIMIT
from ascertain.bank.operation import Operation
from ascertain.bank.score import clip_window
from ascertain.kernels.bank.best import NO_SCORE
from ascertain.kernels.bank.direct import (
    BELOW,
    EMPTY,
    EVALUATIONS,
    FREE,
    FULL,
    PROVED,
    STEPS,
    Chances,
    Direct,
    Open,
    lay,
    search_nodes,
)
from ascertain.kernels.bank.seen import Seen, fill_seen
from ascertain.types import LongArray, Progress

DEFAULT_SHELLS = 8
"""The paper's J, to which its calibration came."""
PROBE_SHELLS = 16
"""The paper's: twice J, so that the bar leaves room for shells that merge as scores fall."""
PROBE_EVALUATIONS = 95_000
"""The paper's: a probe that has not met PROBE_SHELLS scores by then is given up."""
SLICE_EVALUATIONS = 512
"""Evaluations between two looks at the shells: looking sorts all scores met, which is quick beside so many."""
ROOM = 1024
"""Places for nodes, and for what has been seen, to begin with; a power of two, as the hash table must be."""
NODE_BYTES = 60
"""A row of five integers and a state, 48 bytes, and 12 for the pile that the node may be the only one on."""
SEEN_BYTES = 32
"""A state, its place, two counts and two slots of an entry, besides the bits of its flips."""

Outcome: TypeAlias = Literal["proved", "all", "failed"]
"""The first shells are proved; every path was evaluated; neither, and the search has been given up."""


def compile_direct(
    operation: Operation,
    shells: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
    progress: Progress | None = None,
    *,
    merges: bool = True,
    probe_shells: int = PROBE_SHELLS,
    probe_evaluations: int = PROBE_EVALUATIONS,
) -> Compiled:
    """The endpoints of the first `shells` shells, DEFAULT_SHELLS if it is not said how many."""
    started = time.perf_counter()
    wanted, paths = DEFAULT_SHELLS if shells is None else shells, count_paths(operation)
    search = _NodeSearch(operation, wanted, memory_limit, merges=merges)
    outcome = search.run(max(probe_shells, wanted), probe_evaluations, progress, paths)
    endpoints, steps, evaluations = search.endpoints, search.model_steps, search.evaluations
    peak = search.peak_bytes
    if outcome == "failed":
        work = explore(operation, memory_limit, progress)
        endpoints, steps, evaluations = work.endpoints, steps + work.model_steps, evaluations + work.evaluations
        peak += work.peak_bytes
    stats = CompileStats(
        compiler="direct" if merges else "direct-unmerged",
        paths=paths,
        model_steps=steps,
        evaluations=evaluations,
        seconds=time.perf_counter() - started,
        peak_bytes=peak,
        early_proof=outcome != "failed",
        probe_evaluations=search.probed,
        evaluations_saved=max(0, paths - evaluations),
    )
    return list_candidates(operation, search.tables, endpoints.ranked(), wanted, stats, seen_all=outcome != "proved")


DIRECT = Compiler("direct", compile_direct, DEFAULT_SHELLS)


@final
class _NodeSearch:
    """Nodes still open, what has been seen, endpoints met, and how far it has come."""

    def __init__(self, operation: Operation, shells: int, memory_limit: int, *, merges: bool) -> None:
        self.shells, self.memory_limit, self.merges = shells, memory_limit, merges
        self.tables = encode(operation)
        self.endpoints = Endpoints(memory_limit)
        self.chances, self.children = count_chances(operation)
        self.nodes = _make_nodes(ROOM, None)
        self.seen = make_seen(ROOM if merges else 0, self.chances.low, None)
        self.probed = 0
        self.peak_bytes = self._nbytes
        lay(self.chances, self.nodes, self.seen, NO_SCORE, 0, 0, 0, 0, np.uint64(operation.start))

    @property
    def _nbytes(self) -> int:
        return NODE_BYTES * self.nodes.state.size + self._seen_bytes * self.seen.state.size + self.endpoints.nbytes

    @property
    def _seen_bytes(self) -> int:
        return SEEN_BYTES + 8 * self.seen.below.shape[1]

    @property
    def evaluations(self) -> int:
        return int(self.nodes.used[EVALUATIONS])

    @property
    def model_steps(self) -> int:
        return int(self.nodes.used[STEPS])

    def run(self, probe_shells: int, probe_evaluations: int, progress: Progress | None, paths: int) -> Outcome:
        """Probe, then search below the bar."""
        bar = NO_SCORE
        while True:
            # The threshold is b of the module's text, for the endpoints met so far. It falls as better paths come, and
            # rises where two shells become one.
            scores = self.endpoints.distinct()
            threshold = self._threshold(scores)
            if bar == NO_SCORE:
                self.probed = self.evaluations
                if scores.size >= probe_shells:
                    bar = int(scores[probe_shells - 1])
                elif self.evaluations >= probe_evaluations:
                    return "failed"
            elif threshold > bar:
                return "failed"
            left = SLICE_EVALUATIONS
            if bar == NO_SCORE:
                left = min(left, probe_evaluations - self.evaluations)
            search = Direct(self.tables, self.chances, self.nodes, self.seen, self.endpoints.best)
            why = search_nodes(search, self.children, bar, threshold, left)
            # A proof is about the threshold that the search was given: it stands if that is still the threshold.
            if why in (EMPTY, PROVED) and self._threshold(self.endpoints.distinct()) == threshold:
                return self._conclude(why, bar, threshold)
            if why == FULL and not self._grow():
                return "failed"
            if progress is not None:
                progress(min(self.evaluations, paths), paths)

    def _conclude(self, why: int, bar: int, threshold: int) -> Outcome:
        """No open node is within the threshold. Without a bar none was passed over: if none is left, that was all."""
        if why == EMPTY and bar == NO_SCORE:
            return "all"
        return "proved" if threshold <= bar and threshold != NO_SCORE else "failed"

    def _threshold(self, scores: LongArray) -> int:
        """The score of the last shell wanted, NO_SCORE while there are fewer."""
        return int(scores[self.shells - 1]) if scores.size >= self.shells else NO_SCORE

    def _grow(self) -> bool:
        """Make room for more endpoints, nodes or what is seen; False where memory does not allow it."""
        best, seen, nodes = self.endpoints.best, self.seen, self.nodes
        if int(best.used[0]) == best.state.size:
            self.endpoints.grow()
        # A node may lay as many children as it has, and is itself seen at every position on its way to the end.
        elif self.merges and seen.state.size - int(seen.used[0]) < self.children + self.tables.sent.size:
            size = 1 << (seen.state.size + self.children + self.tables.sent.size).bit_length()
            if not self._claim(self._seen_bytes * size):
                return False
            self.seen = make_seen(size, self.chances.low, seen)
        else:
            size = 2 * max(nodes.state.size, self.children)
            if not self._claim(NODE_BYTES * size):
                return False
            self.nodes = _make_nodes(size, nodes)
        return True

    def _claim(self, nbytes: int) -> bool:
        """Whether so many bytes may be taken besides what is there."""
        needed = self._nbytes + nbytes
        if needed > self.memory_limit:
            return False
        self.peak_bytes = max(self.peak_bytes, needed)
        return True


def count_chances(operation: Operation) -> tuple[Chances, int]:
    """The windows with what may still change, and how many children a node has at most."""
    size = np.array([len(words) for words in operation.alternatives])[operation.sent]
    replaceable = np.zeros(operation.length + 1, dtype=np.int64)
    replaceable[:-1] = np.cumsum((size > 0)[::-1])[::-1]
    ordinary = count_readings(operation, trusted=False)
    fewest_replaced, most_replaced = clip_window(operation.replacement_window, "replacements")
    fewest_flips, most_flips = clip_window(operation.flip_window, "flips")
    chances = Chances(
        fewest_replaced=fewest_replaced,
        most_replaced=most_replaced,
        allowed=operation.max_replaced,
        fewest_flips=fewest_flips,
        most_flips=most_flips,
        low=min(fewest_flips, int(ordinary[0])),
        replaceable=replaceable,
        ordinary=ordinary,
    )
    return chances, int(size.sum()) + 1


def _make_nodes(size: int, old: Open | None) -> Open:
    """Room for nodes, with what was in less room; what is new is free, one after the other."""
    nodes = Open(
        node=np.empty((size, 5), dtype=np.int64),
        state=np.empty(size, dtype=np.uint64),
        bound=np.empty(size, dtype=np.int64),
        top=np.empty(size, dtype=np.int32),
        used=np.zeros(6, dtype=np.int64),
    )
    begin = 0
    if old is not None:
        begin = old.state.size
        for before, after in zip(old, nodes, strict=True):
            after[: len(before)] = before
    # Free nodes are a list: each names the next, and the last of the new ones the first that was free before.
    nodes.node[begin:, BELOW] = np.arange(begin + 1, size + 1)
    if old is not None:
        nodes.node[-1, BELOW] = old.used[FREE]
    nodes.used[FREE] = begin
    return nodes


def make_seen(size: int, low: int, old: Seen | None) -> Seen:
    """Room for what has been seen, with what was in less room."""
    seen = Seen(
        slot=np.full(2 * size, -1, dtype=np.int32),
        state=np.empty(size, dtype=np.uint64),
        place=np.empty(size, dtype=np.int64),
        mis=np.empty(size, dtype=np.int32),
        above=np.empty(size, dtype=np.int32),
        below=np.empty((size, -(-low // 64)), dtype=np.uint64),
        used=np.zeros(1, dtype=np.int64),
    )
    if old is not None:
        for before, after in zip(old[1:], seen[1:], strict=True):
            after[: len(before)] = before
        fill_seen(seen)
    return seen
