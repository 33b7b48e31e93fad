"""Real brokers, packet by packet: the mapper of examples/mqtt, and models learned through it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from examples.mqtt.broker import ACTIONS, Broker, connect, packet

from tests.brokers import broker
from tests.conftest import ROOT

CHOSEN = "CONNECT,CONNECT-BADNAME,SUBSCRIBE,SUBSCRIBE-FLAGS,PUBLISH1,PING,DISCONNECT,RESERVED"
"""Half of what the mapper can send, three of them malformed: learning takes minutes, most of it in waiting."""
NAMES = ("mosquitto", "amqtt", "guarded")


def read_all(device: Broker, words: str) -> list[str]:
    return [device.send(action) for action in words.split()]


def test_packets_are_as_the_standard_has_them() -> None:
    assert packet(0xC0) == b"\xc0\x00"
    assert connect("ab") == bytes.fromhex("10 0e 0004 4d515454 04 02 0000 0002 6162")
    assert len(set(ACTIONS)) == len(ACTIONS) == 16


def test_packets_are_cut_where_they_end_however_they_come() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        device = Broker(f"127.0.0.1:{server.getsockname()[1]}", 0.05)
        said = bytes.fromhex("2002 0000 9003 0007 80 d000 4000") + b"\x30\x80\x01" + b"x" * 128 + b"\xf0\x00"
        for first in range(1, len(said)):
            device.buffer = said[:first]
            found = list(device.take())
            device.buffer += said[first:]
            assert [*found, *device.take()] == ["CONNACK0", "SUBACK128", "PINGRESP", "PUBACK", "PUBLISH", "TYPE15"]
        device.buffer = b"\x30\xff\xff\xff\xff\x01"
        assert list(device.take()) == ["MALFORMED"] and device.closed
        assert read_all(device, "PING RESET") == ["CLOSED", "reset"]
        assert device.send("PING") == "-"
        server.accept()[0].close()  # the connection before the reset
        peer, _ = server.accept()
        assert peer.recv(10) == b"\xc0\x00"
        peer.close()
        assert read_all(device, "PING PING RESET") == ["CLOSED", "CLOSED", "reset"]
        with pytest.raises(ValueError, match="'JUMP' is not one of"):
            device.send("JUMP")
        device.close()


def test_mosquitto_answers_as_it_does(tmp_path: Path) -> None:
    with broker("mosquitto", tmp_path) as address:
        device = Broker(address)
        assert read_all(device, "CONNECT PING SUBSCRIBE PUBLISH1") == [
            "CONNACK0",
            "PINGRESP",
            "SUBACK0",
            "PUBACK+PUBLISH",
        ]
        assert read_all(device, "CONNECT PING") == ["CLOSED", "CLOSED"]
        assert read_all(device, "RESET PING RESET CONNECT-LEVEL9") == ["reset", "CLOSED", "reset", "CONNACK1+CLOSED"]
        assert read_all(device, "RESET CONNECT RESERVED") == ["reset", "CONNACK0", "CLOSED"]
        device.close()


# ------------------------------------------------------------------------------------------------- learned live


def ascertain(address: str, folder: Path, *words: object) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a verb on the broker at an address."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ascertain",
            *map(str, words),
            "--plant",
            "python:examples.mqtt.broker:Broker",
            "--json",
        ],
        env={**os.environ, "MQTT_BROKER": address, "MQTT_QUIET": "0.2", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Path, dict[str, str]]]:
    """Three brokers that run, and the models that were learned of them."""
    folder = tmp_path_factory.mktemp("brokers")
    with ExitStack() as stack:
        addresses = {name: stack.enter_context(broker(name, folder)) for name in NAMES}
        for name, address in addresses.items():
            how = ["--actions", CHOSEN, "--conform", "sample:60,complete:0", "--out", folder / f"{name}.dot"]
            code, facts = ascertain(address, folder, "learn", *how, "--seed", "mqtt")
            assert (code, facts["status"], facts["certificate"]) == (0, "learned", "VERIFIED"), facts
            assert facts["claim"] == "sample:60+complete:0" and facts["plant"] == f"mqtt {address}"
        yield folder, addresses


@pytest.mark.slow
def test_brokers_are_learned_and_told_apart(brokers: tuple[Path, dict[str, str]]) -> None:
    folder, addresses = brokers
    models = [folder / f"{name}.dot" for name in NAMES]
    for name, address in addresses.items():
        code, facts = ascertain(address, folder, "fingerprint", *models, "--conform", "complete:0")
        assert (code, facts["verdict"], facts["label"]) == (0, "certified", name), facts


@pytest.mark.slow
def test_a_broker_that_is_left_out_is_none_of_these(brokers: tuple[Path, dict[str, str]]) -> None:
    folder, addresses = brokers
    for name, address in addresses.items():
        others = [folder / f"{other}.dot" for other in NAMES if other != name]
        code, facts = ascertain(address, folder, "fingerprint", *others, "--conform", "complete:0")
        assert (code, facts["verdict"]) == (1, "none of these"), facts
        assert facts["witness"][0][0] in ("RESET", *CHOSEN.split(","))
    # What the experiment alone takes for mosquitto is exposed by its conformance, and by that alone.
    others = [folder / "mosquitto.dot", folder / "amqtt.dot"]
    code, facts = ascertain(addresses["guarded"], folder, "fingerprint", *others)
    assert (code, facts["label"], facts["assumed"]) == (0, "mosquitto", "if it is one of the models")
