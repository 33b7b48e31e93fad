"""Figures drawn from records, in two sizes for pages.

A drawing scales with the page, and its letters with it. So a page for narrow screens too takes two drawings of a
figure: one in the standard size, and one of `NARROW` size, whose letters are still legible when it is 360 pixels wide.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any, TypeAlias

from ascertain.report.record import Figure, Series
from ascertain.report.svg import COLOURS, INK, MARKERS, STANDARD, draw_line, draw_svg, finish_axes

NARROW = (3.7, 3.3)
"""As wide as a telephone: 9-point letters are 12 pixels high where a page shows 360 pixels of it."""
TICK_LETTER = 6.5
"""The width of a letter of a tick's name, with a little air between names."""
_NAMES = re.compile(r'(\bid="|href="#|url\(#)')
"""Where an SVG names its parts and refers to them."""

NamePoints: TypeAlias = Callable[[Any, Any, Figure], None]
"""Writes the names of a figure's points into a drawing and its axes, which are otherwise finished."""


def draw_figure(
    figure: Figure,
    size: tuple[float, float] = STANDARD,
    *,
    scope: str = "",
    name_points: NamePoints | None = None,
) -> str:
    """The figure as SVG text; its `size` is width and height in inches.

    With a `scope` it is to stand on a page among others: lines and letters take the page's colour, and no name inside
    the drawing is that of another one, whose scope or figure is another. Points that have names need `name_points`.
    """
    named = any(series.labels for series in figure.series if series.mark == "points")
    assert name_points is not None or not named, f"nobody writes the names of the points of {figure.name}"

    def draw(drawing: Any, axes: Any) -> None:
        for k, series in enumerate(figure.series):
            _draw_series(axes, series, k, len(figure.series), size[0])
        finish_axes(drawing, axes, figure.x_label, figure.y_label, log_x=figure.log_x, log_y=figure.log_y)
        for axis, whole, log in (("x", figure.whole_x, figure.log_x), ("y", figure.whole_y, figure.log_y)):
            if whole and not log:
                axes.locator_params(axis=axis, integer=True)
        if name_points is not None:
            name_points(drawing, axes, figure)

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
