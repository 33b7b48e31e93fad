"""The claim that words separate, identify, home or synchronize hypotheses, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ascertain.types import Action

Shows: TypeAlias = Literal["separated", "identified", "homed", "synchronized"]
"""What a replay of the words shows; `ascertain_check/claims/words.py` defines each."""


def words_claim(
    shows: Shows, words: Sequence[Sequence[Action]], of: Sequence[Sequence[int]] | None = None
) -> dict[str, Any]:
    """These words, and where it is about the start, which of them each hypothesis has."""
    claim = {"claim": "words", "shows": shows, "words": [list(word) for word in words]}
    return claim if of is None else {**claim, "of": [list(mine) for mine in of]}
