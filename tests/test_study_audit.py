"""The audit of the guarantee: its numbers against slow twins, and alarms that really go off."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.evidence.worlds import MachineWorld
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.noisy import with_bound, with_flip
from ascertain.observer.staged import Observer
from ascertain.report.record import Figure
from ascertain.report.tables import Table
from ascertain.task.bank import Bank, nominal_bank
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.audit import removed as audit_removed
from ascertain_paper.studies.audit.bounded_noise import beaten_chance, bounded_part, count_lead, make_dial
from ascertain_paper.studies.audit.compiling import count_vain
from ascertain_paper.studies.audit.coverage import cover_blocks
from ascertain_paper.studies.audit.noise import ACTUAL, observe_noise, risk_at
from ascertain_paper.studies.audit.noise_tables import noise_part
from ascertain_paper.studies.audit.removed import (
    SEPARATING,
    audit_block,
    audit_blocks,
    audit_operation,
    count_ahead,
    play_removed,
    stand_against,
    without,
)
from ascertain_paper.studies.audit.sampling import AFTER, BEFORE, FALLBACK, NOMINAL, READWISE, WHOLE
from ascertain_paper.studies.audit.study import FULL, Sizes, audit_guarantee
from ascertain_paper.studies.audit.tables import Found, summarise
from ascertain_paper.studies.observing import Controller, settle_on_stream
from ascertain_paper.study import Study
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.auditing import evidence_along

SMALL = load_settings("small")
TINY = Sizes(
    stages={NOMINAL: (1, 1, 3), FALLBACK: (1, 1, 2), WHOLE: (1, 1, 2)},
    blocks=2,
    separating=0,
    streams=600,
    watched=1,
    repeats=200,
    group=2,
    noise_operations=2,
    noise_runs=(1, 2),
)


def conditions() -> Conditions:
    return Conditions(settings=SMALL, engine=start_engine("local", 1))


@st.composite
def plants(draw: st.DrawFn) -> BooleanPlant:
    bits = 3
    gate = st.one_of(
        st.builds(lambda t, d: Gate("cnot", t, ((t + d) % 3,)), st.integers(0, 2), st.integers(1, 2)),
        st.builds(lambda t: Gate("set", t, ()), st.integers(0, 2)),
    )
    commands = tuple(
        Command(f"c{i}", tuple(draw(st.lists(gate, max_size=2))), draw(st.integers(0, bits - 1))) for i in range(3)
    )
    return BooleanPlant(("b0", "b1", "b2"), commands, draw(st.sampled_from((Fraction(1, 5), Fraction(1, 50)))))


@given(st.data())
@hypothesis_settings(max_examples=40, deadline=None)
def test_evidence_against_a_truth_is_what_multiplying_likelihoods_gives(data: st.DataObject) -> None:
    plant = data.draw(plants())
    truth = data.draw(st.integers(0, 7))
    others = data.draw(st.lists(st.integers(0, 7).filter(lambda z: z != truth), min_size=1, max_size=4, unique=True))
    weights = {z: Fraction(1, data.draw(st.integers(4, 9))) for z in others}
    length = data.draw(st.integers(1, 12))
    commands = data.draw(st.lists(st.integers(0, 2), min_size=length, max_size=length))
    readings = data.draw(st.lists(st.integers(0, 1), min_size=length, max_size=length))
    switch = data.draw(st.one_of(st.none(), st.integers(1, length)))
    ahead, moments = count_ahead(
        plant, truth, tuple(weights), np.array(commands, np.int32), np.array(readings, np.uint8), switch
    )
    if switch is not None:
        ahead = ahead[moments >= switch] - ahead[moments == switch - 1]
    slow = evidence_along(plant, weights, truth, commands, readings, switch or 0)
    # At the exact value the truth is beaten, a little above it it is not: the comparison has no slack.
    for alpha, beaten in ((1 / max(slow), True), (1 / max(slow) - Fraction(1, 10**12), False)):
        if 0 < alpha < 1:
            nats, found = stand_against(ahead, list(weights.values()), plant.flip, alpha)
            assert math.isclose(nats, math.log(max(slow)), abs_tol=1e-9)
            assert found == beaten


def test_whoever_answers_wrongly_had_a_truth_that_was_beaten() -> None:
    testbed = load_testbed("small")
    lax = replace(testbed, settings=replace(SMALL, eager_risk=Fraction(1, 2), staged_risk=Fraction(1, 3)))
    fixed = {
        Controller("eager", "eager"): ("eager",),
        Controller("reuse", "reuse", 100): ("reuse",),
        READWISE: ("nominal", "fallback"),
    }
    wrong, beaten = dict.fromkeys((each.name for each in fixed), 0), 0
    for slot in list(lax.block_slots("audit", 1))[2:14:2]:
        found = audit_operation(lax, lax.draw(slot), tuple(fixed))
        for each, stages in fixed.items():
            met = any(found["stages"][stage]["beaten"] for stage in stages if stage in found["stages"])
            beaten += met
            wrong[each.name] += found["played"][each.name]["outcome"] == "wrong"
            assert met or found["played"][each.name]["outcome"] != "wrong", each.name
    assert all(wrong.values()) and sum(wrong.values()) <= beaten < 18


@pytest.mark.parametrize("controller", SEPARATING, ids=lambda each: each.policy)
def test_what_stands_against_the_truth_with_separating_probes_is_followed_along_what_was_done(
    controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Observer] = []

    def settle(*arguments: Any) -> Observer:
        kept.append(settle_on_stream(*arguments))
        return kept[0]

    monkeypatch.setattr(audit_removed, "settle_on_stream", settle)
    testbed = load_testbed("small")
    operation = testbed.draw(list(testbed.block_slots("audit", 1))[2])
    compiled = compile_bank(testbed.logged(operation))
    bank = without(bank_shells(compiled, compiled.num_shells), operation.true_endpoint)
    stream = testbed.stream(operation)
    short = replace(stream, schedule=stream.schedule[:8], noise=stream.noise[:8])
    found, observer = play_removed(testbed, operation, short, bank, controller), kept[0]
    commands = [step.action for step in observer.transcript]
    assert commands != short.schedule.tolist()[: len(commands)]
    plant = replace(testbed.plants[operation.slot.plant].plant, flip=SMALL.stream_flip)
    readings = [int(step.reading or 0) for step in observer.transcript]
    weights = dict(zip(bank.states, bank.weights, strict=True))
    nominal, truth = operation.nominal_endpoint, operation.true_endpoint
    ways: dict[str, tuple[dict[int, Fraction], int]] = {"nominal": ({nominal: Fraction(1)}, 0)}
    if controller.policy == "reuse":
        halves = {z: w / 2 for z, w in weights.items()}
        ways = {"reuse": ({**halves, nominal: halves[nominal] + Fraction(1, 2)}, 0)}
    else:
        ways["fallback"] = (weights, observer.events[0].readings)
    assert found["stages"].keys() == ways.keys()
    for stage, (weight, start) in ways.items():
        slow = evidence_along(plant, weight, truth, commands, readings, start)
        assert math.isclose(found["stages"][stage]["micronats"] / 1e6, math.log(max(slow)), abs_tol=2e-6)


def test_a_bank_without_a_state_keeps_the_weights_of_the_others() -> None:
    bank = Bank((3, 5), (Fraction(1, 3), Fraction(2, 3)))
    assert without(bank, 3) == Bank((5,), (Fraction(2, 3),))
    assert without(bank, 7) == bank


def test_a_block_is_a_pure_function_of_settings_and_number() -> None:
    first = audit_block((SMALL.text, 1, False))
    assert first == audit_block((SMALL.text, 1, False)) != audit_block((SMALL.text, 2, False))
    assert [list(result["played"]) for result in first if result["played"]] == [[READWISE.name]]
    assert len(first) == len(SMALL.strata)


def test_separating_probes_are_run_on_as_many_blocks_as_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def note(_: object, __: object, played: tuple[Controller, ...]) -> list[str]:
        return [each.name for each in played]

    monkeypatch.setattr(audit_removed, "audit_operation", note)
    found = [names for names in audit_blocks(conditions(), 7, 2) if names]
    alone, more = [READWISE.name], [READWISE.name, *(each.name for each in SEPARATING)]
    assert found == [more, alone, alone, more, alone, alone, alone]


def test_a_worse_sensor_is_wrong_wherever_a_better_one_is() -> None:
    found = observe_noise((SMALL.text, 1, ("1/100", "1/50", "1/4")))
    reads = [found["runs"][noise]["reads"] for noise in ("1/100", "1/50", "1/4")]
    assert reads[0] <= reads[2] and not found["active"]
    assert found["runs"]["1/4"]["compilations"] == 1


@pytest.fixture(scope="module")
def tiny() -> Study:
    return audit_guarantee(conditions(), TINY)


def test_the_audit_finds_the_guarantee_kept_and_says_where_it_ends(tiny: Study) -> None:
    assert tiny.alarms == ()
    assert [table.name for table in tiny.tables] == [
        "false-acceptance",
        "removed",
        "vain",
        "coverage",
        "noise",
        "noise-bound",
    ]
    noise = tiny.tables[-2]
    guarantee = [row[noise.columns.index("guarantee")] for row in noise.rows]
    assert guarantee[:2] == ["holds", "holds"] and guarantee[-1] == "does NOT hold"
    assert {row["question"] for row in tiny.rows} >= {"false acceptance", "truth removed", "compilations in vain"}
    assert "Declare the worst sensor" in tiny.findings[-2] and "told as a bound it holds" in tiny.findings[-1]
    assert "Separating probes were not run" in tiny.findings[1] and "not by reuse" in tiny.findings[1]


def test_the_figure_of_wrong_noise_tells_measured_bound_and_guaranteed_apart(tiny: Study) -> None:
    figure = next(figure for figure in tiny.figures if figure.name == "noise")
    measured, bound, guaranteed = figure.series
    assert set(guaranteed.y) == {float(SMALL.staged_risk)} and max(guaranteed.x) == float(SMALL.stream_flip)
    assert max(map(float, bound.x)) > max(map(float, guaranteed.x)) and max(bound.y) > float(SMALL.staged_risk)
    for value, (low, high), limit in zip(measured.y, measured.limits, bound.y, strict=True):
        assert low < value <= high * (1 + 1e-12) and low < limit and high <= limit


def test_the_measured_risk_under_wrong_noise_is_of_the_runs_that_ended_wrong_and_its_limits_of_their_number() -> None:
    bound = risk_at(SMALL.stream_flip, Fraction(1, 10), SMALL.staged_risk)
    run = {"outcome": "abstained", "reads": 9, "compilations": 0}
    observed = [{"active": False, "runs": {"1/10": run}}]

    def part(wrong: int, runs: int) -> tuple[Table, Figure]:
        estimate = float(bound) * wrong / runs
        result = {"actual": "1/10", "runs": runs, "wrong": wrong, "estimate": estimate, "largest": str(bound)}
        table, figures, _, _, alarms = noise_part(SMALL, [{**result, "unearned": 0}], observed)
        assert alarms == []
        return table, figures[0]

    widths: list[float] = []
    for number in (4, 40, 400):
        table, figure = part(3 * number // 4, number)
        measured, line, _ = figure.series
        assert math.isclose(measured.y[0], 0.75 * line.y[0])
        [(low, high)] = measured.limits
        widths.append(high - low)
        row = dict(zip(table.columns, table.rows[0], strict=True))
        assert row["wrong when provoked"] == f"{3 * number // 4}/{number}"
        assert row["measured / alpha"] != row["bound / alpha"]
    assert widths[0] > widths[1] > widths[2]
    unearned = {"actual": "1/10", "runs": 4, "wrong": 4, "estimate": 1.0, "largest": "1", "unearned": 2}
    assert "2 wrong answers weigh more than the bound allows" in noise_part(SMALL, [unearned], observed)[4][0]


def test_the_audit_of_another_testbed_says_nothing_about_the_paper_s_sizes(tiny: Study) -> None:
    said = str((tiny.tables, tiny.findings, tiny.choices, tiny.figures))
    for figure in ("2^24", "16,777,216", "4,000,000", "4000000", "20,000", "302 million"):
        assert figure not in said
    assert "2^10" in said and "1/4,000" in said


def test_the_audit_is_the_same_every_time(tiny: Study) -> None:
    again = audit_guarantee(conditions(), TINY)
    assert (again.rows, again.tables, again.figures) == (tiny.rows, tiny.tables, tiny.figures)


def test_the_full_audit_removes_the_truth_of_twenty_thousand_operations() -> None:
    assert FULL.blocks * len(load_settings("testbed").strata) >= 20_000


def found() -> Found:
    audited = {"plant": 0, "bank": 0, "truth": 5, "candidates": 2}
    stage = {**audited, "runs": 9, "wrong": 9, "estimate": 1e-5, "largest": "1/90000", "unearned": 0}
    met = {"micronats": 0, "beaten": False}
    played = {READWISE.name: {"outcome": "abstained", "reads": 3, "stages": {"nominal": met}}}
    return Found(
        settings=SMALL,
        sampled=[{**stage, "stage": share} for share in (NOMINAL, FALLBACK, BEFORE, AFTER)],
        removed=[{"rank": 1, "stages": {"eager": met, "nominal": met}, "played": played} for _ in range(50)],
        vain=count_vain("alarms", Fraction(1, 50), 20, (10,), 50),
        watched=[{"formula": [7], "trigger": [7], "observers": [[7, 9]]}],
        coverage=[("blocks", cover_blocks([[1]] * 60, 2))],
        noise_sampled=[{"actual": "1/50", **stage}],
        noise_observed=[
            {"active": False, "runs": {"1/50": {"outcome": "correct", "reads": 9, "compilations": 0}}},
        ],
    )


def alarms(changed: Found) -> str:
    return " / ".join(summarise(changed)[4])


def test_every_alarm_goes_off() -> None:
    good = found()
    assert alarms(good) == ""
    bad: list[dict[str, Any]] = [deepcopy(dict(x)) for x in good.removed]
    bad[3]["stages"]["nominal"] = {"micronats": 9_000_000, "beaten": True}
    assert "may be WRONG" in alarms(replace(good, removed=bad))
    often = [{**dict(x), "stages": {"eager": {"micronats": 5_000_000, "beaten": False}}} for x in good.removed]
    assert "evidence against the truth reached" in alarms(replace(good, removed=often))
    wrongly: list[dict[str, Any]] = [deepcopy(dict(x)) for x in good.removed]
    wrongly[0]["played"][READWISE.name]["outcome"] = "wrong"
    assert "1 WRONG answers of readwise 100" in alarms(replace(good, removed=wrongly))
    probed: list[dict[str, Any]] = [deepcopy(dict(x)) for x in good.removed]
    met = {"reuse": {"micronats": 15_000_000, "beaten": True}}
    probed[1]["played"][SEPARATING[1].name] = {"outcome": "abstained", "reads": 3, "stages": met}
    assert "(separating, reuse 100, run): answers may be WRONG" in alarms(replace(good, removed=probed))
    assert "not earned" in alarms(replace(good, sampled=[{**dict(x), "unearned": 1} for x in good.sampled]))
    assert "left too often" in alarms(replace(good, vain=[replace(x, compiled=50) for x in good.vain]))
    assert "are counted and" in alarms(replace(good, vain=[replace(x, computed=0.09, compiled=49) for x in good.vain]))
    astray = [{**dict(x), "trigger": [8]} for x in good.watched]
    assert "on 1 of 1 streams" in alarms(replace(good, watched=astray))
    uncovered = replace(good.coverage[0][1], covered=0)
    assert "below the 1/2" in alarms(replace(good, coverage=[("blocks", uncovered)]))
    odd = replace(good.coverage[0][1], computed=Fraction(1, 3))
    assert "is not the 0.3333 that is computed" in alarms(replace(good, coverage=[("blocks", odd)]))
    wrong = [{"active": False, "runs": {"1/50": {"outcome": "wrong", "reads": 9, "compilations": 0}}}]
    assert "no worse than declared" in alarms(replace(good, noise_observed=wrong))


@pytest.mark.parametrize("tell", [with_flip, with_bound])
@pytest.mark.parametrize("actual", [Fraction(1, 5), Fraction(1, 10)])
def test_errors_that_aim_beat_the_truth_as_often_as_the_walk_of_its_lead_says(tell: Any, actual: Fraction) -> None:
    told, alpha, most = tell(make_dial(3), Fraction(1, 10)), Fraction(1, 100), 9
    lead = count_lead(told, alpha)

    def enumerate_readings(world: MachineWorld, left: int) -> Fraction:
        """The truth is position 1, and all errors show position 0."""
        if world.verdict() is not None:
            return Fraction(1)
        if not left:
            return Fraction(0)
        total = Fraction(0)
        for reading, chance in ((0, actual), (1, 1 - actual)):
            after = deepcopy(world)
            after.observe(0, reading)
            total += chance * enumerate_readings(after, left - 1)
        return total

    def walk(ahead: int, left: int) -> Fraction:
        if ahead == lead or not left:
            return Fraction(ahead == lead)
        return actual * walk(ahead + 1, left - 1) + (1 - actual) * walk(ahead - 1, left - 1)

    within = enumerate_readings(MachineWorld(told, nominal_bank(0), alpha), most)
    assert within == walk(0, most)
    assert within < beaten_chance(actual, actual, lead) <= within + Fraction(1, 20)


def test_a_bound_on_the_noise_holds_where_the_law_is_broken_by_errors_that_aim() -> None:
    table, _, rows, _, alarms = bounded_part(SMALL, ACTUAL)
    assert alarms == [] and len(rows) == len(ACTUAL)
    by_rate = {str(row[0]): [float(str(cell)) for cell in row[1:]] for row in table.rows}
    two, even, aimed, bound_even, bound_aimed = by_rate[str(SMALL.stream_flip)]
    assert aimed > 1 > max(even, bound_even, bound_aimed) and two == bound_aimed
    assert min(by_rate[str(max(ACTUAL))][2::2]) > 1  # a higher rate breaks both
    assert min(float(str(cell)) for cell in table.rows[-1][1:]) > 1  # and a sensor that lies all the way
