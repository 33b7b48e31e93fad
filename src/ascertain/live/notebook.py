"""The records of a run that is not journalled: the same ones in memory, for a certificate at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

from ascertain.certificate.chain import (
    Cause,
    Record,
    bank_hash,
    doubt_record,
    intent_record,
    reading_record,
    scored_bank,
    stage_record,
    verdict_record,
)
from ascertain.live.journal import WatchedBank
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.stages import Event
from ascertain.policy.verdict import Verdict
from ascertain.task.bank import Bank
from ascertain.types import Action, Reading


@final
class Notebook:
    """A session's recorder that forgets everything when the process ends."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._bank_hash: str | None = None

    @property
    def records(self) -> tuple[Record, ...]:
        """All records, the commitment first."""
        return tuple(self._records)

    def watch_bank(self, settings: ObserverSettings, make_bank: Callable[[], Bank] | None) -> Callable[[], Bank] | None:
        """What compiles the bank, for the observer: the hash of what it gives is noted."""

        def note(bank: Bank) -> None:
            self._bank_hash = bank_hash(scored_bank(settings, bank))

        return None if make_bank is None else WatchedBank(make_bank, note)

    def begin(self, commitment: Mapping[str, Any]) -> None:
        self._records.append(dict(commitment))

    def intent(self, action: Action) -> None:
        self._records.append(intent_record(action))

    def reading(self, action: Action, reading: Reading | None) -> None:
        self._records.append(reading_record(action, reading))

    def doubt(self, action: Action) -> None:
        self._records.append(doubt_record(action))

    def stage(self, event: Event) -> None:
        self._records.append(stage_record(event, self._bank_hash))

    def verdict(self, verdict: Verdict, cause: Cause | None = None) -> None:
        self._records.append(verdict_record(verdict, cause))
