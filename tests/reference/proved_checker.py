"""The checkers of lower bounds that are extracted from their proofs, `proofs/`: how to build them and to run them.

They read one case a line, in the form that `proofs/lower_main.ml` describes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

Item: TypeAlias = Callable[[Any], list[str]]
"""Turns a value into tokens."""
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
    """Whether the proved checkers accept, case by case."""
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
    kind = claim["claim"]
    if kind == "lower":
        data = read_keys(claim, {"claim", "cost", "row", "rows"}, "block")
        tokens = bound(data["cost"]) + (["-"] if data["row"] is None else index(data["row"]))
        tokens += counted(data["rows"], row_tokens)
    elif kind == "lower-expected":
        data = read_keys(claim, {"claim", "cost", "weights", "parts", "rows"}, "block")
        tokens = rational(data["cost"]) + counted(data["weights"], rational)
        tokens += counted(data["parts"], lambda part: fields(part, index, rational))
        tokens += counted(data["rows"], weighted_row_tokens)
    else:
        raise Untranslatable
    every = list(range(len(task["model"]["successor"])))
    return [kind, *tokens, *counted(claim.get("block", every), index)]


def row_tokens(value: Any) -> list[str]:
    row = read_keys(value, {"set", "bound", "moves"})
    tokens = counted(row["set"], lambda member: fields(member, index, index)) + bound(row["bound"])
    return tokens + counted(list_moves(row), lambda move: [move[0], *fields(move[1], index, index)])


def weighted_row_tokens(value: Any) -> list[str]:
    row = read_keys(value, {"set", "bound", "moves"})
    tokens = counted(row["set"], lambda member: fields(member, index, index, rational)) + bound(row["bound"])
    return tokens + counted(
        list_moves(row),
        lambda move: [move[0], *counted(move[1], lambda part: fields(part, index, index, rational))],
    )


def list_moves(row: dict[str, Any]) -> list[tuple[str, Any]]:
    if not isinstance(row["moves"], dict):
        raise Untranslatable
    return list(row["moves"].items())


def read_keys(value: Any, keys: set[str], other: str = "") -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) - {other} != keys:
        raise Untranslatable
    return value


def counted(value: Any, item: Item) -> list[str]:
    if not isinstance(value, list):
        raise Untranslatable
    return [str(len(value)), *(token for entry in value for token in item(entry))]


def fields(value: Any, *items: Item) -> list[str]:
    """A list that has one value for each of these."""
    if not isinstance(value, list) or len(value) != len(items):
        raise Untranslatable
    return [token for item, entry in zip(items, value, strict=True) for token in item(entry)]


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
