"""Words that identify states: what tells one state from all others, at the least cost.

A word *splits* the states by what is read along it. A set of words *identifies* s when each other state reads
differently from s along at least one of them. After a node of a suite every word of such a set is a run of its own, so
few words are better than short ones. Words that split alike and lead alike stand for each other; of these the cheapest
is kept. A set of states is a bit mask.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from ascertain.conformance.specification import Word
from ascertain.interruption import look_up

MAX_BEHAVIOURS = 20_000
"""Words that are looked at, up to those that split and lead alike: a second or two, and far beyond the longest
identifiers of the protocol machines that we know."""
MAX_COVERS = 20_000
"""Sets of states that the exact search for an identifying set may visit; beyond it the set is found greedily."""
TIES = 4
"""Equally good words kept for one state: other states may use one of them too, and then it is observed only once."""


Table: TypeAlias = Sequence[Sequence[int]]
"""A number for each state and action."""


@final
@dataclass(frozen=True)
class Splitter:
    """A word and, for each state, which others read differently along it."""

    word: Word
    weight: int
    separated: tuple[int, ...]
    """`separated[s]` is the set of states that it tells from s."""


def find_splitters(
    successor: Table, output: Table, weight: Sequence[int], *, max_behaviours: int = MAX_BEHAVIOURS
) -> list[Splitter]:
    """Words that split the states of a minimal complete machine, the cheapest first; they tell apart every two states.

    `weight` are the costs of its actions.
    """
    num_states = len(successor)
    everything = (1 << num_states) - 1
    start = ((0,) * num_states, tuple(range(num_states)))
    heap: list[tuple[int, int, Word]] = [(0, 0, ())]
    images: dict[Word, tuple[tuple[int, ...], tuple[int, ...]]] = {(): start}
    seen, found = {start}, list[Splitter]()
    missing: dict[int, int] = {s: everything & ~(1 << s) for s in range(num_states)}
    while heap and (len(seen) < max_behaviours or any(missing.values())):
        look_up()
        so_far, length, word = heapq.heappop(heap)
        part, image = images.pop(word)
        for i, price in enumerate(weight):
            behaviour = _extend(successor, output, part, image, i)
            if behaviour in seen:
                continue
            seen.add(behaviour)
            longer = (*word, i)
            if behaviour[0] != part:
                members = _members(behaviour[0])
                separated = tuple(everything & ~members[p] for p in behaviour[0])
                found.append(Splitter(longer, so_far + price, separated))
                missing = {s: left & ~separated[s] for s, left in missing.items()}
            if _can_split(*behaviour):
                images[longer] = behaviour
                heapq.heappush(heap, (so_far + price, length + 1, longer))
    return sorted(found, key=lambda x: (x.weight, len(x.word), x.word))


def _extend(
    successor: Table, output: Table, part: tuple[int, ...], image: tuple[int, ...], action: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Parts (numbered by first appearance) and images after one more action."""
    number: dict[tuple[int, int], int] = {}
    parts = tuple(number.setdefault((p, output[t][action]), len(number)) for p, t in zip(part, image, strict=True))
    return parts, tuple(successor[t][action] for t in image)


def _members(part: tuple[int, ...]) -> dict[int, int]:
    masks: dict[int, int] = {}
    for s, p in enumerate(part):
        masks[p] = masks.get(p, 0) | 1 << s
    return masks


def _can_split(part: tuple[int, ...], image: tuple[int, ...]) -> bool:
    """Whether two states that read alike so far are in different states now."""
    home: dict[int, int] = {}
    return any(home.setdefault(p, t) != t for p, t in zip(part, image, strict=True))


def useful_splitters(splitters: Sequence[Splitter], state: int) -> list[Splitter]:
    """Those that no other one beats for this state: cheaper or as cheap, and telling as many states from it or more."""
    best: dict[int, list[Splitter]] = {}
    for x in splitters:  # the cheapest first
        mask = x.separated[state]
        held = best.get(mask)
        if held is not None:
            if x.weight == held[0].weight and len(held) < TIES:
                held.append(x)
        elif mask and not any(mask & ~other == 0 for other in best):
            best[mask] = [x]
    return [x for held in best.values() for x in held]


def cover(options: Sequence[tuple[int, int]], target: int) -> tuple[list[int], bool]:
    """Places of options (mask, cost) whose masks together cover the target, and whether no choice is cheaper.

    Dijkstra's algorithm over the sets covered so far; greedily, by cost for each state gained, where these are too
    many.
    """
    heap: list[tuple[int, int, int]] = [(0, 0, 0)]
    came: dict[int, tuple[int, int, int]] = {0: (0, -1, -1)}
    done: set[int] = set()
    order = 0
    while heap and len(done) < MAX_COVERS:
        look_up()
        cost, _, mask = heapq.heappop(heap)
        if mask in done:
            continue
        done.add(mask)
        if mask == target:
            return _trace(came, mask), True
        for place, (gain, price) in enumerate(options):
            after = (mask | gain) & target
            if after != mask and (after not in came or cost + price < came[after][0]):
                came[after] = (cost + price, mask, place)
                order += 1
                heapq.heappush(heap, (cost + price, order, after))
    return _cover_greedily(options, target), False


def _trace(came: dict[int, tuple[int, int, int]], mask: int) -> list[int]:
    places: list[int] = []
    while mask:
        _, mask, place = came[mask]
        places.append(place)
    return places[::-1]


def _cover_greedily(options: Sequence[tuple[int, int]], target: int) -> list[int]:
    places, left = list[int](), target
    while left:
        usable = [(price / (gain & left).bit_count(), k) for k, (gain, price) in enumerate(options) if gain & left]
        assert usable, "the options tell every state from every other"
        place = min(usable)[1]
        places.append(place)
        left &= ~options[place][0]
    return [k for k in places if not _is_covered(options, target, [j for j in places if j != k])]


def _is_covered(options: Sequence[tuple[int, int]], target: int, places: Sequence[int]) -> bool:
    joined = 0
    for k in places:
        joined |= options[k][0]
    return joined & target == target


def identify(
    splitters: Sequence[Splitter], state: int, num_states: int, price: Callable[[Splitter], int]
) -> tuple[list[Splitter], bool]:
    """The cheapest set of these words, each at its price, that identifies a state; and whether it is the cheapest."""
    target = ((1 << num_states) - 1) & ~(1 << state)
    places, exact = cover([(x.separated[state], price(x)) for x in splitters], target)
    return [splitters[k] for k in places], exact
