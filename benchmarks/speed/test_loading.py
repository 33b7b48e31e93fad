"""How fast a .dot of 1,000 states and 20 inputs is loaded, with the rivals from PyPI beside us in the same run.

Run with `pytest benchmarks/speed/test_loading.py -m '' -s`. AALpy and pygraphviz read the same file; pygraphviz stops
at the graph, and AALpy at its automaton, while we go on to checked tables. pydot is hundreds of times slower, so it
gets one twentieth of the states, once, and its time is scaled by twenty: an order of magnitude, not a measurement.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ascertain.model import Machine
from ascertain.model.files import read_model
from ascertain.model.files.dot import write_dot

ROUNDS = 7
SHARE = 20


def make_file(path: Path, num_states: int, num_actions: int = 20, num_readings: int = 8) -> Path:
    """A file in our own writing, which all loaders accept, with transitions at random."""
    rng = np.random.default_rng(20)
    machine = Machine(
        states=tuple(f"s{i}" for i in range(num_states)),
        actions=tuple(f"input_{i}" for i in range(num_actions)),
        readings=tuple(f"output_{i}" for i in range(num_readings)),
        successor=rng.integers(0, num_states, (num_states, num_actions)),
        output=rng.integers(0, num_readings, (num_states, num_actions)),
        initial=(0,),
    )
    path.write_text(write_dot(machine))
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_file(tmp_path_factory.mktemp("loading") / "large.dot", 1000)


def load_aalpy(path: Path) -> Any:
    return pytest.importorskip("aalpy.utils").load_automaton_from_file(path, "mealy")


def load_pygraphviz(path: Path) -> Any:
    return pytest.importorskip("pygraphviz").AGraph(str(path))


def load_pydot(path: Path) -> Any:
    return pytest.importorskip("pydot").graph_from_dot_file(str(path))


@pytest.mark.parametrize("load", [read_model, load_aalpy, load_pygraphviz], ids=["ascertain", "aalpy", "pygraphviz"])
def test_loading_a_thousand_states(benchmark: Any, load: Callable[[Path], Any], large: Path) -> None:
    load(large)
    benchmark.pedantic(load, args=(large,), rounds=ROUNDS)


def best_seconds(loads: dict[str, Callable[[Path], Any]], path: Path, rounds: int) -> dict[str, float]:
    """The best of some rounds for each loader; they take turns, so that a busy machine slows all alike."""
    best = dict.fromkeys(loads, float("inf"))
    for _ in range(rounds):
        for name, load in loads.items():
            start = time.perf_counter()
            load(path)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


@pytest.mark.filterwarnings("ignore")  # pydot's own
def test_loading_takes_at_most_twice_the_time_of_the_fastest_rival(large: Path, tmp_path: Path) -> None:
    rivals = {"aalpy": load_aalpy, "pygraphviz": load_pygraphviz}
    loads = {"ascertain": read_model} | {name: load for name, load in rivals.items() if installed(name)}
    times = best_seconds(loads, large, ROUNDS)
    if installed("pydot"):
        small = make_file(tmp_path / "small.dot", 1000 // SHARE)
        load_pydot(make_file(tmp_path / "tiny.dot", 1))
        times["pydot, scaled"] = SHARE * best_seconds({"pydot": load_pydot}, small, 1)["pydot"]
    ours = times.pop("ascertain")
    if not times:
        pytest.skip("no rival is installed")
    print(f"\nascertain {ours:.3f} s")
    for name, rival in times.items():
        print(f"{name} {rival:.3f} s, {rival / ours:.1f} times ours")
    assert ours <= 2 * min(times.values())


def installed(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True
