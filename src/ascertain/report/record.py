"""Tables and figures as plain records, which reports draw; they compute nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, final

Cell: TypeAlias = str | int | float | Fraction | None
"""What stands in a table; None where nothing does."""
Mark: TypeAlias = Literal["points", "line", "steps", "bars"]
"""Steps: a value holds until the next one."""


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


@final
@dataclass(frozen=True)
class Series:
    """Points of a figure that belong together; `labels` name them, `x` may be words for bars.

    `limits` says for each point between which values it lies when that is uncertain; a bar is drawn through the point.
    """

    name: str
    x: tuple[float, ...] | tuple[str, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...] = ()
    mark: Mark = "points"
    limits: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        assert len(self.x) == len(self.y), f"series {self.name} is ragged"
        assert not self.limits or len(self.limits) == len(self.y), f"series {self.name}: limits for some points only"


@final
@dataclass(frozen=True)
class Figure:
    """Series over common axes."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    note: str = ""
