"""Misuse: whatever is passed to a name of the vocabulary, it is taken, or refused with a typed error and a sentence.

For every function and class each parameter is given values of the right kind, found by its annotation, and values of
all wrong kinds. Nothing may come out but a result or an `AscertainError`.
"""

from __future__ import annotations

import inspect
import pickle
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ascertain
from ascertain import checking
from ascertain.errors import AscertainError
from ascertain.live.faults import FaultPolicy
from ascertain.observer.stages import Acceptance
from ascertain.plant.replayed import Recorded
from ascertain.policy.product import Factor
from ascertain_paper.importance_sampling import RuleObserver

TRIES = 150
"""Calls of every name: enough that each parameter of the largest meets each wrong value."""
HUGE = 10**30
JUNK: list[Any] = [
    None, True, "", "a", "look", "1/20", "0.5", "zebra", "simulated:3", "\0", "nowhere/at/all.json", b"bytes",
    0, 1, 2, 7, -1, -(2**70), HUGE, 0.5, -0.0, float("nan"), float("inf"), 1j, Fraction(1, 20), Fraction(-3),
    (), [], {}, set(), [None], ["a"], ("a", "b"), [0, 0], [[1, 2], [3]], (0, -1), (HUGE,), [0.5], {"a": 1}, {0: "1/2"},
    {1: None}, {"a": None}, [("a", "look", "0", "a")], [("a", 1, None, "b")], np.zeros(0), np.array([0, 1]),
    np.array(["x"]), np.array([[0.5]]), np.array(3), object(), range(3), Path("elsewhere.json"), Ellipsis,
]  # fmt: skip
EFFORT = {"num_runs", "budget", "retries", "max_places", "memory_limit", "max_nodes", "max_rivals", "limit", "depth"}
"""Numbers that say how much may be done: the largest are meant as they are written, and would be obeyed for years."""


CALLED: dict[str, Callable[..., Any]] = {
    "make_bank": lambda: ascertain.uniform_bank([0]),
    "later": lambda: ascertain.uniform_bank([0]),
    "observer": lambda: RuleObserver(
        ascertain.MachineWorld(things()[0], ascertain.uniform_bank([0, 1]), Fraction(1, 100)),
        ascertain.FixedSchedule((0,)),
    ),
}
"""Functions that are called back and must return something."""


class Loud:
    """A plant of a user's own."""

    def send(self, action: str) -> str:
        return "0" if action == "look" else "ok"


@cache
def things() -> list[Any]:
    """Good values of every kind that the vocabulary takes."""
    a = ascertain
    switch = a.machine_from_transitions(
        [("a", "look", "0", "a"), ("b", "look", "1", "b"), ("a", "turn", "ok", "b"), ("b", "turn", "ok", "a")], "a"
    )
    noisy, hidden, plant = a.with_flip(switch, "1/20"), a.as_hidden(switch), a.register(2, Fraction(1, 20))
    task, risky = a.pose(switch), a.pose(noisy, alpha="1/100", beta="1/100")
    asked, believed = a.pose_plant(plant, alpha="1/100", beta="1/100"), a.pose_hidden(hidden, alpha="1/100")
    policy = a.Automaton(action=(0, -1, -1), label=(-1, 0, 1), children=({0: 1, 1: 2}, {}, {}))
    words: dict[str, Any] = {"sent": [0, 1], "readings": [0, -1], "trusted": [False, False]}  # lists become arrays
    operation = a.Operation(
        model=switch, start=0, **words,
        alternatives=(((),), ((),)), max_replaced=1, replacement_window=(0, 1), flip_window=(0, 1),
    )  # fmt: skip
    compiled = a.compile_bank(operation)
    bank = a.uniform_bank([0, 1])
    settings, make_bank = a.pose_observer(task)
    observer = a.start_observer(settings, make_bank)
    observed = a.observe(task, "simulated:3")
    problem = a.read_any_problem(write_problem())
    acceptance = observed.run.observer.acceptance
    assert isinstance(acceptance, Acceptance)
    return [
        switch, noisy, hidden, plant, task, risky, asked, believed, policy, operation, compiled, bank, settings,
        observer, observed, observed.run, problem, acceptance, a.take_quotient(task), a.settle(task),
        a.solve(task), a.bound(risky), a.FixedSchedule((0,)), a.SimulatedPlant(switch, 0), Loud(), FaultPolicy(),
        Factor(task, policy, (0, 1), (0, 1, 2)), a.Reset("again"), a.Pattern("a"), a.Log("run.csv"),
        Recorded(1, "look", "0"),
        [Recorded(1, "look", "0")], {"look": ["0", "1"]}, {"one": switch, "two": switch}, ["one.json", "two.json"],
        str(write_problem()), "look", "turn", "0", "a", "b", "round-robin", "merging", lambda *_: True, {"look": "1/2"},
    ]  # fmt: skip


def write_problem() -> Path:
    path = Path("problem.toml")
    if not path.exists():
        rows = '["a", "look", "0", "a"], ["b", "look", "1", "b"], ["a", "turn", "ok", "b"], ["b", "turn", "ok", "a"]'
        log = '[operation]\nlog = "run.csv"\nalternatives = { look = [""] }\n'
        path.write_text(f"[model]\ninitial = 'a'\ntransitions = [{rows}]\n{log}", encoding="utf-8")
        Path("run.csv").write_text("command,reading\nlook,0\nturn,ok\n", encoding="utf-8")
        machine = ascertain.machine_from_transitions([("a", "look", "0", "a")], "a")
        for name in ("one.json", "two.json"):
            ascertain.write_model(machine, name)
    return path


def parameters(thing: Any) -> dict[str, tuple[Any, bool]]:
    """By name, the annotation of each parameter, and whether it must be given."""
    function = thing.__init__ if isinstance(thing, type) else thing
    hints = checking.read_hints(thing if hasattr(thing, "__dataclass_fields__") else function)
    listed = inspect.signature(thing).parameters.values()
    return {p.name: (hints.get(p.name, Any), p.default is p.empty) for p in listed}


@cache
def fitting(hint: Any) -> list[Any]:
    """Values of the right kind, found by the check itself."""
    found: list[Any] = []
    for value in [*things(), *JUNK]:
        try:
            checking.read_kind(hint)[1](value)
            found.append(value)
        except (ValueError, TypeError, OverflowError):
            continue
    return found


def calls(name: str, thing: Any) -> Iterator[dict[str, Any]]:
    chance = random.Random(name)
    known = parameters(thing)
    for _ in range(TRIES):
        wrong = chance.choice([*known, None])
        given: dict[str, Any] = {}
        for key, (hint, needed) in known.items():
            if key == wrong:
                given[key] = chance.choice(JUNK)
            elif key in CALLED:  # what a user's own function raises is the user's
                given[key] = CALLED[key]
            elif needed or chance.random() < 0.2:
                given[key] = chance.choice(fitting(hint) or JUNK)
            if key in EFFORT and isinstance(given.get(key), int) and given[key] > 100:
                given[key] = 100
        yield given


NAMES = [
    name
    for name in ascertain.__all__
    if name != "__version__" and not (isinstance(t := getattr(ascertain, name), type) and issubclass(t, Exception))
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is written where nobody looks, and nobody is asked at the keyboard."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())
    monkeypatch.setattr("builtins.input", lambda *_: "0")
    monkeypatch.setattr("ascertain.live.risk_file.WAIT", 0.0)  # what holds a file here is a journal that stays open


@pytest.mark.parametrize("name", NAMES)
def test_misuse_is_refused_with_a_sentence(name: str) -> None:
    thing: Callable[..., Any] = getattr(ascertain, name)
    if thing is ascertain.AbstractPlant:
        pytest.skip("an interface")
    write_problem()
    for given in calls(name, thing):
        try:
            thing(**given)
        except AscertainError as refused:
            assert len(str(refused)) > 10, (name, given)
        except Exception as raw:
            raise AssertionError(f"{name}(**{given!r}) raised {type(raw).__name__}: {raw}") from raw


def test_common_mistakes_are_named(tmp_path: Path) -> None:
    switch, task = things()[0], ascertain.pose(things()[0])
    assert ascertain.SimulatedPlant(switch, "b").send("look") == "1"
    assert ascertain.with_flip(switch, "1/20") == ascertain.with_flip(switch, Fraction(1, 20))
    assert ascertain.pose_observer(task)[0].policy == "eager"
    decimal: Any = 0.05
    mapping: Any = {"a": 1}
    misspelt: Any = "wurst"
    for wrong, sentence in (
        (lambda: ascertain.SimulatedPlant(switch, "c"), "'c' is not a state of the model"),
        (lambda: ascertain.with_flip(switch, decimal), "with_flip: flip must be an exact number"),
        (lambda: ascertain.write_certificate(tmp_path / "p", task, mapping), "claims must be a list"),
        (lambda: ascertain.pose_observer(switch), "problem must be a Problem or a Question, not Machine"),
        (lambda: ascertain.settle(task, objective=misspelt), "did you mean 'worst'"),
        (lambda: ascertain.shift_register(HUGE), "from 1 to 16"),
    ):
        with pytest.raises(AscertainError, match=sentence):
            wrong()


def test_a_question_made_in_python_is_observed_on_any_plant() -> None:
    switch, noisy, hidden, plant, *_ = things()
    for question in (
        ascertain.pose(switch),
        ascertain.pose(noisy, alpha="1/100"),
        ascertain.pose_hidden(hidden),
        ascertain.pose_plant(plant, alpha="1/100"),
    ):
        for device in ("simulated:5", ascertain.SimulatedPlant(question.model, 0, 5)):
            assert ascertain.observe(question, device).is_certified
    assert (
        ascertain.observe(ascertain.pose(switch), "simulated:5", nominal="a").run.observer.settings.policy == "readwise"
    )
    with pytest.raises(AscertainError, match="31 bits; worlds of at most 30"):
        ascertain.observe(ascertain.pose_plant(ascertain.register(31)), "simulated:5")


def test_operations_with_known_ends_are_calibrated() -> None:
    operation = next(thing for thing in things() if isinstance(thing, ascertain.Operation))
    blocks = [[(operation, "b")], [(operation, "a")], [(operation, 1)]]
    calibration = ascertain.calibrate(blocks, strata=["switching"])
    assert calibration.ranks == ((0,), (1,), (0,))
    assert (calibration.whole.shells, calibration.whole.coverage) == (1, Fraction(3, 4))
    ascertain.write_calibration(calibration, "calibration.json")
    assert ascertain.read_calibration("calibration.json", calibration.settings_hash) == calibration
    with pytest.raises(AscertainError, match="one operation of each stratum"):
        ascertain.calibrate([[(operation, "a")], []])


def test_every_repr_is_one_short_line_and_every_table_is_made() -> None:
    for thing in things():
        if type(thing).__module__.startswith("ascertain."):
            assert "\n" not in repr(thing) and len(repr(thing)) < 400, repr(thing)
            assert "array(" not in repr(thing)
        if hasattr(thing, "_repr_html_"):
            assert thing._repr_html_().startswith(("<svg", "<div"))


def test_a_function_of_the_vocabulary_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(ascertain.settle)) is ascertain.settle
