"""The results of a campaign on disk: one SQLite file, one writer, whole chunks or nothing.

A result is plain data, kept as canonical JSON under the number of its operation, so that two stores of one campaign
hold the same bytes whoever computed them and in which order. The store remembers which study and which settings it
belongs to: results under other settings are another study, and are refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, final

from ascertain.errors import AscertainError, FileError
from ascertain.task.canonical import canonical_bytes

FORMAT = "ascertain-store 1"
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE result (number INTEGER PRIMARY KEY, data TEXT NOT NULL);
"""


@final
class Store:
    """Results by number. Made by `create_store` or `open_store`; used in a `with` block or closed by hand."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM result").fetchone()[0])

    def numbers(self) -> set[int]:
        """The operations that have a result."""
        return {int(row[0]) for row in self._connection.execute("SELECT number FROM result")}

    def results(self) -> Iterator[tuple[int, Any]]:
        """Numbers and results, in order."""
        for number, text in self._connection.execute("SELECT number, data FROM result ORDER BY number"):
            yield int(number), json.loads(text)

    def add(self, results: Iterable[tuple[int, Any]]) -> None:
        """Results of one chunk, all of them or, should this be interrupted, none."""
        rows = [(number, canonical_bytes(data).decode()) for number, data in results]
        with _told(self.path), self._connection:
            self._connection.executemany("INSERT INTO result VALUES (?, ?)", rows)

    def export(self) -> bytes:
        """Every result as a line of JSON, in order: the same bytes for the same campaign."""
        rows = self._connection.execute("SELECT number, data FROM result ORDER BY number")
        return b"".join(b'{"number":%d,"result":%s}\n' % (int(number), text.encode()) for number, text in rows)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def create_store(path: Path, about: Mapping[str, str]) -> Store:
    """A new, empty store; `about` says which study and settings it belongs to."""
    if path.exists():
        raise FileError(f"{path}: this file is already there; resume it, or choose another name")
    connection = _connect(path)
    with _told(path), connection:
        connection.executescript(_SCHEMA)
        connection.executemany("INSERT INTO about VALUES (?, ?)", {"format": FORMAT, **about}.items())
    return Store(path, connection)


def open_store(path: Path, about: Mapping[str, str]) -> Store:
    """A store to be resumed; it must have been made for the same study and settings."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such store to resume")
    connection = _connect(path)
    try:
        found = dict(connection.execute("SELECT name, value FROM about").fetchall())
    except sqlite3.DatabaseError:
        connection.close()
        raise FileError(f"{path}: this is not a store of results") from None
    for name, value in {"format": FORMAT, **about}.items():
        if found.get(name) != value:
            connection.close()
            raise FileError(
                f"{path}: it was begun with {name} {found.get(name, 'unknown')!s:.16}, and this is {value:.16}; "
                "settings are frozen once evaluation began: name a new study and give it a file of its own"
            )
    return Store(path, connection)


def _connect(path: Path) -> sqlite3.Connection:
    with _told(path):
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        return connection


class _told:  # noqa: N801  # reads as a word of the sentence "with told"
    """Turns what SQLite raises into one sentence about the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(value, sqlite3.IntegrityError):
            raise AscertainError(f"{self.path}: an operation has two results; the store was not written") from None
        if isinstance(value, sqlite3.Error):
            raise FileError(f"{self.path}: {value}; a store has one writer, on a disk with room") from None
