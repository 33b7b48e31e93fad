"""Tables as plain records, and how their cells are shown. What they say is decided elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

Cell: TypeAlias = str | int | float | Fraction | None
"""What stands in a table; None where nothing does."""
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


def is_text(table: Table, column: int) -> bool:
    """Whether more of the column's cells are words than numbers; an empty one is neither."""
    cells = [row[column] for row in table.rows if row[column] is not None]
    words = sum(isinstance(cell, str) and not _FIGURE.fullmatch(cell) for cell in cells)
    return 2 * words > len(cells)
