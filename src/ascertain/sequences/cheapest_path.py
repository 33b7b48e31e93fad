"""Dijkstra's algorithm on a graph that is made while it is walked, with limits and a lower bound when they are met."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, final

from ascertain.interruption import OutOfTime, look_up
from ascertain.types import Action

Node = TypeVar("Node", bound=tuple[int, ...])
Word: TypeAlias = tuple[Action, ...]
"""Actions, one after another."""

MOST_NODES = 200_000
"""Nodes that a search may keep: about a minute, on small machines."""
MOST_BYTES = 2**29
"""What they may take together: on large machines a node is a thousand sets of a thousand states."""


@final
@dataclass(frozen=True)
class Sought:
    """A cheapest word, the proof by exhaustion that there is none, or what is known when a limit was met."""

    word: Word | None
    """The best that was found."""
    lower: int | None
    """No word costs less; None: there is no word at all."""
    upper: int | None
    """What `word` costs; None where there is none."""
    nodes: int = 0
    """How many nodes were kept."""
    stopped_by: str | None = None
    """The limit that was met: "time" or "nodes"; or "interrupt"."""

    @property
    def is_decided(self) -> bool:
        """Whether the word is cheapest, or there is none."""
        return self.lower == self.upper


def find_cheapest(
    start: Node,
    is_goal: Callable[[Node], bool],
    expand: Callable[[Node], Iterable[tuple[Action, Node]]],
    cost: list[int],
    *,
    known: Sought | None = None,
    max_nodes: int = MOST_NODES,
) -> Sought:
    """The cheapest word from the start to a goal; `known` is a word, or a bound, that it has to beat."""
    known = known or Sought(None, 0, None)
    heap: list[tuple[int, int, Node]] = [(0, 0, start)]
    came: dict[Node, tuple[int, Node, Action]] = {start: (0, start, -1)}
    done: set[Node] = set()
    least, held, stopped = 0, 0, None
    try:
        while heap:
            look_up()
            least, _, node = heapq.heappop(heap)
            if known.upper is not None and least >= known.upper:
                return Sought(known.word, known.upper, known.upper, len(came))
            if node in done:
                continue
            done.add(node)
            if is_goal(node):
                return Sought(_retrace(came, node), least, least, len(came))
            for a, after in expand(node):
                total = least + cost[a]
                if after not in came:
                    held += sum(map(sys.getsizeof, after))
                if after not in came or total < came[after][0]:
                    came[after] = (total, node, a)
                    heapq.heappush(heap, (total, len(came), after))
            if len(came) > max_nodes or held > MOST_BYTES:
                stopped = "nodes"
                break
        else:
            # Where a word is known, the goal that it leads to was reached, or something as cheap ended the search.
            return Sought(None, None, None, len(came))
    except OutOfTime:
        stopped = "time"
    except KeyboardInterrupt:
        stopped = "interrupt"
    return Sought(known.word, max(least, known.lower or 0), known.upper, len(came), stopped)


def _retrace(came: dict[Node, tuple[int, Node, Action]], node: Node) -> Word:
    word: list[Action] = []
    while came[node][2] >= 0:
        _, node, a = came[node]
        word.append(a)
    return tuple(reversed(word))
