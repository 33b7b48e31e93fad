"""Campaigns: one pure function, computed for thousands to millions of operations.

The function takes a *case* (plain data that names its settings by hash, and the number of the operation) and returns
plain data. Operations are computed chunk by chunk. A chunk is shared out among the engine's workers and, when all of
it is there, goes into the store at once: whoever kills the campaign loses the chunk that was under way and nothing
else, and a resumed one computes what is missing. Results come in order and do not depend on engine, number of workers
or chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ascertain.study.engines import Engine
from ascertain.study.store import Store

Case = TypeVar("Case")
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of operations done and to be done."""

CHUNK = 256
PIECES = 8
"""A chunk is cut into this many pieces for each worker, so that slow operations even out."""


def run_campaign(
    function: Callable[[Case], Any],
    cases: Sequence[Case],
    engine: Engine,
    *,
    store: Store | None = None,
    chunk: int = CHUNK,
    progress: Progress | None = None,
) -> list[Any]:
    """The results of all cases, in order; those that the store has are taken from it."""
    done: dict[int, Any] = {} if store is None else dict(store.results())
    missing = [number for number in range(len(cases)) if number not in done]
    if progress is not None:
        progress(len(cases) - len(missing), len(cases))
    for low in range(0, len(missing), chunk):
        numbers = missing[low : low + chunk]
        results = _compute(function, [cases[number] for number in numbers], engine)
        fresh = list(zip(numbers, results, strict=True))
        if store is not None:
            store.add(fresh)
        done.update(fresh)
        if progress is not None:
            progress(len(cases) - len(missing) + low + len(numbers), len(cases))
    return [done[number] for number in range(len(cases))]


def _compute(function: Callable[[Case], Any], cases: Sequence[Case], engine: Engine) -> list[Any]:
    size = max(1, -(-len(cases) // (PIECES * engine.workers)))
    pieces = [cases[low : low + size] for low in range(0, len(cases), size)]
    return [result for piece in engine.map(partial(_compute_piece, function), pieces) for result in piece]


def _compute_piece(function: Callable[[Case], Any], cases: Sequence[Case]) -> list[Any]:
    return [function(case) for case in cases]
