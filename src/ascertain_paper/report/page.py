"""One page for all studies: self-contained, opens offline, prints, light and dark.

The template holds no computing: everything that it shows stands in the records of the studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.report.page import draw_twice, make_environment
from ascertain.version import __version__
from ascertain_paper.report.figures import draw_figure
from ascertain_paper.report.summary import summarise
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


def draw_page(studies: Sequence[Study], title: str = "Certified active observability, reproduced") -> str:
    """The page as HTML text."""
    environment = make_environment("ascertain_paper.report", verdicts=VERDICTS)
    sections: list[dict[str, Any]] = [
        {"study": study, "figures": [draw_twice(figure, study.name, draw_figure) for figure in study.figures]}
        for study in studies
    ]
    return environment.get_template("report.html").render(
        title=title,
        summaries=summarise(studies),
        sections=sections,
        version=__version__,
        alarms=[(study.name, alarm) for study in studies for alarm in study.alarms],
    )
