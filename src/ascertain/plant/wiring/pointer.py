"""Values out of what a plant says in JSON, by pointers such as "/sensors/0/bar" (RFC 6901)."""

from __future__ import annotations

import json
import reprlib
from typing import Any, cast

from ascertain.errors import TaskError
from ascertain.plant.faults import Garbled


def check_pointer(take: str, others: tuple[str, ...]) -> None:
    """Refuse what is neither a pointer nor one of the other words that `take` may be."""
    if take not in others and not take.startswith("/"):
        words = " or ".join([", ".join(f'"{word}"' for word in others), 'a JSON pointer such as "/bar"'][not others :])
        raise TaskError(f"take: {take[:80]!r} is not understood; write {words}")


def parse_json(text: str) -> object:
    """What a JSON text says; Garbled when it is none."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Garbled(f"the plant answered {text[:60]!r}, which is not JSON") from None


def take_from(data: bytes, take: str, did: str) -> object:
    """What `take` says of an answer: all its text, or the value at a pointer into its JSON; `did` words a complaint."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Garbled(f"the plant {did} {data[:40]!r}, which is not UTF-8 text") from None
    return text.strip() if take == "text" else point_into(parse_json(text), take)


def point_into(found: object, pointer: str) -> object:
    """The value at a pointer; Garbled when there is nothing."""
    whole = found
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = cast("dict[str, object]", found)[key]
        elif (
            isinstance(found, list) and key.isascii() and key.isdigit() and int(key) < len(cast("list[object]", found))
        ):
            found = cast("list[object]", found)[int(key)]
        else:
            raise Garbled(f"the plant answered {reprlib.repr(whole)}, which has nothing at {pointer!r}")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")
