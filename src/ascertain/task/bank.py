"""A bank: finitely many states with weights, fixed before the readings that it is scored on.

A bank is determined by the operation log and the frozen settings. Nothing that has seen a reading can tilt it: a world
takes its bank when it is made, before its first reading, has no way to change a weight, and scores the bank on the
readings after that moment only. Whoever builds a bank late has therefore built it before every reading that counts.
The one thing that may be done late is arithmetic: a bank can leave a part, `later`, to be computed when it is wanted.
What computes it is handed over with the bank and is called without arguments, so that it sees what the bank saw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import TaskError
from ascertain.model.abstract import set_fields
from ascertain.types import State


@final
@dataclass(frozen=True)
class Bank(Shown):
    """Candidates, each a state with a positive weight; weights sum to one, or to less: what is kept back is lost."""

    states: tuple[State, ...]
    weights: tuple[Fraction, ...]
    later: Callable[[], Bank] | None = field(default=None, repr=False, compare=False)
    """Computes the candidates that come next, with the weight that this bank leaves over at most; they may leave others
    for later in their turn."""
    scale: int = field(init=False, repr=False, compare=False)
    shares: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The weights times `scale`, which are integers: thousands of them are added and compared much faster."""

    def __post_init__(self) -> None:
        weights = tuple(w if type(w) is Fraction else Fraction(w) for w in self.weights)
        scale, shares = scale_weights(weights)
        set_fields(self, states=tuple(int(z) for z in self.states), weights=weights, scale=scale, shares=shares)
        if not self.states or len(self.states) != len(self.weights):
            raise TaskError(f"a bank needs candidates, each with a weight; {len(self.states)} and {len(self.weights)}")
        if len(set(self.states)) < len(self.states):
            raise TaskError("a bank lists a state twice; add its weights")
        if min(self.states) < 0:
            raise TaskError(f"a bank lists the state {min(self.states)}; states are counted from 0")
        if min(self.shares) <= 0 or sum(self.shares) > self.scale:
            raise TaskError(f"the weights of a bank must be positive and sum to at most 1; they sum to {self.total}")

    def shown(self) -> Mapping[str, object]:
        return {"states": len(self.states), "total": self.total}

    def listing(self) -> Listing:
        return ("state", "weight"), list(zip(self.states, self.weights, strict=True))

    @property
    def total(self) -> Fraction:
        return Fraction(sum(self.shares), self.scale)

    @property
    def num_candidates(self) -> int:
        return len(self.states)

    @property
    def largest(self) -> State:
        """The candidate of the largest number."""
        return max(self.states)

    def computed(self) -> Bank:
        """The part that is there now, without what is left to be computed."""
        return self if self.later is None else Bank(self.states, self.weights)

    def completed(self) -> Bank:
        """This bank and its next part, computed now; candidates that stand in both have the sum of their weights."""
        if self.later is None:
            return self
        rest = self.later()
        if self.total + rest.total > 1:
            raise TaskError(f"the later part of a bank weighs {rest.total}; at most {1 - self.total} was left for it")
        weight = dict(zip(self.states, self.weights, strict=True))
        for state, w in zip(rest.states, rest.weights, strict=True):
            weight[state] = weight.get(state, Fraction(0)) + w
        return Bank(tuple(weight), tuple(weight.values()), rest.later)


@final
@dataclass(frozen=True)
class EvenBank(Shown):
    """Every state of a plant, each with the same weight: the bank of who knows nothing. They are not listed, because
    there may be a billion; how many of them contradict so many readings is all that evidence needs."""

    num_candidates: int
    weights: tuple[Fraction, ...] = field(default=(), init=False, repr=False)
    """Those that are listed: none."""
    later: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.num_candidates < 1:
            raise TaskError(f"a bank needs candidates; {self.num_candidates} were given")

    def shown(self) -> Mapping[str, object]:
        return {"states": self.num_candidates, "total": Fraction(1)}

    @property
    def largest(self) -> State:
        """The candidate of the largest number."""
        return self.num_candidates - 1

    def computed(self) -> EvenBank:
        """The bank itself: nothing of it is left for later."""
        return self


def listed_bank(bank: Bank | EvenBank) -> Bank:
    """The bank, where its candidates must be listed."""
    if isinstance(bank, EvenBank):
        raise TaskError("a bank of every state, unlisted, is for Boolean plants all of whose states are hypotheses")
    return bank


def scale_weights(weights: Sequence[Fraction]) -> tuple[int, tuple[int, ...]]:
    """The common denominator of weights, and the weights times it."""
    scale = math.lcm(*(w.denominator for w in weights))
    return scale, tuple(w.numerator * (scale // w.denominator) for w in weights)


def nominal_bank(nominal: State) -> Bank:
    """The nominal alone, with all the weight."""
    return Bank((nominal,), (Fraction(1),))


def uniform_bank(states: Iterable[State]) -> Bank:
    """Candidates of equal weight."""
    listed = tuple(states)
    return Bank(listed, (Fraction(1, max(len(listed), 1)),) * len(listed))


def weighted_bank(weight: Mapping[State, Fraction]) -> Bank:
    """Candidates with the weights given; they need not be scaled to one, and are not."""
    return Bank(tuple(weight), tuple(weight.values()))


def reuse_bank(nominal: State, alpha_nominal: Fraction, alpha: Fraction, later: Callable[[], Bank]) -> Bank:
    """The nominal with weight alpha_nominal / alpha, the rest computed only if it is wanted.

    While only the nominal is scored its term bounds the mixture from below: reaching 1/alpha with it is reaching
    1/alpha_nominal against the nominal alone, so the nominal stage is a lazy evaluation of one mixture. The candidates
    that come later may therefore be scored on the early readings too.
    """
    if not 0 < alpha_nominal < alpha:
        raise TaskError(
            f"the nominal's share is {alpha_nominal} of {alpha}; it must be positive and less than the whole"
        )
    return Bank((nominal,), (Fraction(alpha_nominal) / Fraction(alpha),), later)
