"""Interpreted or compiled, and wherever a kernel changes from one to the other: the results are the same, bit for bit.

Roads go through all modes and through changes at many places; the calls that they make to kernels are also replayed one
by one, each with a change at every place that it has.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

import ascertain.kernels
from ascertain.bank import endpoints
from ascertain.bank.compilers import direct
from ascertain.interruption import limited
from ascertain.kernels import _jit
from ascertain.kernels._jit import MODES, TIERS, Kernel, kernel
from ascertain.model.build import machine_from_transitions
from ascertain.model.named import register, shift_register
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, start_observer
from ascertain.pipeline.bound import bound
from ascertain.pipeline.compile import compile_operation
from ascertain.pipeline.fingerprint import fingerprint
from ascertain.pipeline.inspect import inspect
from ascertain.pipeline.observe import observe
from ascertain.pipeline.quotient import reduce_question
from ascertain.pipeline.settle import settle
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.operation import pose_operation
from ascertain.problem.pose_plant import pose_plant
from ascertain.problem.problem import read_problem
from ascertain.quotients import refinement
from ascertain.quotients.quotient import take_quotient
from ascertain.search import configuration, deepening, pair_table
from ascertain.search.configuration import build_arena
from ascertain.search.graph import SearchGraph
from ascertain.search.splitting import grow_splitting_tree
from ascertain.sequences import separating_tree
from ascertain.task.bank import EvenBank
from ascertain.task.task import Task
from tests.conftest import ROOT
from tests.reference.scaling_tasks import random_machine
from tests.reference.search_tasks import all_states, hard_task
from tests.tiers import (
    at_once,
    changing,
    forget_changes,
    from_place,
    list_entrances,
    list_kernels,
    never,
    only_at,
    recording,
    replay,
    spell,
)

EXAMPLES = ROOT / "examples"
INTERPRETED_ONLY = os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in {"", "0"}
"""The suite runs once without a compiler; then there is one tier."""
pytestmark = pytest.mark.skipif(INTERPRETED_ONLY, reason="kernels are not compiled in this run")


class Road(NamedTuple):
    """A call whose result can be compared, and at how many places changes are tried."""

    run: Callable[[], Any]
    places: int


def _observe(problem: str, seed: int, **words: Any) -> Callable[[], Any]:
    return lambda: observe(EXAMPLES / problem, f"simulated:{seed}", **words).facts()


def _compile(problem: str, compiler: str) -> Callable[[], Any]:
    return lambda: compile_operation(EXAMPLES / problem, compiler=compiler).facts()


def _settle(question: str | Callable[[], Task], **words: Any) -> Callable[[], Any]:
    def run() -> Any:
        found = settle(EXAMPLES / question if isinstance(question, str) else question(), prove="always", **words)
        return found.facts(), found.certificate

    return run


def _compile_many(compiler: str) -> Callable[[], Any]:
    """With more replacements than the problem file allows, so that they are nested."""

    def run() -> Any:
        operation = pose_operation(read_problem(EXAMPLES / "operation/press.toml"))
        return compile_operation(replace(operation, max_replaced=4), compiler=compiler).facts()

    return run


def _refine_by_halves() -> Any:
    """A long ring, on which every round splits off one state; and the kernel pauses often."""
    ring = machine_from_transitions(
        [(f"s{i}", "go", "odd" if i == 0 else "even", f"s{(i + 1) % 40}") for i in range(40)]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refinement, "SLICE", 50)
        return reduce_question(all_states(ring)).facts()


def _settle_in_little_room() -> Any:
    """No table of all pairs, and tables that begin small and grow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(configuration, "MOST_PASSES", 0)
        patch.setattr(pair_table, "ROOM", 1)
        arena = build_arena(take_quotient(random_machine(200, 12)).reduced)
        found = [arena.measure(s, t) for s, t in combinations(range(len(arena.class_of)), 2)]
        graph = SearchGraph(build_arena(take_quotient(hard_task(1, 9, 5)).reduced))
        graph.make_room(len(graph.data.lower), 1)
        return found, [int(number) for number in graph.data.slot if number >= 0]


def _split() -> Any:
    """The splitting tree, and what it would do with each pair of states."""
    tree = grow_splitting_tree(build_arena(take_quotient(hard_task(1, 9, 5)).reduced))
    return [tree.action_for(pair) for pair in combinations(range(9), 2)]


def _separate() -> Any:
    """A cheapest separating word for every two states, in one tree; and the kernel pauses often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(separating_tree, "SLICE", 50)
        model = random_machine(30, 30).model
        return separating_tree.grow_separating_tree(model, cost=np.arange(1, model.num_actions + 1)).data()


def _observe_from_cold() -> Any:
    """Every state of a small plant is a candidate, and none is listed."""
    plant = register(7, Fraction(1, 50))
    question = pose_plant(plant, label={"bits": ["b0", "b3"]}, alpha="1/100")
    settings = ObserverSettings(
        question=question, alpha=question.alpha, policy="eager", probing="separating", budget=40
    )
    device = SimulatedPlant(plant, 0b1011001, seed=3)
    observer = start_observer(settings, lambda: EvenBank(plant.num_states))
    while isinstance(act := observer.next(), Act):
        reading = plant.readings.index(device.send(plant.actions[act.action]))
        observer = observer.update(act.action, reading)
    return str(act), [(step.action, step.reading) for step in observer.transcript]


ROADS: dict[str, Road] = {
    "inspect": Road(lambda: inspect(EXAMPLES / "valve/leak.toml").facts(), 30),
    "inspect a network": Road(lambda: inspect(EXAMPLES / "cell/before.toml").facts(), 30),
    "quotient": Road(lambda: reduce_question(all_states(shift_register(6))).facts(), 30),
    "quotient by halves": Road(_refine_by_halves, 30),
    "settle": Road(_settle("valve/leak.toml"), 12),
    "settle the mean": Road(_settle("valve/leak.toml", objective="expected"), 12),
    "settle a network": Road(_settle("cell/stained.toml"), 12),
    "settle what is unsolvable": Road(_settle("valve/serviced.toml"), 12),
    "settle a hard question": Road(_settle(lambda: hard_task(1, 9, 5)), 8),
    "settle a harder one": Road(_settle(lambda: hard_task(3, 16, 8)), 4),
    "settle in little room": Road(_settle_in_little_room, 12),
    "split": Road(_split, 30),
    "separate": Road(_separate, 10),
    "fingerprint": Road(lambda: fingerprint(sorted((EXAMPLES / "servers").glob("*.dot"))).facts(), 12),
    "bound": Road(lambda: bound(EXAMPLES / "plants/lamp.toml", "1/10", "1/10", certified=True).facts(), 3),
    **{
        f"bank of the {problem}, {compiler}": Road(_compile(f"operation/{problem}.toml", compiler), 12)
        for problem in ("turntable", "press")
        for compiler in ("merging", "direct", "direct-unmerged", "exhaustive")
    },
    **{f"bank of many replacements, {name}": Road(_compile_many(name), 4) for name in ("direct", "exhaustive")},
    "observe the turntable": Road(_observe("operation/turntable.toml", 4), 12),
    "observe the press": Road(_observe("operation/press.toml", 3, probing="separating"), 8),
    "observe the press with look-ahead": Road(_observe("operation/press.toml", 3, probing="look-ahead"), 4),
    "observe the lamp": Road(_observe("plants/lamp.toml", 3), 12),
    "observe from cold": Road(_observe_from_cold, 8),
    "observe the tiger": Road(_observe("tiger/where.toml", 7), 4),
}


@pytest.fixture(autouse=True)
def busy() -> Iterator[None]:
    """Small questions go all the ways of large ones: tables grow, and what is done when a search takes long is done."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SLICE": 40, "SHORT_SLICE": 20, "MANY_VISITS": 15, "IMPROVE_AFTER": 60}.items():
            patch.setattr(deepening, name, value)
        patch.setattr(direct, "ROOM", 16)
        patch.setattr(endpoints, "FIRST_SIZE", 4)
        yield


@pytest.mark.parametrize("name", ROADS)
def test_all_modes_give_the_same(name: str) -> None:
    with forget_changes(), pytest.MonkeyPatch.context() as patch:
        # So little is a change said to cost that kernels change, by the rule itself, in the midst of small questions.
        for constant, value in {"IMPORT_SECONDS": 1e-3, "LOAD_SECONDS": 1e-4, "SECONDS_PER_INSTRUCTION": 1e-6}.items():
            patch.setattr(_jit, constant, value)
        results: dict[str, str] = {}
        for mode in MODES:
            with forget_changes():
                TIERS.mode = mode
                results[mode] = spell(ROADS[name].run())
    assert len(set(results.values())) == 1


@pytest.mark.parametrize("name", ROADS)
def test_a_change_may_come_at_any_place(name: str) -> None:
    _change_at_places(ROADS[name].run, ROADS[name].places)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ROADS if name != "bound"])
def test_a_change_may_come_at_every_place(name: str) -> None:
    _change_at_places(ROADS[name].run, 20 * ROADS[name].places)


def _change_at_places(run: Callable[[], Any], most: int) -> None:
    with changing(never) as places:
        expected = spell(run())
    count = sum(places.values())
    with changing(at_once):
        assert spell(run()) == expected
    for number in sorted({int(n) for n in np.linspace(0, count - 1, min(count, most))}):
        for changes in (from_place, only_at):
            with changing(changes(number)):
                assert spell(run()) == expected, f"{changes.__name__} {number} of {count}"


def test_every_kernel_gives_the_same_in_both_tiers() -> None:
    kernels = list_kernels()
    calls: dict[str, list[tuple[Any, ...]]] = {}
    for road in ROADS.values():
        with changing(never), recording(calls):
            road.run()
    missing = list_entrances() - set(calls)
    assert missing == set(), f"no road calls {sorted(missing)}"
    cut = set[str]()
    for name, found in calls.items():
        one = kernels[name]
        for arguments in found:
            # A sliced kernel that does not say what is unfinished leaves the rest to its caller: it is not cut here.
            portion = 1 if one.unfinished is not None else 10**18
            expected, count = replay(one, arguments, never, portion)
            cut |= {name} if count > 1 else set()
            for number in range(min(count, 25)):
                assert replay(one, arguments, from_place(number), portion)[0] == expected, f"{name}, place {number}"
    assert cut == {name for name, each in kernels.items() if each.sliced and each.unfinished is not None}


@kernel(work=lambda steps: steps)
def multiply(x: int, steps: int) -> int:
    """Wraps when compiled and does not when interpreted: what no kernel may rely on."""
    for _ in range(steps):
        x *= 3
    return x


@pytest.mark.parametrize(
    ("left", "ahead", "changes"), [(None, 0.0, True), (1e6, 0.0, True), (1.0, 0.0, False), (1.0, 1e6, True)]
)
def test_a_kernel_is_compiled_where_a_limit_leaves_time_for_it_or_the_next_call_is_worth_it(
    monkeypatch: pytest.MonkeyPatch, left: float | None, ahead: float, changes: bool
) -> None:
    one = Kernel(multiply.function)
    one.seconds, one.may_load = 1e6, False
    monkeypatch.setattr(TIERS, "mode", "auto")
    monkeypatch.setattr(_jit, "SECONDS_PER_INSTRUCTION", 10.0)
    with nullcontext() if left is None else limited(lambda: left, "the test"):
        assert one.is_repaid((1, 2), ahead) == changes


def test_a_kernel_that_relies_on_wrapping_integers_is_found() -> None:
    mutant = cast("Any", multiply)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.tiers.list_kernels", lambda: {"multiply": mutant})
        assert replay(mutant, (1, 10), never, 100) == replay(mutant, (1, 10), at_once, 100)
        assert replay(mutant, (1, 60), never, 100) != replay(mutant, (1, 60), at_once, 100)


CORRECTLY_ROUNDED = {"sqrt"}
"""Of `math`, what IEEE 754 rounds correctly; everything else there may differ in the last bit."""


def test_kernels_compute_with_floats_only_what_is_rounded_correctly_and_in_a_fixed_order() -> None:
    """No exp, log or power, which come as tables; no sums whose order is a library's."""
    for path in sorted(Path(ascertain.kernels.__path__[0]).rglob("*.py")):
        if path.name == "_jit.py":
            continue
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in (node for line in function.body for node in ast.walk(line)):
                where = f"{path.name}, {function.name}, line {getattr(node, 'lineno', '')}"
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    assert node.value.id != "math" or node.attr in CORRECTLY_ROUNDED, where
                    assert node.value.id != "np" or isinstance(getattr(np, node.attr), type | float), (
                        where
                    )  # np.inf is one
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    assert node.func.attr not in {"sum", "mean", "dot", "prod", "cumsum"}, where
                if isinstance(node, ast.BinOp):
                    assert not isinstance(node.op, ast.Pow | ast.MatMult), where
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    assert node.func.id not in {"sum", "pow", "round"}, where


def test_kernels_are_compiled_without_liberties() -> None:
    """Fused multiplications, reordered sums and the like would change the last bit."""
    for each in list_kernels().values():
        assert isinstance(each, Kernel)
        options = each.dispatcher.targetoptions
        assert not options.get("fastmath")
        assert not options.get("parallel")
