"""The controllers' study: single runs recomputed plainly, sums over runs, and loud when something is wrong."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from statistics import median
from typing import Any

import pytest

from ascertain.instances.settings import load_settings
from ascertain.instances.testbed import load_testbed
from ascertain.study.campaign import run_campaign
from ascertain.study.controller import OURS, PAPER, control_operation
from ascertain.study.controller_tables import summarise_controllers
from ascertain.study.engines import start_engine
from ascertain.task.canonical import canonical_bytes
from tests.reference.bank import compile_naively
from tests.reference.confirming import list_shells, verify, weigh

TEXT = load_settings("small").text
BOTH = (*PAPER, *OURS)


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    """Two active operations and two inactive ones."""
    testbed = load_testbed("small")
    active = [testbed.draw(slot).active for slot in testbed.slots()]
    chosen = [i for wanted in (True, False) for i in [k for k, is_so in enumerate(active) if is_so == wanted][:2]]
    return [{"number": i, **control_operation((TEXT, i, BOTH))} for i in chosen]


@pytest.mark.parametrize("place", [0, 1])
def test_eager_reads_and_is_charged_as_a_plain_recomputation_says(place: int, results: list[dict[str, Any]]) -> None:
    testbed = load_testbed("small")
    operation = testbed.draw(list(testbed.slots())[results[place]["number"]])
    logged = testbed.logged(operation)
    weight = weigh(list_shells(logged), operation.nominal_endpoint, alike=False)
    reads, state = verify(testbed, operation, weight, testbed.settings.eager_risk)
    run = results[place]["runs"]["eager"]
    assert (run["reads"], run["outcome"]) == (reads, "correct")
    assert state == operation.true_endpoint
    assert run["model_steps"] - run["compile_steps"] == len(weight) * reads
    assert run["compilations"] == 1
    assert run["evaluations"] == 1 + 24 * 4 + 24 * 23 // 2 * 16
    assert set(compile_naively(logged)) | {operation.nominal_endpoint} == set(weight)


@pytest.mark.parametrize("place", [2, 3])
def test_a_true_nominal_is_confirmed_at_half_the_risk_without_a_bank(place: int, results: list[dict[str, Any]]) -> None:
    testbed = load_testbed("small")
    operation = testbed.draw(list(testbed.slots())[results[place]["number"]])
    assert not operation.active
    alone = {operation.nominal_endpoint: Fraction(1)}
    reads, state = verify(testbed, operation, alone, testbed.settings.staged_risk)
    run = results[place]["runs"]["staged"]
    assert (run["reads"], run["compilations"], run["model_steps"]) == (reads, 0, reads)
    assert state == operation.nominal_endpoint


def test_rows_have_the_means_and_counts_of_their_runs(results: list[dict[str, Any]]) -> None:
    found = summarise_controllers("0" * 64, results, 0.0)
    assert [row["policy"] for row in found.rows] == [controller.name for controller in BOTH]
    for row in found.rows:
        runs = [result["runs"][row["policy"]] for result in results]
        assert Fraction(row["mean_reads"]) == Fraction(sum(run["reads"] for run in runs), len(runs))
        assert Fraction(row["model_steps"]) == Fraction(sum(run["model_steps"] for run in runs), len(runs))
        assert row["compilations"] == sum(run["compilations"] for run in runs)
        assert row["correct"] + row["wrong"] + row["abstained"] == len(runs)
        assert row["wrong"] == 0
    assert found.alarms == ()
    eager, staged, *readwise = (row["compilations"] for row in found.rows[:6])
    assert eager == len(results)
    assert staged <= readwise[3] <= readwise[2] <= readwise[1] <= readwise[0] <= eager


def test_strata_and_triggers_are_of_the_operations_they_name(results: list[dict[str, Any]]) -> None:
    found = summarise_controllers("0" * 64, results, 0.0)
    active = [result for result in results if result["active"]]
    strata = {(row[0], row[1]): row for row in found.tables[1].rows}
    assert strata["active", "staged"][2] == len(active)
    assert strata["inactive", "staged"][2] == len(results) - len(active)
    reads = [result["runs"]["staged"]["reads"] for result in active]
    assert strata["active", "staged"][4] == pytest.approx(sum(reads) / len(reads))
    triggers = {row[0]: row for row in found.tables[2].rows}
    after = [result["runs"]["readwise 0"]["fallback_after"] for result in active]
    assert triggers["readwise 0"][1] == median(count for count in after if count is not None)
    assert "eager" not in triggers


def test_the_figure_shows_every_controller_and_the_papers(results: list[dict[str, Any]]) -> None:
    [figure] = summarise_controllers("0" * 64, results, 0.0).figures
    assert [len(series.x) for series in figure.series] == [len(PAPER), len(OURS), len(PAPER)]


def test_wrong_answers_and_unequal_maps_are_said_loudly(results: list[dict[str, Any]]) -> None:
    spoilt = deepcopy(results[:2])
    spoilt[0]["runs"]["staged"]["outcome"] = "wrong"
    spoilt[1]["map_equal"] = False
    found = summarise_controllers("0" * 64, spoilt, 0.0)
    assert found.alarms == ("staged: 1 WRONG answers", "the compilers disagree on 1 operations")
    assert "not all 2 operations" in found.findings[0]


def test_the_study_gives_the_same_bytes_on_one_worker_and_on_two(results: list[dict[str, Any]]) -> None:
    cases = [(TEXT, result["number"], BOTH) for result in results[1:3]]
    expected = [{key: value for key, value in result.items() if key != "number"} for result in results[1:3]]
    assert canonical_bytes(run_campaign(control_operation, cases, start_engine("local", 2))) == canonical_bytes(
        expected
    )
