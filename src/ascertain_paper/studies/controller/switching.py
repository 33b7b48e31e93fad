"""When the nominal is given up: how soon the readings contradict it, and when the trigger has come how far.

Readings that the nominal explains say nothing against it, so that no rule can leave it before they contradict it. What
the paper leaves open, the trigger's numerator and the level of formal rejection, is varied here: T as it is used, and
T of each single q of its mixture, against levels that belong to the thresholds and to smaller beta_nom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from ascertain.evidence.trigger import MIXTURE, Trigger
from ascertain.model.boolean import BooleanPlant
from ascertain.report.tables import Cell, Table
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.streams import Stream

LEVELS = (1, 11, 101, 1_000, 10_000, 1_000_000)
"""1 + lambda of the first three thresholds, then 1/beta_nom: ours and two that are stricter."""
TIMES = ("once", "twice", "three times")
NUMERATORS = {"mixture": MIXTURE, **{f"q = {q}": (q,) for q in MIXTURE}}


def watch_switching(plant: BooleanPlant, operation: DrawnOperation, stream: Stream) -> dict[str, Any]:
    """After how many readings the nominal is contradicted so often, and T exceeds each level; None: never."""
    triggers = {name: Trigger(plant, operation.nominal_endpoint, qs) for name, qs in NUMERATORS.items()}
    reached: dict[str, list[int | None]] = {name: [None] * len(LEVELS) for name in triggers}
    contradicted: list[int] = []
    state, nominal = operation.true_endpoint, operation.nominal_endpoint
    for number, (command, noise) in enumerate(zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True), 1):
        (state, tapped), (nominal, expected) = plant.step(state, command), plant.step(nominal, command)
        if tapped ^ noise != expected:
            contradicted.append(number)
        for name, trigger in triggers.items():
            trigger.observe(command, tapped ^ noise)
            for place, level in enumerate(LEVELS):
                if reached[name][place] is None and trigger.exceeds(Fraction(level)):
                    reached[name][place] = number
        if len(contradicted) >= len(TIMES) and all(levels[-1] is not None for levels in reached.values()):
            break
    padded: list[int | None] = [*contradicted, *[None] * len(TIMES)]
    return {"contradicted": padded[: len(TIMES)], "reached": reached}


def median_contradicted(watched: Sequence[Mapping[str, Any]], times: int) -> float | None:
    """The median number of readings after which the nominal has been contradicted so often."""
    return _median([each["contradicted"][times - 1] for each in watched])


def switching_table(watched: Sequence[Mapping[str, Any]]) -> Table:
    """Medians over active operations."""
    body: list[tuple[Cell, ...]] = [
        (f"the nominal is contradicted {times}", median_contradicted(watched, number), None, None)
        for number, times in enumerate(TIMES, 1)
    ]
    for place, level in enumerate(LEVELS):
        by = {name: _median([each["reached"][name][place] for each in watched]) for name in NUMERATORS}
        single = [(reads, name) for name, reads in by.items() if name != "mixture" and reads is not None]
        body.append((f"the trigger exceeds {level:,}", by["mixture"], *min(single, default=(None, None))))
    return Table(
        "switching",
        "What a switch must wait for, active operations, median reads",
        ("until", "reads", "best single q", "which"),
        tuple(body),
        "The trigger is a mixture over q; the best single one is known afterwards only. Formal rejection is at 1,000, "
        "that is beta_nom = 1/1000; a smaller beta_nom would be one of the rows below.",
    )


def _median(reads: Sequence[int | None]) -> float | None:
    """Never counts as later than any reading; None when the median is never."""
    if not reads:
        return None
    last = max((number for number in reads if number is not None), default=0) + 1
    middle = float(median(last if number is None else number for number in reads))
    return None if middle >= last else middle
