"""Options that several verbs share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ProblemFile: TypeAlias = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file (TOML).")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
CertificateFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--certificate", metavar="NAME.json", help="Write the proof here, and NAME.task.json beside it."),
]
Drawing: TypeAlias = Annotated[
    Path | None, typer.Option("--draw", metavar="FILE", help="Draw the experiment: .svg, .html, .dot or .txt.")
]
TimeLimit: TypeAlias = Annotated[
    float | None, typer.Option("--time", min=0, metavar="S", help="Stop after so many seconds of search.")
]
