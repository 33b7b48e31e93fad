"""The lamp behind a real server that tests of adapters start, kill and start; and the command line in one call."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from typer.testing import CliRunner

from ascertain.cli.main import build
from ascertain.plant.wiring.plant import WiredPlant, open_wiring
from tests.conftest import ROOT
from tests.relay import Relay


def call(*arguments: object, code: int = 0, typed: str | None = None) -> Any:
    """What the command line says; it must end with this exit code."""
    done = CliRunner().invoke(build(), [str(word) for word in arguments], input=typed)
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


class AbstractLamp(ABC):
    """A program that plays the lamp, whose state is a file."""

    program: ClassVar[str]
    """A file of this directory; it is given the state and the port, and says a line when it is ready."""
    state: Path
    port: int = 0

    def start(self, state: Path | None = None, *more: str) -> None:
        command = [sys.executable, str(ROOT / "tests" / self.program), str(state or self.state), str(self.port), *more]
        self.running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.running.stdout is not None
        self.line = self.running.stdout.readline().strip()

    def kill(self) -> None:
        self.running.kill()
        self.running.wait()
        assert self.running.stdout is not None
        self.running.stdout.close()

    @abstractmethod
    def wiring(self, *args: Any, **words: Any) -> Path:
        """A wiring file for it."""

    def open(self, *args: Any, **words: Any) -> contextlib.closing[WiredPlant]:
        return contextlib.closing(open_wiring(self.wiring(*args, **words)))


class RelayedLamp(AbstractLamp):
    """A lamp on a port that stays the same, with a relay before it that makes trouble."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "lamp 7.state"
        self.state.write_text("lit")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start()
        self.relay = Relay(self.port)

    def renew(self) -> None:
        self.state.write_text("lit")
        self.relay.troubles.clear()

    @classmethod
    def serve(cls, folder: Path) -> Iterator[RelayedLamp]:
        lamp = cls(folder)
        yield lamp
        lamp.kill()
        lamp.relay.close()
