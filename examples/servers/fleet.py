"""Many mail servers on this machine, each on a port of its own: some are slow, some dead, some none of the models.

    python fleet.py hosts.csv --number 100

writes the file of the hosts, with what each truly is, and serves until its input ends. Servers remember runs across
connections, as the line protocol asks of a plant that can be called again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import random
import resource
import sys
from pathlib import Path

from ascertain import SimulatedPlant, read_model, with_reset

HERE = Path(__file__).parent
OUTSIDER = {
    "new": {"HELO": ("greeted", "250"), "AUTH": ("new", "503"), "SEND": ("new", "503")},
    "greeted": {"HELO": ("greeted", "250"), "AUTH": ("known", "235"), "SEND": ("greeted", "530")},
    "known": {"HELO": ("known", "250"), "AUTH": ("greeted", "503"), "SEND": ("known", "999")},
}
"""What a server that is none of the models says and does; like alder, until it has logged in and is to send."""


class Outsider:
    """A server that no model describes."""

    def __init__(self) -> None:
        self.state = "new"

    def send(self, action: str) -> str:
        if action == "RESET":
            self.state = "new"
            return "reset"
        if action == "QUIT":
            self.state = "closed"
            return "221"
        self.state, answer = OUTSIDER.get(self.state, {}).get(action, (self.state, "-"))
        return answer


class Server:
    """One host: what it is, how slow it is, and the runs that it remembers."""

    def __init__(self, name: str, kind: str, truth: str, delay: float) -> None:
        self.name, self.kind, self.truth, self.delay = name, kind, truth, delay
        self.runs: dict[str, tuple[object, int, str]] = {}

    def begin(self) -> object:
        """The server as it is after a reset."""
        if self.kind == "outsider":
            return Outsider()
        model = with_reset(read_model(HERE / f"{self.truth}.dot"), "RESET")
        return SimulatedPlant(model, model.initial[0])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        run = ""
        with contextlib.suppress(OSError, asyncio.CancelledError):
            while line := await reader.readline():
                if self.kind == "mute":
                    continue
                head, _, rest = line.decode().strip().partition(" ")
                if head == "hello":
                    run = rest.split()[2]
                    _, last, _ = self.runs.setdefault(run, (self.begin(), 0, ""))
                    writer.write(f"plant {self.name} retry-safe last={last}\n".encode())
                else:
                    plant, last, answer = self.runs[run]
                    if int(head) != last:  # a number that comes again is answered again, and nothing is done
                        answer = plant.send(rest)  # type: ignore[attr-defined]
                        self.runs[run] = plant, int(head), answer
                    await asyncio.sleep(self.delay)
                    writer.write(f"{head} {answer}\n".encode())
                await writer.drain()
            writer.close()


def draw(number: int, seed: int, share: float) -> list[Server]:
    """The servers of a fleet; of every kind of trouble there is about this share."""
    chance = random.Random(seed)  # noqa: S311  a simulation must be repeatable, not secret
    names = sorted(path.stem for path in HERE.glob("*.dot"))
    kinds = ["slow", "dead", "mute", "outsider"]
    servers: list[Server] = []
    for i in range(number):
        kind = chance.choices([*kinds, "well"], [share] * 4 + [1 - 4 * share])[0]
        truth = "none of these" if kind == "outsider" else chance.choice(names)
        servers.append(Server(f"box-{i:04d}", kind, truth, 0.2 if kind == "slow" else 0.0))
    return servers


async def run(hosts: Path, servers: list[Server]) -> None:
    rows: list[tuple[str, ...]] = [("name", "host", "port", "identity", "kind", "truth")]
    listeners = [await asyncio.start_server(server.serve, "127.0.0.1", 0) for server in servers]
    for server, listener in zip(servers, listeners, strict=True):
        port = listener.sockets[0].getsockname()[1]
        if server.kind == "dead":  # now that its port is given to nobody else
            listener.close()
        rows.append((server.name, "127.0.0.1", str(port), server.name, server.kind, server.truth))
    with hosts.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("hosts", type=Path)
    words.add_argument("--number", type=int, default=20)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--share", type=float, default=0.05)
    given = words.parse_args()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))  # a socket a host, and one a connection
    asyncio.run(run(given.hosts, draw(given.number, given.seed, given.share)))
