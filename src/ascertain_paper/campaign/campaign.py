"""Campaigns: one pure function, computed for thousands to millions of operations.

The function takes a *case* (plain data that names its settings by hash, and the number of the operation) and returns
plain data. Operations are computed chunk by chunk. A chunk is shared out among the engine's workers in pieces and, when
all of it is there, goes into the store at once: whoever kills the campaign loses the chunk that was under way and
nothing else, and a resumed one computes what is missing. Results come in order and do not depend on engine, number of
workers or chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from ascertain.types import Progress
from ascertain_paper.campaign.engines import Engine
from ascertain_paper.campaign.store import Store

Case = TypeVar("Case")

CHUNK = 256
PIECES = 32
"""A chunk is cut into this many pieces for each worker, or into its operations, so that slow ones even out and progress
is told while the chunk is under way."""


def run_campaign(
    function: Callable[[Case], Any],
    cases: Sequence[Case],
    engine: Engine,
    *,
    store: Store | None = None,
    chunk: int = CHUNK,
    progress: Progress | None = None,
) -> list[Any]:
    """The results of all cases, in order; those that the store has are taken from it.

    `progress` is called with the number of operations done and to be done, first with what an earlier call did.
    """
    tell = progress or _tell_nobody
    done: dict[int, Any] = {} if store is None else dict(store.results())
    missing = [number for number in range(len(cases)) if number not in done]
    tell(len(cases) - len(missing), len(cases))
    for low in range(0, len(missing), chunk):
        fresh: dict[int, Any] = {}
        for piece in _compute(function, cases, missing[low : low + chunk], engine):
            fresh |= piece
            tell(len(cases) - len(missing) + low + len(fresh), len(cases))
        if store is not None:
            store.add(sorted(fresh.items()))
        done |= fresh
    return [done[number] for number in range(len(cases))]


def _compute(
    function: Callable[[Case], Any], cases: Sequence[Case], numbers: Sequence[int], engine: Engine
) -> Generator[dict[int, Any]]:
    """The results of these cases by number, piece by piece as they end."""
    size = max(1, -(-len(numbers) // (PIECES * engine.workers)))
    pieces = [numbers[low : low + size] for low in range(0, len(numbers), size)]
    work = [[cases[number] for number in piece] for piece in pieces]
    with closing(engine.map(partial(_compute_piece, function), work)) as ended:
        for place, results in ended:
            yield dict(zip(pieces[place], results, strict=True))


def _tell_nobody(_done: int, _total: int) -> None:
    pass


def _compute_piece(function: Callable[[Case], Any], cases: Sequence[Case]) -> list[Any]:
    return [function(case) for case in cases]
