"""Running a study by its name, and the command that makes it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import cast

from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.studies import STUDIES
from ascertain_paper.study import Study
from ascertain_paper.testbed.settings import SHIPPED, load_settings


def run_study(name: str, conditions: Conditions) -> Study:
    """Run one study by its name, with the settings that its folder holds."""
    conditions.freeze()
    module, _, function = STUDIES[name].function.partition(":")
    study = cast("Callable[[Conditions], Study]", getattr(import_module(module), function))
    began = time.monotonic()
    found, seconds = study(conditions), time.monotonic() - began
    frozen = conditions.settings.hash
    return replace(found, settings_hash=frozen, seconds=seconds, command=command_of(name, conditions))


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
