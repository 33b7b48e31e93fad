"""How verbs speak: JSON with its schema, tables and lines that are safe to print whatever names a file brings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ascertain.drawing.printable import printable
from ascertain.report.answers import answer_text

WIDEST = 240
"""Columns that a table may take where there is no terminal."""

LONGEST = 60
"""Characters of a name in a list: six of them are a few lines on a terminal."""


def print_json(verb: str, data: Mapping[str, Any]) -> None:
    """The answer of a verb as one JSON object on standard output."""
    sys.stdout.write(answer_text(verb, data))


def print_table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] | None = None) -> None:
    """A small table; names are printed as they are, never read as markup. Piped on it is as wide as it needs to be."""
    table = Table(show_header=header is not None)
    for name in header or ("", ""):
        table.add_column(plain(name), overflow="fold")
    for row in rows:
        table.add_row(*(plain(cell) for cell in row))
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDEST
    # A title of the table would be folded to the width of its columns.
    console.print(plain(title), style="italic", soft_wrap=not console.is_terminal)
    console.print(table)


def print_line(text: str) -> None:
    """One line of plain text, wrapped to the terminal; where it is piped on it stays one line."""
    console = Console()
    console.print(plain(text), soft_wrap=not console.is_terminal)


def print_verdict(verdict: object, headline: str | None = None) -> None:
    """What the checker says of a certificate, what follows from it, and where to read what that means."""
    print_line(f"Certificate: {verdict}")
    if headline is not None:
        print_line(headline)
    print_line("What it proves and what it assumes: docs/guarantees.md")


def note(text: str) -> None:
    """A remark on standard error, where it does not disturb what is piped on."""
    sys.stderr.write(f"note: {plain(text)}\n")


def plain(value: object) -> Text:
    """A value as text without markup or control characters."""
    return Text(printable(str(value)))


def shorten(names: Sequence[str], most: int = 6) -> str:
    """A list of names on one line: the first few, long ones cut, and how many more there are."""
    rest = len(names) - most
    shown = (name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..." for name in names[:most])
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")
