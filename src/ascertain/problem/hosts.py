"""The hosts of a fleet: a CSV file with a name each and whatever the plant is told of it, or a pattern of names.

    name,host,port
    north,10.0.0.4,5000
    south,10.0.0.5,5000

The text of the plant, and the address of a wiring file, name columns in braces: `tcp://{host}:{port}`. A column
`identity` is what that plant must say that it is. A pattern such as `box-[01-20]` stands for box-01, ..., box-20, which
have a name and nothing else; several ranges stand for all combinations. So do names and patterns with commas between
them: `north,box-[01-20]`.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import final

from ascertain.errors import FileError, TaskError, did_you_mean
from ascertain.model.files.text import read_text

MAX_HOSTS = 100_000
"""Hosts of one fleet: all of their results are held in memory."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""A name of a host, which is also that of its journal."""
_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"\[([0-9]{1,9})-([0-9]{1,9})\]")


@final
@dataclass(frozen=True)
class Host:
    """One plant of a fleet: its name, and what else is known of it by column."""

    name: str
    values: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def identity(self) -> str | None:
        """What the plant must say that it is; None where the file does not say."""
        return self.values.get("identity") or None

    def fill(self, text: str) -> str:
        """The text with its columns filled in; those of a command are quoted, so that each stays part of one word."""
        known = {"name": self.name, **self.values}
        quote = shlex.quote if text.startswith("exec:") else str

        def value(match: re.Match[str]) -> str:
            if match[1] not in known:
                hint = did_you_mean(match[1], known) or f"; there are {', '.join(known)}"
                raise TaskError(
                    f"--plant: {text[:80]!r} names {match[0][:40]!r}, which is no column of the hosts{hint}"
                )
            return quote(known[match[1]])

        return _BRACES.sub(value, text)


def read_hosts(source: str | Path) -> tuple[Host, ...]:
    """The hosts of a file, or of names and patterns where there is no such file."""
    text = str(source)
    if not os.path.exists(text) and (_RANGE.search(text) or "," in text):
        hosts = tuple(host for part in text.split(",") if part.strip() for host in _expand(part.strip()))
    else:
        hosts = _read(Path(source))
    if not hosts:
        raise FileError(f"{source}: there are no hosts; a row each is needed")
    if len(hosts) > MAX_HOSTS:
        raise FileError(f"{source}: more than {MAX_HOSTS} hosts")
    seen = set[str]()
    for host in hosts:
        # Journals are named after hosts, and some disks do not tell capitals apart.
        if host.name.casefold() in seen:
            raise FileError(f"{source}: two hosts are called {host.name!r}; names must differ")
        seen.add(host.name.casefold())
    return hosts


def _read(path: Path) -> tuple[Host, ...]:
    reader = csv.reader(io.StringIO(read_text(path)), strict=True)
    hosts: list[Host] = []
    try:
        header = [name.strip() for name in next(reader, list[str]())]
        if header.count("name") != 1 or len(set(header)) < len(header) or not all(map(_COLUMN.fullmatch, header)):
            raise FileError(
                f"{path}:1: the columns are {','.join(header)[:80]!r}; one called 'name' is needed, and others that "
                "the plant names in braces, such as name,host,port"
            )
        for row in filter(None, reader):
            where = f"{path}:{reader.line_num}"
            if len(row) != len(header):
                raise FileError(f"{where}: {len(row)} fields where the header has {len(header)}")
            values = {key: value.strip() for key, value in zip(header, row, strict=True)}
            if not all(value.isprintable() for value in values.values()):
                raise FileError(f"{where}: a value has characters that cannot be printed")
            hosts.append(Host(_check_name(values.pop("name"), where), values))
    except csv.Error as reason:
        raise FileError(f"{path}:{reader.line_num}: not CSV: {reason}") from None
    return tuple(hosts)


def _expand(pattern: str) -> tuple[Host, ...]:
    """All names that the pattern stands for, in the order of their numbers."""
    parts = _RANGE.split(pattern)
    fixed, ranges = parts[::3], list(zip(parts[1::3], parts[2::3], strict=True))
    number = 1
    for first, last in ranges:
        number *= max(0, int(last) - int(first) + 1)
    if not 0 < number <= MAX_HOSTS:
        raise TaskError(f"--hosts: {pattern[:80]!r} stands for {number} names; 1 to {MAX_HOSTS} are possible")
    counted = [[f"{i:0{len(first)}d}" for i in range(int(first), int(last) + 1)] for first, last in ranges]
    names = ["".join(x for pair in zip(fixed, (*each, ""), strict=True) for x in pair) for each in product(*counted)]
    return tuple(Host(_check_name(name, "--hosts")) for name in names)


def _check_name(name: str, where: str) -> str:
    if not _NAME.fullmatch(name):
        raise FileError(
            f"{where}: {name[:80]!r} cannot name a host; write letters, digits, '.', '_' and '-', up to 100"
        )
    return name
