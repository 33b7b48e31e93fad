"""Figures as SVG: the same bytes for the same data, readable on light and dark pages."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ascertain.errors import import_extra
from ascertain.writing import write_whole

STANDARD = (7.2, 4.0)
"""Width and height in inches: 9-point letters are 12 pixels high where a page shows 720 pixels of it."""
COLOURS = ("#2f6fd0", "#d9822b", "#3a9d5d", "#b0509e", "#8a6d3b", "#5b7083")
"""One for each series, in their order; each stands out on white and on black."""
MARKERS = "osD^vP"
"""The shapes of points, in the same order."""
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
"""What makes drawings alike; the salt makes the names inside an SVG the same every time."""


def draw_svg(draw: Callable[[Any, Any], None], size: tuple[float, float] = STANDARD) -> str:
    """What `draw` makes of an empty drawing and its axes, as SVG text; its `size` is width and height in inches."""
    matplotlib = import_extra("matplotlib", "plots")
    canvas = import_extra("matplotlib.figure", "plots")
    text = io.StringIO()
    with matplotlib.rc_context(_SETTINGS):
        drawing = canvas.Figure(figsize=size, layout="constrained")
        draw(drawing, drawing.subplots())
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": "ascertain"})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def write_lines(path: Path, lines: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str) -> None:
    """Write lines by name, each a list of points, over a logarithmic axis as an SVG file."""

    def draw(drawing: Any, axes: Any) -> None:
        for k, (name, points) in enumerate(lines.items()):
            draw_line(axes, k, name, [x for x, _ in points], [y for _, y in points])
        finish_axes(drawing, axes, x_label, y_label, log_x=True)

    write_whole(path, draw_svg(draw).encode())


def draw_line(axes: Any, k: int, name: str, x: Sequence[object], y: Sequence[float], style: str = "default") -> None:
    """Draw series number k as a line."""
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    alone = marker if len(x) == 1 else None  # a line with one end would not be seen
    axes.plot(x, y, marker=alone, label=name, color=colour, linewidth=1.4, markersize=6, drawstyle=style)


def finish_axes(
    drawing: Any, axes: Any, x_label: str, y_label: str, *, log_x: bool = False, log_y: bool = False
) -> None:
    """Add what stands around the series: labels, scales, a grid, and a legend where there are several."""
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    # A scale that is set takes the names of ticks away; linear ones are there already.
    if log_x:
        axes.set_xscale("log")
    if log_y:
        axes.set_yscale("log")
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)
    if len(axes.get_legend_handles_labels()[1]) > 1:
        _write_legend(drawing)


def _write_legend(drawing: Any) -> None:
    """The names of the series above the axes, in as many columns as fit."""
    for columns in (3, 2, 1):
        legend = drawing.legend(frameon=False, labelcolor=INK, loc="outside upper left", ncols=columns)
        if legend.get_window_extent().width <= drawing.bbox.width:
            return
        if columns > 1:
            legend.remove()
