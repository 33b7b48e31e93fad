"""The one place that decides how kernels run: interpreted at first, as machine code once that is repaid.

A kernel is plain Python that Numba can compile. Small questions need no compiler: a solve of a few states is done
before Numba is even imported. So every kernel has two tiers, which give the same results bit for bit:

* *interpreted*: the function itself, the kernels that it calls being called as plain functions too;
* *compiled*: its machine code, loaded from disk where it was kept, compiled and kept otherwise.

A kernel changes from the first to the second when the seconds that it has spent interpreted, together with those that
the call at hand will take by its own estimate (`work`), reach what the change costs:

* machine code on disk costs LOAD_SECONDS a kernel, once all kernels together have spent IMPORT_SECONDS: Numba itself
  has to be imported for the first;
* otherwise it costs about SECONDS_PER_INSTRUCTION for each bytecode instruction of the kernel and of those it calls.

This is the rule for renting skis: who buys them once the rent has come to their price never pays more than twice what
was best, however long the winter is. Where time is limited (`interruption.py`), a kernel is compiled only while twice
the price is left, and loaded while there is time for that, unless its next call alone is worth it; where the limit is
strict, a call that cannot end in time either way is not made. Kernels whose work
nobody can foresee, such as searches, are *sliced*: their last argument is a limit, and they go on where they stopped
when they are called again. While such a kernel is interpreted, a call is cut into portions, and the kernel may change
between two.

When a kernel changes depends on the clock, so no result may depend on it. Kernels therefore use integers, comparisons,
and of floats only what IEEE 754 rounds correctly (no exp or log: those come as tables), add in a fixed order, and
never rely on wrapping integers. `tests/test_tiers.py` compares the tiers, with changes at every possible place.

ASCERTAIN_KERNELS says "auto" (the rule above, the default), "interpreted" or "compiled". NUMBA_DISABLE_JIT=1 means
interpreted, as everywhere.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, cached_property, partial, update_wrapper
from hashlib import sha1
from importlib import import_module
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, TypeAlias, TypeVar, cast, final, overload

import numpy as np

from ascertain.errors import AscertainError
from ascertain.interruption import begin_work, interrupt, interrupted_by, seconds_left

F = TypeVar("F", bound=Callable[..., Any])
Work: TypeAlias = (
    Callable[[], int]
    | Callable[[Any], int]
    | Callable[[Any, Any], int]
    | Callable[[Any, Any, Any], int]
    | Callable[[Any, Any, Any, Any], int]
)
"""How many passes of innermost loops a call makes, from those arguments of the kernel that are named like these."""

MODES = ("auto", "interpreted", "compiled")
"""What ASCERTAIN_KERNELS can say, the default first."""
IMPORT_SECONDS = 0.5
"""Importing Numba takes about this long."""
SOON = 4
"""Where time is limited, Numba is imported at once when less than so many times what that takes is left."""
LOAD_SECONDS = 0.02
"""Loading the machine code of one kernel takes about this long."""
OVERTIME = 0.2
"""Seconds after its limit in which work is still begun."""
SECONDS_PER_INSTRUCTION = 0.0015
"""Compiling took 1 to 3 ms for each instruction of the kernels of `solve`, `bank` and `observe`, 1.5 in the mean."""
SECONDS_PER_PASS = 1e-6
"""What one pass of an innermost loop, the unit of `work`, takes interpreted."""
PORTION = 50_000
"""Passes that a sliced kernel does at a time: a few hundredths of a second."""
LONG_COMPILING = 2.0
"""Seconds of compiling after which a person who waits is told why."""


@final
class _Tiers:
    """What all kernels of this process share."""

    def __init__(self) -> None:
        self.mode = os.environ.get("ASCERTAIN_KERNELS") or "auto"
        if self.mode not in MODES:
            raise AscertainError(
                f"ASCERTAIN_KERNELS is {self.mode!r}; it can be auto (the default), interpreted or compiled"
            )
        if os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in {"", "0"}:
            self.mode = "interpreted"
        self.seconds = 0.0
        """Spent in interpreted kernels so far."""
        self.compiling = 0.0
        """Seconds that were spent compiling so far, by the clock on the wall."""
        self.interrupted = False
        """Whether Ctrl-C was pressed while `whole_kernels` holds it back."""
        self.tell: Callable[[str, str], None] | None = None
        """Whom to tell when compiling takes long."""


TIERS = _Tiers()


@final
class Kernel:
    """A function in two tiers; called like the function."""

    def __init__(
        self, function: Any, work: Work = lambda: 0, sliced: bool = False, unfinished: int | None = None
    ) -> None:
        update_wrapper(self, function)
        self.function, self.sliced, self.unfinished = function, sliced, unfinished
        self._work: Any = work
        names = function.__code__.co_varnames
        self._worked = [names.index(name) for name in self._work.__code__.co_varnames]
        """Which arguments `work` wants, by the names of its parameters."""
        self.machine_code: Any = None
        """What a call goes to once the kernel has changed."""
        self.seconds = 0.0
        """Spent interpreted so far."""
        self.may_load = True
        """Whether the disk may hold machine code for the calls that are made."""

    def __call__(self, *arguments: Any) -> Any:
        while self.machine_code is None:
            passes = int(self._work(*[arguments[i] for i in self._worked]))
            part, left = arguments, 0
            if self.sliced:
                limit = min(arguments[-1], max(1, PORTION // max(1, passes)))
                part, left = (*arguments[:-1], limit), arguments[-1] - limit
            if self.is_repaid(part, SECONDS_PER_PASS * passes):
                self.machine_code = self.dispatcher
                break
            result = self.interpret(part)
            if left == 0 or self.unfinished is None or result != self.unfinished:
                return _plain(result)
            arguments = (*arguments[:-1], left)
        return self.machine_code(*arguments)

    def __reduce__(self) -> str:
        return self.function.__qualname__

    def is_repaid(self, arguments: tuple[Any, ...], ahead: float) -> bool:
        """Whether the work so far, and the seconds ahead, are worth the change to machine code; see the module."""
        if TIERS.mode != "auto":
            return TIERS.mode == "compiled"
        own, numba = self.seconds + ahead, 0.0 if "numba" in sys.modules else IMPORT_SECONDS
        left = seconds_left()
        if left is not None and left < numba + LOAD_SECONDS > ahead:
            return False
        if self.may_load and own >= LOAD_SECONDS:
            if not self.has_files:
                self.may_load = False
            elif TIERS.seconds + ahead >= numba or (left is not None and left < SOON * numba):
                if self.can_load(arguments):
                    return True
                self.may_load = False  # the files are stale, or hold code for other types of arguments
        price = self.price + numba
        if left is not None and left < 2 * price:
            return not begin_work(ahead - OVERTIME) and own >= price <= ahead
        return own >= price

    def interpret(self, arguments: tuple[Any, ...]) -> Any:
        """Call the function itself, by the clock."""
        began = time.thread_time()
        result = self.interpreted(*arguments)
        took = time.thread_time() - began
        self.seconds += took
        TIERS.seconds += took
        if TIERS.interrupted and threading.current_thread() is threading.main_thread():
            TIERS.interrupted = False
            raise KeyboardInterrupt
        return result

    @cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function, calling the functions of other kernels and not the kernels."""
        f = self.function
        return FunctionType(f.__code__, _namespace(f.__globals__), f.__name__, f.__defaults__, f.__closure__)

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's side of it. No fastmath: guarantees depend on it. It holds no lock."""
        made = _load_numba().njit(cache=True, nogil=True, boundscheck=False, _nrt=False)(self.function)
        files = made._cache._cache_file
        # Machine code holds that of the kernels it calls, so it is fresh while all their sources are what they were.
        files._source_stamp = _hash_sources()
        try:
            files._load_index()
        except Exception:  # written by another version, about types that are no more
            made._cache.flush()
        return made

    @property
    def _numba_type_(self) -> Any:
        """How Numba sees a kernel in the functions that it compiles: as its machine code."""
        return self.dispatcher._numba_type_

    @cached_property
    def price(self) -> float:
        """The seconds that compiling will take, about."""
        return SECONDS_PER_INSTRUCTION * sum(len(f.__code__.co_code) // 2 for f in self._functions())

    def _functions(self) -> set[Any]:
        """The function and those of all kernels that it calls, directly or not."""
        found: set[Any] = set()
        open_yet = [self.function]
        while open_yet:
            f: Any = open_yet.pop()
            if f not in found:
                found.add(f)
                named = (f.__globals__.get(name) for name in f.__code__.co_names)
                open_yet.extend(value.function for value in named if isinstance(value, Kernel))
        return found

    @property
    def has_files(self) -> bool:
        """Whether there are files of machine code for this kernel where Numba keeps them; a look without Numba."""
        code = self.function.__code__
        source = Path(code.co_filename)
        version = f"py{sys.version_info.major}{sys.version_info.minor}{sys.abiflags}"
        name = f"{source.stem}.{self.function.__qualname__}-{code.co_firstlineno}.{version}.nbi"
        return any((folder / name).is_file() for folder in _cache_folders(source.parent))

    def can_load(self, arguments: tuple[Any, ...]) -> bool:
        """Whether the disk holds machine code for arguments of these types, by Numba's own index."""
        cache = self.dispatcher._cache
        types: tuple[Any, ...] = tuple(self.dispatcher.typeof_pyval(value) for value in arguments)
        key = cache._index_key(types, self.dispatcher.targetctx.codegen())
        return key in cache._cache_file._load_index()


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(*, work: Work, sliced: bool = False, unfinished: int | None = None) -> Callable[[F], F]: ...
def kernel(function: Callable[..., Any] | None = None, /, **said: Any) -> Any:
    """Make a kernel of a function of integers, floats and arrays; see the module.

    `work`, whose parameters are some of the kernel's, says how many passes of innermost loops a call makes, about or at
    most. If the kernel is `sliced`, its last argument is a limit, `work` is that of one step of it, and a call may do
    fewer steps than its limit allows; a call that then returns `unfinished` is gone on with, while any other result,
    or any at all where nothing is said to be unfinished, is the caller's.
    """
    return partial(Kernel, **said) if function is None else Kernel(function)


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether calls of a kernel go to machine code by now."""
    return isinstance(function, Kernel) and function.machine_code is not None


def is_at_hand(function: Callable[..., Any]) -> bool:
    """Whether calls of a kernel go to machine code, or will once they are worth loading it."""
    if not isinstance(function, Kernel) or TIERS.mode == "compiled":
        return True
    return function.machine_code is not None or (TIERS.mode == "auto" and function.may_load and function.has_files)


def expect_seconds(function: Callable[..., Any], passes: int) -> float:
    """What so many passes of a kernel take while it is interpreted; nothing to speak of otherwise."""
    return 0.0 if is_at_hand(function) else SECONDS_PER_PASS * passes


def use_compiled_kernels() -> None:
    """Compile every kernel at its first call, in this process and in those it starts: for the studies of the paper.

    They take minutes to hours on many workers, and some measure how long things take. What ASCERTAIN_KERNELS says comes
    first.
    """
    if TIERS.mode == "auto" and "ASCERTAIN_KERNELS" not in os.environ:
        os.environ["ASCERTAIN_KERNELS"] = TIERS.mode = "compiled"


@contextmanager
def whole_kernels() -> Generator[None]:
    """Hold Ctrl-C back until an interpreted kernel that is at work returns, as machine code does by itself.

    For work that, after Ctrl-C, goes on from what kernels have written.
    """
    with interrupted_by(_interrupt):
        yield


def _interrupt(number: int, frame: FrameType | None) -> None:
    below = frame
    while below is not None:
        if below.f_code is Kernel.interpret.__code__:
            TIERS.interrupted = True
            return
        below = below.f_back
    interrupt(number, frame)


def compiling_seconds() -> float:
    """How long this process has spent compiling, so that times of work can leave it out."""
    return TIERS.compiling


def tell_long_compiling(tell: Callable[[str, str], None]) -> None:
    """Have it called, once, when compiling takes long: with what is being compiled and the folder where it is kept."""
    TIERS.tell = tell


@cache
def _load_numba() -> Any:
    """Numba, imported at first use; from then on its compiling is timed."""
    numba, event = import_module("numba"), import_module("numba.core.event")

    class Stopwatch(event.Listener):
        """Kernels that are called are compiled while their callers are: what counts is the outermost."""

        def __init__(self) -> None:
            self.outermost: Any = None
            self.depth = 0
            self.began = 0.0

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                self.outermost, self.began = event.data["dispatcher"], time.perf_counter()
            self.depth += 1
            self.look()

        def on_end(self, event: Any) -> None:
            self.look()
            self.depth -= 1
            if self.depth == 0:
                TIERS.compiling += time.perf_counter() - self.began

        def look(self) -> None:
            if TIERS.tell is not None and TIERS.compiling + time.perf_counter() - self.began > LONG_COMPILING:
                tell, TIERS.tell = TIERS.tell, None
                f = self.outermost.py_func
                tell(f"{f.__module__.rpartition('kernels.')[2]}.{f.__name__}", str(self.outermost.stats.cache_path))

    event.register("numba:compile", Stopwatch())
    return numba


_NAMESPACES: dict[str, dict[str, Any]] = {}
"""The globals of each module of kernels with kernels replaced by interpreted functions."""


def _namespace(module: dict[str, Any]) -> dict[str, Any]:
    name = module["__name__"]
    if name not in _NAMESPACES:
        found = _NAMESPACES[name] = dict(module)
        found.update({key: value.interpreted for key, value in module.items() if isinstance(value, Kernel)})
    return _NAMESPACES[name]


def _cache_folders(source: Path) -> list[Path]:
    """Where Numba may keep the machine code of modules in this folder."""
    apart = f"{source.name}_{sha1(str(source).encode(), usedforsecurity=False).hexdigest()}"
    if os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(os.environ["NUMBA_CACHE_DIR"]) / apart]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [source / "__pycache__", home / "numba" / apart]


@cache
def _hash_sources() -> str:
    """One hash of all sources of kernels."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return sha1(b"\0".join(path.read_bytes() for path in sources), usedforsecurity=False).hexdigest()


def _plain(result: Any) -> Any:
    """Numbers as machine code returns them, which are Python's and not NumPy's."""
    if isinstance(result, tuple):
        return tuple(_plain(part) for part in cast("tuple[Any, ...]", result))
    return cast("Any", result).item() if isinstance(result, np.generic) else result
