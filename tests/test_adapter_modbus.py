"""Plants on Modbus: a real server by TCP and by a pseudo-terminal, also killed, slowed and made to answer nonsense."""

from __future__ import annotations

import signal
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import PlantFault
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Late, Refused
from ascertain.plant.wiring.registers import TYPES, to_registers, to_value
from tests.lamps import RelayedLamp, check_refused, fixtures_of, observe_lamp

pytest.importorskip("pymodbus")

WIRING = """
[plant]
kind = "modbus"
address = "{address}"
identity = {{ read = "holding 20", type = "text", count = 8 }}
timeout = {timeout}
{plant}
[[action]]
name = "look"
read = {{ read = "input 0", type = "f32" }}
bands = {{ dark = "< 10", lit = ">= 10" }}
[[action]]
name = "press the switch"
steps = [{{ write = "coil 0", value = true }}]
else = "click"
{more}
"""
LUX = struct.pack(">f", 120.5)
"""What look reads."""


def frame(body: bytes, *, number: int = 2, unit: int = 1, protocol: int = 0) -> bytes:
    """An answer; the identity was request 1, so the first action is number 2."""
    return struct.pack(">HHHB", number, protocol, len(body) + 1, unit) + body


class Server(RelayedLamp):
    """The lamp, running; reached through a relay, directly, or by its serial line."""

    program = "modbus_plant.py"

    def wiring(self, plant: str = "", more: str = "", timeout: float = 5.0, by: str = "relay") -> Path:
        path = self.state.with_suffix(".toml")
        if by == "serial":
            address, plant = f"serial:{self.line}", f"{plant}\nbaudrate = 115200"
        else:
            address = f"tcp://127.0.0.1:{self.port if by == 'tcp' else self.relay.port}"
        path.write_text(WIRING.format(address=address, plant=plant, more=more, timeout=timeout))
        return path


running, server = fixtures_of(Server)


def action(name: str, step: str, read: str = "") -> str:
    end = f"read = {read}\n" if read else 'else = "done"\n'
    return f'[[action]]\nname = "{name}"\nsteps = [{step}]\n{end}' if step else f'[[action]]\nname = "{name}"\n{end}'


@pytest.mark.parametrize("by", ["tcp", "serial"])
def test_a_wired_lamp_is_observed(server: Server, by: str) -> None:
    server.check_observed(by=by)


@pytest.mark.parametrize("by", ["tcp", "serial"])
def test_values_of_all_kinds_are_written_and_read(server: Server, by: str) -> None:
    values = [("u16", "65535"), ("i16", "-2"), ("u32", "70000"), ("i32", "-70000"), ("f32", "1.5"), ("f64", "0.1")]
    values += [("u64", str(2**60)), ("i64", "-3")]
    more, orders = "", ', byte_order = "little", word_order = "little"'
    for type_, value in values:
        for order in ("", orders):
            step = f'{{ write = "holding 4", type = "{type_}", value = {value}{order} }}'
            more += action(
                f"{type_}{order}".replace('"', ""), step, f'{{ read = "holding 4", type = "{type_}"{order} }}'
            )
    more += action("swap", '{ write = "holding 0", value = 258 }', '{ read = "holding 0", byte_order = "little" }')
    more += action("bits", '{ write = "holding 0", value = 4 }', '{ read = "holding 0", bit = 2 }')
    more += action("coil", '{ write = "coil 3", value = true }', '"coil 3"')
    more += action("discrete", "", '"discrete 3"')
    more += action(
        "text",
        '{ write = "holding 0", value = 255, byte_order = "little" }',
        '{ read = "holding 0", type = "text", count = 1 }',
    )
    with server.open(more=more, by=by) as plant:
        for type_, value in values:
            for order in ("", orders):
                assert plant.send(f"{type_}{order}".replace('"', "")) == value
        assert [plant.send(name) for name in ("swap", "bits", "coil", "discrete")] == ["513", "true", "true", "true"]
        with pytest.raises(Garbled, match="not UTF-8"):
            plant.send("text")


@pytest.mark.parametrize(
    ("mode", "more", "fault", "again"),
    [
        ("slow", {"seconds": 1.5}, Late, True),
        ("drop", {}, HungUp, False),
        ("lose", {}, HungUp, False),
        ("noise", {"data": b"HTTP/1.1 200 OK\r\n\r\n"}, Garbled, False),
        ("noise", {"data": frame(b"\x04\x04" + LUX)[:-2]}, Garbled, False),
        ("noise", {"data": frame(b"\x04\x04" + LUX, number=1)}, Garbled, False),
        ("noise", {"data": frame(b"\x04\x04" + LUX, number=0)}, Garbled, False),
        ("noise", {"data": frame(b"\x04\x04" + LUX, unit=2)}, Garbled, False),
        ("noise", {"data": frame(b"\x04\x04" + LUX, protocol=9)}, Garbled, False),
        ("noise", {"data": frame(b"\x03\x04" + LUX)}, Garbled, False),
        ("noise", {"data": frame(b"\x04\x02" + LUX[:2])}, Garbled, False),
        ("noise", {"data": frame(b"\x04\xff" + LUX)}, Garbled, False),
        ("noise", {"data": frame(b"\x63\x04" + LUX)}, Garbled, False),
        ("noise", {"data": frame(b"\x81\x02")}, Garbled, False),
        ("noise", {"data": frame(b"\x84\x0b")}, InDoubt, True),
        ("noise", {"data": frame(b"\x84\x06")}, Refused, True),
    ],
)
def test_faults_of_a_read(server: Server, mode: str, more: Any, fault: type[PlantFault], again: bool) -> None:
    server.check_read(mode, more, fault, again)


@pytest.mark.parametrize(
    ("mode", "more", "fault", "ran"),
    [
        ("slow", {"seconds": 1.5}, InDoubt, True),
        ("drop", {}, HungUp, False),
        ("lose", {}, HungUp, True),
        ("noise", {"data": b"\x00" * 20}, Garbled, True),
        ("noise", {"data": frame(b"\x05\x00\x01\xff\x00")}, Garbled, True),
        ("noise", {"data": frame(b"\x05\x00\x00\x00\x00")}, Garbled, True),
    ],
)
def test_faults_of_a_write(server: Server, mode: str, more: Any, fault: type[PlantFault], ran: bool) -> None:
    server.check_write(mode, more, fault, ran)


@pytest.mark.parametrize("by", ["tcp", "serial"])
def test_exception_codes_say_whether_a_write_was_done(server: Server, by: str) -> None:
    codes = {1: Refused, 2: Refused, 3: Refused, 4: InDoubt, 5: InDoubt, 6: Refused, 7: Refused, 8: InDoubt}
    codes |= {10: Refused, 11: InDoubt}
    more = "".join(action(str(code), f'{{ write = "coil {16 + code}", value = true }}') for code in codes)
    more += action("beyond", '{ write = "holding 16", value = 1 }')
    more += action("fixed", '{ write = "holding 20", value = 1 }')
    more += action("nowhere", "", '"input 2"')
    with server.open(more=more, by=by) as plant:
        for code, fault in codes.items():
            with pytest.raises(fault, match=f"exception {code}"):
                plant.send(str(code))
            assert plant.may_repeat(str(code)) == (fault is Refused)
        for name in ("beyond", "fixed", "nowhere"):
            with pytest.raises(Refused, match="exception 2, illegal address"):
                plant.send(name)


def test_a_late_answer_is_not_taken_for_the_next_one(server: Server) -> None:
    server.check_late()


def test_a_late_answer_on_a_serial_line_is_waited_for(server: Server) -> None:
    more = "".join(action(f"set {i}", f'{{ write = "holding {i}", value = {i} }}') for i in (7, 8))
    more += action("first", "", '"holding 7"') + action("second", "", '"holding 8"')
    with server.open(more=more, timeout=1.0, by="serial") as plant:
        assert [plant.send(name) for name in ("set 7", "set 8", "first")] == ["done", "done", "7"]
        server.running.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(Late):
                plant.send("first")
        finally:
            threading.Timer(0.3, server.running.send_signal, (signal.SIGCONT,)).start()
        assert plant.send("second") == "8"


def test_an_action_of_several_writes_that_breaks_is_half_done(server: Server) -> None:
    server.check_half_done('{ write = "coil 0", value = true }')


def test_a_run_with_mended_faults_answers(server: Server) -> None:
    server.relay.trouble("slow", seconds=1.5, after=2)  # the first request is for the identity
    facts = observe_lamp(server.wiring(timeout=1.0))
    assert facts["label"] == "lit" and [fault["kind"] for fault in facts["faults"]] == ["late"]
    server.relay.trouble("noise", data=bytes(40), after=3)
    garbled = observe_lamp(server.wiring(timeout=1.0), code=4)
    assert garbled["faults"][-1]["kind"] == "garbled" and garbled["plant_failed"]


@given(st.data())
def test_registers_hold_what_was_put_into_them(data: st.DataObject) -> None:
    from pymodbus.client.mixin import ModbusClientMixin

    type_ = data.draw(st.sampled_from(list(TYPES)))
    bits = int(type_[1:])
    low, high = (0, 2**bits - 1) if type_[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    value = data.draw(st.floats(width=bits, allow_nan=False) if type_[0] == "f" else st.integers(low, high))  # type: ignore[arg-type]
    words = {key: data.draw(st.sampled_from(["big", "little"])) for key in ("byte_order", "word_order")}
    registers = to_registers(value, {"type": type_, **words})
    assert to_value(registers, {"type": type_, **words}) == value
    name = {"u": "UINT", "i": "INT", "f": "FLOAT"}[type_[0]] + str(bits)
    kind = ModbusClientMixin.DATATYPE[name]
    twin = ModbusClientMixin.convert_to_registers(value, kind, word_order=words["word_order"])  # type: ignore[arg-type]
    if words["byte_order"] == "little":
        twin = [(register & 255) << 8 | register >> 8 for register in twin]
    assert registers == twin


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "tcp://",
            "http://",
            "[plant] address: 'http://127.0.0.1:1' is neither like tcp://127.0.0.1:502 nor like serial:",
        ),
        ("tcp://127.0.0.1:1", "serial:", "[plant] address: serial: needs the name of a line"),
        ("timeout = 1", "baudrate = 9600", "[plant] baudrate: this is for serial lines"),
        ("timeout = 1", "unit = 300", "[plant] unit: 300 is not understood"),
        ("timeout = 1", 'word_order = "ABCD"', "[plant] word_order: 'ABCD' is not understood; write \"big\""),
        ('tcp://127.0.0.1:1"', 'serial:/dev/ttyS0"\nparity = "odd"', "[plant] parity: 'odd' is not understood"),
        (
            'tcp://127.0.0.1:1"',
            'serial:/dev/ttyS0"\nstopbits = 3',
            "[plant] stopbits: 3 is not understood; write 1 or 2",
        ),
        ('tcp://127.0.0.1:1"', 'serial:/dev/ttyS0"\nbaudrate = 0', "[plant] baudrate: 0 is not understood"),
        (
            "input 0",
            "40001",
            "[[action]] 'look' read: read '40001' is not understood; write coil, discrete, holding or input",
        ),
        ("input 0", "input 65536", "[[action]] 'look' read: read 'input 65536' is not understood"),
        ("input 0", "input 65535", "[[action]] 'look' read: read input 65535: addresses end at 65535"),
        (
            "coil 0",
            "input 0",
            "[[action]] 'press the switch' step 1: write 'input 0' is not understood; write coil or hold",
        ),
        ("value = true", "value = 1", "[[action]] 'press the switch' step 1: value: a coil is true or false, not 1"),
        (
            '"coil 0", value = true',
            '"holding 0", value = 65536',
            "[[action]] 'press the switch' step 1: value: 65536 is no u16",
        ),
        (
            '"coil 0", value = true',
            '"holding 0", value = true',
            "[[action]] 'press the switch' step 1: value: True is no u16",
        ),
        (
            '"coil 0", value = true',
            '"holding 0", value = 1.5',
            "[[action]] 'press the switch' step 1: value: 1.5 is no u16",
        ),
        ('"coil 0"', '"coil 0", type = "u16"', "[[action]] 'press the switch' step 1: type: a coil is a single bit"),
        ('"f32"', '"float"', "[[action]] 'look' read: type: 'float' is not understood; known are u16"),
        ('"f32"', '"f32", bit = 3', "[[action]] 'look' read: bit: it is one of a register of 16 bits"),
        ('"f32"', '"f32", count = 3', "[[action]] 'look' read: count: it is the number of registers of a type"),
        ("count = 8", "count = 126", "[plant] identity: count: 126 is not understood; write 1 to 125 registers"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    good = WIRING.format(address="tcp://127.0.0.1:1", plant="", more="", timeout=1)
    check_refused(tmp_path / "w.toml", good.replace(old, new), sentence)


@pytest.mark.parametrize("by", ["serial", "tcp"])
def test_a_server_that_is_killed_and_comes_back(server: Server, by: str) -> None:
    with server.open("reconnect = true", by=by) as plant:
        assert plant.send("look") == "lit"
        try:
            server.check_killed(plant, by=by)
        finally:
            server.start()
        if by == "tcp":  # the pseudo-terminal may have another name now
            server.check_replaced(plant)
