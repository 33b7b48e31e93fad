"""The calibration of a testbed: draw blocks, compile each operation's bank, and rank the truth in it.

Every operation is drawn by its name and compiled by itself, so that the ranks do not depend on the order of work or on
the number of workers. A block is one piece of work.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial

from ascertain.bank.calibration_file import Calibration
from ascertain.bank.shells import Rank
from ascertain.errors import TaskError
from ascertain.pipeline.calibrate import rank_end
from ascertain.types import Progress
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.testbed import Testbed

PURPOSE = "calibration"
"""The name that calibration blocks are drawn under; others, "evaluation" say, are other blocks."""


def calibrate_testbed(
    testbed: Testbed,
    *,
    blocks: int,
    compiler: str = "merging",
    place: int = 1,
    purpose: str = PURPOSE,
    workers: int = 1,
    progress: Progress | None = None,
) -> Calibration:
    """The ranks of the true endpoints of so many blocks and what follows; the same for any number of workers.

    The direct compiler is told to prove as many shells as it does by default; a truth beyond them has infinite rank.
    """
    if not 1 <= place <= blocks:
        raise TaskError(f"the rank in place {place} of {blocks} blocks cannot be taken; at least one block is needed")
    ranked: dict[int, tuple[Rank, ...]] = {}
    engine = start_engine(workers=workers)
    with closing(engine.map(partial(rank_block, testbed, purpose, compiler=compiler), range(blocks))) as ended:
        for block, row in ended:
            ranked[block] = row
            if progress is not None:
                progress(len(ranked), blocks)
    return testbed_calibration(testbed, [ranked[block] for block in range(blocks)], compiler, place, purpose)


def testbed_calibration(
    testbed: Testbed, ranks: Sequence[Sequence[Rank]], compiler: str, place: int = 1, purpose: str = PURPOSE
) -> Calibration:
    """What follows from the ranks in these blocks."""
    settings = testbed.settings
    return Calibration(
        settings=settings.name,
        settings_hash=settings.hash,
        compiler=compiler,
        seeds=tuple(plant.seed for plant in settings.plants),
        strata=tuple(name_stratum(testbed, slot) for slot in testbed.block_slots(purpose, 0)),
        blocks=tuple(f"{purpose} {block}" for block in range(len(ranks))),
        ranks=tuple(tuple(row) for row in ranks),
        place=place,
    )


def name_stratum(testbed: Testbed, slot: Slot) -> str:
    """What a stratum is called: its plant, its family and its number among the active slots of that family."""
    settings = testbed.settings
    return f"{settings.plants[slot.plant].name}, {settings.families[slot.family].name}, {slot.number}"


def rank_block(testbed: Testbed, purpose: str, block: int, compiler: str) -> tuple[Rank, ...]:
    """The rank of the true endpoint of each operation of a block, in the order of strata."""
    return tuple(rank_truth(testbed, slot, compiler) for slot in testbed.block_slots(purpose, block))


def rank_truth(testbed: Testbed, slot: Slot, compiler: str = "merging") -> Rank:
    """The rank of one operation's true endpoint."""
    operation = testbed.draw(slot)
    return rank_end(testbed.logged(operation), operation.true_endpoint, compiler)
