"""The checker of lower bounds that is extracted from its proof, `proofs/LowerChecker.v`: how to build it and to run it.

It reads one case a line, in the form that `proofs/lower_main.ml` describes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

PROOFS = Path(__file__).parents[2] / "proofs"


class Untranslatable(Exception):
    """What cannot be written as tokens: a value of another type, a number not in lowest terms."""


def missing_tools() -> list[str]:
    return [tool for tool in ("make", "coqc", "ocamlopt") if shutil.which(tool) is None]


def make_proofs() -> list[str]:
    """Compile all proofs, unless that is done; returns what they print."""
    done = subprocess.run(["make", "-s", "proofs"], cwd=PROOFS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def run_proved(lines: list[str]) -> list[bool]:
    """Whether the proved checker accepts, case by case."""
    done = subprocess.run(
        [PROOFS / "build" / "lower"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    return [word == "1" for word in done.stdout.split()]


def translate(task: str | bytes, claim: dict[str, Any]) -> str:
    """One case as tokens. The task is known to be well formed."""
    return " ".join([*task_tokens(json.loads(task)), *claim_tokens(json.loads(task), claim)])


def task_tokens(task: dict[str, Any]) -> list[str]:
    model = task["model"]
    tokens = [
        str(len(task["labels"])),
        str(len(model["readings"])),
        str(len(task["cost"])),
        str(len(model["successor"])),
    ]
    for row, reads in zip(model["successor"], model["output"], strict=True):
        for s, y in zip(row, reads, strict=True):
            tokens += ["-"] if s is None else [str(y), str(s)]
    tokens += counted(task["cost"], rational)
    tokens += counted(task["hypotheses"], lambda pair: [str(pair[1]), str(pair[0])])
    return tokens + (["-"] if task["current"] is None else counted(task["current"], index))


def claim_tokens(task: dict[str, Any], claim: dict[str, Any]) -> list[str]:
    if set(claim) - {"block"} != {"claim", "cost", "row", "rows"} or claim["claim"] != "lower":
        raise Untranslatable
    tokens = bound(claim["cost"]) + (["-"] if claim["row"] is None else index(claim["row"]))
    tokens += counted(claim["rows"], row_tokens)
    return tokens + counted(claim.get("block", list(range(len(task["model"]["successor"])))), index)


def row_tokens(row: Any) -> list[str]:
    if not isinstance(row, dict) or set(row) != {"set", "bound", "moves"} or not isinstance(row["moves"], dict):
        raise Untranslatable
    moves = [[key, move] for key, move in row["moves"].items()]
    return (
        counted(row["set"], numbers)
        + bound(row["bound"])
        + counted(moves, lambda named: [str(named[0]), *numbers(named[1])])
    )


def counted(value: Any, item: Any) -> list[str]:
    if not isinstance(value, list):
        raise Untranslatable
    return [str(len(value)), *(token for entry in value for token in item(entry))]


def numbers(value: Any) -> list[str]:
    """Two of them."""
    if not isinstance(value, list) or len(value) != 2:
        raise Untranslatable
    return [token for entry in value for token in index(entry)]


def index(value: Any) -> list[str]:
    if type(value) is not int or not 0 <= value < 1000:
        raise Untranslatable
    return [str(value)]


def bound(value: Any) -> list[str]:
    return ["inf"] if value == "inf" else rational(value)


def rational(value: Any) -> list[str]:
    if not isinstance(value, str) or not value[:1].isdigit() or str(Fraction(value)) != value:
        raise Untranslatable
    number = Fraction(value)
    return [f"{number.numerator:b}", f"{number.denominator:b}"]
