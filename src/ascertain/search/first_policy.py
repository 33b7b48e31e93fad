"""A first policy, there at once: greedy by Gini's index, on the task itself, before anything else is known of it.

It needs no quotient, no distances and no table, so that a search which is cut short, however large the machine, returns
something. It need not exist where the task is solvable. (See `kernels/search/first_policy.py`.)
"""

from __future__ import annotations

import math
import time

import numpy as np

from ascertain.kernels._jit import is_at_hand, is_compiled
from ascertain.kernels.search import first_policy as kernels
from ascertain.kernels.search.first_policy import FirstPolicy, Words, plan_first
from ascertain.kernels.search.graph import Scratch
from ascertain.kernels.search.tables import SearchTables
from ascertain.policy.automaton import Automaton
from ascertain.search.configuration import no_subsets
from ascertain.search.first_step import split_at_once
from ascertain.search.pair_table import keep_no_pairs
from ascertain.search.plan import share_decisions
from ascertain.task.task import Task
from ascertain.types import IntArray

NARROW, MIDDLE, WIDE = 4_000, 40_000, 400_000
"""Members times words that a look at a configuration takes: at first, before a search begins, and where it is long.
With the first a policy for thousands is there within a second, with the last it takes some seconds."""
MOST_WORDS = 2_048
"""Words of one look: each new one is compared with all before."""
TRIALS = 4
"""Where a configuration is not split by any of the words looked at, all is tried again with eight times the width and
twice as many words: so often."""
GRACE = 0.25
"""Seconds that an eager policy may take whatever the deadline, once its kernel is loaded: without a policy there is
nothing to return."""
PASSES = 2_000_000
"""Members times words times actions between two looks at the clock: some hundredths of a second."""
STEPS = 30
"""Configurations between two looks at the clock where the kernel is interpreted."""
FINEST, DEAREST = 16, 4_096
"""Costs are counted in sixteenths of the least, up to this many: gains times costs then fit 63 bits."""
MOST_MEMBERS = 2**17
"""Hypotheses up to which that is so, with words of any length that there is room for."""


def find_first_policy(
    task: Task,
    width: int = NARROW,
    deadline: float | None = None,
    *,
    eager: bool = False,
    by_largest: bool = False,
) -> Automaton | None:
    """A policy of the task, which is on a machine without noise; None where the steps lead nowhere or time runs out.

    `width` says how many words are looked at, unless it is `eager` and takes the best of the shortest that split; a
    word is as good as all that it leaves, or, `by_largest`, as the worst of what it leaves. `deadline` is on the clock
    of `time.monotonic`; an eager policy has GRACE beyond it.
    """
    bits = max(len(task.labels) - 1, 1).bit_length()
    if task.model.num_states << bits >= 2**31 or task.num_hypotheses > MOST_MEMBERS:
        return None
    tables = _tables(task, bits)
    code = np.unique(task.state.astype(np.int64) << bits | task.label).astype(np.int32)
    for again in range(TRIALS):
        status, policy = _plan(tables, code, width * 8**again, MOST_WORDS * 2**again, deadline, eager, by_largest)
        if status != kernels.STUCK:
            return policy
    return None


def _plan(
    tables: SearchTables,
    code: IntArray,
    width: int,
    most_words: int,
    deadline: float | None,
    eager: bool,
    by_largest: bool,
) -> tuple[int, Automaton | None]:
    """One trial, and how it ended."""
    k, bits = len(code), tables.bits
    plan = _begin(code)
    scratch = Scratch(
        key=np.empty(k, dtype=np.int64),
        weight=np.ones(k, dtype=np.int64),
        code=np.empty(k, dtype=np.int32),
        rename=np.full(1 << bits, -1, dtype=np.int32),
        family=np.empty(0, dtype=np.int32),
        trial=np.empty(0, dtype=np.int32),
    )
    num_words = min(most_words, 2 + width)
    words = Words(
        moved=np.empty(min(2 * k + 4 * width, k * (num_words + 1)), dtype=np.int32),
        begin=np.zeros(num_words + 2, dtype=np.int64),
        came=np.zeros(num_words, dtype=np.int32),
        by=np.zeros(num_words, dtype=np.int32),
        spent=np.zeros(num_words, dtype=np.int64),
        digest=np.zeros(num_words, dtype=np.int64),
    )
    at_a_time = max(1, PASSES // ((k if eager else max(width, k)) * len(tables.cost)))
    until, grace = math.inf if deadline is None else deadline, GRACE if eager else 0.0
    while True:
        if eager and not by_largest and not is_at_hand(plan_first):
            status = _plan_by_steps(tables, scratch, words, plan, width)
        else:
            # Interpreted, a single configuration may take long, which its kernel cannot foresee.
            steps = at_a_time if is_compiled(plan_first) else 1
            status = plan_first(tables, scratch, words, plan, width, eager, by_largest, steps)
        if status == kernels.DONE:
            return status, _read(plan)
        until, grace = max(until, time.monotonic() + grace) if grace else until, 0.0
        if status == kernels.STUCK or time.monotonic() > until:
            return status, None
        if status == kernels.FULL:
            plan = _doubled(plan)


def _plan_by_steps(tables: SearchTables, scratch: Scratch, words: Words, plan: FirstPolicy, width: int) -> int:
    """What the eager kernel does with a few configurations, more quickly than it does so interpreted."""
    for _ in range(STEPS):
        if plan.used[kernels.OPEN] == 0:
            return kernels.DONE
        if not split_at_once(tables, plan):
            status = plan_first(tables, scratch, words, plan, width, True, False, 1)
            if status != kernels.PAUSED:
                return status
    return kernels.PAUSED


def _tables(task: Task, bits: int) -> SearchTables:
    """What moving the hypotheses needs; costs are coarse, for they only say which word is tried first."""
    cost, _ = task.integer_costs()
    least = int(cost.min())
    coarse = np.array([min(DEAREST, int(c) * FINEST // least) for c in cost.tolist()], dtype=np.int64)
    return SearchTables(
        # Copies, because kernels are compiled once more for arrays that cannot be written.
        successor=np.array(task.model.successor),
        reading=np.array(task.model.behaviour),
        cost=coarse,
        least=FINEST,
        by_leaves=np.empty(0, dtype=np.int64),
        distance=np.empty(0, dtype=np.int64),
        choice=np.empty(0, dtype=np.int16),
        pairs=keep_no_pairs(),
        state_label=np.empty(0, dtype=np.int32) if task.state_label is None else np.array(task.state_label),
        bits=bits,
        mean=False,
        subsets=no_subsets(),
        chosen=np.zeros(1, dtype=np.int32),
    )


def _begin(code: np.ndarray) -> FirstPolicy:
    k = len(code)
    room = 4 * k + 2 * MOST_WORDS
    plan = FirstPolicy(
        *(np.full(room, -1, dtype=np.int32) for _ in range(4)),
        open_node=np.zeros(room, dtype=np.int32),
        open_begin=np.zeros(room + 1, dtype=np.int64),
        members=np.zeros(2 * k + 2, dtype=np.int32),
        used=np.array([1, 1], dtype=np.int64),
    )
    plan.members[:k] = code
    plan.open_begin[1] = k
    return plan


def _doubled(plan: FirstPolicy) -> FirstPolicy:
    """The same with twice the room."""
    return FirstPolicy._make([*(np.concatenate((array, np.zeros_like(array))) for array in plan[:-1]), plan.used])


def _read(plan: FirstPolicy) -> Automaton:
    """The tree as a policy, equal subtrees shared."""
    count = int(plan.used[kernels.NODES])
    columns: list[list[int]] = [array[:count].tolist() for array in plan[:4]]
    action, label, parent, reading = columns
    children: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    number: dict[tuple[int, int, tuple[tuple[int, int], ...]], int] = {}
    # Children come after their parents, so going backwards makes them first.
    for node in range(count - 1, -1, -1):
        decision = (action[node], label[node], tuple(sorted(children[node])))
        shared = number.setdefault(decision, len(number))
        if node:
            children[parent[node]].append((reading[node], shared))
    return share_decisions(list(number))
