"""The corpus of certificates: where it is, and how cases that were made by hand are written into it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ascertain_check import check

CORPUS = Path(__file__).parent.parent / "certificates"
"""The name of a folder is the expected verdict."""


def write_cases(cases: Iterable[tuple[str, bytes, bytes]]) -> None:
    """Write cases, each by its name, task and certificate, and note what the checker says of them."""
    expected = CORPUS / "expected.tsv"
    lines = dict(line.split("\t") for line in expected.read_text("utf-8").splitlines())
    for name, task, certificate in cases:
        (CORPUS / f"{name}.task.json").write_bytes(task)
        (CORPUS / f"{name}.json").write_bytes(certificate)
        lines[name] = str(check(task, certificate))
        word = name.partition("/")[0].upper()
        print("" if lines[name].startswith(word) else "UNEXPECTED ", name, "\t", lines[name], sep="")
    expected.write_text("".join(f"{name}\t{lines[name]}\n" for name in sorted(lines)), "utf-8")
