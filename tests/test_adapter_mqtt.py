"""Plants behind MQTT: real brokers on the loopback, mosquitto and amqtt, and a lamp that is a program of its own.

Brokers are killed, stopped and started again; the lamp is killed, slowed and made to say nonsense.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import PlantFault
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Late
from ascertain.plant.wiring.plant import WiredPlant, open_wiring
from tests.brokers import broker as running_broker
from tests.brokers import start_broker
from tests.calls import free_port
from tests.conftest import ROOT
from tests.lamps import add_trouble, check_refused, observe_lamp

mqtt = pytest.importorskip("paho.mqtt.client")
EXAMPLE = ROOT / "examples" / "wiring" / "lamp_mqtt.toml"


class Broker:
    """A broker, and a lamp that is connected to it."""

    def __init__(self, kind: str, state: Path) -> None:
        self.kind, self.state, self.port = kind, state, free_port()
        self.start()
        self.start_lamp()

    def start(self) -> None:
        self.program = start_broker(self.kind, self.port, self.state.parent)

    def start_lamp(self) -> None:
        command = [sys.executable, str(ROOT / "tests" / "mqtt_plant.py"), str(self.state), str(self.port)]
        self.lamp = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.wait_for_lamp()

    def wait_for_lamp(self) -> None:
        assert self.lamp.stdout is not None
        assert self.lamp.stdout.readline() == "listens\n"

    def kill(self) -> None:
        self.program.kill()
        self.program.wait()

    def kill_lamp(self) -> None:
        self.lamp.kill()
        self.lamp.wait()
        assert self.lamp.stdout is not None
        self.lamp.stdout.close()

    def trouble(self, topic: str, mode: str, **more: Any) -> None:
        add_trouble(self.state, topic=topic, mode=mode, **more)

    def say(self, topic: str, text: str, retain: bool = False) -> None:
        """What somebody else publishes."""
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        client.publish(topic, text, 1, retain).wait_for_publish(10)
        client.disconnect()
        client.loop_stop()

    def wiring(self, plant: str = "", timeout: float = 5.0, **changed: str) -> Path:
        path, text = self.state.with_suffix(".toml"), EXAMPLE.read_text()
        text = text.replace("127.0.0.1:1883", f"127.0.0.1:{self.port}").replace("timeout = 2.0", f"timeout = {timeout}")
        for old, new in changed.items():
            text = text.replace(old, new)
        path.write_text(text.replace("\n\n", f"\n{plant}\n\n", 1))
        return path

    def open(self, *args: Any, **words: Any) -> contextlib.closing[WiredPlant]:
        return contextlib.closing(open_wiring(self.wiring(*args, **words)))


def run(kind: str, folder: Path) -> Iterator[Broker]:
    (folder / "lamp 7.state").write_text("lit")
    broker = Broker(kind, folder / "lamp 7.state")
    yield broker
    broker.kill()
    broker.kill_lamp()


@pytest.fixture(params=["mosquitto", "amqtt"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broker]:
    yield from run(request.param, tmp_path)


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Broker]:
    yield from run("mosquitto", tmp_path)


def test_a_wired_lamp_is_observed(broker: Broker) -> None:
    facts = observe_lamp(broker.wiring())
    assert (facts["verdict"], facts["label"], facts["plant"], facts["faults"]) == ("certified", "lit", "lamp 7", [])
    with broker.open() as plant:
        assert [plant.send(action) for action in ("look", "press the switch", "look")] == ["lit", "click", "dark"]


def test_a_late_answer_is_the_answer_to_its_own_question_only(broker: Broker) -> None:
    with broker.open(timeout=0.8) as plant:
        broker.trouble("lamp/ask", "slow", seconds=1.1)
        with pytest.raises(Late, match="nothing came on 'lamp/lux' in time"):
            plant.send("look")
        assert plant.may_repeat("look") and plant.repeat("look") == "lit"
        broker.trouble("lamp/ask", "slow", seconds=1.1)
        with pytest.raises(Late):
            plant.send("look")
        assert plant.send("press the switch") == "click"
        assert plant.send("look") == "dark"  # and not the one that was late


def test_what_came_before_is_no_answer(mosquitto: Broker) -> None:
    mosquitto.say("lamp/lux", '{"lux": 999}', retain=True)
    with mosquitto.open() as plant:
        assert plant.send("press the switch") == "click"
        for _ in range(3):
            mosquitto.say("lamp/lux", '{"lux": 999}')
        time.sleep(0.2)  # until they have come
        assert plant.send("look") == "dark"


def test_an_action_without_a_publish_waits_for_news_or_takes_what_is_retained(
    mosquitto: Broker, tmp_path: Path
) -> None:
    path = tmp_path / "news.toml"
    path.write_text(f"""
[plant]
kind = "mqtt"
address = "mqtt://127.0.0.1:{mosquitto.port}"
timeout = 0.5
silence = "-"
[[action]]
name = "news"
read = {{ wait = "room/+/temperature" }}
[[action]]
name = "held"
read = {{ wait = "room/1/temperature", retained = true }}
[[action]]
name = "ask"
steps = [{{ publish = "room/1/ask", value = true }}, {{ wait = "room/1/temperature", retained = true }}]
""")
    with contextlib.closing(open_wiring(path)) as plant:
        assert plant.identity is None
        assert [plant.send("news"), plant.send("held")] == ["-", "-"]
        mosquitto.say("room/1/temperature", "21.5", retain=True)
        time.sleep(0.2)
        assert [plant.send("news"), plant.send("held"), plant.send("held")] == ["-", "21.5", "21.5"]
        assert plant.send("ask") == "-"  # what is held may be older than the question


def test_nonsense_ends_the_run(mosquitto: Broker) -> None:
    for text in ("{", '{"lx": 1}', '{"lux": "bright"}', "\xff\xfe", '{"lux": NaN}', "7" * 70000):
        with mosquitto.open() as plant:
            mosquitto.trouble("lamp/ask", "nonsense", text=text)
            with pytest.raises(Garbled):
                plant.send("look")
            assert not plant.may_repeat("look")


def test_a_lamp_that_is_dead_or_keeps_silent_is_late_and_never_refused(mosquitto: Broker) -> None:
    with mosquitto.open(timeout=0.8) as plant:
        mosquitto.trouble("lamp/switch", "keep")  # done, and nothing is said about it
        with pytest.raises(Late):
            plant.send("press the switch")
        assert mosquitto.state.read_text() == "dark"
        mosquitto.kill_lamp()
        with pytest.raises(Late):  # the broker takes it all the same
            plant.send("press the switch")
        mosquitto.start_lamp()
        assert plant.send("look") == "dark"


def test_a_broker_that_stops_leaves_in_doubt_and_one_that_is_killed_ends_the_run(mosquitto: Broker) -> None:
    with mosquitto.open(timeout=0.8) as plant:
        mosquitto.program.send_signal(signal.SIGSTOP)
        with pytest.raises(InDoubt, match="the broker did not take it in time; it may have been done"):
            plant.send("press the switch")
        assert not plant.may_repeat("press the switch")
        with pytest.raises(Late, match="the broker did not take it in time"):
            plant.send("look")
        assert plant.may_repeat("look")  # it only asks
        mosquitto.program.send_signal(signal.SIGCONT)
        mosquitto.kill()
        with pytest.raises(HungUp):
            for _ in range(50):  # until the end of the connection is heard of
                plant.send("look")
                time.sleep(0.1)
        assert not plant.may_repeat("look")
        with pytest.raises(PlantFault, match="cannot be reached"):
            open_wiring(mosquitto.wiring())


def test_a_broker_that_is_back_is_called_again_where_the_wiring_says_so(broker: Broker) -> None:
    with broker.open("reconnect = true") as plant:
        assert plant.send("look") == "lit"
        broker.kill()
        time.sleep(0.3)
        with pytest.raises(HungUp, match="connection to the broker was lost"):
            plant.send("press the switch")
        assert plant.may_repeat("press the switch") and broker.state.read_text() == "lit"
        with pytest.raises(HungUp, match="does not listen"):
            plant.repeat("press the switch")
        broker.start()
        broker.wait_for_lamp()
        assert plant.repeat("press the switch") == "click"
        assert plant.send("look") == "dark"


def test_a_run_with_mended_faults_answers_and_one_with_nonsense_ends(mosquitto: Broker) -> None:
    mosquitto.trouble("lamp/ask", "slow", seconds=1.1)
    facts = observe_lamp(mosquitto.wiring(timeout=0.8))
    assert facts["label"] == "lit" and [fault["kind"] for fault in facts["faults"]] == ["late"]
    mosquitto.trouble("lamp/ask", "nonsense", after=2)
    ended = observe_lamp(mosquitto.wiring(), code=4)
    assert [fault["kind"] for fault in ended["faults"]] == ["garbled"]
    mosquitto.trouble("lamp/ask", "kill", pid=mosquitto.program.pid, after=2)
    ended = observe_lamp(mosquitto.wiring(), code=4)
    assert [fault["kind"] for fault in ended["faults"]] == ["hang-up"] and ended["verdict"] == "abstained"


def test_a_broker_that_wants_a_password(tmp_path: Path) -> None:
    with running_broker("guarded", tmp_path) as address:
        path = tmp_path / "w.toml"
        path.write_text(EXAMPLE.read_text().replace("127.0.0.1:1883", address))
        with pytest.raises(PlantFault, match="the broker refused the connection: Not authorized"):
            open_wiring(path)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("mqtt://127", "http://127", "[plant] address: 'http://127.0.0.1:1883' is not one such as mqtt://"),
        ("lamp/ask", "lamp/#", "[[action]] 'look' step 1: publish 'lamp/#' is not a topic such as lamp/state"),
        ('"lamp/lux"', '"lamp/l+"', "[[action]] 'look' step 2: wait 'lamp/l+' is not a topic such as lamp/state"),
        ('/lux" }]', 'lux" }]', "[[action]] 'look' step 2: take: 'lux' is not understood"),
        ("timeout = 2.0", "qos = 3", "[plant] qos: 3 is not understood; it is 0, 1 or 2"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in EXAMPLE.read_text()
    check_refused(tmp_path / "w.toml", EXAMPLE.read_text().replace(old, new), sentence)
