"""What a Cassandra file says, word by word: names, the start, and the tables T and O; `pomdp.py` describes the format.

Line ends mean nothing in it; the line that a word stands in is kept for error messages.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NoReturn, final

from ascertain.errors import FileError, LimitError
from ascertain.model.abstract import find_repeated
from ascertain.model.files.json_text import near
from ascertain.model.files.pomdp_rows import LawRow, LawTable
from ascertain.model.files.text import cut
from ascertain.rational import rational_field

MAX_NAMES = 100_000
"""States, actions or readings: a count is written in a few digits, and each name takes memory."""
MAX_CELLS = 100_000
"""States times actions, each with a law of its own, which takes microseconds to check."""
_CERTAIN = Fraction(1)
"""One object for all rows of an identity, as products are remembered by object."""
PREAMBLE = ("discount", "values", "states", "actions", "observations", "start")
"""What a file says once, before its tables."""
RESERVED = (*PREAMBLE, "T", "O", "R", "include", "exclude", "uniform", "identity", "reset", "reward", "cost")
"""Words that cannot be names."""
MAX_KEPT = 10_000
"""Numbers whose value is kept, as tables repeat a few; a table of different ones must not fill the memory."""
_WORD = re.compile(r"[:*]|[^\s:*#]+")
"""A word: a sign by itself, or all up to the next sign, blank or comment."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z|\d+/\d+\Z", re.ASCII)
"""A number as C's readers take it, or a fraction."""
_WHOLE = re.compile(r"\d{1,9}\Z", re.ASCII)
"""A number that counts, of few enough digits to be computed with."""


@final
class PomdpTokens:
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
    return repr(cut(word, 40)) if word else "the end of the file"


@final
class PomdpParser:
    """A file that is read from beginning to end; then `names`, `start` and the tables are what it says."""

    def __init__(self, text: str, where: str) -> None:
        self.where, self.tokens = where, PomdpTokens(text, where)
        self.names: dict[str, tuple[str, ...]] = {}
        """By "states", "actions" and "observations"."""
        self.index: dict[str, dict[str, int]] = {}
        self.seen: set[str] = set()
        self.numbered: dict[str, bool] = {}
        """Whether numbers stand for places, as no name is a number itself."""
        self.start: LawRow | None = None
        self.start_line = 0
        self.transition, self.observation = LawTable("T", where, len(text)), LawTable("O", where, len(text))
        self.size_of_text = len(text)
        self.num_rewards = 0

    def read(self) -> None:
        tokens = self.tokens
        parts: dict[str, Callable[[], None]] = {
            "T": lambda: self.read_laws(self.transition, "states"),
            "O": lambda: self.read_laws(self.observation, "observations"),
            "R": self.read_reward,
            "start": self.read_start,
            "values": self.read_values,
        }
        while word := tokens.take():
            if word in PREAMBLE:
                if word in self.seen:
                    tokens.fail(f"{word!r} is given again; once is right")
                self.seen.add(word)
            if is_number(word):
                tokens.fail(f"{shown(word)} is a number too many; what stands before it is complete")
            if word != "start":
                tokens.expect_colon(word)
            if word in parts:
                parts[word]()
            elif word == "discount":
                tokens.take_number("the discount")
            elif word in PREAMBLE:
                self.read_names(word)
            else:
                known = f"{', '.join(PREAMBLE)}, T, O and R"
                tokens.fail(f"{shown(word)} is not known here; a line begins with one of {known}")

    # ------------------------------------------------------------------------------------------------- the preamble

    def read_values(self) -> None:
        if (word := self.tokens.take()) not in {"reward", "cost"}:
            self.tokens.fail(f"values are {shown(word)}; reward or cost was expected")

    def read_names(self, what: str) -> None:
        """A count, or the names themselves."""
        tokens, listed = self.tokens, list[str]()
        while not tokens.at_end_of_list():
            listed.append(tokens.take())
            if len(listed) > MAX_NAMES:
                tokens.fail(f"{what}: more than {MAX_NAMES} names; at most so many are read")
        if len(listed) == 1 and listed[0].isdecimal():
            if not is_whole(listed[0]) or not 1 <= int(listed[0]) <= MAX_NAMES:
                tokens.fail(f"{what}: {shown(listed[0])} is not a number from 1 to {MAX_NAMES}")
            listed = [str(i) for i in range(int(listed[0]))]
        if not listed:
            tokens.fail(f"{what}: {shown(tokens.peek())} stands where names, or how many there are, were expected")
        if len(set(listed)) < len(listed):
            tokens.fail(f"{what}: {shown(find_repeated(listed))} is listed twice; names must differ")
        self.names[what], self.index[what] = tuple(listed), {name: i for i, name in enumerate(listed)}
        self.numbered[what] = not any(map(is_whole, listed))

    def read_start(self) -> None:
        tokens = self.tokens
        chosen = next((word for word in ("include", "exclude") if tokens.skip(word)), None)
        tokens.expect_colon(chosen or "start")
        self.start_line = tokens.line
        if "states" not in self.names:
            tokens.fail("start stands before states; the states must be known first")
        every = range(self.size("states"))
        if chosen is None:
            self.start = _uniform(every) if tokens.skip("uniform") else self.read_belief()
            return
        some: set[int] = set()
        while tokens.peek() == "*" or not tokens.at_end_of_list():
            some.update(self.take_places("states"))
        held = some if chosen == "include" else set(every) - some
        if not some or not held:
            tokens.fail(f"start {chosen} leaves no state; at least one is needed")
        self.start = _uniform(sorted(held))

    def read_belief(self) -> LawRow:
        """One state, or a probability for each."""
        tokens, n = self.tokens, self.size("states")
        word = tokens.peek()
        single = word in self.index["states"] or (is_whole(word) and (n > 1 or word == "0"))
        if single and (not is_number(tokens.peek(1)) or not is_number(tokens.peek())):
            return {self.take_places("states")[0]: Fraction(1)}
        if not is_number(tokens.peek()):
            word = tokens.take()
            tokens.fail(f"start is {shown(word)}; a state, uniform, or a probability for each state was expected")
        row: LawRow = {}
        for s in range(n):
            if not is_number(tokens.peek()):
                tokens.fail(f"start has {s} numbers; each of the {n} states needs one")
            if p := tokens.take_probability():
                row[s] = p
        return row

    # --------------------------------------------------------------------------------------------------- the tables

    def read_laws(self, table: LawTable, columns: str) -> None:
        """T or O, for an action, for a state as well, or for one column too."""
        self.need_preamble(table.letter)
        tokens = self.tokens
        actions = self.take_places("actions")
        if not tokens.skip(":"):
            self.read_matrix(table, actions, columns)
            return
        states = self.take_places("states")
        if tokens.skip(":"):
            places = self.take_places(columns)
            table.put_entry(actions, states, places, tokens.take_probability(), tokens.line)
        elif table is self.transition and tokens.skip("reset"):
            if self.start is None:
                tokens.fail("reset leads to the start, and none is given")
            table.put_row(actions, states, self.start, tokens.line)
        else:
            table.put_row(actions, states, self.read_row(columns), tokens.line)

    def read_matrix(self, rows: LawTable, actions: Sequence[int], columns: str) -> None:
        """A row for every state, for each of the actions."""
        tokens, n, width = self.tokens, self.size("states"), self.size(columns)
        if tokens.skip("identity"):
            if n != width:
                tokens.fail(f"identity needs as many {columns} as states; there are {width} and {n}")
            for s in range(n):
                rows.put_row(actions, [s], {s: _CERTAIN}, tokens.line)
        elif tokens.peek() == "uniform":
            rows.put_row(actions, range(n), self.read_row(columns), tokens.line)
        else:
            for s in range(n):
                rows.put_row(actions, [s], self.read_row(columns), tokens.line)

    def read_row(self, columns: str) -> LawRow:
        """The row that is written here, or the uniform one; zeros are left out."""
        tokens, width = self.tokens, self.size(columns)
        if tokens.skip("uniform"):
            return _uniform(range(width))
        values = ((c, tokens.take_probability()) for c in range(width))
        return {c: p for c, p in values if p}

    def read_reward(self) -> None:
        """Rewards are checked for their shape and left at that."""
        self.need_preamble("R")
        tokens = self.tokens
        sorts = ("actions", "states", "states", "observations")
        self.take_places(sorts[0])
        given = 1
        while given < len(sorts) and tokens.skip(":"):
            self.take_places(sorts[given])
            given += 1
        if given == 1:
            tokens.fail("a reward names an action and a state at least, as in R: action : state : next : reading 1")
        for _ in range(math.prod(map(self.size, sorts[given:]))):
            tokens.take_number("a reward")
        self.num_rewards += 1

    def need_preamble(self, letter: str) -> None:
        missing = [what for what in ("states", "actions", "observations") if what not in self.names]
        if missing:
            self.tokens.fail(f"{letter} stands before {missing[0]}; they must be known first")
        cells = self.size("states") * self.size("actions")
        if cells > MAX_CELLS:
            raise LimitError(f"{self.where}: {cells} states times actions; at most {MAX_CELLS} are read")

    def size(self, what: str) -> int:
        return len(self.names[what])

    def take_places(self, what: str) -> Sequence[int]:
        """The numbers that a name, a number or a wildcard stands for."""
        word, index = self.tokens.take(), self.index[what]
        if word == "*":
            return range(len(index))
        if word in index:
            return (index[word],)
        if self.numbered[what] and is_whole(word) and int(word) < len(index):
            return (int(word),)
        return self.refuse(word, what)

    def refuse(self, word: str, what: str) -> NoReturn:
        index = self.index[what]
        bound = f", and numbers go up to {len(index) - 1}" if self.numbered[what] and is_whole(word) else ""
        article = "an" if what[0] in "ao" else "a"
        reserved = " but a reserved word" if word in RESERVED else ""
        self.tokens.fail(f"{shown(word)} is not {article} {what[:-1]} of this file{reserved}{bound}{near(word, index)}")


def _uniform(places: Sequence[int]) -> LawRow:
    return dict.fromkeys(places, Fraction(1, len(places)))
