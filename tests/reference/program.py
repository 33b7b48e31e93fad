"""The slow obvious twins of the program bound: the program of the design written out, and what policies can achieve.

`design_bound` is the program as the design states it (KL rows, total-variation rows, flow cuts), on dictionaries and
dense matrices, for each truth alone and without the lattice; `coupled_bound` has the coupled flow instead of the last
two. `lattice_demand` is the lattice refinement as a linear program over laws of the log-likelihood ratio.
`best_policies` is the linear program of all randomised policies of so many steps: some policy achieves its value.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog

from ascertain.task.task import Task
from ascertain.types import UNDEFINED

INF = math.inf


def d(p: float, q: float) -> float:
    """Binary relative entropy."""
    total = 0.0
    for x, y in ((p, q), (1 - p, 1 - q)):
        if x > 0:
            total += x * math.log(x / y) if y > 0 else INF
    return total


def kl(law: dict[int, Fraction], other: dict[int, Fraction]) -> float:
    if any(y not in other for y in law):
        return INF
    return sum(float(p) * math.log(p / other[y]) for y, p in law.items())


def tv(law: dict[int, Fraction], other: dict[int, Fraction]) -> float:
    readings = set(law) | set(other)
    return float(sum(abs(law.get(y, Fraction(0)) - other.get(y, Fraction(0))) for y in readings) / 2)


def shown(task: Task, s: int, t: int, a: int) -> tuple[float, float] | None:
    """KL and TV of one action in two states; None where one of them does not allow it."""
    model = task.model
    x, y = int(model.successor[s, a]), int(model.successor[t, a])
    if UNDEFINED in (x, y):
        return None
    if task.state_label is not None and task.state_label[x] == task.state_label[y]:
        return INF, 1.0
    laws = (dict(model.reading_law(s, a)), dict(model.reading_law(t, a)))
    return kl(*laws), tv(*laws)


def pair_edges(task: Task, s: int, t: int) -> list[tuple[int, int, int, float, float]]:
    """(s, t, a, KL, TV) of every action that some common word leads to."""
    seen, stack, found = {(s, t)}, [(s, t)], []
    while stack:
        x, y = stack.pop()
        for a in range(task.model.num_actions):
            both = shown(task, x, y, a)
            if both is None:
                continue
            found.append((x, y, a, *both))
            after = (int(task.model.successor[x, a]), int(task.model.successor[y, a]))
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return found


def pairwise(task: Task, alpha: float, beta: float) -> float:
    """The paper's bound, pair by pair."""
    if 2 * alpha + beta >= 1:
        return 0.0
    best = 0.0
    for h, g in product(range(task.num_hypotheses), repeat=2):
        if task.label[h] == task.label[g]:
            continue
        rates = [k / float(task.cost[a]) for _, _, a, k, _ in pair_edges(task, int(task.state[h]), int(task.state[g]))]
        gamma, owed = max(rates, default=0.0), d(1 - alpha - beta, alpha)
        if gamma == INF:
            continue
        best = max(best, INF if gamma == 0 or owed == INF else owed / gamma)
    return best


def joint_edges(task: Task, h: int, rivals: list[int], dropped: list[bool]) -> tuple[list, list]:
    """Nodes (states of h and of rivals; -1 for one that is ruled out) and edges (node, action, node, KLs, TVs)."""
    start = tuple(int(task.state[k]) for k in (h, *rivals))
    nodes, edges, stack = {start: 0}, [], [start]
    while stack:
        here = stack.pop()
        for a in range(task.model.num_actions):
            if task.model.successor[here[0], a] == UNDEFINED:
                continue
            parts = [None if t == -1 else shown(task, here[0], t, a) for t in here[1:]]
            if any(p is None and t != -1 and not drop for p, t, drop in zip(parts, here[1:], dropped, strict=True)):
                continue
            after = (
                int(task.model.successor[here[0], a]),
                *(
                    -1 if p is None or p[1] == 1.0 else int(task.model.successor[t, a])
                    for p, t in zip(parts, here[1:], strict=True)
                ),
            )
            if after not in nodes:
                nodes[after] = len(nodes)
                stack.append(after)
            edges.append((nodes[here], a, nodes[after], parts))
    return list(nodes), edges


def lattice_demand(p: float, e: float, step: float) -> float:
    """The least mean, in units of the step, of an integer-valued log-likelihood ratio, by a linear program."""
    ks = np.arange(-40, 41)
    weight = np.exp(-step * ks)
    usable = weight < 1e12
    ks, weight = ks[usable], weight[usable]
    n = len(ks)
    goal = np.concatenate([ks, ks]).astype(float)
    upper = np.array([np.concatenate([weight, np.zeros(n)]), np.concatenate([weight, weight])])
    upper = np.vstack([upper, -np.concatenate([np.ones(n), np.zeros(n)])])
    found = linprog(goal, A_ub=upper, b_ub=[e, 1.0, -p], A_eq=[np.ones(2 * n)], b_eq=[1.0], bounds=(0, None))
    return float(found.fun)


def one_truth(task: Task, alpha: float, beta: float, h: int, *, coupled: bool) -> float:
    """The program of one truth and all its rivals, dense; the coupled flow, or the rows of the design."""
    rivals = [g for g in range(task.num_hypotheses) if task.label[g] != task.label[h]]
    if not rivals:
        return 0.0
    sure = 1 - alpha - beta
    within = [pair_edges(task, int(task.state[h]), int(task.state[g])) for g in rivals]
    dropped = [any(k == INF for _, _, _, k, _ in edges) for edges in within]
    if alpha == 0 and not all(dropped):
        return INF
    nodes, edges = joint_edges(task, h, rivals, dropped)
    num, flows = len(edges), len(edges) * len(rivals)
    rows: list[np.ndarray] = []
    right: list[float] = []

    def at_least(entries: dict[int, float], value: float) -> None:
        row = np.zeros(num + flows)
        for column, entry in entries.items():
            row[column] += entry
        rows.append(-row)
        right.append(-value)

    for n in range(len(nodes)):
        entries: dict[int, float] = {}
        for e, (source, _, target, _) in enumerate(edges):
            entries[e] = (target == n) - (source == n)
        at_least(entries, -float(n == 0))
    for r in range(len(rivals)):
        part = [(None, None) if p[r] is None else p[r] for _, _, _, p in edges]
        base = num + r * num
        if not dropped[r]:
            at_least({e: k or 0.0 for e, (k, _) in enumerate(part)}, d(sure, alpha))
        for e, (k, _) in enumerate(part):
            at_least({e: 0.0 if k is None else 1.0, base + e: -1.0}, 0.0)
        gone = [1.0 if v is None else (v if coupled else float(v > 0)) for _, v in part]
        for n in range(len(nodes)):
            entries = {}
            for e, (source, _, target, _) in enumerate(edges):
                entries[base + e] = (target == n) * (1 - gone[e]) - (source == n)
            at_least(entries, -float(n == 0))
        at_least({base + e: gone[e] for e in range(num)}, sure - alpha)
        if not coupled:
            at_least({e: v or 0.0 for e, (_, v) in enumerate(part)}, sure - alpha)
    goal = np.zeros(num + flows)
    goal[:num] = [float(task.cost[a]) for _, a, _, _ in edges]
    if not num:
        return INF
    found = linprog(goal, A_ub=np.array(rows), b_ub=right, bounds=(0, None), method="highs")
    assert found.status in (0, 2), found.message
    return INF if found.status == 2 else float(found.fun)


def design_bound(task: Task, alpha: float, beta: float) -> float:
    """The program of the design, without split and lattice, at its best truth."""
    if 2 * alpha + beta >= 1:
        return 0.0
    return max(one_truth(task, alpha, beta, h, coupled=False) for h in range(task.num_hypotheses))


def coupled_bound(task: Task, alpha: float, beta: float) -> float:
    """The same with the coupled flow."""
    if 2 * alpha + beta >= 1:
        return 0.0
    return max(one_truth(task, alpha, beta, h, coupled=True) for h in range(task.num_hypotheses))


def best_policies(task: Task, alpha: Fraction, beta: Fraction, steps: int) -> float:
    """The least worst-case expected cost of a valid randomised policy of at most so many actions; infinite if none.

    Unknowns: how much policy weight does what after each history; histories whose likelihoods are proportional, and
    whose hypotheses are where they are, are one.
    """
    size = task.num_hypotheses
    start = (tuple(int(s) for s in task.state), (Fraction(1),) * size)
    layers = [{start: {}}]
    unknowns = 0
    cost, wrong, abstain = ([dict[int, float]() for _ in range(size)] for _ in range(3))
    balance: list[tuple[dict[int, float], float]] = []
    for depth in range(steps + 1):
        following: dict = {}
        for (states, vector), inflow in layers[depth].items():
            out: dict[int, float] = {}
            now = task.label if task.state_label is None else [task.state_label[s] for s in states]
            for k in (-1, *sorted({int(k) for k in now})):
                for h in range(size):
                    if k == -1:
                        abstain[h][unknowns] = float(vector[h])
                    elif k != now[h]:
                        wrong[h][unknowns] = float(vector[h])
                out[unknowns] = 1.0
                unknowns += 1
            for a in range(task.model.num_actions if depth < steps else 0):
                after = [int(task.model.successor[s, a]) for s in states]
                if any(t == UNDEFINED and v for t, v in zip(after, vector, strict=True)):
                    continue
                laws = [task.model.reading_law(s, a) for s in states]
                for h in range(size):
                    cost[h][unknowns] = float(task.cost[a] * vector[h])
                for y in {y for law, v in zip(laws, vector, strict=True) if v for y in law}:
                    raw = [v * law.get(y, Fraction(0)) for v, law in zip(vector, laws, strict=True)]
                    scale = max(raw)
                    child = (
                        tuple(t if v else states[i] for i, (t, v) in enumerate(zip(after, raw, strict=True))),
                        tuple(v / scale for v in raw),
                    )
                    into = following.setdefault(child, {})
                    into[unknowns] = into.get(unknowns, 0.0) + float(scale)
                out[unknowns] = 1.0
                unknowns += 1
            for u, v in inflow.items():
                out[u] = out.get(u, 0.0) - v
            balance.append((out, 1.0 if depth == 0 else 0.0))
        layers.append(following)
    return _solve_policies(unknowns, cost, wrong, abstain, balance, float(alpha), float(beta))


def _solve_policies(unknowns, cost, wrong, abstain, balance, alpha: float, beta: float) -> float:
    def dense(rows: list[dict[int, float]], extra: float) -> np.ndarray:
        matrix = np.zeros((len(rows), unknowns + 1))
        for i, row in enumerate(rows):
            for u, v in row.items():
                matrix[i, u] = v
        matrix[:, -1] = extra
        return matrix

    size = len(cost)
    upper = np.vstack([dense(cost, -1.0), dense(wrong, 0.0), dense(abstain, 0.0)])
    limits = np.concatenate([np.zeros(size), np.full(size, alpha), np.full(size, beta)])
    goal = np.zeros(unknowns + 1)
    goal[-1] = 1.0
    found = linprog(
        goal,
        A_ub=upper,
        b_ub=limits,
        A_eq=dense([row for row, _ in balance], 0.0),
        b_eq=[v for _, v in balance],
        bounds=(0, None),
        method="highs",
    )
    assert found.status in (0, 2), found.message
    return INF if found.status == 2 else float(found.fun)
