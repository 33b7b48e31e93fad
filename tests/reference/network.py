"""Boolean networks updated by dictionaries and Python's own operators: slow and obvious."""

from __future__ import annotations

from collections.abc import Mapping

from ascertain.model.expression import Expression


def value(rule: Expression, valuation: Mapping[int, bool]) -> bool:
    """A postfix program, run on Booleans."""
    stack: list[bool] = []
    for step in rule.program:
        if isinstance(step, int):
            stack.append(valuation[step])
        elif step in {"0", "1"}:
            stack.append(step == "1")
        elif step == "not":
            stack.append(not stack.pop())
        else:
            b, a = stack.pop(), stack.pop()
            stack.append({"and": a and b, "or": a or b, "xor": a != b}[step])
    return stack.pop()


def update(rules: tuple[Expression | None, ...], valuation: Mapping[int, bool]) -> dict[int, bool]:
    """All variables after one synchronous update; those without a rule stay."""
    return {v: valuation[v] if rule is None else value(rule, valuation) for v, rule in enumerate(rules)}
