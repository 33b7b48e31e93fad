"""An operation turned into the arrays that kernels take, and what is known of it before it is compiled."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from ascertain.bank.operation import Operation, Word
from ascertain.kernels.bank.steps import Tables, run_log
from ascertain.model.boolean import BooleanPlant
from ascertain.model.noisy import Law
from ascertain.types import BoolArray, IntArray, State

MANY_PATHS = 10**18
"""Where paths are no longer counted: that many, or more. No compiler follows as many, and they fit 64 bits."""


def list_words(operation: Operation) -> list[Word]:
    """The words by number: every command by itself, then the alternatives of every command in turn."""
    alone: list[Word] = [(c,) for c in range(len(operation.model.actions))]
    return alone + [word for words in operation.alternatives for word in words]


def encode(operation: Operation) -> Tables:
    """The arrays of an operation, read-only whatever the model, so that kernels are compiled once for all kinds."""
    model, words = operation.model, list_words(operation)
    none, nothing = np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int32)
    boolean = isinstance(model, BooleanPlant)  # kernels run gates there, and look up tables elsewhere
    tables = Tables(
        is_boolean=boolean,
        gates=model.gates if boolean else none,
        offset=model.offset if boolean else nothing,
        tap=model.tap if boolean else nothing,
        successor=none if boolean else model.successor,
        behaviour=none if boolean else model.behaviour,
        likely=_likeliest(model.laws, len(model.readings))
        if not boolean and not model.is_exact
        else none.astype(np.bool_),
        sent=operation.sent,
        readings=operation.readings,
        trusted=operation.trusted,
        alternative=_offsets([len(listed) for listed in operation.alternatives], len(model.actions)),
        word=_offsets([len(word) for word in words], 0),
        commands=np.array([c for word in words for c in word], dtype=np.int32),
    )
    for name, array in tables._asdict().items():
        if name != "is_boolean":
            array.setflags(write=False)
    return tables


def count_paths(operation: Operation) -> int:
    """How many paths the declaration allows; MANY_PATHS when they are that many or more."""
    size = np.array([len(words) for words in operation.alternatives])[operation.sent]
    paths = [1]
    for number in size[size > 0].tolist():
        longer = [a + number * b for a, b in zip([*paths, 0], [0, *paths], strict=True)]
        paths = longer[: operation.max_replaced + 1]
        if sum(paths) >= MANY_PATHS:
            return MANY_PATHS
    return sum(paths)


def find_nominal(operation: Operation, tables: Tables) -> State | None:
    """Where the log as sent ends; None when one of its commands is not defined where it would be done."""
    state, reached = run_log(tables, np.uint64(operation.start))
    return int(state) if reached == operation.length else None


def count_readings(operation: Operation, *, trusted: bool) -> npt.NDArray[np.int64]:
    """`count[t]` of the trusted or of the ordinary readings that are not blank are at position t or later."""
    there = (operation.readings >= 0) & (operation.trusted == trusted)
    count = np.zeros(operation.length + 1, dtype=np.int64)
    count[:-1] = np.cumsum(there[::-1])[::-1]
    return count


def _likeliest(laws: tuple[Law, ...], num_readings: int) -> BoolArray:
    likely = np.zeros((len(laws), num_readings), dtype=np.bool_)
    for row, law in zip(likely, laws, strict=True):
        most = max(p for _, p in law)
        for y, p in law:
            row[y] = p == most
    return likely


def _offsets(sizes: list[int], first: int) -> IntArray:
    return np.array(list(accumulate(sizes, initial=first)), dtype=np.int32)
