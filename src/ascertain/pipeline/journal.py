"""Journal: what was done and read in a recorded run, by name, and the same as a log.

journal -> its records, checked by their hashes -> steps by name -> CSV
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError
from ascertain.live.journal import Journal
from ascertain.observer.records import Record, run_header
from ascertain.writing import write_whole

Outcome: TypeAlias = Literal["reading", "missing", "doubt", "open"]
"""What came of an action: it was read; it ran and was not read; nobody knows whether it ran; nothing is recorded."""
FORMATS = {"ascertain-journal": "run", "ascertain-conformance": "conformance"}
"""What journals are of, by what their first record says."""


@final
@dataclass(frozen=True)
class RecordedStep:
    """An action and what came of it, by name; `#3` stands for the third name of a journal that does not keep names."""

    action: str
    reading: str | None
    outcome: Outcome
    remark: str = ""
    """What happened after it: a change of stage, a fault of the plant, a reset."""


@final
@dataclass(frozen=True)
class RecordedRun(Shown):
    """A run as its journal tells it."""

    path: Path
    kind: str
    """Of a run that answers a question, or of a conformance run."""
    steps: tuple[RecordedStep, ...]
    header: Mapping[str, Any]
    """The plant's identity and address, and when the run began and ended; None what was not recorded."""
    verdict: Mapping[str, Any] | None
    """The last record, if it is a verdict: its `verdict`, `label`, `reason` and perhaps `cause`."""
    commitment: Mapping[str, Any]
    head: str
    has_names: bool

    def shown(self) -> Mapping[str, object]:
        ended = None if self.verdict is None else self.verdict["verdict"]
        return {"verdict": ended, "steps": len(self.steps), **{k: v for k, v in self.header.items() if v is not None}}

    def listing(self) -> Listing:
        shown = {"missing": "(not read)", "doubt": "(may not have run)", "open": "(nothing is recorded)"}
        rows = [
            (n, step.action, shown.get(step.outcome, step.reading), step.remark) for n, step in enumerate(self.steps, 1)
        ]
        return ("", "action", "reading", "then"), rows

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `journal --json` prints."""
        ended = self.verdict or {}
        return {
            "journal": str(self.path),
            "kind": self.kind,
            **self.header,
            "verdict": ended.get("verdict"),
            "label": ended.get("label"),
            "reason": ended.get("reason"),
            "cause": ended.get("cause"),
            "steps": [
                {"action": step.action, "reading": step.reading, "outcome": step.outcome, "remark": step.remark}
                for step in self.steps
            ],
            "has_names": self.has_names,
            "task_sha256": self.commitment.get("task_sha256"),
            "made_by": self.commitment.get("made_by"),
            "head": self.head,
        }

    def write_csv(self, path: str | Path) -> None:
        """Write a log, `command,reading`, that operations, hypotheses and `replay:` read.

        A reading that was lost, and that of an action in doubt, is blank. An action that nothing is recorded of, such
        as the one at which the plant failed, is left out.
        """
        if not self.has_names and self.steps:
            raise FileError(f"{self.path}: the journal is from before names were kept, so that no log can be written")
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(("command", "reading"))
        rows.writerows((step.action, step.reading or "") for step in self.steps if step.outcome != "open")
        write_whole(path, text.getvalue().encode())


def read_journal(path: str | Path) -> RecordedRun:
    """What a journal tells, in names; a file that was tampered with is refused."""
    place = Path(path)
    if not place.exists():
        raise FileError(f"{place}: there is no such journal")
    with Journal(place, read_only=True) as journal:
        records, head = journal.records, journal.head
    first = records[0] if records else {}
    kind = FORMATS.get(str(first.get("format")))
    if kind is None:
        raise FileError(f"{place}: this is not the journal of a run, or nothing is recorded in it yet")
    try:
        steps, has_names = _list_steps(records) if kind == "run" else (_list_words(records), True)
    except (KeyError, TypeError, ValueError, IndexError):
        raise FileError(f"{place}: a record is not one that a journal holds there; it has been tampered with") from None
    ended = records[-1] if records[-1]["record"] == "verdict" else None
    return RecordedRun(place, kind, tuple(steps), run_header(records), ended, first, head, has_names)


def _list_steps(records: Sequence[Record]) -> tuple[list[RecordedStep], bool]:
    names = next((record for record in records if record["record"] == "plant"), None)
    steps: list[RecordedStep] = []
    for number, record in enumerate(records):
        kind = record["record"]
        if kind == "intent":
            # A reset that broke off is sent again: one step.
            if not (steps and steps[-1].outcome == "open" and records[number - 1]["record"] == "intent"):
                steps.append(RecordedStep(_name(names, "actions", record["action"]), None, "open"))
        elif kind == "reading":
            read = record["reading"]
            heard = read if isinstance(read, str) else None if read is None else _name(names, "readings", read)
            steps[-1] = RecordedStep(steps[-1].action, heard, "missing" if heard is None else "reading")
        elif kind == "doubt":
            steps[-1] = RecordedStep(steps[-1].action, None, "doubt")
        elif steps and (remark := _remark(record, number == len(records) - 1)):
            last = steps[-1]
            steps[-1] = RecordedStep(last.action, last.reading, last.outcome, _join(last.remark, remark))
    return steps, names is not None


def _list_words(records: Sequence[Record]) -> list[RecordedStep]:
    words = [record["steps"] for record in records if record["record"] == "word"]
    return [RecordedStep(str(action), str(reading), "reading") for word in words for action, reading in word]


def _remark(record: Record, is_last: bool) -> str:
    if record["record"] == "stage":
        return f"{record['stage']}: {record['why']}"
    if record["record"] == "verdict" and not is_last:
        return f"the plant failed: {record['reason']}"
    return f"goes on from a reset, {record['time']}" if record["record"] == "plant" else ""


def _join(first: str, second: str) -> str:
    return f"{first}; {second}" if first else second


def _name(names: Record | None, key: str, index: object) -> str:
    if type(index) is not int or index < 0:
        raise ValueError
    return f"#{index}" if names is None else str(names[key][index])
