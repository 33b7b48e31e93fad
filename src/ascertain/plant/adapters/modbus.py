"""Plants on Modbus, by TCP or a serial line (RTU): coils, discrete inputs, holding and input registers.

An answer with an exception code is a refusal where the code says that nothing was done (illegal address, busy), and in
doubt where it does not (device failure, a gateway whose device is silent). Bytes that are no frame, and an answer to
something else than was asked, are nonsense: they are not taken for silence.
"""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import time
from collections.abc import Mapping
from typing import Any, ClassVar, final

from ascertain.errors import TaskError, did_you_mean, import_extra
from ascertain.plant import PlantKind
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Late, NotSent, Refused
from ascertain.plant.wiring.adapter import NUMBER, TEXT, AbstractAdapter, AdapterSettings, Step, StepForm, Types
from ascertain.plant.wiring.address import split_url
from ascertain.plant.wiring.registers import TYPES, count_registers, to_registers, to_value

TABLES = {"coil": 1, "discrete": 2, "holding": 3, "input": 4}
"""What can be read, with the function codes for that."""
WRITE_COIL, WRITE_REGISTER, WRITE_REGISTERS = 5, 6, 16
"""The function codes for writing."""
MAX_REGISTERS = 125
"""In one answer, by the standard."""
REFUSALS = {
    1: "illegal function",
    2: "illegal address",
    3: "illegal value",
    6: "device busy",
    7: "negative acknowledge",
    10: "gateway path unavailable",
}
"""Exception codes that say that nothing was done."""
DOUBTS = {4: "device failure", 5: "acknowledge", 8: "memory parity error", 11: "gateway target did not respond"}
"""Those that do not say it."""
QUIET = 0.05
"""Seconds without a byte after which a late answer on a serial line has ended: 50 characters at 9600 baud."""
ORDERS: Mapping[str, Types] = {"unit": (int,), "byte_order": TEXT, "word_order": TEXT}
"""What [plant] says, and a step may say otherwise."""


@final
class ModbusAdapter(AbstractAdapter):
    """`write = "coil 3"` or `"holding 10"` with a value; `read = "input 30"` with a type, a bit or a count."""

    steps: ClassVar[Mapping[str, StepForm]] = {
        "write": StepForm(True, False, keys={"value": (*NUMBER, bool), "type": TEXT, **ORDERS}, needs=("value",)),
        "read": StepForm(False, True, keys={"type": TEXT, "bit": (int,), "count": (int,), **ORDERS}),
    }
    options: ClassVar[Mapping[str, Types]] = {
        **ORDERS,
        "baudrate": (int,),
        "parity": TEXT,
        "stopbits": (int,),
        "bytesize": (int,),
    }

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        self._line = settings.address.removeprefix("serial:") if settings.address.startswith("serial:") else None
        if self._line is None:
            self._host, self._port = _read_url(settings.address)
        elif not self._line:
            raise TaskError("address: serial: needs the name of a line, such as serial:/dev/ttyUSB0")
        _check_orders(settings.options)
        self._serial = {key: value for key, value in settings.options.items() if key not in ORDERS}
        if self._line is None and self._serial:
            raise TaskError(f"{next(iter(self._serial))}: this is for serial lines, and the address is not one")
        if self._serial.get("parity", "N") not in ("N", "E", "O"):
            raise TaskError(f'parity: {self._serial["parity"][:80]!r} is not understood; write "N", "E" or "O"')
        for key, known in (("stopbits", (1, 2)), ("bytesize", (7, 8))):
            if self._serial.get(key, known[0]) not in known:
                raise TaskError(f"{key}: {self._serial[key]} is not understood; write {known[0]} or {known[1]}")
        if not 0 < self._serial.get("baudrate", 1) <= 10**7:
            raise TaskError(f"baudrate: {self._serial['baudrate']} is not understood; write one such as 9600")
        self._client: Any = None
        self._errors: Any = None
        self._heard = b""
        """What came since something was sent."""
        self._was_late = False

    @classmethod
    def check(cls, step: Step) -> Step:
        table, number = _place(step)
        type_, words = step.words.get("type", "u16"), step.words
        _check_orders(words)
        if table in ("coil", "discrete"):
            for key in ("type", "bit", "count", "byte_order", "word_order"):
                if key in words:
                    raise TaskError(f"{key}: a {table} is a single bit; leave this out")
            if step.verb == "write" and type(words["value"]) is not bool:
                raise TaskError(f"value: a coil is true or false, not {words['value']!r}")
            return step
        if type_ not in TYPES and (type_ != "text" or step.verb == "write"):
            known = [*TYPES, *(["text"] if step.verb == "read" else [])]
            hint = did_you_mean(type_, known)
            raise TaskError(f"type: {type_[:80]!r} is not understood{hint}; known are {', '.join(known)}")
        if ("count" in words) != (type_ == "text"):
            raise TaskError('count: it is the number of registers of a type = "text", and goes with that alone')
        if not 1 <= words.get("count", 1) <= MAX_REGISTERS:
            raise TaskError(f"count: {words['count']} is not understood; write 1 to {MAX_REGISTERS} registers")
        if "bit" in words and (type_ not in ("u16", "i16") or not 0 <= words["bit"] <= 15):
            raise TaskError("bit: it is one of a register of 16 bits, 0 (the lowest) to 15")
        if number + count_registers(words) > 2**16:
            raise TaskError(f"{step.verb} {step.told}: addresses end at 65535")
        if step.verb == "write":
            try:
                to_registers(words["value"], words)
            except ValueError:
                raise TaskError(f"value: {words['value']!r} is no {type_}") from None
        return step

    def connect(self, timeout: float) -> str | None:
        library, self._errors = import_extra("pymodbus.client", "modbus"), import_extra("pymodbus.exceptions", "modbus")
        # What goes wrong is reported as faults; without this the library's log goes to standard error.
        logging.getLogger("pymodbus").addHandler(logging.NullHandler())
        # The library would send a request again that was not answered, and with it do a step twice.
        how: dict[str, Any] = {"timeout": timeout, "retries": 0, "trace_packet": self._listen}
        if self._line is None:
            self._client = library.ModbusTcpClient(self._host, port=self._port, **how)
        else:
            import_extra("serial", "modbus")
            self._client = library.ModbusSerialClient(self._line, **self._serial, **how)
        if not self._client.connect():
            raise NotSent(f"{self.settings.address} does not listen")
        if self._line is not None and self._was_late:
            self._await_late_answer(timeout)
        self._was_late = False
        return None

    def close(self) -> None:
        if self._client is not None:
            with contextlib.suppress(OSError):  # a line that was pulled out
                self._client.close()

    def do(self, step: Step, timeout: float) -> object:
        self._check_line()
        (table, number), words = _place(step), {**self.settings.options, **step.words}
        unit, value = {"device_id": words.get("unit", 1)}, words.get("value")
        client = self._client
        client.comm_params.timeout_connect = client.transaction.comm_params.timeout_connect = timeout
        if step.verb == "read":
            count = 1 if table in ("coil", "discrete") else count_registers(words)
            call = (
                client.read_coils,
                client.read_discrete_inputs,
                client.read_holding_registers,
                client.read_input_registers,
            )
            answer = self._ask(TABLES[table], call[TABLES[table] - 1], number, count=count, **unit)
            if table in ("coil", "discrete"):
                if not answer.bits:
                    raise Garbled("the plant answered without a bit")
                return bool(answer.bits[0])
            if len(answer.registers) != count:
                raise Garbled(f"the plant answered {len(answer.registers)} registers, and {count} were asked for")
            try:
                return to_value(answer.registers, words)
            except ValueError as reason:
                raise Garbled(f"the plant answered {reason}") from None
        if table == "coil":
            answer = self._ask(WRITE_COIL, client.write_coil, number, value, **unit)
            echo, sent = (answer.address, answer.bits), (number, [value])
        else:
            registers = to_registers(value, words)
            if len(registers) == 1:
                answer = self._ask(WRITE_REGISTER, client.write_register, number, registers[0], **unit)
                echo, sent = (answer.address, answer.registers), (number, registers)
            else:
                answer = self._ask(WRITE_REGISTERS, client.write_registers, number, registers, **unit)
                echo, sent = (answer.address, answer.count), (number, len(registers))
        if echo != sent:
            raise Garbled(f"the plant answered that it wrote {echo}, and {sent} was sent")
        return None

    def _ask(self, code: int, call: Any, *args: Any, **words: Any) -> Any:
        """The answer, which is one to this function."""
        self._heard = b""
        try:
            answer = call(*args, **words)
        except (self._errors.ConnectionException, OSError) as reason:
            raise HungUp(f"the connection was lost: {reason}") from None
        except self._errors.ModbusIOException:
            if self._heard:
                raise Garbled(f"the plant answered {self._heard[:20].hex(' ')}, which is no answer to this") from None
            self._was_late = True
            raise Late("the plant did not answer in time") from None
        if answer.function_code & 0x7F != code:
            raise Garbled(f"the plant answered to function {answer.function_code & 0x7F}, and {code} was asked for")
        if answer.isError():
            said, n = "the plant answered with the exception", answer.exception_code
            if n in REFUSALS:
                raise Refused(f"{said} {n}, {REFUSALS[n]}")
            raise InDoubt(f"{said} {n}, {DOUBTS.get(n, 'which is none of the standard')}")
        return answer

    def _listen(self, sending: bool, data: bytes) -> bytes:
        self._heard = b"" if sending else data
        return data

    def _check_line(self) -> None:
        """Whether the connection is still there, and nothing in it that nobody asked for."""
        line = None if self._client is None else self._client.socket
        if line is None:
            raise NotSent("the connection was lost")
        try:
            if self._line is not None:
                line.read(line.in_waiting)
            elif select.select([line], [], [], 0)[0]:
                waiting = line.recv(20, socket.MSG_PEEK)
                raise NotSent(f"the plant sent {waiting.hex(' ')} unasked" if waiting else "the plant hung up")
        except OSError as reason:
            raise NotSent(f"the connection was lost: {reason}") from None

    def _await_late_answer(self, timeout: float) -> None:
        """Answers on a serial line have no numbers: let the one that is late come before anything else is asked."""
        line, until, heard = self._client.socket, time.monotonic() + timeout, None
        try:
            while time.monotonic() < until and (heard is None or time.monotonic() < heard + QUIET):
                if line.in_waiting:
                    line.read(line.in_waiting)
                    heard = time.monotonic()
                time.sleep(QUIET / 10)
        except OSError as reason:
            raise NotSent(f"the connection was lost: {reason}") from None


def _read_url(address: str) -> tuple[str, int]:
    parts = split_url(address, "tcp")
    if parts is None or parts.hostname is None or parts.path not in ("", "/") or "@" in parts.netloc:
        raise TaskError(f"address: {address[:80]!r} is neither like tcp://127.0.0.1:502 nor like serial:/dev/ttyUSB0")
    return parts.hostname, parts.port or 502


def _check_orders(words: Mapping[str, Any]) -> None:
    if not 0 <= words.get("unit", 1) <= 255:
        raise TaskError(
            f"unit: {words['unit']} is not understood; write the number of the device, 1 to 247, or 0 or 255"
        )
    for key in ("byte_order", "word_order"):
        if words.get(key, "big") not in ("big", "little"):
            raise TaskError(f'{key}: {words[key][:80]!r} is not understood; write "big" (if left out) or "little"')


def _place(step: Step) -> tuple[str, int]:
    """The table and the address in it."""
    table, _, number = step.told.partition(" ")
    known = [*TABLES] if step.verb == "read" else ["coil", "holding"]
    if table not in known or not (number.isascii() and number.isdigit()) or len(number) > 5 or int(number) > 65535:
        raise TaskError(
            f"{step.verb} {step.told[:80]!r} is not understood; write {', '.join(known[:-1])} or {known[-1]} and an "
            'address from 0 to 65535, such as "holding 10"'
        )
    return table, int(number)


MODBUS = PlantKind("modbus", adapter=ModbusAdapter)
"""A device on Modbus."""
