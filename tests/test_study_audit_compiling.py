"""Compilations in vain: counted, computed, and by the trigger and the observers themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ascertain.pipeline.simulated_runs import binomial_limits
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.audit.compiling import (
    compute_crossing,
    count_vain,
    disagrees,
    find_boundary,
    watch_triggers,
)
from ascertain_paper.testbed.settings import load_settings
from tests.reference.auditing import crossing_probability

SMALL = load_settings("small")


@pytest.mark.parametrize("noise", [Fraction(1, 10), Fraction(1, 4)])
@pytest.mark.parametrize("bound", [Fraction(1), Fraction(3), Fraction(11)])
def test_compilations_in_vain_are_computed_as_enumeration_counts_them(noise: Fraction, bound: Fraction) -> None:
    flip, length = Fraction(1, 10), 9
    line = find_boundary(flip, length, bound)
    assert (np.diff(line) >= 0).all()
    exact = crossing_probability(length, flip, bound, noise)
    assert math.isclose(compute_crossing(line, noise), float(exact), rel_tol=1e-12, abs_tol=1e-15)
    assert noise != flip or exact <= 1 / bound


def test_compilations_in_vain_are_as_frequent_as_computed_and_rarer_than_promised() -> None:
    found = count_vain("a test", Fraction(1, 50), 120, (0, 10, 100), 3_000)
    for each in found:
        low, high = binomial_limits(each.compiled, each.streams, 1e-6)
        assert low <= each.computed <= high and each.computed <= each.promised
    assert found[0].compiled > found[1].compiled > 0
    worse = count_vain("a test", Fraction(1, 50), 120, (10,), 500, actual=Fraction(1, 5))
    assert worse[0].compiled / 500 > worse[0].promised


def test_trigger_and_observers_switch_where_the_count_says_they_do() -> None:
    vain = count_vain("watched", SMALL.stream_flip, SMALL.stream_length, (0, 10, 100, 1000), 600)
    found = watch_triggers(Conditions(settings=SMALL, engine=start_engine("local", 1)), "watched", vain, 2)
    assert not any(disagrees(each) for each in found)
    assert len(found) > 4 and sum(each["formula"][1] is not None for each in found) >= 2
    assert any(run[0] is not None for each in found for run in each["observers"][:3])
    assert all(each["observers"][3] is None for each in found), "formal rejection comes before 1 + 1000"
    late = {"formula": [7, None], "trigger": [7, None], "observers": [[7, 30], [None, 30]]}
    assert not disagrees(late)
    assert not disagrees({**late, "observers": [[None, 6], None]}), "it answered before"
    assert disagrees({**late, "trigger": [8, None]})
    assert disagrees({**late, "observers": [[None, 30], [None, 30]]})
    assert disagrees({**late, "observers": [[7, 30], [9, 30]]})
