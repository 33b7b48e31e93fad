"""How many readings the weights of a bank cost or save on the testbed: the figures of docs/bank.md.

    python benchmarks/weights.py [--blocks 5] [--shells 8]

The operations are active ones, a block of them at a time, and the truth is their true endpoint; then as many inactive
ones, whose truth is the nominal. The world is every state of the plant, alpha is one in four million, probes follow
the operation's own schedule. Every weighting meets the same operations and the same noise, so that differences are
paired. "all on the truth" is what no observer can do: the least that any weighting could take.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from ascertain.bank.candidates import Compiled
from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.bank.weights import DEFAULT, EQUAL, WEIGHTINGS, Weighting
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.policy.verdict import Certified
from ascertain.task.bank import Bank, nominal_bank
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.testbed import Testbed, load_testbed

ALPHA = Fraction(1, 4_000_000)
SHARES = (Fraction(1, 16), Fraction(1, 2))
EVERYTHING = 10**6
"""More shells than any operation has."""
BASE = "uniform over all shells"

Maker = Callable[[Compiled, DrawnOperation], Bank]


def banks(shells: int) -> dict[str, Maker]:
    """What is compared, by name."""

    def make(weighting: Weighting, limit: int) -> Maker:
        return lambda compiled, _: bank_shells(compiled, limit, weighting)

    found: dict[str, Maker] = {BASE: make(WEIGHTINGS["uniform"], EVERYTHING)}
    for name, weighting in WEIGHTINGS.items():
        for share in () if weighting is EQUAL else SHARES:
            found[f"{name}, {shells} shells, nominal {share}"] = make(replace(weighting, nominal=share), shells)
    found["equal, all shells"] = make(EQUAL, EVERYTHING)
    found["inverse_cube, all shells, nominal 1/16"] = make(DEFAULT, EVERYTHING)
    found["all on the truth"] = lambda _, operation: nominal_bank(operation.true_endpoint)
    return found


def operations(testbed: Testbed, blocks: int, active: bool) -> Iterator[DrawnOperation]:
    for block in range(blocks):
        for slot in testbed.block_slots("weights", block):
            yield testbed.draw(replace(slot, active=active))


def count_readings(testbed: Testbed, operation: DrawnOperation, bank: Bank) -> int | None:
    """Readings until the true endpoint is certified; None when the stream ends before."""
    drawn, stream = testbed.plants[operation.slot.plant], testbed.stream(operation)
    world = BooleanWorld(drawn.plant, bank, ALPHA)
    _, readings = stream.read(drawn, operation.true_endpoint)
    for t, (action, reading) in enumerate(zip(stream.schedule.tolist(), readings.tolist(), strict=True), start=1):
        world.observe(action, reading)
        verdict = world.verdict()
        if verdict is not None:
            assert verdict == Certified(drawn.plant.name_state(operation.true_endpoint)), verdict
            return t
    return None


def print_table(testbed: Testbed, blocks: int, shells: int, active: bool) -> None:
    makers = banks(shells)
    taken: dict[str, list[int | None]] = {name: [] for name in makers}
    for operation in operations(testbed, blocks, active):
        compiled = compile_bank(testbed.logged(operation))
        for name, make in makers.items():
            taken[name].append(count_readings(testbed, operation, make(compiled, operation)))
    decided = [i for i in range(len(taken[BASE])) if all(row[i] is not None for row in taken.values())]
    print(f"{'active' if active else 'nominal'}: {len(decided)} of {len(taken[BASE])} certified by all")
    base = [taken[BASE][i] or 0 for i in decided]
    for name, row in taken.items():
        here = [row[i] or 0 for i in decided]
        saved = [b - h for b, h in zip(base, here, strict=True)]
        error = statistics.stdev(saved) / math.sqrt(len(saved))
        missed = sum(x is None for x in row)
        print(f"  {name:45} {statistics.fmean(here):7.2f}  saved {statistics.fmean(saved):5.2f} ± {error:.2f}", end="")
        print(f"  undecided {missed}" if missed else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--shells", type=int, default=8)
    options = parser.parse_args()
    testbed = load_testbed()
    for active in (True, False):
        print_table(testbed, options.blocks, options.shells, active)


if __name__ == "__main__":
    main()
