"""A noisy machine: transitions as in a machine, but what is read is random with a law known exactly.

K(y | s, a) is the probability of reading y when action a is done in state s. Laws are kept once each:
`laws[law[s, a]]` lists the readings of positive probability in ascending order, so that two laws are equal exactly
when their numbers are.

*Noise as a bound.* Often no law is known, only that an error has probability at most f, given the past, and may go to
whatever reading the action can give. A machine with `at_most` says that: each law then names what is predicted, its
reading of probability 1 - f, and what else the action can give, the same in every state. Evidence, certificates and
the checker use no more of it. Simulated plants, the trigger and probing rules take the law as it stands, in which
errors are spread evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.hidden import check_masses
from ascertain.model.machine import Machine
from ascertain.model.tables import AbstractMachine, Law
from ascertain.rational import Number, rational_field
from ascertain.types import UNDEFINED, Action, IntArray, Reading, State


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyMachine(AbstractMachine):
    """`law[s, a]` is the number, in `laws`, of the law of the reading; -1 where a is not defined."""

    law: IntArray
    laws: tuple[Law, ...]
    at_most: Fraction | None = None
    """The bound on the probability of an error, where the laws are no more than that."""
    lost: tuple[Reading, Fraction] | None = None
    """With a bound: the reading that stands for a lost one, and the bound on the probability that one is lost."""
    kind: ClassVar[str] = "noisy"
    table_field: ClassVar[str] = "law"

    def __post_init__(self) -> None:
        super().__post_init__()
        for law in self.laws:
            check_law(law, len(self.readings))
        if len(set(self.laws)) < len(self.laws):
            raise ModelError("a reading law is listed twice; each law must stand once")
        if self.at_most is not None:
            self._check_bound(self.at_most)

    def _check_bound(self, bound: Fraction) -> None:
        """Each law says what is predicted, and in every state an action can give the same."""
        if not 0 < bound < Fraction(1, 2):
            raise ModelError(f"at_most is {bound}; a probability of more than 0 and less than 1/2 is needed")
        if self.lost is not None and not 0 < self.lost[1] < 1 - bound / (1 - bound):
            raise ModelError(f"lost is {self.lost[1]}; a probability is needed with (1 - at_most) (1 - lost) > at_most")
        for a, action in enumerate(self.actions):
            used = {int(k) for k in np.unique(self.law[:, a])} - {UNDEFINED}
            if len({tuple(y for y, _ in self.laws[k]) for k in used}) > 1:
                raise ModelError(f"at_most: action {action!r} can give other readings in one state than in another")
            if any(self._predicted(self.laws[k]) is None for k in used):
                raise ModelError(f"at_most: a law of action {action!r} does not say what is predicted")

    def _predicted(self, law: Law) -> Reading | None:
        """The reading that a law says is right, by its probability; None where it says none."""
        silence, loss = self.lost or (None, Fraction(0))
        f = self.at_most or Fraction(0)
        if len(law) == 1:
            return law[0][0]
        right = [y for y, p in law if p == (1 - f * (1 - loss) if y == silence else (1 - f) * (1 - loss))]
        return right[0] if len(right) == 1 else None

    @property
    def scores(self) -> tuple[Law, ...]:
        """Where noise is a bound f: (1-f) for what is predicted and f for all else. Only ratios at one reading count.

        So the factor of c against z is 1 where they predict alike, and where they differ (1-f)/f at c's reading,
        f/(1-f) at z's, and 1 at a third: of mean at most 1 under z whatever an error turns into. Where readings may be
        lost too, with l the bound on that and m = (1-f)(1-l), what is predicted counts 1 and all else f/m, but silence
        counts (1-m)/(1-f) in a state that does not predict it (`docs/evidence.md`).
        """
        f = self.at_most
        if f is None:
            return self.laws
        silence, loss = self.lost or (None, Fraction(0))
        m = (1 - f) * (1 - loss)
        right, wrong, silent = (1 - f, f, f) if self.lost is None else (Fraction(1), f / m, (1 - m) / (1 - f))
        scores: list[Law] = []
        for law in self.laws:
            shown = self._predicted(law)
            other = {y: silent if y == silence else wrong for y, _ in law}
            scores.append(
                tuple((y, (right if len(law) > 1 else Fraction(1)) if y == shown else other[y]) for y, _ in law)
            )
        return tuple(scores)

    @property
    def noise_bound(self) -> Fraction | None:
        return self.at_most

    def spread_noise(self, state: State, action: Action) -> tuple[tuple[Fraction, tuple[Reading, ...]], ...]:
        """With a bound: what is predicted for certain, what may be lost, and what may become any reading."""
        law = self.law_at(state, action)
        shown = self._predicted(law)
        if self.at_most is None or shown is None or len(law) == 1:
            return super().spread_noise(state, action)
        f, (silence, loss) = self.at_most, self.lost or (shown, Fraction(0))
        anything = (shown, *(y for y, _ in law if y != shown))
        lost = (((1 - f) * loss, (shown, silence)),) if loss else ()
        return (((1 - f) * (1 - loss), (shown,)), *lost, (f, anything))

    def named_behaviour(self, behaviour: int) -> dict[str, str]:
        return {self.readings[y]: str(p) for y, p in self.laws[behaviour]}

    def certain_behaviour(self, reading: Reading) -> tuple[int, dict[str, Any]]:
        law: Law = ((reading, Fraction(1)),)
        laws = self.laws if law in self.laws else (*self.laws, law)
        return laws.index(law), {"laws": laws}

    def model_data(self) -> dict[str, Any]:
        laws = [[[y, str(p)] for y, p in law] for law in self.laws]
        # Left out where there is none, so that the hashes of other tasks are what they were.
        bound = {} if self.at_most is None else {"at_most": str(self.at_most)}
        lost = {} if self.lost is None else {"lost": [self.lost[0], str(self.lost[1])]}
        return super().model_data() | {"laws": laws} | bound | lost

    def named_data(self) -> dict[str, Any]:
        """The laws are listed unless a reader numbers them as they are numbered here: by the first transition of each.

        A model without transitions is marked as noisy by its laws.
        """
        if self.at_most is not None:
            raise ModelError(
                "a model file says no bound on noise; write the machine, and [noise] at_most in a problem file"
            )
        shown = list(dict.fromkeys(self.law[self.defined].tolist()))
        in_order = bool(shown) and shown == list(range(len(self.laws)))
        listed = {} if in_order else {"laws": [self.named_behaviour(k) for k in range(len(self.laws))]}
        return super().named_data() | listed


def without_noise(noisy: NoisyMachine) -> Machine:
    """A noisy machine whose laws are all certain, as a machine."""
    certain = np.array([*(law[0][0] for law in noisy.laws), UNDEFINED], dtype=np.int32)
    return Machine(**noisy.skeleton, output=certain[noisy.law])


def check_law(law: Law, num_readings: int) -> None:
    """A law lists readings in ascending order with positive probabilities that sum to one."""
    readings = [y for y, _ in law]
    if readings != sorted(set(readings)) or not all(0 <= y < num_readings for y in readings):
        raise ModelError(f"a reading law must list readings 0 .. {num_readings - 1} in ascending order; got {readings}")
    check_masses([p for _, p in law], "a reading law")


def make_law(probabilities: dict[Reading, Fraction]) -> Law:
    """The canonical form of a law: ascending, without zeros."""
    return tuple(sorted((y, Fraction(p)) for y, p in probabilities.items() if p != 0))


def total_variation(law: Law, other: Law) -> Fraction:
    """The largest difference of the two probabilities of one event: half the sum of |p - q|."""
    against = dict(other)
    return sum((max(p - against.get(y, Fraction(0)), Fraction(0)) for y, p in law), Fraction(0))


def with_bound(machine: AbstractMachine, at_most: Number) -> NoisyMachine:
    """Each reading is wrong with probability at most `at_most` given the past; it is then any that the action gives."""
    bound = rational_field(at_most, "at_most", ModelError)
    if not 0 < bound < Fraction(1, 2):
        raise ModelError(f"at_most is {bound}; a probability of more than 0 and less than 1/2 is needed")
    return replace(with_flip(machine, bound), at_most=bound)


def with_losses(machine: AbstractMachine, at_most: Number, lost: Number, reads: str) -> NoisyMachine:
    """As `with_bound`; then any reading may become `reads`, with probability at most `lost`, depending on it or not."""
    f, loss = (rational_field(x, name, ModelError) for x, name in ((at_most, "at_most"), (lost, "lost")))
    if not (0 < f < Fraction(1, 2) and 0 < loss < 1):
        raise ModelError(f"at_most is {f} and lost {loss}; probabilities of more than 0 are needed, at_most below 1/2")
    readings = machine.readings if reads in machine.readings else (*machine.readings, reads)
    silence = readings.index(reads)

    def lose(reading: Reading, others: list[Reading]) -> Law:
        kept = {z: p * (1 - loss) for z, p in flip_reading(reading, others, f) if z != silence}
        return make_law({**kept, silence: 1 - sum(kept.values(), Fraction(0))})

    tables = _tabulate_laws(machine, lose, {silence})
    return NoisyMachine(**{**machine.skeleton, "readings": readings}, **tables, at_most=f, lost=(silence, loss))


def with_flip(machine: AbstractMachine, flip: Number) -> NoisyMachine:
    """Each reading is replaced, with probability `flip`, by one of the others the same action can give, uniformly.

    What an action can give is what it gives in some state of this machine; an action that can give one reading only
    is never flipped.
    """
    if not machine.is_exact:
        raise ModelError("flip is for a machine without noise; this model says its noise itself")
    flip = rational_field(flip, "flip", ModelError)
    if not 0 <= flip < 1:
        raise ModelError(f"flip is {flip}; a probability in [0, 1) is needed")
    return NoisyMachine(**machine.skeleton, **_tabulate_laws(machine, lambda y, others: flip_reading(y, others, flip)))


def flip_reading(reading: Reading, others: Sequence[Reading], flip: Fraction) -> Law:
    """The law of a reading that is replaced, with probability `flip`, by one of the others, uniformly, if any."""
    share = flip / len(others) if others else Fraction(0)
    return make_law({reading: 1 - share * len(others), **dict.fromkeys(others, share)})


def _tabulate_laws(
    machine: AbstractMachine, law_of: Callable[[Reading, list[Reading]], Law], also: Set[Reading] = frozenset()
) -> dict[str, Any]:
    """The laws by what is read without noise, and by what else its action, or any action (`also`), can give."""
    number: dict[Law, int] = {}
    law = np.full_like(machine.behaviour, UNDEFINED)
    for a in range(machine.num_actions):
        column = machine.behaviour[:, a]
        shown = [int(y) for y in np.unique(column[column != UNDEFINED])]
        for y in shown:
            others = sorted({*shown, *also} - {y})
            law[column == y, a] = number.setdefault(law_of(y, others), len(number))
    return {"law": law, "laws": tuple(number)}
