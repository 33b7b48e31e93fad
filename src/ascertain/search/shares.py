"""Lower bounds on a whole question about the start: what the steps of a reference cost, shared out among rivals.

The theorem and its proof are in `ascertain_check/claims/shares.py`. Three references are tried.

*Counting*: readings are fixed, for each action the one that most states give. An action takes away at most the e(a)
labels whose states give another, so that D >= (labels - 1) times the least c(a) / e(a). States that can only be reached
by another reading do not count.

*Packing*: the reference is a hypothesis h. A *cut* of a rival g is a set of steps (state of h, action) of which every
word that tells g from h does one, and the cheapest walk of h that covers all cuts is a bound (`search/cover.py`). Of
each rival some cuts are taken: all steps at which it can be told from h (the last ones), and each single step that is a
cut by itself; such a step lies on every word, so that one shortest word is enough to find them.

*Joint states*: readings are fixed as for counting, and the reference follows where all rivals are, whatever they read.
The cut of a rival holds all steps at which it reads something else, and a walk covers all cuts but one. Machines that
forget what was done to them, like locks that a wrong digit resets, have few joint states.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ascertain.interruption import seconds_left
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.quotients.abstract import first_places
from ascertain.quotients.quotient import Quotient
from ascertain.search.configuration import Arena
from ascertain.search.cover import Cut, Step, cover, round_up
from ascertain.search.solution import SharesProof
from ascertain.types import UNDEFINED, Action, IntArray, LongArray, Reading, State

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
"""Importing the solver of linear programs takes about this long; with less time left none is solved."""
MOST_JOINT, MOST_IN_CUTS = 20_000, 200_000
"""Joint states times actions, and steps in all cuts together: with more the program takes more than some seconds."""


@dataclass(frozen=True)
class Shares:
    """A bound on the start of an arena, in its integer costs, and what proves it, in its states and hypotheses."""

    bound: int
    reference: int | None
    readings: tuple[Reading, ...]
    joint: tuple[int, ...]
    rivals: tuple[int, ...]
    by_label: tuple[tuple[State, Action, int, Fraction], ...]
    by_state: tuple[tuple[int, Action, State, Fraction], ...]
    potential: tuple[tuple[State, Fraction], ...]

    def proof(self, arena: Arena, quotient: Quotient) -> SharesProof:
        """The same about the original task, in its costs."""
        first = first_places(quotient.hypothesis_class)
        of = arena.class_of

        def named(r: State) -> int:
            return r if self.reference is None else int(of[r])

        return SharesProof(
            bound=Fraction(self.bound) / arena.scale,
            block=quotient.block,
            reference=None if self.reference is None else int(first[self.reference]),
            readings=self.readings,
            joint=tuple(int(first[g]) for g in self.joint),
            rivals=tuple(int(first[g]) for g in self.rivals),
            by_label=tuple((named(r), a, k, share / arena.scale) for r, a, k, share in self.by_label),
            by_state=tuple((named(r), a, int(of[z]), share / arena.scale) for r, a, z, share in self.by_state),
            potential=tuple((named(r), p / arena.scale) for r, p in self.potential),
        )


def bound_by_counting(arena: Arena, above: int) -> Shares | None:
    """The bound by counting, if it is more than `above`; the arena is about the start."""
    tables, cost, reading = arena.tables, arena.tables.cost, _usual_readings(arena)
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
    bound = round_up(arena, share * (len(rivals) - 1))
    if bound <= above:
        return None
    by_state = tuple((0, a, int(z), share) for a, found in enumerate(others) for z in found)
    return Shares(bound, None, tuple(reading), (), rivals, (), by_state, ())


def _usual_readings(arena: Arena) -> list[Reading]:
    """For each action the reading that most states give."""
    readings, defined = arena.tables.reading, arena.tables.successor != UNDEFINED
    columns = [readings[defined[:, a], a] for a in range(arena.num_actions)]
    return [int(np.bincount(column).argmax()) if len(column) else 0 for column in columns]


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
    if not _can_solve():
        return None
    best: Shares | None = None
    for reference in _choose_references(arena):
        if is_over():
            break
        found = _Packing(arena, reference, is_over).bound()
        if found is not None and found.bound > max(above, best.bound if best else 0):
            best = found
    return best


def _can_solve() -> bool:
    """Whether there is time for a linear program."""
    left = seconds_left()
    return left is None or left >= IMPORT_SECONDS or "scipy.optimize" in sys.modules


def bound_by_joint_states(
    arena: Arena, above: int, is_over: Callable[[], bool], most: int = MOST_JOINT
) -> Shares | None:
    """The bound from joint states, if it is more than `above`, and these are not too many; None too where time is over.

    The arena is about the start.
    """
    reading, rivals, places = _usual_readings(arena), _one_of_each_label(arena), _places(arena)
    listed = _list_joint_states(arena, [places[g] for g in rivals], most, is_over) if _can_solve() else None
    if listed is None:
        return None
    states, leads = listed
    tables, at = arena.tables, np.maximum(states, 0)
    is_other = (states != UNDEFINED)[..., None] & (tables.successor[at] != UNDEFINED) & (tables.reading[at] != reading)
    if np.count_nonzero(is_other) > MOST_IN_CUTS:
        return None
    cuts, never = dict[Cut, int](), list[int]()
    for i, g in enumerate(rivals):
        cut = frozenset((int(r), int(a)) for r, a in np.argwhere(is_other[:, i]))
        if cut:
            cuts.setdefault(cut, g)
        else:
            never.append(g)
    # A rival that never reads anything else is the one that is left.
    found = cover(arena, leads, 0, cuts, all_but_one=not never) if cuts and not is_over() else None
    if found is None or found.bound <= above:
        return None
    told = (*found.rivals, *never[:1])
    return Shares(found.bound, None, tuple(reading), rivals, told, found.by_label, (), found.potential)


def _list_joint_states(
    arena: Arena, start: list[State], most: int, is_over: Callable[[], bool]
) -> tuple[IntArray, dict[int, list[int]]] | None:
    """The tuples of states that are reached, and where actions lead from each; None for too many, or if time is over.

    Numbered breadth first, actions in order, as the checker does; UNDEFINED once a state does not allow an action.
    """
    successor = arena.tables.successor
    found = [np.array(start, dtype=successor.dtype)]
    number, leads = {found[0].tobytes(): 0}, dict[int, list[int]]()
    for r, states in enumerate(found):
        if (len(found) + arena.num_actions) * arena.num_actions > most or is_over():
            return None
        leads[r] = []
        for after in np.where(states == UNDEFINED, UNDEFINED, successor[states].T):
            key = after.tobytes()
            if key not in number:
                number[key] = len(found)
                found.append(after)
            leads[r].append(number[key])
    return np.array(found), leads


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
        if not self.cuts or self.is_over():
            return None
        found = cover(self.arena, self.arena.rows[0], self.start, self.cuts)
        return found and Shares(found.bound, self.reference, (), (), found.rivals, found.by_label, (), found.potential)

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
