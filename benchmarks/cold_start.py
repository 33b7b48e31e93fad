"""How many readings it takes to find out the whole state of a testbed plant of which nothing is known, and how long.

    python benchmarks/cold_start.py [--runs 20] [--first 0] [--rules look-ahead separating] [--plants 0 1]
        [--bits 30] [--cold-only]

The truth is the true endpoint of a drawn operation, whose log nobody kept: every state is a candidate, evenly. Beside
it stands what the nominal alone takes where it is true, with the same rule, operations and noise. alpha is one in four
million. Readings and seconds of processor are means over the runs.
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import time
from dataclasses import replace
from fractions import Fraction
from itertools import count

from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.look_ahead import LookAhead
from ascertain.evidence.probing import AbstractRule, Separating, round_robin
from ascertain.policy.verdict import Certified
from ascertain.task.bank import Bank, EvenBank, nominal_bank
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.plants import DrawnPlant
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import Testbed, make_testbed

ALPHA = Fraction(1, 4_000_000)


def make_rule(name: str, drawn: DrawnPlant) -> AbstractRule:
    plant, probes = drawn.plant, tuple(drawn.probing)
    makers = {"round-robin": round_robin, "separating": Separating, "look-ahead": LookAhead}
    return makers[name](plant, probes)


def settle(testbed: Testbed, slot: Slot, name: str, cold: bool) -> tuple[int, float]:
    """Readings until the state is certified, and seconds of processor."""
    drawn, operation = testbed.plants[slot.plant], testbed.draw(slot)
    noise, rule, truth = testbed.stream(operation).noise, make_rule(name, drawn), operation.true_endpoint
    bank: Bank | EvenBank = EvenBank(drawn.plant.num_states) if cold else nominal_bank(truth)
    started = time.process_time()
    world, state = BooleanWorld(drawn.plant, bank, ALPHA), truth
    for t in count():
        verdict = world.verdict()
        if verdict is not None:
            assert verdict == Certified(drawn.plant.name_state(truth)), verdict
            return t, time.process_time() - started
        action = rule.choose(world)
        state, tapped = drawn.plant.step(state, action)
        world.observe(action, tapped ^ int(noise[t]))
    raise AssertionError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the number of the first operation")
    parser.add_argument("--rules", nargs="+", default=["look-ahead", "separating", "round-robin"])
    parser.add_argument("--plants", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--bits", type=int, default=24, help="plants that are drawn alike, of another size")
    parser.add_argument("--cold-only", action="store_true")
    options = parser.parse_args()
    testbed = make_testbed(replace(load_settings("testbed"), num_bits=options.bits))
    for plant in options.plants:
        drawn = testbed.plants[plant]
        for name in options.rules:
            for cold in (True,) if options.cold_only else (True, False):
                slots = [
                    Slot("cold start", plant, i % len(testbed.settings.families), i, active=True)
                    for i in range(options.first, options.first + options.runs)
                ]
                found = [settle(testbed, slot, name, cold) for slot in slots]
                readings = [readings for readings, _ in found]
                error = statistics.stdev(readings) / math.sqrt(len(readings)) if len(readings) > 1 else math.nan
                # The first run may have kernels to compile; the median does not see it.
                seconds = statistics.median(seconds for _, seconds in found)
                what = "every state" if cold else "truth alone"
                print(
                    f"{drawn.name:8} {name:12} {what:12} {statistics.fmean(readings):6.2f} ± {error:.2f} readings, ",
                    end="",
                )
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
                print(f"{seconds:.2f} s; at most {peak:,.0f} MB so far", flush=True)


if __name__ == "__main__":
    main()
