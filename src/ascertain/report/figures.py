"""Figures drawn from records: with the names of their points, and in two sizes for pages.

A drawing scales with the page, and its letters with it. So a page for narrow screens too takes two drawings of a
figure: one in the standard size, and one of `NARROW` size, whose letters are still legible when it is 360 pixels wide.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from ascertain.errors import import_extra
from ascertain.report.labels import MARKER, Box, place_labels
from ascertain.report.record import Figure, Series
from ascertain.report.svg import COLOURS, INK, MARKERS, STANDARD, draw_line, draw_svg, finish_axes

NARROW = (3.7, 3.3)
"""As wide as a telephone: 9-point letters are 12 pixels high where a page shows 360 pixels of it."""
TICK_LETTER = 6.5
"""The width of a letter of a tick's name, with a little air between names."""
LETTER = 7.0
"""The size of the names of points."""
NAME_MARGIN = 0.1
"""Of the axes, on each side: names of the outermost points find a place there."""
FAR = 9.0
"""Names farther from their point, in printer's points, or nearer to another one, are tied to it by a line."""
_NAMES = re.compile(r'(\bid="|href="#|url\(#)')
"""Where an SVG names its parts and refers to them."""


def draw_figure(figure: Figure, size: tuple[float, float] = STANDARD, *, scope: str = "") -> str:
    """The figure as SVG text, the names of its points beside them; its `size` is width and height in inches.

    With a `scope` it is to stand on a page among others: lines and letters take the page's colour, and no name inside
    the drawing is that of another one, whose scope or figure is another.
    """

    def draw(drawing: Any, axes: Any) -> None:
        for k, series in enumerate(figure.series):
            _draw_series(axes, series, k, len(figure.series), size[0])
        finish_axes(drawing, axes, figure.x_label, figure.y_label, log_x=figure.log_x, log_y=figure.log_y)
        for axis, whole, log in (("x", figure.whole_x, figure.log_x), ("y", figure.whole_y, figure.log_y)):
            if whole and not log:
                axes.locator_params(axis=axis, integer=True)
        _write_labels(drawing, axes, figure)

    svg = draw_svg(draw, size)
    return svg if not scope else _NAMES.sub(rf"\1{scope}-{figure.name}-", svg.replace(INK, "currentColor"))


def _draw_series(axes: Any, series: Series, k: int, count: int, width: float) -> None:
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    if series.mark == "bars":
        places = [i + (k - (count - 1) / 2) * 0.8 / count for i in range(len(series.x))]
        bars = axes.bar(places, series.y, width=0.8 / count, label=series.name, color=colour)
        letters = max(1, int(width * 72 / len(series.x) / TICK_LETTER))
        axes.set_xticks(range(len(series.x)), [textwrap.fill(str(x), letters) for x in series.x])
        axes.set_axisbelow(True)
        axes.bar_label(bars, labels=list(series.labels) or None, fmt="%.3g", color=INK, fontsize=8)
    elif series.mark in {"line", "steps"}:
        style = "steps-post" if series.mark == "steps" else "default"
        draw_line(axes, k, series.name, series.x, series.y, style)
    else:
        axes.plot(series.x, series.y, marker, label=series.name, color=colour, markersize=6, alpha=0.9)
        if series.limits:
            low, high = zip(*series.limits, strict=True)
            below = [y - limit for y, limit in zip(series.y, low, strict=True)]
            above = [limit - y for y, limit in zip(series.y, high, strict=True)]
            # Rounding may leave a limit a bit on the wrong side of its point.
            spread = [[max(0.0, length) for length in lengths] for lengths in (below, above)]
            axes.errorbar(series.x, series.y, spread, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)


def _write_labels(drawing: Any, axes: Any, figure: Figure) -> None:
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
