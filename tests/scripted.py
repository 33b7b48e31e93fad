"""A plant that speaks the line protocol in memory and goes wrong as its seed says: time is virtual, nothing waits.

`ScriptedServer` stands for the program at the other end; `connect` gives what `LinePlant` wants. Whether a fault
strikes is drawn without looking at what is read, as the guarantee asks; the same seed strikes in the same places.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from urllib.parse import unquote

from ascertain.plant.faults import Garbled, HungUp, Late
from ascertain.plant.lines import MAX_LINE, write_name
from ascertain.plant.simulated import SimulatedPlant

FAULTS = (
    "lose request",
    "lose reply",
    "delay",
    "duplicate",
    "missing",
    "refuse",
    "unsure",
    "bytes",
    "cut",
    "future",
    "overlong",
    "unknown",
    "contradict",
    "hang up before",
    "hang up after",
    "restart",
)
GENTLE = ("lose request", "lose reply", "delay", "duplicate", "missing", "unsure")
"""Faults after which even a plant that is not retry-safe goes on."""


@dataclass
class ScriptedServer:
    """A simulated plant behind lines; `rate` is how often a request meets one of `faults`."""

    plant: SimulatedPlant
    seed: int
    num_states: int
    rate: float = 0.0
    faults: tuple[str, ...] = FAULTS
    retry_safe: bool = False
    says_last: bool = False
    name: str = "scripted"
    last: int = 0
    answer: str = ""
    struck: list[str] = field(default_factory=list)
    acted: list[str] = field(default_factory=list)
    out: deque[bytes] = field(default_factory=deque)
    delayed: list[bytes] = field(default_factory=list)
    alive: bool = True
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(f"faults {self.seed}")

    def connect(self) -> ScriptedServer:
        if not self.alive and not self.retry_safe:
            raise HungUp("nobody answers")
        self.alive = True
        self.out.clear()
        self.delayed.clear()
        return self

    def write(self, line: str, deadline: float) -> None:
        if not self.alive:
            raise HungUp("the scripted plant has gone")
        assert len(line.encode()) <= MAX_LINE
        head, _, rest = line.partition(" ")
        if head == "hello":
            options = (" retry-safe" if self.retry_safe else "") + (f" last={self.last}" if self.says_last else "")
            self.out.append(f"plant {self.name}{options}".encode())
            return
        self.out.extend(self.delayed)
        self.delayed.clear()
        strikes = self.chance.random() < self.rate
        fault = self.chance.choice(self.faults) if strikes else ""
        if fault:
            self.struck.append(fault)
        self.serve(int(head), unquote(rest), fault)

    def serve(self, number: int, action: str, fault: str) -> None:
        if fault in {"lose request", "hang up before"} or (fault == "unsure" and self.chance.random() < 0.5):
            self.reply(number, "~who knows", fault)
            return
        if fault == "refuse":
            self.out.append(f"{number} !not now".encode())
            return
        if number != self.last or not self.retry_safe:
            self.acted.append(action)
            self.answer, self.last = write_name(self.plant.send(action)), number
        self.reply(number, self.answer, fault)

    def reply(self, number: int, answer: str, fault: str) -> None:
        line = f"{number} {answer}".encode()
        match fault:
            case "lose request" | "lose reply":
                pass
            case "delay":
                self.delayed.append(line)
            case "duplicate":
                self.out.extend([line, line])
            case "missing":
                self.out.append(f"{number} ?the sensor slept".encode())
            case "unsure":
                self.out.append(f"{number} ~who knows".encode())
            case "bytes":
                self.out.append(bytes(self.chance.randrange(128, 256) for _ in range(8)))
            case "cut":
                self.out.append(line[: self.chance.randrange(len(str(number)) + 1)])
            case "future":
                self.out.append(f"{number + 5} {answer}".encode())
            case "overlong":
                self.out.append(b"overlong")
            case "unknown":
                self.out.append(f"{number} a reading of another model".encode())
            case "contradict":
                self.out.append(line)
                self.delayed.append(f"{number} {answer}-not".encode())
            case "hang up before" | "hang up after" | "restart":
                self.alive = False
                if fault == "restart":
                    self.last, self.answer = 0, ""
                    self.plant = SimulatedPlant(self.plant.model, self.chance.randrange(self.num_states))
            case _:
                self.out.append(line)

    def read(self, deadline: float) -> bytes:
        if self.out:
            line = self.out.popleft()
            if line == b"overlong":
                raise Garbled("the plant sent a line that is too long")
            return line
        if not self.alive:
            raise HungUp("the scripted plant has gone")
        raise Late("the plant did not answer in time")

    def close(self) -> None:
        self.out.clear()
