"""The joint graph: where one truth and its rivals are after every common word of actions.

A node J lists the state of the truth h and of each rival g. An edge (J, a) carries, for each rival, the kind of
encounter there. A rival is *ruled out* when the readings are impossible for it: after an encounter that always tells
the two apart, and after an action that it does not allow (which can be done only when it was ruled out before, so such
an edge is there only if the pair has infinite KL within reach). A rival that is ruled out asks nothing any more.

A graph of too many nodes is cut in order of breadth. From the first step beyond, the experiment is in one *free* node,
where it stays, and which is better for the observer than anything that may be there: to enter it tells h from every
rival that anything tells it from, as far as the coupling is concerned, and inside every unit of cost adds the best rate
of KL for every rival.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from ascertain.bounds.encounters import BLOCKED, REVEALING, SAME, Encounters
from ascertain.bounds.lattice import find_base, mean_step
from ascertain.types import UNDEFINED, Action, IntArray

RULED_OUT = -1
"""In place of the state of a rival that is ruled out; states are never negative."""

Joint: TypeAlias = tuple[int, ...]
"""Elements of the truth and of the rivals, in their order."""


@final
@dataclass(frozen=True)
class JointRival:
    """What must be known of a directed pair besides its edges."""

    hypothesis: int
    dropped: bool
    """Whether the KL row is dropped, because infinite KL is within reach."""
    base: Fraction | None
    """The lattice of its log-likelihood ratios, where there is one; then KL is counted in steps, else in nats."""
    best_rate: Fraction
    """The best KL for each unit of cost, rounded up; 0 for a dropped row."""
    inseparable: bool
    """Whether nothing ever tells the two apart; then the free node does not either."""


@final
@dataclass(frozen=True, eq=False)
class JointGraph:
    """Nodes, the start first, and edges; `len(nodes)` as a target is the free node."""

    met: Encounters
    hypothesis: int
    rivals: tuple[JointRival, ...]
    nodes: tuple[Joint, ...]
    source: IntArray
    target: IntArray
    action: IntArray
    kind: IntArray
    """`kind[r, e]` is what edge e shows of rival r."""

    @property
    def free(self) -> int:
        return len(self.nodes)

    @property
    def is_cut(self) -> bool:
        return bool(np.any(self.target == self.free))

    def ends(self) -> list[tuple[int, int]]:
        """The source and the target of every edge."""
        return [(int(s), int(t)) for s, t in zip(self.source, self.target, strict=True)]

    def cost(self, e: int) -> Fraction:
        return self.met.task.cost[int(self.action[e])]

    def variation(self, r: int, e: int) -> Fraction | None:
        """How much of the coupled flow of rival r ends on edge e; None where none may pass."""
        kind = int(self.kind[r, e])
        if kind == BLOCKED:
            return None
        if int(self.target[e]) == self.free:
            return Fraction(0) if self.rivals[r].inseparable else Fraction(1)
        return Fraction(0) if kind == SAME else self.met.kinds[kind].variation

    def divergence(self, r: int, e: int) -> Fraction:
        """The KL against rival r on edge e, rounded up, in steps of the lattice or nats."""
        kind = int(self.kind[r, e])
        return Fraction(0) if kind < 0 else kind_divergence(self.met, self.rivals[r], kind)


def kind_divergence(met: Encounters, rival: JointRival, kind: int) -> Fraction:
    """The KL of an encounter, as the KL row of this rival counts it; 0 where that row is dropped."""
    if rival.dropped:
        return Fraction(0)
    if rival.base is not None:
        return mean_step(met.kinds[kind], rival.base)
    entropy = met.kinds[kind].entropy
    assert entropy is not None
    return entropy.high


def describe_rival(met: Encounters, h: int, g: int) -> JointRival:
    """The directed pair from truth h to rival g."""
    kinds = met.reachable(int(met.element[h]), int(met.element[g]))
    found = [met.kinds[k] for k in kinds]
    if any(kind.entropy is None for kind in found):
        return JointRival(g, True, None, Fraction(0), inseparable=False)
    plain = JointRival(g, False, find_base(found), Fraction(0), inseparable=not found)
    best = max((kind_divergence(met, plain, k) / met.kinds[k].cost for k in kinds), default=Fraction(0))
    return replace(plain, best_rate=best)


def build_joint(met: Encounters, h: int, rivals: tuple[int, ...], max_nodes: int) -> JointGraph:
    """The joint graph of a truth and these rivals, of at most so many nodes."""
    described = tuple(describe_rival(met, h, g) for g in rivals)
    start = tuple(int(met.element[k]) for k in (h, *rivals))
    number: dict[Joint, int] = {start: 0}
    nodes = [start]
    edges: list[tuple[int, Joint, Action, list[int]]] = []
    for here in nodes:
        for a in range(met.successor.shape[1]):
            move = _move(met, described, here, a)
            if move is None:
                continue
            after, kinds = move
            # Past the limit new joint states are not numbered: edges to them lead to the free node.
            if after not in number and len(nodes) < max_nodes:
                number[after] = len(nodes)
                nodes.append(after)
            edges.append((number[here], after, a, kinds))
    kind = np.array([kinds for _, _, _, kinds in edges], dtype=np.int32).reshape(len(edges), len(rivals)).T
    return JointGraph(
        met,
        h,
        described,
        tuple(nodes),
        np.array([source for source, _, _, _ in edges], dtype=np.int32),
        np.array([number.get(after, len(nodes)) for _, after, _, _ in edges], dtype=np.int32),
        np.array([a for _, _, a, _ in edges], dtype=np.int32),
        kind,
    )


def _move(met: Encounters, rivals: tuple[JointRival, ...], here: Joint, a: Action) -> tuple[Joint, list[int]] | None:
    """Where an action leads and what it shows of each rival; None where it may not be done."""
    s = here[0]
    if met.successor[s, a] == UNDEFINED:
        return None
    after, kinds = [int(met.successor[s, a])], list[int]()
    for rival, t in zip(rivals, here[1:], strict=True):
        kind = BLOCKED if t == RULED_OUT else met.kind_at(s, t, a)
        if kind == BLOCKED and t != RULED_OUT and not rival.dropped:
            return None
        # After a reading that g never gives, or an action that g does not allow, g asks nothing any more.
        impossible = kind in (BLOCKED, REVEALING) or (kind > 0 and met.kinds[kind].variation == 1)
        after.append(RULED_OUT if impossible else int(met.successor[t, a]))
        kinds.append(kind)
    return tuple(after), kinds
