"""KISS2 read cell by cell: for one state and one valuation, the first line of the table that speaks of them."""

from __future__ import annotations


def look_up(text: str, state: str, valuation: str) -> tuple[str, str] | None:
    """(next state, output) as they are written, or None where no line speaks."""
    for line in text.splitlines():
        fields = line.split()
        if len(fields) != 4 or fields[0].startswith("."):
            continue
        inputs, present, target, output = fields
        if present in {state, "*"} and all(c in ("-", v) for c, v in zip(inputs, valuation, strict=True)):
            return target, output
    return None


def behave(text: str, state: str, valuation: str, *, completed: bool) -> tuple[str, str] | None:
    """(next state, reading), or None where the action is not defined."""
    said = look_up(text, state, valuation)
    if completed:
        target, output = said or ("-", "0" * output_bits(text))
        return state if target in {"*", "-"} else target, output.replace("-", "0")
    if said is None or said[0] in {"*", "-"} or "-" in said[1]:
        return None
    return said


def output_bits(text: str) -> int:
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(".o "))
