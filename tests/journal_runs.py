"""Small runs with a journal, broken off where it is wanted, for the tests of journals."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import FileError
from ascertain.live.journal import Journal
from ascertain.live.resume import Resumed, resume_observer
from ascertain.live.session import Run, resume_plant, run_session
from ascertain.model.named import register
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.records import commitment_record
from ascertain.observer.settings import ObserverSettings, PolicyName
from ascertain.observer.staged import Observer, start_observer
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.pose_plant import pose_plant


def memory_folder() -> Iterator[Path]:
    """A place that is not on a disk, where there is one: a journal waits for the disk twice at every record."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        yield Path(place)


PLANT = register(3, Fraction(1, 10))
QUESTION = pose_plant(PLANT, alpha="1/20")
MAKE_BANK = HypothesesBank(range(8))
NOMINAL = 5


def settings_for(policy: PolicyName = "readwise", **changes: Any) -> ObserverSettings:
    return ObserverSettings(question=QUESTION, alpha=QUESTION.alpha, nominal=NOMINAL, policy=policy, **changes)


def simulate(truth: int = NOMINAL, seed: int = 1) -> SimulatedPlant:
    return SimulatedPlant(PLANT, truth, seed)


def observer_for(journal: Journal, settings: ObserverSettings) -> Observer:
    return start_observer(settings, journal.watch_bank(settings, MAKE_BANK))


def run_fresh(path: Path, settings: ObserverSettings, plant: AbstractPlant) -> tuple[Run, tuple[dict[str, Any], ...]]:
    with Journal(path) as journal:
        commitment = commitment_record(settings, MAKE_BANK)
        run = run_session(observer_for(journal, settings), plant, recorder=journal, commitment=commitment)
        return run, journal.records


def resume(journal: Journal, settings: ObserverSettings) -> Resumed:
    return resume_observer(journal, observer_for(journal, settings), commitment_record(settings, MAKE_BANK))


def run_on(path: Path, settings: ObserverSettings, plant: AbstractPlant) -> tuple[Run, tuple[dict[str, Any], ...]]:
    """Go on with a journal, wherever it ends."""
    with Journal(path) as journal:
        resumed = resume(journal, settings)
        if journal.records:
            resume_plant(plant, resumed.observer)
        run = run_session(
            resumed.observer,
            plant,
            recorder=journal,
            commitment=None if journal.records else commitment_record(settings, MAKE_BANK),
            pending=resumed.pending,
            recorded_events=resumed.recorded_events,
        )
        return run, journal.records


class PowerCut(BaseException):
    """Ends a run where a crash would, without anyone tidying up."""


def crash_after(path: Path, settings: ObserverSettings, plant: AbstractPlant, num_records: int) -> None:
    """A run whose process dies right after so many records are on disk."""
    with Journal(path) as journal:
        append = journal.append

        def count(record: dict[str, Any]) -> None:
            if len(journal.records) == num_records:
                raise PowerCut
            append(record)

        journal.append = count  # type: ignore[method-assign]
        commitment = commitment_record(settings, MAKE_BANK)
        with pytest.raises(PowerCut):
            run_session(observer_for(journal, settings), plant, recorder=journal, commitment=commitment)


def message(opening: Callable[[], object]) -> str:
    """The one sentence with which something is refused."""
    with pytest.raises(FileError) as refused:
        opening()
    text = str(refused.value)
    assert "\n" not in text
    return text


def small(path: Path) -> tuple[dict[str, Any], ...]:
    """A finished journal that is small."""
    return run_fresh(path, settings_for("staged", budget=2), simulate())[1]


def read_records(path: Path) -> tuple[dict[str, Any], ...]:
    with Journal(path) as journal:
        return journal.records


def without_times(journal: Path) -> list[dict[str, Any]]:
    """The records, but for the times of the beginning and the end, in which two runs of one seed may differ."""
    return [{key: value for key, value in record.items() if key != "time"} for record in read_records(journal)]
