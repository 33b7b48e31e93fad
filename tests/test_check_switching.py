"""When the checker says that a run leaves its nominal: to the last digit, against the second checker of runs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ascertain_check import check, switching
from ascertain_check.chain import read_commitment
from ascertain_check.evidence import Step as CheckedStep
from ascertain_check.question import read_question
from tests.reference import hidden_cases, hidden_runs, run_checker
from tests.reference.run_cases import NOMINAL, REUSE, sound_runs
from tests.reference.run_claims import Case, claim_of, is_earned, texts_of
from tests.test_check_run import random_case

LITTLE = Fraction(1, 10**12)
SOUND = dict(sound_runs())


def compare_triggers(case: Case) -> int:
    """T of both checkers before the first step and after each, at bounds on it and just beside; how many are finite."""
    text, certificate = texts_of(case.question, claim_of(case))
    task, claim = read_question(json.loads(text)), json.loads(certificate)["claims"][0]
    first, transcript = claim["records"][0], claim["transcript"]
    commitment = read_commitment(first, task.num_candidates, task.num_actions)
    world, finite = run_checker.World(json.loads(text)), 0
    steps = [CheckedStep(*step) for step in transcript]
    expected = [run_checker.trigger(world, case.nominal or 0, transcript[:i]) for i in range(len(steps) + 1)]
    allowed = next((i for i, least in enumerate(expected) if least == "not allowed"), len(expected))
    for i, cases in enumerate(switching.watch(task, commitment, steps[: allowed - 1])):
        least = expected[i]
        for bound in (Fraction(2), Fraction(10**9)) if least is None else (least, least - LITTLE, least + LITTLE):
            assert all(switching.exceeds(c, bound) for c in cases) == (least is None or least > bound)
            assert all(switching.reaches(c, bound) for c in cases) == (least is None or least >= bound)
            settings: dict[str, Any] = {"threshold": str(max(bound - 1, Fraction(0)))}
            for more in ({}, {"nominal_budget": i}, {"nominal_budget": i + 1}):
                for rejection in (1 / bound, Fraction(1, 10**9)):
                    if not 0 < rejection < 1:
                        continue
                    for bank in (first["bank"], None):
                        changed = first | {"bank": bank, "settings": first["settings"] | settings | more}
                        changed["settings"]["rejection"] = str(rejection)
                        fixed = read_commitment(changed, task.num_candidates, task.num_actions)
                        assert switching.is_due(fixed, i, cases) == run_checker.is_due(changed, i, least)
        finite += least is not None
    return finite


def test_the_trigger_is_the_format_s_to_the_last_digit() -> None:
    finite = 0
    for seed in range(25):
        finite += compare_triggers(replace(random_case(Random(f"trigger {seed}")), switched=None, more=()))
        finite += compare_triggers(replace(hidden_runs.random_case(Random(f"trigger {seed}")), switched=None, more=()))
    assert finite > 120


EARLY = replace(REUSE, placed=False)
"""Compiled where no trigger says so: it may be so only where all readings count, and where actions can run out."""
HEARD = replace(hidden_cases.NOMINAL, steps=(hidden_cases.LEFT,) * 3, bank=hidden_cases.EVEN, switched=3, placed=False)


def mixed(name: str, nominal: int, policy: str = "reuse") -> Case:
    bank = tuple((s, Fraction(1, 2 if s == nominal else 4)) for s in range(3))
    return replace(SOUND[name], policy=policy, bank=bank, nominal=nominal, switched=1, placed=False)


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (EARLY, "REFUTED"),
        (replace(EARLY, more=(("limits", [[0, 600]]),)), "VERIFIED"),
        (replace(EARLY, question=replace(NOMINAL.question, never=(0,))), "VERIFIED"),
        (HEARD, "REFUTED"),
        (replace(HEARD, question=hidden_cases.GUARDED), "VERIFIED"),
        (mixed("machine-nominal", 0), "REFUTED"),
        (mixed("machine-partial", 2), "VERIFIED"),
        (mixed("machine-partial", 2, "readwise"), "REFUTED"),
    ],
)
def test_a_bank_is_compiled_early_only_where_actions_can_run_out(case: Case, word: str) -> None:
    assert check(*texts_of(case.question, claim_of(case))).word == word
    assert is_earned(case) == (word == "VERIFIED")


@pytest.mark.parametrize("policy", ["staged", "readwise"])
def test_the_nominal_stage_ends_only_when_all_cases_of_doubted_actions_say_so(policy: str) -> None:
    settings: Any = SimpleNamespace(
        policy=policy, nominal_budget=None, bank=None, threshold=Fraction(10**6), rejection=Fraction(1, 1000)
    )
    over, under = switching.Case((), None, 1), switching.Case((), (1,), 1)
    assert switching.is_due(settings, 3, [over, over])
    assert not switching.is_due(settings, 3, [over, under]) and not switching.is_due(settings, 3, [under, over])


def test_an_action_that_is_doubted_ran_in_one_case_and_not_in_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    class Turning:
        """A dial: every action goes one place on, and reads either of two readings."""

        def __init__(self, _: object) -> None: ...

        def start(self, nominal: int) -> int:
            return nominal

        def lead(self, place: int, _action: int, _reading: int | None) -> tuple[int, int, int]:
            return 1, 2, place + 1

        def count_readings(self, _: int) -> int:
            return 2

    monkeypatch.setattr(switching, "Model", Turning)
    any_task, settings = cast("Any", None), cast("Any", SimpleNamespace(nominal=0))
    steps = [CheckedStep(0, 0, True), CheckedStep(0, None, False), CheckedStep(0, 1, True)]
    found = [[case.place for case in cases] for cases in switching.watch(any_task, settings, steps)]
    assert found == [[0], [1], [1, 2], [2, 3]]
