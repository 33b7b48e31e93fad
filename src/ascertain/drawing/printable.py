"""Names as people may see them: whatever a file calls its states, it cannot move a cursor or break a picture."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with whatever is not a plain character escaped: controls (C0, C1), bidirectional ones, line ends."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
