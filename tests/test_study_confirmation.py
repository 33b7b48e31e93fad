"""The large benchmark: its figures recomputed plainly, whoever computes them, and loud when something is wrong."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain_paper.calibration import calibrate_testbed
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.comparison import Comparison
from ascertain_paper.studies.confirmation import study as confirmation
from ascertain_paper.studies.confirmation import tables as confirmation_tables
from ascertain_paper.studies.confirmation.compilers import COMPILERS, DIRECT, compiler_row, compiler_table, direct_table
from ascertain_paper.studies.confirmation.sizes import size_table
from ascertain_paper.studies.confirmation.study import SHELLS, confirm_operation, evaluation_slots
from ascertain_paper.study import Study
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import Testbed
from tests.reference.confirming import list_shells, verify, weigh

FROZEN = Comparison(comparable=True)


@pytest.fixture(autouse=True)
def few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirmation, "BLOCKS", {"quick": (2, 1)})
    monkeypatch.setattr(confirmation, "COMPARED", {"quick": 2})


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
    found = confirm_operation((testbed.settings.text, slot, 2, DIRECT))
    operation = testbed.draw(slot)
    shells = list_shells(testbed.logged(operation))
    assert found["shells"] == len(shells)
    assert operation.true_endpoint in shells[found["rank"] - 1]
    for kind, limits in (("ours", (None, SHELLS, 2)), ("equal", (None, SHELLS))):
        for run, limit in zip(found[kind], limits, strict=True):
            weight = weigh(shells[:limit], operation.nominal_endpoint, alike=kind == "equal")
            reads, state, steps = verify(testbed, operation, weight, testbed.settings.staged_risk)
            assert (run["candidates"], run["reads"]) == (len(weight), reads)
            assert run["verifier_steps"] == steps
            assert (run["outcome"] == "correct") == (state == operation.true_endpoint)
    assert found["compilers"]["exhaustive"]["equal"]
    assert all(found["compilers"][name]["equal"] for name in DIRECT)
    paths = 1 + 24 * 4 + 24 * 23 // 2 * 16
    assert found["compilers"]["exhaustive"]["evaluations"] == paths


def test_a_truth_that_is_not_kept_costs_an_abstention_and_never_a_wrong_answer() -> None:
    testbed = small().testbed
    slots = evaluation_slots(testbed, 1)
    found = [confirm_operation((testbed.settings.text, slot, 0, ())) for slot in slots[:4]]
    runs = [result["ours"][2] for result in found]
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
    single = [confirm_operation((conditions.settings.text, slot, shells, ())) for slot in slots]
    places = [("equal", 0), ("equal", 1), ("ours", 0), ("ours", 1), ("ours", 2)]
    for (weights, place), row in zip(places, study.rows, strict=True):
        assert row["bank"].startswith("our weights, ") == (weights == "ours")
        for key in ("candidates", "verifier_steps", "reads"):
            assert row[key] == sum(result[weights][place][key] for result in single)
        assert row["correct"] + row["abstained"] == len(slots)
        assert row["wrong"] == 0
    assert study.alarms == ()
    assert [row["operations"] for row in study.facts["compilers"]] == [len(slots), 2, 2, len(slots)]
    retained = dict(zip(study.figures[0].series[0].x, study.figures[0].series[0].y, strict=True))
    kept = 100 * study.rows[1]["candidates"] / study.rows[0]["candidates"]
    assert retained["candidate states"] == pytest.approx(kept)


@pytest.mark.usefixtures("five_operations")
def test_one_worker_and_two_give_the_same_store_and_times_are_kept_apart(tmp_path: Path) -> None:
    def run(workers: int) -> bytes:
        conditions = small(workers, folder=tmp_path / str(workers), resume=True)
        (tmp_path / str(workers)).mkdir()
        results = confirmation.confirm_operations(conditions, 3)
        assert all(set(result["microseconds"]) >= {"merging", "exhaustive"} for result in results)
        with conditions.store("confirmation") as store:
            assert store is not None and [result for _, result in store.results()] == results
            return store.export()

    assert run(2) == run(1)


@pytest.mark.usefixtures("five_operations")
def test_the_exhaustive_audit_compares_the_direct_compiler_everywhere() -> None:
    study = confirmation.study(small(exhaustive=True))
    papers, ours = study.facts["compilers"][1:3]
    assert (papers["compiler"], papers["operations"], papers["equal"]) == ("direct-unmerged", 2, 2)
    assert (ours["compiler"], ours["operations"], ours["equal"]) == ("direct", 5, 5)
    assert any("Ours, which merges, on all 5 operations" in sentence for sentence in study.findings)


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
    good = [confirm_operation((conditions.settings.text, slot, 3, ())) for slot in slots]

    def summarise(results: list[dict[str, Any]], name: str = "small") -> Study:
        return confirmation_tables.summarise_confirmation(load_settings(name), calibration, results, quick=True)

    assert summarise(good).alarms == ()
    wrong = deepcopy(good)
    wrong[3]["equal"][1]["outcome"] = wrong[4]["ours"][0]["outcome"] = "wrong"
    assert summarise(wrong).alarms == (
        "J = 8: 1 WRONG acceptances",
        "our weights, full bank: 1 WRONG acceptances",
    )
    unequal = deepcopy(good)
    unequal[5]["compilers"]["exhaustive"]["equal"] = False
    assert summarise(unequal).alarms == ("exhaustive and merging give different maps on 1 operations",)
    assert "The compilers do not agree." in summarise(unequal).findings
    # So few operations say nothing of the paper's outcomes, and another testbed nothing at all.
    frozen, elsewhere = verdicts(summarise(good, "testbed")), verdicts(summarise(good))
    for metric in confirmation_tables.OUTCOMES:
        assert frozen["confirmation", metric] == "too few to tell"
    assert frozen["calibration", "calibrated J"] == "too few to tell"
    assert frozen["direct", "early proofs"] == "too few to tell"
    assert frozen["compilers", "merging"] == "better"
    assert frozen["confirmation", "candidate states"].startswith(("reproduced", "differs: banks of", "too few"))
    assert set(elsewhere.values()) == {"another testbed"}


def verdicts(study: Study) -> dict[tuple[str, str], str]:
    """By table and row, what is said beside the paper's figure; every table that has one says something."""
    said: dict[tuple[str, str], str] = {}
    for table in study.tables:
        column = next((k for k, name in enumerate(table.columns) if name.endswith((" is", " are"))), None)
        assert (column is not None) == any("paper" in name for name in table.columns)
        if column is not None:
            said |= {(table.name, str(row[0])): str(row[column]) for row in table.rows if row[column] is not None}
    return said


def test_the_table_of_sizes_has_every_operation_in_one_quarter_and_the_large_ones_again() -> None:
    sizes = [(100, 90), (5_000, 500), (200, 100), (3_001, 600), (3_000, 700), (400, 100), (300, 100)]
    results = [{"equal": [{"candidates": full}, {"candidates": eight}]} for full, eight in sizes]
    rows = {str(row[0]): row for row in size_table(results, FROZEN).rows}
    quarters = [rows[f"quarter {k}"] for k in (1, 2, 3, 4)]
    assert [row[1] for row in quarters] == [1, 2, 2, 2] and [row[2] for row in quarters] == [100, 300, 3_000, 5_000]
    assert quarters[1][4] == pytest.approx(100 * (200 / 500 - 1))
    assert rows["more than 3,000"][1] == 2
    assert rows["more than 3,000"][4] == pytest.approx(100 * (1_100 / 8_001 - 1))
    assert rows["all"][3] == Fraction(12_001, 7)
    assert quarters[0][-1] == "differs: banks of 100, not 3,760"


def test_steps_of_a_candidate_are_judged_beside_the_papers() -> None:
    """The paper's 20,210,639 steps of 1,090,024 candidates are 18.54 each."""
    bank = {"candidates": 1_000, "reads": 5, "outcome": "correct"}
    for steps, verdict in ((18_540, "reproduced"), (90_000, "differs: other plants")):
        row = confirmation_tables.steps_row(
            {**bank, "verifier_steps": 18_620}, {**bank, "verifier_steps": steps}, FROZEN
        )
        assert (row[1], row[2], row[-1]) == (Fraction(1862, 100), Fraction(steps, 1000), verdict)
        assert float(row[4] or 0) == pytest.approx(18.6227, abs=1e-4)


def test_the_direct_compilers_savings_are_recounted_where_each_proved_early_and_neither_is_better() -> None:
    def operation(papers: dict[str, Any] | None, ours: dict[str, Any] | None) -> dict[str, Any]:
        work: dict[str, Any] = {"exhaustive": {"evaluations": 1000, "model_steps": 1, "equal": True}}
        work["merging"] = {"evaluations": 10, "model_steps": 1}
        for name, direct in zip(DIRECT, (papers, ours), strict=True):
            if direct is not None:
                work[name] = {"model_steps": 1, "equal": True, **direct}
        return {"compilers": work, "microseconds": dict.fromkeys(work, 5)}

    proved = {"evaluations": 100, "early_proof": True, "probe_evaluations": 90}
    failed = {"evaluations": 1050, "early_proof": False, "probe_evaluations": 50}
    results = [operation(proved, proved)] * 30 + [operation(failed, proved)] * 10 + [operation(None, failed)]
    results.append(operation(None, None))
    rows = [compiler_row(name, results) for name in COMPILERS]
    table = {row[0]: row[1:] for row in direct_table(results, rows, FROZEN).rows}
    saved = [100 * ((30 * 100 + 10 * 1050) / 40_000 - 1), 100 * ((40 * 100 + 1050) / 41_000 - 1)]
    for what, papers, ours in (
        ("early proofs", "30/40", "40/41"),
        ("evaluations against enumeration, %", *saved),
        ("the same where it proved early, %", -90, -90),
        ("evaluations of a probe that proved nothing", 50, 50),
    ):
        assert [table[what][0], table[what][3]] == [approximately(papers), approximately(ours)]
        assert str(table[what][2]).startswith("differs: "), what
    named = {row["compiler"]: row for row in rows}
    assert named["direct-unmerged"]["early_proofs"] == 30 and named["direct"]["early_proofs"] == 40
    said = {row[0]: row[5] for row in compiler_table(rows, FROZEN).rows}
    assert said["direct"] is None and "better" not in str(said["direct-unmerged"])


def approximately(figure: Any) -> Any:
    return figure if isinstance(figure, str) else pytest.approx(figure)


def test_eight_shells_alone_weigh_little_more_than_among_many() -> None:
    few, many = (sum(1 / j**3 for j in range(1, number + 1)) for number in (8, 100))
    assert f"weigh {100 * (many / few - 1):.1f} % more" in confirmation_tables.weights_choice().effect
