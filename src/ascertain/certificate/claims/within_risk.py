"""The claim that a policy stays within stated risks at a stated expected cost, as plain data.

A policy that never goes back is its own proof: the checker computes the three numbers from the last node back. One that
goes round in circles, or whose numbers grow too long, brings values at every place: exact ones where they are short,
otherwise the upper ends of an enclosure, which satisfy the same inequalities (see `ascertain.policy.enclosure`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from ascertain.errors import CertificateError, LimitError
from ascertain.policy.absorption import Triple, find_fates
from ascertain.policy.chain import Chain, follow, number_memories, tabulate
from ascertain.policy.enclosure import Enclosure
from ascertain.policy.evaluate import value_places
from ascertain.policy.plain import numbered_data
from ascertain.policy.policy import AbstractPolicy
from ascertain.task.task import Task

Memory = TypeVar("Memory", bound=Hashable)

MAX_BITS = 6_000
"""The longest number that is written: the format allows 2000 digits."""


def within_risk_claim(task: Task, policy: AbstractPolicy[Memory], *, exact: bool | None = None) -> dict[str, Any]:
    """What the policy achieves, as small as it was proved; `exact` as for `evaluate`."""
    chain = follow(task, policy)
    fates = find_fates(chain)
    if any(i in fates.endless for i in chain.start):
        raise CertificateError("the policy may go on for ever, so that its expected cost is infinite")
    values = value_places(chain, fates, exact=exact)
    if _is_long(values):
        values = value_places(chain, fates, exact=False)
        if chain.parts is not None and _is_long(values):  # circles under such noise are solved exactly
            raise LimitError(f"what the policy achieves are numbers of more than {MAX_BITS} bits")
    table = tabulate(chain)
    wrong, abstain, cost = (max(values.upper[i][column] for i in chain.start) for column in range(3))
    claim: dict[str, Any] = {
        "claim": "within-risk",
        "alpha": str(wrong),
        "beta": str(abstain),
        "cost": str(cost),
        "policy": numbered_data(table),
    }
    exactly_known = not any(values.width)
    return claim if table.is_ordered and exactly_known else claim | {"values": _value_rows(chain, values)}


def tests_claim(risk: Triple, policy: Mapping[str, Any]) -> dict[str, Any]:
    """The same of tests of bits, as policy files have them, for a plant whose states are not listed.

    The numbers are rounded up to twelve digits, which is more than the checker rounds.
    """
    for test in policy.get("tests", ()):
        if any(child <= v for v, node in enumerate(test) for child in node.get("next", {}).values()):
            raise LimitError("a test of the policy leads back to an earlier node, and such tests are not certified")
    numbers = dict(zip(("alpha", "beta", "cost"), (str(_round_up(x)) for x in risk), strict=True))
    return {"claim": "within-risk", **numbers, "policy": dict(policy)}


def _round_up(value: Fraction) -> Fraction:
    scale: int = 10 ** (12 + (len(str(int(1 / value))) if 0 < value < 1 else 0))
    return Fraction(int(value * scale) + 1, scale) if value else value


def _is_long(values: Enclosure) -> bool:
    return any(max(x.numerator, x.denominator).bit_length() > MAX_BITS for triple in values.upper for x in triple)


def _value_rows(chain: Chain, values: Enclosure) -> list[list[Any]]:
    """The values of every place that asks, by the numbers that nodes have in the table."""
    node = number_memories(chain)
    rows: list[tuple[int, int, int, Triple]] = []
    for i, (m, label, s) in enumerate(chain.places):
        if chain.end[i] is None:
            rows.append((node[m], label, s, values.upper[i]))
    return [[v, label, s, *map(str, triple)] for v, label, s, triple in sorted(rows)]
