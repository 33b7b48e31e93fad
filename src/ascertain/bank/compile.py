"""Compiling an operation: every state that it may have ended in, by any of the compilers, which give one answer."""

from __future__ import annotations

from ascertain.bank.candidates import Compiled
from ascertain.bank.compiler import DEFAULT_COMPILER, Compiler
from ascertain.bank.compilers import COMPILERS
from ascertain.bank.layers import MEMORY_LIMIT
from ascertain.bank.operation import Operation
from ascertain.errors import TaskError
from ascertain.types import Progress


def compiler_names() -> tuple[str, ...]:
    """The names of all compilers, the default first."""
    return (DEFAULT_COMPILER, *sorted(COMPILERS.keys() - {DEFAULT_COMPILER}))


def find_compiler(name: str) -> Compiler:
    """The compiler of that name."""
    if name not in COMPILERS:
        raise TaskError(f"{name!r} is not a compiler; known are {', '.join(compiler_names())}")
    return COMPILERS[name]


def compile_bank(
    operation: Operation,
    compiler: str = DEFAULT_COMPILER,
    *,
    shells: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> Compiled:
    """The candidates of an operation, all of them or those of the first `shells` shells.

    The direct compiler always gives first shells only, eight if it is not said how many. `progress` is called with how
    much of how much is done: positions of the log, or evaluations.
    """
    compile_operation = find_compiler(compiler)
    if shells is not None and shells < 1:
        raise TaskError(f"shells is {shells}; at least one must be asked for")
    return compile_operation(operation, shells=shells, memory_limit=memory_limit, progress=progress)
