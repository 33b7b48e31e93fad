"""Figures, sections and pages as plain records, which reports draw; they compute nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from ascertain.report.tables import Table

Mark: TypeAlias = Literal["points", "line", "steps", "bars"]
"""Steps: a value holds until the next one."""


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
    whole_x: bool = False
    """Whether x counts something: then there are no ticks between whole numbers. The same for y below."""
    whole_y: bool = False


@final
@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, sentences, tables and figures, in this order."""

    name: str
    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()


@final
@dataclass(frozen=True)
class Page:
    """A page by itself: its title, the answer in a sentence or two, and the sections."""

    title: str
    answer: str
    good: bool
    """Whether the answer is what was hoped for, which decides its colour."""
    sections: tuple[Section, ...]
    origin: str = ""
    """What it was drawn from, in a line."""
