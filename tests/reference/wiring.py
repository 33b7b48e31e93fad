"""Slow obvious twins of wiring: what an action left behind, by listing all that may have happened, and bands."""

from __future__ import annotations

from fractions import Fraction


def possible_effects(changes: list[bool], at: int, surely_not_done: bool) -> set[tuple[bool, ...]]:
    """Which of the steps that change the plant may have been done when step `at` failed, all cases listed."""
    cases: set[tuple[bool, ...]] = set()
    for happened in (False, True):
        if happened and (surely_not_done or not changes[at]):
            continue
        done = [i < at or (i == at and happened) for i in range(len(changes))]
        cases.add(tuple(d for d, c in zip(done, changes, strict=True) if c))
    return cases


def what_ran(changes: list[bool], at: int, surely_not_done: bool) -> str:
    """ "ran", "not", "doubt" (as a whole, or not at all) or "half"."""
    cases = possible_effects(changes, at, surely_not_done)
    words = {"ran" if all(case) and case else "not" if not any(case) else "half" for case in cases}
    return "half" if "half" in words else "doubt" if len(words) == 2 else words.pop()


def holds(sign: str, x: Fraction, end: Fraction) -> bool:
    """One side of a band."""
    return {"<": x < end, "<=": x <= end, ">": x > end, ">=": x >= end, "=": x == end}[sign]
