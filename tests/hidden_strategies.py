"""Hypothesis strategies for hidden models, beliefs and questions about them; and the tiger."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from ascertain.evidence.evidence import Doubts
from ascertain.evidence.hidden_world import HiddenWorld
from ascertain.evidence.kinds import make_world
from ascertain.model.hidden import Belief, HiddenModel, make_belief, make_joint
from ascertain.task.bank import uniform_bank
from ascertain.task.hidden_task import HiddenTask
from tests.strategies import names

F = Fraction


@st.composite
def masses(draw: st.DrawFn, size: int, most: int = 4) -> dict[int, Fraction]:
    """A law on 0 .. size - 1 with few places and a small denominator."""
    places = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=most, unique=True))
    parts = [draw(st.integers(1, 3)) for _ in places]
    return {place: F(part, sum(parts)) for place, part in zip(places, parts, strict=True)}


@st.composite
def hidden_models(draw: st.DrawFn, *, max_states: int = 3, partial: bool | None = False) -> HiddenModel:
    """Small hidden models that often repeat a law, so that states are often equivalent."""
    n, num_actions, num_readings = (draw(st.integers(1, size)) for size in (max_states, 2, 2))
    pool = [
        make_joint({divmod(cell, num_readings): p for cell, p in draw(masses(n * num_readings, 3)).items()})
        for _ in range(draw(st.integers(1, 4)))
    ]
    holes = [()] if partial is True or (partial is None and draw(st.booleans())) else []
    joint = tuple(tuple(draw(st.sampled_from([*pool, *holes])) for _ in range(num_actions)) for _ in range(n))
    initial = tuple(make_belief(draw(masses(n))) for _ in range(draw(st.integers(0, 1))))
    return HiddenModel(
        states=names("s", n),
        actions=names("a", num_actions),
        readings=names("y", num_readings),
        joint=joint,
        initial=initial,
    )


@st.composite
def beliefs(draw: st.DrawFn, model: HiddenModel) -> Belief:
    return make_belief(draw(masses(model.num_states)))


@st.composite
def hidden_tasks(draw: st.DrawFn, partial: bool | None = False) -> HiddenTask:
    model = draw(hidden_models(partial=partial))
    drawn = [draw(beliefs(model)) for _ in range(draw(st.integers(1, 4)))]
    label = [draw(st.integers(0, 2)) for _ in drawn]
    pairs = list(dict.fromkeys(zip(drawn, label, strict=True)))
    return HiddenTask(
        model=model,
        belief=tuple(b for b, _ in pairs),
        name=names("h", len(pairs)),
        label=tuple(k for _, k in pairs),
        labels=names("l", 3),
        cost=(F(1),) * model.num_actions,
    )


TIGER = HiddenModel(
    states=("left", "right"),
    actions=("listen", "open"),
    readings=("hear-left", "hear-right"),
    joint=tuple(
        (
            make_joint({(s, s): F(17, 20), (s, 1 - s): F(3, 20)}),
            make_joint({(t, y): F(1, 4) for t, y in product(range(2), range(2))}),
        )
        for s in range(2)
    ),
    initial=(make_belief({0: 1, 1: 1}),),
)


def world_of(task: HiddenTask) -> HiddenWorld:
    """The world of a question at its own risk, every hypothesis a candidate of equal weight."""
    world = make_world(task, uniform_bank(range(task.num_hypotheses)), task.alpha, Doubts())
    assert isinstance(world, HiddenWorld)
    return world
