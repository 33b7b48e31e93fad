"""Machines, noisy machines and the ways to build them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import ModelError
from ascertain.model import Machine, NoisyMachine
from ascertain.model.build import complete, forbid_entering, machine_from_transitions, restrict, with_reset
from ascertain.model.checks import (
    count_missing,
    is_strongly_connected,
    stuck_states,
    unreachable_states,
    unsound_laws,
    useless_actions,
)
from ascertain.model.noisy import with_flip
from ascertain.model.product import product
from ascertain.model.union import common_actions, union
from tests.reference.models import as_noisy
from tests.strategies import machines

DOOR = [
    ("shut", "push", "ok", "open"),
    ("shut", "look", "dark", "shut"),
    ("open", "pull", "ok", "shut"),
    ("open", "look", "light", "open"),
]


def door() -> Machine:
    return machine_from_transitions(DOOR, initial="shut")


def lamp() -> Machine:
    rows = [("off", "flip", "click", "on"), ("on", "flip", "click", "off")]
    return machine_from_transitions([*rows, ("off", "look", "dark", "off"), ("on", "look", "bright", "on")], "off")


def test_names_are_numbered_in_the_order_in_which_they_appear() -> None:
    m = door()
    assert m.states == ("shut", "open")
    assert m.actions == ("push", "look", "pull")
    assert m.readings == ("ok", "dark", "light")
    assert m.successor.tolist() == [[1, 0, -1], [-1, 1, 0]]
    assert m.initial == (0,)


def test_nondeterminism_names_both_transitions() -> None:
    with pytest.raises(ModelError, match=r"'push' in state 'shut' is given twice: to 'open' .* and to 'shut'"):
        machine_from_transitions([*DOOR, ("shut", "push", "stuck", "shut")])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"states": ("shut", "shut")}, "'shut' is listed twice"),
        ({"actions": ()}, "at least one action"),
        ({"successor": np.array([[2, 0, -1], [-1, 1, 0]])}, r"outside -1 \.\. 1"),
        ({"successor": np.array([[1, 0], [1, 0]])}, "shape"),
        ({"successor": np.array([[1, 0, 0], [-1, 1, 0]])}, "only one of successor and reading"),
        ({"output": np.array([[0.5, 1, -1], [-1, 2, 0]])}, "integers"),
        ({"initial": (7,)}, "initial"),
        ({"origin": ("a",)}, "origin"),
    ],
)
def test_a_machine_that_does_not_fit_together_is_refused(change: dict[str, object], sentence: str) -> None:
    m = door()
    fields = {
        "states": m.states,
        "actions": m.actions,
        "readings": m.readings,
        "successor": m.successor,
        "output": m.output,
        **change,
    }
    with pytest.raises(ModelError, match=sentence):
        Machine(**fields)  # type: ignore[arg-type]


def test_tables_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        door().successor[0, 0] = 0


def test_a_misspelt_state_is_answered_with_the_one_that_was_meant() -> None:
    with pytest.raises(ModelError, match=r"'opne' is not a state of the model; did you mean 'open'\?"):
        door().state_named("opne")


def test_a_flip_goes_to_the_other_readings_of_the_same_action_alone() -> None:
    m = with_flip(door(), Fraction(1, 10))
    look, push = m.actions.index("look"), m.actions.index("push")
    assert m.reading_law(0, look) == {1: Fraction(9, 10), 2: Fraction(1, 10)}
    assert m.reading_law(0, push) == {0: Fraction(1)}  # push reads "ok" or nothing at all
    assert m.reading_law(1, push) == {}


def test_a_flip_is_shared_by_several_others() -> None:
    rows = [(str(i), "read", f"r{i}", str(i)) for i in range(4)]
    m = with_flip(machine_from_transitions(rows), Fraction(3, 10))
    assert m.reading_law(2, 0) == {2: Fraction(7, 10), 0: Fraction(1, 10), 1: Fraction(1, 10), 3: Fraction(1, 10)}


def test_no_flip_gives_the_machine_seen_as_noisy() -> None:
    assert with_flip(door(), Fraction(0)).reading_law(0, 1) == as_noisy(door()).reading_law(0, 1)


@pytest.mark.parametrize(
    "law",
    [
        ((0, Fraction(1, 2)),),
        ((0, Fraction(3, 2)), (1, Fraction(-1, 2))),
        ((1, Fraction(1, 2)), (0, Fraction(1, 2))),
        ((0, Fraction(1, 2)), (9, Fraction(1, 2))),
    ],
)
def test_laws_are_checked(law: tuple[tuple[int, Fraction], ...]) -> None:
    m = as_noisy(door())
    with pytest.raises(ModelError):
        m.rebuilt(successor=m.successor, behaviour=m.law, laws=(law, *m.laws[1:]))


def test_a_union_keeps_machines_apart_and_shares_names() -> None:
    both = union({"door": door(), "lamp": lamp()})
    assert both.states == ("door:shut", "door:open", "lamp:off", "lamp:on")
    assert both.origin == ("door", "door", "lamp", "lamp")
    assert both.initial == (0, 2)
    assert both.actions == ("push", "look", "pull", "flip")
    look = both.actions.index("look")
    assert both.readings[both.behaviour[0, look]] == both.readings[both.behaviour[2, look]] == "dark"
    assert both.successor[2, both.actions.index("push")] == -1
    assert common_actions([door(), lamp()]) == ("look",)


def test_a_union_with_a_noisy_machine_is_noisy() -> None:
    both = union({"door": door(), "lamp": with_flip(lamp(), Fraction(1, 5))})
    assert isinstance(both, NoisyMachine)
    look = both.actions.index("look")
    named = {both.readings[y]: p for y, p in both.reading_law(3, look).items()}
    assert named == {"bright": Fraction(4, 5), "dark": Fraction(1, 5)}
    assert both.reading_law(0, look) == {both.readings.index("dark"): Fraction(1)}


@pytest.mark.parametrize("noisy", [False, True])
def test_a_reset_leads_home_and_tells_nothing(noisy: bool) -> None:
    parts = {"door": door(), "lamp": lamp()}
    both = union(parts if not noisy else {n: as_noisy(m) for n, m in parts.items()})
    reset = with_reset(both, "RESET")
    a = reset.actions.index("RESET")
    assert reset.successor[:, a].tolist() == [0, 0, 2, 2]
    certain = {reset.readings.index("reset"): Fraction(1)}
    assert all(reset.reading_law(s, a) == certain for s in range(4))


def test_a_reset_needs_a_free_name_and_a_place_to_go() -> None:
    with pytest.raises(ModelError, match="'push' already exists"):
        with_reset(door(), "push")
    homeless = machine_from_transitions(DOOR)
    with pytest.raises(ModelError, match="has none; say where it leads"):
        with_reset(homeless, "RESET")
    assert with_reset(homeless, "RESET", to=1).successor[:, 3].tolist() == [1, 1]


def test_restriction_keeps_the_order_of_actions() -> None:
    assert restrict(door(), ["pull", "push"]).actions == ("push", "pull")
    with pytest.raises(ModelError, match="did you mean 'push'"):
        restrict(door(), ["pushh"])


def test_what_leads_into_an_unsafe_state_is_forbidden() -> None:
    safe = forbid_entering(door(), [1])
    assert safe.successor.tolist() == [[-1, 0, -1], [-1, -1, 0]]


@pytest.mark.parametrize("noisy", [False, True])
def test_completion_stays_and_says_so(noisy: bool) -> None:
    m = complete(as_noisy(door()) if noisy else door())
    assert count_missing(door()) == 2
    assert count_missing(m) == 0
    assert m.successor[0, 2] == 0
    assert m.reading_law(0, 2) == {m.readings.index("undefined"): Fraction(1)}


def test_in_a_product_shared_actions_move_both() -> None:
    both = product(door(), lamp())
    assert isinstance(both, Machine)
    s = both.index["shut|off"]
    look, flip, push = (both.actions.index(a) for a in ("look", "flip", "push"))
    assert both.readings[both.output[s, look]] == "dark|dark"
    assert both.states[both.successor[s, flip]] == "shut|on"
    assert both.states[both.successor[s, push]] == "open|off"
    assert both.initial == (s,)
    assert both.successor[both.index["open|off"], push] == -1


def test_in_a_noisy_product_readings_are_independent() -> None:
    both = product(with_flip(door(), Fraction(1, 10)), with_flip(lamp(), Fraction(1, 5)))
    law = both.reading_law(both.index["open|on"], both.actions.index("look"))
    assert law[both.readings.index("light|bright")] == Fraction(9, 10) * Fraction(4, 5)
    assert sum(law.values()) == 1


def test_connection_and_reach() -> None:
    assert is_strongly_connected(door())
    trap = machine_from_transitions([("a", "go", "x", "b"), ("b", "go", "x", "b"), ("c", "go", "x", "a")], initial="a")
    assert not is_strongly_connected(trap)
    assert [trap.states[s] for s in unreachable_states(trap)] == ["c"]


@given(machines(max_states=6, max_actions=2), st.integers(0, 5))
def test_connection_and_reach_are_what_closing_sets_of_states_gives(machine: Machine, first: int) -> None:
    rooted = replace(machine, initial=(first % machine.num_states,))

    def reached(s: int) -> set[int]:
        found = {s}
        while more := {int(t) for r in found for t in machine.successor[r] if t >= 0} - found:
            found |= more
        return found

    everything = set(range(machine.num_states))
    assert unreachable_states(rooted) == sorted(everything - reached(rooted.initial[0]))
    assert is_strongly_connected(rooted) == all(reached(s) == everything for s in everything)


def test_actions_that_are_never_allowed_and_states_without_a_way_on_are_found() -> None:
    rows = [("a", "go", "ok", "b"), ("c", "go", "ok", "a"), ("a", "stop", "ok", "c")]
    model = forbid_entering(machine_from_transitions(rows), [2])
    assert [model.actions[a] for a in useless_actions(model)] == ["stop"]
    assert [model.states[s] for s in stuck_states(model)] == ["b"]


def test_a_law_that_was_tampered_with_is_found() -> None:
    noisy = as_noisy(machine_from_transitions([("a", "go", "ok", "b"), ("b", "go", "no", "a")]))
    assert unsound_laws(noisy) == []
    y = noisy.readings.index("no")
    object.__setattr__(noisy, "laws", tuple(((r, Fraction(1, 2) if r == y else p),) for ((r, p),) in noisy.laws))
    assert unsound_laws(noisy) == [(noisy.states.index("b"), 0, Fraction(1, 2))]
