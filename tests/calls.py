"""The command line in one call: in this process, which is quicker, or in one of its own; and ports for servers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from ascertain.cli.main import build

WIDE = {"COLUMNS": "200", "NO_COLOR": "1"}
"""A terminal on which tables are not broken into lines."""


def call(*arguments: object, code: int = 0, typed: str | None = None) -> Any:
    """What the command line says; it must end with this exit code."""
    done = CliRunner().invoke(build(), [str(word) for word in arguments], input=typed, env=WIDE)
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def answer(*arguments: object, code: int = 0, typed: str | None = None) -> Any:
    """What it answers with --json."""
    return json.loads(call(*arguments, "--json", code=code, typed=typed).stdout)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def install(folder: Path, name: str, code: str, entry_points: str) -> Path:
    """The folder as an installer would leave it, with a package of one module and what it declares."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    return folder


def run_installed(folder: Path, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The program itself, in a folder where packages are installed."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = run(*arguments, cwd=folder, PYTHONPATH=path)
    assert done.returncode == code, done.stderr
    return done


def run(*arguments: object, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """The program itself, with these variables in its environment."""
    command = [sys.executable, "-m", "ascertain", *map(str, arguments)]
    environment = {**os.environ, **WIDE, **variables}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False, timeout=300)
