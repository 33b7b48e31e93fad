"""Instruments that speak SCPI, over whatever VISA reaches: sockets, USB, GPIB, serial lines.

An instrument that does not know a command says nothing: it notes an error. With `errors = "SYST:ERR?"` it is asked for
that after every step. A late answer must not be read as the next one's: a socket is opened anew, a serial line must be
quiet first (`serial.py` says more), and the other buses have a message that clears the instrument's buffers.
"""

from __future__ import annotations

import re
import select
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, final

from ascertain.errors import TaskError, import_extra
from ascertain.plant import PlantKind
from ascertain.plant.faults import ActionFault, Garbled, HungUp, InDoubt, Late, NotSent, Refused
from ascertain.plant.lines import decode_line
from ascertain.plant.wiring.adapter import NUMBER, TEXT, AbstractAdapter, AdapterSettings, Step, Types
from ascertain.plant.wiring.line_steps import LINE_STEPS, check_line

R = TypeVar("R")
MAX_ANSWER = 65536
"""Bytes of an answer: as many as are decoded."""
MAX_ERRORS = 100
"""Old errors that are dropped when the instrument is connected to: queues are shorter."""
_ADDRESS = re.compile(r"(?:TCPIP|USB|GPIB|ASRL|PRLGX|VXI|PXI)[^:]*(?:::.+)+\Z", re.IGNORECASE | re.DOTALL)
"""A VISA resource name."""
_ERROR = re.compile(r"([+-]?\d{1,6})\s*(?:,|\Z)", re.ASCII)
"""An answer to SYST:ERR?, which begins with a number."""


@final
class ScpiAdapter(AbstractAdapter):
    """`write` sends a command, `query` waits for the answer to it, `read` as well and changes nothing."""

    steps = LINE_STEPS
    options: ClassVar[Mapping[str, Types]] = {
        "errors": TEXT,
        "ending": TEXT,
        "baud_rate": (int,),
        "quiet": NUMBER,
        "library": TEXT,
    }

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        address, options = settings.address.upper(), settings.options
        if not _ADDRESS.match(address):
            raise TaskError(
                f"address: {settings.address[:80]!r} is not a VISA resource such as TCPIP::192.168.0.7::5025::SOCKET"
            )
        if not options.get("ending", "\n") or options.get("baud_rate", 1) <= 0 or options.get("quiet", 0) < 0:
            raise TaskError("ending must be a text that is not empty, baud_rate more than 0, and quiet seconds")
        self._is_serial = address.startswith("ASRL")
        self._is_stream = self._is_serial or address.endswith("::SOCKET")
        self._ending = str(options.get("ending", "\n")).encode()
        self._visa: Any = None
        self._resource: Any = None
        self._quiet = 0.0
        """Seconds without a byte after which a serial line may be used: more than 0 after a late answer."""

    @classmethod
    def check(cls, step: Step) -> Step:
        """A query all of whose parts end in a question mark changes nothing, by the standard."""
        asks_only = all(part.split()[:1] and part.split()[0].endswith("?") for part in step.told.split(";"))
        return check_line(replace(step, changes=step.changes and not (step.gives and asks_only)))

    def connect(self, timeout: float) -> str | None:
        self._visa, options = import_extra("pyvisa", "scpi"), self.settings.options
        if options.get("library", "@py") == "@py":
            import_extra("pyvisa_py", "scpi")
        over = time.monotonic() + timeout
        try:
            manager = self._visa.ResourceManager(options.get("library", "@py"))
            self._resource = manager.open_resource(self.settings.address, open_timeout=_milliseconds(timeout))
            if "baud_rate" in options:
                self._resource.baud_rate = options["baud_rate"]
            if (connection := self._socket()) is not None:
                connection.getpeername()  # the library takes a connection that was refused for an open one
        except Exception as reason:  # the library and its backends raise what they like; nothing was sent
            raise NotSent(f"{self.settings.address} cannot be opened: {reason}") from None
        self._settle(timeout)
        try:
            old = MAX_ERRORS if "errors" in options else 0
            while old and self._next_error(over)[0]:
                old -= 1
                if not old:
                    raise Garbled(f"the instrument still reports errors after {MAX_ERRORS} of them")
        except Late:
            self._quiet = float(options.get("quiet", timeout))
            raise
        return None

    def close(self) -> None:
        resource, self._resource = self._resource, None
        if resource is not None:
            resource.close()

    def do(self, step: Step, timeout: float) -> object:
        over = time.monotonic() + timeout
        if self._holds_answer():
            raise Garbled("the instrument said something without being asked, so that answers are out of step")
        try:
            value = self._ask(step.told, over) if step.gives else self._send(step.told, over)
            number, text = self._next_error(over) if "errors" in self.settings.options else (0, "")
        except Late:
            self._quiet = float(self.settings.options.get("quiet", timeout))
            raise
        if number:
            raise _fault_of(number, ";" in step.told)(f"the instrument reports {text[:200]!r}")
        return value

    def _next_error(self, over: float) -> tuple[int, str]:
        text = self._ask(self.settings.options["errors"], over)
        if (found := _ERROR.match(text)) is None:
            raise Garbled(f"the instrument answered {text[:60]!r} where the number of an error was expected")
        return int(found[1]), text

    def _send(self, command: str, over: float) -> None:
        self._call(lambda: self._resource.write_raw(command.encode() + self._ending), over)

    def _ask(self, command: str, over: float) -> str:
        self._send(command, over)
        answer, codes = bytearray(), self._visa.constants.StatusCode
        while self._ending not in answer:
            data, status = self._receive(over)
            answer += data
            if len(answer) > MAX_ANSWER:
                raise Garbled(f"the answer has more than {MAX_ANSWER} bytes")
            if not self._is_stream and status != codes.success_max_count_read:
                break  # the bus says where an answer ends
        line, _, rest = bytes(answer).partition(self._ending)
        if rest:
            raise Garbled(f"the instrument sent {rest[:60]!r} after its answer")
        return decode_line(line.rstrip(b"\r\n")).strip()

    def _receive(self, over: float) -> tuple[bytes, Any]:
        """A piece of an answer. Of a stream no more is asked for than is there: for a line that trickles in the library
        waits without end, and the end of a connection it takes for silence."""
        left, connection, resource = over - time.monotonic(), self._socket(), self._resource
        if left <= 0 or (connection is not None and not select.select([connection], [], [], left)[0]):
            raise Late("the instrument did not answer in time")
        size = MAX_ANSWER
        if self._is_stream:
            size = self._call(lambda: resource.bytes_in_buffer, over) if connection is None else len(_peek(connection))
        codes = self._visa.constants.StatusCode
        with resource.ignore_warning(codes.success_max_count_read, codes.success_device_not_present):
            return self._call(lambda: resource.visalib.read(resource.session, max(size, 1)), over)

    def _call(self, function: Callable[[], R], over: float) -> R:
        """Call the library; what it raises is about something that may have been sent."""
        self._resource.timeout = _milliseconds(over - time.monotonic())
        errors = self._visa.errors
        try:
            return function()
        except errors.VisaIOError as reason:
            if reason.error_code == self._visa.constants.StatusCode.error_timeout:
                raise Late("the instrument did not answer in time") from None
            raise HungUp(f"the connection was lost: {reason}") from None
        except (OSError, errors.InvalidSession) as reason:
            raise HungUp(f"the connection was lost: {reason}") from None

    def _socket(self) -> socket.socket | None:
        """The connection itself, where there is one."""
        session: Any = getattr(self._resource.visalib, "sessions", {}).get(self._resource.session)
        found = getattr(session, "interface", None)
        return found if isinstance(found, socket.socket) else None

    def _holds_answer(self) -> bool:
        """Whether there is something to be read before anything was asked; NotSent where the instrument has gone."""
        try:
            if (connection := self._socket()) is not None:
                return bool(select.select([connection], [], [], 0)[0] and _peek(connection))
            return self._is_serial and bool(self._resource.bytes_in_buffer)
        except (HungUp, OSError, self._visa.errors.Error) as reason:
            raise NotSent(f"the instrument has gone: {reason}") from None

    def _settle(self, timeout: float) -> None:
        """Begin with nothing left to be read: a new socket has nothing, but a serial line may."""
        if self._quiet > timeout and self._is_serial:
            raise NotSent(f"the line must be quiet for {self._quiet} s after a late answer; {timeout:.3g} s are left")
        over = time.monotonic() + timeout + self._quiet
        try:
            if not self._is_stream:
                self._resource.clear()
            while self._is_serial:
                self._receive(time.monotonic() + max(self._quiet, 1e-3))
                if time.monotonic() > over:
                    raise Garbled("the line does not become quiet")
        except Late:
            pass  # nothing came
        except self._visa.errors.VisaIOError as reason:
            if reason.error_code != self._visa.constants.StatusCode.error_nonsupported_operation:
                raise NotSent(f"the instrument cannot be cleared: {reason}") from None
        self._quiet = 0.0


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))


def _peek(connection: socket.socket) -> bytes:
    """What is there to be read, which stays there."""
    try:
        data = connection.recv(4096, socket.MSG_PEEK)
    except OSError as reason:
        raise HungUp(f"the connection was lost: {reason}") from None
    if not data:
        raise HungUp("the instrument has closed the connection")
    return data


def _fault_of(number: int, several: bool) -> type[ActionFault]:
    """What an error says about the command: SCPI numbers them by kind."""
    if -500 < number <= -400:
        return Garbled  # query errors: an answer was lost, or asked for twice
    # A command error (-1xx) or an execution error (-2xx) was not carried out; of several commands the others may be.
    return Refused if -300 < number <= -100 and not several else InDoubt


SCPI = PlantKind("scpi", adapter=ScpiAdapter)
"""An instrument."""
