"""The verbs bank and calibrate: what they print, how they end, and one clear sentence for bad logs."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.bank.calibration_file import read_calibration
from ascertain.bank.compile import compiler_names
from ascertain.model import BooleanPlant
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import read_problem
from ascertain.task.log import read_log
from ascertain_paper.testbed.settings import load_settings
from tests.calls import answer, call
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples" / "operation"
PROBLEMS = ("turntable", "press")


def complaint(*arguments: object) -> str:
    """The one sentence on standard error of a call that must be refused."""
    done = call(*arguments, code=2)
    assert not done.stdout
    return " ".join(done.stderr.split())


def bank(name: str, *options: object) -> dict[str, Any]:
    return answer("bank", EXAMPLES / f"{name}.toml", *options)


def replayed(name: str, replacements: list[dict[str, Any]]) -> str:
    """Where the log leads when these commands of it are replaced, by name."""
    problem = read_problem(EXAMPLES / f"{name}.toml")
    operation, model = pose_operation(problem), problem.operated
    instead = {each["line"]: each["done"] for each in replacements}
    state = operation.start
    assert problem.operation is not None and model is not None
    for record in read_log(problem.operation.log):
        if record.line in instead:
            assert next(each["sent"] for each in replacements if each["line"] == record.line) == record.command
        for done in instead.get(record.line, [record.command]):
            state = model.next_state(state, model.actions.index(done))
    return model.name_state(state) if isinstance(model, BooleanPlant) else model.states[state]


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_candidate_comes_with_a_path_that_leads_there(name: str) -> None:
    facts = bank(name)
    assert (facts["schema"], facts["schema_version"]) == ("ascertain/bank", 1)
    for row in facts["candidates"]:
        assert replayed(name, row["replacements"]) == row["state"]
        assert row["score"][0] == len(row["contradicted_trusted"])
    assert facts["nominal"] == replayed(name, []) and facts["complete"] is True


@pytest.mark.parametrize("name", PROBLEMS)
def test_candidates_are_ranked_by_shells_and_their_weights_sum_to_one(name: str) -> None:
    facts = bank(name)
    rows, shells = facts["candidates"], facts["shells"]
    assert [row["shell"] for row in rows] == [j + 1 for j, shell in enumerate(shells) for _ in range(shell["size"])]
    assert all(row["score"] == shells[row["shell"] - 1]["score"] for row in rows)
    scores = [shell["score"] for shell in shells]
    assert scores == sorted(scores) and len({tuple(score) for score in scores}) == len(scores)
    assert sum(Fraction(row["weight"]) for row in rows) == 1
    assert {"model_steps", "evaluations", "seconds", "paths", "compiler"} <= facts["stats"].keys()


@pytest.mark.parametrize("name", PROBLEMS)
def test_all_compilers_print_the_same_bank(name: str) -> None:
    merged, *others = (bank(name, "--compiler", compiler, "--shells", 2) for compiler in compiler_names())
    for other, compiler in zip(others, compiler_names()[1:], strict=True):
        assert all(merged[key] == other[key] for key in ("candidates", "shells", "nominal"))
        assert other["stats"]["compiler"] == compiler
        assert (other["stats"]["early_proof"] is not None) == compiler.startswith("direct")


def test_the_nominal_is_kept_however_few_shells_are() -> None:
    facts = bank("turntable", "--shells", 1)
    assert [(row["state"], row["shell"]) for row in facts["candidates"]] == [("p5", 1), ("p4", None)]
    assert facts["complete"] is False
    assert sum(Fraction(row["weight"]) for row in facts["candidates"]) == 1


def test_the_table_says_what_went_wrong_and_where_in_the_log() -> None:
    shown = call("bank", EXAMPLES / "press.toml").stdout
    assert "line 5: spin was dropped" in shown and "line 7: cut became flush" in shown
    assert "(nominal)" in shown and "7!" in shown


def test_a_bank_is_written_whole_and_never_over_what_it_was_read_from(tmp_path: Path) -> None:
    out = tmp_path / "bank.json"
    facts = answer("bank", EXAMPLES / "press.toml", "--out", out)
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["format"] == "ascertain-bank" and written["candidates"] == facts["candidates"]
    again = tmp_path / "again.json"
    call("bank", EXAMPLES / "press.toml", "--out", again)
    assert again.read_bytes() == out.read_bytes()
    shutil.copytree(EXAMPLES, tmp_path / "here")
    for name in ("press.csv", "press.toml", "press_plant.toml"):
        said = complaint("bank", tmp_path / "here" / "press.toml", "--out", tmp_path / "here" / name)
        assert "this file is an input of the question" in said


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "operation")
    return tmp_path / "operation"


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        (3, "stepp,plain,false", "turntable.csv:3: 'stepp' is not a command of the model; did you mean 'step'?"),
        (3, "step,plane,false", "turntable.csv:3: 'plane' is not a reading of the model; did you mean 'plain'?"),
        (3, "step,plain", "turntable.csv:3: 2 fields where the header has 3"),
        (3, "step,plain,perhaps", "turntable.csv:3: trusted is 'perhaps'; write true or false"),
        (1, "command,trusted", "turntable.csv:1: one column 'reading' is needed"),
        (1, "command,reading,trust", "turntable.csv:1: unknown column 'trust'; did you mean 'trusted'?"),
    ],
)
def test_a_bad_log_gets_one_sentence_with_the_line(line: int, text: str, expected: str, workplace: Path) -> None:
    log = workplace / "turntable.csv"
    lines = log.read_text(encoding="utf-8").splitlines()
    lines[line - 1] = text
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert expected in complaint("bank", workplace / "turntable.toml")


def test_a_log_in_json_lines_says_the_same(workplace: Path) -> None:
    log, problem = workplace / "turntable.jsonl", workplace / "turntable.toml"
    rows = [
        {"command": record.command, "reading": record.reading, "trusted": record.trusted}
        for record in read_log(workplace / "turntable.csv")
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    problem.write_text(problem.read_text(encoding="utf-8").replace(".csv", ".jsonl"), encoding="utf-8")
    found, wanted = answer("bank", problem)["candidates"], bank("turntable")["candidates"]
    assert [row["state"] for row in found] == [row["state"] for row in wanted]
    # The CSV file has a header, so that its lines are one further down.
    assert found[0]["replacements"][0]["line"] + 1 == wanted[0]["replacements"][0]["line"]
    log.write_text(json.dumps(rows[0]) + "\n" + json.dumps({"command": "step"}) + "\n", encoding="utf-8")
    assert "turntable.jsonl:2: one column 'reading' is needed" in complaint("bank", problem)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("flips = [0, 1]", "flips = [3, 1]", "[operation] window: flips is [3, 1], upside down"),
        ("replaced = 2", "replaced = 9", "[operation] replaced is 9, but"),
        ("replaced = 2", "replaced = -1", "[operation] replaced: -1 is not understood"),
        ('start = "p0"', 'start = "p9"', "[operation] start"),
        ('step = [""', 'stop = [""', "'stop' is not a command of the model; did you mean 'step'?"),
        ("turntable.csv", "turntables.csv", "there is no such file"),
        ("[operation]", "[observe]", "unknown key 'log'"),
    ],
)
def test_a_bad_declaration_gets_one_sentence(old: str, new: str, expected: str, workplace: Path) -> None:
    path = workplace / "turntable.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert expected in complaint("bank", path)


def test_a_problem_without_an_operation_says_what_is_missing() -> None:
    assert "a section [operation] with log" in complaint("bank", ROOT / "examples" / "valve" / "leak.toml")
    assert "--shells" in complaint("bank", EXAMPLES / "press.toml", "--shells", 0)
    assert "'magic' is not a compiler; known are" in complaint("bank", EXAMPLES / "press.toml", "--compiler", "magic")


def test_a_log_that_cannot_have_happened_leaves_nothing(workplace: Path) -> None:
    (workplace / "stuck.dot").write_text(
        'digraph g { __start0 -> a; a -> b [label="go / ok"]; b -> b [label="stay / ok"]; }', encoding="utf-8"
    )
    (workplace / "stuck.csv").write_text("command,reading\ngo,ok\ngo,ok\n", encoding="utf-8")
    (workplace / "stuck.toml").write_text(
        'model = "stuck.dot"\n[operation]\nlog = "stuck.csv"\nreplaced = 0\n', encoding="utf-8"
    )
    stuck = call("bank", workplace / "stuck.toml", code=1)
    assert "nothing that is declared can have happened" in stuck.stdout
    assert answer("bank", workplace / "stuck.toml", code=1)["candidates"] == []


def test_calibrate_prints_what_it_writes_whatever_the_number_of_workers(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    facts = answer("calibrate", "small", "--blocks", 3, "--out", one)
    assert (facts["schema"], facts["coverage"], len(facts["per_stratum"])) == ("ascertain/calibrate", "3/4", 16)
    call("calibrate", "small", "--blocks", 3, "--workers", 2, "--out", two)
    assert one.read_bytes() == two.read_bytes()
    calibration = read_calibration(one, load_settings("small").hash)
    assert calibration.whole.shells == facts["shells"] and calibration.blocks[2] == "calibration 2"


def test_calibrate_shows_strata_when_asked() -> None:
    done = call("calibrate", "small", "--blocks", 2, "--place", 2, "--per-stratum")
    assert "first, one early, 0" in done.stdout and "probability at least 1/3" in done.stdout


def test_calibrate_reads_settings_from_a_file_and_refuses_what_it_cannot_use(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(load_settings("small").text.replace('name = "small"', 'name = "mine"'), encoding="utf-8")
    mine = answer("calibrate", path, "--blocks", 1)
    assert mine["settings"] == "mine" and mine["settings_hash"] != load_settings("small").hash
    assert "the settings cannot be read" in complaint("calibrate", tmp_path / "none.toml")
    assert "cannot be taken" in complaint("calibrate", "small", "--blocks", 2, "--place", 3)
    assert "--blocks" in complaint("calibrate", "small", "--blocks", 0)
    assert "this file is an input" in complaint("calibrate", path, "--out", path)
