"""The diagram of a small machine: its states on a circle, an arrow for each way from one to another.

Labels of arrows between the same two states stand below one another. Positions are in pixels, y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ascertain.drawing import template
from ascertain.drawing.printable import printable, shorten

MOST_STATES, MOST_ARROWS = 8, 24
"""More do not stand apart in a picture of this size."""
MOST_LABELS, LONGEST = 3, 22
"""Labels that an arrow shows, and characters of each; hovering shows all of them."""
HEIGHT = 30
"""Of the box of a state."""


def draw_diagram(
    states: Sequence[str], arrows: Mapping[tuple[int, int], Sequence[str]], initial: Sequence[int], title: str
) -> str:
    """The diagram as a self-contained SVG; `arrows[s, t]` lists what leads from s to t."""
    names = [shorten(name, LONGEST) for name in states]
    box = 24 + 8 * max(map(len, names))
    wide = 7 * min(LONGEST, max((len(label) for labels in arrows.values() for label in labels), default=0))
    radius = 0.0 if len(states) == 1 else (box / 2 + wide / 2 + 60) / math.sin(math.pi / max(len(states), 3)) / 1.3
    side = radius + box / 2 + wide + 60
    turn = 2 * math.pi / len(states)
    at = [(side - radius * math.cos(k * turn), radius + 130 - radius * math.sin(k * turn)) for k in range(len(states))]
    return template("diagram.svg").render(
        title=printable(title),
        width=round(2 * side),
        height=round(2 * radius + 260),
        boxes=[(*at[s], names[s], printable(states[s]), s in initial) for s in range(len(states))],
        box=box,
        tall=HEIGHT,
        arrows=[_arrow(at, s, t, labels, (side, radius + 130), box) for (s, t), labels in arrows.items()],
    )


def _arrow(
    at: Sequence[tuple[float, float]], s: int, t: int, labels: Sequence[str], centre: tuple[float, float], box: float
) -> dict[str, Any]:
    """The path of an arrow, and where its labels go: bent to its right, or out of the circle where it is a loop."""
    (x, y), (u, v) = at[s], at[t]
    shown = [shorten(label, LONGEST) for label in labels[:MOST_LABELS]]
    if len(labels) > MOST_LABELS:
        shown.append(f"and {len(labels) - MOST_LABELS} more")
    if s == t:
        if abs(x - centre[0]) > 2 * abs(y - centre[1]):
            out = math.copysign(1, x - centre[0])
            far, begin = x + out * (box / 2 + 34), x + out * box / 2
            path = f"M{begin:.0f},{y - 8:.0f} C{far:.0f},{y - 26:.0f} {far:.0f},{y + 26:.0f} {begin:.0f},{y + 8:.0f}"
            anchor = "start" if out > 0 else "end"
            return _labelled(path, far - out * 4, y + 4 - 7 * (len(shown) - 1), shown, labels, anchor)
        down = 1 if y > centre[1] + 1 else -1
        top, begin = y + down * (HEIGHT / 2 + 34), y + down * HEIGHT / 2
        path = f"M{x - 14:.0f},{begin:.0f} C{x - 30:.0f},{top:.0f} {x + 30:.0f},{top:.0f} {x + 14:.0f},{begin:.0f}"
        return _labelled(path, x, top + (4 if down > 0 else 4 - 14 * (len(shown) - 1)), shown, labels)
    length = math.dist((x, y), (u, v))
    across = (-(v - y) / length, (u - x) / length)
    bend = 0.16 * length
    mid = ((x + u) / 2 + bend * across[0], (y + v) / 2 + bend * across[1])
    (x, y), (u, v) = _edge((x, y), mid, box), _edge((u, v), mid, box)
    # The middle of a quadratic curve is half-way between its control point and the middle of its ends.
    middle = ((x + u) / 4 + mid[0] / 2, (y + v) / 4 + mid[1] / 2)
    path = f"M{x:.0f},{y:.0f} Q{mid[0]:.0f},{mid[1]:.0f} {u:.0f},{v:.0f}"
    low = middle[1] + 8 * across[1] + 4 - 7 * (len(shown) - 1)
    return _labelled(path, middle[0] + 8 * across[0], low, shown, labels)


def _labelled(
    path: str, x: float, y: float, shown: list[str], labels: Sequence[str], anchor: str = "middle"
) -> dict[str, Any]:
    whole = printable(", ".join(labels))
    return {"path": path, "x": round(x), "y": round(y), "shown": shown, "all": whole, "anchor": anchor}


def _edge(centre: tuple[float, float], towards: tuple[float, float], box: float) -> tuple[float, float]:
    """Where a line from the middle of a box leaves it, with a little air."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    part = 1 / max(abs(dx) / (box / 2 + 5), abs(dy) / (HEIGHT / 2 + 5), 1e-9)
    return centre[0] + dx * part, centre[1] + dy * part
