"""One page for all studies: self-contained, opens offline, prints, light and dark.

The template holds no computing: everything that it shows stands in the records of the studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader

from ascertain.drawing.printable import printable
from ascertain.version import __version__
from ascertain_paper.report.figures import NARROW, draw_figure
from ascertain_paper.report.summary import summarise
from ascertain_paper.report.tables import Table, is_text, show
from ascertain_paper.study import Study

VERDICTS = {
    "reproduced": "reproduced",
    "better": "better",
    "differs": "differs",
    "ours": "ours",
    "kept": "kept",
    "shown": "kept",
    "not refuted": "quiet",
    "NOT kept": "differs",
    "VIOLATED": "violated",
    "too few": "quiet",
    "another testbed": "quiet",
}
"""Words that a table says of a row, each with the class that gives it its colour."""
LONG = 18
"""Cells with more letters are broken into lines."""


def draw_page(studies: Sequence[Study], title: str = "Certified active observability, reproduced") -> str:
    """The page as HTML text."""
    environment = Environment(loader=PackageLoader("ascertain_paper.report"), autoescape=True, trim_blocks=True)
    filters: dict[str, Any] = {
        "show": show,
        "printable": printable,
        "lines": _lines,
        "verdict": _verdict,
        "side": _side,
    }
    environment.filters.update(filters)
    sections: list[dict[str, Any]] = [
        {
            "study": study,
            "figures": [
                (
                    figure,
                    draw_figure(figure, scope=study.name),
                    draw_figure(figure, NARROW, scope=f"{study.name}-narrow"),
                )
                for figure in study.figures
            ],
        }
        for study in studies
    ]
    return environment.get_template("report.html").render(
        title=title,
        summaries=summarise(studies),
        sections=sections,
        version=__version__,
        alarms=[(study.name, alarm) for study in studies for alarm in study.alarms],
    )


def _verdict(cell: object) -> str:
    """The class of a cell of words: that of its verdict, and "long" where its lines are to be broken."""
    if not isinstance(cell, str):
        return ""
    of = next((kind for word, kind in VERDICTS.items() if cell.startswith(word)), "")
    return f"{of} long".strip() if len(cell) > LONG else of


def _side(table: Table, column: int) -> str:
    """The class of a column, its head included: numbers are at the right."""
    return "" if is_text(table, column) else "number"


def _lines(text: str) -> str:
    """Text whose lines are kept and whose other characters are made printable."""
    return "\n".join(printable(line) for line in text.split("\n"))
