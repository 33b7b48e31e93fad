"""Boolean expressions over the bits of a plant, such as "open and not (hot or stuck)".

From the loosest to the tightest: or, xor, and, not; then parentheses, the constants 0, 1, false and true, and names of
bits. A name that is not letters, digits, "_", "." and "[ ]", or that is one of the words above, stands in single
quotes. Nothing is evaluated as Python: an expression becomes a short program for a stack machine, which runs alike on
one state, on an array of states and on slices, where one word operation decides 64 states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias, final

import numpy as np

from ascertain.errors import ModelError, did_you_mean
from ascertain.kernels.boolean import ALL, NONE, ONE, WordArray

MAX_LENGTH = 10_000
MAX_DEPTH = 50
"""Of parentheses and negations within each other."""

Step: TypeAlias = int | str
"""Push the bit of that number, or one of "0", "1"; or apply "not", "and", "xor", "or" to what was pushed last."""

_TOKEN = re.compile(r"\s*(?:(?P<quoted>'[^']+')|(?P<word>[^\W\d][\w.\[\]]*|[01](?![\w.]))|(?P<sign>[()]))")
_CONSTANTS = {"0": "0", "false": "0", "1": "1", "true": "1"}
_LOOSEST_FIRST = ("or", "xor", "and")
_RESERVED = frozenset({*_CONSTANTS, *_LOOSEST_FIRST, "not"})


@final
@dataclass(frozen=True)
class Expression:
    """A parsed expression; `program` is it in postfix order."""

    text: str
    program: tuple[Step, ...]

    def holds(self, state: int) -> bool:
        """Whether it is true of one state."""
        return bool(_run(self.program, lambda bit: state >> bit & 1, 0, 1))

    def hold_states(self, states: WordArray) -> WordArray:
        """1 for each state of which it is true, 0 for the others."""
        value = _run(self.program, lambda bit: states >> np.uint64(bit) & ONE, NONE, ONE)
        return np.broadcast_to(value, states.shape).copy()

    def hold_slices(self, slices: WordArray) -> WordArray:
        """The slice of the states of which it is true; what lies beyond the last state is decided like state 0."""
        value = _run(self.program, lambda bit: slices[bit], NONE, ALL)
        return np.broadcast_to(value, slices.shape[1:]).copy()


def parse_expression(text: str, bits: Sequence[str], where: str = "expression") -> Expression:
    """The expression over these bits; `where` begins every error message."""
    if len(text) > MAX_LENGTH:
        raise ModelError(f"{where}: it has {len(text)} characters; at most {MAX_LENGTH} are read")
    return Expression(text, tuple(_Parser(text, bits, where).parse()))


def _run(program: tuple[Step, ...], bit: Callable[[int], Any], zero: Any, one: Any) -> Any:
    stack: list[Any] = []
    for step in program:
        if isinstance(step, int):
            stack.append(bit(step))
        elif step in {"0", "1"}:
            stack.append(one if step == "1" else zero)
        elif step == "not":
            stack.append(stack.pop() ^ one)
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(left & right if step == "and" else left | right if step == "or" else left ^ right)
    return stack.pop()


@final
class _Parser:
    """Recursive descent, one level of binding after the other; it emits the program as it reads."""

    def __init__(self, text: str, bits: Sequence[str], where: str) -> None:
        self.where = where
        self.place = {name: i for i, name in enumerate(bits)}
        self.tokens = self.split(text)
        self.at = 0
        self.program: list[Step] = []

    def split(self, text: str) -> list[tuple[str, bool]]:
        """The tokens, and whether each stood in quotes."""
        tokens: list[tuple[str, bool]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                self.fail(f"{text[at:].strip()[:20]!r} at character {at + 1} is not understood")
            quoted = match["quoted"]
            tokens.append((quoted[1:-1], True) if quoted else (match[0].strip(), False))
            at = match.end()
        return tokens

    def parse(self) -> list[Step]:
        self.read_level(0, 0)
        if self.at < len(self.tokens):
            self.fail(f"{self.tokens[self.at][0]!r} stands where 'and', 'or', 'xor' or the end was expected")
        return self.program

    def read_level(self, level: int, depth: int) -> None:
        """Operands of the next tighter level joined by this level's word."""
        if level == len(_LOOSEST_FIRST):
            self.read_operand(depth)
            return
        self.read_level(level + 1, depth)
        while self.take(_LOOSEST_FIRST[level]):
            self.read_level(level + 1, depth)
            self.program.append(_LOOSEST_FIRST[level])

    def read_operand(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.fail(f"it is nested more than {MAX_DEPTH} deep; write it flatter")
        if self.take("not"):
            self.read_operand(depth + 1)
            self.program.append("not")
        elif self.take("("):
            self.read_level(0, depth + 1)
            if not self.take(")"):
                self.fail("a parenthesis is not closed; ')' was expected")
        else:
            self.program.append(self.read_name())

    def read_name(self) -> Step:
        if self.at == len(self.tokens):
            self.fail("it ends where a bit was expected")
        name, quoted = self.tokens[self.at]
        self.at += 1
        if not quoted and name in _CONSTANTS:
            return _CONSTANTS[name]
        if not quoted and (name in _RESERVED or name in "()"):
            self.fail(f"{name!r} stands where a bit was expected")
        if name not in self.place:
            self.fail(f"{name[:40]!r} is not a bit of the plant{did_you_mean(name[:80], self.place)}")
        return self.place[name]

    def take(self, word: str) -> bool:
        """Whether the next token is this word; if so, it is passed."""
        if self.at < len(self.tokens) and self.tokens[self.at] == (word, False):
            self.at += 1
            return True
        return False

    def fail(self, problem: str) -> NoReturn:
        raise ModelError(f"{self.where}: {problem}")
