"""The records of a run as plain data, each bound by a hash to all before it, for journals to keep and anyone to check.

The hash of a record is the SHA-256 of the hash before it (START before the first), a line feed, and the record in
canonical form. The last hash, the *head*, stands for all of them: nothing can be changed, left out or put in another
order without another head. `docs/certificate-format.md` says what each record holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from ascertain.model.abstract import AbstractModel
from ascertain.observer.kinds import AnySettings
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.stages import Event, mixture_bank
from ascertain.policy.verdict import Certified, NoneOfThese, Verdict
from ascertain.task.bank import Bank, EvenBank
from ascertain.task.canonical import canonical_bytes, task_hash
from ascertain.version import __version__

Record: TypeAlias = dict[str, Any]
"""What happened, as plain data, with the name of what it is under "record"."""
Cause: TypeAlias = Literal["plant", "person", "deadline", "observer"]
"""Why a run ended without an answer: the plant failed, a person did not approve, its time was over, or the observer
gave up by itself."""

FORMAT = "ascertain-journal"
"""What the first record says, so that a record of another program is not taken for one of ours."""
VERSION = 1
"""Grows when a record changes its meaning."""
ALL_STATES = "all states"
"""In place of a list of candidates: every state of the plant, each with the same weight."""
START = "0" * 64
"""The hash before the first record: as long as every other, and the hash of nothing."""


def hash_record(previous: str, record: Mapping[str, Any]) -> str:
    """The hash of a record that follows one with that hash."""
    return sha256(previous.encode() + b"\n" + canonical_bytes(record)).hexdigest()


def hash_records(records: Iterable[Mapping[str, Any]]) -> str:
    """The head of a chain."""
    return reduce(hash_record, records, START)


def commitment_record(settings: AnySettings, make_bank: Callable[[], Bank | EvenBank] | None = None) -> Record:
    """What is fixed before the first fresh reading; together they determine the bank, which need not exist yet.

    A callable that compiles a bank says with `bank_data()` what determines it: the operation by its hash, the compiler,
    shells and weights, and the version of the rules.
    """
    describe = getattr(make_bank, "bank_data", None)
    return {
        "record": "commitment",
        "format": FORMAT,
        "version": VERSION,
        "task_sha256": task_hash(settings.question),
        "settings": settings.settings_data(),
        "bank": None if make_bank is None else {"kind": "other"} if describe is None else describe(),
        "made_by": f"ascertain {__version__}",
    }


def differing_keys(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """In what two commitments differ, whichever version made them."""
    return sorted(key for key in {*one, *other} - {"made_by"} if one.get(key) != other.get(key))


def plant_record(identity: str | None, address: str, model: AbstractModel, time: str) -> Record:
    """Which plant is met, and when; with the names of what is sent and read, which other records have by number."""
    return {
        "record": "plant",
        "identity": identity,
        "address": address,
        "time": time,
        "actions": list(model.actions),
        "readings": list(model.readings),
    }


def stage_record(event: Event, bank_sha256: str | None) -> Record:
    """`bank_sha256` is the hash of the bank that is scored from now on."""
    return {
        "record": "stage",
        "stage": event.stage,
        "after": event.actions,
        "why": event.why,
        "bank_sha256": bank_sha256,
    }


def verdict_record(verdict: Verdict, cause: Cause | None = None, ran: bool = False) -> Record:
    """The end; `cause` is that of an abstention, and None in journals that were written before it was kept.

    `ran` says that the last action ran, although what was read then was refused.
    """
    if isinstance(verdict, Certified):
        return {"record": "verdict", "verdict": "certified", "label": verdict.label, "reason": None}
    how = "none of these" if isinstance(verdict, NoneOfThese) else "abstained"
    record = {"record": "verdict", "verdict": how, "label": None, "reason": verdict.reason}
    return {**record, **({} if cause is None else {"cause": cause}), **({"ran": True} if ran else {})}


def run_header(records: Sequence[Mapping[str, Any]]) -> Record:
    """The plant that a run was made on and the times of its beginning and end; None what the records do not say."""
    met = [record for record in records if record["record"] == "plant"]
    ended = records[-1].get("time") if records and records[-1]["record"] in ("verdict", "end") else None
    return {
        "identity": met[-1]["identity"] if met else None,
        "address": met[-1]["address"] if met else None,
        "began": met[0]["time"] if met else None,
        "ended": ended,
    }


def bank_data(bank: Bank | EvenBank) -> list[list[Any]] | str:
    """Candidates with their weights, in ascending order of states; ALL_STATES for every state evenly."""
    if isinstance(bank, EvenBank):
        return ALL_STATES
    return [[state, str(weight)] for state, weight in sorted(zip(bank.states, bank.weights, strict=True))]


def bank_hash(bank: Bank | EvenBank) -> str:
    """SHA-256 of a bank, in hexadecimal."""
    return sha256(canonical_bytes(bank_data(bank))).hexdigest()


def scored_bank(settings: ObserverSettings, compiled: Bank | EvenBank) -> Bank | EvenBank:
    """The bank that a fallback scores: what was compiled; of a mixture with the nominal, that."""
    return mixture_bank(settings, lambda: compiled).completed() if settings.mixes else compiled
