"""How much memory a search may take where nobody says: three quarters of what is free."""

from __future__ import annotations

from pathlib import Path

SHARE = 4, 3
"""Of four parts of what is free a search takes three: the rest is for reading policies and writing proofs."""
MEMINFO, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
"""Where Linux says what is free, and what a container may take."""


def default_memory_limit() -> int | None:
    """Three quarters of the bytes that are free; None where the system does not say."""
    free = [number for number in (_free_of_machine(), _free_of_group()) if number is not None]
    return min(free) * SHARE[1] // SHARE[0] if free else None


def _free_of_machine() -> int | None:
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def _free_of_group() -> int | None:
    try:
        most, taken = ((GROUP / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return None
    return None if most == "max" else max(0, int(most) - int(taken))
