"""Runs that follow a policy: the observer, its journal, its faults, its certificate, and what the checker refuses."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ascertain.certificate.claims.followed import followed_claim
from ascertain.errors import AscertainError, CertificateError, FileError, TaskError
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.live.resume import begin_controlled
from ascertain.live.session import run_session
from ascertain.model.named import register
from ascertain.model.noisy import NoisyMachine
from ascertain.observer.controlled import ControllerSettings, start_controlled
from ascertain.observer.records import commitment_record, hash_records
from ascertain.observer.staged import Act
from ascertain.pipeline.certify import certify
from ascertain.pipeline.control import NO_BETA, Control, choose_control, is_path, prove_control
from ascertain.pipeline.observe import observe
from ascertain.planning.policy_file import write_policy
from ascertain.planning.two_sided import TwoSidedBounds
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import InDoubt, Missing
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose import pose
from ascertain.problem.pose_plant import pose_plant
from ascertain.problem.problem import as_problem
from ascertain.task.canonical import task_hash
from ascertain.task.task import Task
from ascertain_check import trust
from tests.reference.registers import far_sensor
from tests.reference.spoilers import cut_policy, poke, spoil_cost, spoil_everywhere, spoil_policy
from tests.test_check_policy import judge as is_within_risk

TENTH = Fraction(1, 10)


def question(alpha: Fraction = Fraction(1, 20)) -> Task:
    """A sensor two steps away: on the way nothing is looked at, so that what is read there may be lost."""
    return replace(pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH), alpha=alpha, beta=Fraction(1, 10))


@cache
def control() -> Control:
    found = choose_control(as_problem(question()), "certified", seconds=1)
    assert found is not None
    return found


class Flaky(AbstractPlant):
    """A simulated plant of which one action is lost or in doubt."""

    name = "flaky"

    def __init__(self, at: int, fault: Exception | None, start: str = "left0", seed: int = 2) -> None:
        self.inner, self.at, self.fault, self.sent = SimulatedPlant(question().model, start, seed), at, fault, 0

    def send(self, action: str) -> str:
        self.sent += 1
        reading = self.inner.send(action)
        if self.sent == self.at and self.fault is not None:
            raise self.fault
        return reading


@cache
def answered(at: int = 0, start: str = "left0", seed: int = 2) -> tuple[dict[str, Any], Any]:
    """A claim that a run earned, its reading number `at` lost, and the run."""
    notebook, begun = Notebook(), begin_controlled(Notebook(), control().settings)
    plant = Flaky(at, Missing("gone"), start, seed)
    run = run_session(begun.observer, plant, recorder=notebook, commitment=begun.commitment)
    assert isinstance(run.verdict, Certified)
    return followed_claim(question(), prove_control(control()), run.observer.transcript, notebook.records), run


def judge(claim: dict[str, Any], task: Task | None = None) -> str:
    task = task or question()
    return str(certify(task, [claim])[1])


# The observer.


def test_an_observer_asks_what_its_policy_asks_and_answers_what_it_answers() -> None:
    policy, observer = control().settings.controller, start_controlled(control().settings)
    plant, memory = SimulatedPlant(question().model, "right0", 3), policy.start()
    while isinstance(advice := observer.next(), Act):
        assert policy.decide(memory) == type(policy.decide(memory))(advice.action)  # type: ignore[call-arg]
        reading = question().model.readings.index(plant.send(question().model.actions[advice.action]))
        memory, observer = policy.next(memory, reading), observer.update(advice.action, reading)
    assert observer.verdict == Certified("right0")
    assert observer.counters.actions == len(observer.transcript) == observer.counters.readings
    assert observer.counters.cost == len(observer.transcript)
    with pytest.raises(TaskError, match="has ended"):
        observer.update(0, 0)


def test_what_the_policy_does_not_ask_is_refused() -> None:
    observer = start_controlled(control().settings)
    wrong = 1 - observer.next().action  # type: ignore[union-attr]
    with pytest.raises(TaskError, match="does not ask"):
        observer.update(wrong, 0)


def test_a_lost_reading_ends_the_run_only_where_the_policy_would_have_looked_at_it() -> None:
    _, unharmed = answered(at=1)
    assert unharmed.observer.transcript[0].reading is None
    run = run_session(start_controlled(control().settings), Flaky(3, Missing("gone")))
    assert isinstance(run.verdict, Abstained) and "was lost, and the policy depends on it" in run.verdict.reason


def test_an_action_in_doubt_ends_the_run() -> None:
    run = run_session(start_controlled(control().settings), Flaky(1, InDoubt("timeout")))
    assert isinstance(run.verdict, Abstained) and "nobody knows whether" in run.verdict.reason
    assert run.plant_failed


def test_budget_and_limits_end_in_an_abstention() -> None:
    short = replace(control().settings, budget=2)
    run = run_session(start_controlled(short), Flaky(0, None))
    assert run.verdict == Abstained("the budget of 2 actions is used up")
    rare = replace(control().settings, limits={0: 1})
    run = run_session(start_controlled(rare), Flaky(0, None))
    assert isinstance(run.verdict, Abstained) and "limit" in run.verdict.reason


def test_a_policy_that_errs_too_often_is_not_run() -> None:
    with pytest.raises(TaskError, match="errs with a probability"):
        replace(control().settings, question=question(Fraction(1, 10**9)))


# The road: files, journals, resuming, choosing.


@pytest.mark.parametrize(("text", "path"), [("eager", False), ("certified", False), ("p.json", True), ("./p", True)])
def test_a_policy_with_a_suffix_or_a_slash_is_a_file(text: str, path: bool) -> None:
    assert is_path(text) is path


def test_a_run_is_resumed_with_the_policy_of_its_journal(tmp_path: Path) -> None:
    path = write_policy(tmp_path / "p.json", control().controller)
    whole = observe(question(), Flaky(0, None), policy=path)
    journal = tmp_path / "run.journal"
    plant = Flaky(0, None)

    class Broken(Exception):
        pass

    def crash(_: object) -> None:
        if plant.sent == 3:
            raise Broken

    with pytest.raises(Broken):
        observe(question(), plant, policy=path, journal=journal, watch=crash)
    path.unlink()
    certificate = tmp_path / "c.json"
    again = observe(question(), plant, journal=journal, resume=True, certificate=certificate)
    assert (again.certificate, again.run.verdict) == ("VERIFIED", whole.run.verdict)
    assert again.run.observer.transcript == whole.run.observer.transcript
    assert again.facts()["policy"] == "controller"
    with pytest.raises(FileError, match="follows a policy"):
        observe(question(), plant, journal=journal, resume=True, policy="eager")
    with pytest.raises(FileError, match="another problem"):
        observe(question(Fraction(1, 19)), plant, journal=journal, resume=True)


def test_a_journal_of_evidence_is_not_resumed_with_a_policy(tmp_path: Path) -> None:
    path = write_policy(tmp_path / "p.json", control().controller)
    journal = tmp_path / "run.journal"
    observe(question(), Flaky(0, None), policy="eager", journal=journal)
    with pytest.raises(FileError, match="collects evidence"):
        observe(question(), Flaky(0, None), policy=path, journal=journal, resume=True)
    assert observe(question(), Flaky(0, None), journal=journal, resume=True).facts()["policy"] == "eager"


def test_a_journal_whose_policy_was_tampered_with_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.journal")
    commitment = json.loads(json.dumps(commitment_record(control().settings)))
    commitment["settings"]["controller"]["nodes"][0] = {"answer": 7}
    with journal:
        journal.begin(commitment)
    with pytest.raises(FileError, match="journal's policy: node 0"):
        observe(question(), Flaky(0, None), journal=journal.path, resume=True)


def test_by_default_a_small_noisy_question_with_both_risks_is_settled_by_a_certified_policy() -> None:
    heard: list[str] = []
    done = observe(question(), Flaky(0, None), plan_time=1, note=heard.append)
    assert done.facts()["policy"] == "controller"
    assert any("following a certified policy" in line for line in heard)


@pytest.mark.parametrize("words", [{"probing": "separating"}, {"policy": "eager"}, {"nominal": "left0"}])
def test_whoever_says_how_to_observe_gets_that(words: dict[str, Any]) -> None:
    assert observe(question(), Flaky(0, None), **words).facts()["policy"] != "controller"


@pytest.mark.parametrize("risks", [{"beta": Fraction(0)}, {"alpha": Fraction(1, 20), "beta": Fraction(0)}])
def test_without_both_risks_evidence_is_collected(risks: dict[str, Fraction]) -> None:
    assert choose_control(as_problem(replace(question(), **risks)), None) is None
    with pytest.raises(TaskError, match="no policy is that sure"):
        choose_control(as_problem(replace(question(), **risks)), "certified")


def test_without_beta_no_policy_is_looked_for_and_that_is_said() -> None:
    heard: list[str] = []
    assert choose_control(as_problem(replace(question(), beta=Fraction(0))), None, tell=heard.append) is None
    assert heard == [NO_BETA]


def test_where_no_policy_is_found_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = TwoSidedBounds(Fraction(1, 20), Fraction(1, 20), Fraction(1), None)
    monkeypatch.setattr("ascertain.pipeline.control.bound_under_noise", lambda *_, **__: nothing)
    heard: list[str] = []
    assert choose_control(as_problem(question()), None, tell=heard.append) is None
    assert "collecting evidence instead" in heard[-1]
    with pytest.raises(TaskError, match="no certified policy was found"):
        choose_control(as_problem(question()), "certified")


def test_a_plant_that_is_not_enumerated_is_run_through_its_factors(tmp_path: Path) -> None:
    plant = register(20, TENTH)
    asked = pose_plant(plant, label={"nominal": "0" * 20}, alpha=Fraction(1, 50), beta=Fraction(1, 20))
    device = SimulatedPlant(plant, "1" * 20, 1)
    done = observe(asked, device, policy="certified", certificate=tmp_path / "c.json")
    assert done.run.verdict == Certified("other") and done.certificate == "VERIFIED"


def test_an_unknown_name_is_refused_with_what_is_known() -> None:
    with pytest.raises(AscertainError, match="did you mean 'certified'"):
        observe(question(), Flaky(0, None), policy="certifed")


# The claim.


def test_a_run_that_followed_its_policy_is_verified() -> None:
    claim, run = answered()
    task = question()
    verdict = certify(task, [claim])[1]
    assert str(verdict) == "VERIFIED"
    assert verdict.proved[0].startswith(f"the answer '{run.verdict.label}' follows, in {len(claim['transcript'])} ")
    assert verdict.proved[0].endswith("faults of the plant not counted")
    assert verdict.trusted == trust.FOLLOWED


def test_a_lost_reading_that_nothing_depends_on_is_verified() -> None:
    claim, _ = answered(at=1)
    assert claim["transcript"][0][1] is None
    assert judge(claim) == "VERIFIED"


def test_what_has_no_answer_has_no_claim() -> None:
    settings = control().settings
    records = [commitment_record(settings), {"record": "verdict", "verdict": "abstained", "label": None, "reason": "x"}]
    with pytest.raises(CertificateError, match="end with an answer"):
        followed_claim(question(), prove_control(control()), (), records)
    claim, run = answered()
    other = {**prove_control(control()), "policy": {"nodes": [{"answer": 0}]}}
    with pytest.raises(CertificateError, match="another policy"):
        followed_claim(question(), other, run.observer.transcript, claim["records"])
    with pytest.raises(CertificateError, match="another question"):
        followed_claim(question(TENTH), prove_control(control()), run.observer.transcript, claim["records"])


def spoilt(path: list[Any], value: Any, *, rechain: bool = True, at: int = 0) -> dict[str, Any]:
    """The claim with one place changed (or, with `...`, removed), and its head computed again."""
    claim = json.loads(json.dumps(answered(at)[0]))
    spot = claim
    for key in path[:-1]:
        spot = spot[key]
    if value is ...:
        del spot[path[-1]]
    else:
        spot[path[-1]] = value
    return {**claim, "head": hash_records(claim["records"])} if rechain and path[0] == "records" else claim


SETTINGS = ["records", 0, "settings"]
MALFORMED: list[tuple[list[Any], Any, str]] = [
    (["label"], 3, "label: a string is needed"),
    (["more"], 3, "'more' does not belong here"),
    (["risk"], [], "risk: an object is needed"),
    (["risk", "claim"], "run", "a claim 'within-risk' is needed"),
    (["risk", "claim"], ..., "a claim 'within-risk' is needed"),
    (["risk", "beta"], "x", "beta"),
    (["head"], "0", "head"),
    (["transcript", 0], [0, 0], "a step of the transcript"),
    (["records"], [], "must be a commitment"),
    (["records", 0, "bank"], {"kind": "hypotheses"}, "has no bank"),
    (["records", 0, "format"], "other", "ascertain-journal"),
    ([*SETTINGS, "format"], "ascertain-observer", "ascertain-controller"),
    ([*SETTINGS, "version"], 2, "ascertain-controller"),
    ([*SETTINGS, "version"], True, "ascertain-controller"),
    ([*SETTINGS, "more"], 1, "'more' does not belong here"),
    ([*SETTINGS, "task"], ..., "'task' is missing"),
]
REFUTED: list[tuple[list[Any], Any, str]] = [
    (["label"], "right0", "the records tell another answer"),
    (["head"], "0" * 64, "does not end in the head"),
    (["risk", "alpha"], "0", "probability of a wrong answer is more"),
    (["risk", "cost"], "1", "expected cost is more"),
    (["records", 0, "task_sha256"], "0" * 64, "another task"),
    ([*SETTINGS, "task"], "0" * 64, "another task"),
    ([*SETTINGS, "controller", "nodes", 0, "ask"], 1, "another policy"),
    ([*SETTINGS, "controller", "nodes", 0, "ask"], False, "another policy"),
    (["transcript", 2, 1], None, "another transcript"),
    (["records", -1], ..., "do not end with a verdict"),
]


@pytest.mark.parametrize(("path", "value", "sentence"), MALFORMED)
def test_a_claim_that_does_not_follow_the_format_is_malformed(path: list[Any], value: Any, sentence: str) -> None:
    verdict = judge(spoilt(path, value))
    assert verdict.startswith("MALFORMED") and sentence in verdict


@pytest.mark.parametrize(("path", "value", "sentence"), REFUTED)
def test_a_claim_that_does_not_hold_is_refuted(path: list[Any], value: Any, sentence: str) -> None:
    verdict = judge(spoilt(path, value))
    assert verdict.startswith("REFUTED") and sentence in verdict


def is_true(claim: dict[str, Any]) -> bool:
    """Whether the policy is within its risk, was committed to, and answers the label after what the records tell."""
    risk, records = claim["risk"], claim["records"]
    nodes, node = risk["policy"]["nodes"], 0
    for action, reading, certain in claim["transcript"]:
        if not certain or nodes[node].get("ask") != action:
            return False
        if reading is None:
            after = {nodes[node]["next"].get(str(y)) for y in question().model.possible_readings(action)}
            node = after.pop() if len(after) == 1 else None
        else:
            node = nodes[node]["next"].get(str(reading))
        if node is None:
            return False
    told = [[r["action"], r.get("reading"), True] for r in records if r["record"] in ("reading", "missing")]
    return (
        is_within_risk(question(), risk)
        and Fraction(risk["alpha"]) <= question().alpha
        and question().labels.index(claim["label"]) == nodes[node].get("answer")
        and records[0]["settings"]["controller"] == risk["policy"]
        and told == claim["transcript"]
        and records[-1]["label"] == claim["label"]
        and hash_records(records) == claim["head"]
    )


@pytest.mark.parametrize(
    ("at", "every"), [(1, 9), pytest.param(0, 1, marks=pytest.mark.slow), pytest.param(1, 1, marks=pytest.mark.slow)]
)
def test_nothing_false_is_verified_whichever_place_is_changed(at: int, every: int) -> None:
    claim = json.loads(json.dumps(answered(at)[0]))
    assert judge(claim) == "VERIFIED" and is_true(claim)
    words: Counter[str] = Counter()
    for spoilt in islice(spoil_everywhere(claim), 0, None, every):
        for lie in (spoilt, made_consistent(spoilt, claim)):
            word = judge(lie).partition(":")[0]
            words[word] += 1
            assert word != "VERIFIED" or is_true(lie), json.dumps(lie)
    assert min(words["VERIFIED"], words["REFUTED"], words["MALFORMED"]) > 2, words


def made_consistent(spoilt: dict[str, Any], claim: dict[str, Any]) -> dict[str, Any]:
    """The lie that is hardest to see: committed to as well, and chained anew, as far as its shape still allows that."""
    consistent = json.loads(json.dumps(spoilt))
    with suppress(KeyError, TypeError, AttributeError, IndexError):
        if consistent["risk"]["policy"] != claim["risk"]["policy"]:
            consistent["records"][0]["settings"]["controller"] = consistent["risk"]["policy"]
        consistent["head"] = hash_records(consistent["records"])
    return consistent


def spoil_story(rng: Random, claim: dict[str, Any]) -> dict[str, Any]:
    """A step is changed, repeated, lost, left out or in doubt, or another label answered; in all the records alike."""
    steps, label, kind = list(claim["transcript"]), claim["label"], rng.randrange(6)
    i = rng.randrange(len(steps))
    action, reading, _ = steps[i]
    if kind == 0:
        label = rng.choice(question().labels)
    elif kind == 1:
        steps.insert(i, steps[i])
    elif kind == 2:
        del steps[i]
    else:
        readings = rng.randrange(len(question().model.readings))
        steps[i] = [[action, readings, True], [action, None, rng.random() < 0.8], [1 - action, reading, True]][kind - 3]
    return tell(claim, steps, label)


def campaign(seeds: range, cases: int) -> Counter[tuple[str, str]]:
    """Spoilt claims of runs that followed a policy: whatever is verified is true by the definition."""
    count: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        rng = Random(seed)
        honest = json.loads(json.dumps(answered(rng.randrange(3), rng.choice(("left0", "right0")), seed % 4)[0]))
        for case in range(cases):
            claim = json.loads(json.dumps(honest))
            kind = rng.randrange(4)
            if kind == 0:
                claim = spoil_story(rng, claim)
            elif kind == 1:
                rng.choice((spoil_policy, cut_policy, spoil_cost))(rng, claim["risk"])
            for _ in range(rng.randint(1, 2) if kind > 1 else 0):
                poke(rng, claim)
            if rng.random() < 0.7:
                claim = made_consistent(claim, honest)
            word = judge(claim).partition(":")[0]
            assert word != "VERIFIED" or is_true(claim), (seed, case, json.dumps(claim))
            count["followed", word] += 1
    return count


def test_nothing_false_is_verified_among_spoilt_runs() -> None:
    count = campaign(range(4), 35)
    assert min(count["followed", word] for word in ("VERIFIED", "REFUTED", "MALFORMED")) > 10, count


def retold(change: Any, at: int = 0) -> dict[str, Any]:
    """The claim with transcript and records both told otherwise: `change` is given all steps and the label."""
    claim = json.loads(json.dumps(answered(at)[0]))
    return tell(claim, *change(claim["transcript"], claim["label"]))


def tell(claim: dict[str, Any], steps: list[Any], label: str) -> dict[str, Any]:
    """The claim with these steps and this label, and records that tell of them."""
    records = [claim["records"][0]]
    for action, reading, certain in steps:
        records.append({"record": "intent", "action": action})
        outcome = {"record": "reading", "action": action, "reading": reading}
        records.append(outcome if certain else {"record": "doubt", "action": action})
    records.append({"record": "verdict", "verdict": "certified", "label": label, "reason": None})
    return {**claim, "transcript": steps, "label": label, "records": records, "head": hash_records(records)}


def test_a_story_told_otherwise_must_still_follow_the_policy() -> None:
    assert judge(retold(lambda steps, label: (steps, label))) == "VERIFIED"
    cases = {
        "does not answer 'right0'": lambda steps, _: (steps, "right0"),
        "after 0 steps the policy does not answer": lambda _, label: ([], label),
        "at step 0 the policy does not ask action 1": lambda steps, label: ([[1, *steps[0][1:]], *steps[1:]], label),
        "at step 2 the policy does not ask action 0": lambda steps, label: ([*steps[:2], [0, 0, True]], label),
        "nobody knows whether the action of step 0 ran": lambda steps, label: (
            [[steps[0][0], None, False], *steps[1:]],
            label,
        ),
        "after step 2 the policy gives no answer": lambda steps, label: ([*steps[:2], [1, None, True]], label),
        "after step 0 the policy gives no answer: it has no branch": lambda steps, label: (
            [[0, 2, True], *steps[1:]],
            label,
        ),
        f"at step {len(answered()[0]['transcript'])} the policy does not ask": lambda steps, label: (
            [*steps, steps[-1]],
            label,
        ),
    }
    for sentence, change in cases.items():
        verdict = judge(retold(change))
        assert verdict.startswith("REFUTED") and sentence in verdict, (sentence, verdict)


def test_a_bank_has_no_place_in_a_run_that_follows_a_policy() -> None:
    claim = json.loads(json.dumps(answered()[0]))
    stage = {"record": "stage", "stage": "fallback", "after": 0, "why": "eager", "bank_sha256": "0" * 64}
    records = [claim["records"][0], stage, *claim["records"][1:]]
    verdict = judge({**claim, "records": records, "head": hash_records(records)})
    assert verdict.startswith("REFUTED") and "another answer or another transcript" in verdict


def test_a_run_that_went_on_after_a_fault_of_its_plant_does_not_follow_its_policy() -> None:
    claim, model = answered()[0], question().model
    named = {"record": "plant", "identity": "unit 7", "address": "exec:plant", "time": "2026-11-18T05:00:00+00:00"}
    named |= {"actions": list(model.actions), "readings": list(model.readings)}
    failed = {"record": "verdict", "verdict": "abstained", "label": None, "reason": "gone", "cause": "plant"}
    *story, last = claim["records"][1:]
    whole = [claim["records"][0], named, *story, {**last, "time": named["time"]}]
    assert judge({**claim, "records": whole, "head": hash_records(whole)}) == "VERIFIED"
    broken = [*whole[:4], {**failed, "time": named["time"]}, named, *whole[4:]]
    verdict = judge({**claim, "records": broken, "head": hash_records(broken)})
    assert verdict == "REFUTED: the plant has failed, and the policy does not provide for that"


def test_an_abstention_is_no_answer() -> None:
    nodes = [{"answer": None}]
    risk = {"claim": "within-risk", "alpha": "0", "beta": "1", "cost": "0", "policy": {"nodes": nodes}}
    first = commitment_record(control().settings)
    first = {**first, "settings": {**first["settings"], "controller": {"nodes": nodes}}}
    for label in question().labels:
        verdict = judge(retell({**answered()[0], "risk": risk, "records": [first]}, [], label))
        assert verdict.startswith("REFUTED: after 0 steps the policy does not answer")


def test_the_policy_may_not_err_more_often_than_the_task_allows() -> None:
    strict = question(Fraction(1, 10**6))
    claim = json.loads(json.dumps(answered()[0]))
    record = claim["records"][0]
    digest = task_hash(strict)
    record["task_sha256"] = record["settings"]["task"] = digest
    claim["head"] = hash_records(claim["records"])
    assert judge(claim, strict) == "REFUTED: the policy may err more often than the task allows"
    just = replace(strict, alpha=Fraction(claim["risk"]["alpha"]))
    record["task_sha256"] = record["settings"]["task"] = task_hash(just)
    claim["head"] = hash_records(claim["records"])
    assert judge(claim, just) == "VERIFIED"


def partial_machine() -> Task:
    """Not every action is allowed everywhere, and some readings come from states that no hypothesis begins in."""
    model = NoisyMachine(
        states=("a", "b", "c"),
        actions=("look", "step"),
        readings=("0", "1", "2"),
        successor=np.array([[0, 0], [1, 1], [2, -1]], dtype=np.int32),
        law=np.array([[1, 0], [2, 0], [0, -1]], dtype=np.int32),
        laws=(((2, Fraction(1)),), ((0, Fraction(9, 10)), (1, TENTH)), ((0, TENTH), (1, Fraction(9, 10)))),
    )
    return replace(pose(model, hypotheses=["a", "b"]), alpha=Fraction(1, 3), beta=Fraction(1, 3))


@pytest.mark.parametrize(
    ("children", "verdict"),
    [
        ({"2": 1}, "VERIFIED"),  # the one reading that a step gives, which is not looked at
        ({"0": 1, "1": 1}, "REFUTED"),  # no branch for what a step gives
        ({"0": 2, "2": 1}, "VERIFIED"),  # a reading that the action never gives does not matter
    ],
)
def test_what_is_lost_must_not_matter_for_any_reading_of_the_action(children: dict[str, int], verdict: str) -> None:
    nodes = [{"ask": 1, "next": children}, {"ask": 0, "next": {"0": 2, "1": 3}}, {"answer": 0}, {"answer": 1}]
    risk = {"claim": "within-risk", "alpha": "1/3", "beta": "1", "cost": "2", "policy": {"nodes": nodes}}
    assert judge_told(risk, [[1, None, True], [0, 1, True]], "b").startswith(verdict)


def judge_told(risk: dict[str, Any], steps: list[Any], label: str) -> str:
    """What is said of a run on the partial machine that followed the policy of this claim."""
    task, policy = partial_machine(), risk["policy"]
    settings = {**control().settings.settings_data(), "task": task_hash(task), "controller": policy}
    first = {**commitment_record(control().settings), "task_sha256": task_hash(task), "settings": settings}
    return judge(retell({**answered()[0], "risk": risk, "records": [first]}, steps, label), task)


def test_a_policy_that_comes_back_to_where_it_was_is_followed() -> None:
    """Look until one reading leads by two: wrong 1/82 of the time, after 100/41 looks in the mean."""
    ask = [{"ask": 0, "next": {"0": zero, "1": one}} for zero, one in ((1, 2), (3, 0), (0, 4))]
    even, ahead, behind = ("1/82", "0", "100/41"), ("1/820", "0", "51/41"), ("91/820", "0", "131/41")
    values = [
        *([node, 0, 0, *row] for node, row in enumerate((even, ahead, behind))),
        *([node, 1, 1, *row] for node, row in enumerate((even, behind, ahead))),
    ]
    policy = {"nodes": [*ask, {"answer": 0}, {"answer": 1}]}
    risk = {"claim": "within-risk", "alpha": "1/82", "beta": "0", "cost": "100/41", "policy": policy, "values": values}
    steps = [[0, 0, True], [0, 1, True], [0, 1, True], [0, 1, True]]
    assert judge_told(risk, steps, "b") == "VERIFIED"
    assert judge_told(risk, steps[:3], "b").startswith("REFUTED: after 3 steps")


def retell(claim: dict[str, Any], steps: list[Any], label: str) -> dict[str, Any]:
    records = list(claim["records"][:1])
    for action, reading, _ in steps:
        records += [{"record": "intent", "action": action}, {"record": "reading", "action": action, "reading": reading}]
    records.append({"record": "verdict", "verdict": "certified", "label": label, "reason": None})
    return {**claim, "transcript": steps, "label": label, "records": records, "head": hash_records(records)}


def test_a_machine_without_noise_is_followed_too() -> None:
    task = pose(far_sensor(3), hypotheses=["left0", "right0"])
    found = choose_control(as_problem(task), "certified", seconds=1)
    assert found is not None
    notebook, begun = Notebook(), begin_controlled(Notebook(), found.settings)
    plant = SimulatedPlant(task.model, "right0")
    run = run_session(begun.observer, plant, recorder=notebook, commitment=begun.commitment)
    claim = followed_claim(task, prove_control(found), run.observer.transcript, notebook.records)
    assert judge(claim, task) == "VERIFIED"
    lost = [[claim["transcript"][0][0], None, True], *claim["transcript"][1:]]
    assert judge(retell(claim, lost, claim["label"]), task) == "VERIFIED"
    unread = [*claim["transcript"][:-1], [claim["transcript"][-1][0], None, True]]
    assert judge(retell(claim, unread, claim["label"]), task).startswith("REFUTED")


def test_settings_are_shown() -> None:
    assert isinstance(control().settings, ControllerSettings)
    assert "wrong" in repr(control().settings)
