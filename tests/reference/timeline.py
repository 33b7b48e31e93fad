"""Compiling in the background, microsecond by microsecond: the twin of `studies/speculation_timeline.py`."""

from __future__ import annotations

from collections.abc import Sequence

Deed = tuple[str, int]
"""("read", 0), ("decide", microseconds), ("gate", 0) or ("want", 0)."""


def play(script: Sequence[Deed], begin: str, compile_us: int, read_us: int) -> tuple[int, int]:
    """Wall clock and processor time of compiling, when that begins at the "start", the "gate" or the "want"."""
    clock, spent = 0, 0
    left: int | None = compile_us if begin == "start" else None

    def tick() -> None:
        nonlocal clock, spent, left
        clock += 1
        if left:
            left -= 1
            spent += 1

    for deed, microseconds in script:
        if deed in {"gate", "want"} and left is None and deed in {begin, "want"}:
            left = compile_us
        for _ in range(read_us if deed == "read" else microseconds):
            tick()
        while deed == "want" and left:
            tick()
    return clock, spent
