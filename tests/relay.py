"""A wire with troubles, between a client and a server that answers every request before the next."""

from __future__ import annotations

import select
import socket
import threading
import time
from typing import Any, final


@final
class Relay:
    """Listens at `port` and passes everything on to another, until it is told to make trouble.

    drop: the next request is not passed on, and the connection ends. lose: it is passed on, and the connection ends
    with its answer. slow: the answer comes later by so many seconds. noise: another answer comes instead.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.troubles: list[dict[str, Any]] = []
        self.passed = b""
        """All that went by, either way."""
        threading.Thread(target=self._listen, daemon=True).start()

    def trouble(self, mode: str, *, after: int = 0, **more: Any) -> None:
        """With the next request, or after so many."""
        self.troubles.append({"mode": mode, "after": after, **more})

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return  # closed, or there is no server any more
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        trouble: dict[str, Any] | None = None
        with client, server:
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    try:
                        data = ready.recv(65536)
                    except OSError:
                        return
                    if not data:
                        return
                    self.passed += data
                    if ready is client:
                        trouble = self._next_trouble()
                        if trouble and trouble["mode"] == "drop":
                            return
                        server.sendall(data)
                        continue
                    if trouble and trouble["mode"] == "lose":
                        return
                    if trouble and trouble["mode"] == "slow":
                        time.sleep(trouble["seconds"])
                    try:
                        client.sendall(trouble["data"] if trouble and trouble["mode"] == "noise" else data)
                    except OSError:
                        return
                    trouble = None

    def _next_trouble(self) -> dict[str, Any] | None:
        if not self.troubles:
            return None
        if self.troubles[0]["after"] > 0:
            self.troubles[0]["after"] -= 1
            return None
        return self.troubles.pop(0)
