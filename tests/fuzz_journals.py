"""Journals and stores of results as targets of the fuzzer: SQLite files, and what their records say."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from ascertain.errors import TaskError
from ascertain.live.journal import Journal
from ascertain.live.record_store import PAGE, TABLE
from ascertain.live.resume import resume_observer
from ascertain.live.session import run_session
from ascertain.model.named import register
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.records import START, commitment_record, hash_record
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import start_observer
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.canonical import canonical_bytes
from ascertain_paper.campaign.store import create_store, open_store

BETWEEN = b"\x1e\x1e"
"""Stands between the files of an input that is made of two."""
QUESTION = pose_plant(register(2, Fraction(1, 100)), alpha="1/5")
SETTINGS = ObserverSettings(question=QUESTION, alpha=QUESTION.alpha, nominal=1)
MAKE_BANK = HypothesesBank(range(4))
COMMITMENT = commitment_record(SETTINGS, MAKE_BANK)
SHORT = 3
"""Records of a journal that breaks off, which is quicker to follow than a whole run."""
MOST_RECORDS = 32
"""What follows them is one record more."""
ABOUT = {"study": "squares", "settings": "a" * 64}


class Spot:
    """A file that is written over for every input; it stays open, since opening it takes longer than reading it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._beside = [f"{path}{ending}" for ending in ("-wal", "-journal", "-shm", ".head.part")]
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT)

    def put(self, data: bytes) -> Path:
        os.pwrite(self._handle, data, 0)
        os.ftruncate(self._handle, len(data))
        return self.path

    def clear(self) -> None:
        """Remove what SQLite and journals keep beside a file, if they were interrupted."""
        for name in self._beside:
            if os.access(name, os.F_OK):
                os.unlink(name)


def _resume(path: Path) -> None:
    with Journal(path) as journal:
        resume_observer(journal, start_observer(SETTINGS, journal.watch_bank(SETTINGS, MAKE_BANK)), COMMITMENT)


def make_journal(place: Path) -> tuple[bytes, bytes, bytes]:
    """A journal that breaks off early, its head, and the records of a whole run, one a line."""
    with Journal(place / "whole.journal") as journal:
        observer = start_observer(SETTINGS, journal.watch_bank(SETTINGS, MAKE_BANK))
        run_session(observer, SimulatedPlant(QUESTION.model, 2, 1), recorder=journal, commitment=COMMITMENT)
        records = journal.records
    path = place / "short.journal"
    with Journal(path) as journal:
        for record in records[:SHORT]:
            journal.append(record)
    return path.read_bytes(), Path(f"{path}.head").read_bytes(), b"\n".join(map(canonical_bytes, records))


def journal_reader(place: Path) -> Callable[[bytes], object]:
    """The file itself and its head."""
    spot = Spot(place / "bytes.journal")

    def read(data: bytes) -> None:
        journal, _, head = data.partition(BETWEEN)
        spot.clear()
        _put_head(spot.put(journal), head)
        _resume(spot.path)

    return read


def _put_head(path: Path, head: bytes) -> None:
    handle = os.open(f"{path}.head", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(handle, head)
    finally:
        os.close(handle)


@lru_cache(maxsize=1000)
def _chain(head: str, body: str) -> str:
    return hash_record(head, json.loads(body))


def records_reader(place: Path) -> Callable[[bytes], object]:
    """Records one a line, chained anew, so that what they say has to be refused."""
    spot = Spot(place / "records.journal")
    memory = sqlite3.connect(":memory:", isolation_level=None)
    memory.execute(f"PRAGMA page_size = {PAGE}")
    memory.execute(TABLE)

    def read(data: bytes) -> None:
        head, rows = START, list[tuple[int, str, str]]()
        for number, line in enumerate(data.split(b"\n", MOST_RECORDS)):
            body = line.decode("utf-8", "replace")
            with suppress(ValueError, RecursionError, TypeError, TaskError):
                head = _chain(head, body)
            rows.append((number, body, head))
        memory.execute("BEGIN")
        memory.execute("DELETE FROM record")
        memory.executemany("INSERT INTO record VALUES (?, ?, ?)", rows)
        memory.execute("COMMIT")
        spot.clear()
        _put_head(spot.put(memory.serialize()), f"{len(rows)} {head}\n".encode())
        _resume(spot.path)

    return read


def make_store(place: Path) -> bytes:
    """A store with small pages, so that there is less of it that means nothing."""
    path = place / "sample.store"
    with create_store(path, ABOUT) as store:
        store.add([(n, {"square": n * n, "half": f"{n}/2", "microseconds": {"all": n}}) for n in range(5)])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for sql in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM", "PRAGMA journal_mode = WAL"):
            connection.execute(sql)
    return path.read_bytes()


def store_reader(place: Path) -> Callable[[bytes], object]:
    spot = Spot(place / "bytes.store")

    def read(data: bytes) -> None:
        spot.clear()
        with open_store(spot.put(data), ABOUT) as store:
            if len(store) == len(store.numbers()) == len(list(store.results())):
                store.export()

    return read
