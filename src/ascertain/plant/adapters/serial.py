"""Plants on a serial line: a line of text is sent, and a line is the answer.

A late answer may still be on its way when the next line is sent, and opening the port anew does not stop it. So after
one the line must be *quiet* for as long as answers are waited for, before anything else is sent; what comes meanwhile
is dropped. Whatever the plant says without being asked shows that question and answer are out of step.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, ClassVar, final

from ascertain.errors import TaskError, import_extra
from ascertain.plant import PlantKind
from ascertain.plant.faults import Garbled, HungUp, Late, NotSent
from ascertain.plant.lines import decode_line
from ascertain.plant.wiring.adapter import NUMBER, TEXT, AbstractAdapter, AdapterSettings, Step, Types
from ascertain.plant.wiring.line_steps import LINE_STEPS, check_line

MAX_LINE = 65536
"""Bytes of an answer: as many as are decoded."""
PARITIES = {"none": "N", "even": "E", "odd": "O", "mark": "M", "space": "S"}
"""What the file calls them, and pyserial."""


@final
class SerialAdapter(AbstractAdapter):
    """`write` sends a line, `query` waits for the answer to it, `read` as well and changes nothing."""

    steps = LINE_STEPS
    options: ClassVar[Mapping[str, Types]] = {
        "baud_rate": (int,),
        "data_bits": (int,),
        "parity": TEXT,
        "stop_bits": NUMBER,
        "ending": TEXT,
        "echo": (bool,),
        "quiet": NUMBER,
    }

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        options = settings.options
        for key, known in (("data_bits", (5, 6, 7, 8)), ("stop_bits", (1, 1.5, 2)), ("parity", tuple(PARITIES))):
            if options.get(key, known[-1]) not in known:
                raise TaskError(f"{key}: {options[key]!r} is not understood; known are {', '.join(map(str, known))}")
        if options.get("baud_rate", 1) <= 0 or not options.get("ending", "\n") or options.get("quiet", 0) < 0:
            raise TaskError("baud_rate must be more than 0, ending a text that is not empty, and quiet seconds")
        self._ending = str(options.get("ending", "\n")).encode()
        self._port: Any = None
        self._rest = bytearray()
        self._quiet = 0.0
        """Seconds without a byte after which the line may be used: more than 0 after a late answer."""

    @classmethod
    def check(cls, step: Step) -> Step:
        return check_line(step)

    def connect(self, timeout: float) -> str | None:
        self._serial = import_extra("serial", "serial")
        options, address = self.settings.options, self.settings.address
        # Two programs on one line would read each other's answers.
        alone = {"exclusive": True} if os.name == "posix" and "://" not in address else {}
        try:
            self._port = self._serial.serial_for_url(
                address,
                baudrate=options.get("baud_rate", 9600),
                bytesize=options.get("data_bits", 8),
                parity=PARITIES[options.get("parity", "none")],
                stopbits=options.get("stop_bits", 1),
                timeout=0,
                write_timeout=timeout,
                **alone,
            )
        except (OSError, ValueError) as reason:  # pyserial's own errors are OSErrors
            raise NotSent(f"{address} cannot be opened: {reason}") from None
        self._rest.clear()
        self._settle(timeout)
        return None

    def close(self) -> None:
        if self._port is not None:
            self._port.close()

    def do(self, step: Step, timeout: float) -> object:
        over = time.monotonic() + timeout
        try:
            self._receive(0)
        except HungUp as reason:
            raise NotSent(str(reason)) from None
        if self._rest:
            raise Garbled(f"the plant said {bytes(self._rest[:60])!r} without being asked")
        try:
            self._send(step.told, timeout)
            if self.settings.options.get("echo", False) and (echo := self._read_line(over)) != step.told.strip():
                raise Garbled(f"the plant echoed {echo[:60]!r} and was sent {step.told[:60]!r}")
            return self._read_line(over) if step.gives else None
        except Late:
            self._quiet = float(self.settings.options.get("quiet", timeout))
            raise

    def _send(self, line: str, timeout: float) -> None:
        """Whatever goes wrong here, a part of the line may have been sent."""
        try:
            self._port.write_timeout = max(timeout, 1e-3)  # pyserial takes 0 for: do not wait, and write what fits
            self._port.write(line.encode() + self._ending)
        except self._serial.SerialTimeoutException:
            raise Late("the line does not take what is sent") from None
        except OSError as reason:
            raise HungUp(f"the line was lost: {reason}") from None

    def _settle(self, timeout: float) -> None:
        """Drop what the line still holds, until nothing has come for as long as needed."""
        if self._quiet > timeout:
            raise NotSent(
                f"the line must be quiet for {self._quiet} s after a late answer, and {timeout:.3g} s are left"
            )
        over = time.monotonic() + timeout + self._quiet
        while self._receive(self._quiet):
            self._rest.clear()
            if time.monotonic() > over:
                raise Garbled("the line does not become quiet")
        self._quiet = 0.0

    def _read_line(self, over: float) -> str:
        while (end := self._rest.find(self._ending)) < 0:
            if len(self._rest) > MAX_LINE:
                raise Garbled(f"the plant sent a line of more than {MAX_LINE} bytes")
            if (left := over - time.monotonic()) <= 0 or not self._receive(left):
                raise Late("the plant did not answer in time")
        line = bytes(self._rest[:end])
        del self._rest[: end + len(self._ending)]
        return decode_line(line).strip()

    def _receive(self, seconds: float) -> int:
        """Wait at most so long for something to come; how many bytes did."""
        try:
            self._port.timeout = seconds
            data: bytes = self._port.read(1)
            if data:
                data += self._port.read(min(self._port.in_waiting, MAX_LINE))
        except OSError as reason:
            raise HungUp(f"the line was lost: {reason}") from None
        self._rest += data
        return len(data)


SERIAL = PlantKind("serial", adapter=SerialAdapter)
"""A device on a serial line."""
