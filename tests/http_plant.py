"""A lamp behind HTTP, as a program of its own: `python http_plant.py STATE`, which prints its port.

GET /about, GET /lamp, POST /switch. The state is a line in the file STATE, so that it outlives the program.
POST /trouble with JSON {"path", "mode", "times"} makes the next so many requests to that path go wrong, "after" a few.
"""

import json
import socket
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

STATE = Path(sys.argv[1])
TROUBLES: list[dict[str, Any]] = []
NONE: dict[str, Any] = {"mode": ""}


class Lamp(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        self.serve({"/about": lambda: json.dumps({"serial": STATE.stem}), "/lamp": self.look, "/bad": lambda: "[1,"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/trouble":
            TROUBLES.append(json.loads(body))
            self.answer(200, "as you like")
            return
        self.serve({"/switch": self.press, "/echo": lambda: f"{self.headers.get('X-Key')} {body.decode()}"})

    def look(self) -> str:
        return json.dumps({"lux": 120.5 if STATE.read_text() == "lit" else 0.3, "parts": [{"a/b": True}, None]})

    def press(self) -> str:
        STATE.write_text("dark" if STATE.read_text() == "lit" else "lit")
        return "click"

    def serve(self, known: dict) -> None:
        trouble = next((each for each in TROUBLES if each["path"] == self.path and each["times"] > 0), NONE)
        if trouble.get("after", 0) > 0:
            trouble["after"] -= 1
            trouble = NONE
        mode = trouble["mode"]
        trouble["times"] = trouble.get("times", 1) - 1
        if mode == "refuse":
            self.answer(503, "not now")
        elif mode == "drop":
            self.hang_up()
        elif self.path not in known:
            self.answer(404, "there is no such thing")
        else:
            text = known[self.path]()
            if mode == "slow":
                time.sleep(trouble["seconds"])
            match mode:
                case "lose":  # done, and the answer is lost
                    self.hang_up()
                case "break":
                    self.answer(500, "something broke")
                case "nonsense":
                    self.answer(200, trouble.get("text", "<html>\x00"))
                case "noise":
                    self.wfile.write(b"\x00\x01 what is HTTP?\r\n\r\n")
                    self.hang_up()
                case "flood":
                    self.answer(200, "x" * (2**20 + 1))
                case _:
                    self.answer(200, text)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Lamp)
    print(server.server_address[1], flush=True)
    server.serve_forever()
