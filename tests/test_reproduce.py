"""`ascertain reproduce` as a person meets it: what it prints and writes, what it refuses, and how it ends."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import typer

from ascertain.cli.reproduce import NAMES, command
from ascertain.errors import FileError
from ascertain.instances.settings import load_settings
from ascertain.study import registry
from ascertain.study.conditions import Conditions
from ascertain.study.record import Study
from ascertain.study.registry import STUDIES, run_study
from tests.test_cli import complaint, run


def test_every_study_has_a_name_on_the_command_line_and_a_module() -> None:
    from importlib import import_module

    assert list(NAMES) == [*STUDIES, "all"]
    for module in STUDIES.values():
        assert callable(import_module(f"ascertain.study.{module}").study)


def test_the_story_prints_its_tables_and_json_gives_its_facts(tmp_path: Path) -> None:
    done = run("reproduce", "story", "--settings", "small", "--out", tmp_path, "--latex")
    assert done.returncode == 0, done.stderr
    assert "What was replaced" in done.stdout and "VERIFIED" in done.stdout and "report.html" in done.stdout
    names = {path.name for path in tmp_path.iterdir()}
    assert {"report.html", "story.json", "operation.json", "operation.task.json", "story-evidence.svg"} <= names
    assert {"story-run.csv", "story-run.md", "story-run.tex"} <= names
    again = run("reproduce", "story", "--settings", "small", "--json")
    data = json.loads(again.stdout)
    assert data["study"] == "story" and data["facts"]["checked"] == "VERIFIED"
    written = json.loads((tmp_path / "story.json").read_text())
    assert written["facts"] == data["facts"] and written["tables"] == data["tables"]


def test_a_study_that_is_not_known_is_said_with_a_guess() -> None:
    assert "did you mean 'controller'" in complaint("reproduce", "controler")
    assert "story, controller" in complaint("reproduce", "everything")


@pytest.mark.parametrize("option", [{"latex": True}, {"resume": True}, {"parquet": True}, {"label": "second"}])
def test_what_happens_in_a_folder_needs_one(option: dict[str, Any]) -> None:
    with pytest.raises(FileError, match="give it with --out"):
        command("story", settings="small", **option)


def test_settings_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("bits = 3\n")
    assert "these are not the settings of a testbed" in complaint("reproduce", "story", "--settings", path)


def test_an_alarm_ends_with_exit_code_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def alarmed(name: str, conditions: Conditions) -> Study:
        return Study(
            name=name, title=name, settings_hash=conditions.settings.hash, quick=True, seconds=0.0, rows=(), tables=(),
            alarms=("an answer is WRONG",),
        )  # fmt: skip

    monkeypatch.setattr(registry, "run_study", alarmed)
    with pytest.raises(typer.Exit) as ended:
        command("all", settings="small", out=tmp_path)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().err.count("an answer is WRONG") == len(STUDIES)
    assert "an answer is WRONG" in (tmp_path / "report.html").read_text()


def small_conditions(folder: Path, **changes: object) -> Conditions:
    from ascertain.study.engines import start_engine

    return Conditions(settings=load_settings("small"), engine=start_engine("local", 1), folder=folder, **changes)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_audit_of_the_small_testbed_is_kept_and_resumed_from_its_stores(tmp_path: Path) -> None:
    first = run_study("audit", small_conditions(tmp_path))
    assert first.alarms == ()
    stores = sorted(path.name for path in tmp_path.glob("*.sqlite"))
    assert stores == [f"audit-{part}-quick.sqlite" for part in ("noise", "noise-sampling", "removed", "sampling")]
    store = sqlite3.connect(tmp_path / "audit-removed-quick.sqlite")
    store.execute("DELETE FROM result WHERE number = 3")
    store.commit()
    store.close()
    again = run_study("audit", small_conditions(tmp_path, resume=True))
    assert (again.rows, again.tables) == (first.rows, first.tables)
