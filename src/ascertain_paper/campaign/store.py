"""The results of a campaign on disk: one SQLite file, one writer, whole chunks or nothing.

A result is plain data, kept as canonical JSON under the number of its operation, so that two stores of one campaign
hold the same bytes whoever computed them and in which order. How long something took is no result: what stands under
`microseconds` in one is kept in a table of its own, and comes back with the result. The store remembers which study and
which settings it belongs to: results under other settings are another study, and are refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast, final

from ascertain.errors import AscertainError, FileError
from ascertain.model.files.json_text import parse_json
from ascertain.task.canonical import canonical_bytes

FORMAT = "ascertain-store 2"
TIMES = "microseconds"
"""The key of a result under which stands what differs each time: how long its parts took."""
_SCHEMA = (
    ("about", "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"),
    ("result", "CREATE TABLE result (number INTEGER PRIMARY KEY, data TEXT NOT NULL)"),
    ("times", "CREATE TABLE times (number INTEGER PRIMARY KEY, data TEXT NOT NULL)"),
)
_SELECT = {
    "result": "SELECT number, data FROM result ORDER BY number",
    "times": "SELECT number, data FROM times ORDER BY number",
}
_DAMAGE = (UnicodeDecodeError, MemoryError)
"""What else SQLite raises over damaged files: names that are not UTF-8, and lengths that no memory has room for."""


@final
class Store:
    """Results by number. Made by `create_store` or `open_store`; used in a `with` block or closed by hand."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    def __len__(self) -> int:
        with _told(self.path):
            return int(self._connection.execute("SELECT count(*) FROM result").fetchone()[0])

    def numbers(self) -> set[int]:
        """The operations that have a result."""
        return {number for number, _ in self._rows("result")}

    def results(self) -> Iterator[tuple[int, Any]]:
        """Numbers and results, in order, with their times."""
        times = dict(self._rows("times"))
        for number, text in self._rows("result"):
            result = parse_json(text, f"{self.path}: result {number}")
            if number in times:
                if not isinstance(result, dict):
                    raise FileError(f"{self.path}: result {number} has times but is no table; the store is damaged")
                result[TIMES] = parse_json(times[number], f"{self.path}: times {number}")
            yield number, result

    def _rows(self, table: Literal["result", "times"]) -> Iterator[tuple[int, str]]:
        """Numbers and texts, in order; the file may have been damaged since they were written."""
        with _told(self.path):
            for number, text in self._connection.execute(_SELECT[table]):
                if type(number) is not int or not isinstance(text, str):
                    raise FileError(f"{self.path}: {table} {number} is not text; the store is damaged")
                yield number, text

    def add(self, results: Iterable[tuple[int, Any]]) -> None:
        """Results of one chunk, all of them or, should this be interrupted, none."""
        rows: list[tuple[int, str]] = []
        times: list[tuple[int, str]] = []
        for number, data in results:
            result, taken = _part(data)
            rows.append((number, canonical_bytes(result).decode()))
            if taken is not None:
                times.append((number, canonical_bytes(taken).decode()))
        with _told(self.path), self._connection:
            self._connection.executemany("INSERT INTO result VALUES (?, ?)", rows)
            self._connection.executemany("INSERT INTO times VALUES (?, ?)", times)

    def export(self) -> bytes:
        """Every result as a line of JSON, in order: the same bytes for the same campaign, as times are left out."""
        return b"".join(b'{"number":%d,"result":%s}\n' % (n, text.encode()) for n, text in self._rows("result"))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _part(data: object) -> tuple[object, object]:
    """A result without its times, and these or None."""
    if not isinstance(data, dict):
        return data, None
    result = dict(cast("dict[str, object]", data))
    times = result.pop(TIMES, None)
    return result, times


def create_store(path: Path, about: Mapping[str, str]) -> Store:
    """A new, empty store; `about` says which study and settings it belongs to."""
    if path.exists():
        raise FileError(
            f"{path}: this file is already there; go on with --resume, or name a new study with --study NAME"
        )
    connection = _connect(path)
    try:
        with _told(path), connection:
            _log_ahead(connection)
            connection.execute("BEGIN")
            for _, sql in _SCHEMA:
                connection.execute(sql)
            connection.executemany("INSERT INTO about VALUES (?, ?)", {"format": FORMAT, **about}.items())
    except BaseException:
        connection.close()
        raise
    return Store(path, connection)


def open_store(path: Path, about: Mapping[str, str]) -> Store:
    """A store to be resumed; it must have been made for the same study and settings."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such store to resume")
    connection = _connect(path)
    try:
        _check_about(path, _read_about(path, connection), about)
        with _told(path):
            _log_ahead(connection)
    except BaseException:
        connection.close()
        raise
    return Store(path, connection)


def _check_about(path: Path, found: Mapping[Any, Any], about: Mapping[str, str]) -> None:
    for name, value in {"format": FORMAT, **about}.items():
        if name == "measured" and found.get(name) != value:
            raise FileError(
                f"{path}: an earlier version of this study measured something else, so that its results cannot be gone "
                "on with; compute them again: name a new study with --study NAME, or give another folder with --out"
            )
        if found.get(name) != value:
            raise FileError(
                f"{path}: it was begun with {name} {found.get(name, 'unknown')!s:.16}, and this is {value:.16}; "
                "settings are frozen once evaluation began: name a new study with --study NAME"
            )


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Changes the file, so that one which is no store must have been refused before."""
    connection.execute("PRAGMA journal_mode = WAL")


def _read_about(path: Path, connection: sqlite3.Connection) -> dict[Any, Any]:
    """What the store says about itself. A schema other than ours is refused first, so that no view of it is run."""
    try:
        schema = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchmany(len(_SCHEMA) + 1)
        if tuple(schema) != _SCHEMA:
            raise FileError(f"{path}: this is not a store of results")
        return dict(connection.execute("SELECT name, value FROM about").fetchall())
    except (sqlite3.DatabaseError, *_DAMAGE):
        raise FileError(f"{path}: this is not a store of results, or it is damaged") from None


def _connect(path: Path) -> sqlite3.Connection:
    with _told(path):
        connection = sqlite3.connect(path)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
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
        name = getattr(value, "sqlite_errorname", "")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or isinstance(value, _DAMAGE):
            raise FileError(f"{self.path}: the store is damaged, or is none; restore it from a copy") from None
        if isinstance(value, sqlite3.Error):
            raise FileError(f"{self.path}: {value}; a store has one writer, on a disk with room") from None
