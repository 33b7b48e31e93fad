"""Cold start: every state of a Boolean plant is a candidate of the same weight, and only their counts are kept."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config as numba_config

from ascertain.errors import TaskError
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.census import Census
from ascertain.evidence.even import EvenEvidence
from ascertain.evidence.evidence import FlipEvidence, Step
from ascertain.live.session import Run
from ascertain.model.boolean import BooleanPlant
from ascertain.model.named import register
from ascertain.observer.banks import EveryState, HypothesesBank, MakeBank
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Observer, start_observer
from ascertain.pipeline.observe import observe as observe_plant
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.bank import EvenBank, uniform_bank
from ascertain.task.plant_task import PlantTask
from tests.reference.run_claims import Case, canonical, claim_of, is_earned, rechained
from tests.reference.small_observers import ALPHA, ask, lossy_plant, set_up, tell
from tests.reference.worlds import NaiveWorld
from tests.test_check_run import random_case, spoil
from tests.test_observer import worst_rate
from tests.test_run_certificate import Faulty, observe, verify
from tests.test_worlds import ALPHAS, compare, feed, plants, steps


@given(st.data(), plants(max_bits=5))
@settings(max_examples=30)
def test_a_bank_of_every_state_beats_whom_the_listed_one_beats(data: st.DataObject, plant: BooleanPlant) -> None:
    size, alpha = plant.num_states, data.draw(st.sampled_from(ALPHAS))
    taken = data.draw(steps(plant.num_actions, 2).filter(lambda s: sum(k == "doubt" for k, _, _ in s) <= 2))
    world = BooleanWorld(plant, EvenBank(size), alpha)
    compare(world, NaiveWorld(plant, list(range(size)), uniform_bank(range(size)), alpha), list(range(size)), taken)


@given(st.data(), plants())
@settings(max_examples=40)
def test_counts_are_the_same_whether_or_not_the_states_are_kept(data: st.DataObject, plant: BooleanPlant) -> None:
    alpha = data.draw(st.sampled_from(ALPHAS))
    taken = data.draw(steps(plant.num_actions, 2, 20).filter(lambda s: sum(k == "doubt" for k, _, _ in s) <= 2))
    even = EvenBank(plant.num_states)
    one_case = 8 * max(1, plant.num_states // 64) * (plant.num_bits + 8)
    listed = FlipEvidence(plant, uniform_bank(range(plant.num_states)), alpha)
    for max_held in (one_case, 0):
        listed, mine = (
            listed.afresh(uniform_bank(range(plant.num_states))),
            EvenEvidence(plant, even, alpha, None, max_held),
        )
        naive = NaiveWorld(plant, list(range(plant.num_states)), uniform_bank(range(plant.num_states)), alpha)
        num_readings = 0
        for kind, action, reading in taken:
            step = Step(action, reading if kind == "read" else None, kind != "doubt")
            listed.take(step)
            mine.take(step)
            num_readings += kind == "read"
            assert mine.threshold == listed.threshold
            assert mine.vanished == listed.vanished
            assert mine.nats(1) == pytest.approx(listed.nats(1))
            feed(naive, (kind, action, reading))
            if not mine.vanished:
                strongest = [int(group.penalty.min()) for group in mine.strongest()]
                left = naive.left(lambda *_: 0)
                assert bool(strongest) == bool(left)
                if strongest:
                    k = min(strongest)
                    likelihood = plant.flip**k * (1 - plant.flip) ** (num_readings - k)
                    assert likelihood == max(naive.likelihood[case] for case in left)


@given(st.data(), plants())
@settings(max_examples=30)
def test_a_census_counts_what_a_loop_over_the_states_counts(data: st.DataObject, plant: BooleanPlant) -> None:
    taken = data.draw(st.lists(st.tuples(st.integers(0, plant.num_actions - 1), st.integers(0, 1)), max_size=20))
    limit = data.draw(st.integers(1, 20))
    census = Census(plant, data.draw(st.sampled_from((0, 1 << 30))))
    counts = dict.fromkeys(range(plant.num_states), 0)
    current = list(range(plant.num_states))
    for action, reading in taken:
        census.take(Step(action, reading))
        for z in counts:
            current[z], tapped = plant.step(current[z], action)
            counts[z] += tapped != reading
    (case,) = census.cases
    assert case.many == [list(counts.values()).count(k) for k in range(len(taken) + 1)]
    listed = census.strongest(case, limit).tolist()
    assert len(set(listed)) == len(listed) == min(limit, plant.num_states)
    assert sorted(counts[z] for z in listed) == sorted(counts.values())[: len(listed)]


def test_no_truth_is_answered_wrongly_more_often_than_alpha() -> None:
    question = ask(lossy_plant())
    options = set_up(question, policy="eager", nominal=None, budget=7)

    @cache
    def after(history: tuple[Step, ...]) -> Observer:
        return tell(after(history[:-1]), history[-1]) if history else start_observer(options, EveryState(4))

    assert 0 < worst_rate(question, after) <= ALPHA


QUESTION = pose_plant(register(5, Fraction(1, 50)), alpha="1/1000")


def run_cold(path: Path, probing: str, make_bank: MakeBank, plant: AbstractPlant) -> tuple[Run, dict[str, Any] | None]:
    """A register of five bits settled without knowing anything, and the claim of the run."""
    settings = ObserverSettings(question=QUESTION, alpha=QUESTION.alpha, policy="eager", probing=probing, budget=200)
    return observe(path, settings, make_bank, plant)


@pytest.mark.parametrize("probing", ["round-robin", "separating", "look-ahead"])
def test_a_run_that_knew_nothing_is_settled_and_a_stranger_verifies_it(tmp_path: Path, probing: str) -> None:
    seen = 0
    for seed in range(3):
        device = Faulty(SimulatedPlant(QUESTION.model, 21, seed), seed)
        run, claim = run_cold(tmp_path / f"j{seed}", probing, EveryState(32), device)
        seen += claim is not None
        if claim is not None:
            assert run.verdict == Certified(QUESTION.label_of(21))
            assert claim["bank"] == "all states"
            assert verify(QUESTION, claim) == "VERIFIED"
    assert seen


def test_the_answer_comes_when_it_comes_with_all_states_listed(tmp_path: Path) -> None:
    """Round-robin looks at nothing but the steps so far, so that only evidence could make a difference."""
    for seed in range(3):
        runs = [
            run_cold(tmp_path / f"{name}{seed}", "round-robin", bank, SimulatedPlant(QUESTION.model, 5 * seed, seed))[0]
            for name, bank in (("even", EveryState(32)), ("listed", HypothesesBank(range(32))))
        ]
        assert runs[0].observer.transcript == runs[1].observer.transcript
        assert runs[0].verdict == runs[1].verdict == Certified(QUESTION.label_of(5 * seed))


def unlisted(case: Case) -> dict[str, Any]:
    """The claim of a case with "all states" in place of its bank."""
    claim = json.loads(json.dumps(claim_of(case)))
    for record in claim["records"]:
        if record["record"] == "stage":
            record["bank_sha256"] = sha256(canonical("all states")).hexdigest()
    return rechained(claim | {"bank": "all states"})


def test_the_checker_verifies_a_bank_of_all_states_exactly_when_the_listed_one_earns_the_answer() -> None:
    verdicts = Counter[str]()
    for seed in range(400):
        case = random_case(Random(f"cold {seed}"))
        if not isinstance(case.question, PlantTask) or case.switched is None or case.policy == "reuse":
            continue
        number = case.question.model.num_states
        case = replace(
            case,
            question=replace(case.question, states=None),
            bank=tuple((z, Fraction(1, number)) for z in range(number)),
            committed="hypotheses",
        )
        case = case if seed % 2 else replace(case, label=spoil(Random(seed), case).label, steps=case.steps[: seed % 7])
        case = replace(case, switched=min(case.switched or 0, len(case.steps)))
        verdict = verify(case.question, unlisted(case))
        assert verdict.startswith("VERIFIED" if is_earned(case) else "REFUTED"), (seed, verdict)
        verdicts[verdict.split(":")[0]] += 1
    assert min(verdicts["VERIFIED"], verdicts["REFUTED"]) > 15, verdicts


def test_a_bank_of_all_states_must_be_the_one_committed_to() -> None:
    question = ask(lossy_plant(Fraction(1, 50)))
    steps = tuple(Step(a, 0) for a in (0, 1) * 3)
    case = Case(question, question.label_of(0), steps, (), "eager", None, 0, Fraction(1, 4), committed="hypotheses")
    assert verify(question, unlisted(case)) == "VERIFIED"
    assert "says otherwise" in verify(question, unlisted(replace(case, committed="operation")))
    assert "says otherwise" in verify(question, unlisted(replace(case, policy="reuse", nominal=0)))
    listed = replace(question, states=(0, 1, 2))
    assert verify(listed, unlisted(replace(case, question=listed))).startswith("MALFORMED")


def test_banks_of_every_state_are_for_plants_whose_states_are_all_hypotheses() -> None:
    question = ask(lossy_plant())
    with pytest.raises(TaskError, match="Boolean plants all of whose states"):
        start_observer(set_up(replace(question, states=(2, 1)), policy="eager"), EveryState(4))
    with pytest.raises(TaskError, match="the bank has 2 states evenly"):
        start_observer(set_up(question, policy="eager"), EveryState(2))
    with pytest.raises(TaskError, match="needs candidates"):
        EvenBank(0)


@pytest.mark.skipif(vars(numba_config)["DISABLE_JIT"], reason="minutes without compiled kernels")
def test_a_plant_of_seventeen_bits_is_settled_without_a_word_about_it(tmp_path: Path) -> None:
    question = pose_plant(register(17, Fraction(1, 50)), alpha="1/1000")
    found = observe_plant(question, "simulated:7", probing="look-ahead", certificate=tmp_path / "c.json")
    assert found.right is True
    assert found.certificate == "VERIFIED"
    assert found.facts()["policy"] == "eager"
