"""Files read whole and within bounds, or one sentence that says why not.

TOML is read within bounds too. Python's reader takes time and memory that grow with the square of the parts of one
dotted key, so that a key of a few thousand parts, which no format of ours has, is refused before it is read.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, NoReturn

from ascertain.errors import FileError, MissingFileError

MAX_BYTES = 128 * 2**20
"""Whatever is larger is refused before it is read: models have some megabytes, and readers need room besides."""
MAX_PARTS = 100
"""Between the dots of one key of TOML: far more than any key of ours has, and still read at once."""
_LONG_KEY = re.compile(rf"(?:\.[ \t]*+(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+){{{MAX_PARTS}}}")
"""The parts of a key that has more than MAX_PARTS."""


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file of at most MAX_BYTES; a byte-order mark is dropped."""
    data = _read_bytes(Path(path))
    if not data:
        raise FileError(f"{path}: the file is empty; text was expected")
    if b"\0" in data:
        line = 1 + data.count(b"\n", 0, data.index(b"\0"))
        raise FileError(f"{path}: line {line} holds a NUL byte, so this is not text; UTF-8 text was expected")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise FileError(f"{path}: line {line} is not UTF-8; save the file as UTF-8 text") from None


def _read_bytes(path: Path) -> bytes:
    try:
        status = os.stat(path)
        if S_ISDIR(status.st_mode):
            raise FileError(f"{path}: this is a directory; a file was expected")
        if not S_ISREG(status.st_mode):
            raise FileError(f"{path}: this is not a regular file; a file on disk was expected")
        if status.st_size > MAX_BYTES:
            raise FileError(f"{path}: the file has {status.st_size} bytes; at most {MAX_BYTES} are read")
        with open(path, "rb") as stream:
            # A little more than the size that was said, so that a file which grows meanwhile is noticed.
            data = stream.read(status.st_size + 1)
            if len(data) > status.st_size:
                data += stream.read(MAX_BYTES + 1 - len(data))
    except FileNotFoundError:
        raise MissingFileError(f"{path}: there is no such file; check the path{_near(path)}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileError(f"{path}: the file cannot be read ({reason}); a readable file was expected") from None
    if len(data) > MAX_BYTES:
        raise FileError(f"{path}: the file grew past {MAX_BYTES} bytes while it was read; at most that many are read")
    return data


def _near(path: Path) -> str:
    """Where the missing file's name differs in its case only, say so; otherwise nothing."""
    try:
        alike = [p.name for p in path.parent.iterdir() if p.name.lower() == path.name.lower()]
    except OSError:
        return ""
    return f"; did you mean {alike[0]!r}?" if alike else ""


def fail(where: str, problem: str) -> NoReturn:
    """Refuse a file; `where` is its name, with the line where that is known."""
    raise FileError(f"{where}: {problem}")


def cut(text: str, most: int) -> str:
    """The text for an error message, cut where it has more characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def parse_toml(text: str, where: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """What a TOML text holds; `where` begins every error message."""
    if long_key := _LONG_KEY.search(text):
        line = 1 + text.count("\n", 0, long_key.start())
        raise FileError(
            f"{where}: line {line} has a name of more than {MAX_PARTS} parts between dots; no key here has as many"
        )
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as reason:
        raise FileError(f"{where}: this is not TOML: {reason}") from None
    except (ValueError, RecursionError):
        raise FileError(f"{where}: this is not TOML: a number is too long or tables are nested too deeply") from None
