"""Machines from and to AALpy, the automata learning library; it is imported only when one of these is called."""

from __future__ import annotations

from typing import Any

from ascertain.errors import ModelError, import_extra
from ascertain.model.build import machine_from_cells
from ascertain.model.machine import Machine


def to_aalpy(machine: Machine) -> Any:
    """The same machine as an `aalpy.automata.MealyMachine`; state ids, inputs and outputs are our names.

    AALpy wants one initial state. Where an action is not defined, the state's dictionaries have no entry for it, so
    that AALpy's `step` raises KeyError there and `is_input_complete` is false; actions and readings that no transition
    uses are lost.
    """
    if not machine.is_exact:
        raise ModelError(f"this is a {type(machine).__name__}; AALpy's Mealy machines have no noise (see machine_sul)")
    if len(machine.initial) != 1:
        raise ModelError(f"the machine has {len(machine.initial)} initial states; AALpy wants exactly one")
    automata = import_extra("aalpy.automata", "aalpy")
    states = [automata.MealyState(name) for name in machine.states]
    for s, a, y, t in machine.cells():
        states[s].transitions[machine.actions[a]] = states[t]
        states[s].output_fun[machine.actions[a]] = machine.readings[y]
    return automata.MealyMachine(states[machine.initial[0]], states)


def from_aalpy(automaton: Any) -> Machine:
    """The machine of an AALpy Mealy machine, Moore machine or DFA; names are `str` of its ids, inputs and outputs.

    A Moore machine or DFA reads, after an action, the output of the state that was reached ("True" or "False" for a
    DFA); what it would read before any action is lost. Names are numbered as they appear, state by state.
    """
    automata = import_extra("aalpy.automata", "aalpy")
    if not isinstance(automaton, automata.MealyMachine | automata.MooreMachine | automata.Dfa):
        raise ModelError(
            f"a {type(automaton).__name__} is not a Mealy machine, Moore machine or DFA; those can be read"
        )
    number = {id(state): s for s, state in enumerate(automaton.states)}
    actions, readings = _Names("inputs"), _Names("outputs")
    rows: list[tuple[int, int, int, int]] = []
    for s, state in enumerate(automaton.states):
        for letter, target in state.transitions.items():
            if id(target) not in number:
                raise ModelError(
                    f"state {state.state_id!r} leads to {target.state_id!r}, which is not among the states"
                )
            rows.append((s, actions.of(letter), readings.of(_output(state, letter, target)), number[id(target)]))
    states = [str(state.state_id) for state in automaton.states]
    initial = (number[id(automaton.initial_state)],)
    return machine_from_cells(states, actions.number, readings.number, rows, initial=initial)


class _Names:
    """Letters of any type numbered by their text; two letters with one text are refused."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.number: dict[str, int] = {}
        self.letter: dict[str, Any] = {}

    def of(self, letter: Any) -> int:
        name = str(letter)
        if self.letter.setdefault(name, letter) != letter:
            raise ModelError(f"two {self.what} are both written {name!r}; rename one of them")
        return self.number.setdefault(name, len(self.number))


def _output(state: Any, letter: Any, target: Any) -> Any:
    if hasattr(state, "output_fun"):
        return state.output_fun[letter]
    return target.output if hasattr(target, "output") else target.is_accepting
