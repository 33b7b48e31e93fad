"""Updates of many variables at once, as gates that are done one after the other.

Rules are postfix programs (`expression.py`) over all variables. Inputs are constants and are folded away. The value of
a rule may overwrite its variable at once when no rule that is still to be computed reads it; where rules read each
other in a circle, an old value is first saved in a scratch bit. Scratch bits are cleared in the end, so that one state
of the variables is one state of the plant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from ascertain.model.boolean import Gate
from ascertain.model.expression import Expression, fold

Operand = tuple[str, int]
"""("constant", 0 or 1) or ("bit", its number)."""


def compile_update(rules: Mapping[int, Expression], constants: Mapping[int, int]) -> tuple[list[Gate], int]:
    """The gates that update the variables that have rules by these, with the other variables constant.

    Bit i is the i-th variable that has a rule. Those after them are scratch; how many there are is returned too, and
    whoever runs the gates clears them in the end.
    """
    compiler = _Compiler({v: i for i, v in enumerate(rules)}, constants)
    reads = {v: {s for s in rule.program if isinstance(s, int)} & set(rules) for v, rule in rules.items()}
    waiting = list(rules)
    while waiting:
        v = next((v for v in waiting if not any(v in reads[u] for u in waiting if u != v)), None)
        if v is None:
            v = waiting[0]
            compiler.save(v)
        waiting.remove(v)
        compiler.assign(v, rules[v].program)
    return compiler.gates, compiler.num_scratch


@final
class _Compiler:
    """Gates as they come, and which scratch bits are in use."""

    def __init__(self, place: dict[int, int], constants: Mapping[int, int]) -> None:
        self.place, self.constants = place, constants
        self.source = dict(place)
        """Where the old value of a variable is."""
        self.gates: list[Gate] = []
        self.num_scratch = 0
        self.free: list[int] = []

    def save(self, v: int) -> None:
        """Keep the old value of a variable in a scratch bit, for the rules still to come."""
        self.source[v] = self._copy(self.place[v])

    def assign(self, v: int, program: tuple[int | str, ...]) -> None:
        """Compute a rule and write its value over its variable."""
        value = fold(program, self._read, lambda x: ("constant", x), self._negate, self._join)
        self._write(self.place[v], value)

    def _read(self, v: int) -> Operand:
        """The old value of a variable."""
        return ("constant", self.constants[v]) if v in self.constants else ("bit", self.source[v])

    def _negate(self, operand: Operand) -> Operand:
        kind, value = operand
        if kind == "constant":
            return (kind, 1 - value)
        if not self._is_temporary(value):
            value = self._copy(value)
        self.gates.append(Gate("not", value))
        return ("bit", value)

    def _join(self, op: str, left: Operand, right: Operand) -> Operand:
        if left[0] == "constant" or right[0] == "constant":
            constant, other = (left[1], right) if left[0] == "constant" else (right[1], left)
            if op == "xor":
                return self._negate(other) if constant else other
            if constant == (op == "or"):
                self._release(other)
                return ("constant", constant)
            return other
        bit = next((value for _, value in (left, right) if self._is_temporary(value)), None)
        target = self._take() if bit is None else bit
        self.gates.append(Gate(op, target, (left[1], right[1])))
        for _, value in (left, right):
            if value != target and self._is_temporary(value):
                self.free.append(value)
        return ("bit", target)

    def _write(self, target: int, operand: Operand) -> None:
        kind, value = operand
        if kind == "constant":
            self.gates.append(Gate("set" if value else "clear", target))
        elif value != target:
            self.gates.append(Gate("copy", target, (value,)))
        self._release(operand)

    def _copy(self, bit: int) -> int:
        """A scratch bit that holds the value of this one."""
        scratch = self._take()
        self.gates.append(Gate("copy", scratch, (bit,)))
        return scratch

    def _is_temporary(self, bit: int) -> bool:
        """Whether the bit holds an intermediate value that nothing else needs."""
        return bit >= len(self.place) and bit not in self.source.values()

    def _release(self, operand: Operand) -> None:
        if operand[0] == "bit" and self._is_temporary(operand[1]):
            self.free.append(operand[1])

    def _take(self) -> int:
        if self.free:
            return self.free.pop()
        self.num_scratch += 1
        return len(self.place) + self.num_scratch - 1
