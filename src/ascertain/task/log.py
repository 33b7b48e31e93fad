"""The log of an operation: what was sent and what was read, a row for each command.

CSV with a header `command,reading` and, if readings differ in trust, a third column `trusted` (true or false); or JSON
Lines with the same keys. A reading that is trusted is exact; the others may have been flipped. An empty file is bad
input, and so is a row that is not whole: the message names its line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ascertain.errors import FileError
from ascertain.model.files.json_text import decode_or_refuse, named, near
from ascertain.model.files.text import read_text

COLUMNS = ("command", "reading", "trusted")
"""What a row may say; the first two are needed."""
_TRUST = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
"""How trust is written in CSV, where all is text; nothing means that a reading is not trusted."""


@dataclass(frozen=True)
class LogRecord:
    """One command of a log: the line that it stands on, what was sent, what was read, and whether that is exact."""

    line: int
    command: str
    reading: str
    trusted: bool = False


def read_log(path: Path) -> tuple[LogRecord, ...]:
    """The records of a log file; JSON Lines when its name ends in .jsonl or .json, CSV otherwise."""
    records = tuple(_record(path, line, row) for line, row in read_rows(path, COLUMNS, 2))
    if not records:
        raise FileError(f"{path}: the log has no commands; at least one row is needed")
    return records


def read_rows(path: Path, columns: tuple[str, ...], needed: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file, with their lines: JSON Lines by its name, or CSV; the first so many columns are needed."""
    text, is_json = read_text(path), path.suffix in {".jsonl", ".json"}
    return _json_rows(path, text, columns, needed) if is_json else _csv_rows(path, text, columns, needed)


def _csv_rows(path: Path, text: str, columns: tuple[str, ...], needed: int) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = [name.strip() for name in next(reader, list[str]())]
        _check_columns(path, 1, header, columns, needed)
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise FileError(f"{path}:{reader.line_num}: {len(row)} fields where the header has {len(header)}")
            yield reader.line_num, dict(zip(header, row, strict=True))
    except csv.Error as reason:
        raise FileError(f"{path}:{reader.line_num}: not CSV: {reason}") from None


def _json_rows(path: Path, text: str, columns: tuple[str, ...], needed: int) -> Iterator[tuple[int, dict[str, Any]]]:
    example = "{" + ",".join(f'"{name}":"..."' for name in columns[:needed]) + "}"
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip():
            continue
        row = decode_or_refuse(content, f"{path}:{line}", f"a line is like {example}")
        if not isinstance(row, dict):
            raise FileError(f"{path}:{line}: a JSON object with {' and '.join(columns[:needed])} is needed")
        _check_columns(path, line, list(cast(dict[str, Any], row)), columns, needed)
        yield line, cast(dict[str, Any], row)


def _check_columns(path: Path, line: int, names: list[str], columns: tuple[str, ...], needed: int) -> None:
    for name in names:
        if name not in columns:
            raise FileError(
                f"{path}:{line}: unknown column {named(name)}{near(name, columns)}; columns are {', '.join(columns)}"
            )
    for name in columns[:needed]:
        if names.count(name) != 1:
            raise FileError(f"{path}:{line}: one column {name!r} is needed; the columns are {','.join(columns)}")
    for name in columns[needed:]:
        if names.count(name) > 1:
            raise FileError(f"{path}:{line}: the column {name!r} stands twice; once is right")


def _record(path: Path, line: int, row: dict[str, Any]) -> LogRecord:
    command, reading, trusted = (row.get(name, "") for name in COLUMNS)
    for name, value in (("command", command), ("reading", reading)):
        if not isinstance(value, str):
            raise FileError(f"{path}:{line}: {name} must be text")
    flag = trusted if isinstance(trusted, bool) else _TRUST.get(str(trusted).strip().lower())
    if flag is None:
        raise FileError(f"{path}:{line}: trusted is {str(trusted)[:40]!r}; write true or false")
    return LogRecord(line, str(command), str(reading), flag)
