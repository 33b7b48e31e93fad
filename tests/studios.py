"""The page in tests: served by the program itself, or drawn for a simulated user."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

PATIENCE = 600
"""Tenths of a second that something may take on a busy machine; nothing waits longer than it must."""
LONGEST = 120.0
"""Seconds that a scenario, or the start or the end of a page, may take: what hangs fails then."""


def make_folder(place: Path) -> Path:
    """A folder to work in: the valve train, and a lamp with noise."""
    for file in ("leak.toml", "serviced.toml", "valve.dot"):
        shutil.copy(ROOT / "examples" / "valve" / file, place / file)
    shutil.copy(ROOT / "examples" / "plants" / "lamp.toml", place / "lamp.toml")
    return place


@contextmanager
def served(folder: Path, *words: str) -> Iterator[str]:
    """The address of a page that serves this folder."""
    command = [sys.executable, "-m", "ascertain", "studio", "--json", *words]
    environment = {key: value for key, value in os.environ.items() if key != "NICEGUI_USER_SIMULATION"}
    environment.pop("PYTEST_CURRENT_TEST", None)  # NiceGUI behaves differently where it believes to be tested
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            hangs = threading.Timer(LONGEST, process.kill)
            hangs.start()
            for line in process.stdout:
                lines.append(line)
                if line == "}\n":
                    break
            hangs.cancel()
            yield json.loads("".join(lines))["url"]
        finally:
            process.terminate()
            try:
                process.wait(timeout=LONGEST)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def simulate(folder: Path, scenario: Callable[[Any, Any], Awaitable[None]], problem: str = "leak.toml") -> None:
    """Play a scenario with NiceGUI's simulated user on the page of a folder.

    NiceGUI ends its tasks only where its simulation is left without an exception, and the loop then waits for them
    forever; so whatever the scenario raises is kept until the simulation is over.
    """
    from nicegui.testing import user_simulation

    from ascertain.studio.folder import Folder
    from ascertain.studio.jobs import Workers
    from ascertain.studio.page import show_page
    from ascertain.studio.state import Studio

    async def play() -> Exception | None:
        studio = Studio(Folder(folder), problem, Workers(warm=False))

        def root() -> None:
            show_page(studio)

        try:
            async with user_simulation(root) as user:
                try:
                    async with asyncio.timeout(LONGEST):
                        await studio.begin()
                        await user.open("/")
                        await scenario(user, studio)
                except Exception as reason:
                    return reason
        finally:
            async with asyncio.timeout(LONGEST):
                await studio.close()
        return None

    if (failure := asyncio.run(play())) is not None:
        raise failure


async def until(ready: Callable[[], Any]) -> Any:
    """Wait until that is so."""
    for _ in range(PATIENCE):
        if found := ready():
            return found
        await asyncio.sleep(0.1)
    raise AssertionError("it did not come to that")
