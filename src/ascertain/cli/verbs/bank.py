"""`ascertain bank`: where a logged operation may have left the plant, ranked, and what may have gone wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ascertain.cli.options import AsJson, ProblemFile

SHOWN = 20
"""Candidates and shells in the tables; --json lists them all."""


def command(
    problem: ProblemFile,
    compiler: Annotated[
        str | None,
        typer.Option(
            "--compiler",
            help="How to compile: merging, direct, direct-unmerged or exhaustive; all give the same answer.",
        ),
    ] = None,
    shells: Annotated[
        int | None, typer.Option("--shells", min=1, metavar="J", help="Keep the best J shells, and the nominal.")
    ] = None,
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the bank here, as JSON.")] = None,
) -> None:
    """Say where a logged operation may have left the plant, best explanation first, and what may have gone wrong.

    The problem file's section [operation] names the log and what may have been replaced. Exit code 1 when nothing that
    is declared can have happened.

    Example:  ascertain bank problem.toml --shells 8
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.cli.show.progress import counting
    from ascertain.pipeline.compile import compile_operation

    posed = load_problem(problem)
    refuse_overwriting([out], posed.sources)
    with counting("commands" if (compiler or posed.observe.compiler) == "merging" else "evaluations") as progress:
        found = compile_operation(posed, compiler=compiler, shells=shells, progress=progress)
    if out is not None:
        found.write(out)
    assert posed.operation is not None  # else nothing was compiled
    print_json("bank", found.facts()) if as_json else _print(str(posed.operation.log), found.facts())
    if not found.candidates:
        raise typer.Exit(1)


def _print(log: str, facts: dict[str, Any]) -> None:
    from ascertain.cli.show.output import print_line, print_table

    candidates, shells, stats = facts["candidates"], facts["shells"], facts["stats"]
    if not candidates:
        print_line(f"{log}: nothing that is declared can have happened; no state is left.")
        return
    rows = [
        (row["shell"] or "-", _score(row["score"]), _state(row, facts["nominal"]), _story(row), _wrong(row))
        for row in candidates[:SHOWN]
    ]
    header = ("shell", "score", "state", "what may have happened", "readings contradicted")
    print_table(f"{log}: where it may have ended", rows, header)
    if len(candidates) > SHOWN:
        print_line(f"and {len(candidates) - SHOWN} more candidates; --json lists them all")
    sizes = ", ".join(str(shell["size"]) for shell in shells[:SHOWN]) + (", ..." if len(shells) > SHOWN else "")
    which = "" if facts["complete"] else " (the best ones)"
    print_line(f"Candidates: {len(candidates)}. Shells: {len(shells)}{which}, of sizes {sizes}.")
    if any(row["contradicted_trusted"] for row in candidates[:SHOWN]):
        print_line("A trusted reading that is contradicted is marked with an exclamation mark.")
    print_line(
        f"{stats['paths']:,} paths; {stats['compiler']}: {stats['model_steps']:,} model steps, "
        f"{stats['evaluations']:,} evaluations."
    )
    print_line(f"{stats['seconds']:.3f} s.")


def _score(score: list[int] | None) -> str:
    return "-" if score is None else " ".join(map(str, score))


def _state(row: dict[str, Any], nominal: str | None) -> str:
    return f"{row['state']} (nominal)" if row["state"] == nominal else row["state"]


def _story(row: dict[str, Any]) -> str:
    """What was replaced, in words."""
    parts = [f"line {each['line']}: {each['sent']} {_became(each['done'])}" for each in row["replacements"]]
    return "; ".join(parts) or "as sent"


def _became(done: list[str]) -> str:
    return f"became {' '.join(done)}" if done else "was dropped"


def _wrong(row: dict[str, Any]) -> str:
    """The lines whose readings the path contradicts, the trusted ones marked."""
    from ascertain.cli.show.output import shorten

    if row["contradicted"] is None:
        return "-"
    trusted = [f"{line}!" for line in row["contradicted_trusted"]]
    listed = sorted([*trusted, *map(str, row["contradicted"])], key=lambda text: int(text.rstrip("!")))
    return shorten(listed) or "none"
