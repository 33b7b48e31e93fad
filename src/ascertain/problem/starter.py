"""Commented files to start from: a problem with a small machine inside, and a wiring file for each kind of transport.

In a template FILE stands for the file's own name.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ascertain.errors import FileError
from ascertain.plant import find_adapter
from ascertain.writing import write_whole


def write_starter(path: str | Path, *, plant: str | None = None, force: bool = False) -> None:
    """Write the starter of a problem or, with `plant`, of a wiring file of that kind.

    A file that is there already is written over only with `force`.
    """
    path = Path(path)
    adapter = None if plant is None else find_adapter(plant, "--plant")
    if path.exists() and not force:
        raise FileError(f"{path}: this file is there already; choose another name or add --force")
    if adapter is None:
        text = files("ascertain.problem").joinpath("starter.toml").read_text(encoding="utf-8")
    else:
        text = adapter.template()
    write_whole(path, text.replace("FILE", str(path)).encode())
