"""The certificate of a run on a hidden model: checked against a slow twin, spoilt, malformed, and made by observers."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.certificate.claims.run import run_claim
from ascertain.evidence.evidence import Step
from ascertain.live.recorder import Notebook
from ascertain.live.session import run_session
from ascertain.model.hidden import HiddenModel, JointLaw, make_joint
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.records import commitment_record
from ascertain.observer.settings import ObserverSettings, PolicyName
from ascertain.observer.staged import start_observer
from ascertain.pipeline.certify import certify
from ascertain.plant.faults import InDoubt, Missing
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose_hidden import Beliefs, pose_hidden
from ascertain.task.canonical import canonical_bytes, task_data, task_hash
from ascertain.task.hidden_task import HiddenTask
from ascertain_check import check, evidence
from tests.hidden_strategies import TIGER, hidden_tasks
from tests.reference import hidden_cases
from tests.reference.hidden_runs import HiddenCase, is_earned, random_case, spoilt
from tests.reference.run_checker import holds
from tests.reference.run_claims import claim_of, texts_of

F = Fraction


def judge(case: HiddenCase) -> str:
    return check(*texts_of(case.question, claim_of(case))).word


def compare(seeds: range) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(f"hidden run {seed}")
        case = random_case(rng)
        for _ in range(3):
            word = judge(case)
            assert (word == "VERIFIED") == is_earned(case), (seed, word, case)
            seen[word] += 1
            case = spoilt(rng, case)
    return seen


def test_a_hidden_run_is_verified_exactly_when_its_answer_is_earned() -> None:
    seen = compare(range(150))
    assert seen["VERIFIED"] > 60
    assert seen["REFUTED"] > 60


@pytest.mark.slow
def test_many_hidden_runs_are_verified_exactly_when_their_answers_are_earned() -> None:
    compare(range(1000, 6000))


def test_the_hidden_part_of_the_corpus_is_what_its_cases_say() -> None:
    home = Path(__file__).parent / "certificates"
    for name, task, certificate in hidden_cases.corpus():
        assert (home / f"{name}.task.json").read_bytes() == task, name
        assert (home / f"{name}.json").read_bytes() == certificate, name


# --------------------------------------------------------------------------------------------- what observers certify


class Flaky:
    """A plant that now and then loses a reading, or does not say whether it acted."""

    def __init__(self, plant: SimulatedPlant, rng: Random) -> None:
        self.plant, self.rng = plant, rng

    def send(self, action: str) -> str:
        chance = self.rng.random()
        if chance < 0.1:
            if self.rng.random() < 0.5:
                self.plant.send(action)
            raise InDoubt("nobody knows")
        reading = self.plant.send(action)
        if chance < 0.2:
            raise Missing("it was lost")
        return reading


def observe(task: HiddenTask, policy: PolicyName, truth: int, seed: int, **words: Any) -> tuple[Any, Notebook, Any]:
    nominal = None if policy == "eager" else 0
    settings_ = ObserverSettings(
        question=task, alpha=task.alpha, nominal=nominal, policy=policy, budget=12, rejection=F(1, 2), **words
    )
    notebook, make_bank = Notebook(), HypothesesBank(range(task.num_hypotheses))
    plant = Flaky(SimulatedPlant(task.model, task.belief[truth], seed), Random(seed))
    observer = start_observer(settings_, notebook.watch_bank(settings_, make_bank))
    run = run_session(observer, plant, recorder=notebook, commitment=commitment_record(settings_, make_bank))
    return run, notebook, task


@settings(max_examples=60)
@given(
    hidden_tasks(partial=None),
    st.sampled_from(("eager", "staged", "readwise", "reuse")),
    st.sampled_from(("round-robin", "separating")),
    st.sampled_from((F(1, 2), F(1, 5), F(1, 50))),
    st.integers(0, 10**6),
)
def test_whatever_an_observer_answers_its_certificate_verifies(
    task: HiddenTask, policy: PolicyName, probing: str, alpha: Fraction, seed: int
) -> None:
    asked = replace(task, alpha=alpha)
    run, notebook, _ = observe(asked, policy, seed % task.num_hypotheses, seed, probing=probing)
    if isinstance(run.verdict, Certified):
        claim = run_claim(asked, run.observer.acceptance, notebook.records)
        verdict = certify(asked, [claim])[1]
        assert verdict.word == "VERIFIED", verdict


def test_no_reading_of_a_run_can_be_changed_unless_the_answer_is_still_earned() -> None:
    task = pose_hidden(TIGER, hypotheses=("left", "right"), actions=("listen",), alpha="1/100")
    steps = tuple(Step(0, 0) for _ in range(4))
    case = HiddenCase(task, "left", steps, ((0, F(1, 2)), (1, F(1, 2))), policy="eager", nominal=None, switched=0)
    case = replace(case, alpha=task.alpha)
    assert judge(case) == "VERIFIED"
    for i in range(4):
        changed = replace(case, steps=(*steps[:i], Step(0, 1), *steps[i + 1 :]))
        assert judge(changed) == "REFUTED"
        assert judge(replace(case, steps=(*steps[:i], Step(0, None), *steps[i + 1 :]))) == "REFUTED"
    assert judge(replace(case, alpha=F(1, 50))) == "REFUTED"


# --------------------------------------------------------------------------------------------------- the form of tasks


def test_the_canonical_form_lists_each_joint_law_once_and_nulls_where_an_action_is_not_defined() -> None:
    partial = replace(TIGER, joint=(TIGER.joint[0], (TIGER.joint[1][0], ())))
    data = task_data(pose_hidden(partial, hypotheses="initial", alpha="1/10"))
    assert data["model"] == {
        "kind": "hidden",
        "states": ["left", "right"],
        "actions": ["listen", "open"],
        "readings": ["hear-left", "hear-right"],
        "law": [[0, 1], [2, None]],
        "laws": [
            [[0, 0, "17/20"], [0, 1, "3/20"]],
            [[0, 0, "1/4"], [0, 1, "1/4"], [1, 0, "1/4"], [1, 1, "1/4"]],
            [[1, 0, "3/20"], [1, 1, "17/20"]],
        ],
    }
    assert data["hypotheses"] == [["start", [[0, "1/2"], [1, "1/2"]], 0]]
    assert set(data) == {"format", "version", "model", "hypotheses", "labels", "cost", "alpha", "beta"}


@given(hidden_tasks(partial=None), hidden_tasks(partial=None))
def test_two_hidden_tasks_have_one_hash_exactly_when_they_are_equal(one: HiddenTask, other: HiddenTask) -> None:
    same = replace(one, model=replace(one.model, initial=())) == replace(other, model=replace(other.model, initial=()))
    assert (task_hash(one) == task_hash(other)) == same


def edit(change: Callable[[dict[str, Any]], None]) -> str:
    """What is said of a certificate whose task was changed."""
    case = hidden_cases.TWICE
    data = copy.deepcopy(task_data(case.question))
    change(data)
    certificate = texts_of(case.question, claim_of(case))[1]
    return str(check(canonical_bytes(data), certificate))


def test_a_hidden_task_says_its_hypotheses_with_beliefs() -> None:
    assert edit(lambda data: None) == "VERIFIED"
    assert edit(lambda data: data.update(beta="1/2")) == "REFUTED: the certificate belongs to another task"


# ----------------------------------------------------------------------------------------------------------- limits


def test_a_common_denominator_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    case = hidden_cases.TWICE
    monkeypatch.setattr(evidence, "MAX_BITS", 4)
    assert judge(case) == "MALFORMED"


def test_losses_are_limited_where_only_the_beginning_is_a_matter_of_chance() -> None:
    """Every law is certain, but whoever drops the zeros of a state that was drawn makes it look like all ones."""
    names = tuple(format(s, "04b") for s in range(16))
    joint = tuple(tuple(certain_joint(s, s >> bit & 1) for bit in range(4)) for s in range(16))
    model = HiddenModel(states=names, actions=("a", "b", "c", "d"), readings=("0", "1"), joint=joint)
    drawn = {"drawn": dict.fromkeys(names, F(1, 16)), "ones": {"1111": 1}}
    task = pose_hidden(model, hypotheses=Beliefs(drawn), alpha="2/5")
    assert task.reads_by_chance and not model.is_noisy
    assert not pose_hidden(model, alpha="2/5").reads_by_chance
    steps = (Step(0, 1), Step(1, None), Step(2, 1), Step(3, None))
    case = HiddenCase(task, "ones", steps, hidden_cases.EVEN, policy="eager", nominal=None, switched=0, alpha=F(2, 5))
    for losses, word in ((2, "VERIFIED"), (1, "REFUTED")):
        limited = replace(case, more=(("losses", losses),))
        assert judge(limited) == word
        assert holds(task_data(task), claim_of(limited)) == (word == "VERIFIED")
    settings = ObserverSettings(question=task, alpha=F(1, 1000), policy="eager", nominal=None, losses=1)
    observer = start_observer(settings)
    assert observer.update(1, None).verdict is None
    assert observer.update(1, None).update(3, None).verdict == Abstained("more than 1 readings were lost")


def certain_joint(state: int, reading: int) -> JointLaw:
    return make_joint({(state, reading): F(1)})
