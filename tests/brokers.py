"""Real MQTT brokers on the loopback, started for tests and ended after them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/sbin")
AMQTT = """
import asyncio, sys
from amqtt.broker import Broker


async def main():
    plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
    broker = Broker({"listeners": {"default": {"type": "tcp", "bind": sys.argv[1]}}, "plugins": plugins})
    await broker.start()
    await asyncio.Event().wait()


asyncio.run(main())
"""
"""The broker of amqtt; nothing but what it needs to let anybody in."""


@contextmanager
def broker(name: str, folder: Path) -> Generator[str]:
    """A broker that runs, and its address: mosquitto, amqtt, or a mosquitto that lets nobody in without a name."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if name == "amqtt":
        if find_spec("amqtt") is None:
            pytest.skip("amqtt is not installed")
        command = [sys.executable, "-c", AMQTT, f"127.0.0.1:{port}"]
    else:
        if MOSQUITTO is None:
            pytest.skip("mosquitto is not installed")
        settings = f"listener {port} 127.0.0.1\nallow_anonymous {'true' if name == 'mosquitto' else 'false'}\n"
        (folder / f"{name}.conf").write_text(f"{settings}persistence false\n")
        command = [MOSQUITTO, "-c", str(folder / f"{name}.conf")]
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        _await(port, process, folder / f"{name}.log")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until somebody listens there."""
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"no broker listens: {log.read_text()}")
