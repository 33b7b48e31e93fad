"""What tells two elements apart, and at what cost: distances on the pair graph and the words that attain them.

An *element* is a state or a class of states. Two elements are *separated* by a word of actions that both allow all
along and at whose last action they behave differently; their distance is the least total cost of such a word, and
INFINITE when there is none. This is what telling them apart costs in a task about the start, whatever the two labels
are: hypotheses that meet in one state stay apart in label and are never separated.

In a task about the current state elements have labels, two that meet are as good as settled, and the distance is 0 when
the labels agree. Otherwise it is the least cost of a word that both allow and that separates them or after which,
behaviours alike so far, their labels agree.

No experiment settles a question on a set of hypotheses for less than the largest distance between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from ascertain.errors import LimitError, TaskError
from ascertain.interruption import look_up
from ascertain.kernels.quotients.obstruction import settle_at_once, settle_backwards, settle_forwards
from ascertain.kernels.quotients.pairs import (
    INFINITE,
    ByteArray,
    Pairs,
    ShortArray,
    index_predecessors,
    seed_pairs,
    spread_pairs,
)
from ascertain.model import Model
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, IntArray, LongArray, State

SLICE = 50_000_000
"""Edges walked in one call of the kernel; between two calls Ctrl-C works."""
FEW_STATES = 4_096
"""States of which marks for all are made in no time."""
MOST_ELEMENTS = 2**16
"""Elements whose pairs are measured: pair numbers fit 31 bits up to here."""
MOST_CLASSES = 30_000
"""Classes whose pairs are settled by a bit each: 56 MB, and a pass over all pairs takes seconds."""
MOST_OPEN = 200_000_000
"""Pairs that may be left open after one action: each takes four bytes in a queue."""


def pair_number(i: int, j: int) -> int:
    """Where the pair {i, j} stands in a triangular array; i and j differ."""
    return i * (i - 1) // 2 + j if i > j else j * (j - 1) // 2 + i


@dataclass(frozen=True, eq=False)
class PairDistances:
    """Distances of all pairs of elements, and for each pair the first action of a cheapest word."""

    states: IntArray
    """`states[e]` is the state of the model that element e is."""
    successor: IntArray
    behaviour: IntArray
    label: IntArray | None
    """The labels of elements in a task about the current state; None where elements are to be separated."""
    distance: LongArray
    """`distance[i * (i - 1) // 2 + j]` for i > j; INFINITE where nothing tells i from j."""
    choice: ShortArray
    """The first action of a cheapest word, numbered alike; -1 where there is none or none is needed."""
    edges: int
    """How many edges of the pair graph were walked."""

    def between(self, i: int, j: int) -> int:
        """The distance of i and j; an element agrees with itself in label and is never separated from itself."""
        if i == j:
            return INFINITE if self.label is None else 0
        return int(self.distance[pair_number(i, j)])

    def word(self, i: int, j: int) -> tuple[Action, ...] | None:
        """A cheapest word that settles i against j: empty where none is needed, None where there is none."""
        if self.between(i, j) == INFINITE:
            return None
        word: list[Action] = []
        while self.between(i, j) > 0:
            a = int(self.choice[pair_number(i, j)])
            word.append(a)
            if self.behaviour[i, a] != self.behaviour[j, a]:
                break
            i, j = int(self.successor[i, a]), int(self.successor[j, a])
        return tuple(word)


def measure_pairs(
    successor: IntArray,
    behaviour: IntArray,
    label: IntArray | None,
    cost: LongArray,
    states: IntArray | None = None,
) -> PairDistances:
    """Distances and first actions of all pairs: by separation alone, or, where labels are given, by them too.

    `successor[e, a]` and `behaviour[e, a]` are -1 where e does not allow a; `cost[a]` is a positive integer. Time and
    memory grow with the number of pairs: 14 bytes for each, a little more where costs differ. Elements stand for
    `states`, or for themselves.
    """
    n, num_actions = successor.shape
    size = n * (n - 1) // 2
    if n > MOST_ELEMENTS or num_actions >= 2**15:
        raise LimitError(f"{n} elements have too many pairs to measure; at most {MOST_ELEMENTS} can be taken")
    if int(cost.max()) * max(size, 1) >= INFINITE:
        raise LimitError(f"costs up to {int(cost.max())} on {size} pairs may overflow 62 bits; use simpler cost ratios")
    levels, queue_of = np.unique(cost, return_inverse=True)
    pairs = Pairs(
        cost=cost,
        order=np.argsort(cost, kind="stable").astype(np.int32),
        queue_of=queue_of.astype(np.int32),
        distance=np.empty(size, dtype=np.int64),
        choice=np.empty(size, dtype=np.int16),
        closed=np.zeros(size // 8 + 1, dtype=np.uint8),
        # Memory that is never written is never taken: all queues together rarely hold more than each pair once.
        queue=np.empty((len(levels), size), dtype=np.int32),
        head=np.zeros(len(levels), dtype=np.int32),
        tail=np.zeros(len(levels), dtype=np.int32),
    )
    start, source = predecessors(successor)
    elements = np.arange(n, dtype=np.int32)
    seed_pairs(successor, behaviour, elements if label is None else label, label is not None, pairs)
    edges = 0
    while (pairs.head < pairs.tail).any():
        look_up()
        edges += spread_pairs(start, source, pairs, SLICE)
    return PairDistances(
        elements if states is None else states, successor, behaviour, label, pairs.distance, pairs.choice, edges
    )


def measure_task(task: Task, states: IntArray | None = None) -> PairDistances:
    """The distances between the states that hypotheses can become; `states` are these, where they are known already."""
    found = list_reachable(task.model, task.state) if states is None else states
    label = None if task.state_label is None else task.state_label[found]
    cost, _ = task.integer_costs()
    return measure_pairs(successors_within(task.model, found), task.model.behaviour[found], label, cost, found)


def predecessors(successor: IntArray) -> tuple[IntArray, IntArray]:
    """The x that a leads to e: `source[start[k] : start[k + 1]]` with k = e * actions + a."""
    start = np.zeros(successor.size + 1, dtype=np.int32)
    source = np.empty(int(np.count_nonzero(successor >= 0)), dtype=np.int32)
    index_predecessors(successor, start, source)
    return start, source


def settle_pairs(task: Task, states: IntArray) -> ByteArray:
    """For the pairs of these states, which are closed under successors: bit p is 1 when some word settles pair p."""
    n = len(states)
    if n > MOST_CLASSES:
        raise LimitError(
            f"hypotheses can become {n} classes of states; with forbidden actions, or about the current state, "
            f"obstructions are decided up to {MOST_CLASSES}"
        )
    successor = successors_within(task.model, states)
    meeting = task.state_label is not None
    label = task.state_label[states] if task.state_label is not None else np.arange(n, dtype=np.int32)
    settled = np.zeros(n * (n - 1) // 16 + 1, dtype=np.uint8)
    left = settle_at_once(successor, task.model.behaviour[states], label, meeting, settled)
    if left > MOST_OPEN:
        raise LimitError(
            f"{left} pairs of classes agree in every action that both allow; at most {MOST_OPEN} can be taken"
        )
    queue = np.empty(left, dtype=np.int32)
    tail = settle_forwards(successor, settled, queue)
    settle_backwards(*predecessors(successor), successor.shape[1], settled, queue, tail)
    return settled


def list_reachable(model: Model, states: IntArray) -> IntArray:
    """The states that these can become, themselves included, ascending."""
    reached = np.zeros(model.num_states + 1, dtype=np.bool_)  # reached[UNDEFINED] stays False
    front = states
    while len(front):
        look_up()
        reached[front] = True
        lead = model.successor[front]
        if lead.size * 8 > len(reached) or len(reached) < FEW_STATES:
            # Marks sort many states, or few of a few, faster than sorting does.
            mark = reached.copy()
            mark[lead] = True
            mark[UNDEFINED] = False
            front = np.flatnonzero(mark != reached)
        else:
            lead = lead[lead != UNDEFINED]
            front = np.unique(lead[~reached[lead]])
    return np.flatnonzero(reached).astype(np.int32)


def list_few_reachable(task: Task, most: int, taken_by: str) -> IntArray:
    """The states that hypotheses can become; LimitError where that is more than what is to be done with them takes."""
    states = list_reachable(task.model, task.state)
    if len(states) > most:
        raise LimitError(
            f"hypotheses can become {len(states)} different states and {taken_by} at most {most}; "
            "take the quotient first or ask for fewer hypotheses"
        )
    return states


def successors_within(model: Model, states: IntArray) -> IntArray:
    """The rows of `successor` of these states, which are closed under it, with states numbered by their place here."""
    number = np.full(model.num_states + 1, UNDEFINED, dtype=np.int32)  # number[-1] stays -1
    number[states] = np.arange(len(states))
    return number[model.successor[states]]


def separating_word(
    model: Model, p: State, q: State, *, cost: LongArray | None = None, limit: int = 1_000_000
) -> tuple[Action, ...] | None:
    """A shortest word that both states allow and whose last reading has different laws; None where there is none.

    By number of actions, or by total cost where costs are given. Searches forward from the one pair, so that it works
    on machines whose pairs cannot all be listed; it gives up, with an error, after `limit` pairs.
    """
    price = [1] * model.num_actions if cost is None else [int(c) for c in np.ravel(cost)]
    if not (
        0 <= p < model.num_states and 0 <= q < model.num_states and len(price) == model.num_actions and min(price) > 0
    ):
        raise TaskError(
            f"the states {p} and {q} must be in 0 .. {model.num_states - 1}, and costs positive, one for each of "
            f"the {model.num_actions} actions; got {price[:8]}"
        )
    reached: dict[tuple[State, State], int] = {(p, q): 0}
    came: dict[tuple[State, State], tuple[tuple[State, State], Action]] = {}
    queue: list[tuple[int, int, State, State, Action]] = [(0, 0, p, q, UNDEFINED)]
    while queue:
        so_far, _, i, j, last = heappop(queue)
        if last != UNDEFINED:
            return (*_retrace(came, (i, j)), last)
        if so_far > reached[i, j]:
            continue
        for a in range(model.num_actions):
            pair = (int(model.successor[i, a]), int(model.successor[j, a]))
            if UNDEFINED in pair:
                continue
            total = so_far + price[a]
            # A word that separates is queued at its full cost, and returned once nothing cheaper waits.
            if model.behaviour[i, a] != model.behaviour[j, a]:
                heappush(queue, (total, len(reached), i, j, a))
            elif pair[0] != pair[1] and total < reached.get(pair, INFINITE):
                reached[pair], came[pair] = total, ((i, j), a)
                heappush(queue, (total, len(reached), *pair, UNDEFINED))
        if len(reached) > limit:
            raise LimitError(f"no word of cost below {so_far} separates the two states; {limit} pairs were searched")
    return None


def _retrace(
    came: dict[tuple[State, State], tuple[tuple[State, State], Action]], pair: tuple[State, State]
) -> tuple[Action, ...]:
    """The word that led to a pair."""
    word: list[Action] = []
    while pair in came:
        pair, a = came[pair]
        word.append(a)
    return tuple(reversed(word))


def separating_words(
    model: Model, *, cost: LongArray | None = None
) -> Iterator[tuple[tuple[State, State], tuple[Action, ...] | None]]:
    """(p, q) and a word for every two states p < q of a model, usually a reduced one; None where there is no word."""
    price = np.ones(model.num_actions, dtype=np.int64) if cost is None else cost
    table = measure_pairs(model.successor, model.behaviour, None, price)
    for q in range(model.num_states):
        for p in range(q):
            yield (p, q), table.word(p, q)
