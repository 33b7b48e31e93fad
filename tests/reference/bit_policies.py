"""What policies of tests of bits do, said slowly: runs forward in time, every combination of values by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, TypeAlias

Policy: TypeAlias = Mapping[str, Any]
Law: TypeAlias = tuple[dict[int | None, Fraction], Fraction]
"""The probability of each answer (None: an abstention), and the expected number of readings."""
Triple: TypeAlias = tuple[Fraction, Fraction, Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


class Visit:
    """One test of a policy file as it runs, in round number `level`; what is nominal, where that is the question."""

    def __init__(self, policy: Policy, level: int, action: str, test: int, nominal: int | None) -> None:
        self.level, self.action, self.nominal = level, action, nominal
        self.nodes: list[Any] = policy["tests"][test] if "tests" in policy else []
        self.levels: dict[str, Any] = policy.get("levels", {})

    def place(self, readings: Sequence[int]) -> tuple[int, int] | None:
        """Where these readings lead: two that lead to one place do the same from there on. None: there is no branch."""
        if self.levels:
            return self.level + sum(1 if y == self.nominal else -1 for y in readings), len(readings)
        node = 0
        for y in readings:
            if str(y) not in self.nodes[node]["next"]:
                return None
            node = self.nodes[node]["next"][str(y)]
        return node, 0

    def after(self, readings: Sequence[int]) -> int | str | None:
        """The answer 0 or 1; None, an abstention; "more", it asks again; or "no branch"."""
        place = self.place(readings)
        if place is None:
            return "no branch"
        if not self.levels:
            node = self.nodes[place[0]]
            return node.get("answer", "more")
        assert self.nominal is not None
        if place[0] == self.level + 1:
            return self.nominal
        if place[0] == -self.levels["down"]:
            return 1 - self.nominal
        return None if len(readings) == self.levels["caps"][self.level] else "more"

    def law(self, flip: Fraction, value: int) -> Law:
        """What it does where the form has this value."""
        found: dict[int | None, Fraction] = {0: ZERO, 1: ZERO, None: ZERO}
        mean = ZERO
        now: dict[tuple[int, ...], Fraction] = {(): ONE}
        while now:
            later: dict[tuple[int, ...], Fraction] = {}
            for readings, chance in now.items():
                answer = self.after(readings)
                if answer == "more":
                    mean += chance
                    later[*readings, value] = chance * (1 - flip)
                    later[*readings, 1 - value] = chance * flip
                else:
                    found[None if isinstance(answer, str) else answer] += chance
            now = later
        return found, mean


def visits_of(policy: Policy, nominal: Mapping[str, int] | None) -> list[Visit]:
    """In order; `nominal` says which value of a command's form is nominal, where that is the question."""
    if "levels" in policy:
        levels = policy["levels"]
        pairs = list(zip(levels["actions"], levels["nominal"], strict=True))
        return [Visit(policy, level, action, 0, value) for level in range(levels["up"]) for action, value in pairs]
    order = [(item["action"], item["test"]) for item in policy["order"]]
    return [Visit(policy, 0, action, test, nominal[action] if nominal else None) for action, test in order]


def achieved(policy: Policy, nominal: Mapping[str, int] | None, flip: Fraction, cost: Mapping[str, Fraction]) -> Triple:
    """(wrong, abstain, cost), each for the worst of those combinations of values that count for it."""
    visits = visits_of(policy, nominal)
    laws = [[visit.law(flip, value) for value in (0, 1)] for visit in visits]
    wrong = none = dear = ZERO
    for values in product((0, 1), repeat=len(visits)):
        did = [law[value] for law, value in zip(laws, values, strict=True)]
        go = [1 - law[None] if v.nominal is None else law[v.nominal] for v, (law, _) in zip(visits, did, strict=True)]
        reached = [prod(go[:i], start=ONE) for i in range(len(visits))]
        none = max(none, sum((p * law[None] for p, (law, _) in zip(reached, did, strict=True)), ZERO))
        spent = sum((p * n * cost[v.action] for p, (_, n), v in zip(reached, did, visits, strict=True)), ZERO)
        bad = [v for v, value in zip(visits, values, strict=True) if value != v.nominal]
        if nominal is None:
            right = prod((law[value] for value, (law, _) in zip(values, did, strict=True)), start=ONE)
            wrong, dear = max(wrong, prod(go, start=ONE) - right), max(dear, spent)
        elif not bad:
            said = [law[1 - value] for value, (law, _) in zip(values, did, strict=True)]
            alarm = sum((p * other for p, other in zip(reached, said, strict=True)), ZERO)
            wrong, dear = max(wrong, alarm), max(dear, spent)
        if nominal is not None:
            if {v.level for v in bad} == {v.level for v in visits}:  # one in every round
                dear = max(dear, spent)
            if any(all(v in bad for v in visits if v.action == action) for action in {v.action for v in visits}):
                wrong = max(wrong, prod(go, start=ONE))
    return wrong, none, dear


def answers_after(
    policy: Policy, nominal: Mapping[str, int] | None, steps: Sequence[tuple[str, int | None]]
) -> dict[str, int] | str:
    """What the visits say after these steps; a text where they do not answer. None is a reading that was lost."""
    left, answers = list(steps), dict[str, int]()
    for visit in visits_of(policy, nominal):
        readings: tuple[int, ...] = ()
        while (answer := visit.after(readings)) == "more":
            if not left:
                return "does not answer"
            action, y = left.pop(0)
            if action != visit.action:
                return "is not what the policy asks"
            if y is None and visit.place((*readings, 0)) == visit.place((*readings, 1)):
                y = 0  # whatever was read, the same is done
            if y is None or visit.after((*readings, y)) == "no branch":
                return "gives no answer"
            readings = (*readings, y)
        if answer is None:
            return "abstains"
        assert isinstance(answer, int)
        answers[visit.action] = answer
        if visit.nominal not in (None, answer):
            break
    return "answers before" if left else answers
