"""Instruments: SCPI on a socket and on a line, and lines of text on a pseudo-terminal, all served by sinstruments.

The program behind them is also killed, slowed and made to answer nonsense.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import PlantFault
from ascertain.plant.adapters.scpi import ScpiAdapter
from ascertain.plant.faults import Garbled, HalfDone, HungUp, InDoubt, Late, Refused, Restarted
from ascertain.plant.wiring.adapter import Step
from tests.calls import call
from tests.conftest import LAMP, ROOT
from tests.lamps import AbstractLamp, add_trouble, check_dead, check_refused, observe_lamp

pytest.importorskip("sinstruments")
WIRING = """
[plant]
kind = "{kind}"
address = "{address}"
identity = {{ query = "*IDN?" }}
timeout = {timeout}
{plant}
[[action]]
name = "look"
read = "LUX?"
bands = {{ dark = "< 10", lit = ">= 10" }}
[[action]]
name = "press the switch"
{press}
"""
WRITE = 'steps = [{ write = "SWITCH" }]\nelse = "click"'
ASK = 'steps = [{ query = "SWITCH:ASK" }]'
KINDS = ("socket", pytest.param("line", marks=pytest.mark.slow), "serial")
"""SCPI on a line has what the other two have; in the short suite it is tried where answers are late."""


class Instrument(AbstractLamp):
    """The lamp, running: on a socket for SCPI, and on a pseudo-terminal for SCPI and for plain lines."""

    program = "instrument.py"

    def __init__(self, state: Path, link: str = "") -> None:
        self.state, self.link = state, state.with_name("tty")
        self.start(None, f"{link}{self.link}")
        self.port = int(self.line)

    def trouble(self, line: str, mode: str, **more: Any) -> None:
        add_trouble(self.state, line=line, mode=mode, **more)

    def wiring(self, on: str, plant: str = "", press: str = WRITE, timeout: float = 5.0) -> Path:
        kind, address = {
            "socket": ("scpi", f"TCPIP::127.0.0.1::{self.port}::SOCKET"),
            "line": ("scpi", f"ASRL{self.link}::INSTR"),
            "serial": ("serial", str(self.link)),
            "url": ("serial", f"socket://127.0.0.1:{self.port}"),
        }[on]
        path = self.state.with_suffix(".toml")
        path.write_text(WIRING.format(kind=kind, address=address, plant=plant, press=press, timeout=timeout))
        return path


@pytest.fixture
def lamp(tmp_path: Path) -> Iterator[Instrument]:
    (tmp_path / "lamp7.state").write_text("lit")
    running = Instrument(tmp_path / "lamp7.state")
    yield running
    running.kill()


@pytest.mark.parametrize("on", KINDS)
def test_a_wired_instrument_is_observed(lamp: Instrument, on: str) -> None:
    facts = observe_lamp(lamp.wiring(on))
    assert (facts["verdict"], facts["label"]) == ("certified", "lit")
    assert (facts["plant"], facts["faults"]) == ("ACME,lamp7,0,1", [])
    with lamp.open(on, press=ASK) as plant:
        assert [plant.send(action) for action in ("look", "press the switch", "look")] == ["lit", "click", "dark"]


@pytest.mark.parametrize(("example", "old"), [("scpi", "TCPIP::127.0.0.1::5025::SOCKET"), ("serial", "/dev/ttyUSB0")])
def test_the_examples_fit_the_lamp(lamp: Instrument, tmp_path: Path, example: str, old: str) -> None:
    text = (ROOT / "examples" / "wiring" / f"lamp_{example}.toml").read_text()
    path, here = tmp_path / "example.toml", {"scpi": f"TCPIP::127.0.0.1::{lamp.port}::SOCKET", "serial": str(lamp.link)}
    path.write_text(text.replace(old, here[example]))
    assert "certified: lit" in call("observe", LAMP, "--plant", path).stdout


@pytest.mark.parametrize("on", ["socket", "line", "serial"])
def test_a_late_answer_is_not_the_answer_to_the_next_question(lamp: Instrument, on: str) -> None:
    with lamp.open(on, timeout=0.8) as plant:
        lamp.trouble("LUX?", "slow", seconds=1.0)
        with pytest.raises(Late):
            plant.send("look")
        assert plant.may_repeat("look")
        assert plant.send("press the switch") == "click"
        assert plant.send("look") == "dark"


@pytest.mark.parametrize("on", ["socket", "serial"])
def test_silence_is_a_reading_where_the_wiring_says_so(lamp: Instrument, on: str) -> None:
    with lamp.open(on, 'silence = "-"', timeout=0.7) as plant:
        lamp.trouble("LUX?", "slow", seconds=0.9)
        assert [plant.send("look") for _ in range(2)] == ["-", "lit"]


@pytest.mark.parametrize("on", ["line", "serial"])
def test_on_a_line_an_answer_that_is_later_still_is_caught_by_the_identity(lamp: Instrument, on: str) -> None:
    with lamp.open(on, "quiet = 0.2", timeout=1.0) as plant:
        lamp.trouble("LUX?", "slow", seconds=1.6)
        with pytest.raises(Late):
            plant.send("look")
        with pytest.raises(Restarted, match=r"is now '1\.205E\+02'"):
            plant.send("look")


@pytest.mark.parametrize(
    ("on", "mode"),
    [
        *((on, mode) for on in ("socket", "serial") for mode in ("nonsense", "chatter")),
        ("socket", "flood"),
        ("url", "flood"),
    ],
)
def test_nonsense_ends_the_run(lamp: Instrument, on: str, mode: str) -> None:
    with lamp.open(on, timeout=60.0) as plant:  # nothing is waited for, but a busy machine reads a flood slowly
        lamp.trouble("LUX?", mode)
        with pytest.raises(Garbled):
            plant.send("look")
            plant.send("look")  # of two answers the second shows before the next question
        assert not plant.may_repeat("look")
        if mode != "flood":
            lamp.trouble("LUX?", "nonsense", text="bright \xff")
            with pytest.raises(Garbled, match="not UTF-8"):
                plant.send("look")


@pytest.mark.parametrize("on", KINDS)
def test_a_line_that_trickles_in_is_late(lamp: Instrument, on: str) -> None:
    with lamp.open(on, timeout=1.0) as plant:
        lamp.trouble("LUX?", "trickle")  # for two seconds
        with pytest.raises(Late):
            plant.send("look")


@pytest.mark.parametrize(("mode", "ran"), [("drop", False), ("lose", True)])
def test_a_socket_that_is_closed_is_a_lost_connection(lamp: Instrument, mode: str, ran: bool) -> None:
    with lamp.open("socket", "reconnect = true", ASK) as plant:
        lamp.trouble("LUX?", mode)
        with pytest.raises(HungUp):
            plant.send("look")
        assert plant.repeat("look") == "lit"
        lamp.trouble("SWITCH:ASK", mode)
        with pytest.raises(InDoubt, match="it may have been done"):
            plant.send("press the switch")
        assert not plant.may_repeat("press the switch")
        assert lamp.state.read_text() == ("dark" if ran else "lit")


@pytest.mark.parametrize("on", KINDS)
def test_an_instrument_that_is_killed_and_back(lamp: Instrument, on: str) -> None:
    with lamp.open(on, "reconnect = true") as plant:
        assert plant.send("look") == "lit"
        lamp.kill()
        lamp.link.unlink()  # as a device that is unplugged
        with pytest.raises(HungUp):
            plant.send("press the switch")
        assert plant.may_repeat("press the switch")  # it was not sent
        with pytest.raises(HungUp, match="cannot be opened"):
            plant.repeat("press the switch")
        lamp.start(None, str(lamp.link))
        assert plant.repeat("press the switch") == "click"
        assert plant.send("look") == "dark"


@pytest.mark.parametrize("on", ["socket", "serial"])
def test_a_run_in_which_the_instrument_dies_ends(lamp: Instrument, on: str) -> None:
    lamp.trouble("LUX?", "slow", seconds=1.0)
    lamp.trouble("LUX?", "nonsense", after=4)
    facts = observe_lamp(lamp.wiring(on, timeout=0.8), code=4)
    assert [fault["kind"] for fault in facts["faults"]] == ["late", "garbled"]
    lamp.trouble("LUX?", "die", after=2)
    facts = observe_lamp(lamp.wiring(on), code=4)
    assert [fault["kind"] for fault in facts["faults"]] == ["hang-up"] and facts["verdict"] == "abstained"
    lamp.kill()
    check_dead(lamp.wiring(on))
    lamp.start(None, str(lamp.link))


@pytest.mark.parametrize("on", ["socket", "line"])
def test_what_the_instrument_notes_as_an_error_is_a_fault(lamp: Instrument, on: str) -> None:
    with lamp.open(on) as plant:  # old errors are no concern of a new connection
        lamp.trouble("SWITCH", "refuse")
        assert plant.send("press the switch") == "click" and lamp.state.read_text() == "lit"  # unnoticed
    with lamp.open(on, 'errors = "SYST:ERR?"') as plant:
        assert plant.send("press the switch") == "click" and lamp.state.read_text() == "dark"
        lamp.trouble("SWITCH", "refuse")
        with pytest.raises(Refused, match="Data out of range"):
            plant.send("press the switch")
        assert plant.may_repeat("press the switch") and lamp.state.read_text() == "dark"
        assert plant.repeat("press the switch") == "click"
        lamp.trouble("SWITCH", "break")
        with pytest.raises(InDoubt, match="System error"):
            plant.send("press the switch")
        assert not plant.may_repeat("press the switch")
        lamp.trouble("SYST:ERR?", "nonsense", text="fine")
        with pytest.raises(Garbled, match="the number of an error was expected"):
            plant.send("look")
    twice = 'steps = [{ write = "SWITCH" }, { write = "SWITCH" }]\nelse = "click"'
    with lamp.open(on, 'errors = "SYST:ERR?"', twice) as plant:
        lamp.trouble("SWITCH", "refuse", after=1)
        with pytest.raises(HalfDone):
            plant.send("press the switch")


def test_a_device_that_echoes_is_understood_and_watched(tmp_path: Path) -> None:
    (tmp_path / "lamp7.state").write_text("lit")
    lamp = Instrument(tmp_path / "lamp7.state", "echo:")
    try:
        with lamp.open("serial", "echo = true", ASK) as plant:
            assert [plant.send(action) for action in ("look", "press the switch", "look")] == ["lit", "click", "dark"]
        with pytest.raises(PlantFault, match="without being asked"), lamp.open("serial") as plant:
            time.sleep(0.5)  # the answer comes behind its echo, which was taken for it
            plant.send("look")
    finally:
        lamp.kill()


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("MEAS:VOLT?", False),
        ("*IDN?;:SYST:ERR?", False),
        ("MEAS:VOLT? 10,0.1", False),
        ("OUTP ON;:MEAS?", True),
        ("READ", True),
        ("MEAS?;", True),
    ],
)
def test_a_query_changes_nothing_if_all_of_it_are_questions(command: str, changes: bool) -> None:
    assert ScpiAdapter.check(Step("query", command, {}, True, True)).changes == changes
    assert ScpiAdapter.check(Step("write", command, {}, True, False)).changes
    assert not ScpiAdapter.check(Step("read", command, {}, False, True)).changes


@pytest.mark.parametrize(
    ("on", "old", "new", "sentence"),
    [
        ("socket", "TCPIP::", "TCPPI::", "[plant] address: 'TCPPI::127.0.0.1::0::SOCKET' is not a VISA resource"),
        ("socket", "LUX?", "LUX?\\n", "[[action]] 'look' read: read 'LUX?\\n' must be a line of text"),
        (
            "serial",
            "timeout",
            'parity = "evn"\ntimeout',
            "[plant] parity: 'evn' is not understood; known are none, even",
        ),
        ("serial", "timeout", "stop_bits = 3\ntimeout", "[plant] stop_bits: 3 is not understood; known are 1, 1.5, 2"),
        ("serial", "timeout", "baud_rate = 0\ntimeout", "[plant] baud_rate must be more than 0"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, on: str, old: str, new: str, sentence: str) -> None:
    kind, address = ("scpi", "TCPIP::127.0.0.1::0::SOCKET") if on == "socket" else ("serial", "/dev/null")
    good = WIRING.format(kind=kind, address=address, plant="", press=WRITE, timeout=1)
    check_refused(tmp_path / "w.toml", good.replace(old, new, 1), sentence)
