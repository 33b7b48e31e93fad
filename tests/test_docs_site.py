"""The reference shows every public name, with a docstring, and the site builds without a warning."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ascertain
from tests.conftest import ROOT

REFERENCE = sorted((ROOT / "docs" / "api").glob("*.md"))
SHOWN = [
    name for page in REFERENCE for name in re.findall(r"^::: ascertain\.(\w+)$", page.read_text("utf-8"), re.MULTILINE)
]


def test_the_reference_shows_every_public_name_once() -> None:
    assert sorted(SHOWN) == sorted(set(ascertain.__all__) - {"__version__"})


@pytest.mark.parametrize("name", SHOWN)
def test_a_public_name_says_what_it_is(name: str) -> None:
    assert len((inspect.getdoc(getattr(ascertain, name)) or "").split()) >= 3


@pytest.mark.slow  # `make docs` builds it too
def test_the_site_builds_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the site needs the extra docs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in tmp_path.rglob("*.html"):
        fetched = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="?(https?://[^" >]+)', page.read_text("utf-8"))
        assert fetched == [], page
