"""The line protocol: any program that reads lines and writes lines can be a plant.

    we say                      the plant says
    hello ascertain 1 RUN       plant NAME [retry-safe] [last=N]
    7 OPEN                      7 READING      done, and this was read
                                7 ?TEXT        done, and nothing could be read
                                7 !TEXT        not done, and why
                                7 ~TEXT        it is not known whether it was done

Lines are UTF-8, end with a newline and have at most MAX_LINE bytes. The plant does what it is told in order, one at a
time, and answers with the number that it was given. So an answer that comes late or twice is recognised by its number,
which is smaller than the one waited for: it is dropped. A name is the rest of its line, blanks and all, with `%XX` for
the bytes that could not stand there: `%` itself, control characters, a blank at either end, one of `!?~` at the front;
in NAME of the greeting every blank. The empty name is written `%`. Whoever escapes more is understood as well.

A plant that says `retry-safe` remembers its last number and the answer to it: told the same number again, it answers
again and does nothing. RUN names the run, and `last=N` says which number the plant did last in it, 0 if none: a plant
that says so can be told from one that was restarted, so after a hang-up it is called again and the run goes on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

from ascertain.errors import PlantFault
from ascertain.plant.faults import ActionFault, Garbled, InDoubt, Missing, Refused

VERSION = 1
"""Of the protocol; the plant is told it first, so that it can refuse one that it does not know."""
MAX_LINE = 4096
"""Bytes of a line, the newline apart: room for any name, and small enough for a plant with little memory."""
MARKS: dict[str, type[ActionFault]] = {"!": Refused, "?": Missing, "~": InDoubt}
"""What begins an answer that is no reading, and the fault that it states."""

_ANSWER = re.compile(r"([0-9]{1,18}) (.+)\Z", re.DOTALL)
"""A number and what was answered to it."""
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
"""A byte that could not stand in a line."""
_PLAIN = re.compile(rb"(?:[^%]|%[0-9A-Fa-f]{2})*\Z", re.DOTALL)
"""Text in which every "%" begins an escape."""


@final
@dataclass(frozen=True)
class Greeting:
    """How a plant introduces itself."""

    name: str
    retry_safe: bool = False
    last: int | None = None
    """The number of the run that it did last; None when it does not say."""


def write_name(name: str) -> str:
    """The name as it stands in a line."""
    if not name:
        return "%"
    escaped = "".join(_escape(c) if c == "%" or not c.isprintable() else c for c in name)
    if escaped[0] in " !?~":
        escaped = _escape(escaped[0]) + escaped[1:]
    return escaped[:-1] + "%20" if escaped.endswith(" ") else escaped


def _escape(character: str) -> str:
    try:
        return "".join(f"%{byte:02X}" for byte in character.encode())
    except UnicodeEncodeError:
        raise PlantFault(f"the name with {character!r} in it is no Unicode text and cannot be sent") from None


def read_name(text: str) -> str:
    """The name that stands in a line as this text."""
    if text == "%":
        return ""
    data = text.encode()
    if not _PLAIN.match(data):
        raise Garbled(
            f"the answer {_short(text)} has a '%' without two hexadecimal digits; write '%25' for the character"
        )
    try:
        return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), data).decode()
    except UnicodeDecodeError:
        raise Garbled(f"the answer {_short(text)} is not UTF-8 once its escapes are resolved") from None


def read_answer(text: str, action: str) -> str:
    """The reading that an answer states; the fault that it states instead is raised."""
    if text[0] in MARKS:
        why = f": {text[1:].strip()[:200]}" if text[1:].strip() else ""
        words = {"!": "was not carried out", "?": "was carried out, but not read", "~": "may or may not have run"}
        raise MARKS[text[0]](f"the plant says that {action!r} {words[text[0]]}{why}")
    return read_name(text)


def decode_line(line: bytes) -> str:
    """The line as text without its end; garbled when it is none."""
    try:
        text = line.decode().rstrip("\r")
    except UnicodeDecodeError:
        raise Garbled(f"the plant sent {line[:40]!r}, which is not UTF-8 text") from None
    if any(c < " " and c != "\t" for c in text):
        raise Garbled(f"the plant sent {_short(text)}, with control characters in it")
    return text


def split_answer(text: str) -> tuple[int, str]:
    """The number that a line answers, and the answer."""
    match = _ANSWER.match(text.strip(" \t"))
    if match is None:
        raise Garbled(f"the plant sent {_short(text)}; a number, a blank and a reading were expected")
    return int(match[1]), match[2].strip(" \t")


def read_greeting(text: str) -> Greeting:
    """What the plant answered to hello."""
    word, *rest = text.split() or [""]
    if word != "plant" or not rest:
        raise Garbled(f"the plant greets with {_short(text)}; 'plant NAME' was expected, perhaps with options after it")
    last: int | None = None
    for option in rest[1:]:
        match = re.fullmatch(r"last=([0-9]{1,18})", option)
        if match:
            last = int(match[1])
        elif option != "retry-safe":
            raise Garbled(f"the plant greets with {_short(text)}; after its name 'retry-safe' and 'last=N' may stand")
    return Greeting(read_name(rest[0]), "retry-safe" in rest[1:], last)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
