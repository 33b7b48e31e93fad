"""The valve train behind OPC UA: what the page shows is run, and every leak is found by way of a real server."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ascertain.pipeline.observe import observe
from tests.calls import free_port
from tests.conftest import ROOT
from tests.test_docs import agrees, blocks, environment

pytest.importorskip("asyncua")

PAGE = ROOT / "docs" / "plants" / "opcua.md"
PROBLEM = ROOT / "examples" / "valve" / "leak.toml"
WIRING = ROOT / "examples" / "opcua" / "wiring.toml"


@contextlib.contextmanager
def started(command: list[str], **more: Any) -> Iterator[str]:
    """The first line that the program prints."""
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more)
    assert program.stdout is not None
    try:
        yield program.stdout.readline()
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


def test_the_commands_of_the_page_do_what_is_shown(tmp_path: Path) -> None:
    port, parts = str(free_port()), blocks(PAGE)
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # only the wiring is changed: its port
    wiring = tmp_path / "wiring.toml"
    wiring.write_text(WIRING.read_text().replace("4840", port))
    shown = [(body, parts[i + 1][1]) for i, (head, body) in enumerate(parts) if head == "sh"]
    (start, first), *rest = [(body.strip().splitlines()[-1], text.replace("4840", port)) for body, text in shown]
    assert len(rest) == 3
    words = [sys.executable, *start.split()[1:], "--port", port]
    with started(words, cwd=tmp_path) as line:
        assert line == first
        for command, text in rest:
            done = subprocess.run(
                ["bash", "-c", command.replace("examples/opcua/wiring.toml", str(wiring))],
                cwd=tmp_path,
                env=environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            lines = [line for line in done.stdout.splitlines() if line.strip()]
            assert agrees(text.splitlines(), lines), f"{command}\n{done.stdout}"
    page = (tmp_path / "run.html").read_text()
    assert "Certified: leak2" in page and "VT-104" in page
    assert "flame" not in page and "bang" not in page  # the burner was not lit


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
@pytest.mark.parametrize(("leak", "label"), [("none", "tight"), ("1", "leak1"), ("both", "both")])
def test_every_leak_is_found(tmp_path: Path, leak: str, label: str, seed: str) -> None:
    port = str(free_port())
    wiring = tmp_path / "wiring.toml"
    wiring.write_text(WIRING.read_text().replace("4840", port))
    program = [sys.executable, str(ROOT / "examples" / "opcua" / "train.py"), "--port", port]
    with started([*program, "--leak", leak, "--seed", seed]):
        found = observe(PROBLEM, str(wiring))
    assert found.is_certified and found.run.verdict.label == label  # type: ignore[union-attr]
