"""Plants behind HTTP: a real server on the loopback, which is also killed, slowed and made to answer nonsense."""

from __future__ import annotations

import contextlib
import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import PlantFault
from ascertain.pipeline.observe import observe
from ascertain.pipeline.wire import check_wiring
from ascertain.plant.faults import Garbled, HalfDone, HungUp, InDoubt, Late, Refused
from ascertain.plant.wiring.plant import open_wiring
from tests.calls import call
from tests.conftest import LAMP
from tests.lamps import AbstractLamp, check_dead, check_refused, observe_lamp

WIRING = """
[plant]
kind = "http"
address = "http://127.0.0.1:{port}"
identity = {{ read = "/about", take = "/serial" }}
timeout = {timeout}
{plant}
[[action]]
name = "look"
read = {{ read = "/lamp", take = "/lux" }}
bands = {{ dark = "< 10", lit = ">= 10" }}
[[action]]
name = "press the switch"
steps = [{{ request = "POST /switch" }}]
{press}
"""


class Server(AbstractLamp):
    """The lamp, running."""

    program = "http_plant.py"

    def __init__(self, state: Path) -> None:
        self.state = state
        self.start()
        self.port = int(self.line)

    def trouble(self, path: str, mode: str, times: int = 1, **more: Any) -> None:
        data = json.dumps({"path": path, "mode": mode, "times": times, **more}).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/trouble", data) as answer:
            assert answer.status == 200

    def wiring(self, plant: str = "", press: str = "", timeout: float = 5.0) -> Path:
        path = self.state.with_suffix(".toml")
        path.write_text(WIRING.format(port=self.port, plant=plant, press=press, timeout=timeout))
        return path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "lamp 7.state").write_text("lit")
    running = Server(tmp_path / "lamp 7.state")
    yield running
    running.kill()


def test_a_wired_lamp_is_observed(server: Server) -> None:
    server.check_observed()
    observed = observe(LAMP, str(server.wiring()))
    assert observed.is_certified and observed.run.verdict.label == "lit"  # type: ignore[union-attr]
    other = call("observe", LAMP, "--plant", server.wiring(), "--identity", "lamp 8", code=4)
    assert "says that it is 'lamp 7', and 'lamp 8' was expected" in other.stderr


def test_identity_and_address_are_the_plants(server: Server) -> None:
    with server.open() as plant:
        assert (plant.identity, plant.address) == ("lamp 7", f"http://127.0.0.1:{server.port}")


def test_wire_says_what_each_action_would_do_and_tries_one(server: Server) -> None:
    path = server.wiring()
    shown = re.sub(r"[│\s]+", " ", call("wire", path).stdout)  # a table is as wide as the terminal
    assert "identity: lamp 7" in shown and "POST" in shown and "/switch" in shown and server.state.read_text() == "lit"
    assert "press the switch -> click" in call("wire", path, "--try", "press the switch").stdout
    assert server.state.read_text() == "dark"
    facts = json.loads(call("wire", path, "--try", "look", "--json").stdout)
    assert (facts["identity"], facts["tried"], facts["reading"]) == ("lamp 7", "look", "dark")
    assert [action["retry_safe"] for action in facts["actions"]] == [True, False]
    assert facts == json.loads(json.dumps(check_wiring(path, attempt="look").facts())) | {
        key: facts[key] for key in ("schema", "schema_version", "version")
    }
    assert "did you mean 'look'?" in call("wire", path, "--try", "loook", code=2).stderr
    server.trouble("/lamp", "nonsense")
    assert "not JSON" in call("wire", path, "--try", "look", code=4).stderr


def test_a_missing_action_is_told_before_anything_is_sent(server: Server) -> None:
    path = server.wiring()
    path.write_text(path.read_text().replace("press the switch", "press the swich"))
    server.kill()  # nothing is sent: nobody notices that there is no plant
    try:
        done = call("observe", LAMP, "--plant", path, code=2)
    finally:
        server.start()
    assert "the wiring has no action 'press the switch', which the model has" in done.stderr
    assert "did you mean 'press the swich'?" in done.stderr


@pytest.mark.parametrize(
    ("mode", "fault", "again"),
    [
        ("slow", Late, True),
        ("break", InDoubt, True),
        ("refuse", Refused, True),
        ("nonsense", Garbled, False),
        ("noise", Garbled, False),
        ("flood", Garbled, False),
        ("drop", HungUp, False),
        ("lose", HungUp, False),
    ],
)
def test_faults_of_a_read(server: Server, mode: str, fault: type[PlantFault], again: bool) -> None:
    with server.open(timeout=1.0) as plant:
        server.trouble("/lamp", mode, seconds=1.5)
        with pytest.raises(fault):
            plant.send("look")
        assert plant.may_repeat("look") == again
        if again:
            assert plant.repeat("look") == "lit"


@pytest.mark.parametrize(
    ("mode", "fault", "ran", "again"),
    [
        ("slow", InDoubt, True, False),
        ("break", InDoubt, True, False),
        ("refuse", Refused, False, True),
        ("noise", Garbled, True, False),
        ("drop", HungUp, False, False),
        ("lose", HungUp, True, False),
    ],
)
def test_faults_of_a_write(server: Server, mode: str, fault: type[PlantFault], ran: bool, again: bool) -> None:
    with server.open(timeout=1.0) as plant:
        server.trouble("/switch", mode, seconds=1.5)
        with pytest.raises(fault):
            plant.send("press the switch")
        assert plant.may_repeat("press the switch") == again
        assert server.state.read_text() == ("dark" if ran else "lit")
        if again:
            assert plant.repeat("press the switch") == "click"


def test_a_plant_that_keeps_its_state_is_called_again_after_a_lost_connection(server: Server) -> None:
    with server.open("reconnect = true") as plant:
        server.trouble("/lamp", "drop")
        with pytest.raises(HungUp):
            plant.send("look")
        assert plant.may_repeat("look") and plant.repeat("look") == "lit"
        server.trouble("/switch", "lose")
        with pytest.raises(InDoubt, match="it may have been done"):
            plant.send("press the switch")
        assert not plant.may_repeat("press the switch")
        server.kill()
        with pytest.raises(HungUp, match="does not listen"):
            plant.send("press the switch")
        assert plant.may_repeat("press the switch")  # it was not sent
        server.start()
        assert plant.repeat("press the switch") == "click"
        assert server.state.read_text() == "lit"


def test_another_plant_at_the_same_address_is_a_restart(server: Server) -> None:
    with server.open("reconnect = true") as plant:
        server.kill()
        with pytest.raises(HungUp):
            plant.send("look")
        server.state = server.state.with_name("lamp 8.state")
        server.state.write_text("lit")
        server.start()
        with pytest.raises(PlantFault, match="the plant was 'lamp 7' and is now 'lamp 8'"):
            plant.repeat("look")
        assert not plant.may_repeat("look")


def test_silence_is_a_reading_only_where_the_wiring_says_so(server: Server) -> None:
    with server.open('silence = "-"', timeout=1.0) as plant:
        server.trouble("/lamp", "slow", seconds=1.5)
        assert plant.send("look") == "-"
        assert plant.send("look") == "lit"  # the late answer is not taken for this one
        server.trouble("/lamp", "slow", seconds=1.5)
        plant.wait_at_most(0.2)  # a deadline that is shorter than the plant's own time says nothing about the plant
        with pytest.raises(Late):
            plant.send("look")
        plant.wait_at_most(float("inf"))
        server.trouble("/lamp", "drop")
        with pytest.raises(HungUp):
            plant.send("look")


def test_an_action_of_several_steps_that_breaks_is_half_done(server: Server) -> None:
    path = server.wiring()
    twice = 'steps = [{ request = "POST /switch" }, { wait = 0.01 }, { request = "POST /switch" }]'
    path.write_text(path.read_text().replace('steps = [{ request = "POST /switch" }]', twice))
    with contextlib.closing(open_wiring(path)) as plant:
        server.trouble("/switch", "refuse", after=1)
        with pytest.raises(HalfDone, match="of its 2 steps that change the plant 1 were surely done"):
            plant.send("press the switch")
        assert plant.repeat("press the switch") == "click"  # goes on with the step that was refused
        assert server.state.read_text() == "lit"
        with pytest.raises(HalfDone):
            plant.skip("press the switch")


def test_a_run_with_mended_faults_answers_and_one_on_a_dead_plant_ends(server: Server) -> None:
    server.trouble("/lamp", "slow", seconds=1.5)
    server.trouble("/lamp", "refuse", after=2)
    facts = observe_lamp(server.wiring(timeout=1.0))
    assert facts["label"] == "lit" and {fault["kind"] for fault in facts["faults"]} == {"late", "refused"}
    server.trouble("/lamp", "nonsense", text='{"lux": "bright"}', after=2)
    garbled = observe_lamp(server.wiring(), code=4)
    assert garbled["faults"][-1]["kind"] == "garbled" and "where a number was expected" in garbled["reason"]
    server.trouble("/lamp", "drop", times=100, after=2)
    gone = observe_lamp(server.wiring(), code=4)
    assert (gone["verdict"], gone["cause"], gone["plant_failed"]) == ("abstained", "plant", True)
    server.kill()
    check_dead(server.wiring())
    server.start()


def test_bodies_headers_pointers_and_statuses(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "more.toml"
    path.write_text(f"""
[plant]
kind = "http"
address = "http://127.0.0.1:{server.port}"
headers = {{ X-Key = "k" }}
[[action]]
name = "echo"
steps = [{{ request = "POST /echo", body = {{ open = true }} }}]
[[action]]
name = "text"
steps = [{{ request = "POST /echo", body = "plain", headers = {{ X-Key = "other" }} }}]
[[action]]
name = "truth"
read = {{ read = "/lamp", take = "/parts/0/a~1b" }}
[[action]]
name = "null"
read = {{ read = "/lamp", take = "/parts/1" }}
[[action]]
name = "nothing"
read = {{ read = "/lamp", take = "/parts/2" }}
[[action]]
name = "whole"
read = {{ read = "/lamp", take = "/parts" }}
[[action]]
name = "gone"
read = "/nowhere"
[[action]]
name = "status"
read = {{ read = "/nowhere", take = "status" }}
map = {{ "404" = "not there" }}
[[action]]
name = "bad"
read = {{ read = "/bad", take = "/0" }}
""")
    with contextlib.closing(open_wiring(path)) as plant:
        assert plant.send("echo").replace(" ", "") == 'k{"open":true}'
        assert plant.send("text") == "other plain"
        assert (plant.send("truth"), plant.send("null"), plant.send("status")) == ("true", "null", "not there")
        for action, fault in (("nothing", Garbled), ("whole", Garbled), ("gone", Refused), ("bad", Garbled)):
            with pytest.raises(fault):
                plant.send(action)
        with pytest.raises(Refused, match="no action 'unknown'"):
            plant.send("unknown")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("http://127", "ftp://127", "[plant] address: 'ftp://127.0.0.1:1' is not a URL"),
        (
            "POST /switch",
            "PUSH /switch",
            "[[action]] 'press the switch' step 1: request 'PUSH /switch' is not understood",
        ),
        ("/lux", "lux", "[[action]] 'look' read: take: 'lux' is not understood"),
        ("/lamp", "lamp", "[[action]] 'look' read: read 'lamp' is not understood; write a path"),
        ('take = "/lux"', 'tke = "/lux"', "[[action]] 'look' read unknown key 'tke'; did you mean 'take'?"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    good = WIRING.format(port=1, plant="", press="", timeout=1)
    check_refused(tmp_path / "w.toml", good.replace(old, new), sentence)
