"""Calibrate: how many shells of a bank to keep, from a user's own operations of which it is known how they ended.

operations with their true ends -> compile each -> the rank of its truth -> calibration (`bank/calibrate.py`)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ascertain.bank.calibrate import largest_rank
from ascertain.bank.calibration_file import Calibration, calibration_data, hash_declarations, write_calibration
from ascertain.bank.compile import DEFAULT_COMPILER, compile_bank
from ascertain.bank.operation import Operation
from ascertain.bank.shells import Rank, rank_state
from ascertain.errors import TaskError
from ascertain.problem.problem import Problem, as_problem
from ascertain.problem.runs import pose_runs
from ascertain.types import Progress, State

Ended: TypeAlias = tuple[Operation, State | str]
"""An operation, and the state that it truly ended in, by number or by name."""


def calibrate(
    blocks: Sequence[Sequence[Ended]],
    *,
    strata: Sequence[str] | None = None,
    compiler: str = DEFAULT_COMPILER,
    place: int = 1,
    groups: Sequence[str] = (),
    progress: Progress | None = None,
) -> Calibration:
    """Find how many shells cover the next block of operations, and how likely that is at least.

    `blocks[i]` holds one operation of every stratum, in the order of `strata`; blocks must be exchangeable, such as
    days drawn alike. `place` takes the so many-th largest rank instead of the largest. `groups` names for every block
    what was known of it beforehand, such as which plant; each group is then calibrated by itself as well. The
    calibration speaks of operations with the same models and declarations, which its `settings_hash` stands for.
    """
    width = len(blocks[0]) if blocks else 0
    if not width or any(len(block) != width for block in blocks):
        raise TaskError("calibration needs at least one block, and in every block one operation of each stratum")
    ranks: list[tuple[Rank, ...]] = []
    for block in blocks:
        ranks.append(tuple(rank_end(operation, end, compiler) for operation, end in block))
        if progress is not None:
            progress(len(ranks), len(blocks))
    return Calibration(
        settings="operations",
        settings_hash=hash_declarations([[operation for operation, _ in block] for block in blocks]),
        compiler=compiler,
        seeds=(),
        strata=tuple(strata) if strata is not None else tuple(f"stratum {s}" for s in range(width)),
        blocks=tuple(f"block {i}" for i in range(len(blocks))),
        ranks=tuple(ranks),
        place=place,
        groups=tuple(groups),
    )


def calibrate_runs(
    problem: Problem | str | Path,
    runs: str | Path,
    *,
    compiler: str | None = None,
    place: int = 1,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """The same from logged operations of one's own plant whose true ends are known, listed in the file `runs`.

    A row of the file names a log and the state that the operation truly ended in, and, if wanted, the block and the
    group that it belongs to (`docs/formats.md`). What is declared about all of them is the section [operation] of
    the `problem`. A block is covered whole when all its operations are. The calibration is also written to the file
    `out`, which [operation] calibration may then name. `progress` hears how many operations are done.
    """
    posed = as_problem(problem).require_machine()
    found = pose_runs(posed, Path(runs))
    used = compiler or posed.observe.compiler
    ranks: dict[str, list[Rank]] = {}
    for done, run in enumerate(found, start=1):
        ranks.setdefault(run.block, []).append(rank_end(run.operation, run.end, used))
        if progress is not None:
            progress(done, len(found))
    groups = {run.block: run.group for run in found if run.group is not None}
    calibration = Calibration(
        settings=posed.path.name,
        settings_hash=hash_declarations([[run.operation] for run in found]),
        compiler=used,
        seeds=(),
        strata=("operations",),
        blocks=tuple(ranks),
        ranks=tuple((largest_rank(row),) for row in ranks.values()),
        place=place,
        groups=tuple(groups.values()),
    )
    if out is not None:
        write_calibration(calibration, out)
    return calibration


def calibration_facts(calibration: Calibration) -> dict[str, Any]:
    """A calibration as plain data, which is what `calibrate --json` prints."""
    data = calibration_data(calibration)
    return {key: data[key] for key in data if key not in {"format", "version", "made_by"}}


def rank_end(operation: Operation, end: State | str, compiler: str = DEFAULT_COMPILER) -> Rank:
    """How many shells of the operation's bank have to be kept to keep the state that it truly ended in."""
    model = operation.model
    state = model.state_named(end, "true end") if isinstance(end, str) else end
    if not 0 <= state < model.num_states:
        raise TaskError(f"the true end is state {state}; states are 0 .. {model.num_states - 1}")
    return rank_state(compile_bank(operation, compiler), state)
