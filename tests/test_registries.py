"""Formats and plants are registries: what a test module or an installed package brings is used by the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import AscertainError, FileError
from ascertain.model import Machine
from ascertain.model.build import machine_from_transitions
from ascertain.model.files import FORMATS, Format, Option, Options, Read, read_model
from ascertain.plant import PLANTS, PlantContext, PlantKind, find_kind
from tests.calls import call, install, run_installed
from tests.conftest import ROOT

LAMP = "dark press click lit\nlit press click dark\n% seen from the door\ndark look dark dark\nlit look lit lit\n"


# ---------------------------------------------------------------------------------------- a format of this test alone


def read_walk(text: str, where: str, options: Options) -> Read:
    """A line is STATE ACTION READING NEXT; what begins with % is a remark, or refused where the problem says so."""
    lines = text.splitlines()
    remarks = sum(line.startswith("%") for line in lines)
    if remarks and options["remarks"] == "refused":
        raise FileError(f"{where}: a line is a remark; take it out")
    rows: Any = [line.split() for line in lines if line and not line.startswith("%")]
    return Read(machine_from_transitions(rows), (f"{remarks} remarks are not used",), {"remarks": str(remarks)})


def write_walk(machine: Machine) -> str:
    rows = (
        (machine.states[s], action, machine.readings[machine.output[s, a]], machine.states[machine.successor[s, a]])
        for s in range(machine.num_states)
        for a, action in enumerate(machine.actions)
    )
    return "".join(" ".join(row) + "\n" for row in rows)


REMARKS = Option("remarks", "remarks is for .walk files; other models have none", ("ignored", "refused"))
WALK = Format("walk", (".walk", ".wlk"), read_walk, write_walk, (Machine,), (REMARKS,))


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Path]:
    """A model in a format that is known while the test runs."""
    FORMATS.register(WALK)
    (tmp_path / "lamp.walk").write_text(LAMP)
    yield tmp_path / "lamp.walk"
    for word in ("walk", "wlk"):
        FORMATS._by_word.pop(word)


def test_a_format_of_a_test_module_is_read_with_its_notes(walk: Path) -> None:
    facts = json.loads(call("inspect", walk, "--json").stdout)
    assert (facts["kind"], facts["states"], facts["remarks"]) == ("machine", 2, "1")
    assert facts["notes"] == ["1 remarks are not used"]
    assert "Note: 1 remarks are not used." in call("inspect", walk).stdout


def test_a_problem_takes_the_options_of_the_format_and_refuses_them_elsewhere(walk: Path) -> None:
    problem = walk.parent / "problem.toml"
    problem.write_text('model = "lamp.walk"\n')
    assert "1 remarks are not used" in call("inspect", problem).stderr
    assert json.loads(call("solve", problem, "--json").stdout)["status"] == "solved"
    problem.write_text('model = "lamp.walk"\nremarks = "refused"\n')
    assert "a line is a remark; take it out" in call("solve", problem, code=2).stderr
    problem.write_text('model = "lamp.walk"\nremarks = "perhaps"\n')
    assert "remarks: 'perhaps' is not understood; write one of 'ignored'" in call("solve", problem, code=2).stderr
    problem.write_text('model = "lamp.walk"\nremark = "ignored"\n')
    assert "unknown key 'remark'; did you mean 'remarks'?" in call("solve", problem, code=2).stderr
    problem.write_text('remarks = "refused"\n[model]\ntransitions = [["s", "a", "y", "s"]]\n')
    assert "remarks is for .walk files; other models have none" in call("solve", problem, code=2).stderr


def test_a_format_of_a_test_module_is_written(walk: Path) -> None:
    problem, out = walk.parent / "problem.toml", walk.parent / "out.wlk"
    problem.write_text('model = "lamp.walk"\n')
    call("quotient", problem, "--out", out)
    assert read_model(out) == read_model(walk)


def test_a_word_is_taken_once_and_the_same_thing_may_come_again(walk: Path) -> None:
    FORMATS.register(WALK)
    with pytest.raises(AscertainError, match=r"ascertain\.formats: 'walk' is taken already"):
        FORMATS.register(Format("other", (".walk",), read_walk))
    with pytest.raises(FileError, match=r"'.wakl' says no format of a model; did you mean '.walk'\?"):
        read_model("m.wakl")


# ----------------------------------------------------------------------------------------- a plant of this test alone


class First:
    """Answers every action with the first reading that it can give."""

    def __init__(self, greeting: str, context: PlantContext) -> None:
        self.name, self.model = greeting, context.model

    def send(self, action: str) -> str:
        return self.model.readings[self.model.possible_readings(self.model.action_named(action))[0]]


@pytest.fixture
def first() -> Iterator[PlantKind]:
    PLANTS.register(PlantKind("first", "first:NAME", First))
    yield find_kind("first:")[0]
    PLANTS._by_word.pop("first")


def test_a_plant_of_a_test_module_is_observed(first: PlantKind) -> None:
    lamp = ROOT / "examples" / "plants" / "lamp.toml"
    facts = json.loads(call("observe", lamp, "--plant", "first:bench 4", "--identity", "bench 4", "--json").stdout)
    assert (facts["verdict"], facts["label"], facts["plant"]) == ("certified", "dark", "bench 4")
    assert "first:NAME" in call("observe", lamp, "--plant", "nonsense", code=2).stderr
    assert "did you mean 'first'?" in call("observe", lamp, "--plant", "frist:x", code=2).stderr
    assert first.written in call("observe", "--help").stdout


# --------------------------------------------------------------------------------------------- an installed package

PACKAGE = """
from ascertain import machine_from_transitions
from ascertain.model.files import Format, Read
from ascertain.plant import PlantKind

def read(text, where, options):
    return Read(machine_from_transitions(line.split() for line in text.splitlines()), (f"read from {where}",))

def open_bench(text, context):
    class Bench:
        name = text
        def send(self, action):
            return "lit" if action == "look" else "click"
    return Bench()

STEPS = Format("steps", (".steps",), read)
BENCH = PlantKind("bench", "bench:NAME", open_bench)
"""
ENTRY_POINTS = """
[ascertain.formats]
steps = stepping:STEPS
gone = stepping.no_such_module:GONE
odd = json:dumps

[ascertain.plants]
bench = stepping:BENCH
wire = no_such_package:WIRE
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder as an installer would leave it, with a package and what it declares."""
    (tmp_path / "lamp.steps").write_text("dark look dark dark\nlit look lit lit\ndark press click lit\n")
    return install(tmp_path, "stepping", PACKAGE, ENTRY_POINTS)


def test_a_format_of_an_installed_package_is_found_by_its_entry_point(installed: Path) -> None:
    facts = json.loads(run_installed(installed, "inspect", "lamp.steps", "--json").stdout)
    assert (facts["states"], facts["notes"]) == (2, ["read from lamp.steps"])
    (installed / "problem.toml").write_text('model = "lamp.steps"\n')
    assert "read from lamp.steps" in run_installed(installed, "inspect", "problem.toml").stderr


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("m.gone", "ascertain: the entry point gone = 'stepping.no_such_module:GONE' of ascertain.formats cannot be "),
        ("m.odd", "ascertain: the entry point odd = 'json:dumps' of ascertain.formats is no Format for 'odd'"),
        ("m.stepz", "ascertain: m.stepz: the suffix '.stepz' says no format of a model; did you mean '.steps'?"),
    ],
)
def test_a_broken_entry_point_is_one_sentence(installed: Path, name: str, sentence: str) -> None:
    done = run_installed(installed, "inspect", name, code=2)
    assert done.stderr.startswith(sentence) and done.stderr.count("\n") == 1


def test_a_plant_of_an_installed_package_is_observed_and_listed(installed: Path) -> None:
    lamp = str(ROOT / "examples" / "plants" / "lamp.toml")
    facts = json.loads(run_installed(installed, "observe", lamp, "--plant", "bench:four", "--json").stdout)
    assert (facts["label"], facts["plant"]) == ("lit", "four")
    asked = run_installed(installed, "observe", lamp, "--plant", "qqq:", code=2)
    assert "replay:FILE, simulated:SEED[:STATE], WIRING.toml, python:MODULE:NAME, bench:..., wire:..." in asked.stderr
    broken = run_installed(installed, "observe", lamp, "--plant", "wire:1", code=2)
    assert broken.stderr.startswith("ascertain: the entry point wire = 'no_such_package:WIRE' of ascertain.plants ")
