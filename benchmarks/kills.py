"""Live runs over TCP and wiring that are killed with SIGKILL again and again: is anything lost that was recorded?

    python benchmarks/kills.py [--kills 1000] [--seed 1] [--folder PLACE]

A server plays dials: over TCP, once as a plant that repeats its last answer and once as one that does not, and behind
HTTP for a wiring file. It keeps what it was asked and what it answered. Each run is a process of its own with a journal
(forked, so that it starts at once), killed at a random moment and resumed until it ends. Afterwards

- every record that a killed process had confirmed is there, unchanged;
- every recorded reading is what the server answered then, in order, and it did nothing that no intent announced;
- the answer is right.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ascertain.live.journal import Journal
from ascertain.pipeline.observe import name_run, observe

POSITIONS = 5
FLIP = 10
"""One look in so many is wrong."""
KINDS = ("remembers", "forgets", "wired")
PROBLEM = """
[model]
initial = "0"
transitions = [
TRANSITIONS]
[risk]
alpha = "1/1000000"
[observe]
policy = "eager"
probing = "separating"
budget = 400
doublings = 12
"""
WIRING = """
[plant]
kind = "http"
address = "http://127.0.0.1:PORT"
identity = { read = "/NAME" }
reconnect = true
[[action]]
name = "turn"
steps = [{ request = "POST /NAME" }]
[[action]]
name = "look"
read = "/NAME/look"
"""


class Dial:
    """A dial of which it can be seen, with errors, whether it is at 0; it keeps all that it has done."""

    def __init__(self, name: str) -> None:
        self.chance = random.Random(name)
        self.start = self.position = self.chance.randrange(POSITIONS)
        self.done: list[tuple[str, str]] = []
        self.last, self.answer = "0", ""

    def do(self, action: str) -> str:
        if action == "turn":
            self.position = (self.position + 1) % POSITIONS
            reading = "click"
        else:
            reading = "red" if (self.position == 0) != (self.chance.randrange(FLIP) == 0) else "green"
        self.done.append((action, reading))
        return reading


class Dials(dict[str, Dial]):
    def __missing__(self, name: str) -> Dial:
        return self.setdefault(name, Dial(name))


DIALS, TURN = Dials(), threading.Lock()


class Lines(socketserver.StreamRequestHandler):
    """The line protocol; each run has a dial of its own."""

    remembers = False

    def handle(self) -> None:
        dial = DIALS[""]
        for line in self.rfile:
            number, _, action = line.decode().strip().partition(" ")
            with TURN:
                if number == "hello":
                    dial = DIALS[action.split()[-1]]
                    said = f"plant dial retry-safe last={dial.last}" if self.remembers else "plant dial"
                else:
                    if not (self.remembers and number == dial.last):
                        dial.last, dial.answer = number, dial.do(action)
                    said = f"{number} {dial.answer}"
            self.wfile.write(f"{said}\n".encode())


class Remembering(Lines):
    remembers = True


class Web(BaseHTTPRequestHandler):
    """GET /NAME is the name, GET /NAME/look a look, POST /NAME a turn."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def say(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self) -> None:
        _, name, *look = self.path.split("/")
        with TURN:
            text = DIALS[name].do("look") if look else name
        self.say(text)

    def do_POST(self) -> None:
        with TURN:
            text = DIALS[self.path[1:]].do("turn")
        self.say(text)


class Quiet(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True

    def handle_error(self, *_: object) -> None:
        """Whoever was killed has hung up."""


class QuietWeb(Quiet, ThreadingHTTPServer):
    pass


def serve() -> None:
    """Print three ports; answer a line with a name by what that dial has done."""
    servers = [Quiet(("127.0.0.1", 0), kind) for kind in (Remembering, Lines)] + [QuietWeb(("127.0.0.1", 0), Web)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(*(server.server_address[1] for server in servers), flush=True)
    for line in sys.stdin:
        with TURN:
            dial = DIALS[line.strip()]
            print(json.dumps({"start": dial.start, "done": dial.done}), flush=True)


def start_run(problem: Path, plant: str, journal: Path) -> int:
    """Begin or resume a run in a process of its own; what became of it is written beside the journal."""
    process = os.fork()
    if process:
        return process
    try:
        found = observe(problem, plant, journal=journal, resume=journal.exists(), timeout=30)
        journal.with_suffix(".facts").write_text(json.dumps(found.facts()))
    except BaseException:
        journal.with_suffix(".facts").write_text(json.dumps({"verdict": "crashed", "reason": traceback.format_exc()}))
    os._exit(0)


def confirmed(journal: Path) -> int:
    try:
        return int(journal.with_name(f"{journal.name}.head").read_text().split()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return 0


def kill_at_random(process: int, journal: Path, chance: random.Random) -> tuple[bool, int]:
    """Kill the process at a random moment: whether it was still running, and what it had confirmed."""
    target = confirmed(journal) + chance.randint(0, 30)
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and confirmed(journal) < target:
        time.sleep(0.0005)
    time.sleep(chance.random() * 0.02)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return os.WIFSIGNALED(status), confirmed(journal)


def records_of(journal: Path) -> list[dict[str, Any]]:
    if not journal.exists():
        return []
    with Journal(journal, read_only=True) as opened:
        return list(opened.records)


def count_lost(records: list[dict[str, Any]], done: list[list[str]], kind: str) -> int:
    """Readings that the server did not give then, and actions that it did although nothing announced them."""
    names = records[1]
    steps: list[list[Any]] = []
    for record in records:
        if record["record"] == "intent":
            steps.append([names["actions"][record["action"]], None])
        elif record["record"] == "reading":
            steps[-1][1] = names["readings"][record["reading"]]
    if kind == "remembers":
        return sum(mine != theirs for mine, theirs in zip(steps, done, strict=False)) + abs(len(steps) - len(done))
    rest, lost = iter(done), 0
    for step in (step for step in steps if step[1] is not None):
        lost += not any(theirs == step for theirs in rest)
    for action in ("turn",) if kind == "wired" else ("turn", "look"):  # a look that was cut short is asked again
        lost += sum(theirs[0] == action for theirs in done) > sum(step[0] == action for step in steps)
    return lost


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--kills", type=int, default=1000)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--folder", type=Path)
    words.add_argument("--serve", action="store_true")
    given = words.parse_args()
    if given.serve:
        serve()
        return
    chance, began = random.Random(given.seed), time.monotonic()
    counts, found = Counter[str](), Counter[str]()
    command = [sys.executable, "-P", __file__, "--serve"]
    with (
        tempfile.TemporaryDirectory(dir=given.folder) as place,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin is not None and server.stdout is not None
        remembering, forgetting, web = server.stdout.readline().split()
        home = Path(place)
        moves = [f'  ["{s}", "turn", "click", "{(s + 1) % POSITIONS}"],' for s in range(POSITIONS)]
        colours = ["red", "green", "green", "green", "green"]
        for s, colour in enumerate(colours):
            other = "green" if colour == "red" else "red"
            moves.append(f'  ["{s}", "look", {{ {colour} = "{FLIP - 1}/{FLIP}", {other} = "1/{FLIP}" }}, "{s}"],')
        problem = home / "dial.toml"
        problem.write_text(PROBLEM.replace("TRANSITIONS", "\n".join(moves) + "\n"))
        observe(problem, "simulated:1")  # what is compiled is compiled before any process is forked
        number = 0
        while sum(counts[kind] for kind in KINDS) < given.kills:
            kind, journal = KINDS[number % len(KINDS)], home / f"{number}.journal"
            number += 1
            name, plant = f"dial{given.seed}-{number}", f"tcp://127.0.0.1:{forgetting}"
            if kind == "remembers":
                plant = f"tcp://127.0.0.1:{remembering}"
            elif kind == "wired":
                plant = str(home / f"{number}.toml")
                Path(plant).write_text(WIRING.replace("PORT", web).replace("NAME", name))
            known: list[dict[str, Any]] = []
            while True:
                killed, sure = kill_at_random(start_run(problem, plant, journal), journal, chance)
                records = records_of(journal)
                counts["lost records"] += records[: len(known)] != known or len(records) < sure
                known = records
                if not killed:
                    break
                counts[kind] += 1
            facts = json.loads(journal.with_suffix(".facts").read_text())
            if facts["verdict"] not in ("certified", "abstained"):
                raise SystemExit(f"run {number} ({kind}): {facts['verdict']}: {facts['reason']}")
            server.stdin.write((name if kind == "wired" else name_run(journal)) + "\n")
            server.stdin.flush()
            truth = json.loads(server.stdout.readline())
            counts["lost steps"] += count_lost(records, truth["done"], kind)
            right = facts["verdict"] != "certified" or facts["label"] == str(truth["start"])
            counts["wrong"] += not right
            why = "" if facts["reason"] is None else f": {facts['reason']}"
            found[f"{facts['verdict']} ({kind}){why}"] += 1
        server.stdin.close()
    kills = ", ".join(f"{kind} {counts[kind]}" for kind in KINDS)
    print(f"{sum(counts[kind] for kind in KINDS)} kills ({kills}) of {number} runs, {time.monotonic() - began:.0f} s")
    print(f"lost records {counts['lost records']}, lost steps {counts['lost steps']}, wrong answers {counts['wrong']}")
    for what, many in sorted(found.items()):
        print(f"  {many:4d} {what}")
    if counts["lost records"] or counts["lost steps"] or counts["wrong"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
