"""Every command and every Python example of the README and the docs is run, and what they show is what is printed.

In a block ```console a line "$ command" is run in a copy of the repository's examples (marked slow where the block is
```console slow); the lines up to the next command are what it prints. A line "..." stands for any lines, and " ..." at
the end of one for the rest of it. A block ```python is run, and a block ```text right after it is what it prints.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(?P<head>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(m["head"].strip(), m["body"]) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def sessions() -> list[object]:
    found: list[object] = []
    for page in PAGES:
        bodies = [(head, body) for head, body in blocks(page) if head.startswith("console")]
        for slow in (False, True):
            text = "".join(body for head, body in bodies if head.endswith("slow") == slow)
            if text:
                marks = [pytest.mark.slow] if slow else []
                found.append(pytest.param(text, id=f"{page.name}{'-slow' if slow else ''}", marks=marks))
    return found


def examples() -> list[object]:
    found: list[object] = []
    for page in PAGES:
        parts = blocks(page)
        for i, (head, body) in enumerate(parts):
            if head == "python":
                expected = parts[i + 1][1] if i + 1 < len(parts) and parts[i + 1][0] == "text" else None
                found.append(pytest.param(body, expected, id=f"{page.name}-{i}"))
    return found


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def agrees(expected: list[str], shown: list[str]) -> bool:
    """Line by line, where "..." stands for any number of lines."""
    if not expected:
        return not shown
    if expected[0].strip() == "...":
        return any(agrees(expected[1:], shown[i:]) for i in range(len(shown) + 1))
    return bool(shown) and is_line(expected[0].rstrip(), shown[0].rstrip()) and agrees(expected[1:], shown[1:])


def is_line(expected: str, shown: str) -> bool:
    """The same, or, where " ..." ends the line, beginning alike."""
    return shown.startswith(expected[:-4]) if expected.endswith(" ...") else expected == shown


@pytest.mark.parametrize("text", sessions())
def test_the_commands_of_the_docs_do_what_is_shown(text: str, workplace: Path) -> None:
    steps = [step.splitlines() for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    assert steps
    for command, *expected in steps:
        if command.startswith(("make ", "git ", "cd ")):
            continue  # set-up is tested by making the environment that this runs in
        done = subprocess.run(
            ["bash", "-c", command], cwd=workplace, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode in {0, 1, 3, 4}, f"{command}\n{done.stderr}"
        shown = [line for line in done.stdout.splitlines() if line.strip()]
        wanted = [line for line in expected if line.strip()]
        assert not wanted or agrees(wanted, shown), f"{command}\n{done.stdout}"


@pytest.mark.parametrize(("code", "expected"), examples())
def test_the_python_of_the_docs_prints_what_is_shown(code: str, expected: str | None, workplace: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=workplace, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if expected is not None:
        assert agrees(expected.splitlines(), done.stdout.splitlines()), done.stdout


def test_the_readme_says_how_long_the_checker_is() -> None:
    """In thousands of lines of code, without docstrings, comments and blank lines."""
    code = 0
    for file in (ROOT / "src" / "ascertain_check").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):  # what is printed again has no comments, and no docstrings once they are gone
            if isinstance(body := getattr(node, "body", None), list):
                node.body = [each for each in body if not is_docstring(each)] or [ast.Pass()]  # type: ignore[attr-defined]
        code += len(ast.unparse(tree).splitlines())
    said = re.search(r"separate package of (\w+) thousand\s+lines of code", (ROOT / "README.md").read_text("utf-8"))
    assert said is not None
    assert ["three", "four", "five"].index(said[1]) + 3 == round(code / 1000)


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
