"""`ascertain calibrate` of a testbed: how many shells to keep there, and how often that is enough."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ascertain.cli.verbs.calibrate import say_shells
from ascertain.errors import FileError
from ascertain_paper.verbs import need_paper

if TYPE_CHECKING:
    from ascertain.bank.calibration_file import Calibration

HEADER = ("shells", "blocks that take as many", "blocks that take as many or fewer")


def command(
    settings: str,
    *,
    blocks: int,
    per_stratum: bool,
    place: int,
    workers: int,
    as_json: bool,
    out: Path | None,
    compiler: str = "merging",
) -> None:
    """What `ascertain calibrate` does without --runs; its options are those of that verb."""
    need_paper()
    from ascertain.bank.calibration_file import write_calibration
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import refuse_overwriting
    from ascertain.cli.show.progress import announce_compilation, counting
    from ascertain.kernels._jit import use_compiled_kernels
    from ascertain.pipeline.calibrate import calibration_facts
    from ascertain_paper.calibration import calibrate_testbed
    from ascertain_paper.testbed.settings import find_settings
    from ascertain_paper.testbed.testbed import make_testbed

    refuse_overwriting([out], [Path(settings)])
    try:
        testbed = make_testbed(find_settings(settings))
    except FileError as reason:
        raise FileError(f"{reason}; for a problem of your own add --runs FILE") from None
    announce_compilation()
    if workers > 1:
        use_compiled_kernels()
    with counting("blocks") as progress:
        calibration = calibrate_testbed(
            testbed, blocks=blocks, compiler=compiler, place=place, workers=workers, progress=progress
        )
    if out is not None:
        write_calibration(calibration, out)
    print_json("calibrate", calibration_facts(calibration)) if as_json else _print(calibration, per_stratum)
    if calibration.whole.shells is None:
        raise typer.Exit(3)


def _print(calibration: Calibration, per_stratum: bool) -> None:
    from ascertain.cli.show.output import print_line, print_table

    whole = calibration.whole
    print_table(f"{calibration.settings}: shells that it takes to cover a block", _tally(calibration), HEADER)
    if per_stratum:
        table = [
            (name, say_shells(found.shells), found.coverage)
            for name, found in zip(calibration.strata, calibration.per_stratum, strict=True)
        ]
        print_table("by stratum", table, ("stratum", "shells", "coverage at least"))
    if whole.shells is None:
        print_line("A true endpoint was no candidate at all: no number of shells will do, and nothing is promised.")
        return
    print_line(
        f"Keep {whole.shells} shells: the next block of {len(calibration.strata)} operations is covered whole with "
        f"probability at least {whole.coverage}."
    )
    print_line(f"Settings {calibration.settings_hash[:12]}, compiler {calibration.compiler}.")


def _tally(calibration: Calibration) -> list[tuple[str, int, int]]:
    """For each rank of a block how many blocks have it, and how many have that or less."""
    from ascertain.bank.calibrate import largest_rank

    ranks = [largest_rank(row) for row in calibration.ranks]
    ordered: list[int | None] = [*sorted({rank for rank in ranks if rank is not None}), *({None} & set(ranks))]
    counts = [ranks.count(rank) for rank in ordered]
    return [(say_shells(rank), n, total) for rank, n, total in zip(ordered, counts, accumulate(counts), strict=True)]
