"""A table of laws while a Cassandra file fills it: a row for each action and state, and later lines write over earlier.

A row is a law over next states (T) or over readings (O). Wildcards and whole matrices put one row in many places, so
rows are shared until a line changes one of them, and what a short line may write out is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias, final

from ascertain.errors import FileError, LimitError
from ascertain.model.hidden import sum_exactly
from ascertain.rational import have_small_denominator

InexactRows: TypeAlias = Literal["refused", "renormalised"]
"""What becomes of a row that does not sum to one by a rounding error."""
LawRow: TypeAlias = dict[int, Fraction]
"""By next state, or by reading: its probability, zeros left out."""
Describe: TypeAlias = Callable[[int, int], str]
"""What to call the row of an action and a state."""

MAX_UNWRITTEN = 400_000
"""Entries, and whole rows, that wildcards and matrices may write beyond what stands in the text: a second's work."""
TOLERANCE = Fraction(1, 100_000)
"""How far from 1 a row may be that is renormalised: files round to five or six digits, and more is a mistake."""


@final
class LawTable:
    """`rows[a, s]`, with the line that each was last written in. Zeros are not kept."""

    def __init__(self, letter: str, where: str, size: int) -> None:
        self.letter, self.where = letter, where
        self._limit = MAX_UNWRITTEN + size // 2
        """An entry that is written out takes two characters at least, of the `size` that the text has."""
        self.rows: dict[tuple[int, int], LawRow] = {}
        self.line: dict[tuple[int, int], int] = {}
        self._own: set[tuple[int, int]] = set()
        """The rows that no other place shares."""
        self._num_writes = 0

    def put_entry(
        self, actions: Sequence[int], states: Sequence[int], columns: Sequence[int], p: Fraction, line: int
    ) -> None:
        """The same probability in every one of these places."""
        self._count(len(actions) * len(states) * len(columns), line)
        for a in actions:
            for s in states:
                row = self._row_to_change((a, s), line)
                for c in columns:
                    if p:
                        row[c] = p
                    else:
                        row.pop(c, None)

    def put_row(self, actions: Sequence[int], states: Iterable[int], row: LawRow, line: int) -> None:
        """The same row in every one of these places."""
        for s in states:
            self._count(len(actions), line)
            for a in actions:
                self.rows[a, s], self.line[a, s] = row, line
                self._own.discard((a, s))

    def _row_to_change(self, key: tuple[int, int], line: int) -> LawRow:
        self.line[key] = line
        if key not in self._own:
            row = self.rows.get(key, {})
            self._count(len(row), line)
            self.rows[key] = dict(row)
            self._own.add(key)
        return self.rows[key]

    def _count(self, writes: int, line: int) -> None:
        self._num_writes += writes
        if self._num_writes > self._limit:
            raise LimitError(
                f"{self.where}:{line}: {self.letter}: more than {self._limit} entries once wildcards and matrices are "
                "written out, the most for a file of this size; a smaller model is needed"
            )

    def settle(self, describe: Describe, inexact: InexactRows) -> tuple[int, Fraction]:
        """Check that every row sums to one, or make it so; how many rows were changed, and the largest error."""
        errors: dict[int, Fraction] = {}
        for key, row in self.rows.items():
            if id(row) not in errors:
                here = f"{self.where}:{self.line[key]}: {self.letter}: "
                errors[id(row)] = settle_row(row, lambda key=key, here=here: here + describe(*key), inexact)
        changed = {row for row, error in errors.items() if error}
        number = sum(id(row) in changed for row in self.rows.values()) if changed else 0
        return number, max(errors.values(), default=Fraction(0))


def settle_row(row: LawRow, here: Callable[[], str], inexact: InexactRows) -> Fraction:
    """Check that a row sums to one, or divide it by its sum; how far it was off."""
    if not have_small_denominator(row.values()):
        raise FileError(f"{here()} needs a huge common denominator; round its numbers")
    total = sum_exactly(row.values())
    if total == 1:
        return Fraction(0)
    error = abs(total - 1)
    if error > TOLERANCE:
        raise FileError(f"{here()} sums to {show_sum(total)}; it must sum to 1")
    if inexact == "refused":
        raise FileError(
            f"{here()} sums to {show_sum(total)}, not exactly 1; write its numbers as fractions, or say inexact_rows "
            '= "renormalised" in a problem file'
        )
    for c in row:
        row[c] /= total
    return error


def show_sum(total: Fraction) -> str:
    """A sum as people write it: as a decimal where that is short and exact, else as a fraction or nearly."""
    if (decimal := write_decimal(total, 12)) is not None:
        return decimal
    return str(total) if max(total.as_integer_ratio()) < 10**12 else f"about {float(total):.12g}"


def write_decimal(value: Fraction, most: int) -> str | None:
    """A number of at least 0 as a decimal, of at most so many digits after the point; None where it is none."""
    for digits in range(most + 1):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            whole = f"{int(scaled):0{digits + 1}d}"
            return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole
    return None
