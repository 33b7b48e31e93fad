"""The stopping problem on a grid of likelihoods, in plain Python: points are tuples, values a dictionary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from ascertain.task.task import Task
from ascertain.types import UNDEFINED

Point = tuple[tuple[int, int] | None, ...]
"""By hypothesis its state and the number of its penalty on the grid; None where it is ruled out or forgotten."""


class Grid:
    """A complete machine, a label for each hypothesis, and prices (weight, wrong, abstain) of each."""

    def __init__(
        self, task: Task, step: float, last: int, rival_part: float, prices: list[tuple[float, float, float]]
    ) -> None:
        self.task, self.step, self.last, self.rival_part, self.prices = task, step, last, rival_part, prices

    def weigh(self, point: Point) -> list[float]:
        return [0.0 if at is None else math.exp(-at[1] * self.step) for at in point]

    def split(self, weights: list[float]) -> Iterator[tuple[float, list[int | None]]]:
        """Parts of weights of which the largest is 1, each with numbers on the grid; they add up to the weights."""
        cell: list[tuple[float, int | None, int | None]] = []
        for x in weights:
            if x == 0.0:
                cell.append((0.0, None, None))
                continue
            above = min(int(-math.log(x) / self.step + 1e-9), self.last)
            below = None if above == self.last else above + 1
            low, high = 0.0 if below is None else math.exp(-below * self.step), math.exp(-above * self.step)
            cell.append((min(1.0, (x - low) / (high - low)), above, below))
        cuts = sorted({1.0, 0.0, *(ratio for ratio, _, _ in cell)}, reverse=True)
        # Between two cuts those whose ratio is the larger cut or more are at the upper end of their cell.
        for more, less in pairwise(cuts):
            yield more - less, [above if ratio >= more else below for ratio, above, below in cell]

    def follow(self, point: Point, action: int, reading: int) -> list[tuple[float, Point]]:
        """The points after a reading, each with what its weights are multiplied by."""
        model, weights = self.task.model, self.weigh(point)
        after: list[int | None] = []
        for h, at in enumerate(point):
            p = 0.0 if at is None else float(model.reading_law(at[0], action).get(reading, 0))
            weights[h] *= p
            after.append(None if at is None or not p else int(model.successor[at[0], action]))
        for h in range(len(point)):
            for g in range(h):  # one label in one state has one future
                if after[h] is not None and after[h] == after[g] and self.task.label[h] == self.task.label[g]:
                    weights[g], weights[h], after[h] = weights[g] + weights[h], 0.0, None
        largest = max(weights)
        if largest == 0.0:
            return []
        found: list[tuple[float, Point]] = []
        for share, numbers in self.split([x / largest for x in weights]):
            places = zip(after, numbers, strict=True)
            found.append((share * largest, tuple(None if s is None or k is None else (s, k) for s, k in places)))
        return found

    def stop(self, point: Point) -> float:
        x = self.weigh(point)
        answers = [
            sum(p[1] * w for p, w, mine in zip(self.prices, x, self.task.label, strict=True) if mine != said)
            for said in set(self.task.label.tolist())
        ]
        return min(*answers, sum(p[2] * w for p, w in zip(self.prices, x, strict=True)))

    def mass(self, point: Point) -> float:
        return sum(p[0] * w for p, w in zip(self.prices, self.weigh(point), strict=True))

    def is_closed(self, point: Point) -> bool:
        x = self.weigh(point)
        by_label = [sum(w for w, at in zip(x, self.task.label, strict=True) if at == k) for k in set(self.task.label)]
        return sum(by_label) - max(by_label) <= self.rival_part * sum(by_label)

    def value(self, sweeps: int) -> float:
        """What the start is worth, from below."""
        model, cost = self.task.model, [float(c) for c in self.task.cost]
        start: Point = tuple((int(s), 0) for s in self.task.state)
        moves: dict[Point, list[tuple[float, list[tuple[float, Point]]]]] = {}
        queue = [start]
        for point in queue:
            if point in moves:
                continue
            moves[point] = []
            states = [at[0] for at in point if at is not None]
            for a in range(model.num_actions) if not self.is_closed(point) else ():
                assert all(model.successor[s, a] != UNDEFINED for s in states)
                after = [one for y in range(len(model.readings)) for one in self.follow(point, a, y) if one[0] > 0]
                moves[point].append((cost[a] * self.mass(point), after))
                queue += [child for _, child in after]
        value = dict.fromkeys(moves, 0.0)
        ends = {
            point: min(self.stop(point), min(cost) * self.mass(point)) if self.is_closed(point) else self.stop(point)
            for point in moves
        }
        for _ in range(sweeps):
            for point in reversed(moves):
                asked = (once + sum(part * value[child] for part, child in after) for once, after in moves[point])
                value[point] = min([ends[point], *asked])
        return value[start]
