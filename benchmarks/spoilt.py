"""Spoilt certificates of every kind of claim: is anything false ever verified?

    python benchmarks/spoilt.py [NAME ...] [--first SEED] [--part I/N]

Each campaign makes true claims about tiny random tasks, spoils them in many ways and puts whatever is verified to brute
force, to the definition, or to a second checker; it stops with the seed when that says no. All of them together are
more than a million certificates; `--part` does a share of them, with other seeds than any other share.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import (
    test_check_conformance,
    test_check_policy,
    test_check_prices,
    test_check_program,
    test_check_run,
    test_checker_campaign,
    test_followed,
    test_sequences,
    test_shares,
)

from ascertain_check.claims import CLAIMS

WORDS = ("VERIFIED", "REFUTED", "MALFORMED")
Tally = Counter[tuple[str, str]]
"""By kind of claim and verdict."""


def costs(seeds: range) -> Tally:
    """Six kinds, a hundred cases a seed."""
    return test_checker_campaign.run_campaign(seeds.start, len(seeds) * test_checker_campaign.CASES_PER_BASE)


def risks(seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        for (_, word), n in test_check_policy.run_campaign(seed, 1, 50).items():
            tally["within-risk", word] += n
    return tally


def prices(seeds: range) -> Tally:
    found = test_check_prices.campaign(seeds, 400)
    return Counter({(key.split()[0], key.split()[1]): n for key, n in found.items()})


def runs(seeds: range) -> Tally:
    """Of the three of a seed the first is not spoilt."""
    tally = Tally()
    for (word, _), n in test_check_run.compare(seeds).items():
        tally["run", word] += n
    return tally


CAMPAIGNS: dict[str, tuple[Callable[[range], Tally], int]] = {
    "costs": (costs, 6_000),
    "risks": (risks, 2_000),
    "prices": (prices, 400),
    "information": (lambda seeds: test_check_program.run_campaign(seeds, 200), 800),
    "conformance": (test_check_conformance.campaign, 130),
    "runs": (runs, 20_000),
    "followed": (lambda seeds: test_followed.campaign(seeds, 100), 400),
    "shares": (lambda seeds: test_shares.campaign(seeds, 100), 500),
    "words": (lambda seeds: test_sequences.campaign(seeds, 100), 1_000),
}
"""By name the campaign and how many seeds it takes."""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CAMPAIGNS)}; all of them")
    words.add_argument("--first", type=int, default=10_000_000, metavar="SEED")
    words.add_argument("--part", default="0/1", metavar="I/N")
    given = words.parse_args()
    if unknown := set(given.names) - set(CAMPAIGNS):
        words.error(f"no campaigns: {', '.join(sorted(unknown))}")
    part, parts = map(int, given.part.split("/"))
    tally, began = Tally(), time.process_time()
    for name in given.names or CAMPAIGNS:
        campaign, num_seeds = CAMPAIGNS[name]
        first, last = (given.first + num_seeds * i // parts for i in (part, part + 1))
        tally += campaign(range(first, last))
    print("| claim | spoilt | VERIFIED, and true | REFUTED | MALFORMED |\n|---|---|---|---|---|")
    for kind in sorted({kind for kind, _ in tally} | (set() if given.names else set(CLAIMS))):
        row = Counter(
            {word: sum(n for (k, w), n in tally.items() if k == kind and w.startswith(word)) for word in WORDS}
        )
        print(f"| `{kind}` | {row.total():,} | {' | '.join(f'{row[word]:,}' for word in WORDS)} |")
    print(f"{tally.total():,} certificates, {time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
