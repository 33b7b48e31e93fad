"""Calibration by its definition: every order of the blocks tried, every sequence of ranks summed up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, inf, prod

from ascertain.bank.conditional import WeightedRank
from ascertain.bank.shells import Rank


def as_number(rank: Rank) -> float:
    return inf if rank is None else rank


def chosen_rank(ranks: Sequence[Rank], place: int) -> float:
    """The rank in that place from the largest, by taking the largest away again and again."""
    left = [as_number(rank) for rank in ranks]
    for _ in range(place - 1):
        left.remove(max(left))
    return max(left)


def share_covered(ranks: Sequence[Rank], place: int) -> Fraction:
    """Over all orders of the blocks: how often the last one is at most what the others choose."""
    orders = list(permutations(ranks))
    covered = sum(as_number(order[-1]) <= chosen_rank(order[:-1], place) for order in orders)
    return Fraction(covered, len(orders))


def coverage_by_enumeration(law: Sequence[Fraction], num_ranks: int, place: int) -> Fraction:
    """The same probability for independent ranks, summed over every sequence of them."""
    return sum(
        (
            prod((law[k] for k in ranks), start=Fraction(1))
            for ranks in product(range(len(law)), repeat=num_ranks + 1)
            if ranks[-1] <= chosen_rank(ranks[:-1], place)
        ),
        Fraction(0),
    )


def law_by_enumeration(laws: Sequence[Sequence[Fraction]]) -> dict[int, Fraction]:
    """The law of the largest rank, summed over every way the ranks may fall."""
    law: dict[int, Fraction] = {}
    for ranks in product(*(range(len(each)) for each in laws)):
        mass = prod((each[k] for each, k in zip(laws, ranks, strict=True)), start=Fraction(1))
        law[max(ranks)] = law.get(max(ranks), Fraction(0)) + mass
    return law


def coverage_with_hard_blocks(law: Sequence[Fraction], num_ranks: int, hard: Sequence[Fraction]) -> Fraction:
    """The probability that the last of all blocks is at most the largest other, over every way to place hard ones."""
    blocks, total = num_ranks + 1, Fraction(0)
    for number, probability in enumerate(hard):
        for places in combinations(range(blocks), number):
            for ranks in product(range(len(law)), repeat=blocks):
                moved = [rank + (len(law) if i in places else 0) for i, rank in enumerate(ranks)]
                if moved[-1] <= max(moved[:-1]):
                    mass = prod((law[k] for k in ranks), start=Fraction(1))
                    total += probability * mass / comb(blocks, number)
    return total


def weighted_coverage(ranks: Sequence[WeightedRank], miss: Fraction, weight: Fraction) -> Rank:
    """The least number of shells that hold a share 1 - miss of the weight, the next one's among the lost, by trying."""
    whole = sum((entry.weight for entry in ranks), Fraction(0)) + weight
    for shells in range(1 + max((entry.rank or 0 for entry in ranks), default=0)):
        held = sum((e.weight for e in ranks if e.rank is not None and e.rank <= shells), Fraction(0))
        if held >= (1 - miss) * whole:
            return shells
    return None
