"""Real MQTT brokers on the loopback, started for tests and ended after them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.calls import free_port

PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin"
MOSQUITTO = shutil.which("mosquitto", path=PLACES)
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


def start_broker(name: str, port: int, folder: Path) -> subprocess.Popen[bytes]:
    """A broker that runs: mosquitto, amqtt, or a mosquitto that lets nobody in without a name."""
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
    for _ in range(600):
        if process.poll() is not None:
            break
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        time.sleep(0.1)
    process.kill()
    process.wait()
    raise AssertionError(f"no broker listens: {(folder / f'{name}.log').read_text()}")


@contextmanager
def broker(name: str, folder: Path) -> Generator[str]:
    """Such a broker until the block ends, by its address."""
    port = free_port()
    process = start_broker(name, port, folder)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
