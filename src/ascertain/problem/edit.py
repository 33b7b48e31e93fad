"""Edits of a problem file's text: one key at a time, comments kept, and the line that an error is about.

An edit is done on the lines and then checked: what the new text says is what the old one said, with that key changed.
Where a line cannot be found, because a value is written in some other way, the edit is refused and the text is left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ascertain.errors import FileError, TaskError
from ascertain.model.files.text import parse_toml
from ascertain.problem.problem import Problem, read_any_problem
from ascertain.writing import write_whole

_HEADER = re.compile(r"\s*\[\s*([A-Za-z_]+)\s*\]")
"""The line that begins a section."""
_NAMED = re.compile(r"\[([a-z_]+)\] ?([\w-]*)|^([a-z_]+):")
"""How error messages name a section and its key, or a key outside all sections."""


def set_key(text: str, section: str, key: str, value: int | str | list[str] | None) -> str:
    """The text with this key of a section saying something else; None takes it out, an empty section is made."""
    before = parse_toml(text, "the problem", parse_float=str)
    if before.get(section, {}).get(key) == value:
        return text
    lines = text.splitlines()
    begin, end = _find_section(lines, section)
    name = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
    written = None if value is None else f"{name} = {json.dumps(value, ensure_ascii=False)}"
    place = next((n for n in range(begin, end) if _key_of(lines[n]) == key), None)
    if place is not None:
        lines[place : place + 1] = [] if written is None else [written]
    elif written is not None and begin:
        lines.insert(begin, written)
    elif written is not None:
        lines += ["", f"[{section}]", written]
    after = "\n".join(lines) + "\n"
    wanted = {**before, section: {**before.get(section, {}), key: value}}
    if value is None:
        del wanted[section][key]
    try:
        done = parse_toml(after, "the problem", parse_float=str)
    except FileError:
        done = {}
    if _plain(done) != _plain(wanted):
        raise TaskError(f"[{section}] {key}: it is written over several lines; edit it in the text")
    return after


def find_line(text: str, sentence: str) -> int | None:
    """The line, from 1, that an error message about a problem's text is about; None where it names none."""
    if found := re.search(r"\bline (\d+)", sentence):
        return int(found[1])
    named = _NAMED.search(re.sub(r"^[^\[]*?\.toml: ", "", sentence))
    lines, section = text.splitlines(), "" if named is None else named[1] or named[3]
    begin, end = _find_section(lines, section) if section else (0, 0)
    where = range(begin, end) if begin else range(len(lines))
    words = [a or b for a, b in re.findall(r"'([^']+)'|\b([a-z_]+):", sentence)]
    for key in [*([named[2] or named[3]] if named else []), *words]:
        if found_at := next((n + 1 for n in where if _key_of(lines[n]) == key), None):
            return found_at
    return begin or None


def named_files(text: str) -> list[str]:
    """The files that a problem's text names, as they are written."""
    data = parse_toml(text, "the problem", parse_float=str)
    task, operation = _table(data.get("task")), _table(data.get("operation"))
    several = data.get("models")
    found: list[Any] = [data.get("model"), *(several if isinstance(several, list) else [])]
    found += [_table(task.get("hypotheses")).get("log"), operation.get("log"), operation.get("calibration")]
    return [name for name in found if isinstance(name, str)]


def save_problem(path: Path, text: str) -> Problem:
    """Write the text over the problem file, if it can be read as one; the problem that it poses."""
    problem = read_any_problem(path, text)
    write_whole(path, text.encode())
    return problem


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without sections that say nothing."""
    return {key: value for key, value in data.items() if value != {}}


def _find_section(lines: list[str], section: str) -> tuple[int, int]:
    """Where the lines of a section begin and end; (0, 0) where there is none."""
    begin = next((n + 1 for n, line in enumerate(lines) if (m := _HEADER.match(line)) and m[1] == section), 0)
    if not begin:
        return 0, 0
    return begin, next((n for n in range(begin, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))


def _key_of(line: str) -> str | None:
    """The key that a line begins with."""
    name = line.partition("=")[0].strip()
    if name[:1] in "\"'" and name[-1:] == name[:1] and len(name) > 1:
        return json.loads(name) if name[0] == '"' else name[1:-1]
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) and "=" in line else None
