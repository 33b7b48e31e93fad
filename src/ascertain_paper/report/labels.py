"""Where the names of points go in a figure: beside their point, and on no marker and no other name.

A name is a box, tied to its point by the shortest line between them, which a figure draws where the two are apart.
Around the point places are tried from near to far, to the right first. The first one is taken that is free, whose line
crosses nothing, and that is clearly nearest to its own point; where there is none, the one that covers least, and among
equal ones that which crosses least. All lengths are in printer's points, so that the figure's axes must be laid out
before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

MARKER = 5.0
"""Half the width of a marker, with a little air."""
DISTANCES = (5.0, 8.0, 12.0, 17.0, 23.0, 30.0, 38.0, 47.0, 57.0, 68.0, 80.0)
"""From a point to its name, tried from near to far: at first beside the marker, at last across a crowd of points."""
ROUNDS = 3
"""How often every name chooses its place; in the figures of the studies nothing changes after the second time."""
ANGLES = (
    *(0, 180, 90, 270, 30, 330, 150, 210, 60, 300, 120, 240),
    *(15, 345, 165, 195, 75, 285, 105, 255, 45, 315, 135, 225),
)
"""In degrees, tried in this order: level with the point first, then above and below, then between."""


@final
@dataclass(frozen=True)
class Box:
    """Sides parallel to the axes; y goes up."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """The area that they share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(0.0, width) * max(0.0, height)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """The place in the box that is nearest to a point."""
        return min(max(x, self.left), self.right), min(max(y, self.bottom), self.top)

    def crosses(self, start: tuple[float, float], end: tuple[float, float]) -> bool:
        """Whether the line from one point to another has a part of some length in the box."""
        enter, leave = 0.0, 1.0
        for at, to, low, high in (
            (start[0], end[0], self.left, self.right),
            (start[1], end[1], self.bottom, self.top),
        ):
            if at == to:
                if not low < at < high:
                    return False
            else:
                first, last = sorted(((low - at) / (to - at), (high - at) / (to - at)))
                enter, leave = max(enter, first), min(leave, last)
        return enter < leave

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.top - self.bottom)


def place_labels(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    markers: Sequence[tuple[float, float]],
    bounds: Box,
) -> list[Box]:
    """A box for the name of each point, of the size given."""
    fixed = [Box(x - MARKER, y - MARKER, x + MARKER, y + MARKER) for x, y in markers]
    placed: dict[int, Box] = {}
    # Points with many neighbours choose last: the others then still stand close to their names. Early names did not
    # know of later ones, so all choose again, as long as that makes the picture better.
    order = sorted(range(len(points)), key=lambda k: (_crowding(points, k), k))
    for _ in range(ROUNDS):
        for k in order:
            others = [(points[i], box) for i, box in placed.items() if i != k]
            taken = [*fixed, *(box for _, box in others)]
            placed[k] = _choose(points[k], sizes[k], taken, others, markers, bounds)
    return [placed[k] for k in range(len(points))]


def _crowding(points: Sequence[tuple[float, float]], k: int) -> int:
    return sum(math.dist(points[k], other) < DISTANCES[5] for other in points)


def _badness(box: Box, taken: Sequence[Box], bounds: Box) -> float:
    """The area that is covered or out of bounds."""
    outside = box.area - box.overlap(bounds)
    return round(outside + sum(box.overlap(other) for other in taken), 6)


def _choose(
    point: tuple[float, float],
    size: tuple[float, float],
    taken: Sequence[Box],
    others: Sequence[tuple[tuple[float, float], Box]],
    markers: Sequence[tuple[float, float]],
    bounds: Box,
) -> Box:
    """The first place that covers and crosses nothing and does not mislead, or the one that does least of it."""
    chosen: tuple[float, int, Box] | None = None
    for box in _places(point, size):
        covered = _badness(box, taken, bounds)
        if chosen is not None and covered > chosen[0]:
            continue
        crossed = _crossings(point, box, others) + _misleads(point, box, markers)
        if chosen is None or (covered, crossed) < chosen[:2]:
            chosen = covered, crossed, box
        if not covered and not crossed:
            break
    assert chosen is not None, "there are places"
    return chosen[2]


def _crossings(point: tuple[float, float], box: Box, others: Sequence[tuple[tuple[float, float], Box]]) -> int:
    """How many lines from a point to its name would cross a name: this one the others', and theirs this one."""
    end = box.nearest(*point)
    return sum(other.crosses(point, end) + box.crosses(start, other.nearest(*start)) for start, other in others)


def _misleads(point: tuple[float, float], box: Box, markers: Sequence[tuple[float, float]]) -> bool:
    """Whether another marker is about as near to the name as its own."""
    own = math.dist(point, box.nearest(*point))
    return any(marker != point and math.dist(marker, box.nearest(*marker)) < own + MARKER for marker in markers)


def _places(point: tuple[float, float], size: tuple[float, float]) -> Iterator[Box]:
    (x, y), (width, height) = point, size
    for distance in DISTANCES:
        for angle in ANGLES:
            across, up = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            # The box touches the circle of that distance with the side or corner that faces the point.
            left = x + distance * across - width * (1 - _facing(across))
            bottom = y + distance * up - height * (1 - _facing(up))
            yield Box(left, bottom, left + width, bottom + height)


def _facing(part: float) -> float:
    """1 where the box lies wholly on the positive side, 0 on the negative one, 1/2 across."""
    return 0.5 if abs(part) < 1e-9 else float(part > 0)
