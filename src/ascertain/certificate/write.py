"""Certificates on disk: NAME.json, and beside it NAME.task.json, the task in the form that certificates speak of."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ascertain.errors import CertificateError
from ascertain.task.canonical import canonical_bytes, task_data, task_hash
from ascertain.task.question import AbstractQuestion
from ascertain.version import __version__
from ascertain.writing import write_whole

FORMAT = "ascertain-certificate"
"""Says what the file is, to people and to the checker."""
VERSION = 1
"""Grows when a claim changes its meaning, so that a checker can refuse what it does not know."""


def certificate_data(task: AbstractQuestion, claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A certificate of this task as plain data."""
    if not claims:
        raise CertificateError("a certificate must claim something; there are no claims")
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"ascertain {__version__}",
        "task_sha256": task_hash(task),
        "claims": [dict(claim) for claim in claims],
    }


def write_certificate(
    path: str | Path, task: AbstractQuestion, claims: Sequence[Mapping[str, Any]]
) -> tuple[Path, Path]:
    """Write NAME.json and NAME.task.json, where `path` is NAME.json or NAME; returns both paths.

    Each file appears whole or not at all, and the task before the certificate that needs it.
    """
    certificate, beside = name_files(path)
    text = canonical_bytes(certificate_data(task, claims))
    write_whole(beside, canonical_bytes(task_data(task)))
    write_whole(certificate, text)
    return certificate, beside


def name_files(path: str | Path) -> tuple[Path, Path]:
    """NAME.json and NAME.task.json for a path that is NAME.json or NAME."""
    name = Path(path).name.removesuffix(".json")
    if not name:
        raise CertificateError(f"{os.fspath(path)!r} is not the name of a certificate")
    return Path(path).with_name(f"{name}.json"), Path(path).with_name(f"{name}.task.json")
