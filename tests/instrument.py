"""A lamp that speaks lines, on a socket and a pseudo-terminal of sinstruments: `python instrument.py STATE PORT LINK`.

*IDN?, LUX?, SWITCH, SWITCH:ASK (answers "click"), SYST:ERR?. The state is a line in the file STATE, so that it outlives
the program. A file STATE.trouble with JSON [{"line", "mode", ...}] makes these lines go wrong, each once. With the link
"echo:PATH" every line is repeated.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, ClassVar

import gevent
from sinstruments.simulator import BaseDevice, Server

STATE = Path(sys.argv[1])
TROUBLE = STATE.with_suffix(".trouble")


class Lamp(BaseDevice):
    errors: ClassVar[list[str]] = []

    def handle_message(self, message: bytes) -> Any:
        line = message.strip().decode()
        troubles = json.loads(TROUBLE.read_text()) if TROUBLE.exists() else []
        trouble: dict[str, Any] = next((each for each in troubles if each["line"] == line), {"mode": ""})
        if trouble in troubles:
            after = trouble.get("after", 0)
            troubles.remove(trouble)
            if after:
                troubles.append({**trouble, "after": after - 1})
                trouble = {"mode": ""}
            TROUBLE.write_text(json.dumps(troubles))
        if "echo" in self.props:
            yield f"{line}\r\n".encode()
        if trouble["mode"] == "die":
            os._exit(1)
        if trouble["mode"] == "drop":
            raise ConnectionError("dropped on purpose")
        if trouble["mode"] == "refuse":
            self.errors.append('-222,"Data out of range"')
            return
        if trouble["mode"] == "break":
            self.errors.append('-310,"System error"')
        answer = self.answer(line)
        if trouble["mode"] == "slow":
            gevent.sleep(trouble["seconds"])
        if trouble["mode"] == "lose":
            raise ConnectionError("the answer is lost")
        if trouble["mode"] == "nonsense":
            yield trouble.get("text", "\x00\x01").encode("latin-1") + b"\n"
        elif trouble["mode"] == "flood":
            yield b"x" * 70000
        elif trouble["mode"] == "trickle":
            for byte in b"1" * 40:
                yield bytes([byte])
                gevent.sleep(0.05)
            yield b"\n"
        elif trouble["mode"] == "chatter":
            yield b"1.5\n1.5\n"
        elif answer is not None:
            yield f"{answer}\r\n".encode()

    def answer(self, line: str) -> str | None:
        match line:
            case "*IDN?":
                return f"ACME,{STATE.stem},0,1"
            case "LUX?":
                return "1.205E+02" if STATE.read_text() == "lit" else "+3.0E-1"
            case "SWITCH" | "SWITCH:ASK":
                STATE.write_text("dark" if STATE.read_text() == "lit" else "lit")
                return "click" if line == "SWITCH:ASK" else None
            case "SYST:ERR?":
                return self.errors.pop(0) if self.errors else '+0,"No error"'
            case _:
                self.errors.append('-113,"Undefined header"')
                return None


if __name__ == "__main__":
    link = sys.argv[3]
    echo = {"echo": True} if link.startswith("echo:") else {}
    transports = [
        {"type": "tcp", "url": ["127.0.0.1", int(sys.argv[2])]},
        {"type": "serial", "url": link.removeprefix("echo:")},
    ]
    server = Server([{"class": "Lamp", "package": "__main__", "name": "lamp", "transports": transports, **echo}])
    tcp = server.devices["lamp"].transports[0]
    tcp.start()
    print(tcp.address[1], flush=True)
    server.serve_forever()
