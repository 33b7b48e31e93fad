"""Every state of a Boolean plant, to 30 bits, as a world.

Nothing is filtered until something is asked. Then all states go through the whole history in one bit-sliced sweep, part
by part, and what is left is listed: exactly, because a state once beaten stays beaten. When the list is short enough
it is kept, and further readings filter it one by one; otherwise it is made again, from the start, when next asked for.

Whether to go on can mostly be said without a sweep. The world keeps *witnesses*, some states that are not beaten: as
long as two of them differ in label, no answer is possible. The first witnesses are the candidates and the states one
or two bits away from them, which tend to hold out the longest; each sweep finds new ones. Rules that only want to know
what to probe next are given the strongest witnesses until a list is likely to be short, or, if they have an order of
their own, the first of a wider *circle* around the candidates. Where every state is a candidate the evidence counts for
all of them anyway, and the witnesses are the strongest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import cast, final

import numpy as np

from ascertain.errors import LimitError
from ascertain.evidence.census import encode_steps
from ascertain.evidence.even import EvenEvidence
from ascertain.evidence.evidence import MAX_WITNESSES, AbstractFlipEvidence, Doubts, FlipEvidence, Step, near_candidates
from ascertain.evidence.groups import Group, Rank, by_penalty, find_two_labels, keep_strongest, merge_groups
from ascertain.evidence.labelling import Labelling, label_states
from ascertain.evidence.worlds import AbstractStateWorld, Glance, cut_blocks
from ascertain.kernels.evidence.worlds import TILE, Listed, Room, Steps, sweep_states
from ascertain.model.boolean import BooleanPlant
from ascertain.task.bank import Bank, EvenBank
from ascertain.types import BoolArray, WordArray

MAX_WORLD_BITS = 30
"""A sweep takes time in proportion to the states: for 64 readings some 13 ms with 24 bits, about a second with 30."""
SWEPT_BITS = 12
"""Of a plant that is swept whenever it is of use to know all that is left: 4,096 states, less than a millisecond."""
PART_WORDS = 1 << 12
"""Words, of 64 states each, that are swept in one call of the kernel: milliseconds, so that Ctrl-C is heard soon."""
KEPT = 1 << 19
"""The longest list that is kept: one reading filters it in milliseconds, quicker than another sweep."""
REACH = 4
"""Bits by which the circle around a candidate differs from it: rivals so near are hard to drive away, and with 24 bits
there are 12,951 of them."""
MAX_CIRCLE = 1 << 14
"""The circle is filtered at every reading too, as long as there is no list."""
SHARED = 5
"""For every so many bits that do not change the label, a list waits until half as many states are expected: on the
testbed it then has about as many as can be kept."""
FEW_WITNESSES = 1 << 6
"""A sweep looks for new witnesses when fewer are left: these would soon be beaten, and each loss may cost a sweep."""


@final
class BooleanWorld(AbstractStateWorld):
    """An open world: hypothesis z began in state z, whichever it is."""

    def __init__(
        self,
        plant: BooleanPlant,
        bank: Bank | EvenBank,
        alpha: Fraction,
        *,
        labelling: Labelling | None = None,
        doubts: Doubts | None = None,
    ) -> None:
        if plant.num_bits > MAX_WORLD_BITS:
            raise LimitError(
                f"the plant has {plant.num_bits} bits; worlds of at most {MAX_WORLD_BITS} are filtered whole"
            )
        self._plant = plant
        even = isinstance(bank, EvenBank)
        evidence = EvenEvidence(plant, bank, alpha, doubts) if even else FlipEvidence(plant, bank, alpha, doubts)
        super().__init__(plant, evidence, labelling or label_states(plant.name_state))
        self._restart()

    def _restart(self) -> None:
        self._thresholds: list[int] = []
        self._left: list[Group] | None = None
        self._worth_sweeping: float = KEPT
        self._witnesses = self._flips.first_witnesses()
        bank = self.evidence.bank
        self._circle = (
            [] if isinstance(bank, EvenBank) else [near_candidates(bank, self._plant.num_bits, REACH, MAX_CIRCLE)]
        )

    @property
    def _flips(self) -> AbstractFlipEvidence:
        return cast("AbstractFlipEvidence", self.evidence)

    def _state_of(self, hypothesis: WordArray) -> WordArray:
        return hypothesis

    def _advance(self, step: Step) -> None:
        self._thresholds.append(self.evidence.threshold)
        if self._left is not None:
            self._left = self._filter(self._left, step)
        else:
            self._witnesses = self._flips.strongest() or self._filter(self._witnesses, step)
            self._circle = self._filter(self._circle, step)

    def _some_labels(self) -> set[int]:
        if self._left is None:
            witnessed = find_two_labels(self.codes(group) for group in self._witnesses)
            if len(witnessed) > 1:
                return witnessed
        return super()._some_labels()

    def _blocks(self) -> Iterator[Group]:
        yield from self._sweep() if self._left is None else cut_blocks(self._left)

    def list_left(self, limit: int) -> list[Group] | None:
        # A large plant is not swept for this: it is asked after every reading, and most sweeps would be for nothing.
        return None if self._left is None and self._plant.num_bits > SWEPT_BITS else super().list_left(limit)

    def likely_rivals(self, label: int, limit: int, rank: Rank | None = None) -> list[Group]:
        # Of states that share labels far more hold out than of states at random, so that a list is long for longer.
        worth = self._worth_sweeping / (1 if rank is None else 2 ** (self._num_silent / SHARED))
        if self._left is None and self._expect_left() > worth:
            near = self._witnesses if rank is None else self._circle or self._witnesses
            rivals = [group.only(self.codes(group) != np.uint64(label)) for group in near]
            strongest = keep_strongest(rivals, limit, rank or by_penalty)
            if strongest:
                return strongest
        if rank is None or self._left is not None:
            found = self.strongest_rivals(label, limit, rank or by_penalty)
        else:
            # With few labels the circle runs out of rivals long before the world does: it is drawn anew.
            self._circle = self.strongest_rivals(label, max(limit, MAX_CIRCLE), rank)
            found = keep_strongest(self._circle, limit, rank)
        # A sweep that left too many to keep is not worth repeating before a quarter of these is expected.
        if self._left is None:
            self._worth_sweeping = self._expect_left() / 4
        return found

    @cached_property
    def _num_silent(self) -> int:
        """How many bits there are that alone do not change the label of the state 0."""
        codes = self.labelling.code(np.append(0, 1 << np.arange(self._plant.num_bits)).astype(np.uint64))
        return int(np.count_nonzero(codes[1:] == codes[0]))

    def glance(self, label: int) -> Glance:
        if self._left is not None:
            return super().glance(label)
        rivals = [group.only(self.codes(group) != np.uint64(label)) for group in self._witnesses]
        least = min((int(group.penalty.min()) for group in rivals if group.size), default=None)
        return Glance(None, math.inf if least is None else self.evidence.nats(least))

    def may_be_in(self, test: Callable[[WordArray], BoolArray]) -> bool:
        if self._left is None and any(bool(test(group.current).any()) for group in self._witnesses):
            return True
        return super().may_be_in(test)

    def misfits(self, gamma: Fraction) -> bool:
        if self._left is not None or self._stands_still:
            return super().misfits(gamma)
        # Some witness mostly explains the readings. If none does, all that is left is listed, and who does joins them.
        if self.evidence.some_fit(self._witnesses, self._state_of, 1 / gamma):
            return False
        empty = True
        for part in self._blocks():
            empty = empty and not part.size
            if self.evidence.some_fit([part], self._state_of, 1 / gamma):
                fresh = keep_strongest([part], FEW_WITNESSES)
                self._witnesses = keep_strongest([*self._witnesses, *fresh], MAX_WITNESSES)
                return False
        return not empty

    def _expect_left(self) -> float:
        """How many states would be left if each contradicted every other reading, as states drawn at random do."""
        number = sum(step.reading is not None for step in self.history)
        below = min(self.evidence.threshold, number + 1)
        share = sum(math.comb(number, k) for k in range(below)) / 2**number
        return math.ldexp(share, self._plant.num_bits + self.num_doubts)

    def _sweep(self) -> Iterator[Group]:
        """List what is left, part by part. When all parts are taken and they are few, they are kept."""
        kept: list[Group] = []
        total = 0
        history = self.history[: len(self._thresholds)]
        for ran in product((True, False), repeat=sum(not step.certain for step in history)):
            for part in self._sweep_case(history, ran):
                total += part.size
                kept = [*kept, part] if total <= KEPT else []
                self._note_witnesses(part)
                yield part
        if total <= KEPT:
            self._left = merge_groups(kept)

    def _note_witnesses(self, part: Group) -> None:
        """The strongest of a part join the witnesses when these have run low."""
        if sum(group.size for group in self._witnesses) < FEW_WITNESSES:
            known = [group.hypothesis for group in self._witnesses if group.ran == part.ran]
            fresh = part.only(~np.isin(part.hypothesis, np.concatenate(known))) if known else part
            self._witnesses = keep_strongest([*self._witnesses, fresh], MAX_WITNESSES)

    def _sweep_case(self, history: list[Step], ran: tuple[bool, ...]) -> Iterator[Group]:
        num_bits = self._plant.num_bits
        # No count exceeds the number of readings, so a threshold beyond it is as good as the next one.
        threshold = np.minimum(np.array(self._thresholds, dtype=np.int64), len(history) + 1)
        num_planes = max(int(threshold[-1]) - 1, 0).bit_length() if len(history) else 0
        num_words = max(1, (1 << num_bits) // 64)
        steps = Steps(self._plant.circuit, *encode_steps(history, ran), threshold)
        capacity = 64 * 2 * min(PART_WORDS, num_words)
        room = _make_room(num_bits, num_planes, capacity)
        size = 0
        for first in range(0, num_words, PART_WORDS):
            self.world_steps += len(history) * min(64 * PART_WORDS, (1 << num_bits) - 64 * first)
            size = sweep_states(steps, room, first, min(PART_WORDS, num_words - first), size)
            # Whatever is left of the next part fits as long as half of the room is free.
            if size > capacity // 2 or first + PART_WORDS >= num_words:
                hypothesis, current, count = room.listed
                # In a plant of fewer than 6 bits a word holds states that are not there.
                kept = np.flatnonzero(hypothesis[:size] < 1 << num_bits)
                yield Group(ran, hypothesis[kept], current[kept], count[kept])
                size = 0


def _make_room(num_bits: int, num_planes: int, capacity: int) -> Room:
    """The arrays that one sweep works in: room for what is left of two parts, should that be all of them."""
    hypothesis, current = np.empty((2, capacity + 1), dtype=np.uint64)
    return Room(
        tile=np.empty((num_bits, TILE), dtype=np.uint64),
        planes=np.empty((num_planes + 2, TILE), dtype=np.uint64),
        word=np.empty(TILE, dtype=np.int32),
        kept=np.empty(TILE, dtype=np.int32),
        block=np.empty(64, dtype=np.uint64),
        listed=Listed(hypothesis, current, np.empty(capacity + 1, dtype=np.int64)),
    )
