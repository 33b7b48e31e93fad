"""What a page says first: for each study what was asked, what came out, what differs from the paper, and alarms.

Nothing is judged here. Tables hold a verdict beside each figure that the paper has too (`studies/comparison.py`); these
are counted, and those that differ are gathered by their reason, with the tables that they stand in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from ascertain.report.tables import Table
from ascertain_paper.study import Study

DIFFERS = "differs"
COUNTED = {
    "reproduced": ("reproduced", "reproduced"),
    "better": ("better", "better"),
    DIFFERS: ("differs", "differ"),
    "too few": ("too few to tell", "too few to tell"),
    "another testbed": ("on another testbed", "on another testbed"),
}
"""How a verdict begins, and the words for one and for several of them."""


@final
@dataclass(frozen=True)
class Difference:
    """Figures that differ from the paper's for one reason, and the tables where they are."""

    reason: str
    number: int
    tables: tuple[Table, ...]


@final
@dataclass(frozen=True)
class Summary:
    """One study in a line."""

    study: Study
    answer: str
    verdicts: tuple[tuple[str, str, int], ...]
    """How a verdict begins, the word for so many of them, and how many there are."""
    differences: tuple[Difference, ...]


def summarise(studies: Sequence[Study]) -> tuple[Summary, ...]:
    """A line for each study, in their order."""
    return tuple(_summary(study) for study in studies)


def _summary(study: Study) -> Summary:
    counts: Counter[str] = Counter()
    reasons: dict[str, list[Table]] = {}
    for table, cell in _words(study):
        begins = next((word for word in COUNTED if cell.startswith(word)), None)
        if begins is not None:
            counts[begins] += 1
        if begins == DIFFERS:
            reasons.setdefault(cell.removeprefix(DIFFERS).lstrip(": ") or "no reason given", []).append(table)
    return Summary(
        study,
        study.answer or next(iter(study.findings), ""),
        tuple(
            (word, several if counts[word] > 1 else one, counts[word])
            for word, (one, several) in COUNTED.items()
            if counts[word]
        ),
        tuple(
            Difference(reason, len(tables), tuple({table.name: table for table in tables}.values()))
            for reason, tables in sorted(reasons.items(), key=lambda item: -len(item[1]))
        ),
    )


def _words(study: Study) -> Iterator[tuple[Table, str]]:
    """Every cell of words, with its table."""
    for table in study.tables:
        for row in table.rows:
            yield from ((table, cell) for cell in row if isinstance(cell, str))
