"""The command that makes a study again, as the report shows it."""

from __future__ import annotations

from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.testbed.settings import load_settings

SHIPPED = ("testbed", "small")
"""Settings that have a name on the command line; the first is the default."""


def command_of(name: str, conditions: Conditions) -> str:
    """What to type; a settings file is called FILE, as its hash is what tells it."""
    frozen = conditions.settings.hash
    known = next((known for known in SHIPPED if load_settings(known).hash == frozen), "FILE")
    options = {
        "--full": not conditions.quick,
        "--exhaustive": conditions.exhaustive,
        f"--settings {known}": known != SHIPPED[0],
    }
    return " ".join([f"ascertain reproduce {name}", *(option for option, given in options.items() if given)])
