"""Compiling an operation: every state that it may have ended in, by one of three compilers that give one answer."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from ascertain.bank.candidates import Compiled
from ascertain.bank.direct import compile_direct
from ascertain.bank.exhaustive import compile_exhaustive
from ascertain.bank.layers import MEMORY_LIMIT, Progress
from ascertain.bank.merging import compile_merging
from ascertain.bank.operation import Operation
from ascertain.errors import TaskError

Compiler: TypeAlias = Literal["merging", "direct", "exhaustive"]


def compile_bank(
    operation: Operation,
    compiler: Compiler = "merging",
    *,
    shells: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> Compiled:
    """The candidates of an operation, all of them or those of the first `shells` shells.

    The direct compiler always gives first shells only, eight if it is not said how many. `progress` is told how much
    of how much is done: positions of the log, or evaluations.
    """
    if compiler not in get_args(Compiler):
        raise TaskError(f"{compiler!r} is not a compiler; known are {', '.join(get_args(Compiler))}")
    if shells is not None and shells < 1:
        raise TaskError(f"shells is {shells}; at least one must be asked for")
    compilers = {"merging": compile_merging, "direct": compile_direct, "exhaustive": compile_exhaustive}
    return compilers[compiler](operation, shells=shells, memory_limit=memory_limit, progress=progress)
