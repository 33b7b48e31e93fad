"""What a Cassandra file says, line by line: names, the start, and the tables T and O; `pomdp.py` tells the format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NoReturn, final

from ascertain.errors import LimitError
from ascertain.model.files.json_text import find_repeated, near
from ascertain.model.files.pomdp_rows import Row, Rows
from ascertain.model.files.pomdp_tokens import PREAMBLE, RESERVED, Tokens, is_number, is_whole, shown

MAX_NAMES = 100_000
"""States, actions or readings."""
MAX_CELLS = 100_000
"""States times actions, each with a law of its own."""
_CERTAIN = Fraction(1)


@final
class Reading:
    """A file that is read from beginning to end; then `names`, `start` and the tables are what it says."""

    def __init__(self, text: str, where: str) -> None:
        self.where, self.tokens = where, Tokens(text, where)
        self.names: dict[str, tuple[str, ...]] = {}
        """By "states", "actions" and "observations"."""
        self.index: dict[str, dict[str, int]] = {}
        self.seen: set[str] = set()
        self.numbered: dict[str, bool] = {}
        """Whether numbers stand for places, as no name is a number itself."""
        self.start: Row | None = None
        self.start_line = 0
        self.transition, self.observation = Rows("T", where, len(text)), Rows("O", where, len(text))
        self.size_of_text = len(text)
        self.num_rewards = 0

    def read(self) -> None:
        tokens = self.tokens
        parts: dict[str, Callable[[], None]] = {"T": self.read_transition, "O": self.read_observation}
        parts |= {"R": self.read_reward, "start": self.read_start, "values": self.read_values}
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

    def read_belief(self) -> Row:
        """One state, or a probability for each."""
        tokens, n = self.tokens, self.size("states")
        word = tokens.peek()
        single = word in self.index["states"] or (is_whole(word) and (n > 1 or word == "0"))
        if single and (not is_number(tokens.peek(1)) or not is_number(tokens.peek())):
            return {self.take_places("states")[0]: Fraction(1)}
        if not is_number(tokens.peek()):
            word = tokens.take()
            tokens.fail(f"start is {shown(word)}; a state, uniform, or a probability for each state was expected")
        row: Row = {}
        for s in range(n):
            if not is_number(tokens.peek()):
                tokens.fail(f"start has {s} numbers; each of the {n} states needs one")
            if p := tokens.take_probability():
                row[s] = p
        return row

    # --------------------------------------------------------------------------------------------------- the tables

    def read_transition(self) -> None:
        self.need_preamble("T")
        tokens = self.tokens
        actions = self.take_places("actions")
        if not tokens.skip(":"):
            self.read_matrix(self.transition, actions, "states")
            return
        states = self.take_places("states")
        if tokens.skip(":"):
            ends = self.take_places("states")
            self.transition.put_entry(actions, states, ends, tokens.take_probability(), tokens.line)
        elif tokens.skip("reset"):
            if self.start is None:
                tokens.fail("reset leads to the start, and none is given")
            self.transition.put_row(actions, states, self.start, tokens.line)
        else:
            self.transition.put_row(actions, states, self.read_row("states"), tokens.line)

    def read_observation(self) -> None:
        self.need_preamble("O")
        tokens = self.tokens
        actions = self.take_places("actions")
        if not tokens.skip(":"):
            self.read_matrix(self.observation, actions, "observations")
            return
        states = self.take_places("states")
        if tokens.skip(":"):
            readings = self.take_places("observations")
            self.observation.put_entry(actions, states, readings, tokens.take_probability(), tokens.line)
        else:
            self.observation.put_row(actions, states, self.read_row("observations"), tokens.line)

    def read_matrix(self, rows: Rows, actions: Sequence[int], columns: str) -> None:
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

    def read_row(self, columns: str) -> Row:
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
        number = 1
        for sort in sorts[given:]:
            number *= self.size(sort)
        for _ in range(number):
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


def _uniform(places: Sequence[int]) -> Row:
    return dict.fromkeys(places, Fraction(1, len(places)))
