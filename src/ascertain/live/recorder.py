"""What keeps the records of a session: in memory, or, in `journal.py`, in a file that outlives a crash."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, final

from ascertain.interruption import OutOfTime
from ascertain.observer.banks import CompileReport, MakeBank
from ascertain.observer.records import Cause, Record, bank_hash, scored_bank, stage_record, verdict_record
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.stages import Event
from ascertain.policy.verdict import Verdict
from ascertain.task.bank import Bank, EvenBank
from ascertain.types import Action, Reading


class AbstractRecorder(ABC):
    """The interface of what keeps a record of a session; each method is called before the session goes on."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self.bank_hash: str | None = None
        """Of the bank that was compiled in this process; None before."""
        self.interrupted: str | None = None
        """While a run is replayed: why the bank that is wanted now was not compiled then; None where it was."""

    @abstractmethod
    def append(self, record: Record) -> None:
        """Keep one more record."""

    @property
    def records(self) -> tuple[Record, ...]:
        """All records, the commitment first."""
        return tuple(self._records)

    def watch_bank(self, settings: ObserverSettings, make_bank: MakeBank | None) -> MakeBank | None:
        """What compiles the bank, for the observer: the hash of what it gives is noted."""
        self.note_interruption(0)  # the policy eager compiles at once
        return None if make_bank is None else WatchedBank(make_bank, settings, self)

    def note_interruption(self, number: int) -> None:
        """Whether a bank that is wanted after this record was interrupted: then the next record says so."""
        following = self._records[number + 1] if number + 1 < len(self._records) else {}
        self.interrupted = str(following.get("reason")) if following.get("cause") == "deadline" else None

    def begin(self, commitment: Mapping[str, Any]) -> None:
        """The first record: what the run is bound to."""
        self.append(dict(commitment))

    def intent(self, action: Action) -> None:
        """The action is about to be sent."""
        self.append({"record": "intent", "action": action})

    def reading(self, action: Action, reading: Reading | None) -> None:
        """The action ran, and this was read; None if nothing was."""
        self.append({"record": "reading", "action": action, "reading": reading})

    def outside(self, action: Action, reading: str) -> None:
        """The action ran, and this was read, which the model does not have there."""
        self.append({"record": "reading", "action": action, "reading": reading})

    def doubt(self, action: Action) -> None:
        """Nobody knows whether the action ran."""
        self.append({"record": "doubt", "action": action})

    def stage(self, event: Event) -> None:
        """The observer has changed its stage."""
        self.append(stage_record(event, self.bank_hash))

    def verdict(self, verdict: Verdict, cause: Cause | None = None, ran: bool = False) -> None:
        """The run has ended; `cause` says why, if without an answer; `ran`, that the last action ran all the same."""
        self.append(verdict_record(verdict, cause, ran))


@final
class Notebook(AbstractRecorder):
    """Forgets everything when the process ends: for a run that is not journalled, but may be certified at its end."""

    def append(self, record: Record) -> None:
        self._records.append(record)


@final
class WatchedBank:
    """Compiles what another callable compiles, and notes its hash; says of itself what the other says."""

    def __init__(self, make_bank: MakeBank, settings: ObserverSettings, recorder: AbstractRecorder) -> None:
        self._make_bank, self._settings, self._recorder = make_bank, settings, recorder

    def __call__(self) -> Bank | EvenBank:
        if self._recorder.interrupted is not None:
            raise OutOfTime(self._recorder.interrupted)
        bank = self._make_bank()
        scored = scored_bank(self._settings, bank)
        self._recorder.bank_hash = bank_hash(scored)
        return self._watch_parts(bank, scored) if isinstance(scored, Bank) and isinstance(bank, Bank) else bank

    def _watch_parts(self, part: Bank, scored: Bank) -> Bank:
        """The part, whose next part is noted when it is computed: the hash is that of all that is scored by then."""
        if part.later is None:
            return part
        later, held = part.later, scored

        def compute() -> Bank:
            following = later()
            # The scaled part was computed for `held.completed` as well; parts are the same whenever they are computed.
            whole = held.completed()
            self._recorder.bank_hash = bank_hash(whole)
            return self._watch_parts(following, whole)

        return Bank(part.states, part.weights, compute)

    @property
    def report(self) -> CompileReport | None:
        return getattr(self._make_bank, "report", None)
