"""Figures of studies as SVG: the same bytes for the same data, readable on light and dark pages."""

from __future__ import annotations

import io
import re
from importlib import import_module
from typing import Any

from ascertain.study.record import Figure, Series

COLOURS = ("#2f6fd0", "#d9822b", "#3a9d5d", "#b0509e", "#8a6d3b", "#5b7083")
MARKERS = "osD^vP"
LETTER = 7.0
"""The size of the names of points."""
_INK = "#7a7a7a"
"""Lines and letters in a grey that stands out on white and on black."""
_NAMES = re.compile(r'(\bid="|href="#|url\(#)')
_SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "ascertain",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw_svg(figure: Figure, width: float = 7.2, height: float = 4.0, *, scope: str = "") -> str:
    """The figure as SVG text, without a background of its own.

    With a `scope` it is to stand on a page among others: lines and letters take the page's colour, and no name inside
    the drawing is that of another one, whose scope or figure is another.
    """
    matplotlib: Any = import_module("matplotlib")
    canvas: Any = import_module("matplotlib.figure")
    with matplotlib.rc_context(_SETTINGS):
        drawing = canvas.Figure(figsize=(width, height), layout="constrained")
        axes = drawing.subplots()
        for k, series in enumerate(figure.series):
            _draw_series(axes, series, k, len(figure.series))
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        if figure.log_x:
            axes.set_xscale("log")
        if figure.log_y:
            axes.set_yscale("log")
        _place_labels(drawing, axes, figure)
        axes.grid(visible=True, alpha=0.25, linewidth=0.6)
        if len(figure.series) > 1:
            axes.legend(frameon=False, labelcolor=_INK)
        text = io.StringIO()
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": "ascertain"})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    return svg if not scope else _NAMES.sub(rf"\1{scope}-{figure.name}-", svg.replace(_INK, "currentColor"))


def _draw_series(axes: Any, series: Series, k: int, count: int) -> None:
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    if series.mark == "bars":
        places = [i + (k - (count - 1) / 2) * 0.8 / count for i in range(len(series.x))]
        bars = axes.bar(places, series.y, width=0.8 / count, label=series.name, color=colour)
        axes.set_xticks(range(len(series.x)), [str(x) for x in series.x])
        axes.bar_label(bars, labels=list(series.labels) or None, fmt="%.3g", color=_INK, fontsize=8)
    elif series.mark in {"line", "steps"}:
        style = "steps-post" if series.mark == "steps" else "default"
        axes.plot(series.x, series.y, label=series.name, color=colour, linewidth=1.4, drawstyle=style)
    else:
        axes.plot(series.x, series.y, marker, label=series.name, color=colour, markersize=6, alpha=0.9)


def _place_labels(drawing: Any, axes: Any, figure: Figure) -> None:
    """Write the names of points beside them, from the bottom up, each above those that it would cover."""
    named = [
        (x, y, label)
        for series in figure.series
        if series.mark == "points"
        for x, y, label in zip(series.x, series.y, series.labels, strict=False)
    ]
    if not named:
        return
    drawing.draw_without_rendering()
    scale, taken = 72 / drawing.dpi, list[tuple[float, float, float]]()
    places = [(*(axes.transData.transform((x, y)) * scale), x, y, label) for x, y, label in named]
    for left, bottom, x, y, label in sorted(places, key=lambda place: (place[1], place[0])):
        width, at = 0.55 * LETTER * len(label), bottom - 2.0
        for low, start, end in sorted(taken):
            if start < left + width and left < end and abs(at - low) < LETTER:
                at = low + LETTER
        taken.append((at, left, left + width))
        offset = (6, at - bottom)
        axes.annotate(label, (x, y), xytext=offset, textcoords="offset points", fontsize=LETTER, color=_INK)
