"""The folder that the page was started in: the only place that files are read from and written to."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, cast, final

from ascertain.errors import FileError, TaskError
from ascertain.problem.edit import named_files
from ascertain.problem.plants import find_kind

MOST_FILES = 500
"""Files of a kind that are offered: more are chosen by their names from nobody's list."""
MAX_BYTES = 2**20
"""Of a problem or wiring file: models may be larger, and are files of their own."""
DEEPEST = 4
"""Folders below the first one: a project, not a disk."""
WITHOUT_PROGRAMS = ("simulated", "manual", "replay", "wiring")
"""The kinds of plants that run no program that is named in a text."""
WIRED_WITHOUT_PROGRAMS = ("opcua", "modbus", "scpi", "serial", "mqtt", "http")
"""The kinds of wiring that speak to a device and run no code; those of other packages may. A socket of the line
protocol is one of them too, a program is not."""


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
        found = [path.with_suffix("") for path in self._walk(".head")]
        kept = [path for path in found if path.is_file() and self._holds(path)]
        return [self.name(path) for path in sorted(kept, key=lambda path: -path.stat().st_mtime)][:MOST_FILES]

    def list_json(self) -> list[str]:
        """Tasks and certificates."""
        return [self.name(path) for path in islice(self._walk(".json"), MOST_FILES)]

    def list_hosts(self) -> list[str]:
        """The files that may name the hosts of a fleet."""
        return [self.name(path) for path in islice(self._walk(".csv"), MOST_FILES)]

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

    def check_problem(self, name: str) -> None:
        """The same of the file as it is now."""
        self.check_text(name, self.read_problem(name))

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

    def check_fleet(self, plant: str, hosts: str) -> tuple[str, str]:
        """The plant and the hosts of a fleet as the road takes them; hosts are a file of the folder, names, a pattern.

        What a host fills in is part of an address: the name of a file it cannot choose.
        """
        checked = self.check_plant(plant)
        kind, _ = find_kind(plant)
        if kind.reads_file and "{" in checked:
            raise TaskError(f"{plant}: braces stand in the address of a wiring file, and not in its name")
        if not hosts.strip():
            raise TaskError("say which hosts: a file (.csv) of this folder, names with commas, or box-[01-20]")
        path = self.find(hosts.strip())
        return checked, str(path) if os.path.isfile(path) else hosts.strip()

    def _may_wire(self, data: Mapping[str, Any]) -> bool:
        plant: Any = data.get("plant")
        said: dict[str, Any] = cast("dict[str, Any]", plant) if isinstance(plant, dict) else {}
        socket = said.get("kind") == "lines" and str(said.get("address")).startswith("tcp://")
        return self.allow_exec or socket or said.get("kind") in WIRED_WITHOUT_PROGRAMS

    def _walk(self, suffix: str) -> Iterator[Path]:
        """The files of this kind; those that are not in the folder, being links, are left out."""
        for here, folders, files in os.walk(self.root):
            depth = len(Path(here).relative_to(self.root).parts)
            folders[:] = [f for f in sorted(folders) if not f.startswith(".") and depth < DEEPEST]
            for file in sorted(files):
                path = Path(here) / file
                if file.endswith(suffix) and not file.startswith(".") and path.is_file() and self._holds(path):
                    yield path

    def _holds(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self.root)

    def _read_toml(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for path in islice(self._walk(".toml"), MOST_FILES):
            yield self.name(path), _read(path)


def _read(path: Path) -> Mapping[str, Any]:
    """What a TOML file says; nothing where it cannot be read."""
    try:
        about = path.stat()
    except OSError:
        return {}
    return {} if about.st_size > MAX_BYTES else _read_version(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=2 * MOST_FILES)
def _read_version(path: Path, *_version: int) -> Mapping[str, Any]:
    """A file as it was then: lists of files are asked for often, and large ones take long to read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
