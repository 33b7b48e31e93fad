"""Runs of an observer: when the bank is compiled, what is forbidden, why it abstains, what it counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError, TaskError
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Doubts, Step
from ascertain.evidence.probing import round_robin
from ascertain.model import Machine
from ascertain.model.boolean import BooleanPlant, Command
from ascertain.model.expression import parse_expression
from ascertain.model.named import register
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.settings import POLICIES, PolicyName
from ascertain.observer.staged import Act, start_observer
from ascertain.observer.stages import Event
from ascertain.observer.witness import is_none_of_these
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.pose import pose
from ascertain.task.bank import Bank, uniform_bank
from ascertain.task.canonical import canonical_bytes
from ascertain.task.plant_task import ExpressionRule
from ascertain.task.task import Task
from ascertain.types import UNDEFINED
from tests.reference.small_observers import ask, lossy_plant, refuse, set_up
from tests.strategies import machines, tasks

FRESH = ("staged", "readwise")


# ---- the bank


def test_the_bank_is_compiled_at_most_once_and_only_when_it_is_wanted() -> None:
    question = ask(register(3, Fraction(1, 50)), alpha=Fraction(1, 100))
    for policy in ("staged", "readwise", "reuse"):
        observer = start_observer(set_up(question, policy=policy, budget=40), refuse)
        while isinstance(act := observer.next(), Act):
            observer = observer.update(act.action, 2 >> act.action & 1)
        assert act == Certified("010")
        assert observer.stage == "nominal"
        assert observer.counters.compilations == 0
    with pytest.raises(AssertionError, match="nobody asked"):
        start_observer(set_up(question, policy="eager"), refuse)


def test_a_bank_that_cannot_be_compiled_in_the_middle_of_a_run_ends_it_with_the_reason() -> None:
    calls: list[int] = []

    def fail() -> Bank:
        calls.append(1)
        raise LimitError("too many endpoints")

    question = ask(register(2, Fraction(1, 50)))
    for policy in ("readwise", "reuse"):
        calls.clear()
        observer = start_observer(set_up(question, policy=policy, threshold=1), fail)
        before = observer
        while observer.verdict is None:
            before, observer = observer, observer.update(0, 1)
        assert observer.next() == Abstained("the bank could not be compiled: too many endpoints")
        assert before.update(0, 1).verdict == observer.verdict
        assert calls == [1]
    with pytest.raises(LimitError, match="too many endpoints"):
        start_observer(set_up(question, policy="eager"), fail)


def test_without_a_bank_a_rejected_nominal_is_an_abstention() -> None:
    observer = start_observer(set_up(ask(register(2, Fraction(1, 50))), threshold=1), None)
    while observer.verdict is None:
        observer = observer.update(0, 1)
    assert isinstance(observer.verdict, Abstained)
    assert "no bank to fall back on" in observer.verdict.reason
    assert observer.stage == "nominal"
    with pytest.raises(TaskError, match="'reuse' needs a bank"):
        start_observer(set_up(ask(register(20)), policy="reuse"), None)
    for policy in ("eager", "reuse"):
        hypotheses = start_observer(set_up(ask(register(2)), policy=policy), None)
        assert hypotheses.verdict is None  # few enough hypotheses are the bank


def test_readings_before_the_switch_are_not_scored_by_the_fallback_but_are_by_reuse() -> None:
    """The nominal is contradicted thrice; the truth needs as many more fresh readings, and none under reuse."""
    question = ask(register(1, Fraction(1, 10)), alpha=Fraction(1, 50))
    length: dict[str, int] = {}
    for policy in ("readwise", "reuse", "eager"):
        options = set_up(question, nominal=0, policy=policy, threshold=20, budget=40)
        observer = start_observer(options, lambda: uniform_bank((0, 1)))
        while observer.verdict is None:
            observer = observer.update(0, 1)
        assert observer.verdict == Certified("1")
        length[policy] = len(observer.transcript)
        accepted = observer.acceptance
        assert accepted is not None
        assert accepted.scored_from == (observer.events[0].actions if policy == "readwise" else 0)
        assert accepted.share == {"readwise": "fallback", "reuse": "mixture", "eager": "fallback"}[policy]
    assert length["readwise"] > length["reuse"] >= length["eager"]


# ---- noiseless plants, forbidden actions, limits, faults


@given(tasks(machines(partial=True), shared_states=False), st.sampled_from(POLICIES), st.integers(0, 9))
@settings(max_examples=100)
def test_on_a_noiseless_partial_machine_nothing_undefined_is_done_and_nothing_false_is_said(
    task: Task, policy: str, pick: int
) -> None:
    states = [int(s) for s in task.state]
    options = set_up(task, alpha=Fraction(0), nominal=states[pick % len(states)], policy=policy, budget=12)
    for h, truth in enumerate(states):
        observer, state = start_observer(options, lambda: uniform_bank(dict.fromkeys(states))), truth
        while isinstance(act := observer.next(), Act):
            assert isinstance(task.model, Machine)
            assert task.model.next_state(state, act.action) != UNDEFINED
            observer = observer.update(act.action, int(task.model.output[state, act.action]))
            state = task.model.next_state(state, act.action)
        if isinstance(act, Certified):
            right = task.label[h] if task.state_label is None else task.state_label[state]
            assert act.label == task.labels[int(right)]
        else:
            known = ("budget", "no action is allowed", "nothing that is allowed tells apart what is left")
            assert isinstance(act, Abstained) and any(reason in act.reason for reason in known)
        assert observer.risk_budget.spent == 0


def test_at_alpha_zero_only_a_reading_that_a_state_cannot_give_rules_it_out() -> None:
    """A Z-channel: state `low` never reads 1, `high` reads either."""
    model = noisy_pair()
    task = pose(model, alpha=0)
    options = set_up(task, nominal=1, budget=50)
    observer = start_observer(options, lambda: uniform_bank((0, 1)))
    for _ in range(20):
        observer = observer.update(0, 0)
    assert observer.verdict is None
    assert observer.update(0, 1).verdict == Certified("high")


def noisy_pair() -> Any:
    from ascertain.model.noisy import NoisyMachine

    half = Fraction(1, 2)
    return NoisyMachine(
        states=("low", "high"),
        actions=("look",),
        readings=("0", "1"),
        successor=np.array([[0], [1]]),
        law=np.array([[0], [1]]),
        laws=(((0, Fraction(1)),), ((0, half), (1, half))),
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("probing", ["round-robin", "separating"])
def test_a_state_that_must_never_be_entered_is_not_entered_from_where_the_plant_may_be(
    policy: str, probing: str
) -> None:
    question = ask(lossy_plant(Fraction(0)), never=(3,), alpha=Fraction(0))
    options = set_up(question, policy=policy, probing=probing)
    for truth in (0, 1, 2):
        observer, state = start_observer(options, HypothesesBank(range(4))), truth
        while isinstance(act := observer.next(), Act):
            state, reading = question.model.step(state, act.action)
            assert state != 3
            observer = observer.update(act.action, reading)
        if policy in FRESH and isinstance(act, Abstained):
            assert "budget" in act.reason  # what was forgotten before the switch cannot be read afresh
        else:
            assert act == Certified(question.label_of(truth))


def test_an_action_that_would_enter_such_a_state_is_refused_until_that_is_ruled_out() -> None:
    question = ask(lossy_plant(Fraction(0)), never=(3,), alpha=Fraction(0))
    observer = start_observer(set_up(question, policy="eager", nominal=None), HypothesesBank(range(4)))
    with pytest.raises(TaskError, match="'copy' is not allowed now"):
        observer.update(3, 0)
    observer = observer.update(0, 0)
    assert observer.update(3, 0).transcript[-1].action == 3


def test_limits_are_kept_and_when_all_is_used_up_it_abstains() -> None:
    question = ask(register(2, Fraction(1, 5)), alpha=Fraction(1, 10**6))
    observer = start_observer(set_up(question, limits={0: 2, 1: 1}, policy="staged"), lambda: uniform_bank(range(4)))
    done: list[int] = []
    while isinstance(act := observer.next(), Act):
        done.append(act.action)
        observer = observer.update(act.action, None)
    assert sorted(done) == [0, 0, 1]
    assert isinstance(act, Abstained)
    assert act.reason.startswith("no action is allowed")
    with pytest.raises(TaskError, match="has ended"):
        observer.update(0, 0)


def test_only_the_actions_of_the_question_are_done() -> None:
    question = ask(lossy_plant(), actions=(1, 0))
    observer = start_observer(set_up(question, probing="separating"), lambda: uniform_bank(range(4)))
    assert isinstance(act := observer.next(), Act)
    assert act.action in {0, 1}
    with pytest.raises(TaskError, match="'mix' is not allowed now"):
        observer.update(2, 0)
    with pytest.raises(TaskError, match="action 9 is not one of the model's"):
        observer.update(9, 0)
    with pytest.raises(TaskError, match="reading 2 is not one of the model's"):
        observer.update(0, 2)


def test_the_reasons_of_an_abstention_are_told() -> None:
    question = ask(lossy_plant(), alpha=Fraction(1, 10**6))
    start = start_observer(set_up(question, doubts=Doubts(1), budget=3), lambda: uniform_bank(range(4)))
    assert start.fail("the plant hung up").next() == Abstained("the plant hung up")
    assert start.fail("x").counters.abstained == 1
    assert start.verdict is None
    spent = start.update(0, 0).update(1, None).update(0, 1)
    assert spent.next() == Abstained("the budget of 3 actions is spent")
    doubtful = start.doubt(0).doubt(1)
    assert isinstance(doubtful.verdict, Abstained)
    assert "more than 1 actions may or may not have run" in doubtful.verdict.reason
    exact = ask(register(2), states=(0, 1))
    refuted = start_observer(set_up(exact, nominal=0, policy="eager"), lambda: uniform_bank((0, 1))).update(1, 1)
    assert refuted.next() == Abstained("no candidate of the bank explains the readings")


def test_a_reading_that_no_state_gives_shows_that_it_is_none_of_these() -> None:
    machine = Machine(
        states=("s", "t"),
        actions=("a", "b"),
        readings=("x", "y"),
        successor=np.array([[0, 0], [1, 1]]),
        output=np.array([[0, 0], [0, 1]]),
    )
    observer = start_observer(set_up(pose(machine), nominal=0), refuse)
    ended = observer.update(0, 1)
    assert ended.verdict == NoneOfThese((("a", "y"),))
    assert ended.transcript == (Step(0, 1),)
    foreign = observer.outside(0, "smoke")
    assert foreign.verdict == NoneOfThese((("a", "smoke"),))
    assert (foreign.counters.actions, foreign.counters.readings, foreign.counters.cost) == (1, 1, 1)
    assert (foreign.counters.certified, foreign.counters.abstained) == (0, 0)
    with pytest.raises(TaskError, match="the model has the reading 'x'"):
        observer.outside(0, "x")


def test_readings_that_fit_one_by_one_and_not_together_are_none_of_these() -> None:
    machine = Machine(
        states=("s", "t"),
        actions=("a", "b"),
        readings=("x", "y"),
        successor=np.array([[0, 0], [1, 1]]),
        output=np.array([[0, 1], [1, 0]]),
    )
    task = pose(machine)
    assert is_none_of_these(task, (Step(0, 0), Step(1, 0))) and not is_none_of_these(task, (Step(0, 0), Step(1, 1)))
    assert not is_none_of_these(task, (Step(0, 0, certain=False), Step(1, 0)))
    assert is_none_of_these(task, (Step(0, 0), Step(0, None), Step(1, 0)))


def test_a_question_that_has_one_answer_is_answered_without_a_reading() -> None:
    plant = lossy_plant()
    question = ask(plant, rule=ExpressionRule(parse_expression("b0 or not b0", plant.bits)))
    assert start_observer(set_up(question), refuse).next() == Certified("true")


# ---- settings, counters, view


def test_settings_say_what_is_wrong_with_them() -> None:
    question = ask(lossy_plant(), states=(0, 2))
    for changes, message in (
        ({"nominal": 1}, "the nominal '01' is not one of the hypotheses"),
        ({"nominal": 4}, "states are 0 .. 3"),
        ({"nominal": None}, "'readwise' needs a nominal"),
        ({"policy": "stagd"}, "did you mean 'staged'"),
        ({"probing": "x"}, "round-robin .*separating"),
        ({"alpha": 1}, "alpha is 1"),
        ({"budget": -1}, "budget is -1; it must not be negative"),
        ({"nominal_share": 1}, "nominal_share is 1"),
        ({"rejection": 0}, "rejection is 0"),
        ({"limits": {7: 1}}, "limits: action 7"),
    ):
        with pytest.raises(TaskError, match=message):
            set_up(question, **changes)


def test_settings_as_plain_data_tell_settings_apart_and_equal_ones_alike() -> None:
    question = ask(lossy_plant())
    same = [canonical_bytes(set_up(question, limits=limits).settings_data()) for limits in ({0: 1, 1: 2}, {1: 2, 0: 1})]
    assert same[0] == same[1]
    changes: list[dict[str, Any]] = [
        {"alpha": Fraction(1, 3)},
        {"nominal": 1},
        {"policy": "reuse"},
        {"threshold": 1},
        {"budget": 9},
        {"nominal_share": Fraction(1, 3)},
        {"rejection": Fraction(1, 3)},
        {"doubts": Doubts(1)},
        {"probing": "separating"},
        {"limits": {0: 1}},
        {"question": ask(lossy_plant(), about="current")},
    ]
    seen = {canonical_bytes(set_up(**({"question": question} | change)).settings_data()) for change in changes}
    assert len(seen) == len(changes)


def test_round_robin_goes_from_tap_to_tap_like_the_rule_of_that_name() -> None:
    plant = BooleanPlant(
        ("b0", "b1"),
        (Command("x", (), 1), Command("y", (), 0), Command("z", (), 1), Command("u", (), 1)),
        Fraction(1, 5),
    )
    question = ask(plant, alpha=Fraction(1, 100))
    options = set_up(question, policy="eager", budget=20, losses=20)
    observer = start_observer(options, lambda: uniform_bank(range(4)))
    schedule = (1, 0, 1, 2, 1, 3)  # b0 is read by y alone, b1 by x, z and u in turn
    world, rule = BooleanWorld(plant, uniform_bank(range(4)), question.alpha), round_robin(plant, question.actions)
    for t in range(13):
        action = schedule[t % len(schedule)]
        assert rule.choose(world) == action
        assert observer.next() == Act(action)
        world.observe(action, None)
        observer = observer.update(action, None)


@pytest.mark.parametrize("policy", ["staged", "readwise", "reuse"])
def test_a_nominal_stage_that_used_up_its_budget_falls_back(policy: PolicyName) -> None:
    """Algorithm 1: after T_max actions without an answer the bank is tried, on what is read from then on."""
    question = ask(register(2, Fraction(1, 50)), alpha=Fraction(1, 10**6))
    options = set_up(question, nominal=0, policy=policy, nominal_budget=3, budget=60)
    observer = start_observer(options, lambda: uniform_bank(range(4)))
    for t in range(3):
        assert observer.stage == "nominal" and observer.events == ()
        observer = observer.update(t % 2, 0)
    assert observer.events == (Event("fallback", 3, 3, "exhausted"),)
    assert options.settings_data()["nominal_budget"] == 3
    while isinstance(act := observer.next(), Act):
        observer = observer.update(act.action, 0)
    assert isinstance(observer.verdict, Certified) and observer.acceptance is not None
    assert observer.acceptance.scored_from == (0 if policy == "reuse" else 3)
    # Without a bank there is nothing to fall back on, and the nominal is tried as long as the budget allows.
    if policy != "reuse":
        alone = start_observer(options)
        for t in range(4):
            alone = alone.update(t % 2, 0)
        assert alone.events == ()
    with pytest.raises(TaskError, match="nominal_budget is 0"):
        replace(options, nominal_budget=0)


def test_counters_count_every_axis() -> None:
    question = replace(ask(register(2, Fraction(1, 50))), cost=(Fraction(3, 2), Fraction(1)))
    observer = start_observer(set_up(question, nominal=0, threshold=1), lambda: uniform_bank((0, 1, 3)))
    observer = observer.update(1, None).update(0, 1)
    counters = observer.counters
    assert observer.events[0].why == "trigger"
    assert (counters.actions, counters.readings, counters.cost) == (2, 1, Fraction(5, 2))
    assert (counters.compilations, counters.certified, counters.abstained) == (1, 0, 0)
    assert counters.propagation_steps == 1 + 2 * 3
    assert counters.verifier_steps == 1
    assert counters.world_steps > 0
    assert counters.generalised_cost() == Fraction(5, 2)
    assert counters.generalised_cost(model_step=Fraction(1, 4)) == Fraction(5, 2) + 2
    after = observer.update(0, 1).counters
    assert after.verifier_steps == 1 + 3


def test_the_view_shows_how_far_the_evidence_has_come() -> None:
    question = ask(register(3, Fraction(1, 50)), alpha=Fraction(1, 100))
    observer = start_observer(set_up(question, budget=60), lambda: uniform_bank(range(8)))
    first = observer.view
    assert (first.label, first.evidence_nats, first.readings) == ("010", 0.0, 0)
    while isinstance(act := observer.next(), Act):
        assert observer.view.evidence_nats < observer.view.threshold_nats
        observer = observer.update(act.action, 2 >> act.action & 1)
    assert observer.view.rivals == 0
    assert observer.view.evidence_nats == float("inf")
    silent = start_observer(set_up(question, alpha=Fraction(0)), lambda: uniform_bank(range(8)))
    assert silent.view.threshold_nats == float("inf")
