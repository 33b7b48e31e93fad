"""AALpy's systems under learning as plants, and our machines as systems under learning."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import AscertainError, PlantFault
from ascertain.model import Machine
from ascertain.model.build import machine_from_transitions
from ascertain.model.files.aalpy import from_aalpy, to_aalpy
from ascertain.model.noisy import with_flip
from ascertain.plant.aalpy_sul import SulPlant, machine_sul
from ascertain.plant.simulated import SimulatedPlant
from ascertain.types import UNDEFINED

from .strategies import machines

pytest.importorskip("aalpy")
VALVE = machine_from_transitions(
    [("shut", "open", "ok", "open"), ("open", "open", "err", "open"), ("open", "shut", "ok", "shut")], initial="shut"
)


@given(machines(), st.lists(st.integers(0, 10), max_size=8))
@settings(max_examples=50)
def test_a_machine_as_system_answers_as_the_simulated_plant(machine: Machine, word: list[int]) -> None:
    if len(machine.initial) != 1:
        return
    plant, state = SulPlant(machine_sul(machine)), machine.initial[0]
    for a in (k % machine.num_actions for k in word):
        reading = plant.send(machine.actions[a])
        if machine.successor[state, a] == UNDEFINED:
            assert reading == "undefined"
            continue
        assert reading == machine.readings[machine.output[state, a]]
        state = int(machine.successor[state, a])


def test_aalpys_own_systems_are_plants() -> None:
    from aalpy.SULs import MealySUL

    with SulPlant(MealySUL(to_aalpy(VALVE)), reset="RESET", reset_reading="again") as plant:
        assert [plant.send(a) for a in ("open", "open", "RESET", "open", "shut")] == ["ok", "err", "again", "ok", "ok"]


def test_letters_that_are_no_text_have_names() -> None:
    class Counter:
        total = 0

        def pre(self) -> None:
            self.total = 0

        def post(self) -> None: ...

        def step(self, letter: int) -> int:
            self.total += letter
            return self.total

    plant = SulPlant(Counter(), letters={"one": 1, "two": 2})
    assert [plant.send("one"), plant.send("two")] == ["1", "3"]
    with pytest.raises(PlantFault, match="TypeError"):
        plant.send("three")


def test_aalpy_learns_the_machine_back() -> None:
    from aalpy.learning_algs import run_Lstar
    from aalpy.oracles import StatePrefixEqOracle

    sul: Any = machine_sul(VALVE)
    oracle = StatePrefixEqOracle(list(VALVE.actions), sul, walks_per_state=20, walk_len=6)
    learned = from_aalpy(run_Lstar(list(VALVE.actions), sul, oracle, automaton_type="mealy", print_level=0))
    assert learned.num_states == 2
    plant, twin = SulPlant(machine_sul(learned)), SulPlant(machine_sul(VALVE))
    word = ["shut", "open", "open", "shut", "open"]
    assert [plant.send(a) for a in word] == [twin.send(a) for a in word]


def test_a_system_starts_in_one_state() -> None:
    from dataclasses import replace

    both = replace(VALVE, initial=(0, 1))
    with pytest.raises(AscertainError, match="2 initial states; say in which one"):
        machine_sul(both)
    with pytest.raises(AscertainError, match="start: 'closed' is not a state"):
        machine_sul(both, start="closed")
    assert SulPlant(machine_sul(both, start="open")).send("open") == "err"
    assert SimulatedPlant(VALVE, 0).send("open") == "ok"


def test_a_noisy_machine_is_a_system_whose_outputs_are_drawn() -> None:
    noisy = with_flip(VALVE, Fraction(1, 4))
    sul = machine_sul(noisy, seed=3)
    outputs = [str(sul.query(("open",))[0]) for _ in range(2000)]
    assert set(outputs) == {"ok", "err"}
    assert abs(outputs.count("err") / 2000 - 0.25) < 0.05
    assert outputs == [str(output[0]) for output in map(machine_sul(noisy, seed=3).query, [("open",)] * 2000)]
    with pytest.raises(AscertainError, match="NoisyMachine; AALpy's Mealy machines have no noise"):
        to_aalpy(noisy)  # type: ignore[arg-type]
