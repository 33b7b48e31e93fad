"""The folder that the page was started in: the only place that files are read from and written to."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

from ascertain.errors import FileError, TaskError
from ascertain.problem.edit import named_files
from ascertain.problem.plants import find_kind

MOST_FILES = 500
"""Files that are offered: more are chosen by their names from nobody's list."""
MAX_BYTES = 2**20
"""Of a problem or wiring file: models may be larger, and are files of their own."""
DEEPEST = 4
"""Folders below the first one: a project, not a disk."""
WITHOUT_PROGRAMS = ("simulated", "manual", "replay", "wiring")
"""The kinds of plants that run no program that is named in a text."""
WIRED_WITHOUT_PROGRAMS = ("opcua", "modbus", "scpi", "serial", "mqtt", "http")
"""The kinds of wiring that speak to a device and run no code; those of other packages may."""


@final
@dataclass(frozen=True)
class Folder:
    """A folder, and whether plants may be programs."""

    root: Path
    allow_exec: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(os.path.realpath(self.root)))

    def find(self, name: str) -> Path:
        """The file of this name, relative to the folder; one outside it is refused, links included."""
        if "\0" in name:
            raise FileError("a name holds a NUL byte")
        place = Path(os.path.realpath(self.root / name))
        if not place.is_relative_to(self.root) or place == self.root:
            raise FileError(f"{name}: the file is not in the folder that the page was started in")
        return place

    def name(self, path: Path) -> str:
        """How the page calls a file of the folder."""
        return path.relative_to(self.root).as_posix()

    def list_problems(self) -> list[str]:
        """The problem files."""
        return [name for name, data in self._read_toml() if "model" in data or "models" in data]

    def list_wirings(self) -> list[str]:
        """The wiring files whose plants may be asked."""
        return [name for name, data in self._read_toml() if "plant" in data and self._may_wire(data)]

    def list_journals(self) -> list[str]:
        """The journals, the newest first."""
        found = [path for path in self._walk() if Path(f"{path}.head").is_file()]
        return [self.name(path) for path in sorted(found, key=lambda path: -path.stat().st_mtime)]

    def list_json(self) -> list[str]:
        """Tasks and certificates."""
        return [self.name(path) for path in self._walk() if path.suffix == ".json"]

    def read_problem(self, name: str) -> str:
        """The text of a problem file."""
        path = self.find(name)
        try:
            if path.suffix != ".toml" or path.stat().st_size > MAX_BYTES:
                raise FileError(f"{name}: a problem file (.toml) of at most a megabyte is needed")
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise FileError(f"{name}: the file cannot be read as text") from None

    def check_text(self, name: str, text: str) -> None:
        """Refuse a problem that names files outside the folder, before any of them is opened."""
        for file in named_files(text):
            place = Path(os.path.realpath(self.find(name).parent / file))
            if not place.is_relative_to(self.root):
                raise FileError(f"{name}: {file!r} is not in the folder that the page was started in")

    def check_plant(self, text: str) -> str:
        """The plant as a road takes it; programs are refused unless they were allowed at the start."""
        kind, rest = find_kind(text)
        if kind.prefix not in WITHOUT_PROGRAMS and not self.allow_exec:
            raise TaskError(f"{kind.prefix}: the page starts no programs; start it with --allow-exec if it may")
        if kind.prefix == "replay":
            return f"replay:{self.find(rest)}"
        if kind.prefix != "wiring":
            return text
        path = self.find(rest)
        if not self._may_wire(_read(path)):
            raise TaskError(f"{rest}: its plant is a program; start the page with --allow-exec if it may start one")
        return str(path)

    def _may_wire(self, data: Mapping[str, Any]) -> bool:
        plant: Any = data.get("plant")
        kind = cast("dict[str, Any]", plant).get("kind") if isinstance(plant, dict) else None
        return self.allow_exec or kind in WIRED_WITHOUT_PROGRAMS

    def _walk(self) -> Iterator[Path]:
        found = 0
        for here, folders, files in os.walk(self.root):
            depth = len(Path(here).relative_to(self.root).parts)
            folders[:] = [f for f in sorted(folders) if not f.startswith(".") and depth < DEEPEST]
            for file in sorted(files):
                path = Path(here) / file
                if found < MOST_FILES and not file.startswith(".") and path.is_file() and self._holds(path):
                    found += 1
                    yield path

    def _holds(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self.root)

    def _read_toml(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for path in self._walk():
            if path.suffix == ".toml":
                yield self.name(path), _read(path)


def _read(path: Path) -> Mapping[str, Any]:
    """What a TOML file says; nothing where it cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8")) if path.stat().st_size <= MAX_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
