"""Regular expressions from problem files, searched in names under a limit of time: a file is not to be trusted."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ascertain.errors import TaskError

_SECONDS = 2.0
"""For all names together."""
_LENGTH = 1000
"""Characters of a pattern: compiling one takes longer than its length, and no name needs as many."""


def search_names(pattern: str, names: Iterable[str], where: str) -> list[str | None]:
    """What the pattern finds in each name: its first group if it has one, else the whole match; None for nothing."""
    import regex

    if len(pattern) > _LENGTH:
        raise TaskError(f"{where}: the pattern has {len(pattern)} characters; at most {_LENGTH} are allowed")
    deadline = time.monotonic() + _SECONDS
    try:
        find = regex.compile(pattern)
        group = 1 if find.groups else 0
        found: list[str | None] = []
        for name in names:
            match = find.search(name, timeout=max(deadline - time.monotonic(), 1e-3))
            found.append(None if match is None else str(match.group(group) or ""))
    except regex.error as reason:
        raise TaskError(f"{where}: {pattern!r} is not a regular expression: {reason}") from None
    except TimeoutError:
        raise TaskError(f"{where}: the pattern {pattern!r} takes too long on these names; simplify it") from None
    return found
