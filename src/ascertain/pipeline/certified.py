"""What a certificate says of bounds: the claims for prices and openings, and which bounds all its claims cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

from ascertain.certificate.claims.openings import openings_claim
from ascertain.certificate.claims.prices import prices_claim
from ascertain.errors import LimitError
from ascertain.planning.opening_cases import prove_openings
from ascertain.planning.price_rows import prove_prices
from ascertain.planning.two_sided import TwoSidedBounds, Values
from ascertain.quotients.quotient import Quotient
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

METHODS = {
    "information": "pairwise",
    "program": "program",
    "prices": "prices",
    "openings": "openings",
    "lower": "deterministic",
    "shares": "deterministic",
}
"""By claim, the lower bound that it proves, as outputs name it."""


@final
@dataclass(frozen=True)
class Certified:
    """What the claims of a certificate prove: lower bounds by method, None for infinity, and the cost of a policy."""

    lower: Values = field(default_factory=dict[str, Fraction | None])
    upper: Fraction | None = None

    @property
    def has_lower(self) -> bool:
        return bool(self.lower)

    @property
    def best(self) -> Fraction | None:
        """The largest certified lower bound, None for infinity; ask `has_lower` first."""
        finite = [value for value in self.lower.values() if value is not None]
        return None if len(finite) < len(self.lower) else max(finite, default=Fraction(0))

    @property
    def ratio(self) -> Fraction | None:
        """Certified upper over certified lower bound; None where one of them is missing, infinite or 0."""
        return self.upper / self.best if self.has_lower and self.best and self.upper is not None else None

    def covers(self, name: str, value: Fraction | None) -> tuple[bool, Fraction | None]:
        """Whether something is certified of a lower bound, and how much: all of it if the best certified one is larger.

        None stands for infinity.
        """
        if not self.has_lower:
            return False, Fraction(0)
        if self.best is None or (value is not None and value <= self.best):
            return True, value
        if name == "best":
            return True, self.best
        return name in self.lower, self.lower.get(name, Fraction(0))


def read_certified(question: Task | PlantTask, claims: Iterable[Mapping[str, Any]]) -> Certified:
    """What these claims prove at the risks of the question; those of an obstruction prove that no policy is valid."""
    lower: dict[str, Fraction | None] = {}
    upper: Fraction | None = None
    for claim in claims:
        name = str(claim["claim"])
        if name == "obstruction":
            lower["obstruction"] = None
        elif name in METHODS:
            lower[METHODS[name]] = None if claim["cost"] == "inf" else Fraction(claim["cost"])
        elif name == "achieves" or (
            name == "within-risk"
            and Fraction(claim["alpha"]) <= question.alpha
            and Fraction(claim["beta"]) <= question.beta
        ):
            upper = Fraction(claim["cost"])
    return Certified(lower, upper)


def claim_prices(
    found: TwoSidedBounds, quotient: Quotient, proved: Iterable[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Claims for the bounds by prices and by openings where they improve on what is proved already, and remarks."""
    task = quotient.task
    claims: list[dict[str, Any]] = []
    remarks: list[str] = []
    known = read_certified(task, proved)
    for name, prove in (("prices", _prove_prices), ("openings", _prove_openings)):
        value = found.lower_by_method.get(name)
        if value is None or known.best is None or value <= known.best:
            continue
        try:
            claim = prove(found, quotient)
        except LimitError as reason:
            remarks.append(f"the bound by {name} is not certified: {reason}")
            continue
        if claim is not None and Fraction(claim["cost"]) > known.best:
            claims.append(claim)
        else:
            remarks.append(f"the bound by {name} is not certified: in rationals it is no better than the others")
    return claims, remarks


def _prove_prices(found: TwoSidedBounds, quotient: Quotient) -> dict[str, Any] | None:
    if found.multipliers is None:
        return None
    cost, proof = prove_prices(quotient.reduced, found.alpha, found.beta, found.multipliers)
    return prices_claim(quotient, found.alpha, found.beta, cost, proof)


def _prove_openings(found: TwoSidedBounds, quotient: Quotient) -> dict[str, Any] | None:
    if found.branching is None:
        raise LimitError("it uses that hypotheses are exchangeable")
    return openings_claim(
        quotient, found.alpha, found.beta, prove_openings(quotient.reduced, found.alpha, found.beta, found.branching)
    )
