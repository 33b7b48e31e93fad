"""The lamp behind a real server that tests of adapters start, kill and start, and what all of them must stand."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ascertain.errors import PlantFault, TaskError
from ascertain.plant.faults import HalfDone, HungUp
from ascertain.plant.wiring.plant import WiredPlant, open_wiring
from tests.calls import answer, call, free_port
from tests.conftest import LAMP, ROOT
from tests.relay import Relay


def observe_lamp(wiring: Path, *words: object, code: int = 0) -> dict[str, Any]:
    """What becomes of the lamp's problem on the plant that is wired like this."""
    return answer("observe", LAMP, "--plant", wiring, *words, code=code)


def check_dead(wiring: Path) -> None:
    """Of a plant that nobody reaches a run says so in one line."""
    dead = call("observe", LAMP, "--plant", wiring, code=4).stderr
    assert "cannot be reached" in dead and dead.count("\n") == 1


def check_refused(path: Path, text: str, sentence: str) -> None:
    """A wiring file that says this is refused with this sentence."""
    path.write_text(text)
    with pytest.raises(TaskError) as error:
        open_wiring(path)
    assert str(error.value).startswith(f"{path}: {sentence}")


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

    def check_observed(self, *args: Any, **words: Any) -> None:
        """The lamp is found lit, and its switch is pressed."""
        path = self.wiring(*args, **words)
        facts = observe_lamp(path, "--identity", "lamp 7")
        assert (facts["verdict"], facts["label"], facts["plant"], facts["faults"]) == ("certified", "lit", "lamp 7", [])
        self.state.write_text("dark")
        assert "press the switch -> click" in call("wire", path, "--try", "press the switch").stdout
        assert self.state.read_text() == "lit"

    def open(self, *args: Any, **words: Any) -> contextlib.closing[WiredPlant]:
        return contextlib.closing(open_wiring(self.wiring(*args, **words)))


def add_trouble(state: Path, **trouble: Any) -> None:
    """Tell the program that plays the lamp to make trouble, by a file beside its state."""
    path = state.with_suffix(".trouble")
    old = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps([*old, trouble]))


class RelayedLamp(AbstractLamp):
    """A lamp on a port that stays the same, with a relay before it that makes trouble."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "lamp 7.state"
        self.state.write_text("lit")
        self.port = free_port()
        self.start()
        self.relay = Relay(self.port)

    def check_read(self, mode: str, more: dict[str, Any], fault: type[PlantFault], again: bool) -> None:
        """A read in trouble ends in this fault, and is answered the next time where it may be asked again."""
        with self.open(timeout=1.0) as plant:
            self.relay.trouble(mode, **more)
            with pytest.raises(fault):
                plant.send("look")
            assert plant.may_repeat("look") == again
            if again:
                assert plant.repeat("look") == "lit"

    def check_write(self, mode: str, more: dict[str, Any], fault: type[PlantFault], ran: bool) -> None:
        """A write in trouble ends in this fault; it may not be done again, whether it ran or not."""
        with self.open(timeout=1.0) as plant:
            self.relay.trouble(mode, **more)
            with pytest.raises(fault):
                plant.send("press the switch")
            assert not plant.may_repeat("press the switch")
            assert self.state.read_text() == ("dark" if ran else "lit")

    def check_late(self) -> None:
        """A late answer is not taken for the next one."""
        with self.open('silence = "-"', timeout=1.0) as plant:
            self.relay.trouble("slow", seconds=1.3)
            assert plant.send("look") == "-"
            self.state.write_text("dark")
            assert plant.send("look") == "dark"

    def check_half_done(self, step: str) -> None:
        """An action of two such steps that breaks between them is half done."""
        more = f'[[action]]\nname = "twice"\nsteps = [{step}, {{ wait = 0.01 }}, {step}]\nelse = "done"\n'
        with self.open(more=more, timeout=1.0) as plant:
            self.relay.trouble("slow", seconds=1.5, after=1)
            with pytest.raises(HalfDone, match="of its 2 steps that change the plant 1 were surely done"):
                plant.send("twice")
            assert not plant.may_repeat("twice")

    def check_killed(self, plant: WiredPlant, **words: Any) -> None:
        """The server is gone: nothing is sent, and a run says so."""
        self.kill()
        with pytest.raises(HungUp):
            plant.send("press the switch")
        assert plant.may_repeat("press the switch")  # it was not sent
        with pytest.raises(HungUp, match="cannot be reached again"):
            plant.repeat("press the switch")
        check_dead(self.wiring(**words))

    def check_replaced(self, plant: WiredPlant) -> None:
        """The server is back, goes again, and another lamp comes in its place."""
        assert plant.repeat("press the switch") == "click"
        assert self.state.read_text() == "dark"
        self.kill()
        with pytest.raises(HungUp):
            plant.send("look")
        other = self.state.with_name("lamp 8.state")
        other.write_text("lit")
        self.start(other)
        with pytest.raises(PlantFault, match="the plant was 'lamp 7' and is now 'lamp 8'"):
            plant.repeat("look")


def fixtures_of(kind: type[RelayedLamp]) -> tuple[Any, Any]:
    """A lamp of this kind that runs for a module, and the same for each test: lit, and without troubles."""

    @pytest.fixture(scope="module")
    def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayedLamp]:
        lamp = kind(tmp_path_factory.mktemp("lamp"))
        yield lamp
        lamp.kill()
        lamp.relay.close()

    @pytest.fixture
    def server(running: RelayedLamp) -> RelayedLamp:
        running.state.write_text("lit")
        running.relay.troubles.clear()
        return running

    return running, server
