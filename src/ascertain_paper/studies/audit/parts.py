"""What the questions of the audit have in common: what each adds to the study, and in which words it is decided.

A limit is *shown* when a bound at confidence 1 - `DELTA` keeps it. It is *VIOLATED*, and an alarm, when, were it kept,
what was counted would have a probability below `TAIL`. In between it is *not refuted*: so few cases could not show it,
or what is measured lies right at the limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.report.record import Figure
from ascertain.report.tables import Table

Results: TypeAlias = Sequence[Mapping[str, Any]]
Part: TypeAlias = tuple[Table, tuple[Figure, ...], list[dict[str, Any]], list[str], list[str]]
"""What one question of the audit adds: a table, figures, rows, findings and alarms."""

DELTA = Fraction(1, 1000)
TAIL = 1e-6


def judge(*, shown: bool, refuted: bool) -> str:
    """The word for what was decided."""
    return "VIOLATED" if refuted else "shown" if shown else "not refuted"
