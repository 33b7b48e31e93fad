"""The answer of a verb as one JSON text, with its schema and the version that made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ascertain.version import __version__

SCHEMA_VERSION = 1
"""Grows when a key of some verb's JSON changes its meaning or goes away; docs/formats.md lists the keys."""


def answer_text(verb: str, data: Mapping[str, Any]) -> str:
    """What `ascertain VERB --json` prints."""
    return escape_json(json.dumps({**head_of(verb), **data}, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def head_of(verb: str) -> dict[str, str | int]:
    """What every object that is printed begins with."""
    return {"schema": f"ascertain/{verb}", "schema_version": SCHEMA_VERSION, "version": __version__}


def escape_json(text: str) -> str:
    """The same JSON, with all but plain characters escaped: controls, and what is no UTF-8, as half a pair."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
