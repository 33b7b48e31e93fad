"""Two stopped transcripts and what they decide: divergences, and exactly when two of them are equal.

Throughout: h is the truth and g another hypothesis; P and Q are the laws of a policy's stopped transcript under them,
and E is an event about how the policy ends. Then d(P(E) || Q(E)) <= KL(P || Q), because E is a function of the
transcript, with equality exactly when P/Q is constant on E and on its complement. Logarithms are enclosed, so that a
strict inequality is proved by two intervals that do not meet; an equality is proved by rational numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias, final

from ascertain.bounds.divergence import ZERO, Interval, binary_entropy, log_interval
from ascertain.model import Model
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.types import State
from ascertain_paper.studies.invariants.chain_rule import list_transcripts

Event: TypeAlias = frozenset[int]
"""Endings: labels that are answered, and NOWHERE for an abstention."""
Finding: TypeAlias = Literal["above", "equal", "violated", "undecided"]


@final
@dataclass(frozen=True)
class Transcripts:
    """Those that h can give, alike ones together: how it ends and P/Q (None where Q is 0), with its probability."""

    weight: Mapping[tuple[int, Fraction | None], Fraction]

    @property
    def divergence(self) -> Interval | None:
        """KL(P || Q); None when infinite."""
        ratios: dict[Fraction | None, Fraction] = {}
        for (_, ratio), p in self.weight.items():
            ratios[ratio] = ratios.get(ratio, Fraction(0)) + p
        total = ZERO
        for ratio, p in ratios.items():
            if ratio is None:
                return None
            total += log_interval(ratio).times(p)
        return total


def gather(model: Model, policy: Automaton, truth: State, rival: State) -> Transcripts:
    """The stopped transcripts of a truth beside a rival."""
    weight: dict[tuple[int, Fraction | None], Fraction] = {}
    for node, p, q in list_transcripts(model, policy, truth, rival):
        key = (ending_of(policy, node), p / q if q else None)
        weight[key] = weight.get(key, Fraction(0)) + p
    return Transcripts(weight)


def ending_of(policy: Automaton, node: int) -> int:
    """The label that is answered at a node where a walk ends, or NOWHERE."""
    return NOWHERE if node == NOWHERE else policy.label[node]


def endings(model: Model, policy: Automaton, truth: State) -> dict[int, Fraction]:
    """The law of how the policy ends."""
    law: dict[int, Fraction] = {}
    for (ending, _), p in gather(model, policy, truth, truth).weight.items():
        law[ending] = law.get(ending, Fraction(0)) + p
    return law


def list_events(law: Mapping[int, Fraction], other: Mapping[int, Fraction]) -> Iterator[Event]:
    """Every event about the ending but the certain ones; of an event and its complement only one."""
    present = sorted({*law, *other})
    for size in range(1, len(present)):
        for chosen in combinations(present[1:], size):
            yield frozenset(chosen)


def chance(law: Mapping[int, Fraction], event: Event) -> Fraction:
    return sum((p for ending, p in law.items() if ending in event), Fraction(0))


def judge(paid: Interval | None, owed: Interval | None, equal: bool) -> Finding:
    """Whether a divergence is at least another one; `equal` says that rationals have proved them equal."""
    if paid is None:
        return "equal" if owed is None else "above"
    if owed is None or paid.high < owed.low:
        return "violated"
    if paid.low > owed.high:
        return "above"
    return "equal" if equal else "undecided"


def judge_event(
    found: Transcripts, paid: Interval | None, event: Event, law: Mapping[int, Fraction], other: Mapping[int, Fraction]
) -> Finding:
    """Whether KL(P || Q), which is `paid`, is at least the divergence of one event."""
    p, q = chance(law, event), chance(other, event)
    return judge(paid, binary_entropy(p, q), _is_equal(found, event, p, q))


def _is_equal(found: Transcripts, event: Event, p: Fraction, q: Fraction) -> bool:
    """Whether P/Q is P(E)/Q(E) wherever h can be on the event, and likewise off it; where these are finite."""
    inside, outside = p / q if q else None, (1 - p) / (1 - q) if q != 1 else None
    return all(ratio == (inside if ending in event else outside) for ending, ratio in found.weight)
