"""The three compilers side by side on testbed operations, and how merging grows with the log.

    python -m benchmarks.compilers [--operations 20] [--direct 10] [--growth 6] [--long 2000] [--json FILE]

Seconds are of processor, on one core, after a first compilation that fills the kernel caches; bytes are of the arrays
that a compiler works in. Logs of other lengths are drawn like the testbed's, with two or three replacements, the last
one in their last quarter, and the window of flips at the same share of the ordinary readings.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ascertain.bank.candidates import Compiled, CompileStats
from ascertain.bank.compile import compile_bank
from ascertain.bank.operation import Operation
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.settings import Family
from ascertain_paper.testbed.testbed import Testbed, load_testbed, make_testbed

LENGTHS = (96, 192, 384, 768)
SHELLS = 8


def timed(operation: Operation, compiler: str, shells: int | None = None) -> tuple[Compiled, float]:
    """What was compiled, and the seconds of processor that it took."""
    begin = time.process_time()
    compiled = compile_bank(operation, compiler, shells=shells)
    return compiled, time.process_time() - begin


def stretch(testbed: Testbed, length: int, replaced: int) -> Testbed:
    """The same plants with logs of another length."""
    settings = testbed.settings
    share = settings.flip_window[0] * length // settings.log_length
    family = Family("stretched", replaced, (length - length // 4 + 1, length), 1)
    return make_testbed(
        replace(settings, log_length=length, max_replaced=replaced, flip_window=(share, share), families=(family,))
    )


def summarise(stats: Iterable[CompileStats], seconds: Iterable[float]) -> dict[str, float]:
    """Means over operations, and the greatest memory."""
    listed = list(stats)
    return {
        "operations": len(listed),
        "model_steps": statistics.fmean(s.model_steps for s in listed),
        "evaluations": statistics.fmean(s.evaluations for s in listed),
        "seconds": statistics.fmean(seconds),
        "peak_bytes": max(s.peak_bytes for s in listed),
    }


def show(name: str, row: dict[str, float]) -> None:
    """One line of a table."""
    print(
        f"{name:24} {row['model_steps']:16,.0f} model steps {row['evaluations']:12,.0f} evaluations "
        f"{1000 * row['seconds']:10.1f} ms {row['peak_bytes'] / 1e6:8.2f} MB"
    )


def compare(testbed: Testbed, number: int, direct: int) -> dict[str, object]:
    """The compilers on the same operations; they must agree."""
    slots = [slot for block in range(-(-number // 20)) for slot in testbed.block_slots("compilers", block)][:number]
    operations = [testbed.logged(testbed.draw(slot)) for slot in slots]
    for compiler in ("merging", "exhaustive", "direct"):
        compile_bank(operations[0], compiler)
    merging = [timed(operation, "merging") for operation in operations]
    exhaustive = [timed(operation, "exhaustive") for operation in operations]
    chosen = operations[:: max(1, number // direct)][:direct] if direct else []
    directly = [timed(operation, "direct", SHELLS) for operation in chosen]
    for (a, _), (b, _) in zip(merging, exhaustive, strict=True):
        assert np.array_equal(a.endpoint, b.endpoint) and np.array_equal(a.score, b.score)
    record: dict[str, object] = {}
    for name, rows in (("merging", merging), ("exhaustive", exhaustive), ("direct", directly)):
        if rows:
            row = summarise([c.stats for c, _ in rows], [s for _, s in rows])
            record[name] = row
            show(name, row)
    ratio = [b.stats.model_steps / a.stats.model_steps for (a, _), (b, _) in zip(merging, exhaustive, strict=True)]
    means = [statistics.fmean(c.stats.model_steps for c, _ in rows) for rows in (exhaustive, merging)]
    print(f"model steps, exhaustive / merging: {means[0] / means[1]:.0f} in the mean, {min(ratio):.0f} at least")
    print(f"longest merging {1000 * max(s for _, s in merging):.1f} ms; endpoints {_spread(merging)}")
    early = [c.stats for c, _ in directly if c.stats.early_proof]
    failed = [c.stats for c, _ in directly if not c.stats.early_proof]
    print(
        f"direct: {len(early)} early proofs of {len(directly)}, "
        f"{sum(s.evaluations_saved for s in early):,} evaluations saved, "
        f"{sum(s.probe_evaluations for s in failed):,} spent on probes in vain"
    )
    record["ratio"] = {"mean": means[0] / means[1], "least": min(ratio)}
    record["early_proofs"] = len(early)
    return record


def _spread(rows: list[tuple[Compiled, float]]) -> str:
    sizes = [c.endpoint.size for c, _ in rows]
    return f"{min(sizes):,} to {max(sizes):,}, {statistics.fmean(sizes):,.0f} in the mean"


def grow(testbed: Testbed, number: int) -> list[dict[str, float]]:
    """Merging over log lengths, two replacements."""
    rows: list[dict[str, float]] = []
    for length in LENGTHS:
        bed = stretch(testbed, length, 2)
        operations = [bed.logged(bed.draw(Slot("growth", i % 2, 0, i, active=True))) for i in range(number)]
        done = [timed(operation, "merging") for operation in operations]
        row = {"length": length, **summarise([c.stats for c, _ in done], [s for _, s in done])}
        show(f"merging, {length} commands", row)
        rows.append(row)
    return rows


def go_long(testbed: Testbed, length: int) -> list[dict[str, float]]:
    """Merging with three replacements on a long log, once for each plant, and one witness."""
    rows: list[dict[str, float]] = []
    bed = stretch(testbed, length, 3)
    for plant, drawn in enumerate(bed.plants):
        operation = bed.logged(bed.draw(Slot("long", plant, 0, 0, active=True)))
        compiled, seconds = timed(operation, "merging")
        row = summarise([compiled.stats], [seconds])
        show(f"k = 3, {length}, {drawn.name}", row)
        begin = time.process_time()
        compiled.witness(int(compiled.endpoint[0]))
        print(
            f"    {compiled.endpoint.size:,} endpoints, largest layer {compiled.stats.largest_layer:,}, "
            f"a witness in {time.process_time() - begin:.1f} s"
        )
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=20)
    parser.add_argument("--direct", type=int, default=10, help="how many of them the direct compiler is given")
    parser.add_argument("--growth", type=int, default=6, help="operations for each length; 0 leaves growth out")
    parser.add_argument("--long", type=int, default=2000, help="commands of the log with k = 3; 0 leaves it out")
    parser.add_argument("--json", help="write the figures here as well")
    options = parser.parse_args()
    testbed = load_testbed()
    record: dict[str, object] = {"settings": testbed.settings.hash}
    record["side by side"] = compare(testbed, options.operations, options.direct)
    if options.growth:
        record["growth"] = grow(testbed, options.growth)
    if options.long:
        record["long"] = go_long(testbed, options.long)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)


if __name__ == "__main__":
    main()
