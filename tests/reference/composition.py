"""Slow obvious twins of certified trees: the tree evaluated node by node, and the sums of Theorem 3.3 written out.

Nothing is taken from what a tree claims, nor from how it is walked: a node's test is run on the plant itself, round by
round, all readings multiplied out in rationals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from ascertain.planning.composition import CertifiedTree, NodeTest
from ascertain.policy.policy import Answer, Ask
from ascertain.task.task import Task


@final
@dataclass(frozen=True)
class Outcome:
    """What a node does with a plant that comes to it: (part, state when it leaves) by probability, abstention, cost."""

    leaves: Mapping[tuple[int, int], Fraction]
    abstain: Fraction
    cost: Fraction

    def wrong(self, part: int) -> Fraction:
        return sum((p for (said, _), p in self.leaves.items() if said != part), Fraction(0))


def run_node(task: Task, node: NodeTest, s: int) -> Outcome:
    """The node on a plant in state s."""
    model = task.model
    if node.test is None:
        return Outcome({(0, int(model.successor[s, node.action])): Fraction(1)}, Fraction(0), task.cost[node.action])
    policy = node.test.policy
    way_back = node.loop[1:]
    leaves: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    abstain = cost = Fraction(0)
    assert isinstance(policy.decide(policy.start()), Ask)
    now: dict[tuple[Any, int], Fraction] = {(policy.start(), s): Fraction(1)}
    while now:
        after: defaultdict[tuple[Any, int], Fraction] = defaultdict(Fraction)
        for (memory, at), chance in now.items():
            cost += chance * task.cost[node.action]
            there = int(model.successor[at, node.action])
            for y, p in model.reading_law(at, node.action).items():
                then = policy.next(memory, y)
                decision = policy.decide(then)
                if isinstance(decision, Answer):
                    leaves[decision.label, there] += chance * p
                elif isinstance(decision, Ask):
                    home = there
                    for a in way_back:
                        cost += chance * p * task.cost[a]
                        home = int(model.successor[home, a])
                    after[then, home] += chance * p
                else:
                    abstain += chance * p
        now = after
    return Outcome(leaves, abstain, cost)


def evaluate_tree(task: Task, tree: CertifiedTree, h: int) -> tuple[Fraction, Fraction, Fraction]:
    """Wrong, abstain and expected cost of the tree under hypothesis h, node by node."""

    def below(v: int, s: int) -> tuple[Fraction, Fraction, Fraction]:
        if not tree.children[v]:
            right = task.label[h] if task.state_label is None else task.state_label[s]
            return Fraction(int(tree.label[v] != right)), Fraction(0), Fraction(0)
        outcome = run_node(task, tree.node[v], s)
        wrong, abstain, cost = Fraction(0), outcome.abstain, outcome.cost
        for (part, there), p in outcome.leaves.items():
            later = below(tree.children[v][part], there)
            wrong, abstain, cost = wrong + p * later[0], abstain + p * later[1], cost + p * later[2]
        return wrong, abstain, cost

    return below(0, int(task.state[h]))


@final
@dataclass(frozen=True)
class PathSums:
    """Of the theorem, with the exact values of every node: largest over paths, and for each hypothesis its own path."""

    wrong: Fraction
    abstain: Fraction
    horizon_cost: Fraction
    own_cost: Mapping[int, Fraction]

    @property
    def cost(self) -> Fraction:
        """The claim: the dearest own path, and off it, as often as a part is wrong, all that the horizons allow."""
        return max(self.own_cost.values()) + self.wrong * self.horizon_cost


def sum_over_paths(task: Task, tree: CertifiedTree) -> PathSums:
    """The sums of Theorem 3.3."""

    def below(v: int, members: dict[int, int]) -> PathSums:
        node = tree.node[v]
        if not tree.children[v]:
            return PathSums(Fraction(0), Fraction(0), Fraction(0), dict.fromkeys(members, Fraction(0)))
        outcome = {h: run_node(task, node, s) for h, s in members.items()}
        there = {h: int(task.model.successor[s, node.action]) for h, s in members.items()}
        later = [
            below(child, {h: there[h] for h in members if node.part[h] == part})
            for part, child in enumerate(tree.children[v])
        ]
        # A node's test knows a part, not a hypothesis: its cost is that of the dearest member of the part.
        dearest = {
            part: max(outcome[h].cost for h in members if node.part[h] == part) for part in range(len(tree.children[v]))
        }
        rounds = 1 if node.test is None else node.test.policy.horizon
        return PathSums(
            max(outcome[h].wrong(node.part[h]) for h in members) + max(sums.wrong for sums in later),
            max(outcome[h].abstain for h in members) + max(sums.abstain for sums in later),
            rounds * sum((task.cost[a] for a in node.loop), Fraction(0)) + max(sums.horizon_cost for sums in later),
            {h: dearest[node.part[h]] + later[node.part[h]].own_cost[h] for h in members},
        )

    return below(0, {h: int(s) for h, s in enumerate(task.state.tolist())})
