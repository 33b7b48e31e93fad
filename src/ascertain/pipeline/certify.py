"""Certify: claims about a question become a certificate, and the checker, which shares no code with us, judges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ascertain.certificate.write import certificate_data, name_files
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.question import AbstractQuestion
from ascertain_check import Verdict, check


def certify(question: AbstractQuestion, claims: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], Verdict]:
    """The certificate of these claims as plain data, and what the checker says of it."""
    data = certificate_data(question, claims)
    return data, check(canonical_bytes(task_data(question)), canonical_bytes(data))


def certificate_files(path: Path | None) -> list[Path]:
    """The two files that a certificate of this name becomes; none without a name."""
    return [] if path is None else list(name_files(path))
