"""How many readings each action rule takes to certify the nominal on the testbed, and how they fall with the question.

    python benchmarks/probing.py [--acceptances 500] [--tasks 100] [--first 0] [--json FILE]

The nominal is true, the world is every state of the plant, alpha is one in four million. Every rule meets the same
operations and the same noise, which belongs to the position in the stream. The first table asks for the whole state;
the second for the first k bits of it, so that only states that differ there have to be beaten. Operations are numbered;
look-ahead was tuned on numbers 1000 to 1059 of both plants, and `--first 5000` meets none of these.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import count

from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.labelling import Labelling, label_bits
from ascertain.evidence.look_ahead import LookAhead
from ascertain.evidence.probing import AbstractRule, FixedSchedule, Separating, round_robin
from ascertain.policy.verdict import Certified
from ascertain.task.bank import nominal_bank
from ascertain_paper.testbed.operations import DrawnOperation, Slot
from ascertain_paper.testbed.plants import DrawnPlant
from ascertain_paper.testbed.streams import Stream
from ascertain_paper.testbed.testbed import Testbed, load_testbed

ALPHA = Fraction(1, 4_000_000)
BITS = (24, 16, 12, 8, 6, 4, 2, 1)


def rules(drawn: DrawnPlant, stream: Stream) -> dict[str, AbstractRule]:
    """The rules that are compared, by name."""
    plant, probes = drawn.plant, tuple(drawn.probing)
    return {
        "fixed schedule": FixedSchedule(tuple(stream.schedule.tolist())),
        "round-robin": round_robin(plant, probes),
        "separating, greedy": Separating(plant, probes, depth=1),
        "separating": Separating(plant, probes),
        "look-ahead": LookAhead(plant, probes),
    }


def accept(
    drawn: DrawnPlant, operation: DrawnOperation, stream: Stream, rule: AbstractRule, label: Labelling | None
) -> int:
    """Readings until the nominal's label is certified; more than the stream holds are an error of the benchmark."""
    plant, state = drawn.plant, operation.nominal_endpoint
    world = BooleanWorld(plant, nominal_bank(state), ALPHA, labelling=label)
    expected = world.labelling.name(world.labelling.code_of(state))
    for t in count():
        verdict = world.verdict()
        if verdict is not None:
            assert verdict == Certified(expected), (verdict, expected)
            return t
        action = rule.choose(world)
        state, tapped = plant.step(state, action)
        world.observe(action, tapped ^ int(stream.noise[t]))
    raise AssertionError


def measure(
    testbed: Testbed,
    plant: int,
    acceptances: int,
    make: Callable[[DrawnPlant, Stream], AbstractRule],
    label: Labelling | None,
    first: int = 0,
) -> tuple[float, float, float]:
    """Mean readings, the standard error of the mean, and seconds of processor an acceptance."""
    drawn = testbed.plants[plant]
    started = time.process_time()
    taken: list[int] = []
    for i in range(first, first + acceptances):
        operation = testbed.draw(Slot("probing", plant, i % len(testbed.settings.families), i, active=False))
        stream = testbed.stream(operation)
        taken.append(accept(drawn, operation, stream, make(drawn, stream), label))
    seconds = (time.process_time() - started) / acceptances
    return statistics.fmean(taken), statistics.stdev(taken) / math.sqrt(acceptances), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--acceptances", type=int, default=500)
    parser.add_argument("--tasks", type=int, default=100, help="acceptances for each number of bits asked for")
    parser.add_argument("--first", type=int, default=0, help="the number of the first operation")
    parser.add_argument("--json", help="write the figures here as well")
    options = parser.parse_args()
    testbed = load_testbed()
    record: list[dict[str, object]] = []

    def row(plant: int, name: str, bits: int, number: int, label: Labelling | None) -> None:
        mean, error, seconds = measure(testbed, plant, number, lambda d, s: rules(d, s)[name], label, options.first)
        print(f"{testbed.plants[plant].name:8} {name:20} {bits:3} {mean:7.2f} ± {error:.2f} readings, {seconds:.3f} s")
        record.append({"plant": plant, "rule": name, "bits": bits, "acceptances": number, "mean": mean, "error": error})

    for plant in range(len(testbed.plants)):
        for name in ("fixed schedule", "round-robin", "separating, greedy", "separating", "look-ahead"):
            row(plant, name, 24, options.acceptances, None)
    for plant, drawn in enumerate(testbed.plants):
        for bits in BITS:
            for name in ("round-robin", "separating", "look-ahead"):
                row(plant, name, bits, options.tasks, label_bits(drawn.plant, range(bits)))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"settings": testbed.settings.hash, "alpha": str(ALPHA), "rows": record}, file, indent=1)


if __name__ == "__main__":
    main()
