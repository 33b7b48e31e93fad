"""A Boolean network: variables that are all updated at once by rules about each other, as in models of gene regulation.

Some variables are *inputs*, set by the experimenter; the others are the state. An action is one valuation of the inputs
for one synchronous update, and what is read after it are the variables that are *observed*. A network becomes a machine
(every state listed, all observed variables read together), or a Boolean plant (nothing listed, one observed variable
read by each command, so that each measurement can have a cost of its own).

A rule is an expression over all variables. A variable without a rule is an input; so is, unless others are declared,
one whose rule is itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import ClassVar, final

import numpy as np

from ascertain.errors import LimitError, ModelError, find_name
from ascertain.kernels.model.boolean import WordArray
from ascertain.model.abstract import check_names
from ascertain.model.boolean import MAX_BITS, MAX_ENUMERATED_BITS, BooleanPlant, Command, Gate
from ascertain.model.expression import Expression
from ascertain.model.machine import Machine
from ascertain.model.synchronous import compile_update

MAX_INPUTS = 10
"""An action for each valuation of the inputs: a thousand."""
MAX_GATES = 2**21
"""Steps of all rules times commands, of a network that becomes a plant."""
MAX_TABLE_BITS = 22
"""State variables and inputs together, of a network whose states are listed."""
MAX_STEPS = 2**30
"""Steps of all rules times what is listed; as many are done in some seconds."""


@final
@dataclass(frozen=True)
class BooleanNetwork:
    """`rules[v]` updates variable v; `inputs` and `observed` are numbers of variables."""

    variables: tuple[str, ...]
    rules: tuple[Expression | None, ...]
    inputs: tuple[int, ...]
    observed: tuple[int, ...]
    kind: ClassVar[str] = "network"

    def __post_init__(self) -> None:
        check_names("variable", self.variables)
        if len(self.rules) != len(self.variables) or len(self.variables) > MAX_BITS:
            raise ModelError(f"a network has a rule, or None, for each of 1 to {MAX_BITS} variables")
        for name, listed in (("inputs", self.inputs), ("observed", self.observed)):
            if len(set(listed)) < len(listed) or not set(listed) <= set(range(len(self.variables))):
                raise ModelError(f"{name} must be variables of the network, each once")
        for v, rule in enumerate(self.rules):
            if rule is None and v not in self.inputs:
                raise ModelError(f"variable {self.variables[v]!r} has no rule; it can only be an input")
        if not self.state_variables:
            raise ModelError("every variable of the network is an input; nothing is left to be found out")
        if not self.observed or set(self.observed) & set(self.inputs):
            raise ModelError(
                "a network needs at least one observed variable, and inputs are not observed: they are set"
            )

    @property
    def state_variables(self) -> tuple[int, ...]:
        """The variables that are no inputs; bit i of a state is the value of the i-th of them."""
        return tuple(v for v in range(len(self.variables)) if v not in self.inputs)

    @property
    def bits(self) -> tuple[str, ...]:
        """The names of the state's bits."""
        return tuple(self.variables[v] for v in self.state_variables)

    def bit_named(self, name: str, where: str = "variable") -> int:
        """The bit of that name; `where` begins the message when there is none."""
        return find_name(name, self.bits, where, "a state variable of the network")

    def declare(self, inputs: Sequence[str] | None = None, observed: Sequence[str] | None = None) -> BooleanNetwork:
        """The same network with other inputs or other observed variables, by name.

        Where all state variables were observed, all of them still are when the inputs change.
        """
        chosen = self.inputs if inputs is None else tuple(self._find(name, "inputs") for name in inputs)
        if observed is not None:
            seen = tuple(self._find(name, "observed") for name in observed)
        elif self.observed == self.state_variables:
            seen = tuple(v for v in range(len(self.variables)) if v not in chosen)
        else:
            seen = self.observed
        return replace(self, inputs=chosen, observed=seen)

    def as_model(self) -> Machine:
        """The model that the network describes, unless it is asked to be a plant."""
        return self.machine()

    def machine(self) -> Machine:
        """Every state listed; a reading shows all observed variables."""
        if len(self.bits) > MAX_ENUMERATED_BITS:
            raise LimitError(
                f"the network has {len(self.bits)} state variables; at most {MAX_ENUMERATED_BITS} are listed, declare "
                "more inputs or take it as a Boolean plant"
            )
        if len(self.bits) + len(self.inputs) > MAX_TABLE_BITS:
            raise LimitError(
                f"the network has {len(self.bits)} state variables and {len(self.inputs)} inputs; at most "
                f"{MAX_TABLE_BITS} together are listed, declare fewer inputs or take it as a Boolean plant"
            )
        if self._num_steps << len(self.bits) + len(self.inputs) > MAX_STEPS:
            raise LimitError(
                f"the network has rules of {self._num_steps} steps for {len(self.bits)} state variables and "
                f"{len(self.inputs)} inputs; too long to list its states, declare fewer inputs or shorten the rules"
            )
        states = np.arange(1 << len(self.bits), dtype=np.uint64)
        words: list[WordArray] = []
        packed: list[WordArray] = []
        for values in self._valuations():
            after = self._update(states, values)
            words.append(_pack(after, self.observed))
            packed.append(_pack(after, self.state_variables))
        shown, output = np.unique(np.stack(words, axis=1), return_inverse=True)
        successor = np.stack(packed, axis=1)
        return Machine(
            states=tuple(_spell(self.bits, s) for s in range(len(states))),
            actions=tuple(self._name_inputs(values) for values in self._valuations()),
            readings=tuple(_spell([self.variables[v] for v in self.observed], int(word)) for word in shown),
            successor=successor.astype(np.int32),
            output=output.reshape(successor.shape).astype(np.int32),
        )

    def plant(self, flip: Fraction = Fraction(0)) -> BooleanPlant:
        """Nothing listed: a command for each valuation of the inputs and each observed variable.

        Beyond the state variables the plant has scratch bits, `_0`, `_1` and so on, which every command clears.
        """
        state = self.state_variables
        if self._num_steps * len(self.observed) << len(self.inputs) > MAX_GATES:
            raise LimitError(
                f"the network has {len(self.inputs)} inputs, {len(self.observed)} observed variables and rules of "
                f"{self._num_steps} steps; as a plant it would have more than {MAX_GATES} gates, declare fewer"
            )
        updates = [
            compile_update(self._state_rules, dict(zip(self.inputs, v, strict=True))) for v in self._valuations()
        ]
        num_scratch = max(number for _, number in updates)
        clear = [Gate("clear", len(state) + i) for i in range(num_scratch)]
        commands: list[Command] = []
        for values, (update, _) in zip(self._valuations(), updates, strict=True):
            gates, name = (*update, *clear), self._name_inputs(values)
            commands += [Command(f"{name}: {self.variables[v]}", gates, state.index(v)) for v in self.observed]
        scratch = tuple(f"_{i}" for i in range(num_scratch))
        return BooleanPlant((*self.bits, *scratch), tuple(commands), flip)

    @property
    def _state_rules(self) -> dict[int, Expression]:
        """Of every state variable; what an input's own rule says is not used, as it is set."""
        return {v: rule for v, rule in enumerate(self.rules) if rule is not None and v not in self.inputs}

    @property
    def _num_steps(self) -> int:
        return sum(len(rule.program) for rule in self.rules if rule is not None)

    def _valuations(self) -> list[tuple[int, ...]]:
        if len(self.inputs) > MAX_INPUTS:
            raise LimitError(
                f"the network has {len(self.inputs)} inputs; at most {MAX_INPUTS} can be handled; declare fewer"
            )
        return list(product((0, 1), repeat=len(self.inputs)))

    def _update(self, states: WordArray, values: tuple[int, ...]) -> dict[int, WordArray]:
        """The values of the state variables after one update from each of the states."""
        whole = np.zeros_like(states)
        for v, x in zip(self.inputs, values, strict=True):
            whole |= np.uint64(x << v)
        for i, v in enumerate(self.state_variables):
            whole |= (states >> np.uint64(i) & np.uint64(1)) << np.uint64(v)
        return {v: rule.hold_states(whole) for v, rule in self._state_rules.items()}

    def _name_inputs(self, values: tuple[int, ...]) -> str:
        names = [self.variables[v] for v in self.inputs]
        return " ".join(f"{name}={x}" for name, x in zip(names, values, strict=True)) or "update"

    def _find(self, name: str, where: str) -> int:
        return find_name(name, self.variables, where, "a variable of the network")


def _pack(after: dict[int, WordArray], variables: Sequence[int]) -> WordArray:
    """The values of these variables in one word, the first in its lowest bit."""
    return np.bitwise_or.reduce([after[v] << np.uint64(i) for i, v in enumerate(variables)])


def _spell(names: Sequence[str], word: int) -> str:
    return " ".join(f"{name}={word >> i & 1}" for i, name in enumerate(names))
