"""True certificates of tiny tasks by brute force, and what brute force says of any claim.

Nothing here looks at `ascertain_check`, and every judgement goes another way than the checker's: policies are walked by
whole configurations, lower bounds are compared with the optimum, partitions with the pairs of states that can be told
apart, obstructions with the largest relation that no action breaks.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np

from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.search.solution import ProofRow
from ascertain.task.task import Task
from ascertain.types import UNDEFINED
from tests.reference.optimum import Configuration, branches, is_pure, optima, start_of
from tests.reference.search import expected_optimum

Values = dict[Configuration, Fraction | None]


def is_at_least(value: Fraction | None, other: Fraction | None) -> bool:
    """value >= other, where None is infinite."""
    return value is None or (other is not None and value >= other)


def after_each_reading(task: Task, members: Configuration, action: int) -> dict[int, Configuration] | None:
    """What is left after each reading, by reading; None when some member forbids the action."""
    if branches(task, members, action) is None:
        return None
    result: dict[int, set[tuple[int, int]]] = {}
    for k, s in members:
        t = int(task.model.successor[s, action])
        label = k if task.state_label is None else int(task.state_label[t])
        result.setdefault(int(task.model.behaviour[s, action]), set()).add((label, t))
    return {y: frozenset(left) for y, left in result.items()}


def best_policy(task: Task) -> Automaton | None:
    """A policy that attains the optimum, its nodes shared where configurations are equal; None where there is none."""
    value = optima(task)
    if value[start_of(task)] is None:
        return None
    choice: dict[Configuration, tuple[int, dict[int, Configuration]] | None] = {}
    stack = [start_of(task)]
    while stack:
        here = stack.pop()
        choice[here] = None if is_pure(here) else choose(task, value, here)
        stack.extend(c for c in (choice[here] or (0, {}))[1].values() if c not in choice)
    # A child costs less than its parent, so that falling cost puts parents first.
    order = sorted(choice, key=lambda c: value[c] or Fraction(0), reverse=True)
    number = {c: v for v, c in enumerate(order)}
    chosen = [choice[c] for c in order]
    return Automaton(
        action=tuple(NOWHERE if move is None else move[0] for move in chosen),
        label=tuple(min(k for k, _ in c) if is_pure(c) else NOWHERE for c in order),
        children=tuple({} if move is None else {y: number[c] for y, c in move[1].items()} for move in chosen),
    )


def choose(task: Task, value: Values, here: Configuration) -> tuple[int, dict[int, Configuration]]:
    """An action that attains the value of a configuration, with what is left after each reading."""
    for a, cost in enumerate(task.cost):
        after = after_each_reading(task, here, a)
        worst = None if after is None else [value[c] for c in after.values()]
        if after and worst and None not in worst and cost + max(w or Fraction(0) for w in worst) == value[here]:
            return a, after
    raise AssertionError("a value that no action attains")


def subset_values(task: Task) -> Values:
    """D of every configuration that is reachable from some subset of the hypotheses."""
    values: Values = {}
    start = sorted(start_of(task))
    for chosen in product((False, True), repeat=len(start)):
        members = frozenset(pair for pair, kept in zip(start, chosen, strict=True) if kept)
        if members and members not in values:
            values |= optima(with_hypotheses(task, members))
    return values


def with_hypotheses(task: Task, members: Configuration) -> Task:
    pairs = sorted(members)
    label, state = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in (0, 1))
    return replace(task, state=state, label=label)


def best_rows(task: Task, rng: Random | None = None) -> tuple[list[ProofRow], int | None]:
    """Rows that prove the optimum, and the number of the one that speaks of the task; no row where it is 0.

    Without `rng`, rows are whole configurations; with it, members that are not needed are left out at random.
    """
    values = optima(task) if rng is None else subset_values(task)
    root = start_of(task)
    if is_pure(root):
        return [], None
    root = shrink(values, root, values[root], rng)
    rows: dict[Configuration, ProofRow] = {}
    stack = [root]
    while stack:
        here = stack.pop()
        if here in rows:
            continue
        named = name_moves(task, values, here, rng)
        rows[here] = ProofRow(tuple(sorted(here)), values[here], named)  # type: ignore[arg-type]
        stack.extend(target for _, target in named.values())
    number = {c: i for i, c in enumerate(rows)}
    finished = [
        replace(row, moves={a: (y, number[c]) for a, (y, c) in row.moves.items()})  # type: ignore[index]
        for row in rows.values()
    ]
    return finished, number[root]


def name_moves(
    task: Task, values: Values, here: Configuration, rng: Random | None
) -> dict[int, tuple[int, Configuration]]:
    """For each action that needs one, a reading and a configuration that prove the value of this one."""
    bound = values[here]
    named: dict[int, tuple[int, Configuration]] = {}
    if len({s for _, s in here}) < len(here):
        return named
    for a, cost in enumerate(task.cost):
        after = after_each_reading(task, here, a)
        if after is None or (bound is not None and bound <= cost):
            continue
        needed = None if bound is None else bound - cost
        y, worst = next((y, c) for y, c in sorted(after.items()) if is_at_least(values[c], needed))
        named[a] = (y, shrink(values, worst, needed, rng))
    return named


def shrink(values: Values, members: Configuration, needed: Fraction | None, rng: Random | None) -> Configuration:
    """A subset that still has the value that is needed, with members left out in random order; all without `rng`."""
    if rng is None:
        return members
    for pair in rng.sample(sorted(members), len(members)):
        fewer = members - {pair}
        if fewer in values and not is_pure(fewer) and is_at_least(values[fewer], needed) and rng.random() < 0.8:
            members = fewer
    return members


def told_apart(task: Task) -> set[tuple[int, int]]:
    """Pairs of states that no stable partition puts into one class, by filling the table of pairs until it is full."""
    model, n = task.model, task.model.num_states
    labels = None if task.state_label is None else task.state_label.tolist()
    apart = {
        (s, t)
        for s, t in product(range(n), repeat=2)
        if model.behaviour[s].tolist() != model.behaviour[t].tolist() or (labels and labels[s] != labels[t])
    }
    while True:
        more = {
            (s, t)
            for s, t in product(range(n), repeat=2)
            for x, y in zip(model.successor[s].tolist(), model.successor[t].tolist(), strict=True)
            if (x, y) in apart
        }
        if more <= apart:
            return apart
        apart |= more


def coarsest_block(task: Task) -> list[int]:
    """The coarsest stable partition, classes numbered in the order of their first states."""
    apart, block = told_apart(task), [0] * task.model.num_states
    leaders: list[int] = []
    for s in range(len(block)):
        same = [c for c, leader in enumerate(leaders) if (leader, s) not in apart]
        block[s] = same[0] if same else len(leaders)
        if not same:
            leaders.append(s)
    return block


def quotient_task(task: Task, block: list[int]) -> Task:
    """The task on the classes of a stable partition."""
    first = [block.index(c) for c in range(max(block) + 1)]
    classes = np.array(block, dtype=np.int32)
    successor = task.model.successor[first]
    model = task.model.rebuilt(
        successor=np.where(successor == UNDEFINED, UNDEFINED, classes[successor]),
        behaviour=task.model.behaviour[first],
        states=tuple(f"c{c}" for c in range(len(first))),
        initial=(),
        origin=(),
    )
    pairs = sorted({(int(k), int(classes[s])) for s, k in zip(task.state, task.label, strict=True)})
    label, state = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in (0, 1))
    state_label = None if task.state_label is None else task.state_label[first]
    return replace(task, model=model, state=state, label=label, state_label=state_label)


def inseparable_pairs(task: Task) -> set[tuple[int, int]]:
    """The largest set of pairs of states that no action which both allow breaks (or brings to one label)."""
    model = task.model
    labels = None if task.state_label is None else task.state_label.tolist()
    kept = {(s, t) for s, t in product(range(model.num_states), repeat=2) if labels is None or labels[s] != labels[t]}
    while True:
        broken = {(s, t) for s, t in kept for a in range(model.num_actions) if breaks(task, kept, s, t, a)}
        if not broken:
            return kept
        kept -= broken


def breaks(task: Task, kept: set[tuple[int, int]], s: int, t: int, a: int) -> bool:
    x, y = (int(task.model.successor[i, a]) for i in (s, t))
    if UNDEFINED in (x, y):
        return False
    return bool(task.model.behaviour[s, a] != task.model.behaviour[t, a]) or (x, y) not in kept


def obstructions(task: Task) -> set[tuple[int, int]]:
    """Pairs of hypotheses with different labels that no experiment tells apart."""
    kept = inseparable_pairs(task)
    return {
        (h, g)
        for h, g in product(range(task.num_hypotheses), repeat=2)
        if task.label[h] != task.label[g] and (int(task.state[h]), int(task.state[g])) in kept
    }


def policy_costs(task: Task, policy: dict[str, Any]) -> dict[tuple[int, int], Fraction] | None:
    """What a policy, as plain data, costs each hypothesis (as (label, state)), walking whole configurations.

    None where it asks what a remaining hypothesis forbids, does not provide for a reading, or answers wrong.
    """
    nodes, costs = policy["nodes"], {}
    # Who is left: where each started, its label now, and where it is.
    stack = [(0, Fraction(0), [(pair, *pair) for pair in sorted(start_of(task))])]
    while stack:
        v, cost, left = stack.pop()
        if "answer" in nodes[v]:
            if any(k != nodes[v]["answer"] for _, k, _ in left):
                return None
            costs |= {start: cost for start, _, _ in left}
            continue
        a = nodes[v]["ask"]
        if any(task.model.successor[s, a] == UNDEFINED for _, _, s in left):
            return None
        for y in {int(task.model.behaviour[s, a]) for _, _, s in left}:
            if str(y) not in nodes[v]["next"]:
                return None
            moved = [(i, k, int(task.model.successor[s, a])) for i, k, s in left if task.model.behaviour[s, a] == y]
            if task.state_label is not None:
                moved = [(i, int(task.state_label[s]), s) for i, _, s in moved]
            stack.append((nodes[v]["next"][str(y)], cost + task.cost[a], moved))
    return costs


class Judge:
    """What brute force says of claims about one task; each thing is computed once."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.noisy = task.model.kind == "noisy"
        self.optimum = None if self.noisy else optima(task)[start_of(task)]
        self.block = coarsest_block(task)
        self.obstructions = obstructions(task)

        self.means: dict[tuple[Fraction, ...], Fraction | None] = {}

    def mean(self, weights: tuple[Fraction, ...]) -> Fraction | None:
        """The least mean cost under these weights; None when infinite."""
        if weights not in self.means:
            self.means[weights] = expected_optimum(self.task, weights)
        return self.means[weights]

    def is_true(self, claim: dict[str, Any]) -> bool:
        """Whether what is claimed is so (and, for a policy, whether this policy does it)."""
        kind = claim["claim"]
        if kind == "quotient":
            pairs = set(zip(claim["block"], self.block, strict=True))
            return len(pairs) == len(set(claim["block"])) == len(set(self.block))
        if kind == "obstruction":
            return tuple(claim["pair"]) in self.obstructions
        if self.noisy:
            return False
        if kind == "lower-expected":
            return is_at_least(self.mean(tuple(Fraction(w) for w in claim["weights"])), Fraction(claim["cost"]))
        if kind == "lower":
            return is_at_least(self.optimum, None if claim["cost"] == "inf" else Fraction(claim["cost"]))
        costs = policy_costs(self.task, claim["policy"])
        if costs is None:
            return False
        if kind == "achieves":
            return max(costs.values()) <= Fraction(claim["cost"]) and is_at_least(Fraction(claim["cost"]), self.optimum)
        weights = [Fraction(w) for w in claim["weights"]]
        pairs_in_order = zip(self.task.label.tolist(), self.task.state.tolist(), strict=True)
        total = sum(w * costs[pair] for w, pair in zip(weights, pairs_in_order, strict=True))
        return total <= Fraction(claim["cost"]) * sum(weights)
