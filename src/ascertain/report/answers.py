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
    head = {"schema": f"ascertain/{verb}", "schema_version": SCHEMA_VERSION, "version": __version__}
    text = json.dumps({**head, **data}, indent=2, ensure_ascii=False, allow_nan=False)
    if any("\ud800" <= c <= "\udfff" for c in text):  # a name with half of a surrogate pair, which is no UTF-8
        text = json.dumps({**head, **data}, indent=2, allow_nan=False)
    return text + "\n"
