"""Figures: the same bytes for the same data, and names that cover neither markers nor one another."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.report.record import Figure, Series
from ascertain.report.svg import COLOURS
from ascertain_paper.report.figures import draw_figure
from ascertain_paper.report.labels import MARKER, Box, place_labels

POINTS = Figure(
    "points",
    "Reads against computation",
    "steps",
    "reads",
    (
        Series("here", (1e5, 1e6, 1.01e6), (50.0, 90.0, 90.1), ("one", "two", "three")),
        Series("there", (2e5, 3e6), (60.0, 95.0), mark="line"),
        Series("then", (2e5, 1e6, 3e6), (70.0, 80.0, 95.0), mark="steps"),
    ),
    log_x=True,
)
BARS = Figure("bars", "Counts", "what", "how many", (Series("a", ("x", "y"), (1.0, 2.0), mark="bars"),))


def test_the_same_figure_is_the_same_bytes_and_well_formed() -> None:
    for figure in (POINTS, BARS):
        svg = draw_figure(figure)
        assert svg == draw_figure(figure)
        ElementTree.fromstring(svg)
    assert "currentColor" in draw_figure(POINTS, scope="example") and "currentColor" not in draw_figure(POINTS)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 250)), min_size=1, max_size=12, unique=True))
def test_names_of_points_stay_in_the_picture_and_cover_neither_markers_nor_names(
    points: list[tuple[float, float]],
) -> None:
    bounds = Box(-120, -120, 520, 370)
    boxes = place_labels(points, [(70.0, 8.0)] * len(points), points, bounds)
    markers = [Box(x - MARKER, y - MARKER, x + MARKER, y + MARKER) for x, y in points]
    for k, box in enumerate(boxes):
        assert box.overlap(bounds) == pytest.approx(box.area)
        assert all(box.overlap(other) < 1e-3 for other in (*markers, *boxes[:k]))


def test_a_name_stands_at_the_right_of_a_lonely_point_and_inside_at_the_edge() -> None:
    bounds = Box(0, 0, 100, 100)
    [lonely] = place_labels([(20, 50)], [(30, 8)], [(20, 50)], bounds)
    assert lonely.left > 20 and lonely.bottom < 50 < lonely.top
    [edge] = place_labels([(95, 50)], [(30, 8)], [(95, 50)], bounds)
    assert edge.right < 95 and edge.overlap(bounds) == pytest.approx(240)


@pytest.mark.parametrize(("number", "gap", "left"), [(4, 3.0, 60.0), (5, 3.0, 30.0), (5, 5.0, 60.0), (7, 1.0, 30.0)])
def test_the_line_from_a_point_to_its_name_crosses_no_other_name(number: int, gap: float, left: float) -> None:
    """A column of points near the left edge: their names must queue, but not behind each other."""
    points = [(left, 60.0 + gap * k) for k in range(number)]
    boxes = place_labels(points, [(60.0, 8.0)] * number, points, Box(0, 0, 200, 160))
    for k, point in enumerate(points):
        end = boxes[k].nearest(*point)
        assert not any(other.crosses(point, end) for i, other in enumerate(boxes) if i != k)


def test_a_line_crosses_a_box_that_it_has_a_part_in_and_not_one_that_it_touches() -> None:
    box = Box(10, 10, 20, 14)
    assert box.crosses((0, 12), (15, 12)) and box.crosses((15, 0), (15, 30)) and box.crosses((9, 9), (21, 15))
    assert not box.crosses((0, 12), (10, 12)) and not box.crosses((0, 14), (30, 14)) and not box.crosses((0, 0), (9, 9))


def test_a_line_of_one_point_is_seen_and_limits_are_drawn_through_their_points() -> None:
    def drawn(*series: Series) -> str:
        return draw_figure(Figure("seen", "", "", "", series))

    assert f"fill: {COLOURS[0]}" in drawn(Series("one", (1.0,), (1.0,), mark="line"))
    assert f"fill: {COLOURS[0]}" not in drawn(Series("two", (1.0, 2.0), (1.0, 2.0), mark="line"))
    points = Series("points", (1.0, 2.0), (1.0, 2.0))
    bars = drawn(replace(points, limits=((0.5, 1.5), (1.0, 2.0))))
    assert "LineCollection" in bars and "LineCollection" not in drawn(points)


def test_points_in_one_place_share_a_line_and_crowded_ones_are_tied_to_their_names() -> None:
    twins = Figure("twins", "", "", "", (Series("a", (1.0, 1.0, 2.0), (1.0, 1.0, 2.0), ("one", "two", "three")),))
    svg = draw_figure(twins)
    assert "<!-- one, two -->" in svg and "<!-- three -->" in svg
    crowd = Series("crowd", (1.0,) * 5, (1.0, 1.001, 1.002, 1.003, 5.0), tuple(f"label {i}" for i in range(5)))
    drawn = draw_figure(Figure("crowd", "", "", "", (crowd,)))
    assert len(re.findall(r"<!-- label \d -->", drawn)) == 5
    assert drawn.count('id="patch_') > svg.count('id="patch_')
