"""The cheapest walk that covers cuts: a linear program, whose dual shares out among rivals what steps cost.

Throughout: r is a state of a reference, a an action; a *step* is a pair (r, a). A *cut* of a rival is a set of steps of
which every word that tells it apart does one. Let N be how often each step is done: N is a walk (what leaves a state
has entered it, or it is the start), and does at least one step of each cut, or of all cuts but one. The least cost of
such N bounds what a policy costs, and the dual is a potential and a weight for each cut: the shares of the theorem in
`ascertain_check/claims/shares.py`.

Floats choose the shares; they are then made rationals, and scaled until they fit exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np

from ascertain.interruption import seconds_left
from ascertain.search.configuration import Arena
from ascertain.types import UNDEFINED, Action

Step: TypeAlias = tuple[int, Action]
"""A state of the reference, and an action."""
Cut: TypeAlias = frozenset[Step]
"""Steps of which every word that tells a rival apart does one."""
SHORTEST = 0.01
"""Seconds that a linear program may take at least, for its solver takes no less."""
FINEST = 1_000
"""Denominators of weights and potentials: programs of this kind mostly have halves and thirds in their solutions."""


@dataclass(frozen=True)
class Cover:
    """A bound in the arena's integer costs, and the shares and potential that prove it."""

    bound: int
    rivals: tuple[int, ...]
    by_label: tuple[tuple[int, Action, int, Fraction], ...]
    potential: tuple[tuple[int, Fraction], ...]


def cover(
    arena: Arena, leads: Mapping[int, Sequence[int]], start: int, cuts: Mapping[Cut, int], *, all_but_one: bool = False
) -> Cover | None:
    """What covering the cuts, each with its rival, costs at least; None where time is over, or nothing is proved.

    `leads[r][a]` is where an action leads the reference, UNDEFINED where it is not allowed.
    """
    from scipy.optimize import linprog  # pyright: ignore[reportUnknownVariableType]
    from scipy.sparse import csr_array

    reached = _reach(leads, start)
    place = {r: i for i, r in enumerate(reached)}
    steps = [(r, a) for r in reached for a, after in enumerate(leads[r]) if after != UNDEFINED]
    column = {step: i for i, step in enumerate(steps)}
    entries: list[tuple[int, int, int]] = []
    for (r, a), i in column.items():
        entries += [(place[r], i, 1), (place[leads[r][a]], i, -1)]
    entries += [(len(place) + k, column[step], -1) for k, cut in enumerate(cuts) for step in cut]
    limit = np.concatenate((np.zeros(len(place)), -np.ones(len(cuts))))
    limit[place[start]] = 1
    price, most = [int(arena.tables.cost[a]) for _, a in steps], [math.inf] * len(steps)
    if all_but_one:
        # Each cut may be left out in part, in all no more than one of them.
        left_out = range(len(steps), len(steps) + len(cuts))
        entries += [(len(place) + k, i, -1) for k, i in enumerate(left_out)]
        entries += [(len(limit), i, 1) for i in left_out]
        limit, price, most = np.append(limit, 1), [*price, *[0] * len(cuts)], [*most, *[1] * len(cuts)]
    rows, columns, values = zip(*entries, strict=True)
    matrix = csr_array((values, (rows, columns)), shape=(len(limit), len(price)), dtype=float)
    left = seconds_left()
    options = {} if left is None else {"time_limit": max(left, SHORTEST)}
    ranges = np.column_stack((np.zeros(len(price)), most))
    found = cast("Any", linprog(price, A_ub=matrix, b_ub=limit, bounds=ranges, method="highs", options=options))
    if found.status != 0:
        return None
    dual = [Fraction(max(0.0, -float(x))).limit_denominator(FINEST) for x in found.ineqlin.marginals]
    # What the dual subtracts at a state, the potential adds elsewhere.
    highest = max(dual[: len(place)])
    potential = {r: highest - dual[i] for r, i in place.items()}
    weight = dict(zip(cuts, dual[len(place) : len(place) + len(cuts)], strict=True))
    return _fit(arena, leads, start, cuts, steps, weight, potential, all_but_one=all_but_one)


def _reach(leads: Mapping[int, Sequence[int]], start: int) -> list[int]:
    found, seen = [start], {start}
    for r in found:
        for after in leads[r]:
            if after != UNDEFINED and after not in seen:
                seen.add(after)
                found.append(after)
    return found


def _fit(
    arena: Arena,
    leads: Mapping[int, Sequence[int]],
    start: int,
    cuts: Mapping[Cut, int],
    steps: list[Step],
    weight: dict[Cut, Fraction],
    potential: dict[int, Fraction],
    *,
    all_but_one: bool,
) -> Cover | None:
    """Scale weights and potential until they fit what steps cost, exactly, and say what they prove."""
    zero = Fraction(0)
    sums: dict[Step, Fraction] = {}
    share: dict[tuple[int, Action, int], Fraction] = {}
    for cut, w in weight.items():
        for r, a in cut if w else ():
            label = int(arena.task.label[cuts[cut]])
            sums[r, a] = sums.get((r, a), zero) + w
            share[r, a, label] = share.get((r, a, label), zero) + w
    over = max((sums.get((r, a), zero) + potential[r] - potential[leads[r][a]]) / arena.cost(a) for r, a in steps)
    if over <= 0:
        return None
    scale = 1 / max(Fraction(1), over)
    total = sum(weight.values(), zero) + potential[start] - max(potential.values())
    return Cover(
        bound=round_up(arena, scale * (total - (max(weight.values()) if all_but_one else zero))),
        rivals=tuple(dict.fromkeys(cuts[cut] for cut, w in weight.items() if w)),
        by_label=tuple((*key, scale * w) for key, w in share.items()),
        potential=tuple((r, scale * p) for r, p in potential.items() if p),
    )


def round_up(arena: Arena, bound: Fraction) -> int:
    """To a multiple of the greatest common divisor of all costs: what a policy costs is one."""
    unit = int(np.gcd.reduce(arena.tables.cost))
    return unit * max(0, math.ceil(bound / unit))
