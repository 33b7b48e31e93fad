"""Lines to and from a program or a socket, within a time, and never more bytes than a line may have.

Both ends are file descriptors that do not block; whoever waits, waits in a selector, so that Ctrl-C is heard. (Pipes
can be waited for on POSIX systems only.)
"""

from __future__ import annotations

import codecs
import contextlib
import os
import selectors
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from typing import IO, final

from ascertain.drawing.printable import printable
from ascertain.errors import PlantFault
from ascertain.plant.faults import Garbled, HungUp, Late
from ascertain.plant.lines import MAX_LINE

CHUNK = 65536
"""Bytes that are read at once: what a pipe of Linux holds."""
PATIENCE = 1.0
"""Seconds that a program is given to end by itself, and then to obey, before it is stopped; people wait for it."""
LOOK = 0.01
"""Seconds between two looks at a program that is to end."""
ERRORS = 2
"""Our own standard error, which a program's is passed on to."""
MAX_ERRORS = 65536
"""Bytes of a program's standard error that are passed on: far more than anyone reads, and no disk is filled."""


@final
class Channel:
    """Lines over two file descriptors, which may be one and the same."""

    def __init__(self, incoming: int, outgoing: int, close: Callable[[], None]) -> None:
        os.set_blocking(incoming, False)
        os.set_blocking(outgoing, False)
        self._incoming, self._outgoing, self._close = incoming, outgoing, close
        self._buffer = bytearray()
        self._skipping = False

    def write(self, line: str, deadline: float) -> None:
        """Send a line; a hang-up when there is nobody, or nobody takes it in time."""
        rest = line.encode() + b"\n"
        if len(rest) > MAX_LINE + 1:
            raise PlantFault(f"the line {line[:40]!r}... has {len(rest)} bytes; at most {MAX_LINE} can be sent")
        while rest:
            if not _wait(self._outgoing, selectors.EVENT_WRITE, deadline):
                raise HungUp("the plant does not take what it is sent")
            try:
                rest = rest[os.write(self._outgoing, rest) :]
            except BlockingIOError:
                continue
            except OSError as reason:
                raise HungUp(f"the plant has gone ({reason.strerror}), and nothing could be sent") from None

    def read(self, deadline: float) -> bytes:
        """The next line, without its newline."""
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                if self._skipping:
                    self._skipping = False
                    continue
                if len(line) > MAX_LINE:
                    raise _too_long()
                return line
            if len(self._buffer) > MAX_LINE:
                begins, self._skipping = not self._skipping, True
                self._buffer.clear()
                if begins:
                    raise _too_long()
            self._receive(deadline)

    def _receive(self, deadline: float) -> None:
        if not _wait(self._incoming, selectors.EVENT_READ, deadline):
            raise Late("the plant did not answer in time")
        try:
            data = os.read(self._incoming, CHUNK)
        except BlockingIOError:
            return
        except OSError as reason:
            raise HungUp(f"the plant has gone ({reason.strerror})") from None
        if not data:
            raise HungUp("the plant has hung up")
        self._buffer += data

    def close(self) -> None:
        self._close()


def _too_long() -> Garbled:
    return Garbled(f"the plant sent a line of more than {MAX_LINE} bytes")


def _wait(descriptor: int, event: int, deadline: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, event)
        return bool(selector.select(max(0.0, deadline - time.monotonic())))


def open_program(command: str) -> Channel:
    """Start a program, without a shell, and talk to its standard input and output."""
    try:
        words = shlex.split(command)
    except ValueError as reason:
        raise PlantFault(f"the command {command[:80]!r} cannot be read: {str(reason).lower()}") from None
    if not words:
        raise PlantFault('the command of the plant is empty; write for example "exec:python plant.py"')
    try:
        # A group of its own, so that Ctrl-C reaches us and not the plant, and all that it starts ends with it.
        pipe = subprocess.PIPE
        program = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)  # noqa: S603  no shell, and the user's own command
    except (OSError, ValueError) as reason:
        why = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
        raise PlantFault(f"the plant {words[0][:80]!r} cannot be started: {why}") from None
    assert program.stdin is not None and program.stdout is not None and program.stderr is not None
    threading.Thread(target=_pass_errors_on, args=(program.stderr,), daemon=True).start()
    return Channel(program.stdout.fileno(), program.stdin.fileno(), lambda: _end_program(program))


def _pass_errors_on(stream: IO[bytes]) -> None:
    """Pass on what a program writes to standard error, up to a limit; the rest is read, so that it need not wait.

    Controls are escaped, but for the ends of lines: a plant does not write on our terminal what we did not say.
    """
    left, decoder = MAX_ERRORS, codecs.getincrementaldecoder("utf-8")("replace")
    with stream, contextlib.suppress(OSError):  # where nobody takes it, nobody misses it
        while data := os.read(stream.fileno(), CHUNK):
            if left <= 0:
                continue
            text = decoder.decode(data[:left]).replace("\r\n", "\n")
            os.write(ERRORS, "\n".join(map(printable, text.split("\n"))).encode())
            left -= len(data)
            if left <= 0:
                os.write(ERRORS, b"\n(the plant writes more to standard error; the rest is not shown)\n")


def _end_program(program: subprocess.Popen[bytes]) -> None:
    """Close its input, which tells it to end; then ask; then stop it. What it has started ends in the same way."""
    for stream in (program.stdin, program.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # what could not be sent any more is of no use to anyone
                stream.close()
    for insist in (None, signal.SIGTERM, signal.SIGKILL):
        if insist is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, insist)
        if insist == signal.SIGKILL:
            program.wait()
        elif _await_group(program):
            return


def _await_group(program: subprocess.Popen[bytes]) -> bool:
    """Whether the program and all that it has started have ended in time."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if program.poll() is not None:  # its number stays that of the group while anyone is in it
            try:
                os.killpg(program.pid, 0)
            except ProcessLookupError:
                return True
            except PermissionError:  # some systems say so of one that has ended and is not tidied up yet
                pass
        time.sleep(LOOK)
    return False


def open_socket(host: str, port: int, timeout: float) -> Channel:
    """Connect over TCP."""
    try:
        connection = socket.create_connection((host, port), timeout=timeout)
    except (OSError, UnicodeError) as reason:
        why = (reason.strerror if isinstance(reason, OSError) else None) or "no answer"
        raise PlantFault(f"the plant at tcp://{host}:{port} cannot be reached: {why.lower()}") from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Channel(connection.fileno(), connection.fileno(), connection.close)
