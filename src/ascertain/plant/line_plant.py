"""A plant at the other end of a line: it is greeted, told what to do, and its answers are matched by their numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol, final

from ascertain.errors import PlantFault, TaskError
from ascertain.plant import PlantKind
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.channel import open_program, open_socket
from ascertain.plant.faults import ActionFault, Contradicted, Garbled, HungUp, Missing, Restarted
from ascertain.plant.lines import VERSION, Greeting, decode_line, read_answer, read_greeting, split_answer, write_name
from ascertain.plant.wiring.address import split_url

MAX_DROPPED = 1000
"""Old answers that are passed over while waiting for one; a plant that sends more of them is not answering."""


class AbstractChannel(Protocol):
    """The interface of what carries lines; `channel.py` has those over programs and sockets."""

    def write(self, line: str, deadline: float) -> None: ...

    def read(self, deadline: float) -> bytes: ...

    def close(self) -> None: ...


@final
class LinePlant(AbstractPlant):
    """Speaks the line protocol over what `connect` opens, and greets it at once.

    `begins` says that connecting starts the plant, as it does with a program: then a run can only be taken up by a
    plant that says what it did last.
    """

    def __init__(
        self, connect: Callable[[], AbstractChannel], *, timeout: float = 10.0, run: str = "0", begins: bool = False
    ) -> None:
        self._connect = connect
        self._begins = begins
        self._timeout = self._patience = timeout
        self._run = run
        self._number = 0
        self._confirmed = 0  # the greatest number that was surely done
        self._fresh = True
        self._readings: dict[int, str] = {}
        self._channel: AbstractChannel | None = None
        self.dropped = 0
        greeting = self._greet()
        self.name = self.identity = greeting.name
        self.retry_safe, self._last = greeting.retry_safe, greeting.last

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:
        self._fresh = False
        self._number = len(actions)
        self._confirmed = len(actions) if confirmed is None else confirmed
        if self._begins and actions and self._last is None:
            self.close()
            raise Restarted(
                "the plant was started anew and does not say what it did last, so it cannot be known to be where it "
                "was; the run cannot go on"
            )
        self._check_last(self._last, self._number + 1)

    def skip(self, action: str) -> None:
        self._fresh = False
        self._number += 1

    def wait_at_most(self, seconds: float) -> None:
        self._patience = min(self._timeout, seconds)

    def send(self, action: str) -> str:
        if self._fresh and self._last:
            raise Restarted(f"the plant says that it has done {self._last} actions of this run, which has not begun")
        self._fresh = False
        self._number += 1
        return self._exchange(action)

    def repeat(self, action: str) -> str:
        assert self.retry_safe, "a number is sent again only to a plant that declares itself retry-safe"
        if self._channel is None:
            self._call_again()
        return self._exchange(action)

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _greet(self) -> Greeting:
        self._channel = self._connect()
        deadline = time.monotonic() + self._patience
        try:
            self._channel.write(f"hello ascertain {VERSION} {self._run}", deadline)
            return read_greeting(decode_line(self._channel.read(deadline)))
        except ActionFault as reason:
            self.close()
            raise type(reason)(f"the plant was greeted, but {reason}") from None
        except BaseException:
            self.close()
            raise

    def _call_again(self) -> None:
        """Greet anew after a hang-up; only a plant that says what it did last can be known to be where it was.

        Before anything was surely done, a plant that was restarted would say the same as one that was not.
        """
        if self._last is None or self._confirmed == 0:
            raise HungUp("the plant hung up, and cannot be known to be where it was, so the run cannot go on")
        try:
            greeting = self._greet()
        except ActionFault:
            raise
        except PlantFault as reason:
            raise HungUp(str(reason)) from None
        if greeting.name != self.name:
            self.close()
            raise Restarted(f"the plant was {self.name!r} and is now {greeting.name[:200]!r}")
        self._check_last(greeting.last, self._number)

    def _check_last(self, last: int | None, most: int) -> None:
        if last is not None and not self._confirmed <= last <= most:
            self.close()
            raise Restarted(
                f"the plant says that number {last} of this run was its last, and {self._confirmed} was expected; "
                "it was restarted, or has forgotten the run"
            )

    def _exchange(self, action: str) -> str:
        if self._channel is None:
            raise HungUp("the plant has hung up")
        deadline = time.monotonic() + self._patience
        try:
            self._channel.write(f"{self._number} {write_name(action)}", deadline)
            answer = self._await(self._channel, deadline)
        except HungUp:
            self.close()
            raise
        return self._accept(action, answer)

    def _await(self, channel: AbstractChannel, deadline: float) -> str:
        """The answer to the present number; answers to earlier ones are late or duplicates, and are dropped."""
        for _ in range(MAX_DROPPED):
            number, answer = split_answer(decode_line(channel.read(deadline)))
            if number == self._number:
                return answer
            if number > self._number:
                raise Garbled(f"the plant answers number {number}, and {self._number} was the last that was sent")
            self.dropped += 1
            if self._readings.get(number, answer) != answer and answer[0] not in "!?~":
                before, now = self._readings[number][:60], answer[:60]
                raise Contradicted(f"the plant answered number {number} with {before!r} and now with {now!r}")
        raise Garbled(f"the plant sent {MAX_DROPPED} answers to earlier numbers, and none to {self._number}")

    def _accept(self, action: str, answer: str) -> str:
        try:
            reading = read_answer(answer, action)
        except Missing:
            self._confirmed = self._number
            raise
        self._confirmed = self._number
        self._readings[self._number] = answer
        return reading


def open_lines(address: str, timeout: float, run: str) -> LinePlant:
    """The plant behind `exec:COMMAND` or `tcp://HOST:PORT`, greeted."""
    prefix, _, rest = address.partition(":")
    if prefix == "exec":
        return LinePlant(lambda: open_program(rest), timeout=timeout, run=run, begins=True)
    host, port = _read_address(address)
    return LinePlant(lambda: open_socket(host, port, timeout), timeout=timeout, run=run)


def _read_address(text: str) -> tuple[str, int]:
    parts = split_url(text, "tcp")
    if parts is None or not parts.hostname or not parts.port or text.rpartition(":")[2] != str(parts.port):
        raise TaskError(
            f"--plant: {text[:80]!r} is not an address; write tcp://HOST:PORT, such as tcp://localhost:5000"
        )
    return parts.hostname, parts.port


EXEC = PlantKind("exec", "exec:COMMAND", lambda told, context: open_lines(f"exec:{told}", context.timeout, context.run))
"""A program on this machine, started for the run."""
TCP = PlantKind("tcp", "tcp://HOST:PORT", lambda told, context: open_lines(f"tcp:{told}", context.timeout, context.run))
"""A program that listens somewhere else."""
