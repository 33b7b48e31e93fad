"""The valve train of examples/valve as an OPC UA server: python train.py --leak 1 --port 4840

Two block valves with a chamber between them, a pressure sensor on the chamber, and a burner behind. What leaks is known
to this program alone. Its time is simulated: it passes while a valve is open and while the train is told to stand.

    ns=2;s=V1.open, ns=2;s=V2.open     Boolean, written   the valves
    ns=2;s=Train.stand                 Double, written    seconds for which the train stands with its valves shut
    ns=2;s=Burner.ignite               Boolean, written
    ns=2;s=P1.bar                      Double, read       the pressure in the chamber, which is measured with some noise
    ns=2;s=Burner.state                String, read       dark, flame or bang
    ns=2;s=Train.alarm                 Boolean, read
    ns=2;s=Train.serial                String, read
"""

import argparse
import asyncio
import contextlib
import logging
import math
import random
from collections.abc import Callable

from asyncua import Server, ua

SUPPLY = 2.0
"""bar, before valve 1; behind valve 2 there is none."""
SETTLING = 8.0
"""Seconds in which what leaks brings the pressure to about a third of its way."""


class Train:
    """What the train does when it is told something."""

    def __init__(self, leak: str, seed: int) -> None:
        self.leaks1, self.leaks2 = leak in ("1", "both"), leak in ("2", "both")
        self.noise = random.Random(seed)  # noqa: S311  the noise of a gauge
        self.bar = self.noise.choice((0.0, SUPPLY))
        self.burner, self.alarm = "dark", False

    def open_valve1(self, is_open: bool) -> None:
        if is_open and not self.alarm:
            self.bar = SUPPLY

    def open_valve2(self, is_open: bool) -> None:
        if is_open and not self.alarm:
            self.bar, self.burner = 0.0, "dark"

    def stand(self, seconds: float) -> None:
        """A seat leaks only under load: with most of the supply's pressure across it when the train begins to stand."""
        if self.burner == "flame" or self.alarm:
            return
        is_low = self.bar < SUPPLY / 2
        if self.leaks1 if is_low else self.leaks2:
            end = SUPPLY if is_low else 0.0
            self.bar = end + (self.bar - end) * math.exp(-seconds / SETTLING)

    def ignite(self, is_on: bool) -> None:
        if is_on and not self.alarm:
            self.alarm = self.leaks1 or self.leaks2
            self.burner = "bang" if self.alarm else "flame"
            self.bar = SUPPLY

    def gauge(self) -> float:
        return -1.0 if self.alarm else max(0.0, self.bar + self.noise.gauss(0, 0.03))


async def serve(train: Train, port: int, serial: str) -> None:
    server = Server()
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    space = await server.register_namespace("urn:valve-train")

    async def add(name: str, value: object) -> ua.NodeId:
        node = await server.nodes.objects.add_variable(ua.NodeId(name, space), name, value)
        return node.nodeid

    async def written(name: str, value: object, do: Callable[[object], None]) -> None:
        node = await add(name, value)
        await server.get_node(node).set_writable()
        server.set_attribute_value_setter(node, lambda _node, _attribute, data: do(data.Value.Value))

    async def read(name: str, get: Callable[[], object]) -> None:
        server.set_attribute_value_callback(await add(name, get()), lambda *_: ua.DataValue(ua.Variant(get())))

    await written("V1.open", False, train.open_valve1)
    await written("V2.open", False, train.open_valve2)
    await written("Train.stand", 0.0, train.stand)
    await written("Burner.ignite", False, train.ignite)
    await read("P1.bar", train.gauge)
    await read("Burner.state", lambda: train.burner)
    await read("Train.alarm", lambda: train.alarm)
    await read("Train.serial", lambda: serial)
    async with server:
        print(f"valve train {serial} at opc.tcp://127.0.0.1:{port}; Ctrl-C ends it", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leak", choices=["none", "1", "2", "both"], default="1", help="the valve that leaks")
    parser.add_argument("--port", type=int, default=4840)
    parser.add_argument("--serial", default="VT-104")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the noise of the gauge, and of the pressure at the start"
    )
    chosen = parser.parse_args()
    logging.getLogger("asyncua").setLevel(logging.ERROR)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Train(chosen.leak, chosen.seed), chosen.port, chosen.serial))
