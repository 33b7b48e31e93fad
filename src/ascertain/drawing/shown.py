"""What shows itself: `repr` in one line, and in a notebook the same facts as a table, perhaps with a list below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias

from ascertain.drawing import template
from ascertain.drawing.printable import printable, shorten

Listing: TypeAlias = tuple[tuple[str, ...], Sequence[Sequence[object]]]
"""Names of columns, and rows."""
MOST_ROWS = 20
"""Rows of a table in a notebook: what is longer hides what comes after it."""
LONGEST = 60
"""Characters of one fact in a `repr`: names come from files and may be of any length."""


def say(fact: object) -> str:
    """A fact in a few characters; an exact number that is long to write is shown by four digits."""
    if isinstance(fact, Fraction) and fact.denominator > 10**6 and fact.numerator != 1:
        return f"about {float(fact):.4g}"
    return printable(str(fact))


class Shown:
    """The interface of what shows itself; a class says what in `shown` and, where there is one, its `listing`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Shown.__repr__  # else a dataclass would write one with all its arrays

    def shown(self) -> Mapping[str, object]:
        """A few short facts by name; those that are None are left out."""
        return {}

    def listing(self) -> Listing | None:
        """A table that belongs to it."""
        return None

    def __repr__(self) -> str:
        facts = [f"{name}={shorten(say(fact), LONGEST)}" for name, fact in self.shown().items() if fact is not None]
        return f"{type(self).__name__}({', '.join(facts)})"

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """What a notebook shows."""
        header, rows = self.listing() or ((), ())
        return template("table.html").render(
            title=type(self).__name__,
            facts=[(name, say(fact)) for name, fact in self.shown().items() if fact is not None],
            header=header,
            rows=[[say(cell) for cell in row] for row in islice(rows, MOST_ROWS)],
            more=max(0, len(rows) - MOST_ROWS),
        )
