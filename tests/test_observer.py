"""The observer: against its slow twin step by step, its guarantees by enumeration, and on the small testbed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config as numba_config

from ascertain.evidence.evidence import Doubts, Step
from ascertain.model.expression import parse_expression
from ascertain.observer.banks import OperationBank
from ascertain.observer.settings import POLICIES, ObserverSettings
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.task.bank import Bank, nominal_bank, uniform_bank, weighted_bank
from ascertain.task.plant_task import BitsRule, ExpressionRule, NominalRule, PlantTask, StateRule
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.evidence import every_run
from tests.reference.observer import observe
from tests.reference.small_observers import ALPHA, ask, lossy_plant, set_up, tell
from tests.strategies import machines, noisy_machines, tasks

# ---- step by step against the twin


@st.composite
def plant_questions(draw: st.DrawFn) -> PlantTask:
    plant = lossy_plant(draw(st.sampled_from((Fraction(0), Fraction(1, 5), Fraction(1, 50)))))
    rules = (StateRule(), BitsRule((1,)), NominalRule(2), ExpressionRule(parse_expression("b0 or b1", plant.bits)))
    return ask(
        plant,
        rule=draw(st.sampled_from(rules)),
        about=draw(st.sampled_from(("start", "current"))),
        states=draw(st.sampled_from((None, (2, 1), (0, 2, 3)))),
    )


@st.composite
def runs(draw: st.DrawFn) -> tuple[ObserverSettings, Bank | None, list[Step]]:
    """Settings, a bank, and a history of steps that the model allows."""
    complete = st.one_of(
        machines(partial=False, min_states=2, max_states=4), noisy_machines(partial=False, min_states=2, max_states=4)
    )
    question = draw(st.one_of(plant_questions(), plant_questions(), tasks(complete)))
    model = question.model
    states = question.states if isinstance(question, PlantTask) else tuple(question.state.tolist())
    every = range(4) if states is None else states
    policy = draw(st.sampled_from(POLICIES))
    chosen = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    bank = weighted_bank({int(z): Fraction(1, 2**i) / 2 for i, z in enumerate(chosen)})
    observer = ObserverSettings(
        question=question,
        alpha=draw(st.sampled_from((Fraction(1, 4), Fraction(1, 2), Fraction(1, 50), Fraction(0)))),
        nominal=int(draw(st.sampled_from(every))),
        policy=policy,
        threshold=draw(st.sampled_from((Fraction(0), Fraction(1, 2), Fraction(3)))),
        budget=draw(st.sampled_from((10, 12, 5, 0))),
        nominal_budget=draw(st.sampled_from((None, None, 1, 3, 12))),
        nominal_share=draw(st.sampled_from((Fraction(1, 2), Fraction(1, 5)))),
        rejection=draw(st.sampled_from((Fraction(1, 2), Fraction(1, 20)))),
        doubts=Doubts(draw(st.integers(0, 2)), draw(st.sampled_from((Fraction(1, 2), Fraction(1, 3))))),
    )
    state, history = int(draw(st.sampled_from(every))), list[Step]()
    for _ in range(draw(st.integers(0, 10))):
        action = draw(st.sampled_from(observer.question.actions))
        law = model.reading_law(state, action)
        kind = draw(st.integers(0, 14))
        likeliest = max(law, key=lambda y: law[y])
        reading = (
            None if kind < 2 else draw(st.sampled_from(model.possible_readings(action))) if kind < 4 else likeliest
        )
        history.append(Step(action, reading, certain=kind != 0))
        state = model.next_state(state, action)
    return observer, bank if policy in ("eager", "reuse", "incremental") or draw(st.integers(0, 3)) else None, history


def check_against_twin(run: tuple[ObserverSettings, Bank | None, list[Step]]) -> None:
    options, bank, history = run
    observer = start_observer(options, None if bank is None else lambda: bank)
    for t in range(len(history) + 1):
        expected = observe(options, bank, history[:t])
        found = observer.next()
        # The twin calls it an abstention too where no hypothesis can have shown what was read.
        ends = {Act: "going on", Certified: "certified", Abstained: "abstained", NoneOfThese: "abstained"}
        end = ends[type(found)]
        assert end == expected.end
        assert observer.transcript == tuple(history[:t])
        assert [(e.actions, e.why) for e in observer.events] == ([expected.switched] if expected.switched else [])
        assert observer.stage == ("fallback" if expected.switched else "nominal")
        assert observer.risk_budget.spent <= options.alpha
        if isinstance(found, Certified):
            accepted = observer.acceptance
            assert accepted is not None
            assert (found.label, accepted.alpha, accepted.scored_from) == (
                expected.label,
                expected.alpha,
                expected.scored_from,
            )
            assert observer.risk_budget.amount(accepted.share) == accepted.alpha
        if not isinstance(found, Act):
            return
        assert found.action in options.question.actions
        if t < len(history):
            observer = tell(observer, history[t])


@given(runs())
@settings(max_examples=300)
def test_what_an_observer_says_is_what_its_twin_says_after_every_step(
    run: tuple[ObserverSettings, Bank | None, list[Step]],
) -> None:
    check_against_twin(run)


@pytest.mark.slow
@given(runs())
@settings(max_examples=5000)
def test_what_an_observer_says_is_what_its_twin_says_at_length(
    run: tuple[ObserverSettings, Bank | None, list[Step]],
) -> None:
    check_against_twin(run)


@given(runs(), st.data())
@settings(max_examples=60)
def test_an_old_observer_stays_valid_after_a_new_one_has_gone_on(
    run: tuple[ObserverSettings, Bank | None, list[Step]], data: st.DataObject
) -> None:
    options, bank, history = run
    calls: list[int] = []

    def make_bank() -> Bank:
        calls.append(1)
        assert bank is not None
        return bank

    observers = [start_observer(options, None if bank is None else make_bank)]
    for step in history:
        if observers[-1].verdict is None:
            observers.append(tell(observers[-1], step))
    said = [(o.next(), o.transcript, o.events, o.risk_budget, o.verdict, o.stage) for o in observers]
    for i in data.draw(st.permutations(range(len(observers)))):
        o = observers[i]
        assert (o.next(), o.transcript, o.events, o.risk_budget, o.verdict, o.stage) == said[i]
        if i + 1 < len(observers):
            again = tell(o, history[i])
            assert (
                again.next(),
                again.transcript,
                again.events,
                again.risk_budget,
                again.verdict,
                again.stage,
            ) == said[i + 1]
            assert again.view.label == observers[i + 1].view.label
    assert len(calls) <= 1
    assert len(calls) == any(o.stage == "fallback" for o in observers)


# ---- the guarantees, by enumeration of every transcript


def adapt(observers: Callable[[tuple[Step, ...]], Observer], lossy: bool = True) -> Callable[[tuple[Step, ...]], Step]:
    """What the observer asks for, with some readings lost and some actions of its own mixed in."""

    def choose(history: tuple[Step, ...]) -> Step:
        act = observers(history).next()
        assert isinstance(act, Act)
        seen = sum((i + 1) * (1 + (step.reading or 0)) for i, step in enumerate(history))
        action = act.action if seen % 3 else (seen + len(history)) % (2 if len(history) < 4 else 5)
        return Step(action, None if lossy and seen % 7 == 6 else 0)

    return choose


def remember(options: ObserverSettings, make_bank: Callable[[], Bank] | None) -> Callable[[tuple[Step, ...]], Observer]:
    @cache
    def after(history: tuple[Step, ...]) -> Observer:
        return tell(after(history[:-1]), history[-1]) if history else start_observer(options, make_bank)

    return after


BANKS = {
    "all": uniform_bank(range(4)),
    "two": weighted_bank({0: Fraction(1, 3), 1: Fraction(2, 3)}),
    "nominal": nominal_bank(2),
}


def worst_rate(question: PlantTask, after: Callable[[tuple[Step, ...]], Observer]) -> Fraction:
    """The largest probability of a wrong answer within seven actions, over the truths of two bits."""
    rates: list[Fraction] = []
    for truth in range(4):
        found = list(every_run(question.model, truth, adapt(after), lambda h: after(h).verdict, 7))
        assert sum(run.probability for run in found) == 1
        wrong = [r for r in found if isinstance(r.end, Certified) and r.end.label != question.label_of(truth)]
        rates.append(sum((run.probability for run in wrong), Fraction(0)))
    return max(rates)


@pytest.mark.parametrize("bank", BANKS)
@pytest.mark.parametrize("policy", POLICIES)
def test_no_truth_in_the_bank_or_not_is_answered_wrongly_more_often_than_alpha(policy: str, bank: str) -> None:
    question = ask(lossy_plant())
    options = set_up(question, policy=policy, threshold=1, rejection=Fraction(1, 3), budget=7)
    after = remember(options, lambda: BANKS[bank])
    assert 0 < worst_rate(question, after) <= ALPHA


@pytest.mark.parametrize("policy", POLICIES)
def test_the_current_state_is_answered_wrongly_no_more_often_than_alpha(policy: str) -> None:
    question = ask(lossy_plant(), about="current", rule=BitsRule((0, 1)))
    after = remember(set_up(question, policy=policy, threshold=1, budget=6), lambda: BANKS["all"])
    rates: list[Fraction] = []
    for truth in range(4):
        wrong = Fraction(0)
        for run in every_run(question.model, truth, adapt(after), lambda h: after(h).verdict, 6):
            if isinstance(run.end, Certified):
                state, _ = question.model.run(truth, [step.action for step in run.history])
                accepted = after(run.history).acceptance
                assert accepted is not None
                wrong += run.probability * (question.label_of(state) != run.end.label)
                assert accepted.current is None or question.label_of(accepted.current) == run.end.label
        rates.append(wrong)
    assert 0 < max(rates) <= ALPHA


def test_actions_that_may_have_run_do_not_raise_the_risk() -> None:
    question = ask(lossy_plant())
    after = remember(set_up(question, policy="readwise", threshold=0, budget=7), lambda: BANKS["all"])

    def choose(history: tuple[Step, ...]) -> Step:
        return Step(2, None, certain=False) if len(history) == 2 else adapt(after)(history)

    rates: list[Fraction] = []
    for truth in range(4):
        for ran in (True, False):
            found = every_run(question.model, truth, choose, lambda h: after(h).verdict, 7, (ran,))
            wrong = (r for r in found if isinstance(r.end, Certified) and r.end.label != question.label_of(truth))
            rates.append(sum((run.probability for run in wrong), Fraction(0)))
    assert 0 < max(rates) <= ALPHA


@pytest.mark.parametrize("threshold", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10)])
def test_a_true_nominal_has_the_bank_compiled_no_more_often_than_lambda_says(threshold: Fraction) -> None:
    question = ask(lossy_plant(), alpha=Fraction(1, 1000))
    options = set_up(question, policy="readwise", threshold=threshold, rejection=Fraction(1, 10**6), budget=8)
    after = remember(options, lambda: BANKS["all"])
    found = list(every_run(question.model, 2, adapt(after), lambda h: after(h).verdict, 8))
    compiled = sum((run.probability for run in found if after(run.history).stage == "fallback"), Fraction(0))
    assert 0 < compiled <= 1 / (1 + threshold)


def test_a_true_nominal_is_formally_rejected_no_more_often_than_beta_says() -> None:
    question = ask(lossy_plant(), alpha=Fraction(1, 1000))
    after = remember(set_up(question, policy="staged", rejection=Fraction(1, 5)), lambda: BANKS["all"])
    found = list(every_run(question.model, 2, adapt(after), lambda h: after(h).verdict, 8))
    assert {e.why for run in found for e in after(run.history).events} == {"rejection"}
    assert 0 < sum((r.probability for r in found if after(r.history).events), Fraction(0)) <= Fraction(1, 5)


# ---- the small testbed


SLOW_WITHOUT_KERNELS = pytest.mark.skipif(vars(numba_config)["DISABLE_JIT"], reason="minutes without compiled kernels")


@pytest.mark.parametrize("probing", ["round-robin", pytest.param("separating", marks=SLOW_WITHOUT_KERNELS)])
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_settles_operations_of_the_small_testbed(policy: str, probing: str) -> None:
    testbed = load_testbed("small")
    settled = 0
    for slot in (s for s in testbed.slots() if s.number < 2 and s.family == 0):
        operation, drawn = testbed.draw(slot), testbed.plants[slot.plant]
        question = ask(drawn.plant, actions=tuple(drawn.probing), alpha=testbed.settings.eager_risk)
        bank = OperationBank(operation.logged(testbed.settings, drawn.plant), against="exhaustive")
        options = set_up(question, nominal=operation.nominal_endpoint, policy=policy, probing=probing, budget=100)
        stream, state = testbed.stream(operation), operation.true_endpoint
        observer = start_observer(options, bank)
        while isinstance(act := observer.next(), Act):
            state, tapped = drawn.plant.step(state, act.action)
            observer = observer.update(act.action, tapped ^ int(stream.noise[len(observer.transcript)]))
        if isinstance(act, Certified):
            assert act.label == drawn.plant.name_state(operation.true_endpoint)
            assert observer.acceptance is not None
            assert observer.acceptance.current == state
            settled += 1
        if observer.stage == "fallback":
            assert observer.counters.map_equal is True
            assert observer.counters.evaluations > 0
            assert observer.counters.compile_steps > 0
        else:
            assert not operation.active
            assert observer.counters.compile_steps == 0
    assert settled >= 3
