"""UIO sequences: for each state a word after which what was read belongs to that state alone.

A *unique input/output sequence* of s (Sabnani and Dahbura, 1988) is a word along which every other hypothesis reads
differently from s. The search keeps (t, U): where s has come to, and the set of where those have come that read like s
so far. A word that leads one of them to t itself is lost; when U is empty the word is found. To decide whether a state
has one is complete for PSPACE, and some have none though no two states are equivalent (Lee and Yannakakis, 1994).
"""

from __future__ import annotations

from collections.abc import Iterator

from ascertain.sequences.cheapest_path import MOST_NODES, Sought, find_cheapest
from ascertain.sequences.subsets import Subsets
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action


def find_unique_words(task: Task, *, max_nodes: int = MOST_NODES) -> tuple[Sought, ...]:
    """For each hypothesis the cheapest word that tells its state from those of all others.

    An action may be used where s, and whoever reads like s so far, allow it; `max_nodes` is for each hypothesis.
    """
    sets = Subsets(task)
    everything = sets.everything()
    table, output = sets.successor.tolist(), sets.behaviour.tolist()
    alike = [{output[mask.bit_length() - 1][a]: mask for mask in masks} for a, masks in enumerate(sets.reading)]

    def expand(node: tuple[int, int]) -> Iterator[tuple[Action, tuple[int, int]]]:
        t, others = node
        for a, allowed in enumerate(sets.allowed):
            after = table[t][a]
            if after == UNDEFINED or others & ~allowed:
                continue
            left = sets.image(others & alike[a][output[t][a]], a)
            if not left >> after & 1:
                yield a, (after, left)

    found: list[Sought] = []
    for e in sets.start:
        start = (e, everything & ~(1 << e))
        if found and found[-1].stopped_by == "interrupt":
            found.append(Sought(None, 0, None, stopped_by="interrupt"))
        else:
            found.append(find_cheapest(start, lambda node: node[1] == 0, expand, sets.cost, max_nodes=max_nodes))
    return tuple(found)
