"""Options that several verbs share, each written once. A flag has the metavar "", as it takes no value to name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ascertain.errors import TaskError

ProblemFile: TypeAlias = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file (TOML).")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object instead.")]
CertificateFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--certificate", metavar="NAME.json", help="Write the proof here, and NAME.task.json beside it."),
]
ConformBy: TypeAlias = Annotated[
    str | None,
    typer.Option("--conform", metavar="HOW", help="Then check that it is one of them: complete:K or sample:N words."),
]
ResetAction: TypeAlias = Annotated[
    str, typer.Option("--reset", metavar="ACTION", help="What leads back to the start, for conformance.")
]
Costs: TypeAlias = Annotated[
    list[str] | None, typer.Option("--cost", metavar="ACTION=C", help="The cost of an action; may be repeated.")
]
Drawing: TypeAlias = Annotated[
    Path | None, typer.Option("--draw", metavar="FILE", help="Draw the experiment: .svg, .html, .dot or .txt.")
]
PolicyOut: TypeAlias = Annotated[
    Path | None,
    typer.Option("--policy-out", metavar="FILE.json", help="Write the policy found, for simulate and observe."),
]
TimeLimit: TypeAlias = Annotated[
    float | None, typer.Option("--time", min=0, metavar="S", help="Stop after so many seconds of search.")
]
JournalFile: TypeAlias = Annotated[
    Path | None, typer.Option("--journal", metavar="FILE", help="Keep a journal that outlives a crash.")
]
Resume: TypeAlias = Annotated[bool, typer.Option("--resume", metavar="", help="Go on where the journal ends.")]
Timeout: TypeAlias = Annotated[
    float, typer.Option("--timeout", metavar="S", help="Seconds that the plant may take to answer.")
]
Retries: TypeAlias = Annotated[
    int, typer.Option("--retries", min=0, max=1000, metavar="N", help="How often a fault is met by trying again.")
]
Hosts: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="FILE|NAMES",
        help="Many plants at once: CSV with a column name, and others that --plant names in braces; or a,box-[01-20].",
    ),
]
Parallel: TypeAlias = Annotated[
    int | None, typer.Option("--parallel", min=1, max=1000, metavar="N", help="With --hosts: so many at once (32).")
]
Identity: TypeAlias = Annotated[
    str | None, typer.Option("--identity", metavar="NAME", help="Refuse a plant of another name.")
]


def read_costs(texts: list[str]) -> dict[str, str]:
    """The costs that were given as ACTION=C."""
    costs: dict[str, str] = {}
    for text in texts:
        name, sign, price = text.rpartition("=")
        if not sign or not name:
            raise TaskError(f"--cost: {text[:60]!r} is not understood; write ACTION=C, such as AUTH=3")
        costs[name] = price
    return costs
