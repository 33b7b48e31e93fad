"""Files written whole or not at all, or one sentence that says why not."""

from __future__ import annotations

import os
from errno import EISDIR
from pathlib import Path
from secrets import token_hex

from ascertain.errors import FileError


def check_place(path: str | Path) -> None:
    """Refuse, before any work is done for it, a file that could not be written: a device would even be replaced."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if target.exists() and not target.is_file():
            raise FileError(f"{path}: this is a device or a pipe, not a file on disk; choose another place")
        target.parent.stat()  # a folder that is not there
    except OSError as error:
        raise _refuse(path, error) from None
    except ValueError as reason:
        raise FileError(f"{str(path)!r} cannot be the name of a file ({reason}); choose another one") from None


def write_whole(path: str | Path, data: bytes, *, only_writer: bool = False) -> None:
    """Write beside the place first and then put it there, so that no one ever sees half a file.

    The only writer of a file always writes beside it under the same name, so that a crash leaves nothing behind, and
    its folder is synchronised too, so that the file outlives a power failure.
    """
    check_place(path)
    target = Path(os.path.realpath(path))
    beside = target.with_name(f"{target.name}.part" if only_writer else f".{target.name}.{token_hex(4)}.part")
    try:
        with beside.open("wb" if only_writer else "xb") as stream:
            try:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
                beside.replace(target)
            finally:
                beside.unlink(missing_ok=True)
        if only_writer:
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise _refuse(path, error) from None


def _refuse(path: str | Path, error: OSError) -> FileError:
    return FileError(f"{path}: the file cannot be written ({error.strerror}); choose another place")
