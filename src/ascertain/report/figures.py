"""Figures as SVG: the same bytes for the same data, readable on light and dark pages."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ascertain.errors import import_extra
from ascertain.report.record import Figure, Series
from ascertain.writing import write_whole

STANDARD = (7.2, 4.0)
"""Width and height in inches: 9-point letters are 12 pixels high where a page shows 720 pixels of it."""
COLOURS = ("#2f6fd0", "#d9822b", "#3a9d5d", "#b0509e", "#8a6d3b", "#5b7083")
MARKERS = "osD^vP"
TICK_LETTER = 6.5
"""The width of a letter of a tick's name, with a little air between names."""
INK = "#7a7a7a"
"""Lines and letters in a grey that stands out on white and on black."""
_SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "ascertain",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw_figure(
    figure: Figure,
    size: tuple[float, float] = STANDARD,
    annotate: Callable[[Any, Any, Figure], None] | None = None,
) -> str:
    """The figure as SVG text, without a background of its own; its `size` is width and height in inches.

    `annotate` may add to the drawing and its axes when everything else is drawn.
    """
    matplotlib = import_extra("matplotlib", "plots")
    canvas = import_extra("matplotlib.figure", "plots")
    with matplotlib.rc_context(_SETTINGS):
        drawing = canvas.Figure(figsize=size, layout="constrained")
        axes = drawing.subplots()
        for k, series in enumerate(figure.series):
            _draw_series(axes, series, k, len(figure.series), size[0])
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        if figure.log_x:
            axes.set_xscale("log")
        if figure.log_y:
            axes.set_yscale("log")
        axes.grid(visible=True, alpha=0.25, linewidth=0.6)
        if len(figure.series) > 1:
            _write_legend(drawing)
        if annotate is not None:
            annotate(drawing, axes, figure)
        text = io.StringIO()
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": "ascertain"})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def write_figure(path: Path, figure: Figure) -> None:
    """Write the figure as an SVG file."""
    write_whole(path, draw_figure(figure).encode())


def _write_legend(drawing: Any) -> None:
    """The names of the series above the axes, in as many columns as fit."""
    for columns in (3, 2, 1):
        legend = drawing.legend(frameon=False, labelcolor=INK, loc="outside upper left", ncols=columns)
        if legend.get_window_extent().width <= drawing.bbox.width:
            return
        if columns > 1:
            legend.remove()


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
        alone = marker if len(series.x) == 1 else None  # a line with one end would not be seen
        axes.plot(
            series.x,
            series.y,
            marker=alone,
            label=series.name,
            color=colour,
            linewidth=1.4,
            markersize=6,
            drawstyle=style,
        )
    else:
        axes.plot(series.x, series.y, marker, label=series.name, color=colour, markersize=6, alpha=0.9)
        if series.limits:
            low, high = zip(*series.limits, strict=True)
            below = [y - limit for y, limit in zip(series.y, low, strict=True)]
            above = [limit - y for y, limit in zip(series.y, high, strict=True)]
            # Rounding may leave a limit a bit on the wrong side of its point.
            spread = [[max(0.0, length) for length in lengths] for lengths in (below, above)]
            axes.errorbar(series.x, series.y, spread, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
