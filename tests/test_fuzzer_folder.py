"""protocol-state-fuzzer: its folders of models are read, and experiments are written as its decision graphs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import FileError
from ascertain.model import Machine
from ascertain.model.build import machine_from_transitions, with_reset
from ascertain.model.files import fuzzer_folder, read_listed, read_model
from ascertain.model.files.fuzzer_folder import Alphabet, read_alphabet, read_folder
from ascertain.pipeline.fingerprint import fingerprint
from ascertain.plant.simulated import SimulatedPlant
from tests.conftest import ROOT
from tests.reference.decision_graph import identify, read_graph
from tests.strategies import machines
from tests.test_cli import run
from tests.test_learning import begun

SERVERS = sorted((ROOT / "examples" / "servers").glob("*.dot"))
INPUTS = "<alphabet><input>HELO</input><input>AUTH</input><X name='SEND'/><input>\n QUIT </input></alphabet>"


def lay_out(folder: Path, alphabet: str | None = INPUTS) -> Path:
    for file in SERVERS:
        (folder / file.stem).mkdir()
        (folder / file.stem / "learnedModel.dot").write_text(file.read_text())
        if alphabet is not None:
            (folder / file.stem / "alphabet.xml").write_text(alphabet)
    (folder / "notes").mkdir()
    return folder


@pytest.mark.parametrize("alphabet", [None, INPUTS])
def test_a_folder_is_a_set_of_models(tmp_path: Path, alphabet: str | None) -> None:
    found = read_folder(lay_out(tmp_path, alphabet))
    assert found == {file.stem: read_listed(file) for file in SERVERS}
    assert read_folder(tmp_path / "alder") == {"alder": found["alder"]}
    assert fingerprint([tmp_path]).classes == fingerprint(SERVERS).classes


def test_names_are_attributes_or_texts_and_may_be_left_to_the_tool(tmp_path: Path) -> None:
    path = tmp_path / "alphabet.xml"
    path.write_text(
        "<!-- two --><a><Hello name=' HI ' suite='x'><more><deep name='no'>no</deep></more></Hello><i>BYE</i></a>"
    )
    assert read_alphabet(path) == Alphabet(("HI", "BYE"), True)
    path.write_text("<a><Hello name='HI'/><ChangeCipherSpecInput/></a>")
    assert read_alphabet(path) == Alphabet(("HI",), False)
    path.write_text("<a><i>R&amp;D</i></a>")
    assert read_alphabet(path).names == ("R&D",)


BOMB = """<!DOCTYPE a [<!ENTITY x "boom"><!ENTITY y "&x;&x;&x;&x;&x;&x;&x;&x;">]><a><i>&y;</i></a>"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOMB, "xml:1: an alphabet has no document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a><i>x</i></a>', "no document type"),
        ("<a><i>&x;</i></a>", "xml:1: this is not XML: undefined entity"),
        ("<a>\n<i>x</a>", "xml:2: this is not XML: mismatched tag"),
        ("HELO", "this is not XML: syntax error"),
        ("<a/>", "the alphabet has no input"),
        ("<a><i>x</i><i name='x'/></a>", "the input 'x' is listed twice"),
        ("<i>" * 200 + "</i>" * 200, "nested more than 100 deep"),
        ("<a>" + "<i>x</i>" * 10_001 + "</a>", "more than 10000 inputs"),
        ("<a><i>HELO</i><i>AUTHX</i><i>SEND</i><i>QUIT</i></a>", "has the input 'AUTH', .* did you mean 'AUTHX'"),
    ],
)
def test_hostile_and_wrong_alphabets_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        read_folder(lay_out(tmp_path, text))


def test_folders_are_bounded_and_must_hold_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match=r"no model in this folder; NAME/learnedModel.dot was expected"):
        read_folder(tmp_path)
    lay_out(tmp_path)
    with pytest.raises(FileError, match="there are two models 'alder'"):
        fingerprint([tmp_path, SERVERS[0]])
    monkeypatch.setattr(fuzzer_folder, "MAX_MODELS", 2)
    with pytest.raises(FileError, match="5 models; at most 2 are read"):
        read_folder(tmp_path)
    monkeypatch.setattr(fuzzer_folder, "MAX_CHARACTERS", 10)
    with pytest.raises(FileError, match="characters; at most 10 are read"):
        read_folder(tmp_path / "alder")


# -------------------------------------------------------------------------------------------------- decision graphs


def follow(text: str, machine: Machine) -> list[str] | None:
    """The models that the graph's own reader finds for a machine."""
    plant = SimulatedPlant(with_reset(machine, "RESET"), machine.initial[0])
    return identify(read_graph(text), plant.send, lambda: assert_reset(plant))


def assert_reset(plant: SimulatedPlant) -> None:
    assert plant.send("RESET") == "reset"


@given(st.lists(machines(partial=False, max_states=4, max_actions=2), min_size=2, max_size=4))
@settings(max_examples=40)
def test_a_decision_graph_leads_each_machine_to_its_class(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[Machine]
) -> None:
    known = {f"m{k}": begun(machine) for k, machine in enumerate(drawn)}
    found = fingerprint(known)
    path = tmp_path_factory.mktemp("adg") / "adg.dot"
    found.write_decision_graph(path)
    for names in found.classes:
        for name in names:
            assert follow(path.read_text(), known[name]) == sorted(names)


def test_the_verb_writes_it_and_an_outsider_finds_no_branch(tmp_path: Path) -> None:
    done = run("fingerprint", lay_out(tmp_path), "--decision-graph", tmp_path / "adg.dot", "--json")
    assert done.returncode == 0 and ["alder", "elm"] in json.loads(done.stdout)["classes"]
    text = (tmp_path / "adg.dot").read_text()
    assert text.startswith("digraph adg {") and 'shape=box models="alder, elm"' in text
    outsider = machine_from_transitions([("s", a, "what?", "s") for a in ("HELO", "AUTH", "SEND", "QUIT")], "s")
    assert follow(text, outsider) is None
    birch = read_model(ROOT / "examples" / "servers" / "birch.dot")
    assert isinstance(birch, Machine) and follow(text, birch) == ["birch"]


def one(action: str, reading: str) -> Machine:
    return machine_from_transitions([("s", action, reading, "s")], "s")


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ({"a]": one("x", "0"), "b": one("x", "1")}, r"neither '\]' nor line ends may"),
        ({"a,c": one("x", "0"), "b": one("x", "1")}, "commas part models"),
        ({"a": one("x", "0]"), "b": one("x", "1")}, r"neither '\]' nor line ends may"),
        ({"a": one("x", "other"), "b": one("x", "1")}, "the reading 'other' would be taken"),
        ({"a": one("reset", "0"), "b": one("reset", "1")}, "the action 'reset' would be taken for the reset"),
    ],
)
def test_names_that_its_reader_would_misunderstand_are_refused(
    tmp_path: Path, known: dict[str, Machine], sentence: str
) -> None:
    with pytest.raises(FileError, match=sentence):
        fingerprint(known).write_decision_graph(tmp_path / "adg.dot")
    assert not (tmp_path / "adg.dot").exists()


def test_quotes_and_backslashes_are_escaped(tmp_path: Path) -> None:
    known = {'a "b"': one("x\\", '"\\"'), "b\\": one("x\\", "1")}
    fingerprint(known).write_decision_graph(tmp_path / "adg.dot")
    for name, machine in known.items():
        assert follow((tmp_path / "adg.dot").read_text(), machine) == [name]
