"""Boolean expressions over the bits of a plant, such as "open and not (hot or stuck)".

From the loosest to the tightest: or, xor, and, not; then parentheses, the constants 0, 1, false and true, and names of
bits. A name that is not letters, digits, "_", "." and "[ ]", or that is one of the words above, stands in single
quotes. Nothing is evaluated as Python: an expression becomes a short program for a stack machine, which runs alike on
one state, on an array of states and on slices, where one word operation decides 64 states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias, TypeVar, final

import numpy as np

from ascertain.errors import AscertainError, ModelError, did_you_mean
from ascertain.kernels.model.boolean import NONE, ONE, WordArray

MAX_LENGTH = 10_000
"""Characters of an expression: far more than people write, and still parsed at once."""

T = TypeVar("T")
Instruction: TypeAlias = int | str
"""Push the bit of that number, or one of "0", "1"; or apply "not", "and", "xor", "or" to what was pushed last."""

_TOKEN = re.compile(r"\s*(?:(?P<quoted>'[^']+')|(?P<word>[^\W\d][\w.\[\]]*|[01](?![\w.]))|(?P<sign>[()]))")
"""A part of an expression, with the blanks before it."""
_CONSTANTS = {"0": "0", "false": "0", "1": "1", "true": "1"}
"""The spellings of the two constants."""
_TIGHTNESS = {"or": 1, "xor": 2, "and": 3, "not": 4}
"""The operators; of two, the one with the larger number is applied first."""
_RESERVED = frozenset({*_CONSTANTS, *_TIGHTNESS})
"""Words that are names only in quotes."""


@final
@dataclass(frozen=True)
class Expression:
    """A parsed expression; `program` is it in postfix order."""

    program: tuple[Instruction, ...]

    def holds(self, state: int) -> bool:
        """Whether it is true of one state."""
        return bool(fold(self.program, lambda bit: state >> bit & 1, int, lambda x: x ^ 1, _apply))

    def hold_states(self, states: WordArray) -> WordArray:
        """1 for each state of which it is true, 0 for the others."""
        constants = (NONE, ONE)
        value = fold(
            self.program, lambda i: states >> np.uint64(i) & ONE, constants.__getitem__, lambda x: x ^ ONE, _apply
        )
        return np.broadcast_to(value, states.shape).copy()


Token: TypeAlias = tuple[str, bool]
"""A name, word or sign, and whether it stood in quotes, so that it is a name in any case."""


@final
@dataclass(frozen=True)
class Spelling:
    """What operators and bits are called in messages about an expression."""

    operators: str = "'and', 'or', 'xor'"
    bit: str = "a bit"
    signs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of words that the writer spelled otherwise."""


def parse_expression(text: str, bits: Sequence[str], where: str = "expression") -> Expression:
    """The expression over these bits; `where` begins every error message."""
    if len(text) > MAX_LENGTH:
        raise ModelError(f"{where}: it has {len(text)} characters; at most {MAX_LENGTH} are read")
    return parse_tokens(_split(text, where), bits, where)


def parse_tokens(
    tokens: Sequence[Token], bits: Sequence[str], where: str, spelling: Spelling | None = None
) -> Expression:
    """The expression whose words have already been told apart."""
    parser = _Parser(bits, where, spelling or Spelling())
    return Expression(tuple(parser.parse(tokens)))


def split_text(
    text: str, token: re.Pattern[str], refuse: Callable[[str, int], AscertainError]
) -> Iterator[re.Match[str]]:
    """The tokens of a text, each with the blanks before it; `refuse` makes the error of what is none, and where."""
    at, end = 0, len(text.rstrip())
    while at < end:
        match = token.match(text, at)
        if match is None:
            raise refuse(text[at:].strip()[:20], at + 1)
        yield match
        at = match.end()


def _split(text: str, where: str) -> list[Token]:
    matches = split_text(
        text, _TOKEN, lambda found, at: ModelError(f"{where}: {found!r} at character {at} is not understood")
    )
    return [(m["quoted"][1:-1], True) if m["quoted"] else (m[0].strip(), False) for m in matches]


def fold(
    program: tuple[Instruction, ...],
    bit: Callable[[int], T],
    constant: Callable[[int], T],
    negate: Callable[[T], T],
    join: Callable[[str, T, T], T],
) -> T:
    """What a program computes where this is what bits, constants, "not", and "and", "or" and "xor" mean."""
    stack: list[T] = []
    for step in program:
        if isinstance(step, int):
            stack.append(bit(step))
        elif step in {"0", "1"}:
            stack.append(constant(int(step)))
        elif step == "not":
            stack.append(negate(stack.pop()))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(join(step, left, right))
    return stack.pop()


def _apply(op: str, left: Any, right: Any) -> Any:
    return left & right if op == "and" else left | right if op == "or" else left ^ right


@final
class _Parser:
    """Operator precedence with a stack of what is still open, so that nesting costs no recursion."""

    def __init__(self, bits: Sequence[str], where: str, spelling: Spelling) -> None:
        self.where, self.spelling = where, spelling
        self.place = {name: i for i, name in enumerate(bits)}
        self.program: list[Instruction] = []
        self.open: list[str] = []
        """Operators whose right side is not complete, and parentheses that are not closed."""

    def parse(self, tokens: Sequence[Token]) -> list[Instruction]:
        complete = False
        for name, quoted in tokens:
            word = "" if quoted else name
            complete = self.go_on(word, name) if complete else self.begin(word, name)
        if not complete:
            self.fail(f"it ends where {self.spelling.bit} was expected")
        self.emit(0)
        if self.open:
            self.fail("a parenthesis is not closed; ')' was expected")
        return self.program

    def begin(self, word: str, name: str) -> bool:
        """Read a token where an operand may begin; whether the operand is complete."""
        if word in {"not", "("}:
            self.open.append(word)
            return False
        self.program.append(_CONSTANTS[word] if word in _CONSTANTS else self.find(word, name))
        return True

    def go_on(self, word: str, name: str) -> bool:
        """Read a token after an operand; whether what was read so far is one again."""
        if word in _TIGHTNESS and word != "not":
            self.emit(_TIGHTNESS[word])
            self.open.append(word)
            return False
        self.emit(0)
        if word != ")" or not self.open:
            shown = self.spelling.signs.get(word, name)
            self.fail(f"{shown[:40]!r} stands where {self.spelling.operators} or the end was expected")
        self.open.pop()
        return True

    def emit(self, tightness: int) -> None:
        """Apply what binds at least so tightly, back to the last parenthesis."""
        while self.open and self.open[-1] != "(" and _TIGHTNESS[self.open[-1]] >= tightness:
            self.program.append(self.open.pop())

    def find(self, word: str, name: str) -> int:
        if word in _RESERVED or word == ")":
            self.fail(f"{self.spelling.signs.get(word, word)!r} stands where {self.spelling.bit} was expected")
        if name not in self.place:
            self.fail(f"{name[:40]!r} is not a bit of the plant{did_you_mean(name[:80], self.place)}")
        return self.place[name]

    def fail(self, problem: str) -> NoReturn:
        raise ModelError(f"{self.where}: {problem}")
