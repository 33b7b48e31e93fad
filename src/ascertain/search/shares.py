"""Lower bounds on a whole question about the start: what the steps of a reference cost, shared out among rivals.

The theorem and its proof are in `ascertain_check/claims/shares.py`. Two references are tried.

*Counting*: readings are fixed, for each action the one that most states give. An action takes away at most the e(a)
labels whose states give another, so that D >= (labels - 1) times the least c(a) / e(a). States that can only be reached
by another reading do not count.

*Packing*: the reference is a hypothesis h. A *cut* of a rival g is a set of steps (state of h, action) of which every
word that tells g from h does one. Let N be how often a policy does each step while h is true: N is a walk of h (what
leaves a state has entered it, or it is the start), and of each cut it does at least one step. The least cost of such N
is a linear program, whose dual is a potential and a weight for each cut: the shares. Of each rival some cuts are taken:
all steps at which it can be told from h (the last ones), and each single step that is a cut by itself; such a step lies
on every word, so that one shortest word is enough to find them.

Floats choose the shares; they are then made rationals, and scaled until they fit exactly.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np

from ascertain.interruption import seconds_left
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.quotients.abstract import first_places
from ascertain.quotients.quotient import Quotient
from ascertain.search.configuration import Arena
from ascertain.search.solution import SharesProof
from ascertain.types import UNDEFINED, Action, LongArray, Reading, State

Step: TypeAlias = tuple[State, Action]
"""A state of the reference, and an action."""
Cut: TypeAlias = frozenset[Step]
"""Steps of which every word that tells a rival apart does one."""
Graph: TypeAlias = list[list[tuple[Step, int]]]
"""For each pair of a rival and the reference what steps lead to: another pair, or APART."""
APART = -1
"""Where the two read differently."""
MOST_EXPLORED = 600_000
"""Pairs of states times actions of all rivals of a reference together: a second of plain Python."""
MOST_FOR_ONE = 40_000
"""Pairs of states times actions of one rival: one that needs more is left out."""
MOST_RIVALS = 1_500
"""Rivals of a reference, evenly spaced: cuts of more of them make the program long without making it much better."""
SAMPLE = 16
"""Hypotheses that are tried as references, and rivals that each is measured against."""
IMPORT_SECONDS = 0.5
"""Importing the solver of linear programs takes about this long; with less time left there is no bound by packing."""
SHORTEST = 0.01
"""Seconds that a linear program may take at least, for its solver takes no less."""
FINEST = 1_000
"""Denominators of weights and potentials: programs of this kind mostly have halves and thirds in their solutions."""


@dataclass(frozen=True)
class Shares:
    """A bound on the start of an arena, in its integer costs, and what proves it, in its states and hypotheses."""

    bound: int
    reference: int | None
    readings: tuple[Reading, ...]
    rivals: tuple[int, ...]
    by_label: tuple[tuple[State, Action, int, Fraction], ...]
    by_state: tuple[tuple[int, Action, State, Fraction], ...]
    potential: tuple[tuple[State, Fraction], ...]

    def proof(self, arena: Arena, quotient: Quotient) -> SharesProof:
        """The same about the original task, in its costs."""
        first = first_places(quotient.hypothesis_class)
        of = arena.class_of

        def named(r: State) -> int:
            return 0 if self.reference is None else int(of[r])

        return SharesProof(
            bound=Fraction(self.bound) / arena.scale,
            block=quotient.block,
            reference=None if self.reference is None else int(first[self.reference]),
            readings=self.readings,
            rivals=tuple(int(first[g]) for g in self.rivals),
            by_label=tuple((named(r), a, k, share / arena.scale) for r, a, k, share in self.by_label),
            by_state=tuple((named(r), a, int(of[z]), share / arena.scale) for r, a, z, share in self.by_state),
            potential=tuple((named(r), p / arena.scale) for r, p in self.potential),
        )


def bound_by_counting(arena: Arena, above: int) -> Shares | None:
    """The bound by counting, if it is more than `above`; the arena is about the start."""
    tables, cost = arena.tables, arena.tables.cost
    reading = [_most_common(tables.reading[:, a][tables.successor[:, a] != UNDEFINED]) for a in range(len(cost))]
    reached = _follow(arena, reading)
    others = [
        reached[(tables.successor[reached, a] != UNDEFINED) & (tables.reading[reached, a] != reading[a])]
        for a in range(len(cost))
    ]
    rivals = _one_of_each_label(arena)
    rates = [Fraction(int(cost[a]), len(z)) for a, z in enumerate(others) if len(z)]
    if not rates or len(rivals) < 2:
        return None  # nothing tells anything apart along these readings, or nothing need be told
    share = min(rates)
    bound = _round_up(arena, share * (len(rivals) - 1))
    if bound <= above:
        return None
    by_state = tuple((0, a, int(z), share) for a, found in enumerate(others) for z in found)
    return Shares(bound, None, tuple(reading), rivals, (), by_state, ())


def _most_common(readings: np.ndarray) -> Reading:
    return int(np.bincount(readings).argmax()) if len(readings) else 0


def _follow(arena: Arena, reading: Sequence[Reading]) -> LongArray:
    """The states that hypotheses come to while readings are these."""
    tables = arena.tables
    reached = np.zeros(len(tables.successor), dtype=np.bool_)
    front = np.unique([s for _, s in arena.start])
    while len(front):
        reached[front] = True
        agrees = tables.reading[front] == np.array(reading)
        lead = tables.successor[front][agrees & (tables.successor[front] != UNDEFINED)]
        front = np.unique(lead[~reached[lead]])
    return np.flatnonzero(reached)


def _one_of_each_label(arena: Arena) -> tuple[int, ...]:
    return tuple(int(g) for g in np.sort(np.unique(arena.task.label, return_index=True)[1]))


def bound_by_packing(arena: Arena, above: int, is_over: Callable[[], bool]) -> Shares | None:
    """The bound by packing, if it is more than `above`; None too where time is over. The arena is about the start."""
    left = seconds_left()
    if left is not None and left < IMPORT_SECONDS and "scipy.optimize" not in sys.modules:
        return None
    best: Shares | None = None
    for reference in _choose_references(arena):
        if is_over():
            break
        found = _Packing(arena, reference, is_over).bound()
        if found is not None and found.bound > max(above, best.bound if best else 0):
            best = found
    return best


def _choose_references(arena: Arena) -> list[int]:
    """The two hypotheses, of some, that are farthest from others in the mean, and the first of all."""
    number = arena.task.num_hypotheses
    sample = sorted({i * number // SAMPLE for i in range(SAMPLE)})
    state, label = _places(arena), arena.task.label

    def remoteness(h: int) -> int:
        far = (arena.measure(state[h], state[g])[0] for g in sample if label[g] != label[h] and state[g] != state[h])
        return -sum(d for d in far if d < INFINITE)

    return list(dict.fromkeys([0, *sorted(sample, key=remoteness)[:2]]))


def _places(arena: Arena) -> list[State]:
    return np.searchsorted(arena.class_of, arena.task.state).tolist()


class _Packing:
    """One reference."""

    def __init__(self, arena: Arena, reference: int, is_over: Callable[[], bool]) -> None:
        self.arena, self.reference, self.is_over = arena, reference, is_over
        self.states, self.label = _places(arena), arena.task.label.tolist()
        self.start = self.states[reference]
        self.cuts: dict[Cut, int] = {}
        """Each with a rival whose cut it is."""
        self.left = MOST_EXPLORED

    def bound(self) -> Shares | None:
        own = self.label[self.reference]
        rivals = [g for g in _one_of_each_label(self.arena) if self.label[g] != own]
        stride = 1 + len(rivals) // MOST_RIVALS
        for g in rivals[::stride]:
            if self.left <= 0 or self.is_over():
                break
            self.cut(g)
        return self.solve() if self.cuts and not self.is_over() else None

    def cut(self, g: int) -> None:
        """Add the cuts of a rival."""
        graph = self.explore(self.states[g])
        if graph is None:
            return
        self.cuts.setdefault(frozenset(step for arrows in graph for step, after in arrows if after == APART), g)
        for step in _shortest(graph):
            if not _is_apart(graph, step):
                self.cuts.setdefault(frozenset((step,)), g)

    def explore(self, rival: State) -> Graph | None:
        """The pairs that a rival and the reference lead to while they read alike; None for too many, or if for ever."""
        successor, reading, _ = self.arena.rows
        number = {(self.start, rival): 0}
        pairs, graph, ends = list(number), Graph(), False
        for r, z in pairs:
            arrows: list[tuple[Step, int]] = []
            for a, (p, q) in enumerate(zip(successor[r], successor[z], strict=True)):
                if UNDEFINED in {p, q}:
                    continue
                if reading[r][a] != reading[z][a]:
                    arrows.append(((r, a), APART))
                    ends = True
                elif p != q:
                    if (p, q) not in number:
                        number[p, q] = len(pairs)
                        pairs.append((p, q))
                    arrows.append(((r, a), number[p, q]))
            graph.append(arrows)
            if len(pairs) * self.arena.num_actions > MOST_FOR_ONE:
                self.left -= len(graph) * self.arena.num_actions
                return None
        self.left -= len(graph) * self.arena.num_actions
        return graph if ends else None

    def solve(self) -> Shares | None:
        """The linear program over the cuts, and its dual as shares."""
        from scipy.optimize import linprog  # pyright: ignore[reportUnknownVariableType]
        from scipy.sparse import csr_array

        successor, cost = self.arena.rows[0], self.arena.tables.cost.tolist()
        reached = self.reach()
        place = {r: i for i, r in enumerate(reached)}
        steps = [(r, a) for r in reached for a, after in enumerate(successor[r]) if after != UNDEFINED]
        column = {step: i for i, step in enumerate(steps)}
        entries: list[tuple[int, int, int]] = []
        for (r, a), i in column.items():
            entries += [(place[r], i, 1), (place[successor[r][a]], i, -1)]
        entries += [(len(place) + k, column[step], -1) for k, cut in enumerate(self.cuts) for step in cut]
        rows, columns, values = zip(*entries, strict=True)
        matrix = csr_array((values, (rows, columns)), shape=(len(place) + len(self.cuts), len(steps)), dtype=float)
        limit = np.concatenate((np.zeros(len(place)), -np.ones(len(self.cuts))))
        limit[place[self.start]] = 1
        price, left = [cost[a] for _, a in steps], seconds_left()
        most = {} if left is None else {"time_limit": max(left, SHORTEST)}
        found = cast("Any", linprog(price, A_ub=matrix, b_ub=limit, method="highs", options=most))
        if found.status != 0:
            return None
        dual = [Fraction(max(0.0, -float(x))).limit_denominator(FINEST) for x in found.ineqlin.marginals]
        # What the dual subtracts at a state, the potential adds elsewhere.
        most = max(dual[: len(place)])
        potential = {r: most - dual[i] for r, i in place.items()}
        weight = dict(zip(self.cuts, dual[len(place) :], strict=True))
        return self.fit(steps, weight, potential)

    def reach(self) -> list[State]:
        successor, found = self.arena.rows[0], [self.start]
        seen = set(found)
        for r in found:
            for after in successor[r]:
                if after != UNDEFINED and after not in seen:
                    seen.add(after)
                    found.append(after)
        return found

    def fit(self, steps: list[Step], weight: dict[Cut, Fraction], potential: dict[State, Fraction]) -> Shares | None:
        """Scale weights and potential until they fit what steps cost, exactly, and say what they prove."""
        zero, successor = Fraction(0), self.arena.rows[0]
        sums: dict[Step, Fraction] = {}
        share: dict[tuple[State, Action, int], Fraction] = {}
        for cut, w in weight.items():
            for r, a in cut if w else ():
                label = self.label[self.cuts[cut]]
                sums[r, a] = sums.get((r, a), zero) + w
                share[r, a, label] = share.get((r, a, label), zero) + w
        over = max(
            (sums.get((r, a), zero) + potential[r] - potential[successor[r][a]]) / self.arena.cost(a) for r, a in steps
        )
        if over <= 0:
            return None
        scale = 1 / max(Fraction(1), over)
        total = sum(weight.values(), zero) + potential[self.start] - max(potential.values())
        return Shares(
            bound=_round_up(self.arena, scale * total),
            reference=self.reference,
            readings=(),
            rivals=tuple(dict.fromkeys(self.cuts[cut] for cut, w in weight.items() if w)),
            by_label=tuple((*key, scale * w) for key, w in share.items()),
            by_state=(),
            potential=tuple((r, scale * p) for r, p in potential.items() if p),
        )


def _shortest(graph: Graph) -> list[Step]:
    """The steps of a word that tells a rival apart with as few actions as possible; there is one."""
    came: dict[int, tuple[int, Step]] = {}
    queue = [0]
    for x in queue:
        for step, after in graph[x]:
            if after not in came and after != 0:
                came[after] = (x, step)
                queue += [after] if after != APART else []
        if APART in came:
            break
    word: list[Step] = []
    x = APART
    while x != 0:
        x, step = came[x]
        word.append(step)
    return word


def _is_apart(graph: Graph, without: Step) -> bool:
    """Whether a rival can be told apart without ever doing this step."""
    seen, stack = {0}, [0]
    while stack:
        for step, after in graph[stack.pop()]:
            if step == without or after in seen:
                continue
            if after == APART:
                return True
            seen.add(after)
            stack.append(after)
    return False


def _round_up(arena: Arena, bound: Fraction) -> int:
    """To a multiple of the greatest common divisor of all costs: what a policy costs is one."""
    unit = int(np.gcd.reduce(arena.tables.cost))
    return unit * max(0, math.ceil(bound / unit))
