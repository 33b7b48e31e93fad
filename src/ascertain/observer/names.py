"""The names of policies, as problem files and the command line write them."""

from __future__ import annotations

from typing import Literal, TypeAlias

PolicyName: TypeAlias = Literal["readwise", "eager", "staged", "reuse"]

POLICIES: tuple[PolicyName, ...] = ("readwise", "eager", "staged", "reuse")
"""The default first."""
