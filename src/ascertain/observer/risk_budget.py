"""The risk budget: what part of alpha each stage may spend, so that all answers together keep to the whole.

A stage that may answer takes its share of alpha *before* it scores a reading, whether or not it comes to answer, and
every acceptance names the share that it was made at. By the union bound the probability that some answer is wrong is at
most the sum of the shares taken, and a budget whose shares exceed alpha cannot be made. All of it is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from ascertain.errors import CertificateError


@final
@dataclass(frozen=True)
class Share:
    """A part of alpha, by the name of the stage that spends it."""

    name: str
    amount: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", Fraction(self.amount))
        if self.amount < 0:
            raise CertificateError(f"the share of {self.name!r} is {self.amount}; a risk is at least 0")


@final
@dataclass(frozen=True)
class RiskBudget:
    """What has been spent of alpha, and on which share an answer was accepted. A step returns a new budget."""

    alpha: Fraction
    shares: tuple[Share, ...] = ()
    accepted: str | None = None
    """The name of the share that the answer was made at; None before there is one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", Fraction(self.alpha))
        names = [share.name for share in self.shares]
        if not 0 <= self.alpha < 1:
            raise CertificateError(f"alpha is {self.alpha}; a probability in [0, 1) is needed")
        if len(set(names)) < len(names):
            raise CertificateError(f"a share is spent twice: {', '.join(names)}; each stage spends its own, once")
        if self.spent > self.alpha:
            parts = " + ".join(f"{share.amount} ({share.name})" for share in self.shares)
            raise CertificateError(f"the risk is overspent: {parts} is {self.spent}, more than alpha = {self.alpha}")
        if self.accepted is not None and self.accepted not in names:
            raise CertificateError(f"an answer was accepted at the share {self.accepted!r}, which was not spent")

    @property
    def spent(self) -> Fraction:
        return sum((share.amount for share in self.shares), Fraction(0))

    @property
    def left(self) -> Fraction:
        return self.alpha - self.spent

    def amount(self, name: str) -> Fraction:
        """How much the share of that name is."""
        for share in self.shares:
            if share.name == name:
                return share.amount
        raise CertificateError(f"no share is called {name!r}")

    def spend(self, name: str, amount: Fraction) -> RiskBudget:
        """The budget after a stage of that name has taken so much of alpha; overspending raises."""
        if self.accepted is not None:
            raise CertificateError(f"an answer was accepted at the share {self.accepted!r}; nothing is spent after it")
        return replace(self, shares=(*self.shares, Share(name, amount)))

    def accept(self, name: str) -> RiskBudget:
        """The budget after an answer at the share of that name: there is one answer at most."""
        if self.accepted is not None:
            raise CertificateError(f"an answer was accepted at the share {self.accepted!r}; there is one at most")
        return replace(self, accepted=name)
