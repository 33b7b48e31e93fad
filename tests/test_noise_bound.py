"""Noise as a bound: the theorem by enumeration with adversarial noise, the factor, certificates and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascertain_check.claims  # noqa: F401  registers them
from ascertain.errors import AscertainError, ModelError, TaskError
from ascertain.evidence.laws import LawEvidence
from ascertain.evidence.worlds import MachineWorld
from ascertain.model import NoisyMachine
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_bound, with_flip
from ascertain.model.union import union
from ascertain.observer.staged import Act, start_observer
from ascertain.pipeline.bound import bound
from ascertain.pipeline.observe import observe
from ascertain.policy.verdict import Certified
from ascertain.problem.pose import pose
from ascertain.problem.problem import read_any_problem
from ascertain.task.bank import uniform_bank
from ascertain.task.canonical import canonical_bytes, task_data, task_hash
from ascertain_check.task import read_task
from ascertain_check.verdicts import Malformed
from tests.reference.misfit import chance_of, flip_score
from tests.reference.small_observers import set_up
from tests.reference.worlds import NaiveWorld
from tests.strategies import machines
from tests.test_misfit import GAMMAS
from tests.test_misfit import agree as agree_on_misfit
from tests.test_worlds import ALPHAS, agree, banks, feed, steps

F = Fraction(1, 10)


def dial(num_readings: int = 4, num_states: int = 3):
    """States that stay where they are; "look" shows each its own reading, "turn" walks around a ring of all."""
    arrows = [(f"s{i}", "look", f"r{i}", f"s{i}") for i in range(num_states)]
    arrows += [(f"s{i}", "turn", f"r{(i + 1) % num_readings}", f"s{(i + 1) % num_states}") for i in range(num_states)]
    return machine_from_transitions(arrows)


class NaiveBounded(NaiveWorld):
    """Each reading counts 1 - f where it is predicted and f where it is not."""

    def probability(self, state, action, reading):
        bound, law = self.model.noise_bound, self.model.reading_law(state, action)
        if reading is None or bound is None or len(law) == 1:
            return super().probability(state, action, reading)
        return 1 - bound if reading == max(law, key=lambda y: law[y]) else bound if reading in law else Fraction(0)


@settings(max_examples=50, deadline=None)
@given(
    data=st.data(),
    machine=machines(partial=False),
    alpha=st.sampled_from(ALPHAS),
    f=st.sampled_from((Fraction(1, 50), Fraction(1, 5))),
    gamma=st.sampled_from(GAMMAS),
)
def test_a_world_under_a_bound_is_what_the_definition_says(data, machine, alpha, f, gamma):
    model = with_bound(machine, f)
    states, bank = list(range(model.num_states)), data.draw(banks(model.num_states))
    world, naive = MachineWorld(model, bank, alpha), NaiveBounded(model, states, bank, alpha)
    for kind, action, reading in data.draw(steps(model.num_actions, len(model.readings), 10)):
        possible = model.possible_readings(action)
        feed(world, step := (kind, action, possible[reading % len(possible)]))
        feed(naive, step)
        if world.num_doubts > 4:  # it has given up
            break
        agree(world, naive, states)
        agree_on_misfit(world, naive, states, _bound_score(model, f), gamma)


def _bound_score(model, f):
    score = flip_score(model, f)
    return lambda s, a, y: (Fraction(1),) * 5 if len(model.possible_readings(a)) == 1 else score(s, a, y)


def _worst_laws(model: NoisyMachine):
    """No error, or all of the bound on one wrong reading: the ends of what is allowed, among which the worst one is."""

    def laws(state: int, action: int) -> list[dict[int, Fraction]]:
        known, f = model.reading_law(state, action), model.noise_bound or F
        right = max(known, key=lambda y: known[y])
        return [{right: Fraction(1)}, *({right: 1 - f, y: f} for y in known if y != right)]

    return laws


def _worst_error(
    model: NoisyMachine, alpha: Fraction, budget: int, policy: str = "eager", candidates: int = 3
) -> Fraction:
    """The largest probability of a wrong answer, over truths and over noise below the bound that knows the past."""
    task = pose(replace(model), alpha=alpha)
    options = set_up(task, policy=policy, budget=budget, probing="round-robin", nominal=0, misfit=Fraction(1, 1000))
    observer = start_observer(options, lambda: uniform_bank(range(candidates)))
    worst = Fraction(0)
    for z in range(task.model.num_states):
        wrong = lambda verdict, z=z: isinstance(verdict, Certified) and verdict.label != task.model.states[z]  # noqa: E731
        worst = max(worst, chance_of(wrong, observer, z, _worst_laws(model)))
    return worst


@pytest.mark.parametrize("policy", ["eager", "reuse", "readwise"])
@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 20)])
def test_noise_that_knows_the_past_and_aims_keeps_to_alpha_below_the_bound(policy: str, alpha: Fraction):
    assert _worst_error(with_bound(dial(), F), alpha, 5, policy) <= alpha


def test_the_even_law_does_not_keep_to_alpha_when_errors_aim():
    """One of six readings, and one candidate: the even law's factor is (1-f)(m-1)/f, five times that of the bound."""
    arrows = [(f"s{i}", "look", f"r{i}", f"s{i}") for i in range(6)]
    machine, alpha = machine_from_transitions(arrows), Fraction(1, 40)
    assert _worst_error(with_flip(machine, F), alpha, 2, candidates=1) == F
    assert 0 < _worst_error(with_bound(machine, F), alpha, 3, candidates=1) <= alpha


def test_the_mean_of_the_factor_is_at_most_one_whatever_an_error_turns_into():
    model = with_bound(dial(), F)
    world = MachineWorld(model, uniform_bank(range(3)), Fraction(1, 4))
    assert isinstance(world.evidence, LawEvidence)
    levels = world.evidence.levels
    for a in range(model.num_actions):
        for z in range(3):
            for c in range(3):
                count = lambda s, y, a=a: levels.values[levels.level[model.law[s, a], y]]  # noqa: E731
                for law in _worst_laws(model)(z, a):
                    assert sum(p * count(c, y) / count(z, y) for y, p in law.items()) <= 1


@settings(max_examples=30, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_for_two_readings_a_bound_is_a_flip(data, seed):
    rng = Random(seed)
    arrows = [(f"s{i}", a, f"r{rng.randrange(2)}", f"s{rng.randrange(4)}") for i in range(4) for a in "ab"]
    machine, bank = machine_from_transitions(arrows), data.draw(banks(4))
    one = MachineWorld(with_bound(machine, F), bank, Fraction(1, 10))
    other = MachineWorld(with_flip(machine, F), bank, Fraction(1, 10))
    for _ in range(10):
        action = rng.randrange(2)
        step = ("read", action, rng.choice(one.model.possible_readings(action)))
        feed(one, step)
        feed(other, step)
        assert one.verdict() == other.verdict()
        assert [g.hypothesis.tolist() for g in one._blocks()] == [g.hypothesis.tolist() for g in other._blocks()]


def test_an_average_is_no_bound():
    """A sensor that lies throughout in one run of fifty is wrong 1/50 of the time on average, and its runs all are."""
    arrows = [(f"s{i}", "look", f"r{i}", f"s{i}") for i in range(2)]
    task = pose(machine_from_transitions(arrows), at_most="1/50", alpha="1/2000000")
    observer = start_observer(set_up(task, policy="eager", nominal=None, misfit="1/1000"), lambda: uniform_bank([0, 1]))
    while isinstance(observer.next(), Act):
        observer = observer.update(0, 1)  # the truth is s0
    assert observer.verdict == Certified("s1")
    assert Fraction(1, 50) / task.alpha == 40_000


def test_the_canonical_form_has_a_bound_only_where_there_is_one():
    flip, most = pose(dial(), flip=F, alpha="1/100"), pose(dial(), at_most=F, alpha="1/100")
    assert "at_most" not in task_data(flip)["model"]
    assert task_data(most)["model"]["at_most"] == "1/10"
    assert task_hash(flip) != task_hash(most)
    assert read_task(json.loads(canonical_bytes(task_data(most)))).at_most == F


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"at_most": "1/2"}, "less than 1/2"),
        ({"at_most": "0"}, "positive"),
        ({"at_most": "1/9"}, "one reading of the probability"),
        ({"lost": [0, "1/10"]}, "one reading of the probability"),
        ({"lost": [0, "9/10"]}, "more than at_most"),
        ({"lost": [9, "1/10"]}, "lost one"),
        ({"laws": [[[0, "9/10"], [1, "1/10"]]] * 1}, "index|law"),
    ],
)
def test_the_checker_refuses_a_bound_that_its_laws_do_not_have(change, why):
    data = json.loads(canonical_bytes(task_data(pose(dial(), at_most=F, alpha="1/100"))))
    data["model"] |= change
    with pytest.raises(Malformed, match=why):
        read_task(data)


def test_the_checker_refuses_an_action_that_one_state_knows_more_readings_of():
    data = json.loads(canonical_bytes(task_data(pose(dial(), at_most=F, alpha="1/100"))))
    law = data["model"]["laws"][data["model"]["law"][0][0]]
    assert len(law) == 3
    data["model"]["laws"].append([[law[0][0], "9/10"], [law[1][0], "1/10"]])
    data["model"]["law"][0][0] = len(data["model"]["laws"]) - 1
    with pytest.raises(Malformed, match="the same readings in every state"):
        read_task(data)


def test_the_certificate_of_a_run_under_a_bound_is_checked(tmp_path: Path):
    path = _problem(tmp_path)
    found = observe(path, "simulated:3", certificate=tmp_path / "run.json")
    assert found.is_certified and found.certificate == "VERIFIED" and found.right


def test_an_answer_that_the_even_law_would_give_is_refuted_under_the_bound(tmp_path: Path):
    """The transcript is enough under `flip` and not under `at_most`: both sides use the smaller factor."""
    arrows = [(f"s{i}", "look", f"r{i}", f"s{i}") for i in range(11)]
    machine = machine_from_transitions(arrows)
    ends: list[int] = []
    for task in (pose(machine, alpha="1/1000", flip=F), pose(machine, alpha="1/1000", at_most=F)):
        observer = start_observer(set_up(task, policy="eager", nominal=None), lambda: uniform_bank(range(11)))
        while isinstance(observer.next(), Act):
            observer = observer.update(0, 4)
        assert observer.verdict == Certified("s4")
        ends.append(observer.counters.readings)
    assert ends[0] < ends[1]


def _problem(folder: Path, noise: str = 'at_most = "1/10"') -> Path:
    arrows = "".join(
        f's{i} -> s{i} [label="look/r{i}"]; s{i} -> s{(i + 1) % 3} [label="turn/r{(i + 1) % 4}"];\n' for i in range(3)
    )
    (folder / "m.dot").write_text(f"digraph m {{\n{arrows}}}\n")
    path = folder / "p.toml"
    path.write_text(f'model = "m.dot"\n[noise]\n{noise}\n[risk]\nalpha = "1/1000"\nbeta = "1/100"\n')
    return path


def test_a_problem_file_says_a_bound(tmp_path: Path):
    assert read_any_problem(_problem(tmp_path)).question.model.noise_bound == F
    with pytest.raises(AscertainError, match="flip is exact and at_most a bound"):
        read_any_problem(_problem(tmp_path, 'at_most = "1/10"\nflip = "1/10"'))
    with pytest.raises(AscertainError, match="less than 1/2"):
        read_any_problem(_problem(tmp_path, 'at_most = "1/2"'))


def test_a_network_taken_as_a_plant_has_no_policy_for_a_bound_on_noise(tmp_path: Path):
    """Its bits are read as if flipped with just that probability, which is the same evidence and not the same risk."""
    (tmp_path / "n.bnet").write_text("targets, factors\na, !b\nb, a\n")
    path = tmp_path / "n.toml"
    path.write_text(
        'model = "n.bnet"\n[network]\nas = "plant"\nobserved = ["a", "b"]\n[noise]\nat_most = "1/10"\n'
        '[risk]\nalpha = "1/100"\nbeta = "1/10"\n'
    )
    for road in (bound, lambda p: observe(p, "simulated:1", policy="certified")):
        with pytest.raises(TaskError, match="at_most: a network that is taken as a plant"):
            road(path)
    assert observe(path, "simulated:1", budget=3).control is None


def test_a_model_file_cannot_lose_the_bound():
    model = with_bound(dial(), F)
    with pytest.raises(ModelError, match="no bound on noise"):
        model.named_data()
    with pytest.raises(ModelError, match="join the machines first"):
        union({"one": model, "two": model})
    with pytest.raises(ModelError, match="less than 1/2"):
        with_bound(dial(), Fraction(1, 2))
