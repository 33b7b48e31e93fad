"""The policy file: a policy that outlives the search that found it, in JSON and exact, for people to read and write.

    {"format": "ascertain-policy", "version": 1, "made_by": "...", "task_sha256": "...", "alpha": "1/1000",
     "beta": "1/100", "policy": ...}

`task_sha256` is the hash of the task at these risks. A policy is for a model, hypotheses, labels and costs; the risks
may be others where it is used, and what it achieves is computed anew: nothing is believed. `policy_forms.py` has the
forms of a policy. What `ascertain solve --json` prints is read as well: it has a policy, and names no task.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ascertain.errors import FileError, TaskError
from ascertain.model.files.json_text import decode_or_refuse, kind_of, named
from ascertain.model.files.text import read_text
from ascertain.planning.exported import Controller
from ascertain.planning.policy_forms import parse_controller, policy_data
from ascertain.rational import rational_field
from ascertain.task.canonical import task_hash
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from ascertain.version import __version__
from ascertain.writing import write_whole

FORMAT = "ascertain-policy"
"""Says what the file is."""
VERSION = 1
"""Grows when a form changes its meaning."""
HEADER = ("format", "version", "made_by", "task_sha256", "alpha", "beta", "policy")
"""The keys of a policy file."""
CERTIFIED = "certified"
"""In the place of a file: the policy that is found first, and proved."""


def is_path(policy: str | Path) -> bool:
    """Whether a policy is given as a file: anything with a suffix or a slash."""
    return isinstance(policy, Path) or bool(Path(policy).suffix) or "/" in policy or os.sep in policy


def write_policy(path: str | Path, controller: Controller) -> Path:
    """Write the policy file of a controller; returns its path."""
    question = controller.question
    data = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"ascertain {__version__}",
        "task_sha256": task_hash(question),
        "alpha": str(question.alpha),
        "beta": str(question.beta),
        "policy": policy_data(controller),
    }
    write_whole(path, _dump(data).encode())
    return Path(path)


def _dump(data: dict[str, Any]) -> str:
    """JSON with a line for each node, so that people can read it and tools can compare it."""
    policy = data["policy"]
    lines = [
        f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(data[key], ensure_ascii=False)},"
        for key in data
        if key != "policy"
    ]
    inner: list[str] = []
    for key, value in policy.items():
        if isinstance(value, list) and value:
            rows = ",\n".join(f"      {json.dumps(item, ensure_ascii=False)}" for item in cast("list[Any]", value))
            inner.append(f"    {json.dumps(key)}: [\n{rows}\n    ]")
        else:
            inner.append(f"    {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + "\n".join(lines) + '\n  "policy": {\n' + ",\n".join(inner) + "\n  }\n}\n"


def read_policy(path: str | Path, questions: Sequence[Task | PlantTask]) -> Controller:
    """The policy of a file, for that one of these questions that it names; FileError says what does not fit."""
    where = str(path)
    data = decode_or_refuse(read_text(path), where, "a policy file is JSON; `ascertain bounds --policy-out` writes one")
    if not isinstance(data, dict):
        raise FileError(f"{where} is {kind_of(data)}; a policy file is an object")
    table = cast("dict[str, Any]", data)
    if "format" not in table:  # what `solve --json` prints, or a policy by itself
        policy = table.get("policy", table)
        if policy is None:
            raise FileError(f"{where}: this result has no policy to walk")
        return parse_controller(policy, questions[-1], where)
    return parse_controller(table.get("policy"), _find_question(table, questions, where), where)


def _find_question(table: dict[str, Any], questions: Sequence[Task | PlantTask], where: str) -> Task | PlantTask:
    """The question that the file is about, at the risks that it is asked at here."""
    if table["format"] != FORMAT or type(table.get("version")) is not int or table["version"] != VERSION:
        raise FileError(f'{where}: the format must be "{FORMAT}" and the version {VERSION}; this file has another')
    for key in HEADER:
        if key not in table:
            raise FileError(f"{where}: {key!r} is missing")
    for key in table:
        if key not in HEADER:
            raise FileError(f"{where}: {named(key)} does not belong here; known are {', '.join(HEADER)}")
    risks = {key: rational_field(table[key], f"{where}: {key}", FileError) for key in ("alpha", "beta")}
    for question in questions:
        try:
            if task_hash(replace(question, **risks)) == table["task_sha256"]:
                return question
        except TaskError as reason:
            raise FileError(f"{where}: {reason}") from None
    raise FileError(
        f"{where}: the policy is for another task; its model, hypotheses, labels or costs are not those here"
    )
