"""What a study found, as plain records: rows, tables, figures and sentences. Pages draw them and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from ascertain.report.record import Figure
from ascertain.report.tables import Table


@final
@dataclass(frozen=True)
class Excerpt:
    """Lines that are shown as they are: part of a log, what a program printed."""

    title: str
    text: str
    note: str = ""


@final
@dataclass(frozen=True)
class OpenChoice:
    """Something that the paper leaves open: what was chosen here, and what that does to the figures."""

    question: str
    chosen: str
    effect: str


@final
@dataclass(frozen=True, kw_only=True)
class Study:
    """The whole of one study: what `--json` prints and what a section of the report shows."""

    name: str
    title: str
    settings_hash: str = ""
    """Of the settings that it was made with; `reproduce.py` fills this in, the time that it took, and its command."""
    quick: bool
    seconds: float = 0.0
    question: str = ""
    """What was asked, in one sentence."""
    answer: str = ""
    """What came out, in a sentence or two; without it, the first of the findings."""
    rows: tuple[Mapping[str, Any], ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    findings: tuple[str, ...] = ()
    """What was found, a sentence each."""
    alarms: tuple[str, ...] = ()
    """What should not have been found; none, if all is well."""
    choices: tuple[OpenChoice, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    excerpts: tuple[Excerpt, ...] = ()
    command: str = ""
    """What makes it again."""
    attachments: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    """Files that belong to the study, by name, such as a certificate; they are written beside the page."""
