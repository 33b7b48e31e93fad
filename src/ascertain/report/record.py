"""What a study found, as plain records: tables, figures and sentences. Reports draw them and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

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
    """Points of a figure that belong together; `labels` name them, `x` may be words for bars."""

    name: str
    x: tuple[float, ...] | tuple[str, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...] = ()
    mark: Mark = "points"


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


@final
@dataclass(frozen=True)
class Excerpt:
    """Lines that are shown as they are: part of a log, what a program printed."""

    title: str
    text: str
    note: str = ""


@final
@dataclass(frozen=True)
class Choice:
    """Something that the paper leaves open: what was chosen here, and what that does to the figures."""

    question: str
    chosen: str
    effect: str


@final
@dataclass(frozen=True, kw_only=True)
class Study:
    """The whole of one study: what `--json` prints and what a section of the report shows."""

    name: str
    title: str
    settings_hash: str
    quick: bool
    seconds: float
    rows: tuple[Mapping[str, Any], ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    findings: tuple[str, ...] = ()
    """What was found, a sentence each."""
    alarms: tuple[str, ...] = ()
    """What should not have been found; none, if all is well."""
    choices: tuple[Choice, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    excerpts: tuple[Excerpt, ...] = ()
    command: str = ""
    """What makes it again; the registry knows."""
    attachments: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    """Files that belong to the study, by name, such as a certificate; they are written beside the page."""


def mean(values: Sequence[int]) -> Fraction:
    """The mean, exactly."""
    return Fraction(sum(values), len(values))
