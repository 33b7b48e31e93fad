"""The faults of a plant, those that were mended included: at which action, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascertain.cli.show.output import print_line, print_table

BECAME = {
    "reading": "asked again, and answered",
    "outside": "asked again, and answered",
    "missing": "went on without the reading",
    "doubt": "went on, in doubt whether it ran",
    "failure": "the run ended",
    "cut short": "the deadline passed",
}
"""What became of the action, by its outcome."""
MOST = 20
"""Faults that are listed: a screen; all of them are in --json."""


def print_faults(faults: Sequence[Mapping[str, Any]]) -> None:
    """A table of the faults of a run, as `facts()` has them; nothing where there were none."""
    if not faults:
        return
    rows = [(each["at"], each["kind"], BECAME[each["outcome"]], each["text"]) for each in faults[:MOST]]
    print_table("faults of the plant", rows, ("action", "fault", "what came of it", "what was said"))
    if len(faults) > MOST:
        print_line(f"and {len(faults) - MOST} more; --json has them all")
