"""Running kernels in either tier, changing where a test says, and looking at what they are given.

A *place* is a moment at which a kernel may change: before a call, and before each further portion of a call that is cut
into some. The places of a run in which nothing changes are numbered from 0, over all kernels.
"""

from __future__ import annotations

import json
import pkgutil
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from copy import deepcopy
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import pytest

import ascertain
from ascertain.kernels import _jit
from ascertain.kernels._jit import TIERS, Kernel

Changing: TypeAlias = Callable[[Kernel], bool]
"""Whether the kernel that is at a place changes there."""
SMALL_PORTION = 300
"""Passes of a portion: so few that small questions need several."""


def never(_: Kernel) -> bool:
    return False


def at_once(_: Kernel) -> bool:
    return True


def from_place(number: int) -> Changing:
    """Every kernel changes that comes to this place or to a later one."""
    place = iter(range(sys.maxsize))
    return lambda _: next(place) >= number


def only_at(number: int) -> Changing:
    """The kernel that comes to this place changes, and no other."""
    place, changed = iter(range(sys.maxsize)), set[Kernel]()

    def changes(kernel: Kernel) -> bool:
        if next(place) == number:
            changed.add(kernel)
        return kernel in changed

    return changes


def name_of(kernel: Kernel) -> str:
    return f"{kernel.function.__module__.removeprefix('ascertain.kernels.')}.{kernel.function.__name__}"


def list_kernels() -> dict[str, Kernel]:
    """All kernels, by name."""
    package = import_module("ascertain.kernels")
    modules = [import_module(m.name) for m in pkgutil.walk_packages(package.__path__, "ascertain.kernels.")]
    found = [v for module in modules for v in vars(module).values() if isinstance(v, Kernel)]
    return {name_of(kernel): kernel for kernel in found}


def list_entrances() -> set[str]:
    """The names of the kernels that code outside `kernels/` calls."""
    for module in pkgutil.walk_packages(ascertain.__path__, "ascertain."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    outside = [m for name, m in sys.modules.items() if name.startswith("ascertain.") and ".kernels" not in name]
    return {name_of(v) for module in outside for v in vars(module).values() if isinstance(v, Kernel)}


@contextmanager
def forget_changes() -> Generator[None]:
    """All kernels as they are when a process starts; afterwards as they were."""
    kernels = list(list_kernels().values())
    before = [(k.machine_code, k.seconds, k.may_load) for k in kernels]
    spent, mode = TIERS.seconds, TIERS.mode
    for kernel in kernels:
        kernel.machine_code, kernel.seconds, kernel.may_load = None, 0.0, True
        kernel.__dict__.pop("price", None)
    TIERS.seconds = 0.0
    try:
        yield
    finally:
        TIERS.seconds, TIERS.mode = spent, mode
        for kernel, (code, seconds, may_load) in zip(kernels, before, strict=True):
            kernel.machine_code, kernel.seconds, kernel.may_load = code, seconds, may_load
            kernel.__dict__.pop("price", None)


@contextmanager
def changing(changes: Changing, *, portion: int = SMALL_PORTION) -> Generator[Counter[str]]:
    """Kernels start interpreted and change where `changes` says; counts the places each of them came to."""
    places = Counter[str]()

    def is_repaid(kernel: Kernel, *_: object) -> bool:
        places[name_of(kernel)] += 1
        return changes(kernel)

    with forget_changes(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "is_repaid", is_repaid)
        patch.setattr(_jit, "PORTION", portion)
        yield places


@contextmanager
def recording(calls: dict[str, list[tuple[Any, ...]]]) -> Generator[None]:
    """Keep what kernels are called with, before they write: the first calls of each, then fewer and fewer."""
    counts, call = Counter[str](), Kernel.__call__

    def record(kernel: Kernel, *arguments: Any) -> Any:
        name = name_of(kernel)
        number = counts[name]
        counts[name] += 1
        if number < 3 or number & (number - 1) == 0:
            calls.setdefault(name, []).append(deepcopy(arguments))
        return call(kernel, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", record)
        yield


def replay(kernel: Kernel, arguments: tuple[Any, ...], changes: Changing, portion: int) -> tuple[str, int]:
    """Everything that a call returns and writes, and how many places it came to."""
    given = deepcopy(arguments)
    with changing(changes, portion=portion) as places:
        result = kernel(*given)
    return spell((result, given)), sum(places.values())


TIMES = {"seconds", "compiling_seconds", "began", "ended"}
"""What differs from run to run."""


def spell(thing: Any) -> str:
    """A text that tells apart whatever differs in a type, a bit or a place; times are left out."""
    return json.dumps(thing if isinstance(thing, str) else _plain(thing))


def _plain(thing: Any) -> Any:
    if isinstance(thing, np.ndarray):
        return [str(thing.dtype), thing.shape, thing.tobytes().hex()]
    if isinstance(thing, dict):
        return {str(key): _plain(value) for key, value in thing.items() if key not in TIMES}
    if isinstance(thing, tuple | list):
        return [_plain(part) for part in thing]
    if isinstance(thing, float):
        return thing.hex()
    return f"{type(thing).__name__} {thing!r}"
