"""The slow obvious twins of look-ahead on a Boolean plant: values from all pairs of states, words as tuples, one rival
at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from ascertain.model.boolean import BooleanPlant
from ascertain.types import LongArray


def step_of_difference(plant: BooleanPlant, actions: Sequence[int], d: int) -> dict[int, Fraction]:
    """How many bits differ after a gate of the actions drawn at random, if d do, by trying all pairs of states."""
    gates = [gate for a in actions for gate in plant.commands[a].gates]
    differences = [x for x in range(plant.num_states) if x.bit_count() == d]
    after: Counter[int] = Counter(
        (gate.apply(z) ^ gate.apply(z ^ x)).bit_count()
        for gate, x, z in product(gates, differences, range(plant.num_states))
    )
    return {number: Fraction(many, after.total()) for number, many in after.items()} or {d: Fraction(1)}


def values(plant: BooleanPlant, actions: Sequence[int], to_go: int, most: int, pace: int) -> list[list[Fraction]]:
    """`[k][d]`: the probability that a difference of d bits contradicts fewer than k of the readings to go."""
    n = plant.num_bits
    num_gates = sum(len(plant.commands[a].gates) for a in actions)
    steps = math.ceil(Fraction(pace * num_gates, len(actions)))
    moves = [step_of_difference(plant, actions, d) for d in range(n + 1)]
    table = [[Fraction(k > 0)] * (n + 1) for k in range(most + 1)]
    for _ in range(to_go):
        table = [table[0]] + [
            [Fraction(d, n) * table[k - 1][d] + Fraction(n - d, n) * table[k][d] for d in range(n + 1)]
            for k in range(1, most + 1)
        ]
        for _ in range(steps):
            table = [
                [sum((p * row[e] for e, p in moves[d].items()), Fraction(0)) for d in range(n + 1)] for row in table
            ]
    return table


def sum_of_values(
    plant: BooleanPlant, word: Sequence[int], reference: int, rivals: Sequence[tuple[int, int]], value: LongArray
) -> int:
    """What the rivals, states and the contradictions they need, count for after a word; `value[k + 1, d]` each."""
    total = 0
    for state, needed in rivals:
        z, r, k = state, reference, needed
        for a in word:
            z, seen = plant.step(z, a)
            r, believed = plant.step(r, a)
            k -= seen != believed
        if k > 0:
            total += int(value[k + 1, (z ^ r).bit_count()])
    return total


def is_idle_twice(plant: BooleanPlant, action: int, reference: int, rivals: Sequence[tuple[int, int]]) -> bool:
    """Whether every state is where it was after an action done twice, and no rival was read otherwise."""
    believed = [plant.step(reference, action), plant.step(plant.step(reference, action)[0], action)]
    for state, _ in rivals:
        seen = [plant.step(state, action), plant.step(plant.step(state, action)[0], action)]
        if seen[1][0] != state or [r for _, r in seen] != [r for _, r in believed]:
            return False
    return believed[1][0] == reference


def search(
    plant: BooleanPlant,
    cost: dict[int, Fraction],
    reference: int,
    rivals: Sequence[tuple[int, int]],
    to_go: int,
    depth: int,
    width: int,
    values_of: Callable[[int], LongArray],
    fineness: int,
    last: int | None = None,
) -> int | None:
    """The first action of the best word, of `width` kept at each length; None if it leaves no less than there is.

    No word begins with the last action where that, done twice, changes and contradicts nothing.
    """
    words: list[tuple[int, ...]] = [()]
    for length in range(1, min(depth, to_go) + 1):
        before = sum_of_values(plant, (), reference, rivals, values_of(to_go - length))
        longer = [(*word, a) for word, a in product(words, cost)]
        if length == 1 and len(cost) > 1 and last in cost and is_idle_twice(plant, last, reference, rivals):
            longer.remove((last,))
        left = {word: sum_of_values(plant, word, reference, rivals, values_of(to_go - length)) for word in longer}

        def gain(word: tuple[int, ...], left: dict[tuple[int, ...], int] = left, before: int = before) -> int:
            paid = sum(float(cost[a]) for a in word)
            return round(fineness * math.log(before / max(left[word], 0.5)) / paid)

        longer.sort(key=gain, reverse=True)  # equals stay in order
        best = longer[0]
        if length == min(depth, to_go) or left[best] == 0:
            return best[0] if left[best] < before else None
        words = [word for i, word in enumerate(longer) if i == 0 or left[word] != left[longer[i - 1]]][:width]
    raise AssertionError
