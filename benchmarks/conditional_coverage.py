"""Coverage of calibrated shells by group, and under another mixture of groups, on testbed operations.

    python benchmarks/conditional_coverage.py [--testbed small] [--operations 120] [--calibrated 19] [--trials 2000]

The true endpoints of active operations are ranked, so many of each family, which is known before an operation is looked
at. A trial then draws ranks to calibrate on, and one rank to be covered. *By group*: the same number from each family;
how often is the next operation of that family covered by one number for all families, and by its own? *Weighted*: one
operation in four is of the last family when calibrating, three in four afterwards; how often is the next one covered
with the ranks as they come, and with weights 1/3 and 3? The promise is 1 - 1/20 in each case.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from random import Random

from ascertain.bank.calibrate import calibrate_ranks
from ascertain.bank.conditional import WeightedRank, calibrate_groups, calibrate_weighted
from ascertain.bank.shells import Rank
from ascertain_paper.calibration import rank_truth
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.testbed import load_testbed

MISS = Fraction(1, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--testbed", default="small")
    parser.add_argument("--operations", type=int, default=120, help="ranked operations of each family")
    parser.add_argument("--calibrated", type=int, default=19, help="ranks of each family that a trial calibrates on")
    parser.add_argument("--trials", type=int, default=2000)
    options = parser.parse_args()
    testbed, rng = load_testbed(options.testbed), Random("conditional coverage")
    families = [family.name for family in testbed.settings.families]
    ranks: dict[str, list[Rank]] = {
        name: [
            rank_truth(testbed, Slot("conditional", i % len(testbed.plants), f, i, active=True))
            for i in range(options.operations)
        ]
        for f, name in enumerate(families)
    }
    by_group(families, ranks, options.calibrated, options.trials, rng)
    if len(families) > 1:
        weighted(families, ranks, options.calibrated * len(families), options.trials, rng)


def by_group(families: list[str], ranks: dict[str, list[Rank]], number: int, trials: int, rng: Random) -> None:
    pooled, own = dict.fromkeys(families, 0), dict.fromkeys(families, 0)
    for _ in range(trials):
        drawn = {name: rng.sample(ranks[name], number + 1) for name in families}
        calibration = [(name, rank) for name in families for rank in drawn[name][:-1]]
        place = int(MISS * (len(calibration) + 1)) or 1
        all_of_them = calibrate_ranks([rank for _, rank in calibration], place)
        groups = calibrate_groups(calibration)
        for name in families:
            pooled[name] += all_of_them.covers(drawn[name][-1])
            own[name] += groups[name].covers(drawn[name][-1])
    print(f"by group, {number} ranks each, {trials} trials")
    for name in families:
        print(f"  {name:20} one number for all {pooled[name] / trials:.3f}, its own {own[name] / trials:.3f}")


def weighted(families: list[str], ranks: dict[str, list[Rank]], number: int, trials: int, rng: Random) -> None:
    *usual, rare = families
    plain = heeded = 0
    for _ in range(trials):
        names = [rare if rng.random() < 1 / 4 else rng.choice(usual) for _ in range(number)]
        entries = [(name, rng.choice(ranks[name])) for name in names]
        following = rare if rng.random() < 3 / 4 else rng.choice(usual)
        truth = rng.choice(ranks[following])
        weight = {name: Fraction(3) if name == rare else Fraction(1, 3) for name in families}
        listed = [WeightedRank(rank, weight[name]) for name, rank in entries]
        alike = [WeightedRank(rank, Fraction(1)) for _, rank in entries]
        plain += calibrate_weighted(alike, MISS).covers(truth)
        heeded += calibrate_weighted(listed, MISS, weight[following]).covers(truth)
    print(f"another mixture, {number} ranks, {trials} trials")
    print(f"  without weights {plain / trials:.3f}, with weights {heeded / trials:.3f}")


if __name__ == "__main__":
    main()
