"""Worlds of beliefs: what is left by the definition, the risk by every transcript, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import TaskError
from ascertain.evidence.evidence import Doubts
from ascertain.evidence.hidden_world import HiddenWorld
from ascertain.evidence.labelling import label_states, label_table
from ascertain.evidence.probing import FixedSchedule
from ascertain.evidence.worlds import ListWorld
from ascertain.model.build import restrict
from ascertain.model.hidden import Belief, HiddenModel, as_hidden, certain, make_belief, make_joint
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose_hidden import pose_hidden
from ascertain.task.bank import Bank, reuse_bank, uniform_bank
from ascertain.task.hidden_task import HiddenTask
from tests.hidden_strategies import TIGER, beliefs, hidden_models, hidden_tasks, world_of
from tests.reference.hidden import (
    NaiveHiddenWorld,
    propagate,
)
from tests.strategies import noisy_machines

F = Fraction


@st.composite
def worlds(draw: st.DrawFn) -> tuple[HiddenModel, list[Belief], Bank, Fraction]:
    model = draw(hidden_models())
    listed = [draw(beliefs(model)) for _ in range(draw(st.integers(1, 4)))]
    chosen = draw(st.lists(st.integers(0, len(listed) - 1), min_size=1, max_size=3, unique=True))
    parts = [draw(st.integers(1, 3)) for _ in chosen]
    spare = draw(st.integers(0, 2))
    bank = Bank(tuple(chosen), tuple(F(p, sum(parts) + spare) for p in parts))
    return model, listed, bank, draw(st.sampled_from((F(0), F(1, 2), F(1, 5), F(9, 10))))


STEPS = st.lists(
    st.tuples(st.sampled_from(("read", "read", "read", "missing", "doubt")), st.integers(0, 1), st.integers(0, 1)),
    max_size=6,
)


@given(worlds(), STEPS)
def test_a_hidden_world_leaves_what_the_definition_leaves(drawn, steps) -> None:
    model, listed, bank, alpha = drawn
    codes = [h % 2 for h in range(len(listed))]
    world = HiddenWorld(model, listed, bank, alpha, labelling=label_table(codes, ("even", "odd"), "hypothesis"))
    naive = NaiveHiddenWorld(model, listed, bank, alpha)
    for kind, a, y in steps:
        action, reading = a % model.num_actions, y % len(model.readings)
        assert world.is_allowed(action)
        if kind == "doubt":
            if world.num_doubts == 2:
                continue
            world.doubt(action)
            naive.doubt(action)
        else:
            world.observe(action, reading if kind == "read" else None)
            naive.observe(action, reading if kind == "read" else None)
        if naive.numerator == 0:
            assert world.verdict() == Abstained("no candidate of the bank explains the readings")
            assert world.evidence_against(0) == -math.inf
            return
        agree(world, naive, codes)


def agree(world: HiddenWorld, naive: NaiveHiddenWorld, codes: list[int]) -> None:
    current = {(case.hypothesis, case.ran): make_belief(case.weights) for case in world._cases if case.weights}
    assert set(current) == naive.left
    for case, belief in current.items():
        assert belief == make_belief({s: p for s, p in naive.cases[case].items() if p})
    labels = {codes[h] for h, _ in naive.left}
    for label in (0, 1):
        rivals = [case for case in naive.left if codes[case[0]] != label]
        assert world.rivals_left(label) == len(rivals)
        strongest = world.strongest_rival(label)
        assert (strongest is None) == (not rivals)
        if strongest is not None:
            least = min(naive.numerator / naive.likelihood(case) for case in rivals)
            assert strongest.evidence_nats == pytest.approx(math.log(least), abs=1e-6)
            assert world.belief_numbered(strongest.current) == current[strongest.hypothesis, strongest.ran]
            assert world.glance(label).rivals == len(rivals)
    expected = Certified(("even", "odd")[labels.pop()]) if len(labels) == 1 else None
    if not naive.left:
        expected = Abstained("the readings contradict every state of the world")
    assert world.verdict() == expected
    for h in range(len(world.beliefs)):
        values = [naive.likelihood(case) for case in naive.cases if case[0] == h]
        own = math.log(naive.numerator) - math.log(max(values)) if max(values) else math.inf
        assert world.evidence_against(h) == pytest.approx(own, abs=1e-6)
    held = {s for belief in current.values() for s, _ in belief}
    assert world.current_state() == (next(iter(held)) if len(held) == 1 else None)
    assert all(world.may_be_in(lambda states, s=s: states == s) == (s in held) for s in range(world.model.num_states))
    number, code = world.leader()
    best = max(w * naive.likelihood(case) for case, w in naive.weight.items())
    leaders = [case for case, w in naive.weight.items() if w * naive.likelihood(case) == best]
    assert code in {codes[h] for h, _ in leaders}
    assert world.belief_numbered(number) in [
        make_belief({s: p for s, p in naive.cases[case].items() if p}) for case in leaders
    ]


@given(noisy_machines(max_states=4, max_actions=2, max_readings=2, partial=False), STEPS)
def test_on_a_machine_a_hidden_world_agrees_with_a_listed_one(machine, steps) -> None:
    n = machine.num_states
    bank, alpha = uniform_bank(range(n)), F(1, 5)
    one = ListWorld(machine, range(n), bank, alpha)
    other = HiddenWorld(as_hidden(machine), [certain(s) for s in range(n)], bank, alpha)
    for kind, a, y in steps:
        action, reading = a % machine.num_actions, y % len(machine.readings)
        for world in (one, other):
            if kind == "doubt":
                world.doubt(action)
            else:
                world.observe(action, reading if kind == "read" else None)
        assert one.verdict() == other.verdict()
        assert (one.world_steps, one.verifier_steps, one.propagation_steps) == (
            other.world_steps,
            other.verifier_steps,
            other.propagation_steps,
        )
        if not isinstance(one.verdict(), Abstained):
            assert [one.rivals_left(s) for s in range(n)] == [other.rivals_left(s) for s in range(n)]


def chance_of_error(task: HiddenTask, truth: int, budget: int, start: int = 0) -> Fraction:
    """The exact probability that the world of a question answers wrongly within a budget, by every transcript."""
    rule = FixedSchedule(tuple(range(start % task.model.num_actions, task.model.num_actions)))

    def walk(history: tuple[tuple[int, int], ...], weights: dict[int, Fraction]) -> Fraction:
        world = world_of(task)
        for a, y in history:
            world.observe(a, y)
        verdict = world.verdict()
        if verdict is not None or len(history) == budget:
            mistaken = isinstance(verdict, Certified) and verdict.label != task.labels[task.label[truth]]
            return sum(weights.values(), F(0)) if mistaken else F(0)
        a = rule.choose(world)
        after = [(y, propagate(task.model, weights, a, y)) for y in range(len(task.model.readings))]
        return sum((walk((*history, (a, y)), left) for y, left in after if left), F(0))

    return walk((), dict(task.belief[truth]))


@settings(max_examples=40)
@given(hidden_tasks(), st.sampled_from((F(1, 2), F(1, 4), F(1, 10))), st.integers(0, 1))
def test_a_wrong_answer_is_rarer_than_the_risk_whatever_hypothesis_is_true(
    task: HiddenTask, alpha: Fraction, start: int
) -> None:
    risky = replace(task, alpha=alpha)
    assert all(chance_of_error(risky, truth, 4, start) <= alpha for truth in range(task.num_hypotheses))


def test_the_error_about_the_tiger_is_positive_and_within_the_risk() -> None:
    task = pose_hidden(restrict(TIGER, ["listen"]), alpha="1/5")
    assert chance_of_error(task, 0, 6) == chance_of_error(task, 1, 6)
    assert 0 < chance_of_error(task, 0, 6) <= task.alpha


def test_listening_settles_where_the_tiger_is() -> None:
    world = world_of(pose_hidden(restrict(TIGER, ["listen"]), alpha="1/100"))
    while world.verdict() is None:
        world.observe(0, 0)
    assert world.verdict() == Certified("left")
    # (17/3)^k >= 2 * 100 - 1 first at k = 4: half of the mixture is the true hypothesis itself.
    assert len(world.history) == 4
    assert world.current_state() == 0


def test_a_bank_may_be_completed_late_on_beliefs_too() -> None:
    listed = [certain(0), certain(1), make_belief({0: 1, 1: 1})]
    later = lambda: Bank((1,), (F(1, 2),))  # noqa: E731
    world = HiddenWorld(TIGER, listed, reuse_bank(0, F(1, 200), F(1, 100), later), F(1, 100))
    whole = HiddenWorld(TIGER, listed, Bank((0, 1), (F(1, 2), F(1, 2))), F(1, 100))
    for _ in range(3):
        world.observe(0, 1)
        whole.observe(0, 1)
    world.complete_bank()
    for h in range(3):
        assert world.evidence_against(h) == pytest.approx(whole.evidence_against(h))


def test_an_action_is_forbidden_while_a_hypothesis_may_be_where_it_is_not_defined() -> None:
    model = HiddenModel(
        states=("a", "b"),
        actions=("look", "press"),
        readings=("x", "y"),
        joint=(
            (make_joint({(0, 0): F(9, 10), (0, 1): F(1, 10)}), ((0, 0, F(1)),)),
            (make_joint({(1, 0): F(1, 10), (1, 1): F(9, 10)}), ()),
        ),
    )
    world = HiddenWorld(model, [certain(0), make_belief({0: 1, 1: 1})], uniform_bank((0, 1)), F(1, 4))
    assert (world.is_allowed(0), world.is_allowed(1), world.is_allowed(2)) == (True, False, False)
    with pytest.raises(TaskError, match="action 'press' is not defined in a state where the plant may be"):
        world.observe(1, 0)
    certain_world = HiddenWorld(model, [certain(0), certain(1)], uniform_bank((0, 1)), F(1, 4))
    certain_world.observe(0, 0)
    certain_world.observe(0, 0)
    assert certain_world.verdict() == Certified("0")
    assert certain_world.is_allowed(1)


def test_too_many_doubts_and_impossible_worlds_are_refused() -> None:
    world = HiddenWorld(TIGER, [certain(0)], uniform_bank((0,)), F(1, 4), doubts=Doubts(limit=1))
    world.doubt(0)
    world.doubt(1)
    assert world.verdict() == Abstained("more than 1 actions may or may not have run")
    for wrong, sentence in (
        (lambda: HiddenWorld(TIGER, [], uniform_bank((0,)), F(1, 4)), "at least one hypothesis"),
        (lambda: HiddenWorld(TIGER, [certain(0)], uniform_bank((1,)), F(1, 4)), "lists hypothesis 1; there are 1"),
        (
            lambda: HiddenWorld(TIGER, [certain(0)], uniform_bank((0,)), F(1, 4), labelling=label_states()),
            "labels on a hidden model belong to hypotheses",
        ),
        (lambda: world.evidence_against(1), "hypothesis 1 is not one of the world's"),
        (lambda: world.belief_numbered(99), "99 is no belief of this world"),
    ):
        with pytest.raises(TaskError, match=sentence):
            wrong()
