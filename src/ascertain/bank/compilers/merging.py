"""The merging compiler: forward over the log, layer by layer, equal states with equal replacements merged.

See `bank/layers.py` for why that is exact. A testbed operation has some five million paths and some thousands of
endpoints; its layers have about as many entries as it has endpoints, so that nothing is done twice.
"""

from __future__ import annotations

import time

from ascertain.bank.candidates import Compiled, CompileStats, list_candidates
from ascertain.bank.compile import Compiler
from ascertain.bank.encoding import count_paths, encode
from ascertain.bank.layers import Merger, rank_layer
from ascertain.bank.operation import Operation
from ascertain.types import Progress


def compile_merging(operation: Operation, shells: int | None, memory_limit: int, progress: Progress | None) -> Compiled:
    """Every endpoint with its score, or those of the first `shells` shells."""
    started = time.perf_counter()
    tables = encode(operation)
    merger = Merger(operation, tables, memory_limit)
    layer = merger.run(merger.start(), 0, operation.length, progress)
    ranked = rank_layer(operation, layer)
    stats = CompileStats(
        compiler="merging",
        paths=count_paths(operation),
        model_steps=merger.model_steps,
        evaluations=layer.state.size,
        seconds=time.perf_counter() - started,
        peak_bytes=merger.peak_bytes,
        largest_layer=merger.largest,
    )
    return list_candidates(operation, tables, (ranked.state, ranked.score), shells, stats)


MERGING = Compiler("merging", compile_merging)
