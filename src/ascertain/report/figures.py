"""Figures of studies as SVG: the same bytes for the same data, readable on light and dark pages."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

from ascertain.study.record import Figure, Series

COLOURS = ("#2f6fd0", "#d9822b", "#3a9d5d", "#b0509e", "#8a6d3b", "#5b7083")
MARKERS = "osD^vP"
_INK = "#7a7a7a"
"""Lines and letters in a grey that stands out on white and on black."""
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


def draw_svg(figure: Figure, width: float = 7.2, height: float = 4.0) -> str:
    """The figure as SVG text, without a background of its own."""
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
        axes.grid(visible=True, alpha=0.25, linewidth=0.6)
        if len(figure.series) > 1:
            axes.legend(frameon=False, labelcolor=_INK)
        text = io.StringIO()
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": "ascertain"})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def _draw_series(axes: Any, series: Series, k: int, count: int) -> None:
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    if series.mark == "bars":
        places = [i + (k - (count - 1) / 2) * 0.8 / count for i in range(len(series.x))]
        bars = axes.bar(places, series.y, width=0.8 / count, label=series.name, color=colour)
        axes.set_xticks(range(len(series.x)), [str(x) for x in series.x])
        axes.bar_label(bars, labels=list(series.labels) or None, fmt="%.3g", color=_INK, fontsize=8)
    elif series.mark == "line":
        axes.plot(series.x, series.y, label=series.name, color=colour, linewidth=1.4)
    else:
        axes.plot(series.x, series.y, marker, label=series.name, color=colour, markersize=6, alpha=0.9)
        for x, y, label in zip(series.x, series.y, series.labels, strict=False):
            axes.annotate(label, (x, y), xytext=(5, 3), textcoords="offset points", fontsize=6.5, color=_INK)
