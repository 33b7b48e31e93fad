"""What keeps the records of a session: in memory, or, in `journal.py`, in a file that outlives a crash."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, final

from ascertain.errors import PlantFault
from ascertain.interruption import OutOfTime
from ascertain.model.abstract import AbstractModel
from ascertain.observer.banks import CompileReport, MakeBank
from ascertain.observer.records import (
    Cause,
    Record,
    bank_hash,
    plant_record,
    scored_bank,
    stage_record,
    verdict_record,
)
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.stages import Event
from ascertain.plant.abstract import AbstractPlant
from ascertain.policy.verdict import Verdict
from ascertain.task.bank import Bank, EvenBank
from ascertain.types import Action, Reading


def tell_time() -> str:
    """Now, in universal time, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def check_same_plant(recorded: Record | None, plant: AbstractPlant, expected: str | None) -> None:
    """Refuse to go on with a run on another plant than the one that was recorded; None: none was.

    A plant says by its identity that it is the same. Where that is the same and the address is not, whoever resumes has
    to say that the identity names one plant, by expecting it.
    """
    if recorded is None:
        return
    identity, address = recorded["identity"], recorded["address"]
    moved = address != plant.address and (identity is None or expected != identity)
    if identity == plant.identity and not moved:
        return
    was, found = _describe(identity, address), _describe(plant.identity, plant.address)
    again = f"; if it is the same one, add --identity {identity}" if identity is not None and moved else ""
    again = again if identity == plant.identity else "; resume it on the one that it was begun on"
    raise PlantFault(f"the run was begun on the plant {was}, and this is {found}{again}")


def _describe(identity: str | None, address: str) -> str:
    name = "without a name" if identity is None else repr(identity[:200])
    return f"{name} at {address[:200]!r}" if address else name


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
        cut_short = following.get("cause") in ("deadline", "person")
        self.interrupted = str(following.get("reason")) if cut_short else None

    def begin(self, commitment: Mapping[str, Any]) -> None:
        """The first record: what the run is bound to."""
        self.append(dict(commitment))

    def meet(self, plant: AbstractPlant, model: AbstractModel) -> None:
        """The plant that the run is made on; recorded before anything is sent to it."""
        self.append(plant_record(plant.identity, plant.address, model, tell_time()))

    def intent(self, action: Action) -> None:
        """The action is about to be sent."""
        self.append({"record": "intent", "action": action})

    def reading(self, action: Action, reading: Reading | str | None) -> None:
        """The action ran, and this was read: its text where the model does not have it there; None if nothing was."""
        self.append({"record": "reading", "action": action, "reading": reading})

    def doubt(self, action: Action) -> None:
        """Nobody knows whether the action ran."""
        self.append({"record": "doubt", "action": action})

    def stage(self, event: Event) -> None:
        """The observer has changed its stage."""
        self.append(stage_record(event, self.bank_hash))

    def verdict(self, verdict: Verdict, cause: Cause | None = None, ran: bool = False) -> None:
        """The run has ended; `cause` says why, if without an answer; `ran`, that the last action ran all the same."""
        record = verdict_record(verdict, cause, ran)
        self.append({**record, "time": tell_time()} if self._names_plant else record)

    def end(self) -> None:
        """A conformance run is done; said a second time, after a resumption, it is not recorded again."""
        if self._names_plant and self._records[-1]["record"] != "end":
            self.append({"record": "end", "time": tell_time()})

    @property
    def _names_plant(self) -> bool:
        return len(self._records) > 1 and self._records[1]["record"] == "plant"


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
