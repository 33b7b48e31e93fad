"""An MQTT 3.1.1 broker as a plant, packet by packet: no client library, so that wrong packets can be sent too.

Each action sends one packet over a TCP connection; RESET closes the connection and opens a new one. What is read is
the packets that come back, in alphabetical order ("PUBACK+PUBLISH": brokers may send them in either order), CLOSED at
the end when the broker hangs up, and "-" when nothing comes within QUIET seconds. Silence is a reading here: most wrong
packets are answered by nothing at all, and a broker that would have answered later reads "-" as well.

    MQTT_BROKER=localhost:1883 ascertain learn --plant python:broker:Broker --actions CONNECT,PING,... --out broker.dot

The address stands in the variable MQTT_BROKER, and the seconds of silence in MQTT_QUIET.
"""

import os
import select
import socket
import struct
import time
from itertools import count

QUIET = 0.3
"""Seconds without a packet after which nothing more is expected: brokers on the same machine answer in milliseconds."""
GATHER = 0.05
"""Seconds that further packets may take after the first: an acknowledgement and a publication come together."""
SILENT = "-"
TOPIC = "ascertain"
PACKETS = {2: "CONNACK", 3: "PUBLISH", 4: "PUBACK", 5: "PUBREC", 6: "PUBREL", 7: "PUBCOMP", 9: "SUBACK"}
PACKETS |= {11: "UNSUBACK", 13: "PINGRESP"}
WITH_CODE = {2, 9}
"""Packets whose last byte says how it went, and is part of the reading."""


def text(value: str) -> bytes:
    """A string with its length in two bytes before it."""
    return struct.pack("!H", len(value.encode())) + value.encode()


def packet(first: int, body: bytes = b"") -> bytes:
    """A packet of less than 128 bytes: its first byte, its length, and the rest."""
    return bytes([first, len(body)]) + body


def connect(client: str, protocol: str = "MQTT", level: int = 4, flags: int = 0x02) -> bytes:
    """CONNECT with a clean session and without keep-alive, so that a broker forgets and never times out."""
    return packet(0x10, text(protocol) + bytes([level, flags]) + struct.pack("!H", 0) + text(client))


IDENTIFIER = struct.pack("!H", 7)
"""The packet identifier of all packets that have one."""
CONNECTS = {
    "CONNECT": {},
    "CONNECT-LEVEL9": {"level": 9},  # a version of the protocol that does not exist
    "CONNECT-BADNAME": {"protocol": "MQXX"},
    "CONNECT-RESERVED": {"flags": 0x03},  # a flag that must be 0
}
"""What each kind of CONNECT has that is not usual."""
OTHERS = {
    "SUBSCRIBE": packet(0x82, IDENTIFIER + text(TOPIC) + b"\0"),
    "SUBSCRIBE-FLAGS": packet(0x80, IDENTIFIER + text(TOPIC) + b"\0"),  # the lower four bits must be 0010
    "SUBSCRIBE-EMPTY": packet(0x82, IDENTIFIER),  # without a topic
    "UNSUBSCRIBE": packet(0xA2, IDENTIFIER + text(TOPIC)),
    "PUBLISH0": packet(0x30, text(TOPIC) + b"x"),
    "PUBLISH1": packet(0x32, text(TOPIC) + IDENTIFIER + b"x"),
    "PUBLISH2": packet(0x34, text(TOPIC) + IDENTIFIER + b"x"),
    "PUBLISH-WILD": packet(0x30, text("#") + b"x"),  # a topic that only subscriptions may have
    "PUBREL": packet(0x62, IDENTIFIER),
    "PING": packet(0xC0),
    "DISCONNECT": packet(0xE0),
    "RESERVED": packet(0xF0),  # a type that does not exist in 3.1.1
}
"""All other packets, byte by byte."""
ACTIONS = (*CONNECTS, *OTHERS)
"""What can be sent."""


class Broker:
    """A broker behind `send`; made without arguments, so that `python:broker:Broker` names it."""

    def __init__(self, address: str | None = None, quiet: float | None = None) -> None:
        where = os.environ.get("MQTT_BROKER", "localhost:1883") if address is None else address
        host, _, port = where.rpartition(":")
        self.address = (host, int(port))
        self.quiet = float(os.environ.get("MQTT_QUIET", QUIET)) if quiet is None else quiet
        self.identity = f"mqtt {where}"
        self.connection: socket.socket | None = None
        self.buffer = b""
        self.closed = True
        self.clients = count()
        self.reset()

    def send(self, action: str) -> str:
        """Send one packet, or begin a new connection, and say what came back."""
        if action == "RESET":
            self.reset()
            return "reset"
        if action not in ACTIONS:
            raise ValueError(f"{action!r} is not one of {', '.join(ACTIONS)}, RESET")
        if self.closed:
            return "CLOSED"
        data = connect(self.client, **CONNECTS[action]) if action in CONNECTS else OTHERS[action]
        try:
            self.connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            self.closed = True
        return self.receive()

    def reset(self) -> None:
        """A connection of its own for every word, and a client that the broker does not know."""
        self.close()
        self.connection = socket.create_connection(self.address, timeout=5)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client = f"{TOPIC}{os.getpid()}x{next(self.clients)}"
        self.buffer, self.closed = b"", False

    def receive(self) -> str:
        """The names of the packets that come until there is silence, or the broker hangs up."""
        found: list[str] = []
        until = time.monotonic() + self.quiet
        while not self.closed and (left := until - time.monotonic()) > 0:
            if not select.select([self.connection], [], [], left)[0]:
                break
            try:
                data = self.connection.recv(4096)
            except ConnectionResetError:
                data = b""
            self.closed, self.buffer = not data, self.buffer + data
            names = list(self.take())
            found += names
            if names:
                until = time.monotonic() + GATHER
        return "+".join(sorted(found) + ["CLOSED"] * self.closed) or SILENT

    def take(self):
        """The whole packets in the buffer."""
        while len(self.buffer) >= 2:
            length, size = 0, 1
            while True:  # the length: seven bits a byte, as long as the eighth is set, four bytes at most
                if size >= len(self.buffer):
                    return
                byte = self.buffer[size]
                length |= (byte & 127) << 7 * (size - 1)
                size += 1
                if byte < 128:
                    break
                if size > 4:  # nobody knows where the next packet begins
                    self.buffer, self.closed = b"", True
                    yield "MALFORMED"
                    return
            if len(self.buffer) < size + length:
                return
            kind, body = self.buffer[0] >> 4, self.buffer[size : size + length]
            self.buffer = self.buffer[size + length :]
            yield PACKETS.get(kind, f"TYPE{kind}") + (str(body[-1]) if kind in WITH_CODE and body else "")

    def close(self) -> None:
        """Hang up."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
