"""The direct compiler: the first J shells, without evaluating all paths where that can be proved to be unnecessary.

Partial paths are evaluated best bound first (`kernels/bank_direct.py`). A bound is *admissible*: no completion scores
less; and it never falls along a path. Let b be the J-th least among the distinct scores that the endpoints met so far
have, each the least of its paths. If every open node has a bound greater than b, then no path that is still to be
evaluated ends with a score of b or less, so that no endpoint in the first J shells is missing and no score there can
fall: an *early proof*.

First a *probe* looks for a threshold: it goes on until the endpoints met have PROBE_SHELLS distinct scores, or until
PROBE_EVALUATIONS evaluations are spent. Then b as it stands is the *bar*: nodes beyond it are no longer opened, and the
rest is evaluated until the proof is there. As scores fall shells can merge, and b may rise above the bar; then, or
when the probe has found too few shells or memory runs out, every path is evaluated by the exhaustive compiler.
"""

from __future__ import annotations

import time
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.bank.candidates import Compiled, Stats, list_candidates
from ascertain.bank.encoding import count_paths, count_readings, encode, find_nominal
from ascertain.bank.endpoints import Endpoints
from ascertain.bank.exhaustive import explore, peak_bytes
from ascertain.bank.layers import MEMORY_LIMIT, Progress
from ascertain.bank.operation import Operation
from ascertain.bank.score import clip_window
from ascertain.kernels.bank_best import NO_SCORE
from ascertain.kernels.bank_direct import (
    BELOW,
    EMPTY,
    EVALUATIONS,
    FREE,
    FULL,
    PROVED,
    STEPS,
    Chances,
    Open,
    lay,
    search_nodes,
)

DEFAULT_SHELLS = 8
PROBE_SHELLS = 16
PROBE_EVALUATIONS = 95_000
SLICE = 512
"""Evaluations between two looks at the shells."""
NODE_BYTES = 40
"""A node, and the pile that it may be the only one on."""

Outcome: TypeAlias = Literal["proved", "all", "failed"]
"""The first shells are proved; every path was evaluated; neither, and the search has been given up."""


def compile_direct(
    operation: Operation,
    *,
    shells: int | None = None,
    probe_shells: int = PROBE_SHELLS,
    probe_evaluations: int = PROBE_EVALUATIONS,
    memory_limit: int = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> Compiled:
    """The endpoints of the first `shells` shells, DEFAULT_SHELLS if it is not said how many."""
    started = time.perf_counter()
    wanted, paths = DEFAULT_SHELLS if shells is None else shells, count_paths(operation)
    search = _Search(operation, wanted, memory_limit)
    outcome = search.run(max(probe_shells, wanted), probe_evaluations, progress, paths)
    endpoints, steps, evaluations = search.endpoints, search.model_steps, search.evaluations
    peak = search.peak_bytes
    if outcome == "failed":
        work = explore(operation, memory_limit, progress)
        endpoints, steps, evaluations = work.endpoints, steps + work.model_steps, evaluations + work.evaluations
        peak += peak_bytes(work)
    stats = Stats(
        compiler="direct",
        paths=paths,
        model_steps=steps,
        evaluations=evaluations,
        seconds=time.perf_counter() - started,
        peak_bytes=peak,
        early_proof=outcome != "failed",
        probe_evaluations=search.probed,
        evaluations_saved=max(0, paths - evaluations),
    )
    state, score = endpoints.ranked()
    return list_candidates(
        operation, state, score, find_nominal(operation, search.tables), wanted, stats, seen_all=outcome != "proved"
    )


@final
class _Search:
    """Nodes still open, endpoints met, and how far it has come."""

    def __init__(self, operation: Operation, shells: int, memory_limit: int) -> None:
        self.shells, self.memory_limit = shells, memory_limit
        self.tables = encode(operation)
        self.endpoints = Endpoints(memory_limit)
        self.chances, self.children = _count_chances(operation)
        self.nodes = _make_nodes(1024, None)
        self.probed = 0
        self.peak_bytes = NODE_BYTES * self.nodes.state.size + self.endpoints.nbytes
        lay(self.chances, self.nodes, NO_SCORE, 0, 0, 0, 0, np.uint64(operation.start))

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
            threshold, found = self._look()
            if bar == NO_SCORE:
                self.probed = self.evaluations
                if found >= probe_shells:
                    bar = threshold
                elif self.evaluations >= probe_evaluations:
                    return "failed"
            elif threshold > bar:
                return "failed"
            left = SLICE if bar != NO_SCORE else min(SLICE, probe_evaluations - self.evaluations)
            why = search_nodes(
                self.tables, self.chances, self.nodes, self.endpoints.best, self.children, left, bar, threshold
            )
            if why in (EMPTY, PROVED) and self._look()[0] == threshold:
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

    def _look(self) -> tuple[int, int]:
        """The score of the last shell wanted, NO_SCORE while there are fewer, and how many shells there are."""
        scores = self.endpoints.distinct()
        return int(scores[self.shells - 1]) if scores.size >= self.shells else NO_SCORE, scores.size

    def _grow(self) -> bool:
        """Make room for more nodes or endpoints; False where memory does not allow it."""
        best = self.endpoints.best
        if int(best.used[0]) == best.state.size:
            self.endpoints.grow()
            return True
        old = self.nodes.state.size
        size = 2 * max(old, self.children)
        needed = NODE_BYTES * (size + old) + self.endpoints.nbytes
        if needed > self.memory_limit:
            return False
        self.peak_bytes = max(self.peak_bytes, needed)
        self.nodes = _make_nodes(size, self.nodes)
        return True


def _count_chances(operation: Operation) -> tuple[Chances, int]:
    """The windows with what may still change, and how many children a node has at most."""
    size = np.array([len(words) for words in operation.alternatives])[operation.sent]
    replaceable = np.zeros(operation.length + 1, dtype=np.int64)
    replaceable[:-1] = np.cumsum((size > 0)[::-1])[::-1]
    chances = Chances(
        replacements=np.array(clip_window(operation.replacement_window, "replacements"), dtype=np.int64),
        flips=np.array(clip_window(operation.flip_window, "flips"), dtype=np.int64),
        most_replaced=operation.max_replaced,
        replaceable=replaceable,
        ordinary=count_readings(operation, trusted=False),
    )
    return chances, int(size.sum()) + 1


def _make_nodes(size: int, old: Open | None) -> Open:
    """Room for nodes, with what was in less room; what is new is free, one after the other."""
    nodes = Open(
        node=np.empty((size, 5), dtype=np.int32),
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
    nodes.node[begin:, BELOW] = np.arange(begin + 1, size + 1)
    if old is not None:
        nodes.node[-1, BELOW] = old.used[FREE]
    nodes.used[FREE] = begin
    return nodes
