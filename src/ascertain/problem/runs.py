"""Logged operations whose true ends are known: a row for each, in CSV or JSON Lines, to calibrate on.

    log,end,block,group
    monday-1.csv,open,monday,line A
    monday-2.csv,shut,monday,line A
    tuesday-1.csv,open,tuesday,line B

`log` is a file beside this one, `end` the state that the plant truly ended in. Operations of one `block` are covered
together or not at all; without that column every operation is a block. `group` is what is known of a block before its
operations are looked at; it is the same in all rows of a block. `start` is where an operation began, if that is not
what the problem file says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from ascertain.bank.operation import Operation
from ascertain.errors import FileError, ModelError, TaskError
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import Problem
from ascertain.task.log import read_rows
from ascertain.types import State

COLUMNS = ("log", "end", "block", "group", "start")
"""What a row may say; the first two are needed."""
MAX_RUNS = 100_000
"""Operations in one file: all of them are held in memory, and these promise a coverage of 1 - 1/100001."""


@final
@dataclass(frozen=True)
class KnownRun:
    """An operation, the state that it truly ended in, and the block and group that it belongs to."""

    operation: Operation
    end: State
    block: str
    group: str | None


def pose_runs(problem: Problem, path: Path) -> tuple[KnownRun, ...]:
    """The runs of a file, each under the declarations of the problem's section [operation]."""
    if problem.operation is None:
        raise TaskError(f"{problem.path}: a section [operation] with what is declared about the operations is needed")
    runs: list[KnownRun] = []
    groups: dict[str, str | None] = {}
    for line, row in read_rows(path, COLUMNS, 2):
        if len(runs) == MAX_RUNS:
            raise FileError(f"{path}:{line}: more than {MAX_RUNS} operations; calibrate on fewer")
        run = _pose(problem, path, line, row)
        if groups.setdefault(run.block, run.group) != run.group:
            raise FileError(f"{path}:{line}: the block {run.block!r} has operations of two groups; name one of them")
        runs.append(run)
    if not runs:
        raise FileError(f"{path}: the file lists no operations; at least one row is needed")
    if None in groups.values() and any(groups.values()):
        raise FileError(f"{path}: some blocks have a group and some have none; give each of them one, or leave all out")
    return tuple(runs)


def _pose(problem: Problem, path: Path, line: int, row: dict[str, Any]) -> KnownRun:
    assert problem.operation is not None
    for name in COLUMNS:
        value = row.get(name, "")
        if not isinstance(value, str) or not value.isprintable() or (not value and name in COLUMNS[:2]):
            raise FileError(f"{path}:{line}: {name} must be text that can be printed, and not empty")
    start = row.get("start") or problem.operation.start
    declared = replace(problem.operation, log=path.parent / row["log"], start=start)
    try:
        operation = pose_operation(replace(problem, operation=declared))
        end = operation.model.state_named(row["end"], "end")
    except (ModelError, TaskError) as reason:
        raise FileError(f"{path}:{line}: {reason}") from None
    return KnownRun(operation, end, row.get("block") or f"row {line}", row.get("group") or None)
