"""Names as people may see them: whatever a file calls its states, it cannot move a cursor or break a picture."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with everything that is not a plain character replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
