"""One page for all studies: self-contained, opens offline, prints, light and dark.

The template holds no computing: everything that it shows stands in the records of the studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader

from ascertain import __version__
from ascertain.report.figures import draw_svg
from ascertain.report.printable import printable
from ascertain.report.tables import show
from ascertain.study.record import Study

VERDICTS = ("reproduced", "better", "differs", "ours")
"""Words that a table says of a row beside the paper's; the page gives each its colour."""


def draw_page(studies: Sequence[Study], title: str = "Certified active observability, reproduced") -> str:
    """The page as HTML text."""
    environment = Environment(loader=PackageLoader("ascertain.report"), autoescape=True, trim_blocks=True)
    environment.filters["show"] = show
    environment.filters["printable"] = printable
    environment.filters["verdict"] = _verdict
    sections: list[dict[str, Any]] = [
        {"study": study, "figures": [(figure, draw_svg(figure)) for figure in study.figures]} for study in studies
    ]
    return environment.get_template("report.html").render(
        title=title,
        sections=sections,
        version=__version__,
        alarms=[(study.name, alarm) for study in studies for alarm in study.alarms],
    )


def _verdict(cell: object) -> str:
    """The class of a cell: that of its verdict, "number" or nothing."""
    if isinstance(cell, str):
        return next((word for word in VERDICTS if cell.startswith(word)), "")
    return "number"
