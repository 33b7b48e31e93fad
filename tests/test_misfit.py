"""Misfit against the definition, and its false alarms by exact enumeration."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.evidence import boolean_world
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Step
from ascertain.evidence.misfit import least_misfit_count
from ascertain.evidence.worlds import AbstractWorld, ListWorld, MachineWorld
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_flip
from ascertain.observer.settings import PolicyName
from ascertain.observer.staged import start_observer
from ascertain.observer.stages import NO_MODEL
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose import pose
from ascertain.task.bank import EvenBank, uniform_bank
from ascertain.task.plant_task import BitsRule
from tests.hidden_strategies import hidden_tasks, world_of
from tests.reference.hidden_observer import trigger_of_case
from tests.reference.misfit import THETAS, Score, chance_of, flip_score, g_of, is_alarm, law_score
from tests.reference.small_observers import ask, lossy_plant, set_up
from tests.reference.worlds import NaiveWorld
from tests.strategies import noisy_machines
from tests.test_worlds import ALPHAS, banks, feed, plants, steps

GAMMAS = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100))


def agree(world: AbstractWorld, naive: NaiveWorld, states: list[int], score: Score, gamma: Fraction) -> None:
    """The world misfits exactly when G has reached 1/gamma for everything that is left."""
    left = [case for case in naive.state if not naive.beaten[case]]
    over = [g_of(naive.model, score, states[h], ran, world.history) >= 1 / gamma for h, ran in left]
    assert world.misfits(gamma) == (bool(left) and all(over))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), plant=plants(max_bits=4), alpha=st.sampled_from(ALPHAS), gamma=st.sampled_from(GAMMAS))
def test_a_boolean_world_misfits_as_the_definition_says(data, plant, alpha, gamma):
    states, even = list(range(plant.num_states)), data.draw(st.booleans())
    listed = uniform_bank(states) if even else data.draw(banks(plant.num_states))
    bank = EvenBank(plant.num_states) if even else listed
    world, naive = BooleanWorld(plant, bank, alpha), NaiveWorld(plant, states, listed, alpha)
    some = ListWorld(plant, states, listed, alpha)
    for step in data.draw(steps(plant.num_actions, 2, 14)):
        if naive.numerator == 0 or world.num_doubts + (step[0] == "doubt") > 4:
            break
        for each in (world, some, naive):
            feed(each, step)
        if naive.numerator and plant.flip:
            agree(world, naive, states, flip_score(plant, plant.flip), gamma)
            agree(some, naive, states, flip_score(plant, plant.flip), gamma)


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(), model=noisy_machines(partial=False), alpha=st.sampled_from(ALPHAS), gamma=st.sampled_from(GAMMAS)
)
def test_a_machine_misfits_as_the_definition_says(data, model, alpha, gamma):
    states, bank = list(range(model.num_states)), data.draw(banks(model.num_states))
    world, naive = MachineWorld(model, bank, alpha), NaiveWorld(model, states, bank, alpha)
    for step in data.draw(steps(model.num_actions, len(model.readings), 14)):
        if world.num_doubts + (step[0] == "doubt") > 4:  # it would give up
            break
        feed(world, step)
        feed(naive, step)
        if naive.numerator == 0:
            break
        agree(world, naive, states, law_score(model), gamma)


@settings(max_examples=40, deadline=None)
@given(task=hidden_tasks(), gamma=st.sampled_from(GAMMAS), seed=st.integers(0, 999))
def test_a_hidden_world_misfits_as_the_definition_says(task, gamma, seed):
    rng, world, done = Random(seed), world_of(task), ()
    for _ in range(6):
        action = rng.randrange(task.model.num_actions)
        possible = task.model.possible_readings(action)
        step = Step(action, rng.choice([*possible, *possible, None]), True)
        if rng.random() < 0.1:
            step = Step(action, None, False)
        if not world.is_allowed(action):
            break
        world.take(step)
        done = (*done, step)
        if world.verdict() is not None and not isinstance(world.verdict(), Certified):
            break
        left = [(int(h), group.ran) for group in world.strongest_rivals(2**63, 99) for h in group.hypothesis]
        values = [trigger_of_case(task.model, task.belief[h], done, ran) for h, ran in left]
        over = [value is not None and value >= 1 / gamma for value in values]
        assert world.misfits(gamma) == (bool(left) and all(over))


@given(
    t=st.integers(0, 60),
    flip=st.sampled_from((Fraction(1, 50), Fraction(1, 5), Fraction(2, 5))),
    gamma=st.sampled_from(GAMMAS),
)
def test_the_least_count_is_the_least_that_reaches_the_bound(t, flip, gamma):
    g = lambda k: sum(Fraction(theta) ** k / (1 - flip + theta * flip) ** t for theta in THETAS) / 5  # noqa: E731
    k = least_misfit_count(t, flip, 1 / gamma)
    assert g(k) >= 1 / gamma
    assert k == 0 or g(k - 1) < 1 / gamma


def test_a_bound_that_is_met_exactly_is_reached():
    # One reading, contradicted, and one state: G is a fraction that the bound can equal.
    flip = Fraction(1, 5)
    g = sum(theta / (1 - flip + theta * flip) for theta in THETAS) / 5
    assert least_misfit_count(1, flip, g) == 1
    assert least_misfit_count(1, flip, g + Fraction(1, 10**30)) == 2


@pytest.mark.parametrize("policy", ["eager", "staged", "readwise", "reuse", "incremental"])
@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 10**6)])
def test_false_alarms_are_at_most_gamma_and_alpha_whatever_the_noise_below_f(policy: PolicyName, alpha: Fraction):
    """Exactly, over all readings, for every truth, with actions that adapt and noise that knows the past."""
    plant, gamma = lossy_plant(Fraction(1, 20)), Fraction(1, 2)
    question = ask(plant, alpha=alpha, actions=(0, 2))
    options = set_up(question, policy=policy, misfit=gamma, budget=6, threshold=2)
    observer = start_observer(options, lambda: uniform_bank(range(4)))

    def laws(state: int, action: int) -> list[dict[int, Fraction]]:
        right = plant.step(state, action)[1]
        return [{right: Fraction(1)}, {right: 1 - plant.flip, 1 - right: plant.flip}]

    chances = [chance_of(is_alarm, observer, z, laws) for z in range(4)]
    assert max(chances) <= gamma + alpha
    assert max(chances) > 0 or alpha == Fraction(1, 4)  # where an answer comes first


def _counter(flip: Fraction = Fraction(1, 50)):
    """Three states in a ring, of which each shows its own reading."""
    arrows = [(f"s{i}", "step", f"r{i}", f"s{(i + 1) % 3}") for i in range(3)]
    return with_flip(machine_from_transitions(arrows), flip)


@pytest.mark.parametrize("policy", ["eager", "reuse"])
def test_false_alarms_on_exact_laws_are_at_most_gamma_and_alpha(policy: PolicyName):
    task = pose(_counter(), alpha=Fraction(1, 10**9))
    options = set_up(task, policy=policy, misfit=Fraction(1, 2), budget=5, nominal=0)
    observer = start_observer(options, lambda: uniform_bank(range(3)))
    model = task.model
    chances = [chance_of(is_alarm, observer, z, lambda s, a: [model.reading_law(s, a)]) for z in range(3)]
    assert 0 < max(chances) <= Fraction(1, 2) + task.alpha


def test_a_plant_outside_the_model_is_a_misfit_and_without_misfit_it_is_certified():
    """A plant that shows 0, 1, 0, 1, ... for a while and then 0, where every state is constant."""
    question = ask(lossy_plant(Fraction(1, 50)), actions=(0,), alpha=Fraction(1, 100), rule=BitsRule((0,)))
    ends = []
    for misfit in (Fraction(1, 1000), Fraction(0)):
        observer = start_observer(
            set_up(question, policy="eager", misfit=misfit, budget=60, nominal=None), lambda: uniform_bank(range(4))
        )
        for t in range(60):
            if observer.verdict is not None:
                break
            observer = observer.update(0, t % 2 if t < 40 else 0)
        ends.append(observer.verdict)
    assert ends[0] == Abstained(NO_MODEL)
    assert ends[1] == Certified("b0=0")


def test_the_sweep_finds_who_fits_when_no_witness_does(monkeypatch):
    """With hardly any witnesses kept the answer is the same."""
    monkeypatch.setattr(boolean_world, "KEPT", 0)
    plant, rng = lossy_plant(), Random(3)
    bank = uniform_bank([0])
    world, naive = (
        BooleanWorld(plant, bank, Fraction(1, 1000)),
        NaiveWorld(plant, [0, 1, 2, 3], bank, Fraction(1, 1000)),
    )
    world._witnesses = []
    for _ in range(12):
        step = ("read", rng.randrange(3), rng.randrange(2))
        feed(world, step)
        feed(naive, step)
        agree(world, naive, [0, 1, 2, 3], flip_score(plant, plant.flip), Fraction(1, 4))


def test_what_was_committed_to_holds_the_risk_only_where_there_is_one():
    question = ask(lossy_plant())
    assert "misfit" not in set_up(question).settings_data()
    assert set_up(question, misfit="1/1000").settings_data()["misfit"] == "1/1000"
