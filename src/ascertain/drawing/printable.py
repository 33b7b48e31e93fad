"""Names as people may see them: whatever a file calls its states, it cannot move a cursor or break a picture."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with whatever is not a plain character escaped: controls (C0, C1), bidirectional ones, line ends."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shorten(text: str, most: int) -> str:
    """The text as people may see it, cut where it has more characters."""
    clean = printable(text)
    return clean if len(clean) <= most else clean[: most - 1] + "…"
