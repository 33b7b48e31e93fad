"""Mistakes of a first day: each is one sentence that names the culprit and says what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import ascertain
from ascertain import read_problem
from ascertain.errors import MissingFileError
from ascertain.live.journal import Journal, has_begun
from tests.conftest import ROOT
from tests.test_cli import SERVERS, VALVE, complaint, run

LAMP = ROOT / "examples" / "plants" / "lamp.toml"
PRESS = ROOT / "examples" / "operation" / "press_plant.toml"
QUESTION = '[operation]\nlog = "away.csv"\nstart = "p0"\n'


def test_a_model_in_the_place_of_a_problem_is_named_and_what_would_be_right() -> None:
    said = complaint("solve", VALVE / "valve.dot")
    assert (
        'valve.dot: a model is no question; a problem file (.toml) is needed, with the line model = "valve.dot"' in said
    )
    assert "ascertain init" in said
    assert "press_plant.toml: a model is no question;" in complaint("bank", PRESS)


@pytest.mark.parametrize("verb", ["inspect", "solve"])
def test_a_folder_is_called_one(verb: str, tmp_path: Path) -> None:
    assert complaint(verb, tmp_path).endswith("this is a directory; a file was expected")


def test_a_missing_file_is_told_with_the_problem_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('model = "away.dot"\n')
    assert f"{path} names a file that is missing: {tmp_path / 'away.dot'}: there is no such file" in complaint(
        "inspect", path
    )
    (tmp_path / "t.dot").write_text((ROOT / "examples/operation/turntable.dot").read_text())
    path.write_text(f'model = "t.dot"\n{QUESTION}')
    assert f"{path} names a file that is missing: {tmp_path / 'away.csv'}: there is no such file" in complaint(
        "bank", path
    )
    with pytest.raises(MissingFileError, match=r"^[^:]*nowhere\.toml: there is no such file"):
        ascertain.settle(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--objective", "mean"], "'--objective': 'mean' is not one of 'worst', 'expected'; see"),
        (["--time", "-3"], "'--time': '-3' was given; it must be greater than or equal to 0; see"),
        (["--time", "soon"], "'--time': 'soon' was given; it must be a valid number; see"),
    ],
)
def test_an_option_that_is_out_of_range_is_told_with_what_was_given(words: Sequence[str], sentence: str) -> None:
    assert sentence in complaint("solve", VALVE / "leak.toml", *words)


def test_machines_without_a_common_action_are_told_with_their_actions() -> None:
    said = complaint("fingerprint", SERVERS / "alder.dot", VALVE / "valve.dot")
    assert "alder knows HELO, AUTH, SEND, QUIT; valve knows vent, fill, wait, gauge, light" in said


def test_an_unknown_column_is_told_with_those_that_are_known(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("cmd;reading\nHELO;250\n")
    servers = SERVERS / "alder.dot", SERVERS / "birch.dot"
    said = complaint("fingerprint", *servers, "--transcript", tmp_path / "log.csv")
    assert said.endswith("columns are command, reading, trusted")


def test_a_journal_in_the_way_is_refused_before_a_policy_is_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    observe = "observe", LAMP, "--plant", "simulated:1", "--probing", "round-robin", "--journal", path
    assert run(*observe).returncode == 0
    kept = path.read_bytes()
    search = "observe", LAMP, "--plant", "simulated:1", "--policy", "certified", "--journal", path
    assert "this journal has begun already; add --resume" in complaint(*search)  # one line: no search was announced
    assert path.read_bytes() == kept


def test_a_journal_has_begun_once_it_holds_a_record(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    assert not has_begun(path)
    path.touch()
    assert not has_begun(path)
    with Journal(path):
        pass
    assert path.stat().st_size and not has_begun(path)
    assert not has_begun(tmp_path)
    with Journal(path) as journal:
        journal.begin({"record": "commitment"})
    with pytest.raises(ascertain.AscertainError, match="record 0"):
        has_begun(path)  # a record that no journal holds is not passed over


def test_a_call_that_does_not_fit_names_the_function() -> None:
    settle = cast("Any", ascertain.settle)
    with pytest.raises(TypeError, match=r"^settle: got an unexpected keyword argument 'objectiv'"):
        settle(VALVE / "leak.toml", objectiv="worst")


def test_what_was_observed_before_is_said_where_the_words_that_are_left_cost_less_than_a_suite() -> None:
    servers = sorted(SERVERS.glob("*.dot"))
    told = run("fingerprint", *servers, "--plant", "simulated:1", "--conform", "complete:0").stderr
    assert "without what was observed before, no suite with these access words costs less than" in told
    alone = run("conform", SERVERS / "birch.dot", "--complete", "0", "--plan-only").stdout
    assert "cost 54; no suite with these access words costs less than 54" in alone


def test_a_name_that_only_a_rule_mentions_is_noted_unless_it_is_declared_as_an_input(tmp_path: Path) -> None:
    path = tmp_path / "n.bnet"
    path.write_text("A, A\nB, A & !Z\n")
    noted = "no line gives Z a rule: it is taken as an input"
    assert ascertain.inspect(path).notes == (noted,)
    problem = tmp_path / "p.toml"
    problem.write_text('model = "n.bnet"\n[task]\nabout = "current"\n')
    assert read_problem(problem).notes == (noted,)
    problem.write_text('model = "n.bnet"\n[network]\ninputs = ["A", "Z"]\n[task]\nabout = "current"\n')
    assert read_problem(problem).notes == ()
