"""Eight shells in the closed loop: counts that follow from the run, and one run where no bank is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from ascertain.task.canonical import canonical_bytes
from ascertain_paper.campaign.campaign import run_campaign
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.observing import Controller
from ascertain_paper.studies.replay import study as replay
from ascertain_paper.studies.replay.study import STAGED, WEIGHTED, replay_operation, summarise_replay
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.confirming import list_shells, verify, weigh

TEXT = load_settings("small").text
EAGER = Controller("eager", "eager", equal_weights=True)


def test_the_counts_of_an_active_operation_follow_from_its_candidates_and_reads() -> None:
    testbed = load_testbed("small")
    found = replay_operation((TEXT, 0, (STAGED, EAGER)))
    operation = testbed.draw(next(iter(testbed.slots())))
    shells = list_shells(testbed.logged(operation))
    assert found["active"]
    assert operation.active
    for place, kept in enumerate((shells, shells[: replay.SHELLS])):
        candidates = len({operation.nominal_endpoint}.union(*kept))
        eager, staged = found["runs"]["eager"][place], found["runs"]["staged"][place]
        assert eager["candidates"] == staged["candidates"] == candidates
        weight = weigh(kept, operation.nominal_endpoint, alike=True)
        reads, _, steps = verify(testbed, operation, weight, testbed.settings.eager_risk)
        assert (eager["reads"], eager["model_steps"]) == (reads, steps)
        # Before the fallback the nominal alone is stepped; then the bank is led through that, and scored on the rest,
        # every candidate until it is beaten.
        assert candidates < staged["model_steps"] < (candidates + 1) * staged["reads"]
        assert staged["outcome"] == eager["outcome"] == "correct"


def test_a_run_that_never_falls_back_is_the_same_with_either_bank() -> None:
    found = replay_operation((TEXT, 2, (STAGED,)))
    assert not found["active"]
    whole, few = found["runs"]["staged"]
    assert whole == few
    assert whole["candidates"] == whole["compilations"] == 0
    assert whole["model_steps"] == whole["reads"]


def test_one_worker_and_two_give_the_same_bytes() -> None:
    cases = [(TEXT, number, (STAGED,)) for number in (0, 1, 2, 20)]

    def run(workers: int) -> bytes:
        return canonical_bytes(run_campaign(replay_operation, cases, start_engine("local", workers)))

    assert run(2) == run(1)


def test_the_study_sums_up_what_single_operations_did() -> None:
    settings = load_settings("small")
    study = replay.study(Conditions(settings=settings, engine=start_engine("local", 1)))
    testbed = load_testbed("small")
    number = len(list(testbed.slots()))
    single = [replay_operation((TEXT, i, (STAGED, WEIGHTED))) for i in range(number)]
    full, eight, *ours = study.rows
    assert [row["policy"] for row in ours] == [WEIGHTED.name] * 2
    for place, row in enumerate(study.rows):
        for key in ("candidates", "model_steps", "reads", "compilations"):
            assert row[key] == sum(result["runs"][row["policy"]][place % 2][key] for result in single)
        assert (row["correct"], row["wrong"]) == (len(single), 0)
    table = {row[0]: row for row in study.tables[0].rows}
    assert table["fallback candidates"][3] == pytest.approx(100 * (eight["candidates"] / full["candidates"] - 1))
    assert table["fallback candidates"][5] == -62.20
    assert {row[-1] for row in table.values()} == {"another testbed"}
    assert study.alarms == ()


def test_results_from_a_store_whose_keys_are_sorted_give_the_same_study() -> None:
    result: dict[str, Any] = replay_operation((TEXT, 0, (STAGED, EAGER)))
    stored = {**result, "runs": dict(sorted(result["runs"].items()))}
    assert list(stored["runs"]) != list(result["runs"])
    fresh, resumed = (summarise_replay(load_settings("small"), [r], quick=False) for r in (result, stored))
    assert resumed == fresh and [row["policy"] for row in fresh.rows] == ["staged", "staged", "eager", "eager"]


def test_a_wrong_answer_is_said_loudly() -> None:
    result: dict[str, Any] = replay_operation((TEXT, 0, (STAGED,)))
    result["runs"]["staged"][1]["outcome"] = "wrong"
    study = summarise_replay(load_settings("small"), [result], quick=True)
    assert study.alarms == ("staged, J = 8: 1 WRONG answers",)


def test_keeping_fewer_candidates_than_the_papers_is_a_difference_and_no_merit() -> None:
    result: dict[str, Any] = replay_operation((TEXT, 0, (STAGED,)))
    for run, share in zip(result["runs"]["staged"], (100, 10), strict=True):
        run.update(candidates=share, model_steps=share, reads=100)
    study = summarise_replay(load_settings("testbed"), [result] * 4, quick=True)
    verdicts = {row[0]: row[-1] for row in study.tables[0].rows}
    assert verdicts["fallback candidates"] == verdicts["model steps"] == "differs: other plants, other shells"
    assert verdicts["physical reads (change in number)"] == "differs: other plants"
    assert verdicts["correct"] == "reproduced"
