"""The registry of compilers: one from elsewhere is named by the command line, a problem file and an observer's bank."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ascertain.bank.candidates import Compiled
from ascertain.bank.compile import COMPILERS, Compiler, compile_bank, compiler_names
from ascertain.bank.compilers.merging import compile_merging
from ascertain.bank.operation import Operation
from ascertain.errors import AscertainError, TaskError
from ascertain.observer.banks import OperationBank
from ascertain.types import Progress
from tests.calls import answer, call
from tests.conftest import ROOT
from tests.test_bank_operation import small_operation

EXAMPLE = ROOT / "examples" / "operation"


def compile_renamed(operation: Operation, shells: int | None, memory_limit: int, progress: Progress | None) -> Compiled:
    """The merging compiler under another name."""
    compiled = compile_merging(operation, shells, memory_limit, progress)
    return replace(compiled, stats=replace(compiled.stats, compiler="renamed"))


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers it until the test ends."""
    monkeypatch.setattr(COMPILERS, "_by_word", dict(COMPILERS._by_word))  # so that the entry is removed at the end
    COMPILERS.register(Compiler("renamed", compile_renamed))


@pytest.mark.usefixtures("renamed")
def test_a_compiler_from_elsewhere_is_named_on_the_command_line_and_in_a_problem_file(tmp_path: Path) -> None:
    assert compiler_names() == ("merging", "direct", "direct-unmerged", "exhaustive", "renamed")
    usual = answer("bank", EXAMPLE / "press.toml")
    named = answer("bank", EXAMPLE / "press.toml", "--compiler", "renamed")
    assert (usual["stats"]["compiler"], named["stats"]["compiler"]) == ("merging", "renamed")
    assert named["candidates"] == usual["candidates"]
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    problem = tmp_path / "press.toml"
    problem.write_text(problem.read_text() + "\n[observe]\ncompiler = 'renamed'\n")
    assert answer("bank", problem)["stats"]["compiler"] == "renamed"


@pytest.mark.usefixtures("renamed")
def test_a_bank_of_an_observer_may_be_compared_with_another_compilers() -> None:
    source = OperationBank(small_operation(), "renamed", against="exhaustive")
    source()
    assert source.report is not None
    assert (source.report.stats.compiler, source.report.map_equal) == ("renamed", True)


def test_a_name_that_is_no_compiler_is_refused_before_anything_is_done() -> None:
    mistaken: list[dict[str, Any]] = [{"compiler": "renamed"}, {"against": "renamed"}]
    for names in mistaken:
        with pytest.raises(
            TaskError, match="'renamed' is not a compiler; known are merging, direct, direct-unmerged, exhaustive"
        ):
            OperationBank(small_operation(), **names)
    done = call("bank", EXAMPLE / "press.toml", "--compiler", "renamed", code=2)
    assert "'renamed' is not a compiler; known are merging, direct, direct-unmerged, exhaustive" in done.stderr


def test_a_name_stands_for_one_compiler() -> None:
    with pytest.raises(AscertainError, match="'direct' is taken already"):
        COMPILERS.register(Compiler("direct", compile_renamed))
    assert compile_bank(small_operation(), "direct").stats.compiler == "direct"
