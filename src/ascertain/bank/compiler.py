"""What a compiler is, and the registry that every file of `compilers/` enters its own into.

A compiler takes an operation and finds the states that it may have ended in, each with its score. All compilers give
one answer; they differ in what it takes. To add one, write a file in `compilers/` whose function registers itself:

    @register("merging")
    def compile_merging(operation, *, shells=None, memory_limit=MEMORY_LIMIT, progress=None) -> Compiled: ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ascertain.bank.candidates import Compiled
from ascertain.bank.operation import Operation
from ascertain.errors import TaskError
from ascertain.types import Progress

DEFAULT_COMPILER = "merging"
"""The one that takes fewest model steps: 1.6 million where the exhaustive one takes 302 million on the testbed."""


class Compiler(Protocol):
    """The candidates of an operation, all of them or those of the first `shells` shells.

    `memory_limit` is in bytes; `progress` is called with how much of how much is done.
    """

    def __call__(
        self,
        operation: Operation,
        *,
        shells: int | None = ...,
        memory_limit: int = ...,
        progress: Progress | None = ...,
    ) -> Compiled: ...


AnyCompiler = TypeVar("AnyCompiler", bound=Compiler)

COMPILERS: dict[str, Compiler] = {}
"""Every compiler that was registered, by name; `ascertain.bank.compilers` registers those of this package."""


def register(name: str) -> Callable[[AnyCompiler], AnyCompiler]:
    """Decorate the function that is the compiler called `name`."""

    def add(compiler: AnyCompiler) -> AnyCompiler:
        if name in COMPILERS:
            raise TaskError(f"there is a compiler {name!r} already")
        COMPILERS[name] = compiler
        return compiler

    return add
