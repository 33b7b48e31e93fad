"""The vocabulary as a type checker sees it: one program that it must accept, one whose every line it must refuse."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HERE = ROOT / "tests" / "typing"


@pytest.fixture(scope="module")
def complaints() -> dict[str, set[int]]:
    """By file, the lines that pyright complains of."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(HERE), "--pythonpath", sys.executable]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert said["summary"]["filesAnalyzed"] == 2
    found: dict[str, set[int]] = {"accepted.py": set(), "refused.py": set()}
    for each in said["generalDiagnostics"]:
        found[Path(each["file"]).name].add(each["range"]["start"]["line"] + 1)
    return found


def test_a_program_of_the_vocabulary_is_accepted(complaints: dict[str, set[int]]) -> None:
    assert complaints["accepted.py"] == set()


def test_every_wrong_line_is_refused(complaints: dict[str, set[int]]) -> None:
    tree = ast.parse((HERE / "refused.py").read_text(encoding="utf-8"))
    wrong = {node.lineno for node in tree.body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)}
    assert complaints["refused.py"] == wrong
