"""A lamp on Modbus, as a program of its own: `python modbus_plant.py STATE PORT`, by TCP and by a pseudo-terminal.

It prints the name of the terminal when both listen. The state is a line in the file STATE, so that it outlives the
program. unit 1: coil 0 is pressed by writing true; input 0 and 1 hold the lux as f32; holding 0 to 15 are free, 20 to
27 say which lamp it is; coils 16 to 31 answer with an exception of their number less 16.
"""

import asyncio
import os
import struct
import sys
import threading
import tty
from pathlib import Path

from pymodbus.constants import ExcCodes
from pymodbus.framer import FramerType
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

STATE, PORT = Path(sys.argv[1]), int(sys.argv[2])
SERIAL = list(struct.unpack(">8H", STATE.stem.encode().ljust(16, b"\0")))


async def act(
    code: int, _start: int, address: int, _count: int, registers: list[int], written: list[int] | list[bool] | None
) -> ExcCodes | None:
    if code == 5 and address >= 16 and written:
        return ExcCodes(address - 16)
    if code == 5 and address == 0 and written and written[0]:
        STATE.write_text("dark" if STATE.read_text() == "lit" else "lit")
    if code == 4:
        lux = 120.5 if STATE.read_text() == "lit" else 0.3
        registers[0:2] = struct.unpack(">2H", struct.pack(">f", lux))
    return None


def device() -> SimDevice:
    bits, free = [SimData(0, values=[False] * 32, datatype=DataType.BITS)], DataType.REGISTERS
    holding = [SimData(0, count=16, values=0, datatype=free), SimData(20, values=SERIAL, datatype=free, readonly=True)]
    wired = [SimData(0, values=[True] * 32, datatype=DataType.BITS)]
    return SimDevice(1, (bits, wired, holding, [SimData(0, count=2, values=0, datatype=free)]), action=act)


def connect(one: int, other: int) -> None:
    """Pass on what comes from one terminal to the other."""
    while True:
        os.write(other, os.read(one, 4096))


async def main() -> None:
    ours, our_line = os.openpty()
    theirs, their_line = os.openpty()
    for line in (our_line, their_line):
        tty.setraw(line)
    for ends in ((ours, theirs), (theirs, ours)):
        threading.Thread(target=connect, args=ends, daemon=True).start()
    tcp = ModbusTcpServer(device(), address=("127.0.0.1", PORT))
    rtu = ModbusSerialServer(device(), framer=FramerType.RTU, port=os.ttyname(our_line), baudrate=115200)
    await tcp.serve_forever(background=True)
    await rtu.serve_forever(background=True)
    print(os.ttyname(their_line), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
