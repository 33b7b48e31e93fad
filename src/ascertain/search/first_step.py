"""One step of a first policy by NumPy, for as long as its kernel is interpreted.

Interpreted, a look at a configuration of k members and A actions takes k A steps of Python. Where one action splits
them, which is nearly always, the same choice is made here in a few calls on arrays; `kernels/search/first_policy.py`
says which, and does all that is left. The twins write the same tree, node for node.
"""

from __future__ import annotations

import numpy as np

from ascertain.kernels.search.first_policy import NODES, OPEN, FirstPolicy
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import Action, IntArray, LongArray

FEW = 64
"""Members times actions below which the interpreted kernel is as quick."""
MEMBER = (1 << 31) - 1
"""The bits of a member."""
LAST = 2**62
"""Above the keys of all members."""


def split_at_once(tables: SearchTables, plan: FirstPolicy) -> bool:
    """Decide about the topmost open configuration if it has one member or one action splits it; whether it is done."""
    used = plan.used
    top, count = int(used[OPEN]) - 1, int(used[NODES])
    begin, end, node = int(plan.open_begin[top]), int(plan.open_begin[top + 1]), int(plan.open_node[top])
    k, code = end - begin, plan.members[begin:end]
    if k == 1:
        plan.label[node] = int(code[0]) & ((1 << tables.bits) - 1)
        used[OPEN] = top
        return True
    no_room = max(count + k - len(plan.action), top + k - len(plan.open_node), begin + 2 * k - len(plan.members)) >= 0
    if no_room or k * len(tables.cost) < FEW:
        return False
    actions, key = _move(tables, code)
    action, place = _choose(tables, code, actions, key)
    if action is None:
        return False
    left = np.unique(key[:, place])
    reading = left >> 31
    first = np.flatnonzero(np.diff(reading, prepend=-1))
    m = len(first)
    plan.action[node] = action
    plan.parent[count : count + m] = node
    plan.reading[count : count + m] = reading[first]
    plan.action[count : count + m] = -1
    plan.label[count : count + m] = -1
    plan.open_node[top : top + m] = np.arange(count, count + m)
    plan.open_begin[top : top + m] = begin + first
    plan.open_begin[top + m] = begin + len(left)
    plan.members[begin : begin + len(left)] = left & MEMBER
    used[NODES], used[OPEN] = count + m, top + m
    return True


def _move(tables: SearchTables, code: IntArray) -> tuple[LongArray, LongArray]:
    """The actions that all members allow and that join no two labels; for each what is read above what a member is.

    In each column keys ascend.
    """
    state, label = code >> tables.bits, code & ((1 << tables.bits) - 1)
    actions = np.flatnonzero((tables.successor[state] >= 0).all(axis=0))
    after = tables.successor[state][:, actions].astype(np.int64)
    then = tables.state_label[after] if len(tables.state_label) else label[:, np.newaxis]
    key = tables.reading[state][:, actions].astype(np.int64) << 31 | after << tables.bits | then
    key.sort(axis=0)
    joined = (key[1:] >> tables.bits == key[:-1] >> tables.bits) & (key[1:] != key[:-1])
    sound = ~joined.any(axis=0)
    return actions[sound], key[:, sound]


def _choose(tables: SearchTables, code: IntArray, actions: LongArray, key: LongArray) -> tuple[Action | None, int]:
    """The action of the largest gain for its cost and its column in `key`; None where no action splits the members."""
    if len(actions) == 0:
        return None, 0
    mask = (1 << tables.bits) - 1
    _, of_label = np.unique(code & mask, return_counts=True)
    whole = len(code) ** 2 - int((of_label**2).sum())
    # What has become one member counts once: the others go to the end of the column, out of the count.
    read = key >> 31 << tables.bits | key & mask
    read[1:][key[1:] == key[:-1]] = LAST
    read.sort(axis=0)
    rest = (_squares(read >> tables.bits, LAST >> tables.bits) - _squares(read, LAST)).tolist()
    splits = (key[0] >> 31 != key[-1] >> 31).tolist()
    best, best_gain, best_cost = None, 0, 1
    for i, (left, price) in enumerate(zip(rest, tables.cost[actions].tolist(), strict=True)):
        if (splits[i] or left == 0) and (whole - left) * best_cost > best_gain * price:
            best, best_gain, best_cost = i, whole - left, price
    return (None, 0) if best is None else (int(actions[best]), best)


def _squares(group: LongArray, last: int) -> LongArray:
    """For each column, which ascends, how often each entry is there, squared and summed; all but the last."""
    column = group.T
    fresh = np.ones(column.shape, dtype=np.bool_)
    fresh[:, 1:] = column[:, 1:] != column[:, :-1]
    start: LongArray = np.flatnonzero(fresh)
    length = np.diff(start, append=column.size)
    length[column.ravel()[start] == last] = 0
    # Where the first entry of each column stands among all that are fresh.
    before = np.count_nonzero(fresh, axis=1).cumsum() - np.count_nonzero(fresh, axis=1)
    return np.add.reduceat(length**2, before)
