"""The hash of the first record is shown to others before the first action, or nothing is sent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ascertain.errors import TaskError
from ascertain.live.journal import Journal
from ascertain.live.witnesses import command_witness
from ascertain.pipeline.observe import observe
from tests.calls import call
from tests.conftest import LAMP
from tests.reference.run_claims import head_of


def first_hash(journal: Path) -> str:
    with Journal(journal) as kept:
        return head_of(list(kept.records[:1]))


def test_a_witness_hears_the_hash_of_the_first_record_once_and_before_anything_is_sent(tmp_path: Path) -> None:
    heard: list[str] = []

    class Lamp:
        def send(self, action: str) -> str:
            assert heard, f"{action} was sent before the witness has heard"
            return "dark"

    observed = observe(LAMP, Lamp(), journal=tmp_path / "j", witnesses=[heard.append])
    assert observed.is_certified
    assert heard == [first_hash(tmp_path / "j")]
    observe(LAMP, None, journal=tmp_path / "j", resume=True, witnesses=[heard.append])
    assert len(heard) == 1


def test_a_run_whose_witness_fails_does_not_begin(tmp_path: Path) -> None:
    def refuse(_: str) -> None:
        raise TaskError("not now")

    class Lamp:
        def send(self, action: str) -> str:
            raise AssertionError(action)

    with pytest.raises(TaskError, match="not now"):
        observe(LAMP, Lamp(), journal=tmp_path / "j", witnesses=[refuse])
    with Journal(tmp_path / "j") as kept:
        assert not kept.records
    assert observe(LAMP, "simulated:4", journal=tmp_path / "j", resume=True).is_certified


def test_the_command_gets_the_hash_as_its_last_argument(tmp_path: Path) -> None:
    program = tmp_path / "witness.py"
    program.write_text(
        "import pathlib, sys\npathlib.Path(sys.argv[1]).write_text(sys.argv[2])\nsys.exit(int(sys.argv[1][-1]))\n"
    )
    for code in (0, 7):
        note, journal = tmp_path / f"note{code}", tmp_path / f"j{code}"
        words = ["observe", LAMP, "--plant", "simulated:4", "--journal", journal, "--json"]
        done = call(*words, "--witness", f"'{sys.executable}' '{program}' '{note}'", code=2 if code else 0)
        if code:
            assert "ended with exit code 7; nothing was sent" in str(done.exception) + done.output
        else:
            assert json.loads(done.stdout)["label"] is not None
            assert note.read_text() == first_hash(journal)


@pytest.mark.parametrize("command", ["", "  ", "'", "no/such/program"])
def test_what_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(TaskError, match="--witness"):
        command_witness(command)("0" * 64)


def test_no_problem_file_names_a_witness(tmp_path: Path) -> None:
    problem = tmp_path / "p.toml"
    problem.write_text(
        LAMP.read_text() + '\n[observe]\nwitness = "true"\n'
        if "[observe]" not in LAMP.read_text()
        else LAMP.read_text().replace("[observe]", '[observe]\nwitness = "true"')
    )
    with pytest.raises(TaskError, match="witness"):
        observe(problem, "simulated:4")
