"""Pruning: a few actions at each node, and the likely nodes only, where the whole belief graph is too large.

Pruning narrows what `lagrangian.py` chooses from. A policy on a pruned graph is evaluated like any other, on the law of
the true readings (`controller.py`), so its guarantee does not depend on what was left out; only lower bounds need the
whole graph. Slots are named here.

*Which actions.* For two states s and t and an action a, let Q(s, t, a) be the divergence of the two reading laws plus
what is to come, discounted by cost:

    Q(s, t, a) = KL_a(s || t) + g^c(a) max over a' of Q(s', t', a'),          0 < g < 1,

so that going to a far sensor is worth what the sensor will tell. At a node every pair of hypotheses of different labels
counts for the square root of the product of their weights: pairs of which both are likely count most, that is, the
leader against the rivals with the least evidence against them. Actions are ranked by

    sum over pairs of sqrt(mu_h mu_g) (w_h Q(h, g, a) + w_g Q(g, h, a)),

where the weights w are those of the price search, larger where a hypothesis costs more, times (1 + preference[h, a] +
preference[g, a]) when the expected visits of the program bound are given: the experiment that an observer who knew the
truth would make (Chernoff, Annals of Mathematical Statistics 30, 1959).

*Which not.* After some actions two hypotheses of different labels can never be told apart again: both are in one state,
say. Whoever does that while both are likely has to abstain, or errs. So such an action is no option where both have
more than MERGING_RISK alpha times the weight of the likeliest, unless nothing else is allowed.

*Which nodes.* The probability of each node after t readings, under the mixture of all hypotheses by their weights, is
carried along while the graph grows: in full through the first action at every node, and discounted through the others,
so that a policy may take those now and then. A node is expanded once a visit to it has probability `least` or more.

A node that is never expanded is *rounded*: edges into it lead instead to an expanded one with the same hypotheses in
the same states, none of them with a larger penalty, and with as large ones as there are. Forgetting some evidence makes
a policy slower, not rash. Where there is no such node the policy stops there.
"""

from __future__ import annotations

import copy
from typing import TypeVar, final

import numpy as np
import numpy.typing as npt

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import ActionFilter, BeliefGraph, GraphBuilder
from ascertain.planning.information_state import UNIT, LikelihoodTables, weights_of
from ascertain.policy.automaton import NOWHERE
from ascertain.types import UNDEFINED, Action, BoolArray, FloatArray, IntArray, LongArray

Number = TypeVar("Number", bound=np.generic)
"""The kind of entries of an array."""

MAX_NATS = 40.0
"""What a reading that excludes a state counts for: more than any evidence that a run needs at a usual alpha."""
DISCOUNT = 0.85
"""The factor g for an action of mean cost: a sensor ten actions away still counts for a fifth."""
PROMISE_SWEEPS = 200
"""Sweeps that Q is improved for: 0.85^200 of the largest divergence is below the tolerance."""
MAX_STATES = 300
"""Models with more states have too many pairs (s, t) for a table Q[s, t, a]."""
MERGING_RISK = 100.0
"""What the less likely of two hypotheses that are merged may weigh, times alpha: an error has a price of about 1/alpha,
so that more than this costs several times what a policy asks."""
SECOND_CHOICE = 0.2
"""What the second action at a node counts for when probability is carried along, and the third for that squared."""
MAX_STEPS = 400
"""Readings after which probability is no longer carried along: policies that are worth it have ended long before."""
MAX_CANDIDATES = 4000
"""Expanded nodes that are compared with a node to be rounded, the first ones: they are the likeliest."""


@final
class MostInformative:
    """The `num_options` actions that promise most information."""

    def __init__(
        self, tables: LikelihoodTables, num_options: int, preference: FloatArray | None = None, alpha: float = 1.0
    ) -> None:
        self.tables, self.num_options = tables, min(num_options, tables.num_actions)
        label = tables.task.label if tables.task.about == "start" else np.arange(tables.num_slots)
        self.rivals = np.argwhere(np.triu(label[:, None] != label[None, :]))
        self.promise = promised_information(tables)
        successor, lost = np.maximum(tables.successor, 0), np.all(self.promise == 0, axis=2)
        self.merges: BoolArray = lost[successor[:, None, :], successor[None, :, :]]
        """`merges[s, t, a]`: after a nothing tells s and t apart."""
        self.mergeable = MERGING_RISK * alpha
        self.preference = preference
        self.weights: FloatArray = np.ones(tables.num_slots)

    def weigh(self, weights: FloatArray) -> MostInformative:
        """The same with hypotheses counted by these weights: what is read counts most where the cost is largest."""
        other = copy.copy(self)
        other.weights = weights / weights.max()
        return other

    def __call__(self, state: IntArray, penalty: LongArray, allowed: BoolArray) -> IntArray:
        root = np.sqrt(weights_of(penalty))
        score = np.zeros((len(state), self.tables.num_actions))
        merging = np.zeros(allowed.shape, dtype=np.bool_)
        for h, g in self.rivals.tolist():
            both = np.flatnonzero((root[:, h] * root[:, g] > 0) & (state[:, h] != NOWHERE) & (state[:, g] != NOWHERE))
            worth = self.weights[h] * self.promise[state[both, h], state[both, g]]
            worth = worth + self.weights[g] * self.promise[state[both, g], state[both, h]]
            if self.preference is not None:
                worth = worth * (1 + self.preference[h] + self.preference[g])
            score[both] += (root[both, h] * root[both, g])[:, None] * worth
            likely = both[np.minimum(root[both, h], root[both, g]) ** 2 > self.mergeable]
            merging[likely] |= self.merges[state[likely, h], state[likely, g]]
        careful = allowed & ~merging
        allowed = np.where(careful.any(axis=1, keepdims=True), careful, allowed)
        # Ties go to the action of the lowest number, so that what is built does not depend on the sorting.
        score = np.where(allowed, score, -1.0)
        best = np.argsort(-score, axis=1, kind="stable")[:, : self.num_options]
        return np.where(np.take_along_axis(allowed, best, axis=1), best, NOWHERE).astype(np.int32)


def repeat_action(action: Action) -> ActionFilter:
    """One action over and over: the fewest nodes that a policy can do with."""
    return lambda _state, _penalty, allowed: np.where(allowed[:, [action]], action, NOWHERE).astype(np.int32)


def promised_information(tables: LikelihoodTables) -> FloatArray:
    """`Q[s, t, a]`, by value iteration."""
    rate = divergences(tables)
    successor = np.maximum(tables.successor, 0)
    defined = tables.successor != UNDEFINED
    both = defined[:, None, :] & defined[None, :, :]
    # An action of twice the mean cost is discounted twice: what counts is information for each unit of cost.
    discount = DISCOUNT ** (tables.cost / tables.cost.mean())
    promise = np.where(both, rate, 0.0)
    for _ in range(PROMISE_SWEEPS):
        best = promise.max(axis=2)
        after = best[successor[:, None, :], successor[None, :, :]]
        new = np.where(both, rate + discount[None, None, :] * after, 0.0)
        if np.abs(new - promise).max() < 1e-6:
            break
        promise = new
    return promise


def divergences(tables: LikelihoodTables) -> FloatArray:
    """`KL[s, t, a]` in nats, MAX_NATS where it is more or infinite."""
    chance = tables.chance
    n, num_actions, _ = chance.shape
    result = np.zeros((n, n, num_actions))
    for s in range(n):
        mine, theirs = chance[s][None, :, :], chance
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(mine > 0, mine * np.log(mine / theirs), 0.0)
        result[s] = np.minimum(np.where(np.isnan(terms), 0.0, terms).sum(axis=2), MAX_NATS)
    return result


def build_likely_graph(
    builder: GraphBuilder, start: LongArray | None, *, least: float, remaining: float
) -> BeliefGraph:
    """The nodes that have probability `least` at some time, until at most `remaining` of it is not at terminal ones.

    The builder has an action filter; `start` is that of its `build`. LimitError past its `max_nodes`.
    """
    growth = _Growth(builder, start)
    for _ in range(MAX_STEPS):
        builder.limits.check_time()
        if not growth.step(least, remaining):
            break
        if growth.size > builder.max_nodes:
            raise LimitError(
                f"the likely readings of this task lead to more than {builder.max_nodes} different information states"
            )
    growth.round()
    return growth.graph()


class _Growth:
    """Tables that grow as nodes are expanded."""

    def __init__(self, builder: GraphBuilder, start: LongArray | None) -> None:
        self.builder = builder
        first = builder.begin(start)
        # Tables without rows, in the shapes that expanding gives.
        self.state, self.penalty = first[0][:0], first[1][:0]
        (self.option, self.child, self.shift, _), _ = builder.expand(self.state, self.penalty)
        self.part: FloatArray = np.zeros(self.child.shape)
        """`part[v, k, y]`: the probability of reading y at v after its k-th action."""
        self.mass: FloatArray = np.zeros(0)
        self.expanded: BoolArray = np.zeros(0, dtype=np.bool_)
        self.now: FloatArray = np.zeros(0)
        """The probability of each node after the readings so far."""
        self.append(*first)
        self.now[0] = 1.0

    @property
    def size(self) -> int:
        return len(self.mass)

    def append(self, state: IntArray, penalty: LongArray) -> None:
        """Make room for new nodes, which lead nowhere yet."""
        new = len(state)
        self.state, self.penalty = np.concatenate([self.state, state]), np.concatenate([self.penalty, penalty])
        self.mass = np.concatenate([self.mass, weights_of(penalty).sum(axis=1)])
        self.option, self.child = _padded(self.option, new, NOWHERE), _padded(self.child, new, NOWHERE)
        self.shift, self.part = _padded(self.shift, new), _padded(self.part, new)
        self.expanded, self.now = _padded(self.expanded, new), _padded(self.now, new)

    def step(self, least: float, remaining: float) -> bool:
        """Expand what is likely now, and carry the probability on by one reading; False when little is left."""
        self.expand(np.flatnonzero(~self.expanded & (self.now >= least)))
        after = np.zeros(self.size)
        for k in range(self.option.shape[1]):
            asked = np.flatnonzero((self.now > 0) & (self.option[:, k] != NOWHERE))
            child = self.child[asked, k, :]
            part = self.part[asked, k, :] * (self.now[asked] * SECOND_CHOICE**k)[:, None]
            after += np.bincount(np.maximum(child, 0).reshape(-1), weights=part.reshape(-1), minlength=self.size)
        self.now = np.minimum(after, 1.0)
        self.now[self.now < least * 1e-6] = 0.0  # so that few nodes are carried along
        # Probability at terminal nodes has arrived, and what is at nodes too rare to expand is not waited for.
        goes_on = ~self.expanded | (self.option[:, 0] != NOWHERE)
        too_rare = ~self.expanded & (self.now < least)
        return float(self.now[goes_on & ~too_rare].sum()) > remaining

    def expand(self, nodes: LongArray) -> None:
        if len(nodes) == 0:
            return
        (option, child, shift, _), new = self.builder.expand(self.state[nodes], self.penalty[nodes])
        self.append(*new)
        self.option[nodes], self.child[nodes], self.shift[nodes] = option, child, shift
        self.expanded[nodes] = True
        part = np.exp(-shift / UNIT) * self.mass[np.maximum(child, 0)] / self.mass[nodes][:, None, None]
        self.part[nodes] = np.where(child == NOWHERE, 0.0, part)

    def round(self) -> None:
        """Lead edges into nodes that were not expanded to expanded ones that claim no more evidence."""
        # Nodes with the same states are compared among themselves: (not expanded, expanded) for each pattern of states.
        target = np.arange(self.size, dtype=np.int32)
        alike: dict[bytes, tuple[list[int], list[int]]] = {}
        for v in range(self.size):
            alike.setdefault(self.state[v].tobytes(), ([], []))[int(self.expanded[v])].append(v)
        for loose, expanded in alike.values():
            if loose and expanded:
                modest = find_modest(self.penalty[loose], self.penalty[expanded[:MAX_CANDIDATES]])
                target[loose] = np.where(modest == NOWHERE, loose, np.array(expanded)[modest])
        self.child = np.where(self.child == NOWHERE, NOWHERE, target[np.maximum(self.child, 0)]).astype(np.int32)

    def graph(self) -> BeliefGraph:
        tables, part = self.builder.tables, self.builder.rival_part
        return BeliefGraph(tables, self.state, self.penalty, self.option, self.child, self.shift, None, False, part)


def find_modest(penalty: LongArray, known: LongArray) -> LongArray:
    """For each row of penalties that row of `known` with the most evidence which nowhere has more; NOWHERE if none."""
    # The one with the most evidence comes first; penalties of eliminated hypotheses would drown the others.
    order = np.argsort(-np.minimum(known, 100 * UNIT).sum(axis=1), kind="stable")
    columns = np.ascontiguousarray(known[order].T)
    result = np.full(len(penalty), NOWHERE, dtype=np.int64)
    for v, row in enumerate(penalty.tolist()):
        modest = columns[0] <= row[0]
        for column, most in zip(columns[1:], row[1:], strict=True):
            modest &= column <= most
        first = int(modest.argmax())
        if modest[first]:
            result[v] = order[first]
    return result


def _padded(array: npt.NDArray[Number], new: int, value: int = 0) -> npt.NDArray[Number]:
    return np.concatenate([array, np.full((new, *array.shape[1:]), value, dtype=array.dtype)])
