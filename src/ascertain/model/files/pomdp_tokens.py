"""The words of a Cassandra file, one at a time, with the line that each stands in; line ends mean nothing."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import NoReturn, final

from ascertain.errors import FileError
from ascertain.rational import rational_field

PREAMBLE = ("discount", "values", "states", "actions", "observations", "start")
RESERVED = (*PREAMBLE, "T", "O", "R", "include", "exclude", "uniform", "identity", "reset", "reward", "cost")
"""Words that cannot be names."""
MAX_KEPT = 10_000
"""Numbers whose value is remembered, as tables repeat a few."""
_WORD = re.compile(r"[:*]|[^\s:*#]+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z|\d+/\d+\Z", re.ASCII)
_WHOLE = re.compile(r"\d{1,9}\Z", re.ASCII)


@final
class Tokens:
    """A text that is read from left to right. At its end the next word is empty."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.line = 1
        """The line of the word that was taken last."""
        self._words = self._split(text)
        self._ahead: deque[tuple[str, int]] = deque()
        self._value: dict[str, Fraction] = {}

    @staticmethod
    def _split(text: str) -> Iterator[tuple[str, int]]:
        line = 1
        for line, content in enumerate(text.splitlines(), start=1):
            for match in _WORD.finditer(content.split("#", 1)[0]):
                yield match[0], line
        while True:
            yield "", line

    def peek(self, further: int = 0) -> str:
        """The next word, or the one so many further on."""
        while len(self._ahead) <= further:
            self._ahead.append(next(self._words))
        return self._ahead[further][0]

    def take(self) -> str:
        """The next word, which is then done with."""
        word, self.line = self._ahead.popleft() if self._ahead else next(self._words)
        return word

    def skip(self, word: str) -> bool:
        """Take the next word if it is this one; whether it was."""
        if self.peek() != word:
            return False
        self.take()
        return True

    def expect_colon(self, after: str) -> None:
        found = self.take()
        if found != ":":
            self.fail(f"{shown(found)} stands after {after!r}; a colon was expected")

    def at_end_of_list(self) -> bool:
        """Whether the next word cannot belong to a list of names or numbers."""
        word = self.peek()
        return word in {"", ":", "*"} or word in RESERVED

    def take_number(self, what: str) -> Fraction:
        """The next word as a number, exactly as it is written."""
        word = self.take()
        if word in self._value:
            return self._value[word]
        if not is_number(word):
            self.fail(f"{shown(word)} stands where {what} was expected")
        sign, digits = (word[0], word[1:]) if word[0] in "+-" else ("", word)
        value = rational_field(
            f"{sign}{'0' if digits[0] == '.' else ''}{digits}", f"{self.where}:{self.line}", FileError
        )
        if len(self._value) < MAX_KEPT:
            self._value[word] = value
        return value

    def take_probability(self) -> Fraction:
        value = self.take_number("a probability")
        if not 0 <= value <= 1:
            self.fail(f"a probability is {value if abs(value) < 10**9 else 'huge'}; it must be in [0, 1]")
        return value

    def fail(self, problem: str) -> NoReturn:
        raise FileError(f"{self.where}:{self.line}: {problem}")


def is_number(word: str) -> bool:
    return _NUMBER.match(word) is not None


def is_whole(word: str) -> bool:
    """Whether a word is digits alone, and few enough to count with."""
    return _WHOLE.match(word) is not None


def shown(word: str) -> str:
    """A word in quotes for an error message, cut where it is long."""
    if not word:
        return "the end of the file"
    return repr(word if len(word) <= 40 else word[:37] + "...")
