"""The names of policies and probing rules, as problem files and the command line write them."""

from __future__ import annotations

from typing import Literal, TypeAlias

PolicyName: TypeAlias = Literal["readwise", "eager", "staged", "reuse"]
ProbingName: TypeAlias = Literal["round-robin", "separating", "planned"]

POLICIES: tuple[PolicyName, ...] = ("readwise", "eager", "staged", "reuse")
PROBING: tuple[ProbingName, ...] = ("round-robin", "separating", "planned")
