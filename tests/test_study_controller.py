"""The controllers' study: single runs recomputed plainly, sums over runs, and loud when something is wrong."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from statistics import median
from typing import Any

import pytest

from ascertain.evidence.trigger import Trigger
from ascertain.task.canonical import canonical_bytes
from ascertain_paper.campaign.campaign import run_campaign
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies import paper
from ascertain_paper.studies.controller.measure import ALL, AT_RISK, OURS, PAPER, control_operation
from ascertain_paper.studies.controller.study import summarise_controllers
from ascertain_paper.studies.controller.switching import LEVELS, NUMERATORS, median_contradicted, switching_table
from ascertain_paper.study import Study
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.bank import compile_naively
from tests.reference.confirming import list_shells, verify, weigh

SMALL, FROZEN = load_settings("small"), load_settings("testbed")
TEXT = SMALL.text


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    """Two active operations and two inactive ones."""
    testbed = load_testbed("small")
    active = [testbed.draw(slot).active for slot in testbed.slots()]
    chosen = [i for wanted in (True, False) for i in [k for k, is_so in enumerate(active) if is_so == wanted][:2]]
    return [{"number": i, **control_operation((TEXT, i, ALL))} for i in chosen]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("controller", ["eager", "our weights, eager"])
def test_eager_reads_and_is_charged_as_a_plain_recomputation_says(
    place: int, controller: str, results: list[dict[str, Any]]
) -> None:
    testbed = load_testbed("small")
    operation = testbed.draw(list(testbed.slots())[results[place]["number"]])
    logged = testbed.logged(operation)
    weight = weigh(list_shells(logged), operation.nominal_endpoint, alike=controller == "eager")
    reads, state, steps = verify(testbed, operation, weight, testbed.settings.eager_risk)
    run = results[place]["runs"][controller]
    assert (run["reads"], run["outcome"]) == (reads, "correct")
    assert state == operation.true_endpoint
    assert run["model_steps"] - run["compile_steps"] == steps
    assert run["compilations"] == 1
    if controller == "eager":
        assert run["evaluations"] == 1 + 24 * 4 + 24 * 23 // 2 * 16
    assert set(compile_naively(logged)) | {operation.nominal_endpoint} == set(weight)


@pytest.mark.parametrize("place", [2, 3])
def test_a_true_nominal_is_confirmed_at_half_the_risk_without_a_bank(place: int, results: list[dict[str, Any]]) -> None:
    testbed = load_testbed("small")
    operation = testbed.draw(list(testbed.slots())[results[place]["number"]])
    assert not operation.active
    alone = {operation.nominal_endpoint: Fraction(1)}
    reads, state, _ = verify(testbed, operation, alone, testbed.settings.staged_risk)
    run = results[place]["runs"]["staged"]
    assert (run["reads"], run["compilations"], run["model_steps"]) == (reads, 0, reads)
    assert state == operation.nominal_endpoint


def test_results_from_a_store_whose_keys_are_sorted_give_the_same_study(results: list[dict[str, Any]]) -> None:
    stored = [json.loads(canonical_bytes(result)) for result in results]
    assert list(stored[0]["runs"]) != list(results[0]["runs"])
    assert summarise_controllers(SMALL, stored) == summarise_controllers(SMALL, results)


def test_rows_have_the_means_and_counts_of_their_runs(results: list[dict[str, Any]]) -> None:
    found = summarise_controllers(SMALL, results)
    assert [row["policy"] for row in found.rows] == [controller.name for controller in ALL]
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


def test_the_papers_rows_weigh_all_candidates_alike_and_ours_do_not() -> None:
    assert [controller.name for controller in PAPER] == list(paper.CONTROLLER)
    assert all(c.equal_weights and c.compiler == "exhaustive" for c in (*PAPER, AT_RISK))
    assert not any(c.equal_weights or c.compiler == "exhaustive" for c in OURS)


def test_staging_at_its_own_risk_switches_where_the_trigger_reaches_its_inverse(results: list[dict[str, Any]]) -> None:
    testbed = load_testbed("small")
    later = 0
    for result in results:
        if not result["active"]:
            continue
        operation = testbed.draw(list(testbed.slots())[result["number"]])
        stream, drawn = testbed.stream(operation), testbed.plants[operation.slot.plant].plant
        trigger = Trigger(replace(drawn, flip=testbed.settings.stream_flip), operation.nominal_endpoint)
        state, reached = operation.true_endpoint, None
        for number, (command, noise) in enumerate(zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True), 1):
            state, tapped = drawn.step(state, command)
            trigger.observe(command, tapped ^ noise)
            if trigger.reaches(1 / testbed.settings.staged_risk):
                reached = number
                break
        strict, usual = (result["runs"][name]["fallback_after"] for name in (AT_RISK.name, "staged"))
        assert strict == reached and strict >= usual
        later += strict > usual
    assert later


def test_savings_are_against_eager_on_the_same_operations(results: list[dict[str, Any]]) -> None:
    savings = {row["policy"]: row for row in tables_of(summarise_controllers(FROZEN, results))["savings"]}
    assert set(savings) == {controller.name for controller in (*PAPER, AT_RISK)} - {"eager"}
    reads = {name: sum(result["runs"][name]["reads"] for result in results) for name in ("eager", "staged")}
    assert savings["staged"]["change"] == pytest.approx(100 * (reads["staged"] / reads["eager"] - 1))
    assert savings["staged"]["paper"] == savings[AT_RISK.name]["paper"] == pytest.approx(-14.855, abs=0.001)


def test_how_far_staging_can_save_steps_is_computed(results: list[dict[str, Any]]) -> None:
    found = summarise_controllers(FROZEN, results)
    [said] = [sentence for sentence in found.findings if "times fewer steps than eager" in sentence]
    eager, staged = found.rows[:2]
    ratio = float(Fraction(eager["model_steps"]) / Fraction(staged["model_steps"]))
    assert f"Staging takes {ratio:.2f} times" in said
    assert f"{eager['compilations']}/{staged['compilations']} =" in said
    # 1.6532 million steps for 20 of 72 banks leave at most 5.95 of eager's 8.62 million to the compiler.
    assert "5.2 times cannot be reached here" in said and "at least 31 %" in said


def tables_of(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Rows by the names of their columns; of columns with one name the last."""
    return {t.name: [dict(zip(t.columns, row, strict=True)) for row in t.rows] for t in study.tables}


def test_strata_and_triggers_are_of_the_operations_they_name(results: list[dict[str, Any]]) -> None:
    tables = tables_of(summarise_controllers(SMALL, results))
    active = [result for result in results if result["active"]]
    strata = {(row["outcome"], row["policy"]): row for row in tables["strata"]}
    row = strata[f"active ({len(active)})", "staged"]
    assert (f"inactive ({len(results) - len(active)})", "staged") in strata
    runs = [result["runs"]["staged"] for result in active]
    assert row["reads"] == pytest.approx(sum(run["reads"] for run in runs) / len(runs))
    assert row["before the switch"] + row["after it"] == pytest.approx(row["reads"])
    triggers = {row["policy"]: row for row in tables["trigger"]}
    after = [result["runs"]["readwise 0"]["fallback_after"] for result in active]
    assert triggers["readwise 0"]["median reads"] == median(count for count in after if count is not None)
    assert "eager" not in triggers


def test_switching_is_watched_as_a_plain_recomputation_says(results: list[dict[str, Any]]) -> None:
    testbed = load_testbed("small")
    for result in results:
        operation = testbed.draw(list(testbed.slots())[result["number"]])
        assert (result["switching"] is not None) == operation.active
        if not operation.active:
            continue
        stream, plant = testbed.stream(operation), testbed.plants[operation.slot.plant].plant
        truth, nominal = operation.true_endpoint, operation.nominal_endpoint
        wrong: list[bool] = []
        for command, noise in zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True):
            (truth, shown), (nominal, expected) = plant.step(truth, command), plant.step(nominal, command)
            wrong.append(shown ^ noise != expected)
        places = [place for place, is_so in enumerate(wrong, 1) if is_so]
        assert result["switching"]["contradicted"] == places[:3]
        flip = testbed.settings.stream_flip
        for name, qs in NUMERATORS.items():
            terms, when = [Fraction(1)] * len(qs), dict[int, int]()
            for place, is_wrong in enumerate(wrong, 1):
                likely = flip if is_wrong else 1 - flip
                terms = [term * (1 - q + q / (2 * likely)) for term, q in zip(terms, qs, strict=True)]
                for level in LEVELS:
                    if level not in when and sum(terms) / len(qs) > level:
                        when[level] = place
            assert result["switching"]["reached"][name] == [when.get(level) for level in LEVELS]
        # The policies switch where the trigger says so.
        for policy, level in (("readwise 0", 1), ("readwise 10", 11), ("readwise 100", 101)):
            reached = result["switching"]["reached"]["mixture"][LEVELS.index(level)]
            assert result["runs"][policy]["fallback_after"] == reached


def test_a_median_of_runs_that_mostly_never_come_so_far_is_never() -> None:
    never = {"contradicted": [3, None, None], "reached": {name: [None] * len(LEVELS) for name in NUMERATORS}}
    once = {"contradicted": [5, 9, 11], "reached": {name: [7] * len(LEVELS) for name in NUMERATORS}}
    assert median_contradicted([never, once], 1) == 4
    assert median_contradicted([never, never, once], 2) is None
    assert switching_table([never, never, once]).rows[-1][1:] == (None, None, None)
    assert switching_table([once]).rows[-1][1:3] == (7.0, 7.0)


def test_the_figure_shows_every_controller_and_the_papers(results: list[dict[str, Any]]) -> None:
    [figure] = summarise_controllers(SMALL, results).figures
    assert [len(series.x) for series in figure.series] == [len(PAPER) + 1, len(OURS), len(PAPER)]


def test_wrong_answers_and_unequal_maps_are_said_loudly(results: list[dict[str, Any]]) -> None:
    spoilt = deepcopy(results[:2])
    spoilt[0]["runs"]["staged"]["outcome"] = "wrong"
    spoilt[1]["map_equal"] = False
    found = summarise_controllers(SMALL, spoilt)
    assert found.alarms == ("staged: 1 WRONG answers", "the compilers disagree on 1 operations")
    assert found.findings[0] == (
        f"{len(ALL) - 1} of {len(ALL)} controllers answer all 2 operations correctly; the others: "
        "staged 1 (0 abstained, 1 wrong)."
    )


def test_an_abstention_is_an_alarm_on_the_frozen_testbed_and_nowhere_else(results: list[dict[str, Any]]) -> None:
    tired = deepcopy(results)
    tired[0]["runs"]["readwise 0"]["outcome"] = "abstained"
    assert summarise_controllers(FROZEN, results).alarms == ()
    assert summarise_controllers(FROZEN, tired).alarms == ("readwise 0: 1 of 4 operations are not answered",)
    elsewhere = summarise_controllers(SMALL, tired)
    assert elsewhere.alarms == ()
    assert "readwise 0 3 (1 abstained, 0 wrong)" in elsewhere.findings[0]


def test_only_our_own_rows_are_better_and_the_papers_never(results: list[dict[str, Any]]) -> None:
    modest = deepcopy(results)
    for result in modest:
        for run in result["runs"].values():
            run.update(reads=5, fallback_after=run["fallback_after"] and 1, model_steps=7, compile_steps=0)
            run.update(evaluations=0, compilations=1)
    tables = tables_of(summarise_controllers(FROZEN, modest))
    ours = {controller.name for controller in OURS}
    for name, columns in (("controller", ("reads are", "banks are")), ("computation", ("together is",))):
        for row in tables[name]:
            verdicts = [row[column] for column in columns]
            assert (verdicts[0] == "better") == (row["policy"] in ours)
            assert all(word == "better" or word.startswith(("reproduced", "differs: ")) for word in verdicts)


def test_readwise_1000_is_said_to_be_staging_where_it_is(results: list[dict[str, Any]]) -> None:
    active = [result for result in results if result["active"]]
    alike = sum(result["runs"]["staged"] == result["runs"]["readwise 1000"] for result in active)
    found = summarise_controllers(FROZEN, results)
    [said] = [sentence for sentence in found.findings if sentence.startswith("Readwise 1000")]
    assert f"the same run on {alike} of {len(active)} active operations" in said
    assert "104.6 -> 100.8" in said
    assert {"When the nominal is formally rejected", "The trigger's numerator", "How candidates are weighted"} <= {
        choice.question for choice in found.choices
    }


def test_nothing_is_said_of_the_paper_or_of_its_size_on_another_testbed(results: list[dict[str, Any]]) -> None:
    found = summarise_controllers(SMALL, results)
    words = [cell for table in found.tables for row in table.rows for cell in row if isinstance(cell, str)]
    assert "another testbed" in words
    assert not [word for word in words if word.startswith(("reproduced", "better", "differs"))]
    text = " ".join([*found.findings, *(choice.chosen + choice.effect for choice in found.choices)])
    assert "2^24" not in text and "302" not in text and "2^10" in text
    assert not any("the paper" in sentence.lower() for sentence in found.findings)


def test_what_is_near_under_settings_fitted_to_the_paper_is_not_called_reproduced(
    results: list[dict[str, Any]],
) -> None:
    fitted = deepcopy(results)
    for result in fitted:
        for name, row in paper.CONTROLLER.items():
            result["runs"][name]["reads"] = round(row.mean_reads) * (2 if name == "readwise 0" else 1)
    study = summarise_controllers(load_settings("tuned"), fitted)
    said = {row["policy"]: row["reads are"] for row in tables_of(study)["controller"]}
    assert {said[name] for name in paper.CONTROLLER if name != "readwise 0"} == {"near, as tuned"}
    assert said["readwise 0"].startswith("differs")
    told = next(sentence for sentence in study.findings if "chosen with the paper's figures in sight" in sentence)
    assert "readwise 0 +99.1 ± 0.0 %" in told and "5 of 6 are within 5 %" in told
    assert not any("in sight" in sentence for sentence in summarise_controllers(FROZEN, fitted).findings)


def test_the_study_gives_the_same_bytes_on_one_worker_and_on_two(results: list[dict[str, Any]]) -> None:
    few = (PAPER[1], AT_RISK, OURS[0])
    cases = [(TEXT, result["number"], few) for result in results[1:3]]
    expected = [
        {**result, "runs": {controller.name: result["runs"][controller.name] for controller in few}}
        for result in results[1:3]
    ]
    found = run_campaign(control_operation, cases, start_engine("local", 2))
    numbered = [{"number": number, **result} for (_, number, _), result in zip(cases, found, strict=True)]
    assert canonical_bytes(numbered) == canonical_bytes(expected)
