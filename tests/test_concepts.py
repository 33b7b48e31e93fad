"""The page that ties the paper to the code names only what exists, and leaves nothing of the paper out."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
ROWS = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 4]
CITED = [(here, tests) for _, here, tests in ROWS if "`" in here]
RESULTS = [
    "Definition 2.1",
    "Theorem 2.2",
    "Corollary 2.3",
    "Theorem 3.1",
    "Theorem 3.2",
    "Theorem 3.3",
    "Corollary 3.4",
    "Algorithm 1",
    "Theorem 4.1",
    "Theorem 4.2",
]
EQUATIONS = 29


def find(dotted: str) -> object:
    """What a dotted name stands for, below `ascertain` unless it says otherwise: a module, or a name in one."""
    elsewhere = dotted.startswith(("ascertain_paper.", "tests."))
    module, _, name = (dotted if elsewhere else f"ascertain.{dotted}").rpartition(".")
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        return import_module(f"{module}.{name}")


DOTTED = sorted(
    {name for row in ROWS for cell in row for name in re.findall(r"`([a-z_]+\.[\w.]+)`", cell) if name[-3:] != ".py"}
)


@pytest.mark.parametrize("dotted", DOTTED)
def test_what_computes_a_concept_exists(dotted: str) -> None:
    assert find(dotted) is not None


@pytest.mark.parametrize("tests", [tests for _, tests in CITED])
def test_the_tests_of_a_concept_exist(tests: str) -> None:
    files = re.findall(r"`(test_\w+\.py)`", tests)
    text = "".join((ROOT / "tests" / name).read_text(encoding="utf-8") for name in files)
    assert files
    for name in re.findall(r"`(\w+)`", tests):
        assert f"def test_{name}(" in text, name


def test_every_result_and_equation_of_the_paper_has_its_row() -> None:
    said = "\n".join(row[0] for row in ROWS)
    assert [result for result in RESULTS if result not in said] == []
    assert {int(n) for n in re.findall(r"\((\d+)\)", said)} == set(range(1, EQUATIONS + 1))


def test_the_paper_has_as_many_equations_as_are_counted(models_dir: Path) -> None:
    paper = (models_dir.parent / "paper.tex").read_text(encoding="utf-8")
    lines = paper.count(r"\begin{equation}") + 2 * paper.count(r"\begin{align}")
    assert lines == EQUATIONS
