"""The large benchmark: its figures recomputed plainly, whoever computes them, and loud when something is wrong."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ascertain.instances.operations import Slot
from ascertain.instances.settings import load_settings
from ascertain.instances.testbed import Testbed
from ascertain.study import confirmation, confirmation_tables
from ascertain.study.calibration import calibrate_testbed
from ascertain.study.conditions import Conditions
from ascertain.study.confirmation import SHELLS, confirm_operation, evaluation_slots
from ascertain.study.engines import start_engine
from ascertain.study.record import Study
from ascertain.task.canonical import canonical_bytes
from tests.reference.confirming import list_shells, verify, weigh


@pytest.fixture(autouse=True)
def few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirmation, "BLOCKS", {"quick": (2, 1)})
    monkeypatch.setattr(confirmation, "DIRECT", {"quick": 2})


@pytest.fixture
def five_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_five(testbed: Testbed, blocks: int) -> list[Slot]:
        return evaluation_slots(testbed, blocks)[:5]

    monkeypatch.setattr(confirmation, "evaluation_slots", first_five)


def small(workers: int = 1, **changes: Any) -> Conditions:
    conditions = Conditions(settings=load_settings("small"), engine=start_engine("local", workers))
    return replace(conditions, **changes)


@pytest.mark.parametrize("number", [0, 11])
def test_an_operation_is_confirmed_as_a_plain_recomputation_says(number: int) -> None:
    testbed = small().testbed
    slot = evaluation_slots(testbed, 1)[number]
    found = confirm_operation((testbed.settings.text, slot, 2, True))
    operation = testbed.draw(slot)
    shells = list_shells(testbed.logged(operation))
    assert found["shells"] == len(shells)
    assert operation.true_endpoint in shells[found["rank"] - 1]
    for kind, limits in (("banks", (None, SHELLS, 2)), ("uniform", (None, SHELLS))):
        for run, limit in zip(found[kind], limits, strict=True):
            weight = weigh(shells[:limit], operation.nominal_endpoint, alike=kind == "uniform")
            reads, state = verify(testbed, operation, weight, testbed.settings.staged_risk)
            assert (run["candidates"], run["reads"]) == (len(weight), reads)
            assert run["verifier_steps"] == len(weight) * reads
            assert (run["outcome"] == "correct") == (state == operation.true_endpoint)
    assert found["compilers"]["exhaustive"]["equal"]
    assert found["compilers"]["direct"]["equal"]
    paths = 1 + 24 * 4 + 24 * 23 // 2 * 16
    assert found["compilers"]["exhaustive"]["evaluations"] == paths


def test_a_truth_that_is_not_kept_costs_an_abstention_and_never_a_wrong_answer() -> None:
    testbed = small().testbed
    slots = evaluation_slots(testbed, 1)
    found = [confirm_operation((testbed.settings.text, slot, 0, False)) for slot in slots[:4]]
    runs = [result["banks"][2] for result in found]
    assert all(run["candidates"] == 1 for run in runs)  # J = 0 keeps the nominal, and every operation here is active
    assert [run["outcome"] for run in runs] == ["abstained"] * 4
    assert all(run["reads"] == testbed.settings.stream_length for run in runs)


def test_the_study_adds_up_and_calibrates_as_the_calibration_does() -> None:
    conditions = small()
    study = confirmation.study(conditions)
    shells = calibrate_testbed(conditions.testbed, blocks=2).whole.shells
    assert study.facts["calibrated_shells"] == shells
    assert study.facts["coverage"] == "2/3"
    slots = evaluation_slots(conditions.testbed, 1)
    single = [confirm_operation((conditions.settings.text, slot, shells, False)) for slot in slots]
    for place, row in enumerate(study.rows):
        for key in ("candidates", "verifier_steps", "reads"):
            assert row[key] == sum(result["banks"][place][key] for result in single)
        assert row["correct"] + row["abstained"] == len(slots)
        assert row["wrong"] == 0
    assert study.alarms == ()
    assert [row["operations"] for row in study.facts["compilers"]] == [len(slots), 2, len(slots)]
    retained = dict(zip(study.figures[0].series[0].x, study.figures[0].series[0].y, strict=True))
    kept = 100 * study.rows[1]["candidates"] / study.rows[0]["candidates"]
    assert retained["candidate states"] == pytest.approx(kept)


@pytest.mark.usefixtures("five_operations")
def test_one_worker_and_two_give_the_same_bytes_apart_from_times() -> None:
    def run(workers: int) -> bytes:
        results = confirmation.confirm_operations(small(workers), 3)
        for result in results:
            assert set(result.pop("microseconds")) >= {"merging", "exhaustive"}
        return canonical_bytes(results)

    assert run(2) == run(1)


@pytest.mark.usefixtures("five_operations")
def test_the_exhaustive_audit_compares_the_direct_compiler_everywhere() -> None:
    study = confirmation.study(small(exhaustive=True))
    direct = study.facts["compilers"][1]
    assert (direct["compiler"], direct["operations"], direct["equal"]) == ("direct", 5, 5)
    assert any("on all 5 operations" in sentence for sentence in study.findings)


@pytest.mark.usefixtures("five_operations")
def test_a_study_that_was_kept_is_resumed_without_computing_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = confirmation.study(small(folder=tmp_path))

    def refuse(case: object) -> None:
        raise AssertionError(case)

    monkeypatch.setattr(confirmation, "rank_case", refuse)
    monkeypatch.setattr(confirmation, "confirm_operation", refuse)
    again = confirmation.study(small(folder=tmp_path, resume=True))
    assert (again.rows, again.tables) == (first.rows, first.tables)


def test_wrong_answers_and_unequal_maps_are_said_loudly() -> None:
    conditions = small()
    calibration = confirmation.calibrate(conditions)
    slots = evaluation_slots(conditions.testbed, 1)
    good = [confirm_operation((conditions.settings.text, slot, 3, False)) for slot in slots]

    def summarise(results: list[dict[str, Any]]) -> Study:
        return confirmation_tables.summarise_confirmation(
            calibration, results, quick=True, exhaustive=False, seconds=0.0
        )

    assert summarise(good).alarms == ()
    wrong = deepcopy(good)
    wrong[3]["banks"][1]["outcome"] = "wrong"
    assert summarise(wrong).alarms == ("J = 8: 1 WRONG acceptances",)
    unequal = deepcopy(good)
    unequal[5]["compilers"]["exhaustive"]["equal"] = False
    assert summarise(unequal).alarms == ("exhaustive and merging give different maps on 1 operations",)
    assert "The compilers do not agree." in summarise(unequal).findings
