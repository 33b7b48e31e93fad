"""The belief graph: every information state that can come about, and where actions and readings lead from it.

It is built breadth first, a layer at a time, with arrays. A node is *closed* when all labels but one have together no
more than a given part of the weight: nobody would ask on, so nothing follows it. It is *terminal* when it is closed, or
when no action that is allowed there is of use. A filter may name a few actions at
each node (`pruning.py`); with all of them the graph is the whole problem, and lower bounds can be read off it
(`lagrangian.py`).

Smaller graphs are made of a graph for one purpose: `restrict_graph` leaves nodes out, `policy_graph` keeps the one
action that a policy takes at each node (the *policy graph* of Hansen, UAI 1998), and `unroll_in_time` tells apart when
a node is met, so that a policy may treat it differently then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Self, TypeAlias, final

import numpy as np
import numpy.typing as npt

from ascertain.errors import LimitError
from ascertain.planning.information_state import (
    ELIMINATED,
    IMPOSSIBLE,
    UNIT,
    LikelihoodTables,
    weigh_answers,
    weights_of,
)
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.policy.automaton import NOWHERE
from ascertain.types import UNDEFINED, BoolArray, FloatArray, IntArray, LongArray

InformationStates: TypeAlias = tuple[IntArray, LongArray]
"""`state[v, i]` and `penalty[v, i]` of some information states."""
SmallArray: TypeAlias = npt.NDArray[np.int16]
"""Slots, of which there are far fewer than 2^15: the largest table of a graph takes a quarter of the memory."""
Edges: TypeAlias = tuple[IntArray, IntArray, LongArray, SmallArray | None]
"""`option`, `child`, `shift` and `slot` of some nodes, as in `BeliefGraph`."""
ActionFilter: TypeAlias = Callable[[IntArray, LongArray, BoolArray], IntArray]
"""What leaves a few actions at each node: of its states, its penalties and the allowed actions it makes `option`."""
MARGINS_NATS = (4.0, 1.0)
"""Nats beyond 1/alpha that a hypothesis is remembered for, if there is room, and if there is not: more of them sharpen
a lower bound and multiply the nodes."""
NEGLIGIBLE = 40 * UNIT
"""A likelihood e^-40 times another one adds less to it than a float can show."""


@final
@dataclass(frozen=True, eq=False)
class BeliefGraph:
    """Information states and where they lead. Node 0 is the start."""

    tables: LikelihoodTables
    state: IntArray
    """`state[v, i]`, -1 where the hypothesis is ruled out or forgotten."""
    penalty: LongArray
    """`penalty[v, i]`, ELIMINATED where it is; the least is 0, except at the start, where it may be lower."""
    option: IntArray
    """`option[v, k]`: an action (of ranked slots, a rank), -1 where there are fewer options."""
    child: IntArray
    """`child[v, k, y]`, -1 where y cannot be read."""
    shift: LongArray
    """`shift[v, k, y]`: what was taken from all penalties so that the least is 0."""
    slot: SmallArray | None
    """`slot[v, k, y, i]`: the slot that slot i becomes; None for named slots, which stay where they are."""
    has_all_actions: bool
    """Whether every allowed action of use is an option at every node that is not closed."""
    rival_part: float
    """A node is closed where all labels but one have at most this part of the weight."""

    @property
    def size(self) -> int:
        return len(self.state)

    @cached_property
    def weight(self) -> FloatArray:
        """`weight[v, i]`: the likelihood relative to the likeliest hypothesis, at most."""
        return weights_of(self.penalty)

    @cached_property
    def factor(self) -> FloatArray:
        """`factor[v, k, y]`: what weights at the child are multiplied by to continue those at v."""
        return np.where(self.child >= 0, np.exp(-self.shift / UNIT), 0.0)

    @cached_property
    def right(self) -> IntArray:
        """`right[v, i]`: the answer that is right for slot i at v."""
        return self.tables.answers_at(self.state)

    @cached_property
    def terminal(self) -> BoolArray:
        """`terminal[v]`: nothing can be asked at v."""
        return np.all(self.option < 0, axis=1)

    @cached_property
    def closed(self) -> BoolArray:
        """`closed[v]`: nothing is asked at v since one label has nearly all the weight, though more could be read.

        At other terminal nodes no action is of use any more: whoever goes on pays, and is none the wiser.
        """
        return self.terminal & find_closed(self.tables, self.state, self.weight, self.rival_part)

    def under(self, choice: LongArray) -> tuple[IntArray, FloatArray]:
        """`child[v, y]` and `factor[v, y]` of the option that is chosen at each node; no child where none is."""
        rows, asked = np.arange(self.size), np.maximum(choice, 0)
        child = np.where((choice >= 0)[:, None], self.child[rows, asked], NOWHERE).astype(np.int32)
        return child, self.factor[rows, asked]


@final
class GraphBuilder:
    """Information states met so far, and how the graph grows from them."""

    def __init__(
        self,
        tables: LikelihoodTables,
        cap: float,
        rival_part: float,
        action_filter: ActionFilter | None = None,
        max_nodes: int = 100_000,
        limits: SearchLimits = DEFAULT_LIMITS,
    ) -> None:
        """`cap` in nats: a penalty above it eliminates; without `action_filter` there are all actions.

        `rival_part`: a node is terminal when all labels but one have at most this part of the weight.
        """
        self.tables, self.cap, self.rival_part = tables, int(cap * UNIT), rival_part
        self.action_filter, self.max_nodes, self.limits = action_filter, max_nodes, limits
        label: list[int] = tables.task.label.tolist()
        moves = tables.task.about == "current"  # then labels go with states, and all who meet have the same
        self.pairs = [(i, j) for j in range(len(label)) for i in range(j) if moves or label[i] == label[j]]
        self.number: dict[bytes, int] = {}
        self.found: list[InformationStates] = []

    @classmethod
    def at_risk(
        cls,
        tables: LikelihoodTables,
        alpha: Fraction,
        *,
        more: float = MARGINS_NATS[-1],
        max_nodes: int,
        limits: SearchLimits = DEFAULT_LIMITS,
        action_filter: ActionFilter | None = None,
    ) -> Self:
        """For policies of this risk, and bounds on them: what is eliminated or terminal could hardly change an answer.

        A hypothesis is dropped so many nats beyond the evidence that n of them need at 1/alpha together, and a node
        ends where the other labels have a quarter of one's share of alpha, or less where nats are more than one.
        """
        n = tables.num_slots
        cap, rival_part = math.log(1 / alpha) + math.log(n) + more, float(alpha) * math.exp(1 - more) / (4 * n)
        return cls(tables, cap, rival_part, action_filter, max_nodes, limits)

    def build(self, start: LongArray | None = None) -> BeliefGraph:
        """The whole graph; LimitError when it has more than `max_nodes` nodes.

        `start[h]` is the penalty that h begins with, none if not given.
        """
        found = "the readings of this task lead to more than {} different information states"
        return self.grow(self.begin(start), self.expand, found)

    def grow(
        self,
        frontier: InformationStates,
        expand: Callable[[IntArray, LongArray], tuple[Edges, InformationStates]],
        too_many: str,
    ) -> BeliefGraph:
        """What information states lead to by and by, where `expand` says what they lead to at once."""
        layers: list[Edges] = []
        while len(frontier[0]):
            self.limits.check_time()
            layer, frontier = expand(*frontier)
            layers.append(layer)
            if len(self.number) > self.max_nodes:
                raise LimitError(too_many.format(self.max_nodes))
        state, penalty = np.concatenate([s for s, _ in self.found]), np.concatenate([p for _, p in self.found])
        option, child = np.concatenate([layer[0] for layer in layers]), np.concatenate([layer[1] for layer in layers])
        shift = np.concatenate([layer[2] for layer in layers])
        slots = [layer[3] for layer in layers if layer[3] is not None]
        slot = np.concatenate(slots) if slots else None
        complete = self.action_filter is None
        return BeliefGraph(self.tables, state, penalty, option, child, shift, slot, complete, self.rival_part)

    def begin(self, start: LongArray | None) -> InformationStates:
        """The information state before the first reading."""
        n = self.tables.num_slots
        penalty = np.zeros((1, n), dtype=np.int64) if start is None else start.reshape(1, n).astype(np.int64)
        return self.intern(*self.merge_hypotheses(self.tables.task.state.reshape(1, n).copy(), penalty))[1]

    def expand(self, state: IntArray, penalty: LongArray) -> tuple[Edges, InformationStates]:
        """Where these information states lead, and the new ones among those."""
        allowed = self.find_allowed(state, penalty)
        if self.action_filter is not None:
            option = self.action_filter(state, penalty, allowed)
        else:
            every: IntArray = np.arange(self.tables.num_actions, dtype=np.int32)
            option = np.where(allowed, every[None, :], NOWHERE).astype(np.int32)
        option[find_closed(self.tables, state, weights_of(penalty), self.rival_part)] = NOWHERE
        # The k-th options of all nodes are updated together, reading by reading; new nodes are numbered in that order.
        shape = (*option.shape, self.tables.num_readings)
        child, shift = np.full(shape, NOWHERE, dtype=np.int32), np.zeros(shape, dtype=np.int64)
        slot = None if self.tables.slots == "named" else np.zeros((*shape, state.shape[1]), dtype=np.int16)
        fresh: list[InformationStates] = [(state[:0], penalty[:0])]
        for k in range(shape[1]):
            asked = np.flatnonzero(option[:, k] != NOWHERE)
            for y in range(shape[2]):
                rows, after, least, moved = self.update(state[asked], penalty[asked], option[asked, k], y)
                index, new = self.intern(*after)
                child[asked[rows], k, y], shift[asked[rows], k, y] = index, least
                if slot is not None and moved is not None:
                    slot[asked[rows], k, y] = moved
                fresh.append(new)
        after_all = np.concatenate([f[0] for f in fresh]), np.concatenate([f[1] for f in fresh])
        return (option, child, shift, slot), after_all

    def find_allowed(self, state: IntArray, penalty: LongArray) -> BoolArray:
        """Which actions every hypothesis with a state allows and are of use.

        An action that moves no hypothesis with a state, and reads alike in all of them, leads back to where it was
        asked. Those with a state count although they are eliminated: ruling one out may free an action that it forbids.
        """
        # Gone hypotheses have no state; they are looked up at state 0 and masked out.
        place, gone = np.maximum(state, 0), state == NOWHERE
        after, law = self.tables.successor[place], self.tables.task.model.behaviour[place]
        allowed = ((after != UNDEFINED) | gone[:, :, None]).all(axis=1)
        moves = ((after != place[:, :, None]) & ~gone[:, :, None]).any(axis=1)
        # The law of one hypothesis that is still alive: an action tells something where any other has a different one.
        some = law[np.arange(len(law)), (penalty < ELIMINATED).argmax(axis=1)]
        tells = ((law != some[:, None, :]) & ~gone[:, :, None]).any(axis=1)
        return allowed & (moves | tells)

    def update(
        self, state: IntArray, penalty: LongArray, action: IntArray, y: int
    ) -> tuple[LongArray, InformationStates, LongArray, SmallArray | None]:
        """Bayes' rule in logarithms, when y is read after these actions.

        Returned are the rows where y is possible, their new information states, what was taken from all their
        penalties, and, unless slots are named, the slot that each slot becomes.
        """
        tables, place = self.tables, np.maximum(state, 0)
        added = penalty + tables.penalty[place, action[:, None], y]
        possible = (state != NOWHERE) & (added < IMPOSSIBLE)
        alive = possible & (added < ELIMINATED)
        rows = np.flatnonzero(alive.any(axis=1))
        moved = np.where(possible, tables.successor[place, action[:, None]], NOWHERE)[rows].astype(np.int32)
        moved, added = self.merge_hypotheses(moved, np.where(alive, added, ELIMINATED)[rows])
        # Relative to the likeliest hypothesis; what then exceeds the cap is eliminated, and forgotten where no
        # eliminated hypothesis can forbid an action.
        least: LongArray = added.min(axis=1)
        added = added - least[:, None]
        added = np.where(added > self.cap, ELIMINATED, added)
        if tables.complete:
            moved[added >= ELIMINATED] = NOWHERE
        if tables.slots == "named":
            return rows, (moved, added), least, None
        # Sorting makes arrangements that differ by names one information state (see information_state.py).
        order = np.lexsort((added,) if tables.slots == "ranked" else (added, moved), axis=1)
        moved, added = np.take_along_axis(moved, order, axis=1), np.take_along_axis(added, order, axis=1)
        if tables.slots == "ranked":
            # A rank has the state of the hypothesis of that number, whose sensor tells it from the other ranks.
            moved = np.where(added >= ELIMINATED, NOWHERE, tables.task.state[None, :]).astype(np.int32)
        return rows, (moved, added), least, np.argsort(order, axis=1, kind="stable").astype(np.int16)

    def merge_hypotheses(self, state: IntArray, penalty: LongArray) -> InformationStates:
        """Merge hypotheses of one label in one state, adding their likelihoods, rounded down."""
        for i, j in self.pairs:
            met = np.flatnonzero((state[:, i] == state[:, j]) & (state[:, i] != NOWHERE))
            if len(met) == 0:
                continue
            # -log(e^-p + e^-q) = min(p, q) - log(1 + e^-|p - q|), of which the logarithm is rounded down.
            p, q = penalty[met, i], penalty[met, j]
            low: LongArray = np.minimum(p, q)
            gap: LongArray = np.minimum(np.abs(p - q), NEGLIGIBLE)
            gain: LongArray = np.floor(np.log1p(np.exp(-gap / UNIT)) * (1 - 1e-12) * UNIT).astype(np.int64)
            merged: LongArray = np.where(gap == NEGLIGIBLE, low, low - gain)
            penalty[met, i] = np.where(low >= ELIMINATED, ELIMINATED, merged)
            penalty[met, j], state[met, j] = ELIMINATED, NOWHERE
        return state, penalty

    def intern(self, state: IntArray, penalty: LongArray) -> tuple[IntArray, InformationStates]:
        """The numbers of these information states, and those that are new."""
        key = np.ascontiguousarray(np.concatenate([state.astype(np.int64), penalty], axis=1))
        # Equal rows are found as equal byte strings; new ones are numbered in the order of these.
        rows: list[bytes] = key.view(np.dtype((np.void, key.shape[1] * 8))).reshape(-1).tolist()
        unseen = sorted({row: k for k, row in enumerate(rows) if row not in self.number}.items())
        for row, _ in unseen:
            self.number[row] = len(self.number)
        index = np.array([self.number[row] for row in rows], dtype=np.int32)
        new = np.array([k for _, k in unseen], dtype=np.int64)
        fresh = (state[new], penalty[new])
        self.found.append(fresh)
        return index, fresh


def find_closed(tables: LikelihoodTables, state: IntArray, weight: FloatArray, rival_part: float) -> BoolArray:
    """Where one label has nearly all the weight."""
    of_label = weigh_answers(weight, tables.answers_at(state), tables.num_answers)
    of_label[np.arange(len(of_label)), of_label.argmax(axis=1)] = 0.0
    return of_label.sum(axis=1) <= rival_part * weight.sum(axis=1)


def restrict_graph(graph: BeliefGraph, keep: BoolArray) -> tuple[BeliefGraph, LongArray]:
    """The nodes to keep and those they lead to, which become terminal; and the old number of each node."""
    after = graph.child[keep]
    some = keep.copy()
    some[after[after != NOWHERE]] = True
    some[0] = True
    node = np.flatnonzero(some)
    number: IntArray = np.full(graph.size, NOWHERE, dtype=np.int32)
    number[node] = np.arange(len(node), dtype=np.int32)
    # Nodes that are only led to keep no options: a policy ends there.
    asks = keep[node]
    child = np.where(graph.child[node] == NOWHERE, NOWHERE, number[np.maximum(graph.child[node], 0)])
    smaller = replace(
        graph,
        state=graph.state[node],
        penalty=graph.penalty[node],
        option=np.where(asks[:, None], graph.option[node], NOWHERE).astype(np.int32),
        child=np.where(asks[:, None, None], child, NOWHERE).astype(np.int32),
        shift=graph.shift[node],
        slot=None if graph.slot is None else graph.slot[node],
        has_all_actions=False,
    )
    return smaller, node


def alternate_ties(graph: BeliefGraph) -> BeliefGraph:
    """A graph of ranked slots where each reading that speaks for the one who is asked reverses the order of equals.

    Ties stay in order, so that hypotheses of which nothing is known are asked one after the other, and the last of them
    waits longest. A reading that errs takes the place of a coin here: after it the last comes first. Information states
    and what is best there stay the same; only which hypothesis is in which slot changes.
    """
    assert graph.slot is not None
    n = int(graph.penalty.shape[1])
    equal: BoolArray = np.equal(graph.penalty[:, :, None], graph.penalty[:, None, :])
    first: LongArray = np.argmax(equal, axis=2)
    from_end: LongArray = np.argmax(equal[:, :, ::-1], axis=2)
    mirrored = first + (n - 1 - from_end) - np.arange(n)
    own, other = graph.tables.chance[graph.tables.task.state[0], 0], graph.tables.chance[graph.tables.task.state[1], 0]
    slot = graph.slot.copy()
    for y in np.flatnonzero(own > other).tolist():
        for k in range(slot.shape[1]):
            after = mirrored[np.maximum(graph.child[:, k, y], 0)]
            slot[:, k, y] = np.take_along_axis(after, slot[:, k, y].astype(np.int64), axis=1)
    return replace(graph, slot=slot)


def policy_graph(graph: BeliefGraph, node: LongArray, choice: LongArray, child: LongArray) -> BeliefGraph:
    """The graph of one policy: its node i is `node[i]` with one option, `choice[i]`, or none where that is negative.

    `child[i, y]` is the node of the policy that reading y leads to.
    """
    asked = np.maximum(choice, 0)
    return replace(
        graph,
        state=graph.state[node],
        penalty=graph.penalty[node],
        option=np.where(choice >= 0, graph.option[node, asked], NOWHERE)[:, None].astype(np.int32),
        child=child[:, None, :].astype(np.int32),
        shift=graph.shift[node, asked][:, None],
        slot=None if graph.slot is None else graph.slot[node, asked][:, None],
        has_all_actions=False,
    )


def unroll_in_time(
    graph: BeliefGraph, choice: LongArray, horizon: int, max_nodes: int
) -> tuple[BeliefGraph, LongArray]:
    """The graph of a policy with one node for each time a node can be met at, and the node that each of them is.

    At the horizon nothing is asked. LimitError past `max_nodes`.
    """
    layer = np.zeros(1, dtype=np.int64)
    nodes: list[LongArray] = []
    children: list[LongArray] = []
    size = 1
    for _ in range(horizon):
        asks = choice[layer] >= 0
        after = np.where(asks[:, None], graph.child[layer, np.maximum(choice[layer], 0), :], NOWHERE)
        # One node for each (time, node): those of the next layer are numbered after all layers so far.
        following = np.unique(after[after != NOWHERE]).astype(np.int64)
        nodes.append(layer)
        children.append(np.where(after == NOWHERE, NOWHERE, size + np.searchsorted(following, after)))
        layer, size = following, size + len(following)
        if size > max_nodes:
            raise LimitError(f"unrolled in time the policy has more than {max_nodes} nodes")
    node = np.concatenate([*nodes, layer])
    last = np.full((len(layer), graph.tables.num_readings), NOWHERE, dtype=np.int64)
    child: LongArray = np.concatenate([*children, last])
    asked = np.where((child == NOWHERE).all(axis=1), NOWHERE, choice[node])
    return policy_graph(graph, node, asked, child), node
