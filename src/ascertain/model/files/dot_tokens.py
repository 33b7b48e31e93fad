"""The words of the DOT language: names, numbers, strings, HTML and marks, with comments passed over.

Comments are /* ... */, // to the end of the line, and lines that begin with #. A word is kept as it was written, quotes
and brackets included (a *lexeme*), since what an escape means depends on who asks. All repetitions are possessive, so
no text takes more than one pass.
"""

from __future__ import annotations

import re
from typing import NoReturn, final

from ascertain.errors import FileError

KEYWORDS = frozenset({"strict", "graph", "digraph", "node", "edge", "subgraph"})
MARKS = frozenset(["", "->", "--", *"{}[]=;,:+"])
"""What is no id; the empty lexeme stands for the end of the file."""
SHOWN = 40
"""Characters of a lexeme that an error message repeats."""

NAME = r"[A-Za-z_\x80-\U0010ffff][A-Za-z_0-9\x80-\U0010ffff]*+(?!\.)"
NUMBER = r"-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?+)(?![A-Za-z_.\x80-\U0010ffff])"
STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'

_SKIP = r"(?:^[ \t]*+\#[^\n]*+|[ \t\r]++|\n|//[^\n]*+|/\*.*?\*/)*+"
_NEXT = re.compile(rf"{_SKIP}({NAME}|{NUMBER}|{STRING}|->|--|[{{}}\[\]=;,:+])?+", re.DOTALL | re.MULTILINE)
_BRACKET = re.compile(r"<!--.*?(?:-->|\Z)|[<>]", re.DOTALL)
_STRANGE = re.compile(rf"[^\s\[\]{{}};,\"]{{1,{SHOWN}}}")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def is_id(lexeme: str) -> bool:
    """Whether a lexeme may name something: a name that is no keyword, a number, a string or HTML."""
    return lexeme not in MARKS and lexeme.lower() not in KEYWORDS


def id_text(lexeme: str) -> str:
    """What an id says. In a string, DOT itself knows two escapes only: a quote, and a line that goes on."""
    if lexeme[:1] == "<":
        return lexeme[1:-1]
    if lexeme[:1] != '"':
        return lexeme
    if "\\" not in lexeme:
        return lexeme[1:-1]
    return _ESCAPE.sub(lambda found: {'"': '"', "\n": ""}.get(found[1], found[0]), lexeme[1:-1])


def line_of(text: str, offset: int) -> int:
    """The number of the line on which a place in the text lies."""
    return 1 + text.count("\n", 0, offset)


@final
class Tokens:
    """A text read word by word: `lexeme` is the current one, from `offset` to `end`."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.lexeme = ""
        self.offset = self.end = 0

    def at(self, *lexemes: str) -> bool:
        """Whether the current lexeme is one of these."""
        return self.lexeme in lexemes

    def at_word(self, *keywords: str) -> bool:
        """Whether the current lexeme is one of these keywords, in capitals or not."""
        return self.lexeme.lower() in keywords

    def go_to(self, offset: int) -> None:
        """Read the first lexeme from a place on."""
        self.end = offset
        self.advance()

    def advance(self) -> None:
        """Read the next lexeme."""
        found = _NEXT.match(self.text, self.end)
        assert found is not None  # it matches nothing at all as well
        self.end = found.end()
        lexeme = found[1]
        if lexeme is not None:
            self.lexeme, self.offset = lexeme, self.end - len(lexeme)
            return
        self.offset = self.end
        if self.text.startswith("<", self.offset):
            self.end = self.html_end()
        elif self.offset < len(self.text):
            self.fail(self.strange())
        self.lexeme = self.text[self.offset : self.end]

    def html_end(self) -> int:
        """Where the bracket at hand is closed; comments do not count."""
        depth = 0
        for bracket in _BRACKET.finditer(self.text, self.offset):
            depth += {"<": 1, ">": -1}.get(bracket[0], 0)
            if depth == 0:
                return bracket.end()
        return self.fail("the HTML that begins here is not closed; each '<' needs its '>'")

    def take_id(self, wanted: str) -> str:
        """Pass an id and return it as it was written, strings joined by '+' as one."""
        first = self.lexeme
        if not is_id(first):
            hint = "; put quotes around it" if self.at_word(*KEYWORDS) else ""
            self.fail(f"found {self.found()} where {wanted} was expected{hint}")
        self.advance()
        if not (self.at("+") and first[0] == '"'):
            return first
        parts = [first[1:-1]]
        while self.at("+"):
            self.advance()
            if self.lexeme[:1] != '"':
                self.fail(f"found {self.found()} after '+'; a string in quotes was expected")
            parts.append(self.lexeme[1:-1])
            self.advance()
        return f'"{"".join(parts)}"'

    def strange(self) -> str:
        """What to say of text that is no lexeme."""
        rest = self.text[self.offset : self.offset + 2]
        if rest[0] == '"':
            return "the string that begins here is not closed; add '\"'"
        if rest == "/*":
            return "the comment that begins here is not closed; add '*/'"
        word = _STRANGE.match(self.text, self.offset)
        return f"{(word[0] if word else rest[0])!r} is not DOT; a name with such characters needs quotes around it"

    def found(self) -> str:
        """The current lexeme for an error message."""
        short = self.lexeme if len(self.lexeme) <= SHOWN else self.lexeme[: SHOWN - 3] + "..."
        return repr(short) if self.lexeme else "the end of the file"

    def fail(self, message: str) -> NoReturn:
        """Raise the sentence, with file and line before it."""
        raise FileError(f"{self.where}: line {line_of(self.text, self.offset)}: {message}")
