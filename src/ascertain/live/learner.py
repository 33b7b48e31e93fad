"""A learner: hypotheses from answers to words, refined by counterexamples, until none is found.

It is L# (Vaandrager, Garhewal, Rot and Wissmann, TACAS 2022) as AALpy has it, with separating sequences: of AALpy's
learners it asks the fewest words, if only by a little, with our conformance as equivalence oracle (docs/learning.md).
AALpy is imported when one learns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ascertain.errors import import_extra
from ascertain.live.answers import Letters
from ascertain.model.build import machine_from_transitions
from ascertain.model.machine import Machine


def run_learner(
    actions: Sequence[str], ask: Callable[[Letters], Letters], find_counterexample: Callable[[Machine], Letters | None]
) -> Machine:
    """The first hypothesis that no counterexample is found for; whatever the two functions raise comes through.

    `ask` says what is read along a word from reset, always the same; a counterexample is a word along which the
    hypothesis reads differently.
    """
    base, algorithms = import_extra("aalpy.base", "aalpy"), import_extra("aalpy.learning_algs", "aalpy")
    system, oracle = _make_system(base.SUL, ask), _make_oracle(base.Oracle, actions, find_counterexample)
    algorithms.run_Lsharp(
        list(actions),
        system,
        oracle,
        automaton_type="mealy",
        extension_rule="SepSeq",
        separation_rule="SepSeq",
        cache_and_non_det_check=False,  # answers are kept already, and are always the same
        print_level=0,
    )
    return oracle.machine


def _make_system(base: Any, ask: Callable[[Letters], Letters]) -> Any:
    class System(base):
        """What AALpy asks whole words."""

        def query(self, word: Any) -> list[str]:
            return list(ask(tuple(word)))

        def pre(self) -> None: ...

        def post(self) -> None: ...

        def step(self, letter: Any) -> Any:
            raise AssertionError("this learner asks whole words")

    return System()


def _make_oracle(base: Any, actions: Sequence[str], find_counterexample: Callable[[Machine], Letters | None]) -> Any:
    class EquivalenceOracle(base):
        """What AALpy shows its hypotheses to."""

        machine: Machine

        def find_cex(self, hypothesis: Any) -> Letters | None:
            self.machine = number_states(hypothesis, actions)
            return find_counterexample(self.machine)

    return EquivalenceOracle(list(actions), None)


def number_states(automaton: Any, actions: Sequence[str]) -> Machine:
    """AALpy's Mealy machine as ours: states s0, s1, ... as they are first reached, nearest first, in the order of the
    actions. So machines that are equivalent and minimal become equal."""
    names = {id(automaton.initial_state): "s0"}
    order, rows = [automaton.initial_state], list[tuple[str, str, str, str]]()
    for state in order:
        for action in actions:
            target = state.transitions[action]
            if id(target) not in names:
                names[id(target)] = f"s{len(names)}"
                order.append(target)
            rows.append((names[id(state)], action, state.output_fun[action], names[id(target)]))
    return machine_from_transitions(rows, initial="s0")
