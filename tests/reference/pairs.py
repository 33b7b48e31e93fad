"""The slow obvious twin of pair distances: value iteration with a dictionary over ordered pairs."""

from __future__ import annotations

from itertools import product


def distances(successor, behaviour, label, cost) -> dict[tuple[int, int], int | None]:
    """The distance of each ordered pair; None when infinite. Sweeps until nothing changes.

    Without labels (None) elements are to be separated, and an element is never separated from itself.
    """
    n, num_actions = len(successor), len(cost)
    value: dict[tuple[int, int], int | None] = {
        (i, j): 0 if label is not None and label[i] == label[j] else None for i, j in product(range(n), repeat=2)
    }
    changed = True
    while changed:
        changed = False
        for (i, j), old in list(value.items()):
            if old == 0:
                continue
            for a in range(num_actions):
                x, y = int(successor[i][a]), int(successor[j][a])
                if x < 0 or y < 0:
                    continue
                rest = 0 if behaviour[i][a] != behaviour[j][a] else value[x, y]
                best = value[i, j]
                if rest is not None and (best is None or int(cost[a]) + rest < best):
                    value[i, j] = int(cost[a]) + rest
                    changed = True
    return value


def settles(word, pair, successor, behaviour, label) -> bool:
    """Whether the word settles the pair exactly at its end, both members allowing it all along."""
    i, j = pair
    settled = label is not None and label[i] == label[j]
    for a in word:
        if settled or successor[i][a] < 0 or successor[j][a] < 0:
            return False
        differ = behaviour[i][a] != behaviour[j][a]
        i, j = int(successor[i][a]), int(successor[j][a])
        settled = differ or (label is not None and label[i] == label[j])
    return bool(settled)
