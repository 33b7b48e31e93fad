"""The testbed: the plants, the operations to be decided, the blocks of the large benchmark, and what they are like.

The *prospective* operations are six for each plant and family, as many of them active as the family's quota says. A
*block* of the large benchmark holds one active operation for each stratum, that is for each quota slot of all plants
and families. Each is drawn by itself, from its name and the settings: order and number of workers change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from ascertain.bank.operation import Operation
from ascertain_paper.testbed.operations import BATCH, DrawnOperation, Slot, draw_candidates, draw_operation
from ascertain_paper.testbed.plants import DrawnPlant, draw_plant
from ascertain_paper.testbed.settings import Settings, load_settings
from ascertain_paper.testbed.streams import Stream, draw_stream


@final
@dataclass(frozen=True)
class Testbed:
    """Settings and the plants drawn from them; operations and streams are drawn when asked for."""

    __test__ = False  # to pytest the name begins like that of a class of tests

    settings: Settings
    plants: tuple[DrawnPlant, ...]

    def slots(self) -> Iterator[Slot]:
        """The places of the prospective operations, in order: plant, family, active ones first."""
        for plant in range(len(self.plants)):
            for number, family in enumerate(self.settings.families):
                for slot in range(self.settings.operations_per_family):
                    yield Slot("prospective", plant, number, slot, active=slot < family.active)

    def block_slots(self, purpose: str, block: int) -> Iterator[Slot]:
        """The places of one block of the large benchmark, one for each stratum; `purpose` keeps blocks apart."""
        for plant, family, slot in self.settings.strata:
            yield Slot(purpose, plant, family, slot, active=True, block=block)

    def draw(self, slot: Slot) -> DrawnOperation:
        """The operation of a slot."""
        return draw_operation(self.settings, self.plants[slot.plant], slot)

    def logged(self, operation: DrawnOperation) -> Operation:
        """The operation as an observer is shown it."""
        return operation.logged(self.settings, self.plants[operation.slot.plant].plant)

    def stream(self, operation: DrawnOperation) -> Stream:
        """The fresh stream that follows an operation."""
        return draw_stream(self.settings, self.plants[operation.slot.plant], operation)

    def measure_activity(self, plant: int, family: int, count: int) -> Fraction:
        """The share of active ones among `count` candidates, rounded up to whole batches, as they are drawn."""
        active, batches = 0, -(-count // BATCH)
        for batch in range(batches):
            name = f"{self.settings.draws}, activity, plant {plant}, family {family}, batch {batch}"
            drawn = draw_candidates(self.settings, self.plants[plant], family, name)
            active += int((drawn.distance >= self.settings.active_distance).sum())
        return Fraction(active, BATCH * batches)


def load_testbed(name: str = "testbed") -> Testbed:
    """The testbed whose settings are shipped under that name."""
    return make_testbed(load_settings(name))


def make_testbed(settings: Settings) -> Testbed:
    """The testbed of given settings."""
    return Testbed(settings, tuple(draw_plant(settings, number) for number in range(len(settings.plants))))
