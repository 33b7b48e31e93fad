"""A commented problem file to start from, with a small machine inside: `starter.toml`, with FILE for its own name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ascertain.errors import FileError
from ascertain.writing import write_whole


def write_starter(path: str | Path, *, force: bool = False) -> None:
    """Write the starter; a file that is there already is written over only with `force`."""
    path = Path(path)
    if path.exists() and not force:
        raise FileError(f"{path}: this file is there already; choose another name or add --force")
    text = files("ascertain.problem").joinpath("starter.toml").read_text(encoding="utf-8")
    write_whole(path, text.replace("FILE", str(path)).encode())
