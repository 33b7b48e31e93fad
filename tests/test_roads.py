"""A road computes a quotient and a pairwise bound once for each task, and reads a file once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from ascertain.bounds.information import bound_by_information
from ascertain.model.files.text import read_text
from ascertain.pipeline.bound import bound
from ascertain.pipeline.compile import compile_operation
from ascertain.pipeline.fingerprint import fingerprint
from ascertain.pipeline.inspect import inspect
from ascertain.pipeline.observe import observe
from ascertain.pipeline.quotient import reduce_question
from ascertain.pipeline.settle import settle
from ascertain.pipeline.simulate import simulate
from ascertain.quotients import quotient
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"
COUNTED: dict[Any, Callable[[FrameType], object]] = {
    quotient._take.__code__: lambda frame: ("quotient", id(frame.f_locals["question"])),
    bound_by_information.__code__: lambda frame: ("pairwise bound", id(frame.f_locals["task"])),
    read_text.__code__: lambda frame: ("file", str(frame.f_locals["path"])),
}
"""By the code of a function, what a call of it computes: a task is told by its identity."""

ROADS: dict[str, tuple[Callable[[], object], int]] = {
    "settle": (lambda: settle(EXAMPLES / "valve" / "leak.toml"), 1),
    "settle what is unsolvable": (lambda: settle(EXAMPLES / "valve" / "serviced.toml"), 1),
    # Both sides are close before trees are composed, so that the task without noise, their skeleton, is not solved.
    "bound": (lambda: bound(EXAMPLES / "plants" / "lamp.toml", beta="1/1000", certified=True), 1),
    "bound without noise": (lambda: bound(EXAMPLES / "valve" / "leak.toml", certified=True), 1),
    # Two of the servers cannot be told apart: the task that names each, and the one that names classes.
    "fingerprint": (lambda: fingerprint(sorted((EXAMPLES / "servers").glob("*.dot"))), 2),
    "observe": (lambda: observe(EXAMPLES / "valve" / "leak.toml", "simulated:1"), 1),
    "observe beliefs": (lambda: observe(EXAMPLES / "tiger" / "where.toml", "simulated:7"), 1),
    "compile": (lambda: compile_operation(EXAMPLES / "operation" / "press.toml"), 0),
    "inspect": (lambda: inspect(EXAMPLES / "valve" / "leak.toml"), 1),
    "inspect beliefs": (lambda: inspect(EXAMPLES / "tiger" / "where.toml"), 1),
    "quotient": (lambda: reduce_question(EXAMPLES / "valve" / "leak.toml"), 1),
    "simulate": (lambda: simulate(EXAMPLES / "valve" / "leak.toml"), 1),
}
"""Each road on an example, and how many tasks it takes a quotient of."""


@pytest.mark.parametrize("name", ROADS)
def test_nothing_is_computed_or_read_twice(name: str) -> None:
    road, num_tasks = ROADS[name]
    counts: Counter[object] = Counter()
    kept: list[object] = []  # so that no identity is used again

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in COUNTED:
            counts[COUNTED[frame.f_code](frame)] += 1
            kept.append(dict(frame.f_locals))

    sys.setprofile(watch)
    try:
        road()
    finally:
        sys.setprofile(None)
    assert {what: n for what, n in counts.items() if n > 1} == {}
    assert sum("quotient" in str(what) for what in counts) == num_tasks
