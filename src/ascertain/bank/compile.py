"""Compiling an operation: every state that it may have ended in, by any of the compilers, which give one answer.

Compilers differ in what the answer takes, never in the answer. To add one, write a file in `compilers/` with a
`Compiler` at its top, call `COMPILERS.register`, or declare an entry point in the group `ascertain.compilers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from ascertain.bank.candidates import Compiled
from ascertain.bank.layers import MEMORY_LIMIT
from ascertain.bank.operation import Operation
from ascertain.errors import TaskError
from ascertain.interruption import look_up
from ascertain.registry import Registry
from ascertain.types import Progress

DEFAULT_COMPILER = "merging"
"""The one that takes fewest model steps: 1.6 million where the exhaustive one takes 302 million on the testbed."""


CompileFunction: TypeAlias = Callable[[Operation, int | None, int, Progress | None], Compiled]
"""From an operation to its candidates: all of them, or those of as many first shells as the second argument says. The
others are a memory limit in bytes and what is called with how much of how much is done."""


@final
@dataclass(frozen=True, eq=False)
class Compiler:
    """A compiler by name, as problem files and the command line write it."""

    name: str
    compile: CompileFunction
    first_shells: int | None = None
    """How many first shells it gives where it is not said how many; None: all of them."""


COMPILERS: Registry[Compiler] = Registry(
    Compiler, "ascertain.bank.compilers", "ascertain.compilers", lambda compiler: [compiler.name]
)
"""Every compiler by its name; those of this package stand in the files of `compilers/`."""


def compiler_names() -> tuple[str, ...]:
    """The names of all compilers, the default first."""
    return (DEFAULT_COMPILER, *sorted({*COMPILERS.words()} - {DEFAULT_COMPILER}))


def find_compiler(name: str) -> Compiler:
    """The compiler of that name."""
    compiler = COMPILERS.find(name)
    if compiler is None:
        raise TaskError(f"{name!r} is not a compiler; known are {', '.join(compiler_names())}")
    return compiler


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
    much of how much is done: positions of the log, or evaluations. Where time is limited (`interruption.py`), compiling
    stops at the first report of progress after it is over.
    """
    found = find_compiler(compiler)
    if shells is not None and shells < 1:
        raise TaskError(f"shells is {shells}; at least one must be asked for")

    def report(done: int, total: int) -> None:
        look_up()
        if progress is not None:
            progress(done, total)

    return found.compile(operation, shells, memory_limit, report)
