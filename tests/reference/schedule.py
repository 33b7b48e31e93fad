"""Atomic fallback: compiling a bank little by little between readings is never cheaper than all at once or not at all.

Throughout, a *record* is what one run did, in order: it read (at a cost), it did a microstep of the compilation (at a
cost), it used the finished bank. Compiling takes the microsteps 0 .. m-1, of a target fixed beforehand; a run may do
any of them at any time, some of them twice, and may drop the work and start again.

**Theorem** (Theorem 4.2 of the paper). Assume that the target is fixed before the first fresh reading, that nothing is
learnt from an unfinished bank, that computing shows nothing of the plant, and that costs add up, with no deadline.
Then for every record there is an *atomic* one, with the same readings in the same order and the same uses, that costs
no more: it does not compile at all if the bank is not used, and otherwise compiles in one piece, right before the first
use.

*Proof.* What is read and decided depends on readings and, from its first use on, on the finished bank, not on progress.
So microsteps may be moved past readings. Without a use all of them can be deleted. With one, each of 0 .. m-1 was done
before it, or the bank was not finished; keep one of each, a cheapest, and move them to right before the use. Costs are
not negative, so deleting the others does not make it dearer. The place of the block is that of the first use, which
is determined by the readings before it: the atomic records of all paths are those of one policy.

The theorem does *not* apply to a caller that takes shells one at a time and looks at the first before the second is
compiled: that is usable intermediate output, and such a caller may well be cheaper. A record in which the bank is used
before it is finished is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.errors import TaskError
from ascertain.types import Action, Reading


@final
@dataclass(frozen=True)
class Read:
    """An action was done and read; None when the reading is missing."""

    action: Action
    reading: Reading | None
    cost: Fraction = Fraction(1)


@final
@dataclass(frozen=True)
class Compile:
    """A microstep of the compilation was done, by its number."""

    microstep: int
    cost: Fraction = Fraction(1)


@final
@dataclass(frozen=True)
class Use:
    """The finished bank was used."""


Deed: TypeAlias = Read | Compile | Use


@final
@dataclass(frozen=True)
class Record:
    """What a run did, in order, and how many microsteps finish the bank."""

    deeds: tuple[Deed, ...]
    num_microsteps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "deeds", tuple(self.deeds))
        done: set[int] = set()
        for deed in self.deeds:
            if isinstance(deed, Compile):
                done.add(self._check_microstep(deed))
            elif isinstance(deed, Use) and len(done) < self.num_microsteps:
                raise TaskError(
                    f"the bank is used after {len(done)} of {self.num_microsteps} microsteps; the theorem is about "
                    "banks without usable intermediate output, not about a caller that takes shells one at a time"
                )
            elif isinstance(deed, Read) and deed.cost < 0:
                raise TaskError(f"a reading costs {deed.cost}; costs are not negative")

    def _check_microstep(self, deed: Compile) -> int:
        if not 0 <= deed.microstep < self.num_microsteps or deed.cost < 0:
            raise TaskError(
                f"microstep {deed.microstep} at a cost of {deed.cost}: microsteps are 0 .. {self.num_microsteps - 1}, "
                "costs not negative"
            )
        return deed.microstep

    @property
    def cost(self) -> Fraction:
        return sum((deed.cost for deed in self.deeds if not isinstance(deed, Use)), Fraction(0))

    @property
    def reads(self) -> tuple[Read, ...]:
        return tuple(deed for deed in self.deeds if isinstance(deed, Read))

    @property
    def uses(self) -> tuple[int, ...]:
        """For each use, how many readings came before it."""
        places: list[int] = []
        reads = 0
        for deed in self.deeds:
            reads += isinstance(deed, Read)
            if isinstance(deed, Use):
                places.append(reads)
        return tuple(places)

    @property
    def is_atomic(self) -> bool:
        """Whether it does not compile at all, or in one piece without waste right before the first use."""
        places = [i for i, deed in enumerate(self.deeds) if isinstance(deed, Compile)]
        if not places:
            return True
        end = places[0] + self.num_microsteps
        in_one_piece = places == list(range(places[0], end))
        return in_one_piece and end < len(self.deeds) and isinstance(self.deeds[end], Use) and len(self.uses) > 0


def make_atomic(record: Record) -> Record:
    """The atomic record of the theorem: the same readings and uses, at no greater cost."""
    first = next((i for i, deed in enumerate(record.deeds) if isinstance(deed, Use)), None)
    if first is None:
        return Record(_without_compiling(record.deeds), record.num_microsteps)
    before, after = record.deeds[:first], record.deeds[first:]
    block = _cheapest_of_each(before, record.num_microsteps)
    return Record((*_without_compiling(before), *block, *_without_compiling(after)), record.num_microsteps)


def _without_compiling(deeds: Iterable[Deed]) -> tuple[Deed, ...]:
    return tuple(deed for deed in deeds if not isinstance(deed, Compile))


def _cheapest_of_each(deeds: Sequence[Deed], num_microsteps: int) -> tuple[Compile, ...]:
    """One of each microstep, the first of its cheapest, in ascending order."""
    best: dict[int, Compile] = {}
    for deed in deeds:
        if isinstance(deed, Compile) and (deed.microstep not in best or deed.cost < best[deed.microstep].cost):
            best[deed.microstep] = deed
    return tuple(best[i] for i in range(num_microsteps))
