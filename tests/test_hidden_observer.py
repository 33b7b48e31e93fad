"""Observers of hidden models: the exact risk by every transcript, the trigger, the stages, and a simulated plant."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import ModelError, TaskError
from ascertain.evidence.evidence import Doubts, Step
from ascertain.evidence.trigger import BeliefTrigger
from ascertain.live.session import run_session
from ascertain.model.hidden import HiddenModel, JointLaw, certain, make_belief, make_joint
from ascertain.observer.settings import ObserverSettings, PolicyName
from ascertain.observer.staged import Observer, start_observer
from ascertain.plant.faults import Refused
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.observer import pose_observer
from ascertain.problem.plants import open_plant
from ascertain.problem.pose_hidden import Beliefs, pose_hidden
from ascertain.problem.problem import Problem, read_any_problem
from ascertain.problem.truth import draw_truth
from ascertain.task.bank import uniform_bank
from ascertain.task.hidden_task import HiddenTask
from tests.conftest import ROOT
from tests.hidden_strategies import TIGER, beliefs, hidden_models, hidden_tasks
from tests.reference.hidden_observer import chance_of_error, naive_trigger

F = Fraction
POLICIES: tuple[PolicyName, ...] = ("eager", "staged", "readwise", "reuse")
FAULTS = st.dictionaries(st.integers(0, 3), st.sampled_from(("missing", "ran", "stayed")), max_size=2)


def make_settings(task: HiddenTask, policy: PolicyName, **words: object) -> ObserverSettings:
    nominal = None if policy == "eager" else 0
    return ObserverSettings(question=task, alpha=task.alpha, nominal=nominal, policy=policy, **words)  # type: ignore[arg-type]


def start(settings_: ObserverSettings) -> Observer:
    task = settings_.question
    assert isinstance(task, HiddenTask)
    return start_observer(settings_, lambda: uniform_bank(range(task.num_hypotheses)))


# -------------------------------------------------------------------------------------------------------------- risk


@settings(max_examples=60)
@given(
    hidden_tasks(partial=None),
    st.sampled_from(POLICIES),
    st.sampled_from(("round-robin", "separating")),
    st.sampled_from((F(1, 2), F(1, 3), F(1, 8))),
    FAULTS,
)
def test_an_observer_is_wrong_more_rarely_than_the_risk_whatever_hypothesis_is_true(
    task: HiddenTask, policy: PolicyName, probing: str, alpha: Fraction, faults: dict[int, str]
) -> None:
    words = {"threshold": F(1, 4), "rejection": F(2, 3), "probing": probing, "budget": 4}
    observed = make_settings(replace(task, alpha=alpha), policy, **words)
    for truth in range(task.num_hypotheses):
        assert chance_of_error(observed, truth, faults) <= alpha


def coin(ones: Fraction, zero: int, one: int) -> JointLaw:
    """Tossing a coin shows it and keeps it in one of two states."""
    return make_joint({(zero, 0): 1 - ones, (one, 1): ones})


def test_readings_that_decided_about_a_switch_are_not_left_out_afterwards() -> None:
    """Three coins: the nominal never shows a one, the true one rarely does, and another nearly always.

    The switch comes when the first one is shown. Looking at the coin, where it lies, shows that one again. Were the
    reading that decided left out, this would speak for the coin that shows ones, and the observer would always be
    wrong. It is when sixteen tosses are zeros, which the nominal beats the truth with, or when the first is a one.
    """
    toss = [coin(F(0), 0, 0), *[coin(F(1, 12), 1, 2)] * 2, *[coin(F(11, 12), 3, 4)] * 2]
    look = [make_joint({(s, y): F(1)}) for s, y in enumerate((0, 0, 1, 0, 1))]
    model = HiddenModel(
        states=("never", "rare", "rare 1", "often", "often 1"),
        actions=("toss", "look"),
        readings=("0", "1"),
        joint=tuple(zip(toss, look, strict=True)),
    )
    task = pose_hidden(model, hypotheses=("never", "rare", "often"), alpha="1/2")
    for policy in ("staged", "readwise"):
        observed = make_settings(task, policy, probing="round-robin", budget=40, threshold=F(10**6))
        assert chance_of_error(observed, 1, {}) == F(11, 12) ** 16 + F(1, 12) <= task.alpha


def test_the_risk_of_the_tigers_observer_is_used() -> None:
    task = pose_hidden(TIGER, hypotheses=("left", "right"), actions=("listen",), alpha="1/5")
    for policy in POLICIES:
        observed = make_settings(task, policy, budget=6)
        assert 0 < max(chance_of_error(observed, truth, {}) for truth in (0, 1)) <= F(1, 5)


# ----------------------------------------------------------------------------------------------------------- trigger


@given(hidden_models(), st.data())
def test_the_trigger_of_a_belief_is_its_definition(model: HiddenModel, data: st.DataObject) -> None:
    nominal = data.draw(beliefs(model))
    trigger, steps = BeliefTrigger(model, nominal), tuple[Step, ...]()
    letters = st.tuples(st.integers(0, model.num_actions - 1), st.integers(0, len(model.readings) - 1))
    for kind in data.draw(st.lists(st.sampled_from(("read", "read", "missing", "doubt")), max_size=5)):
        a, y = data.draw(letters)
        steps = (*steps, Step(a, y if kind == "read" else None, kind != "doubt"))
        trigger.take(steps[-1])
        if sum(not step.certain for step in steps) > trigger.doubts.limit:
            assert trigger.nats == 0 and not trigger.reaches(F(1))
            return
        value = naive_trigger(model, nominal, steps)
        if value is None:
            assert trigger.nats == math.inf and trigger.exceeds(F(10**9))
            return
        assert trigger.nats == pytest.approx(math.log(value), abs=1e-9)
        assert trigger.reaches(value) and not trigger.exceeds(value)
        assert trigger.exceeds(value * F(10**12 - 1, 10**12)) and not trigger.reaches(value * F(10**12 + 1, 10**12))


def test_a_trigger_gives_up_after_too_many_doubts_and_refuses_what_the_nominal_forbids() -> None:
    trigger = BeliefTrigger(TIGER, certain(0), doubts=Doubts(limit=1))
    trigger.doubt(0)
    for _ in range(20):
        trigger.observe(0, 1)
    assert trigger.rejects()
    trigger.doubt(0)
    assert not trigger.rejects() and trigger.nats == 0
    partial = replace(TIGER, joint=tuple((row[0], ()) for row in TIGER.joint))
    with pytest.raises(TaskError, match="'open' is not defined where the nominal would be now"):
        BeliefTrigger(partial, certain(0)).observe(1, 0)
    with pytest.raises(TaskError, match=r"every q must be in \(0, 1\]"):
        BeliefTrigger(TIGER, certain(0), mixture=(F(2),))
    with pytest.raises(ModelError, match="the nominal must list states"):
        BeliefTrigger(TIGER, certain(7))


# ------------------------------------------------------------------------------------------------------------ stages


def test_a_nominal_hypothesis_is_certified_without_a_fallback() -> None:
    task = pose_hidden(TIGER, hypotheses=("left", "right"), actions=("listen",), alpha="1/100")
    observer = start(make_settings(task, "staged"))
    while observer.verdict is None:
        observer = observer.update(0, 0)
    assert observer.verdict == Certified("left")
    assert (observer.stage, observer.events, observer.counters.compilations) == ("nominal", (), 0)
    # (17/3)^k >= 200, half of alpha for the nominal stage, first at k = 4.
    assert observer.counters.readings == 4
    assert observer.acceptance is not None and observer.acceptance.current == 0
    assert observer.view.label == "left" and observer.view.rivals == 0


@pytest.mark.parametrize("policy", ["staged", "readwise", "reuse"])
def test_a_nominal_that_is_not_true_is_given_up_and_the_early_readings_count(policy: PolicyName) -> None:
    task = pose_hidden(TIGER, hypotheses=("left", "right"), actions=("listen",), alpha="1/100")
    observer = start(make_settings(task, policy, rejection=F(1, 10), threshold=F(100)))
    while observer.verdict is None:
        observer = observer.update(0, 1)
    assert observer.verdict == Certified("right")
    assert [event.stage for event in observer.events] == ["fallback"]
    assert observer.acceptance is not None and observer.acceptance.scored_from == 0
    # Nothing is read again: the fallback answers as soon as (17/3)^k / 2 >= 200, at k = 4, or when it begins.
    assert observer.counters.readings == max(4, observer.events[0].readings)


def test_a_reading_that_the_nominal_forbids_begins_the_fallback() -> None:
    exact = replace(TIGER, joint=tuple((make_joint({(s, s): F(1)}), TIGER.joint[s][1]) for s in range(2)))
    observer = start(make_settings(pose_hidden(exact, alpha="1/100"), "staged")).update(0, 1)
    assert observer.verdict == Certified("right")
    assert [event.why for event in observer.events] == ["contradiction"]


def test_actions_are_kept_defined_for_every_hypothesis_that_a_fallback_must_follow() -> None:
    """In the nominal stage "b" is soon beaten, but the fallback begins with it again."""
    sure, unsure = make_joint({(0, 0): F(9, 10), (0, 1): F(1, 10)}), make_joint({(1, 0): F(1, 10), (1, 1): F(9, 10)})
    model = HiddenModel(
        states=("a", "b"),
        actions=("look", "press"),
        readings=("x", "y"),
        joint=((sure, ((0, 0, F(1)),)), (unsure, ())),
    )
    task = pose_hidden(
        model, hypotheses=Beliefs({"a": {"a": 1}, "even": {"a": "1/2", "b": "1/2"}, "b": {"b": 1}}), alpha="1/20"
    )
    settings_ = make_settings(task, "staged", probing="round-robin")
    whole, alone = start(settings_), start_observer(settings_, None)
    for _ in range(2):
        whole, alone = whole.update(0, 0), alone.update(0, 0)
    for observer in (whole, alone):
        assert observer.verdict is None and observer.stage == "nominal"
        with pytest.raises(TaskError, match="action 'press' is not allowed now"):
            observer.update(1, 0)


def test_limits_budgets_and_doubts_end_a_run() -> None:
    task = pose_hidden(TIGER, hypotheses=("left", "right"), alpha="1/100")
    limited = start(make_settings(task, "eager", limits={0: 1, 1: 0}))
    assert limited.update(0, 0).verdict == Abstained(
        "no action is allowed: each is used up, or forbidden where the plant may be"
    )
    short = start(make_settings(task, "eager", budget=1)).update(0, 0)
    assert short.verdict == Abstained("the budget of 1 actions is spent")
    doubted = start(make_settings(task, "eager", doubts=Doubts(limit=1))).doubt(0).doubt(0)
    assert doubted.verdict == Abstained("more than 1 actions may or may not have run")
    strange = start(make_settings(replace(task, model=replace(TIGER, readings=("l", "r", "?"))), "eager"))
    verdict = strange.update(0, 2).verdict
    assert verdict == NoneOfThese((("listen", "?"),))
    with pytest.raises(TaskError, match="probing: planned is for machines"):
        make_settings(task, "eager", probing="planned")
    with pytest.raises(TaskError, match=r"the nominal is hypothesis 5; hypotheses are 0 \.\. 1"):
        ObserverSettings(question=task, alpha=F(1, 10), nominal=5)


# ------------------------------------------------------------------------------------------------------------- plant


@given(hidden_models(), st.integers(0, 10**6))
def test_a_simulated_plant_draws_the_joint_law_exactly(model: HiddenModel, seed: int) -> None:
    """Every ticket once: each outcome comes as often as its probability says."""
    plant = SimulatedPlant(model, certain(0), seed)
    for a, law in enumerate(model.joint[0]):
        whole = math.lcm(*(p.denominator for _, _, p in law))
        seen: Counter[tuple[int, int]] = Counter()
        for ticket in range(whole):
            plant.state = 0
            plant._random.randrange = lambda _, ticket=ticket: ticket  # type: ignore[method-assign,misc]
            reading = plant.send(model.actions[a])
            seen[plant.state, model.readings.index(reading)] += 1
        assert seen == {(t, y): p * whole for t, y, p in law}


def test_where_a_simulated_plant_begins_is_drawn_from_the_belief_and_a_seed_reproduces_it() -> None:
    belief = make_belief({0: 1, 1: 3})
    starts = Counter(SimulatedPlant(TIGER, belief, seed).state for seed in range(400))
    assert 60 < starts[0] < 140
    words = [[SimulatedPlant(TIGER, belief, 3).send("listen")] for _ in range(2)]
    assert words[0] == words[1]
    one, other = (SimulatedPlant(TIGER, belief, 5) for _ in range(2))
    heard = [one.send(action) for action in ("listen", "open", "listen")]
    assert one.repeat("listen") == heard[-1]
    other.resume(["listen", "open"], 2)
    assert other.repeat("listen") == heard[-1]
    partial = replace(TIGER, joint=tuple((row[0], ()) for row in TIGER.joint))
    with pytest.raises(Refused, match="'open' is not defined in state 'left'"):
        SimulatedPlant(partial, certain(0)).send("open")


def hidden_task(problem: Problem) -> HiddenTask:
    assert isinstance(problem.question, HiddenTask)
    return problem.question


def test_a_seed_reproduces_a_run_and_seeds_differ() -> None:
    problem = read_any_problem(ROOT / "examples" / "tiger" / "where.toml")
    runs: list[tuple[Step, ...]] = []
    for seed in (0, 0, *range(1, 12)):
        settings_, make_bank = pose_observer(problem)
        run = run_session(start_observer(settings_, make_bank), open_plant(f"simulated:{seed}", problem))
        assert isinstance(run.verdict, Certified)
        runs.append(run.observer.transcript)
    assert runs[0] == runs[1]
    assert len(set(runs)) > 3


def test_what_is_true_of_a_simulated_plant_is_drawn_or_stated(tmp_path: Path) -> None:
    problem = read_any_problem(ROOT / "examples" / "tiger" / "where.toml")
    assert {draw_truth(problem, seed).start for seed in range(20)} == {certain(0), certain(1)}
    named = open_plant("simulated:1:tiger-right", problem)
    assert isinstance(named, SimulatedPlant) and named.start == certain(1)
    with pytest.raises(TaskError, match="--plant: 'tiger-rigt' is not a hypothesis; did you mean 'tiger-right'"):
        open_plant("simulated:1:tiger-rigt", problem)
    path = tmp_path / "problem.toml"
    model = ROOT / "examples" / "tiger" / "tiger.pomdp"
    path.write_text(
        f'model = "{model}"\n[task]\nhypotheses = {{ beliefs = {{ even = {{ tiger-left = "1/2", tiger-right = "1/2" }}'
        ', sure = { tiger-left = 1 } } }\n[observe]\nnominal = "even"\npolicy = "staged"\n'
    )
    posed = read_any_problem(path)
    begun = Counter(draw_truth(posed, seed).start == hidden_task(posed).belief[0] for seed in range(200))
    assert begun[True] > 120, "the nominal is true half of the time, and each hypothesis else"
    state = open_plant("simulated:1:tiger-right", posed)
    assert isinstance(state, SimulatedPlant) and isinstance(state.start, tuple) and state.start == certain(1)
    assert posed.question.true_labels(state.start, state.state) == set()
    assert posed.question.true_labels(hidden_task(posed).belief[1], 0) == {"sure"}
    settings_, _ = pose_observer(posed)
    assert (settings_.nominal, settings_.policy, settings_.probing) == (0, "staged", "separating")
    path.write_text(path.read_text().replace('nominal = "even"', 'nominal = "evn"'))
    with pytest.raises(TaskError, match=r"\[observe\] nominal: 'evn' is not a hypothesis; did you mean 'even'"):
        pose_observer(read_any_problem(path))
