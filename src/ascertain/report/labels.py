"""Where the names of points go in a figure: beside their point, and on no marker and no other name.

A name is a box. Around its point places are tried from near to far, to the right first; the first one that is free is
taken, and where there is none, the one that covers least. All lengths are in printer's points, so that the figure's
axes must be laid out before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

MARKER = 4.0
"""Half the width of a marker, with a little air."""
DISTANCES = (5.0, 8.0, 12.0, 17.0, 23.0, 30.0, 38.0, 47.0, 57.0, 68.0, 80.0)
ANGLES = (0, 180, 90, 270, 30, 330, 150, 210, 60, 300, 120, 240)


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
    taken = [Box(x - MARKER, y - MARKER, x + MARKER, y + MARKER) for x, y in markers]
    placed: dict[int, Box] = {}
    # Points with many neighbours choose last: the others then still stand close to their names.
    for k in sorted(range(len(points)), key=lambda k: (_crowding(points, k), k)):
        placed[k] = min(_places(points[k], sizes[k]), key=lambda box: _badness(box, taken, bounds))
        taken.append(placed[k])
    return [placed[k] for k in range(len(points))]


def _crowding(points: Sequence[tuple[float, float]], k: int) -> int:
    return sum(math.dist(points[k], other) < DISTANCES[5] for other in points)


def _badness(box: Box, taken: Sequence[Box], bounds: Box) -> float:
    """The area that is covered or out of bounds; of equal ones `min` takes the first, which is the nearest."""
    outside = box.area - box.overlap(bounds)
    return round(outside + sum(box.overlap(other) for other in taken), 6)


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
