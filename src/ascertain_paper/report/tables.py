"""Tables of studies as plain records, and as text: Markdown, CSV and LaTeX. What they say is decided elsewhere."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

Cell: TypeAlias = str | int | float | Fraction | None
"""What stands in a table; None where nothing does."""
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
    }
)
_FIGURE = re.compile(r"[-+]?[\d.,/]*\d *%?")
"""Words that are a number after all: 72/72, 100/101."""


@final
@dataclass(frozen=True)
class Table:
    """Columns and rows; `name` is what files are called."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), f"table {self.name} is ragged"


def show(cell: Cell) -> str:
    """A cell as people read it: thousands apart, a few digits after the point, a dash for nothing."""
    match cell:
        case None:
            return "-"
        case bool() | str():
            return str(cell)
        case int():
            return f"{cell:,}"
        case Fraction():
            return f"{cell.numerator:,}" if cell.denominator == 1 else show(float(cell))
        case _:
            return f"{cell:,.0f}" if abs(cell) >= 10_000 else f"{cell:,.3f}" if abs(cell) >= 0.001 else f"{cell:.3g}"


def show_ratio(value: Fraction) -> str:
    """An exact rational as people read it: "1/4,000,000"."""
    return f"{value.numerator:,}" if value.denominator == 1 else f"{value.numerator:,}/{value.denominator:,}"


def to_markdown(table: Table) -> str:
    """A Markdown table with its title and note."""
    rows = [list(table.columns), *([show(cell) for cell in row] for row in table.rows)]
    lines = [_bar(rows[0]), _bar(["---" if is_text(table, k) else "---:" for k in range(len(table.columns))])]
    lines += [_bar(row) for row in rows[1:]]
    note = f"\n{table.note}\n" if table.note else ""
    return f"### {table.title}\n\n" + "\n".join(lines) + f"\n{note}"


def to_csv(table: Table) -> str:
    """The cells as they are, for programs; a rational as "p/q". Columns of one name are told apart by what precedes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names: list[str] = []
    for name in table.columns:
        names.append(name if table.columns.count(name) == 1 or not names else f"{names[-1]} ({name})")
    writer.writerow(names)
    writer.writerows([["" if cell is None else cell for cell in row] for row in table.rows])
    return text.getvalue()


def to_latex(table: Table) -> str:
    """A `tabular` between booktabs rules, with its caption above and its note below."""
    columns = "".join("l" if is_text(table, k) else "r" for k in range(len(table.columns)))
    head = " & ".join(name.translate(_LATEX) for name in table.columns)
    body = "\n".join(" & ".join(show(cell).translate(_LATEX) for cell in row) + r" \\" for row in table.rows)
    note = f"\n\\par\\smallskip\\footnotesize {table.note.translate(_LATEX)}" if table.note else ""
    return (
        f"\\begin{{table}}\n\\caption{{{table.title.translate(_LATEX)}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        f"{head} \\\\\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}{note}\n\\end{{table}}\n"
    )


def is_text(table: Table, column: int) -> bool:
    """Whether more of the column's cells are words than numbers; an empty one is neither."""
    cells = [row[column] for row in table.rows if row[column] is not None]
    words = sum(isinstance(cell, str) and not _FIGURE.fullmatch(cell) for cell in cells)
    return 2 * words > len(cells)


def _bar(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
