"""Figures of studies: their points have names, which stand beside them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from ascertain.errors import import_extra
from ascertain.report import figures
from ascertain.report.record import Figure
from ascertain.report.svg import INK
from ascertain_paper.report.labels import MARKER, Box, place_labels

LETTER = 7.0
"""The size of the names of points."""
NAME_MARGIN = 0.1
"""Of the axes, on each side: names of the outermost points find a place there."""
FAR = 9.0
"""Names farther from their point, in printer's points, or nearer to another one, are tied to it by a line."""


def write_names(drawing: Any, axes: Any, figure: Figure) -> None:
    """Write the names of points beside them; points of a series in one place share a line."""
    markers: list[tuple[object, float]] = []
    drawn: list[Sequence[tuple[object, float]]] = []
    named: dict[tuple[int, float, float], list[str]] = {}
    for k, series in enumerate(figure.series):
        if series.mark == "points":
            markers += zip(series.x, series.y, strict=True)
            for x, y, label in zip(series.x, series.y, series.labels, strict=False):
                named.setdefault((k, float(x), y), []).append(label)
            drawn += [[(x, low), (x, high)] for x, (low, high) in zip(series.x, series.limits, strict=False)]
        elif series.mark in {"line", "steps"}:
            drawn.append(list(zip(series.x, series.y, strict=True)))
    if not named:
        return
    axes.margins(NAME_MARGIN)
    drawing.draw_without_rendering()
    scale = 72 / drawing.dpi
    text_path = import_extra("matplotlib.textpath", "plots").TextPath

    def locate(x: object, y: object) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y)) * scale
        return float(across), float(up)

    names = [", ".join(labels) for labels in named.values()]
    sizes = [(float(text_path((0, 0), name, size=LETTER).get_extents().width) + 2, LETTER + 1) for name in names]
    points = [locate(x, y) for _, x, y in named]
    edge = axes.bbox
    bounds = Box(edge.x0 * scale, edge.y0 * scale, edge.x1 * scale, edge.y1 * scale)
    others = [locate(x, y) for x, y in markers]
    lines = [place for line in drawn for place in _along([locate(x, y) for x, y in line])]
    boxes = place_labels(points, sizes, [*others, *lines], bounds)
    for (_, x, y), (across, up), name, box in zip(named, points, names, boxes, strict=True):
        offset = (box.left + 1 - across, box.bottom + 1.5 - up)
        axes.annotate(name, (x, y), xytext=offset, textcoords="offset points", fontsize=LETTER, color=INK, va="bottom")
        if _distance(box, across, up) > min(FAR, *(_distance(box, *other) for other in others)):
            to_across, to_up = box.nearest(across, up)
            end = (to_across - across, to_up - up)
            line = {"arrowstyle": "-", "linewidth": 0.4, "color": INK, "shrinkA": 0, "shrinkB": 2}
            axes.annotate("", (x, y), xytext=end, textcoords="offset points", arrowprops=line)


def _along(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Places on a line, a marker's width apart, for names to keep clear of."""
    places: list[tuple[float, float]] = []
    for (x, y), (to_x, to_y) in itertools.pairwise(corners):
        if not all(map(math.isfinite, (x, y, to_x, to_y))):  # a limit of zero on a logarithmic axis
            continue
        number = max(1, math.ceil(math.dist((x, y), (to_x, to_y)) / (2 * MARKER)))
        places += [(x + (to_x - x) * i / number, y + (to_y - y) * i / number) for i in range(number + 1)]
    return places


def _distance(box: Box, x: float, y: float) -> float:
    """From a point to a box."""
    return math.hypot(max(box.left - x, 0, x - box.right), max(box.bottom - y, 0, y - box.top))


draw_figure = partial(figures.draw_figure, name_points=write_names)
"""The figure as SVG text, the names of its points beside them."""
