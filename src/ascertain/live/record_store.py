"""Records in an SQLite file, one transaction each: append, and read all of them. The file may come from anyone.

Nothing in a file that was tampered with is run: a schema other than the one table is refused before anything else is
read, and so is a file that is too large, damaged or open elsewhere, each in one sentence. Whoever only looks reads a
copy, because SQLite tidies up after a crash in the file that it opens.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, cast, final

from ascertain.errors import FileError
from ascertain.model.files.json_text import named, parse_json
from ascertain.model.files.text import MAX_BYTES
from ascertain.observer.records import Record
from ascertain.task.canonical import canonical_bytes

if sys.platform != "win32":  # where a file that someone writes to cannot be opened at all
    import fcntl

TABLE = "CREATE TABLE record (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL)"
"""The one table of such a file; one with any other schema is refused."""
PAGE = 1024
"""Bytes of a page of SQLite: records are short, and each is a transaction that writes whole pages."""
MAX_RECORD = 16 * 2**20
"""Bytes of a record, far more than a bank of the largest plant takes; SQLite refuses more."""
PAUSE = 0.02
"""Seconds between two looks at a file that is open elsewhere: a share of risk is taken in about that time."""
DAMAGE = (sqlite3.Error, ValueError, MemoryError)
"""What SQLite raises over damaged files: names that are not UTF-8, and lengths that no memory has room for, too."""
LOCKED = (510, 0x40000002)
"""Length and first of the bytes that SQLite locks in a file; whoever writes has all of them."""
_HELD: set[str] = set()
"""Files that this process writes to: opening and closing one once more would give up the locks on it."""


@final
class RecordStore:
    """The file at a path, made if there is none, and locked; `noun` is what messages call it.

    A file that is open elsewhere is waited for, `wait` seconds at most. With `read_only` the file is left as it is, and
    nothing can be appended.
    """

    def __init__(self, path: Path, noun: str = "journal", *, wait: float = 0.0, read_only: bool = False) -> None:
        self.path, self._noun, self._place, self._holds = path, noun, os.path.abspath(path), False
        if not path.name:
            raise FileError(f"{str(path)!r} is a folder; a {noun} was expected")
        for part in (path, _log_of(path)):
            # One look at each: whoever has the file open may let go of it, and take its log away, at any moment.
            with suppress(FileNotFoundError, NotADirectoryError, ValueError):  # the last one for a name with a NUL byte
                found = os.stat(part)
                if not S_ISREG(found.st_mode):
                    raise FileError(f"{part}: this is not a regular file; a {noun} was expected")
                if found.st_size > MAX_BYTES:
                    raise FileError(f"{path}: the {noun} has more than {MAX_BYTES} bytes; at most that many are read")
        if read_only:
            with tempfile.TemporaryDirectory(prefix="ascertain-") as place:
                self._open(self._copy(Path(place)), may_wait=False)
                self._rows = self._read_rows()
                self._connection.close()
            return
        until = time.monotonic() + wait
        while not self._open(path, may_wait=time.monotonic() < until):
            time.sleep(PAUSE)
        self._rows = self._read_rows()
        self._holds = True
        _HELD.add(self._place)

    def _copy(self, place: Path) -> Path:
        """A copy of the file and of its log, taken while nobody writes."""
        try:
            with ExitStack() as stack:
                if self._place in _HELD:
                    raise BlockingIOError
                _lock(stack.enter_context(self.path.open("rb")))
                for part in (self.path, _log_of(self.path)):
                    if part.exists():
                        shutil.copyfile(part, place / part.name)
        except BlockingIOError:
            raise self._busy() from None
        except OSError as error:
            raise FileError(f"{self.path}: the {self._noun} cannot be read ({error.strerror})") from None
        return place / self.path.name

    def _open(self, file: Path, *, may_wait: bool) -> bool:
        """Whether the file is ours now; that it is not is an error when there is no more time to wait."""
        try:
            self._connection = sqlite3.connect(file, timeout=0, isolation_level=None)
        except (sqlite3.Error, ValueError) as error:
            raise self._refuse(error) from None
        try:
            self._prepare()
        except DAMAGE as error:
            self.close()
            if may_wait and _is_busy(error):
                return False
            raise self._refuse(error) from None
        except BaseException:
            self.close()
            raise
        return True

    def _prepare(self) -> None:
        run = self._connection.execute
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_RECORD)
        for pragma in (
            f"page_size = {PAGE}",
            "trusted_schema = OFF",
            "cell_size_check = ON",
            # Without shared memory: one process holds the file, and what a crash leaves behind is the log alone.
            "locking_mode = EXCLUSIVE",
            "synchronous = FULL",
        ):
            run(f"PRAGMA {pragma}").fetchall()
        run("BEGIN EXCLUSIVE")
        schema = run("SELECT type, name, sql FROM sqlite_master").fetchmany(3)
        run("COMMIT")
        if schema and schema != [("table", "record", TABLE)]:
            raise FileError(
                f"{self.path}: this is not a {self._noun}; choose another file, or one that ascertain has made"
            )
        self._has_table, self._logs_ahead = bool(schema), False

    def _read_rows(self) -> list[tuple[Any, Any, Any]]:
        try:
            every = "SELECT number, body, hash FROM record ORDER BY number"
            return self._connection.execute(every).fetchall() if self._has_table else []
        except DAMAGE as error:
            self.close()
            raise self._refuse(error) from None

    def read(self) -> list[tuple[Record, str]]:
        """All records that there were when the file was opened, with the hash that is kept beside each."""
        return [self._check(number, row) for number, row in enumerate(self._rows)]

    def _check(self, expected: int, row: tuple[Any, Any, Any]) -> tuple[Record, str]:
        number, body, digest = row
        where = f"{self.path}: record {expected}"
        if number != expected or not isinstance(body, str) or not isinstance(digest, str):
            raise FileError(f"{where} is missing or not a record; the {self._noun} has been tampered with")
        data = parse_json(body, where)
        if not isinstance(data, dict) or not isinstance(cast("Record", data).get("record"), str):
            raise FileError(f"{where} is not a record; the {self._noun} has been tampered with")
        return cast("Record", data), digest

    def append(self, number: int, record: Record, digest: str) -> None:
        """Write one more record; it is on disk when this returns, or an error says that it is not there."""
        try:
            self._prepare_to_write()
            self._connection.execute(
                "INSERT INTO record VALUES (?, ?, ?)", (number, canonical_bytes(record).decode(), digest)
            )
        except DAMAGE as error:
            raise self._refuse(error, "written") from None

    def _prepare_to_write(self) -> None:
        """What changes the file is put off until there is something to write: a file that is refused stays as it is."""
        if not self._logs_ahead:
            [mode] = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode != "wal":
                raise FileError(f"{self.path}: a {self._noun} cannot be kept in this place; choose another one")
            self._logs_ahead = True
        if not self._has_table:
            self._connection.execute(TABLE)
            self._has_table = True

    def close(self) -> None:
        """Let go of the file; what cannot be tidied up now is tidied up when it is next opened."""
        if self._holds:
            _HELD.discard(self._place)
        with suppress(sqlite3.Error):
            self._connection.close()

    def _refuse(self, error: Exception, done: str = "opened") -> FileError:
        name = getattr(error, "sqlite_errorname", "")
        if _is_busy(error):
            return self._busy()
        if name == "SQLITE_FULL":
            return FileError(f"{self.path}: the disk is full, so that the record could not be {done}; make room")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or isinstance(error, ValueError | MemoryError):
            return FileError(f"{self.path}: this is not a {self._noun}, or it is damaged; restore it from a copy")
        return FileError(
            f"{self.path}: the {self._noun} cannot be {done} ({named(error)}); check the path and its permissions"
        )

    def _busy(self) -> FileError:
        return FileError(f"{self.path}: the {self._noun} is open in another process; one at a time may write to it")


def _log_of(path: Path) -> Path:
    """Where SQLite keeps what is not yet in the file itself."""
    return path.with_name(f"{path.name}-wal")


def _lock(file: IO[bytes]) -> None:
    """Share a file with others who read, as SQLite does; BlockingIOError where someone writes."""
    if sys.platform != "win32":
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, *LOCKED)


def _is_busy(error: Exception) -> bool:
    """Whether an error says that another process holds the file."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
