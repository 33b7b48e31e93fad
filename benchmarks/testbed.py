"""What the testbed's draws are like: the figures of docs/testbed.md.

python benchmarks/testbed.py [--candidates 20000]
"""

from __future__ import annotations

import argparse
import math
import time

from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.testbed import Testbed, load_testbed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=20_000, help="for each active share")
    options = parser.parse_args()
    testbed = load_testbed()
    list(map(testbed.draw, testbed.slots()))  # fills the kernel caches
    begin = time.process_time()
    operations = [testbed.draw(slot) for slot in testbed.slots()]
    drawn = time.process_time()
    for operation in operations:
        testbed.stream(operation)
    print(f"settings {testbed.settings.hash}")
    print(f"{len(operations)} operations in {drawn - begin:.2f} s, streams in {time.process_time() - drawn:.2f} s")
    print_operations(testbed, operations)
    print_families(testbed, operations, options.candidates)


def print_operations(testbed: Testbed, operations: list[DrawnOperation]) -> None:
    """Counts over all operations."""
    settings = testbed.settings
    paths = sum(math.comb(settings.log_length, k) * settings.num_alternatives**k for k in range(3))
    print(f"{sum(operation.active for operation in operations)} active; {paths:,} paths an operation")
    print(f"{sum(operation.rejections for operation in operations)} rejections")


def print_families(testbed: Testbed, operations: list[DrawnOperation], candidates: int) -> None:
    """For each plant and family the active share, and rejections by active + by inactive slots."""
    for plant in range(len(testbed.plants)):
        for number, family in enumerate(testbed.settings.families):
            share = float(testbed.measure_activity(plant, number, candidates))
            here = [o for o in operations if (o.slot.plant, o.slot.family) == (plant, number)]
            passed = [sum(o.rejections for o in here if o.slot.active == active) for active in (True, False)]
            print(f"plant {plant}  {family.name:12} {share:6.1%} active, rejections {passed[0]} + {passed[1]}")


if __name__ == "__main__":
    main()
