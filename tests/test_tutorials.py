"""The tutorials are notebooks, scripts and pages at once: each is run as the site runs it, with all that it asserts."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from docs.hooks.percent import Cell, read_cells, render, run_code

from tests.conftest import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs_and_shows_what_it_prints(path: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    page = render(path, tmp_path)
    assert page.startswith("# ")
    assert page.count("\n``` { .text .output }\n") >= 3  # a tutorial shows results, cell by cell


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_needs_the_vocabulary_alone_and_checks_what_it_says(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert [name for name in modules if name and name.startswith("ascertain") and name != "ascertain"] == []
    assert sum(isinstance(node, ast.Assert) for node in ast.walk(tree)) >= 3


def test_every_tutorial_is_listed_on_the_page_of_tutorials() -> None:
    listed = re.findall(r"\]\((\w+)\.py\)", (ROOT / "docs" / "tutorials" / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.stem for path in TUTORIALS]


def test_cells_are_text_or_code_and_the_last_expression_is_shown() -> None:
    cells = read_cells("header\n# %% [markdown]\n# # Title\n#\n# text\n\n# %%\nx = 1\nprint(x)\nx + 1\n")
    assert cells == [Cell(True, "# Title\n\ntext"), Cell(False, "x = 1\nprint(x)\nx + 1")]
    assert run_code(cells[1].source, "tutorial", {}) == ("1\n", 2)


def test_a_tutorial_that_says_what_is_not_so_fails(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("# %%\nassert 1 == 2\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        render(path, tmp_path)
