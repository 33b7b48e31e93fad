"""Derandomisation: one policy out of a mixture, where the first readings take the place of the draw.

A mixture draws its column at random before anything is read. A policy draws nothing, but readings are noisy, and what
was read first can take the place of the draw: one column after these readings, another one after those. So

- *dive*: a partial policy is extended where columns are still mixed (`branch_and_bound.py`). Where they agree on what
  to do at a leaf, that is decided; where they do not, the decisions with most votes are tried, and the one is taken
  after which the best mixture is cheapest. It ends when columns are mixed only at leaves that are rarely met;
- *refine*: leaves that are met often, where one column is left, are decided as it would, so that there are more;
- *assign* one column to each leaf: the one with the largest share, and then, leaf by leaf, the change that most lowers
  the smooth maximum of the costs and what exceeds the risks (`local_search.py`), until none does.

The policy remembers its history as far as the partial policy goes, and then the column that it follows and the node
that this one is at: a belief graph with one option at each node. It is evaluated like every other policy
(`controller.fit_horizon`). Belief graphs forget a little of each likelihood, so evaluation finds more risk than was
foreseen; several margins are tried.
"""

from __future__ import annotations

from typing import final

import numpy as np

from ascertain.planning.belief_graph import BeliefGraph, policy_graph
from ascertain.planning.branch_and_bound import (
    IDLE,
    UNANIMOUS,
    UNDECIDED,
    BranchBound,
    ColumnPool,
    LeafMixture,
    PartialPolicy,
)
from ascertain.planning.column_generation import ColumnGeneration, Mixture
from ascertain.planning.controller import CertifiedController, fit_horizon
from ascertain.policy.automaton import NOWHERE
from ascertain.types import FloatArray, LongArray

ALPHA_FRACTIONS = (0.999, 0.995, 0.99, 0.987, 0.983, 0.98, 0.97, 0.95)
"""Parts of alpha that may be used up, as far as foreseen: evaluation finds up to a twentieth more."""
RISK_PRICE_FACTORS = (0.7, 1.5, 3.0, 10.0)
"""How much dearer risks are for columns that are added before assigning: what just exceeds a risk needs a way out."""
RISK_FRACTIONS = (0.998, 0.97)
"""Parts of the risks that the mixtures of a dive may use up: nearly all, and less where no policy came of that."""
MAX_REASSIGNMENTS = 400
"""Changes of the column of one leaf: about as many as there are leaves."""
CLEAR_MAJORITY = 0.95
"""Where one decision has a larger share of the votes than this no other is tried: a trial is a column generation."""
RARE_VISITS = 1e-3
"""Leaves, or nodes, that are met less often than this may be left undecided: what is done there hardly changes the
cost."""


@final
class Derandomisation:
    """The search for one policy. Slots are named, and each hypothesis has its own label."""

    def __init__(self, program: ColumnGeneration, mixture: Mixture, *, max_leaves: int, rounds: int) -> None:
        assert len(program.group_size) == len(program.group)
        self.program, self.pool = program, ColumnPool(program, mixture)
        self.max_leaves, self.rounds = max_leaves, rounds
        self.prices = mixture.prices

    def run(self) -> CertifiedController | None:
        """The best policy found that keeps to the risks, if any; a dive that leaves too little room is made anew."""
        # A little room is left, because belief graphs forget some evidence and evaluation finds more risk.
        for room in RISK_FRACTIONS:
            self.pool.room = room
            found = self.attempt()
            if found is not None or self.program.limits.is_over:
                return found
        return None

    def attempt(self) -> CertifiedController | None:
        partial, column_of = self.refine(*self.dive())
        for factor in RISK_PRICE_FACTORS:
            dearer = self.prices * np.array([[1.0], [factor], [factor]])
            self.pool.add(self.program.value_nodes(dearer).choice)
        best: CertifiedController | None = None
        for margin in ALPHA_FRACTIONS:
            assigned = self.assign(partial, column_of, margin)
            graph, choice = self.write_out(partial, dict(zip(partial.leaves, assigned, strict=True)))
            found = fit_horizon(graph, choice, self.program.alpha, self.program.beta)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
            if self.program.limits.is_over:
                break
        return best

    def dive(self) -> tuple[PartialPolicy, LeafMixture]:
        """A partial policy after which columns are hardly mixed, and how they are."""
        partial, mixed = PartialPolicy(), self.pool.bound(PartialPolicy(), self.rounds, self.prices).mixed
        # An action with one reading makes no leaf more, and could be decided on for ever: so turns are counted too.
        for _ in range(self.max_leaves):
            if len(mixed.leaves) >= self.max_leaves or self.program.limits.is_over:
                break
            mixed = self.pool.forget(mixed)
            agreed, disputed = self.find_mixed_leaves(partial, mixed)
            for t, decision in agreed:
                partial = partial.decide(self.program, t, decision)
            if agreed:
                mixed = self.pool.mix(partial)
            elif disputed is not None:
                partial, mixed = self.decide(partial, *disputed)
            else:
                break
        return partial, self.pool.forget(mixed)

    def find_mixed_leaves(
        self, partial: PartialPolicy, mixed: LeafMixture
    ) -> tuple[list[tuple[int, int]], tuple[int, dict[int, float]] | None]:
        """Of the leaves where columns are mixed: those where all would ask the same; and one where they disagree most.

        Of the former only those that are met about as often as any: what is decided there may settle the others.
        """
        agreed: list[tuple[float, int, int]] = []
        disputed: tuple[float, int, dict[int, float]] | None = None
        top = 0.0
        for i, t in enumerate(mixed.leaves):
            often = partial.probability(self.program, t)
            if float(mixed.share[i].max()) > UNANIMOUS or often < RARE_VISITS:
                continue
            votes = mixed.votes(partial, self.pool.choices, i)
            decision = max(votes, key=lambda d: votes[d])
            apart = (1 - votes[decision]) * often
            if votes[decision] <= UNANIMOUS:
                top = max(top, often)
                disputed = (apart, t, votes) if disputed is None or apart > disputed[0] else disputed
            elif decision >= 0:
                top = max(top, often)
                agreed.append((often, t, decision))
        first = [(t, decision) for often, t, decision in agreed if often >= top / 2]
        return first, None if disputed is None else disputed[1:]

    def decide(self, partial: PartialPolicy, t: int, votes: dict[int, float]) -> tuple[PartialPolicy, LeafMixture]:
        """The decision after which the best mixture is cheapest, of the three with most votes; and that mixture."""
        pool = self.pool
        ranked = sorted(votes, key=lambda d: -votes[d])
        likely = [d for d in ranked if d >= 0 or pool.may_stop(partial, t, d)]
        likely = likely or [d for d in pool.list_decisions(partial, t) if d != IDLE] or ranked
        likely = pool.represent(partial, likely)
        tried: list[tuple[BranchBound, PartialPolicy]] = []
        for decision in likely[: 1 if votes.get(likely[0], 0.0) > CLEAR_MAJORITY else 3]:
            longer = partial.decide(self.program, t, decision)
            tried.append((pool.bound(longer, self.rounds, self.prices), longer))
        found, longer = min(tried, key=lambda one: one[0].mixed.value)
        self.prices = found.prices
        # Columns that were added for later trials may make it cheaper still.
        return longer, found.mixed if found is tried[-1][0] else pool.mix(longer)

    def refine(self, partial: PartialPolicy, mixed: LeafMixture) -> tuple[PartialPolicy, dict[int, int]]:
        """Leaves that are met often decided as their column would; and the column of each leaf."""
        column_of = {t: int(k) for t, k in zip(mixed.leaves, mixed.share.argmax(axis=1).tolist(), strict=True)}
        # The list grows while it is walked: leaves that a decision makes are looked at in their turn.
        queue = list(column_of)
        for t in queue:
            decision = int(self.pool.choices[column_of[t]][partial.node[t]])
            full = len(column_of) >= 2 * self.max_leaves
            if decision < 0 or full or partial.probability(self.program, t) < 3 * RARE_VISITS:
                continue
            partial = partial.decide(self.program, t, decision)
            column = column_of.pop(t)
            new = [u for u in partial.after[t] if u != NOWHERE]
            column_of.update(dict.fromkeys(new, column))
            queue += new
        return partial, column_of

    def assign(self, partial: PartialPolicy, column_of: dict[int, int], margin: float) -> list[int]:
        """A column for each leaf, by single changes."""
        search, n = self.pool.search, len(self.program.group_size)
        if not column_of:
            return []
        search.room[:n] = margin
        outcomes = self.pool.outcomes_at(partial)
        rows = np.arange(len(outcomes))
        assigned = np.array([column_of[t] for t in partial.leaves])
        total: FloatArray = self.pool.spent(partial) + outcomes[rows, assigned].sum(axis=0)
        now = float(search.judge(total[None])[0])
        for _ in range(MAX_REASSIGNMENTS):
            # `other[i, k]`: what is achieved if leaf i takes column k instead of its own.
            other = total - outcomes[rows, assigned][:, None] + outcomes
            value: FloatArray = search.judge(other.reshape(-1, 3 * n)).reshape(len(rows), -1)
            i, k = divmod(int(value.argmin()), len(self.pool.choices))
            if value[i, k] >= now * (1 - 1e-9):
                break
            total, now, assigned[i] = other[i, k], float(value[i, k]), k
        return assigned.tolist()

    def write_out(self, partial: PartialPolicy, column_of: dict[int, int]) -> tuple[BeliefGraph, LongArray]:
        """The policy as a graph with one option at each node, and its choices.

        Its nodes are the decided histories of the partial policy, (NOWHERE, history), and then (column, node), numbered
        as they are met.
        """
        number: dict[tuple[int, int], int] = {}
        queue: list[tuple[int, int]] = []

        def count(key: tuple[int, int]) -> int:
            if number.setdefault(key, len(queue)) == len(queue):
                queue.append(key)
            return number[key]

        def place(t: int) -> tuple[int, int]:
            return (NOWHERE, t) if partial.decision[t] != UNDECIDED else (column_of[t], partial.node[t])

        graph, nothing = self.program.graph, [NOWHERE] * self.program.graph.tables.num_readings
        nodes: list[int] = []
        decisions: list[int] = []
        children: list[list[int]] = []
        count(place(0))
        for column, where in queue:
            if column == NOWHERE:
                v, decision = partial.node[where], partial.decision[where]
                after = [place(u) if u != NOWHERE else None for u in partial.after[where]]
            else:
                v, decision = where, int(self.pool.choices[column][where])
                child: list[int] = graph.child[v, max(decision, 0)].tolist()
                after = [(column, w) if w != NOWHERE else None for w in child]
            nodes.append(v)
            decisions.append(decision)
            children.append([NOWHERE if key is None else count(key) for key in after] if decision >= 0 else nothing)
        decided = np.array(decisions, dtype=np.int64)
        written = policy_graph(graph, np.array(nodes), decided, np.array(children, dtype=np.int64))
        return written, np.where(decided >= 0, 0, decided)
