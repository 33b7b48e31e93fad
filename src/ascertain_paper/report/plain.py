"""A study as plain data, for JSON: exact rationals as text, everything else as it is."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any, cast

from ascertain_paper.study import Study


def study_data(study: Study) -> dict[str, Any]:
    """What `--json` prints: rows and facts for programs, tables and findings for people, files by name."""
    data = asdict(study)
    data["attachments"] = sorted(study.attachments)
    return cast("dict[str, Any]", _plain({"study": data.pop("name"), **data}))


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value
