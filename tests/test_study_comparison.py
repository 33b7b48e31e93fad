"""What may be said beside the paper's figures, and how far chance moves ours."""

from __future__ import annotations

import math
import random
from statistics import mean, stdev

import pytest

from ascertain_paper.studies.comparison import Comparison, compare_under
from ascertain_paper.studies.uncertainty import error_of_mean, error_of_ratio
from ascertain_paper.testbed.settings import load_settings

HERE = Comparison(comparable=True)


@pytest.mark.parametrize(
    ("paper", "figure", "word"),
    [(100.0, 104.9, "reproduced"), (100.0, 95.1, "reproduced"), (100.0, 106.0, "differs: why"),
     (100.0, 60.0, "differs: why"), (-85.5, -79.9, "differs: why"), (-62.2, -71.8, "differs: why"),
     (-62.2, -61.0, "reproduced"), (0.0, 0.0, "reproduced"), (0.0, 1.0, "differs: why")],
)  # fmt: skip
def test_the_papers_own_method_is_reproduced_or_differs_in_either_direction(
    paper: float, figure: float, word: str
) -> None:
    assert HERE.replicated(paper, figure, "why") == word


def test_a_method_of_ours_is_better_when_it_needs_less_than_the_tolerance_allows() -> None:
    assert HERE.improved(100.0, 94.0, "why") == "better"
    assert HERE.improved(100.0, 96.0, "why") == "reproduced"
    assert HERE.improved(100.0, 106.0, "why") == "differs: why"
    assert HERE.improved(-1.04, -93.8, "why") == "better"
    assert HERE.improved(-28.19, 2.0, "why") == "differs: why"


def test_what_chance_could_have_made_is_not_told_apart() -> None:
    assert HERE.replicated(-62.2, -71.8, "why", error=5.0) == "too few to tell"
    assert HERE.replicated(-62.2, -71.8, "why", error=4.0) == "differs: why"


def test_shares_of_few_operations_tell_nothing_and_of_many_they_do() -> None:
    assert HERE.counted((1, 2000), (0, 40), "why") == "too few to tell"
    assert HERE.counted((1999, 2000), (40, 40), "why") == "too few to tell"
    assert HERE.counted((1, 2000), (0, 2000), "why") == "reproduced"
    assert HERE.counted((1, 2000), (30, 2000), "why") == "differs: why"
    assert HERE.counted((38, 2000), (1911, 2000), "why") == "differs: why"
    assert HERE.counted((38, 2000), (1911, 2000), "why", ours=True) == "better"
    assert HERE.counted((1911, 2000), (38, 2000), "why", ours=True) == "differs: why"
    assert HERE.counted((1, 2000), (0, 0), "why") == "too few to tell"


def test_settings_other_than_the_testbeds_say_nothing_of_the_paper() -> None:
    assert compare_under(load_settings("testbed")) == HERE
    tuned = compare_under(load_settings("tuned"))
    assert tuned.comparable
    assert (tuned.replicated(100, 101, "x"), tuned.replicated(100, 120, "x")) == ("near, as tuned", "differs: x")
    assert tuned.counted((2000, 2000), (2000, 2000), "x") == "near, as tuned"
    elsewhere = compare_under(load_settings("small"))
    assert {
        elsewhere.replicated(1.0, 1.0, "why"),
        elsewhere.improved(2.0, 1.0, "why"),
        elsewhere.counted((1, 2), (2000, 2000), "why"),
    } == {"another testbed"}


def test_the_error_of_a_mean_is_the_textbooks() -> None:
    values = [3.0, 7.0, 8.0, 20.0]
    assert error_of_mean(values) == pytest.approx(stdev(values) / 2)
    assert error_of_mean([1.0]) is None
    assert error_of_ratio([1.0, 2.0], [0.0, 0.0]) is None


def test_the_error_of_a_ratio_is_how_far_it_strays_from_sample_to_sample() -> None:
    draw = random.Random(1)

    def sample() -> tuple[list[float], list[float]]:
        below = [draw.uniform(50, 150) for _ in range(60)]
        return [b * draw.uniform(0.1, 0.5) for b in below], below

    samples = [sample() for _ in range(300)]
    strayed = stdev(sum(above) / sum(below) for above, below in samples)
    estimated = mean(error_of_ratio(above, below) or math.nan for above, below in samples)
    assert estimated == pytest.approx(strayed, rel=0.15)
