"""`ascertain bank`: where a logged operation may have left the plant, ranked, and what may have gone wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson, ProblemFile

if TYPE_CHECKING:
    from ascertain.bank.candidates import Compiled
    from ascertain.bank.operation import Replacement
    from ascertain.bank.witness import Witness

SHOWN = 20
"""Candidates and shells in the tables; --json lists them all."""


def command(
    problem: ProblemFile,
    compiler: Annotated[
        str | None,
        typer.Option("--compiler", help="How to compile: merging, direct or exhaustive; all give the same answer."),
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
    from ascertain.bank.compile import compile_bank
    from ascertain.cli.show.counting import counting
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.model.files.text import write_whole
    from ascertain.problem.operation import pose_operation
    from ascertain.task.canonical import canonical_bytes
    from ascertain.task.log import read_log

    posed = load_problem(problem)
    operation = pose_operation(posed)
    assert posed.operation is not None
    refuse_overwriting([out], [*posed.sources, posed.operation.log])
    limit = shells or posed.observe.shells
    chosen = compiler or posed.observe.compiler
    with counting("commands" if chosen == "merging" else "evaluations") as progress:
        compiled = compile_bank(operation, chosen, shells=limit, progress=progress)
    lines = [record.line for record in read_log(posed.operation.log)]
    facts = _facts(compiled, lines)
    if out is not None:
        # Without the time it took, so that the same question gives the same bytes.
        counts = {key: value for key, value in facts["stats"].items() if key != "seconds"}
        write_whole(out, canonical_bytes({"format": "ascertain-bank", "version": 1, **facts, "stats": counts}) + b"\n")
    print_json("bank", facts) if as_json else _print(str(posed.operation.log), facts)
    if not facts["candidates"]:
        raise typer.Exit(1)


def _facts(compiled: Compiled, lines: list[int]) -> dict[str, Any]:
    """The bank as plain data; `lines[t]` is where command t stands in the log."""
    from dataclasses import asdict

    shells = list(compiled.shells())
    states = [int(z) for z in compiled.endpoint]
    shell_of = [j for j, shell in enumerate(shells, start=1) for _ in shell.states]
    score_of = [list(shell.score) for shell in shells for _ in shell.states]
    if compiled.nominal is not None and compiled.nominal not in states:
        states, shell_of, score_of = [*states, compiled.nominal], [*shell_of, None], [*score_of, None]
    weight = _weights(compiled, len(shells))
    witnesses = _witnesses(compiled, states)
    return {
        "nominal": None if compiled.nominal is None else _name(compiled, compiled.nominal),
        "candidates": [
            {
                "state": _name(compiled, z),
                "shell": j,
                "score": score,
                "weight": str(weight[z]),
                **_path(compiled, path, lines),
            }
            for z, j, score, path in zip(states, shell_of, score_of, witnesses, strict=True)
        ],
        "shells": [{"score": list(shell.score), "size": len(shell.states)} for shell in shells],
        "complete": compiled.complete,
        "stats": asdict(compiled.stats),
    }


def _weights(compiled: Compiled, num_shells: int) -> dict[int, Any]:
    from ascertain.bank.shells import bank_shells

    if num_shells == 0 and compiled.nominal is None:
        return {}
    bank = bank_shells(compiled, num_shells)
    return dict(zip(bank.states, bank.weights, strict=True))


def _witnesses(compiled: Compiled, states: list[int]) -> list[Witness | None]:
    """A path to each state; None for a nominal that no shell holds: nothing was replaced, it needs no search."""
    listed = states[: len(compiled.endpoint)]
    found = compiled.witnesses(listed) if listed else ()
    return [*found, *[None] * (len(states) - len(listed))]


def _path(compiled: Compiled, witness: Witness | None, lines: list[int]) -> dict[str, Any]:
    if witness is None:
        return {"replacements": [], "contradicted_trusted": None, "contradicted": None}
    return {
        "replacements": [_replacement(compiled, each, lines) for each in witness.replacements],
        "contradicted_trusted": [lines[t] for t in witness.contradicted_trusted],
        "contradicted": [lines[t] for t in witness.contradicted],
    }


def _replacement(compiled: Compiled, replacement: Replacement, lines: list[int]) -> dict[str, Any]:
    operation = compiled.operation
    t, word = replacement
    actions = operation.model.actions
    return {"line": lines[t], "sent": actions[int(operation.sent[t])], "done": [actions[c] for c in word]}


def _name(compiled: Compiled, state: int) -> str:
    from ascertain.model import BooleanPlant

    model = compiled.operation.model
    return model.name_state(state) if isinstance(model, BooleanPlant) else model.states[state]


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
