"""`ascertain calibrate`: how many shells of a bank to keep, from operations whose true ends are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson

if TYPE_CHECKING:
    from ascertain.pipeline.calibrate import Calibration


def command(
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM",
            help='A problem file; without --runs the settings of a testbed: "testbed", "small", FILE.',
        ),
    ],
    runs: Annotated[
        Path | None,
        typer.Option("--runs", metavar="FILE", help="Logged operations with their true ends (CSV or JSON Lines)."),
    ] = None,
    place: Annotated[
        int, typer.Option("--place", min=1, metavar="R", help="Take the R-th largest rank instead of the largest.")
    ] = 1,
    compiler: Annotated[
        str | None, typer.Option("--compiler", help="How banks are compiled: merging, direct or exhaustive.")
    ] = None,
    blocks: Annotated[
        int, typer.Option("--blocks", min=1, metavar="M", help="Of a testbed: blocks to calibrate on.")
    ] = 100,
    per_stratum: Annotated[
        bool, typer.Option("--per-stratum", metavar="", help="Of a testbed: also show every stratum by itself.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="Of a testbed: processes; the result is the same.")
    ] = 1,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the calibration here, as JSON.")
    ] = None,
) -> None:
    """Find how many shells a bank must keep, from operations whose truth is known, with a guarantee.

    The next block of operations is covered whole with probability at least M/(M+1), or (M+1-R)/(M+1), if it is like the
    M blocks before it. Name the file in [operation] calibration. Exit code 3 when a truth was no candidate at all, so
    that no number of shells will do.

    Example:  ascertain calibrate problem.toml --runs runs.csv --out calibration.json
    """
    if runs is None:
        shown: dict[str, Any] = {"per_stratum": per_stratum, "as_json": as_json}
        words: dict[str, Any] = {} if compiler is None else {"compiler": compiler}
        _find_testbed_verb()(problem, blocks=blocks, place=place, workers=workers, out=out, **shown, **words)
        return
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.cli.show.progress import counting
    from ascertain.pipeline.calibrate import calibrate_runs, calibration_facts

    posed = load_problem(Path(problem))
    # The calibration that the problem names may be the one that is made now.
    named = None if posed.operation is None else posed.operation.calibration
    refuse_overwriting([out], [*(source for source in posed.sources if source != named), runs])
    with counting("operations") as progress:
        found = calibrate_runs(posed, runs, compiler=compiler, place=place, out=out, progress=progress)
    print_json("calibrate", calibration_facts(found)) if as_json else _print(found)
    if found.whole.shells is None:
        raise typer.Exit(3)


def _find_testbed_verb() -> Any:
    """What calibrates on a testbed: the verb of this name of another package."""
    from importlib.metadata import entry_points

    from ascertain.errors import AscertainError

    for found in entry_points(group="ascertain.verbs", name="calibrate"):
        return found.load()
    raise AscertainError("--runs: a file of logged operations with their true ends is needed, such as --runs runs.csv")


def _print(found: Calibration) -> None:
    from ascertain.cli.show.output import print_line, print_table

    for name, rows in (("group", found.per_group), ("all", {"all": found.whole})):
        if rows:
            table = [(key, say_shells(each.shells), each.num_ranks, str(each.coverage)) for key, each in rows.items()]
            print_table(f"{found.settings}: shells to keep", table, (name, "shells", "blocks", "coverage at least"))
    if found.whole.shells is None:
        print_line("A true end was no candidate at all: no number of shells will do, and nothing is promised.")
        return
    shells = "1 shell" if found.whole.shells == 1 else f"{found.whole.shells} shells"
    print_line(
        f"Keep {shells}: the next block is covered whole with probability at least "
        f"{found.whole.coverage}, if it is like these {len(found.blocks)}."
    )


def say_shells(number: int | None) -> str:
    """How many shells to keep; None where a truth was no candidate."""
    return "none will do" if number is None else str(number)
