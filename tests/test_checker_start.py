"""The checker as it starts: which modules it runs, and which files it reads."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ascertain_check
from ascertain_check import __main__ as command
from ascertain_check.__main__ import judge
from ascertain_check.origin import find_shadows
from tests.conftest import ROOT

CASE = next((ROOT / "tests" / "certificates" / "refuted").glob("*.task.json"))
"""A task beside a certificate that does not hold."""
LIE = "print('VERIFIED'); raise SystemExit\n"


def check(place: Path, *options: str, **environment: str) -> tuple[int, str]:
    """What the checker says of a certificate that is refuted, started in this place."""
    files = [str(CASE), str(CASE).replace(".task.json", ".json")]
    command = [sys.executable, *options, "-m", "ascertain_check", *files]
    done = subprocess.run(
        command, cwd=place, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout


def test_a_module_in_the_current_directory_is_not_run(tmp_path: Path) -> None:
    for name in ("hashlib", "fractions", "enum"):
        (tmp_path / f"{name}.py").write_text(LIE)
    code, said = check(tmp_path)
    assert code == 1 and said.startswith("REFUTED")


def test_a_checker_in_the_current_directory_is_not_run_with_p(tmp_path: Path) -> None:
    (tmp_path / "ascertain_check.py").write_text(LIE)
    assert check(tmp_path)[0] == 0, "as Python is; this is why documents say -P"
    code, said = check(tmp_path, "-P")
    assert code == 1 and said.startswith("REFUTED")


def test_a_checker_on_another_library_does_not_judge(tmp_path: Path) -> None:
    (tmp_path / "heapq.py").write_text("def heappush(*_): ...\nheappop = heapify = heapreplace = merge = heappush\n")
    home = Path(ascertain_check.__file__).parent.parent  # PYTHONPATH is replaced: it leads to no other checker
    code, said = check(tmp_path, "-P", PYTHONPATH=os.pathsep.join([str(tmp_path), str(home)]))
    assert code == 2 and "nothing is judged" in said and "heapq from" in said
    code, said = check(tmp_path, "-I", PYTHONPATH=str(tmp_path))
    assert code == 1 and said.startswith("REFUTED")
    assert find_shadows() == []


def test_of_many_modules_from_elsewhere_three_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line stays short; with one or with a hundred nothing is judged."""
    for names in (["one"], ["one", "two", "three", "four"]):
        monkeypatch.setattr(command, "find_shadows", names.copy)
        verdict = judge([str(CASE), str(CASE)])
        assert verdict.exit_code == 2
        assert verdict.reason == f"nothing is judged, for modules of Python come from elsewhere: {'; '.join(names[:3])}"


def test_the_default_budget_grows_with_both_files(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [str(CASE), str(CASE).replace(".task.json", ".json")]
    size = sum(Path(path).stat().st_size for path in files)
    asked: list[int] = []

    def budget(num_bytes: int) -> int:
        asked.append(num_bytes)
        return 20_000_000

    monkeypatch.setattr(command, "default_budget", budget)
    assert judge(files).word == "REFUTED"
    assert asked == [size]


def test_files_are_read_where_opening_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no O_NONBLOCK."""
    monkeypatch.delattr(os, "O_NONBLOCK", raising=False)
    assert judge([str(CASE), str(CASE).replace(".task.json", ".json")]).word == "REFUTED"


def test_the_command_is_installed() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["ascertain-check"].partition(":")
    program = f"import sys; sys.argv = ['ascertain-check']; from {module} import {function}; {function}()"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout.startswith("MALFORMED: two files are needed: ascertain-check")


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "missing"])
def test_only_regular_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "c.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    verdict = judge([str(CASE), str(path)])
    assert verdict.exit_code == 2
    assert "not a regular file" in str(verdict) or "cannot be read" in str(verdict)
