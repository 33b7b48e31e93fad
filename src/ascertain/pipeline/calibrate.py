"""Calibrate: how many shells of a bank to keep, from a user's own operations of which it is known how they ended.

operations with their true ends -> compile each -> the rank of its truth -> calibration (`bank/calibrate.py`)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ascertain.bank.calibration_file import Calibration, hash_declarations
from ascertain.bank.compile import DEFAULT_COMPILER, compile_bank
from ascertain.bank.operation import Operation
from ascertain.bank.shells import Rank, rank_state
from ascertain.errors import TaskError
from ascertain.types import Progress, State

Ended: TypeAlias = tuple[Operation, State | str]
"""An operation, and the state that it truly ended in, by number or by name."""


def calibrate(
    blocks: Sequence[Sequence[Ended]],
    *,
    strata: Sequence[str] | None = None,
    compiler: str = DEFAULT_COMPILER,
    place: int = 1,
    progress: Progress | None = None,
) -> Calibration:
    """Find how many shells cover the next block of operations, and how likely that is at least.

    `blocks[i]` holds one operation of every stratum, in the order of `strata`; blocks must be exchangeable, such as
    days drawn alike. `place` takes the so many-th largest rank instead of the largest. The calibration speaks of
    operations with the same models and declarations, which its `settings_hash` stands for.
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
    )


def rank_end(operation: Operation, end: State | str, compiler: str = DEFAULT_COMPILER) -> Rank:
    """How many shells of the operation's bank have to be kept to keep the state that it truly ended in."""
    model = operation.model
    state = model.state_named(end, "true end") if isinstance(end, str) else end
    if not 0 <= state < model.num_states:
        raise TaskError(f"the true end is state {state}; states are 0 .. {model.num_states - 1}")
    return rank_state(compile_bank(operation, compiler), state)
