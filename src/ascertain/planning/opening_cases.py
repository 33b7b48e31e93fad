"""A bound by openings as a finite proof in rationals: a tree of cases, and rows at prices for each of its leaves.

Branch and bound (`branch_and_bound.py`) leaves a tree: each branch is a partial policy that was replaced by one for
each decision at one of its histories, or still stands in the list, with the prices that prove its bound. Here the tree
is gone through again with exact probabilities. What is left open after a history is bounded by the row of its node in
the belief graph (`price_rows.py`). Branches that have their prices in common share their rows.

Histories are numbered as the checker numbers them: a decision to ask adds one for every reading that some hypothesis
may give, in ascending order, whether the belief graph has a node for it or not. An idle action, of which branch and
bound has one for all, is a case for each such action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.errors import LimitError
from ascertain.planning.branch_and_bound import IDLE, idle_actions
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.multipliers import Branching, Multipliers
from ascertain.planning.price_rows import MAX_ROWS, SLACKS, PriceProof, PriceRows, build_graph
from ascertain.policy.automaton import NOWHERE
from ascertain.task.task import Task

Places: TypeAlias = tuple[tuple[int, Fraction] | None, ...]
"""By hypothesis: its state and the probability of the readings; None where it is ruled out."""
OPEN = IDLE + 1
"""The decision after a history that nothing is decided of."""
LOOSE = Fraction(9999, 10_000)
"""The part of the bound that the rows have to prove: with a little less there are far fewer of them."""


@final
@dataclass(frozen=True)
class History:
    """`after` are the histories that the decision has added."""

    places: Places
    node: int
    decision: int = OPEN
    after: tuple[int, ...] = ()


@final
@dataclass(frozen=True)
class Leaf:
    """A partial policy that stays in the list, and the number of its proof."""

    histories: tuple[History, ...]
    proof: int


@final
@dataclass(frozen=True)
class Case:
    """A history that is decided, and the number of the node for each decision."""

    history: int
    nodes: Mapping[int, int]


@final
@dataclass(frozen=True)
class OpeningProof:
    """What is proved; the tree, whose first node decides nothing yet; and the proofs of its leaves."""

    lower: Fraction
    nodes: tuple[Case | Leaf, ...]
    proofs: tuple[PriceProof, ...]


def prove_openings(task: Task, alpha: Fraction, beta: Fraction, branching: Branching) -> OpeningProof:
    """The tree of branch and bound with exact probabilities; LimitError where it has too many rows."""
    if branching.symmetric:
        raise LimitError("the bound by openings uses that hypotheses are exchangeable, which has no claim yet")
    return _Cases(task, alpha, beta, branching).run()


class _Cases:
    """The tree as it grows."""

    def __init__(self, task: Task, alpha: Fraction, beta: Fraction, branching: Branching) -> None:
        self.task, self.alpha, self.beta, self.branching = task, alpha, beta, branching
        self.graph = build_graph(task, alpha, branching.branches[0].multipliers)
        self.nodes: list[Case | Leaf] = []
        self.multipliers: list[Multipliers] = []

    def run(self) -> OpeningProof:
        start = History(tuple((c, Fraction(1)) for c in self.task.state.tolist()), 0)
        self.grow(0, (start,), (0,))
        proofs: list[PriceProof] = []
        lower: list[Fraction] = []
        for k, multipliers in enumerate(self.multipliers):
            mine = [node.histories for node in self.nodes if isinstance(node, Leaf) and node.proof == k]
            proof, proved = self.prove(PriceRows(self.graph, self.alpha, self.beta, multipliers), mine)
            proofs.append(proof)
            lower.append(proved)
            if sum(len(one.rows) for one in proofs) > MAX_ROWS:
                raise LimitError(f"a proof of the bound by openings needs more than {MAX_ROWS} rows")
        return OpeningProof(min(lower, default=self.branching.lower), tuple(self.nodes), tuple(proofs))

    def grow(self, branch: int, histories: tuple[History, ...], number: tuple[int, ...]) -> int:
        """Add the node of a branch and those below it; `number[t]`: its history t in `histories`."""
        found = self.branching.branches[branch]
        place = len(self.nodes)
        if found.at is None:
            if found.multipliers not in self.multipliers:
                self.multipliers.append(found.multipliers)
            self.nodes.append(Leaf(histories, self.multipliers.index(found.multipliers)))
            return place
        t = number[found.at]
        self.nodes.append(Case(t, {}))
        below: dict[int, int] = {}
        for decision, next_branch in found.cases.items():
            for each in idle_actions(self.graph, histories[t].node) if decision == IDLE else [decision]:
                longer = self.decide(histories, t, each)
                added = [u for u in range(len(histories), len(longer)) if longer[u].node != NOWHERE]
                below[each] = self.grow(next_branch, longer, (*number, *(added[:1] if decision == IDLE else added)))
        self.nodes[place] = Case(t, below)
        return place

    def decide(self, histories: tuple[History, ...], t: int, decision: int) -> tuple[History, ...]:
        """The same with this decision at t, and the histories that it adds."""
        here = histories[t]
        added: list[History] = []
        if decision >= 0:
            asked = self.graph.option[here.node].tolist()
            for y in range(len(self.task.model.readings)):
                places = tuple(None if p is None else self.follow(p, decision, y) for p in here.places)
                if any(place is not None for place in places):
                    idle = decision not in asked
                    node = here.node if idle else int(self.graph.child[here.node, asked.index(decision), y])
                    added.append(History(places, node))
        first = len(histories)
        decided = replace(here, decision=decision, after=tuple(range(first, first + len(added))))
        return (*histories[:t], decided, *histories[t + 1 :], *added)

    def follow(self, place: tuple[int, Fraction], action: int, y: int) -> tuple[int, Fraction] | None:
        """Where a hypothesis is after a reading, and how probable that is; None where it is impossible."""
        model = self.task.model
        p = model.reading_law(place[0], action).get(y, Fraction(0))
        return (int(model.successor[place[0], action]), place[1] * p) if p else None

    def prove(self, rows: PriceRows, leaves: list[tuple[History, ...]]) -> tuple[PriceProof, Fraction]:
        """Rows for the open histories of some leaves, with the largest slack that leaves the bound as it is, nearly."""
        needed = {one.node for leaf in leaves for one in leaf if one.decision == OPEN and one.node != NOWHERE}
        best: tuple[PriceProof, Fraction] | None = None
        for slack in reversed(SLACKS):
            try:
                proof = rows.trim(needed, slack)
            except LimitError:
                continue
            best = proof, min(self.value(proof, leaf) for leaf in leaves)
            if best[1] >= LOOSE * self.branching.lower:
                break
        if best is None:
            raise LimitError(f"a proof of the bound by openings needs more than {MAX_ROWS} rows")
        return best

    def value(self, proof: PriceProof, leaf: tuple[History, ...]) -> Fraction:
        """What a proof says of the policies that begin like a leaf; histories come after those that add them."""
        spent = [Fraction(0)] * len(leaf)
        for t in range(len(leaf) - 1, -1, -1):
            one, x = leaf[t], proof.vector(leaf[t].places)
            if one.decision == OPEN:
                spent[t] = proof.worth(x, one.node)
            elif one.decision >= 0:
                spent[t] = self.task.cost[one.decision] * proof.mass(x) + sum(spent[u] for u in one.after)
            else:
                spent[t] = proof.abstain(x) if one.decision == ABSTAIN else proof.answer(x, -1 - one.decision)
        return proof.conclude(spent[0], self.alpha, self.beta)
