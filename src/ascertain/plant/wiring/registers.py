"""Values in registers of 16 bits, as field buses carry them: several registers and bytes in one order or the other.

Throughout `words` says how: `type` (u16 if left out), `byte_order` within a register and `word_order` of the registers
("big" if left out), `bit` of a register of 16 bits, `count` of registers of a text.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

TYPES = {"u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f32": "f", "f64": "d"}
"""Types of numbers, with their letters in `struct`; `text` is one more, for reading."""


def count_registers(words: Mapping[str, Any]) -> int:
    """How many registers a value takes."""
    type_ = words.get("type", "u16")
    return words["count"] if type_ == "text" else struct.calcsize(TYPES[type_]) // 2


def to_registers(value: object, words: Mapping[str, Any]) -> list[int]:
    """The number as registers; ValueError when it is none of this type."""
    type_ = words.get("type", "u16")
    if type(value) not in ((int, float) if type_ in ("f32", "f64") else (int,)):
        raise ValueError(f"{value!r} is no {type_}")
    try:
        data = _ordered(struct.pack(f">{TYPES[type_]}", value), words)
    except (struct.error, OverflowError):
        raise ValueError(f"{value!r} is no {type_}") from None
    return list(struct.unpack(f">{len(data) // 2}H", data))


def to_value(registers: Sequence[int], words: Mapping[str, Any]) -> object:
    """What they hold: a number, a bit or a text; ValueError when it is none."""
    data, type_ = _ordered(struct.pack(f">{len(registers)}H", *registers), words), words.get("type", "u16")
    if type_ == "text":
        try:
            return data.decode().rstrip("\0 ")
        except UnicodeDecodeError:
            raise ValueError(f"{data[:40]!r}, which is not UTF-8 text") from None
    value = struct.unpack(f">{TYPES[type_]}", data)[0]
    return bool(value >> words["bit"] & 1) if "bit" in words else value


def _ordered(data: bytes, words: Mapping[str, Any]) -> bytes:
    """The bytes in the order of the registers, or back: each order undoes itself. A text has no order of registers."""
    parts = [data[i : i + 2] for i in range(0, len(data), 2)]
    parts = [part[::-1] for part in parts] if words.get("byte_order") == "little" else parts
    return b"".join(parts[::-1] if words.get("word_order") == "little" and words.get("type") != "text" else parts)
