"""`ascertain reproduce` as a person meets it: what it prints and writes, what it refuses, and how it ends."""

from __future__ import annotations

import json
import sqlite3
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from ascertain.errors import AscertainError, FileError
from ascertain.report.record import Figure, Series
from ascertain.report.tables import Table
from ascertain_paper import reproduce
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.registry import StudyEntry, register
from ascertain_paper.reproduce import run_study
from ascertain_paper.studies import STUDIES, study_names
from ascertain_paper.studies.replay import study as replay
from ascertain_paper.study import Excerpt, OpenChoice, Study
from ascertain_paper.testbed.settings import load_settings, parse_settings
from ascertain_paper.testbed.testbed import Testbed, load_testbed
from ascertain_paper.verbs.reproduce import command
from tests.conftest import ROOT
from tests.test_cli import complaint, run


def test_every_study_has_a_name_on_the_command_line_a_folder_and_a_function() -> None:
    from importlib import import_module

    folders = {path.parent.name for path in (ROOT / "src" / "ascertain_paper" / "studies").glob("*/__init__.py")}
    assert folders == set(STUDIES)
    names = ("story", "controller", "confirmation", "replay", "speculation", "invariants", "audit", "openworld")
    assert study_names() == names
    assert f"One of {', '.join(names)}, all." in " ".join(run("reproduce", "--help").stdout.replace("│", "").split())
    for entry in STUDIES.values():
        module, _, function = entry.function.partition(":")
        assert callable(getattr(import_module(module), function))


def small_study(conditions: Conditions) -> Study:
    """What the function of a study's entry does: from the conditions to the record."""
    table = Table("sizes", "Sizes", ("what", "number"), (("bits", conditions.settings.num_bits),))
    return Study(
        name="sizes", title="Sizes", settings_hash=conditions.settings.hash, quick=conditions.quick, seconds=0.0,
        rows=({"bits": conditions.settings.num_bits},), tables=(table,), findings=("Here are the sizes.",),
    )  # fmt: skip


def test_a_study_from_elsewhere_is_named_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(STUDIES, "sizes", STUDIES["story"])  # so that the entry is removed at the end
    del STUDIES["sizes"]
    with pytest.raises(FileError, match="'sizes' is not known"):
        command("sizes", settings="small")
    register(StudyEntry("sizes", order=8, function=f"{__name__}:small_study"))
    assert study_names()[-1] == "sizes"
    command("sizes", settings="small", out=tmp_path, workers=1)
    assert "Here are the sizes." in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert "Here are the sizes." in page and "ascertain reproduce sizes --settings small" in page
    assert (tmp_path / "sizes.csv").exists() and (tmp_path / "sizes.json").exists()
    with pytest.raises(FileError, match="there is a study 'sizes' already"):
        register(StudyEntry("sizes", order=9, function="elsewhere:study"))


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


@pytest.mark.usefixtures("twelve_operations")
def test_every_key_of_a_study_as_json_is_documented(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "formats.md").read_text().partition("### What `reproduce --json` prints")[2]
    assert page
    kinds = (Study, Table, Figure, Series, OpenChoice, Excerpt)
    keys = {"study", *(field.name for kind in kinds for field in fields(kind))}
    assert sorted(key for key in keys if f"`{key}`" not in page) == []
    command("replay", settings="small", out=tmp_path, workers=1)
    row = json.loads((tmp_path / "replay.json").read_text())["rows"][0]
    told = next(line for line in page.splitlines() if line.startswith("| `replay` |"))
    assert [key for key in row if f"`{key}`" not in told] == []


def test_words_of_a_table_stay_whole_where_it_is_piped_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ascertain.cli.show.output import print_table

    monkeypatch.delenv("COLUMNS", raising=False)
    words = [f"a-word-of-25-characters-{k}" for k in range(6)]
    print_table("wide", [words], words)
    shown = capsys.readouterr().out
    assert [shown.count(word) for word in words] == [2] * 6


def test_a_study_that_is_not_known_is_said_with_a_guess() -> None:
    assert "did you mean 'controller'" in complaint("reproduce", "controler")
    assert "story, controller" in complaint("reproduce", "everything")


@pytest.mark.parametrize("option", [{"latex": True}, {"resume": True}, {"parquet": True}, {"label": "second"}])
def test_what_happens_in_a_folder_needs_one(option: dict[str, Any]) -> None:
    with pytest.raises(FileError, match="give it with --out"):
        command("story", settings="small", **option)


def changed_settings(folder: Path) -> Path:
    path = folder / "changed.toml"
    path.write_text(load_settings("small").text + "# changed\n")
    return path


@pytest.fixture
def twelve_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = list(load_testbed("small").slots())[:12]
    monkeypatch.setattr(Testbed, "slots", lambda _testbed: iter(slots))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.usefixtures("twelve_operations")
def test_a_folder_is_of_one_set_of_settings_and_a_named_study_has_a_folder_of_its_own(tmp_path: Path) -> None:
    out, changed = tmp_path / "out", str(changed_settings(tmp_path))
    command("replay", settings="small", out=out, workers=1)
    before = contents(out)
    assert {"report.html", "replay.csv", "replay-quick.sqlite", "frozen-settings.toml"} <= set(before)
    choices: list[dict[str, Any]] = [{}, {"full": True}, {"resume": True}]
    for name in STUDIES:
        for options in choices:
            with pytest.raises(FileError, match=r"frozen once evaluation began: name a new study with --study NAME"):
                command(name, settings=changed, out=out, workers=1, **options)
    command("replay", settings=changed, out=out, label="second-1", workers=1)
    assert contents(out) == before
    assert set(contents(out / "second-1")) == set(before)
    with pytest.raises(FileError, match="frozen once evaluation began"):
        command("replay", settings="small", out=out, label="second-1", workers=1)
    with pytest.raises(FileError, match=r"go on with --resume, or name a new study with --study"):
        command("replay", settings="small", out=out, workers=1)


@pytest.mark.parametrize("name", ["a/b", "..", "a b", "é", "a.b"])
def test_a_name_that_no_folder_should_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="letters, digits, - and _"):
        command("story", settings="small", out=tmp_path, label=name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("twelve_operations")
def test_all_studies_resumed_after_single_ones_compute_nothing_twice_and_make_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("replay", settings="small", out=tmp_path, workers=1)
    assert 'id="story"' not in (tmp_path / "report.html").read_text()

    def refuse(case: object) -> None:
        raise AssertionError(case)

    monkeypatch.setattr(replay, "replay_operation", refuse)
    for name in set(STUDIES) - {"story", "replay"}:
        monkeypatch.delitem(STUDIES, name)
    command("all", settings="small", out=tmp_path, resume=True, workers=1)
    page = (tmp_path / "report.html").read_text()
    assert 'id="story"' in page and 'id="replay"' in page


@pytest.mark.usefixtures("twelve_operations")
def test_parquet_holds_the_results_of_this_call_and_leaves_nothing_else(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    (tmp_path / "other-quick.sqlite").write_text("of another study, whatever it is")
    command("replay", settings="small", out=tmp_path, workers=1, parquet=True)
    assert [path.name for path in tmp_path.glob("*.parquet")] == ["replay-quick.parquet"]
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith(("-wal", "-shm", ".part"))]
    table = parquet.read_table(tmp_path / "replay-quick.parquet").to_pydict()
    assert table["number"] == list(range(12))
    assert table["active"] == [operation_is_active(number) for number in range(12)]


def operation_is_active(number: int) -> bool:
    testbed = load_testbed("small")
    return testbed.draw(list(testbed.slots())[number]).active


def test_parquet_that_cannot_be_written_is_said_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(AscertainError, match=r"pip install 'ascertain\[parquet\]'"):
        command("replay", settings="small", out=tmp_path / "out", parquet=True)
    assert not (tmp_path / "out").exists()


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

    monkeypatch.setattr(reproduce, "run_study", alarmed)
    with pytest.raises(typer.Exit) as ended:
        command("all", settings="small", out=tmp_path)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().err.count("an answer is WRONG") == len(STUDIES)
    assert "an answer is WRONG" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("changes", "typed"),
    [({}, "--settings small"), ({"quick": False, "exhaustive": True}, "--full --exhaustive --settings small"),
     ({"settings": load_settings("testbed")}, ""), ({"settings": load_settings("testbed"), "quick": False}, "--full"),
     ({"settings": parse_settings(load_settings("small").text + "\n", "x")}, "--settings FILE")],
)  # fmt: skip
def test_a_study_knows_the_command_that_makes_it_again(
    changes: dict[str, Any], typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ascertain_paper.campaign.engines import start_engine
    from ascertain_paper.studies.invariants import study as invariants

    def nothing(conditions: Conditions) -> Study:
        return Study(name="x", title="x", settings_hash="", quick=conditions.quick, seconds=0, rows=(), tables=())

    monkeypatch.setattr(invariants, "study", nothing)
    conditions = Conditions(**{"settings": load_settings("small"), "engine": start_engine("local", 1), **changes})
    assert run_study("invariants", conditions).command == f"ascertain reproduce invariants {typed}".strip()


def small_conditions(folder: Path, **changes: object) -> Conditions:
    from ascertain_paper.campaign.engines import start_engine

    return Conditions(settings=load_settings("small"), engine=start_engine("local", 1), folder=folder, **changes)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_audit_of_the_small_testbed_is_kept_and_resumed_from_its_stores(tmp_path: Path) -> None:
    first = run_study("audit", small_conditions(tmp_path))
    assert first.alarms == ()
    stores = sorted(path.name for path in tmp_path.glob("*.sqlite"))
    parts = ("noise", "noise-sampling", "removed", "sampling", "vain")
    assert stores == [f"audit-{part}-quick.sqlite" for part in parts]
    store = sqlite3.connect(tmp_path / "audit-removed-quick.sqlite")
    store.execute("DELETE FROM result WHERE number = 3")
    store.commit()
    store.close()
    again = run_study("audit", small_conditions(tmp_path, resume=True))
    assert (again.rows, again.tables) == (first.rows, first.tables)
