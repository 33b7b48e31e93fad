"""The separating rule on beliefs: against its definition in floating point, and where nothing separates at once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ascertain.errors import LimitError, TaskError
from ascertain.evidence.belief_probing import SeparatingBeliefs
from ascertain.model.hidden import HiddenModel, make_joint
from ascertain.problem.pose_hidden import pose_hidden
from ascertain.quotients import words as words_module
from ascertain.task.hidden_task import HiddenTask
from tests.hidden_strategies import TIGER, hidden_tasks, world_of
from tests.reference.hidden_observer import naive_gain

F = Fraction
COSTS = st.sampled_from((F(1), F(2), F(1, 3)))


@given(hidden_tasks(partial=None), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=4), st.data())
def test_the_action_that_is_chosen_takes_most_from_the_rivals(
    task: HiddenTask, steps: list[tuple[int, int]], data: st.DataObject
) -> None:
    model = task.model
    world = world_of(replace(task, alpha=F(1, 20)))
    for a, y in steps:
        if a < model.num_actions and y < len(model.readings) and world.is_allowed(a) and world.verdict() is None:
            world.observe(a, y)
    assume(world.verdict() is None)
    cost = tuple(data.draw(COSTS) for _ in model.actions)
    allowed = [a for a in range(model.num_actions) if world.is_allowed(a)]
    assume(allowed)
    chosen = SeparatingBeliefs(model, cost).choose(world, allowed)
    assert chosen in allowed
    leader, rivals = world.leading_case(), world.rival_cases(task.label[world.leading_case().hypothesis], 64)
    scaled = [{s: F(w) for s, w in case.weights.items()} for case in (leader, *rivals)]
    if not all(model.allows(scaled[0], a) for a in allowed):
        return  # a leader that is beaten may be where an action is not defined, and its gain is then nobody's
    gains = {a: naive_gain(model, scaled[0], scaled[1:], a, cost[a]) for a in allowed}
    if max(gains.values()) > 1e-9:
        assert gains[chosen] == pytest.approx(max(gains.values()), abs=1e-9)


def test_strong_rivals_count_more_than_weak_ones() -> None:
    """Two looks, each of which tells one rival from the leader: the one at the rival that fits nearly as well."""
    alike, other = {(0, 0): F(1, 2), (0, 1): F(1, 2)}, {(0, 0): F(9, 10), (0, 1): F(1, 10)}
    model = HiddenModel(
        states=("leader", "weak", "strong"),
        actions=("first", "second"),
        readings=("x", "y"),
        joint=tuple(
            tuple(make_joint({(s, y): p for (_, y), p in law.items()}) for law in laws)
            for s, laws in enumerate(((alike, alike), (other, alike), (alike, other)))
        ),
    )
    world = world_of(pose_hidden(model, alpha="1/1000"))
    rule = SeparatingBeliefs(model, (F(1), F(1)))
    assert rule.choose(world, (0, 1)) == 0, "the first of equals"
    for reading in (1, 1, 0):
        world.observe(0, reading)
    assert rule.choose(world, (0, 1)) == 1
    assert rule.choose(world, (0,)) == 0
    assert SeparatingBeliefs(model, (F(1), F(1000))).choose(world, (0, 1)) == 0, "it is dear"


def far(length: int, partial: bool) -> HiddenModel:
    """A corridor: only at its end does a look tell the two kinds apart; a step back leads to the beginning."""
    n = 2 * length
    end = lambda s: s % length == length - 1  # noqa: E731
    step = [s if end(s) else s + 1 for s in range(n)]
    back = [(s // length) * length for s in range(n)]
    joint = tuple(
        (
            make_joint({(back[s], 0): F(1)}) if not (partial and s % length == 0) else (),
            make_joint({(s, int(end(s) and s >= length)): F(1)}),
            make_joint({(step[s], 0): F(9, 10), (s, 0): F(1, 10)}) if not end(s) else make_joint({(s, 0): F(1)}),
        )
        for s in range(n)
    )
    names = tuple(f"{kind}{i}" for kind in "ab" for i in range(length))
    return HiddenModel(states=names, actions=("back", "look", "step"), readings=("0", "1"), joint=joint)


@pytest.mark.parametrize("partial", [False, True])
def test_where_nothing_separates_at_once_a_separating_word_is_followed(partial: bool) -> None:
    model = far(4, partial)
    world = world_of(pose_hidden(model, hypotheses=("a0", "b0"), alpha="1/10"))
    rule, done = SeparatingBeliefs(model, (F(1),) * 3), list[str]()
    for _ in range(10):
        allowed = [a for a in range(3) if world.is_allowed(a)]
        action = rule.choose(world, allowed)
        done.append(model.actions[action])
        world.observe(action, int(model.actions[action] == "look"))
        if world.verdict() is not None:
            break
    assert done[:3] == ["step"] * 3
    assert done[-1] == "look" and "back" not in done


def test_a_model_too_large_for_words_is_probed_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "MAX_STATES", 3)
    model = far(4, False)
    with pytest.raises(LimitError):
        words_module.span_words(model)
    world = world_of(pose_hidden(model, hypotheses=("a0", "b0"), alpha="1/10"))
    rule = SeparatingBeliefs(model, (F(1),) * 3)
    turns: list[int] = []
    for _ in range(4):
        turns.append(rule.choose(world, (0, 1, 2)))
        world.observe(turns[-1], 0)
    assert turns == [0, 1, 2, 0]


def test_without_a_rival_it_is_each_actions_turn_and_costs_must_be_positive() -> None:
    alike = pose_hidden(TIGER, label={"left": "there", "right": "there"}, alpha="1/10")
    world = world_of(alike)
    assert [SeparatingBeliefs(TIGER, (F(1), F(1))).choose(world, (0, 1))] == [0]
    with pytest.raises(TaskError, match="a positive cost for each of the 2 actions"):
        SeparatingBeliefs(TIGER, (F(1), F(0)))
