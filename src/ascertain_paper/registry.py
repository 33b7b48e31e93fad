"""The studies by name, each in a file of its own; whoever adds one adds a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import cast

from ascertain.report.record import Study
from ascertain_paper.campaign.command import command_of
from ascertain_paper.campaign.conditions import Conditions

STUDIES = {
    "story": "story",
    "controller": "controller_tables",
    "confirmation": "confirmation",
    "replay": "replay",
    "speculation": "speculation",
    "invariants": "invariants",
    "audit": "guarantee",
}
"""Name to module; its function `study` takes the conditions and returns the study."""


def run_study(name: str, conditions: Conditions) -> Study:
    """Run one study by its name, with the settings that its folder holds."""
    conditions.freeze()
    module = import_module(f"ascertain_paper.studies.{STUDIES[name]}")
    found = cast("Callable[[Conditions], Study]", module.study)(conditions)
    return replace(found, command=command_of(name, conditions))
