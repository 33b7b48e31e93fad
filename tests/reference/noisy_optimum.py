"""The exact optimum of a small noisy task, between two bounds: dynamic programming on the lattice of likelihoods.

The least worst-case expected cost over policies that err with probability at most alpha and abstain with at most beta,
whatever is true. Fix multipliers: weights w (summing to one) for costs, A for errors, B for abstentions, one each for
every hypothesis. Every valid policy costs at least

    min over policies of sum over h of (w_h cost_h + A_h wrong_h + B_h abstain_h)  -  alpha sum A  -  beta sum B,

and the minimum is found by dynamic programming: what matters of a transcript is where each hypothesis would be now and
the ratios of their likelihoods, and equal ones are merged (counts of readings lie on a lattice). Past the horizon, and
where one label is left but for odds of alpha / 1000, going on is taken to cost one more step at the least; so the bound
is valid whatever the horizon. The multipliers come from a linear program over the policies found so far, whose duals
ask for the next policy (column generation): the bound rises to the optimum of *mixtures* of policies.

A policy may not be drawn at random here, so the upper value is that of one policy: the cheapest plan that is valid
among those found, after single decisions have been changed for as long as that makes it cheaper and leaves it valid.
Whether it is valid, and what it costs, is computed in rationals. The lower value is computed in floats; all terms but
the last two are sums of products of non-negative numbers, so its relative error is at most the number of operations on
a path times 2^-53, and SAFETY is taken off for it.

Practical for two hypotheses at any risk (seconds at alpha = 2.5e-7 and a horizon of 80), and for three or four at risks
of about 1/100 and a horizon of 12 to 20, where likelihood ratios lie on a lattice of low dimension (flips). The gap
that is left is mostly that between mixtures and single policies, and shrinks as alpha does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from ascertain.task.task import Task
from ascertain.types import UNDEFINED

SAFETY = 1e-9
ROUNDS = 60
IMPROVEMENTS = 200
ABSTAIN = -1
"""In a plan: -1 abstains, -2 - k answers k, and a >= 0 asks a."""


@dataclass
class Lattice:
    """Beliefs, layer by layer: `chance[b, h]` sums to one over h, and `right[b, h]` is the right answer.

    `child[b, a, y]` is a belief of the next layer, met with probability `scale[b, a, y]`; `allowed[b, a]` says whether
    a may be asked, and is False everywhere at beliefs where the lattice is cut off. `state[b][h]` is where h would be.
    """

    chance: np.ndarray
    right: np.ndarray
    child: np.ndarray
    scale: np.ndarray
    allowed: np.ndarray
    state: list[tuple[int, ...]]
    layers: list[slice]


@dataclass
class Plan:
    """A policy on the lattice: a decision at each belief, and what it achieves for each hypothesis."""

    decision: np.ndarray
    cost: np.ndarray
    wrong: np.ndarray
    abstain: np.ndarray


def noisy_optimum(task: Task, alpha: Fraction, beta: Fraction, horizon: int) -> tuple[Fraction, Fraction | None]:
    """(lower, upper): the optimum lies between; upper is None where no valid policy of `horizon` actions is known."""
    lattice = _build(task, alpha, horizon)
    n = task.num_hypotheses
    plans = [
        _plan(task, lattice, np.full(n, 1 / n), np.full(n, size), np.full(n, size))[1] for size in (0.0, 1e3, 1e12)
    ]
    lower = 0.0
    for _ in range(ROUNDS):
        value, w, a, b = _master(plans, alpha, beta)
        low, plan = _plan(task, lattice, w, a, b)
        spent = float(alpha) * a.sum() + float(beta) * b.sum()
        lower = max(lower, low - spent - SAFETY * (low + spent))
        if value - lower <= 1e-7 * value or any(np.array_equal(plan.decision, p.decision) for p in plans):
            break
        plans.append(plan)
    return Fraction(lower), _best_single(task, lattice, plans, alpha, beta, lower)


def lower_at_prices(
    task: Task, alpha: Fraction, beta: Fraction, horizon: int, prices: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> Fraction:
    """The lower value that these multipliers (w, A, B) prove, wherever they come from; w is made to sum to one."""
    w, a, b = (part / prices[0].sum() for part in prices)
    low, _ = _plan(task, _build(task, alpha, horizon), w, a, b)
    spent = float(alpha) * a.sum() + float(beta) * b.sum()
    return Fraction(low - spent - SAFETY * (low + spent))


def _build(task: Task, alpha: Fraction, horizon: int) -> Lattice:
    n, num_actions, num_readings = task.num_hypotheses, task.model.num_actions, len(task.model.readings)
    beliefs: list[tuple[tuple[int, ...], tuple[Fraction, ...]]] = []
    layers: list[slice] = []
    rows: list[dict[tuple[int, int], tuple[int, float]]] = []
    asked: list[set[int]] = []
    front = [(tuple(int(s) for s in task.state), (Fraction(1, n),) * n)]
    for t in range(horizon + 1):
        layers.append(slice(len(beliefs), len(beliefs) + len(front)))
        beliefs += front
        following: dict[Any, int] = {}
        for states, chances in front:
            cut = t == horizon or _is_settled(task, states, chances, alpha)
            moves, allowed = ({}, set()) if cut else _moves(task, states, chances, following, len(beliefs))
            rows.append(moves)
            asked.append(allowed)
        front = list(following)
    child, scale = (np.zeros((len(beliefs), num_actions, num_readings), dtype=kind) for kind in (np.int64, np.float64))
    allowed = np.zeros((len(beliefs), num_actions), dtype=bool)
    for b, moves in enumerate(rows):
        allowed[b, list(asked[b])] = True
        for (a, y), (target, p) in moves.items():
            child[b, a, y], scale[b, a, y] = target, p
    return Lattice(
        chance=np.array([[float(p) for p in chances] for _, chances in beliefs]),
        right=np.array([_answers(task, states) for states, _ in beliefs]),
        child=child,
        scale=scale,
        allowed=allowed,
        state=[states for states, _ in beliefs],
        layers=layers,
    )


def _answers(task: Task, states: tuple[int, ...]) -> list[int]:
    return [int(k) for k in (task.label if task.state_label is None else task.state_label[list(states)])]


def _is_settled(task: Task, states: tuple[int, ...], chances: tuple[Fraction, ...], alpha: Fraction) -> bool:
    """Whether one label is left but for odds that do not matter."""
    of_label: dict[int, Fraction] = {}
    for k, p in zip(_answers(task, states), chances, strict=True):
        of_label[k] = of_label.get(k, Fraction(0)) + p
    return 1 - max(of_label.values()) <= alpha / 1000


def _moves(
    task: Task, states: tuple[int, ...], chances: tuple[Fraction, ...], following: dict[Any, int], first: int
) -> tuple[dict[tuple[int, int], tuple[int, float]], set[int]]:
    """Where each allowed action and reading lead, with which probability; beliefs of the next layer are numbered."""
    moves: dict[tuple[int, int], tuple[int, float]] = {}
    allowed: set[int] = set()
    alive = [h for h, p in enumerate(chances) if p]
    for a in range(task.model.num_actions):
        if any(task.model.successor[states[h], a] == UNDEFINED for h in alive):
            continue
        allowed.add(a)
        moved = tuple(int(task.model.successor[s, a]) if h in alive else s for h, s in enumerate(states))
        laws = [task.model.reading_law(s, a) if h in alive else {} for h, s in enumerate(states)]
        for y in range(len(task.model.readings)):
            joint = [p * law.get(y, 0) for p, law in zip(chances, laws, strict=True)]
            total = sum(joint, Fraction(0))
            if total:
                key = (moved, tuple(p / total for p in joint))
                moves[a, y] = (first + following.setdefault(key, len(following)), float(total))
    return moves, allowed


def _plan(task: Task, lattice: Lattice, w: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[float, Plan]:
    """The least weighted sum, from below, and the plan that is best among those that stop where the lattice is cut."""
    endings = [lattice.chance @ b]
    endings += [(lattice.chance * (lattice.right != k)) @ a for k in range(len(task.labels))]
    high = np.min(endings, axis=0)
    decision = -1 - np.argmin(endings, axis=0)
    step = lattice.chance @ w
    # Where nothing is allowed going on for one more step is taken for possible, which makes the bound no higher.
    cut = ~lattice.allowed.any(axis=1)
    low = np.where(cut, np.minimum(high, float(min(task.cost)) * step), high)
    for layer in reversed(lattice.layers):
        for action, cost in enumerate(task.cost):
            rows = layer.start + np.flatnonzero(lattice.allowed[layer, action])
            children, scale = lattice.child[rows, action], lattice.scale[rows, action]
            go = float(cost) * step[rows]
            low[rows] = np.minimum(low[rows], go + (scale * low[children]).sum(axis=1))
            value = go + (scale * high[children]).sum(axis=1)
            decision[rows[value < high[rows]]] = action
            high[rows] = np.minimum(high[rows], value)
    return float(low[0]) * task.num_hypotheses, _achieve(task, lattice, decision)


def _achieve(task: Task, lattice: Lattice, decision: np.ndarray) -> Plan:
    """What a plan achieves under each hypothesis, in floats."""
    cost, abstain, wrong = _values(task, lattice, decision)[0] * task.num_hypotheses
    return Plan(decision, cost, wrong, abstain)


def _values(task: Task, lattice: Lattice, decision: np.ndarray) -> np.ndarray:
    """(cost, abstain, wrong) from every belief, weighted by the chances of the hypotheses there."""
    value = np.zeros((len(decision), 3, task.num_hypotheses))
    value[:, 1] = np.where(decision[:, None] == ABSTAIN, lattice.chance, 0)
    stops = (decision < ABSTAIN)[:, None] & (lattice.right != (-2 - decision)[:, None])
    value[:, 2] = np.where(stops, lattice.chance, 0)
    costs = np.array([float(c) for c in task.cost])
    for layer in reversed(lattice.layers):
        rows = layer.start + np.flatnonzero(decision[layer] >= 0)
        asked = decision[rows]
        scale, children = lattice.scale[rows, asked], lattice.child[rows, asked]
        value[rows] = (scale[:, :, None, None] * value[children]).sum(axis=1)
        value[rows, 0] += costs[asked][:, None] * lattice.chance[rows]
    return value


def _master(plans: list[Plan], alpha: Fraction, beta: Fraction) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """The best mixture of plans, and the multipliers that price the next; a limit may be broken at a high price."""
    n, m = len(plans[0].cost), len(plans)
    price = 1e3 * (1 + max(p.cost.max() for p in plans))
    scale = [float(1 / x) if x else 1e6 for x in (alpha, beta)]
    rows = [np.array([p.cost for p in plans]).T]
    rows += [
        np.array([p.wrong for p in plans]).T * scale[0],
        np.array([p.abstain for p in plans]).T * scale[1],
    ]
    matrix = np.zeros((3 * n, m + 1 + 2 * n))
    matrix[:, :m] = np.vstack(rows)
    matrix[:n, m] = -1
    matrix[n:, m + 1 :] = -np.eye(2 * n)
    limits = np.concatenate([np.zeros(n), np.full(n, float(alpha) * scale[0]), np.full(n, float(beta) * scale[1])])
    objective = np.concatenate([np.zeros(m), [1], np.full(2 * n, price)])
    total = np.concatenate([np.ones(m), np.zeros(1 + 2 * n)])[None]
    found = linprog(objective, matrix, limits, total, [1.0], method="highs")
    assert found.status == 0, found.message
    dual = np.maximum(0, -found.ineqlin.marginals)
    w = dual[:n] / dual[:n].sum() if dual[:n].any() else np.full(n, 1 / n)
    return found.fun, w, dual[n : 2 * n] * scale[0], dual[2 * n :] * scale[1]


def _best_single(
    task: Task, lattice: Lattice, plans: list[Plan], alpha: Fraction, beta: Fraction, lower: float
) -> Fraction | None:
    """The cost of the cheapest plan that is valid, among those found and what they can be improved to; exact."""
    _, w, a, b = _master(plans, alpha, beta)
    # A little more weight on the risks gives plans that are a little safer.
    plans = plans + [
        _plan(task, lattice, w, a * more, b * more)[1] for more in (1 + 1e-6, 1.001, 1.1, 2.0, 10.0, 100.0)
    ]
    # An improved plan keeps a hair's breadth away from the limits; one that attains them exactly is found as it is.
    tight = (alpha * (1 - Fraction(1, 10**9)), beta * (1 - Fraction(1, 10**9)))
    valid = sorted((p for p in plans if _is_valid(p.wrong, p.abstain, *tight)), key=lambda p: p.cost.max())[:2]
    for p, thrift in [(p, thrift) for p in valid for thrift in (True, False)]:
        if min(q.cost.max() for q in valid) > lower * 1.0001:
            valid.append(_improve(task, lattice, p, w, *tight, thrift))
    for plan in sorted([*plans, *valid], key=lambda p: p.cost.max()):
        if _is_valid(plan.wrong, plan.abstain, alpha, beta):
            costs, wrong, abstain = _achieve_exactly(task, lattice, plan)
            if max(wrong) <= alpha and max(abstain) <= beta:
                return max(costs)
    return None


def _is_valid(wrong: np.ndarray, abstain: np.ndarray, alpha: Fraction, beta: Fraction) -> np.bool_ | np.ndarray:
    """As far as floats can tell; the last axis is that of hypotheses."""
    return (wrong <= float(alpha) * (1 + 1e-12)).all(axis=-1) & (abstain <= float(beta) * (1 + 1e-12)).all(axis=-1)


def _improve(
    task: Task, lattice: Lattice, plan: Plan, w: np.ndarray, alpha: Fraction, beta: Fraction, thrift: bool
) -> Plan:
    """Change one decision at a time: the one that saves most, or (with thrift) most for the risk that it adds."""
    for _ in range(IMPROVEMENTS):
        value, mass = _values(task, lattice, plan.decision), _masses(lattice, plan.decision)
        total = np.stack([plan.cost, plan.abstain, plan.wrong])
        chosen, best = None, 1e-12
        rows = np.flatnonzero(mass > 0)
        for decision in range(-1 - len(task.labels), task.model.num_actions):
            here = rows if decision < 0 else rows[lattice.allowed[rows, decision]]
            other = _one(task, lattice, value, here, decision)
            change = task.num_hypotheses * mass[here, None, None] * (other - value[here])
            new, saved = total + change, -(change[:, 0] @ w)
            score = np.where(_is_valid(new[:, 2], new[:, 1], alpha, beta) & (saved > 1e-12), saved, 0)
            if thrift:
                score = score / (np.maximum(0, change[:, 1:]).sum(axis=(1, 2)) + 1e-15)
            if len(here) and score.max() > best:
                best, chosen = score.max(), (here[score.argmax()], decision)
        if chosen is None:
            break
        changed = plan.decision.copy()
        changed[chosen[0]] = chosen[1]
        plan = _achieve(task, lattice, changed)
    return plan


def _one(task: Task, lattice: Lattice, value: np.ndarray, rows: np.ndarray, decision: int) -> np.ndarray:
    """What one decision is worth at these beliefs, given what it leads to is worth."""
    chance = lattice.chance[rows]
    result = np.zeros((len(rows), 3, task.num_hypotheses))
    if decision == ABSTAIN:
        result[:, 1] = chance
    elif decision < 0:
        result[:, 2] = np.where(lattice.right[rows] != -2 - decision, chance, 0)
    else:
        children = lattice.child[rows, decision]
        result = (lattice.scale[rows, decision][:, :, None, None] * value[children]).sum(axis=1)
        result[:, 0] += float(task.cost[decision]) * chance
    return result


def _masses(lattice: Lattice, decision: np.ndarray) -> np.ndarray:
    """The probability of each belief under the plan, all hypotheses being equally likely."""
    mass = np.zeros(len(decision))
    mass[0] = 1
    for layer in lattice.layers:
        rows = layer.start + np.flatnonzero(decision[layer] >= 0)
        share = mass[rows, None] * lattice.scale[rows, decision[rows]]
        np.add.at(mass, lattice.child[rows, decision[rows]].ravel(), share.ravel())
    return mass


def _achieve_exactly(task: Task, lattice: Lattice, plan: Plan) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """Costs, errors and abstentions under each hypothesis, in rationals, following the plan from the start."""
    n = task.num_hypotheses
    costs, wrong, abstain = ([Fraction(0)] * n for _ in range(3))
    reached: dict[int, list[Fraction]] = {0: [Fraction(1)] * n}
    for b in range(len(plan.decision)):
        d, chance = int(plan.decision[b]), reached.pop(b, None)
        for h, p in enumerate(chance or ()):
            if d == ABSTAIN:
                abstain[h] += p
            elif d < 0:
                wrong[h] += p * int(lattice.right[b, h] != -2 - d)
            elif p:
                costs[h] += p * task.cost[d]
                for y, q in task.model.reading_law(lattice.state[b][h], d).items():
                    reached.setdefault(int(lattice.child[b, d, y]), [Fraction(0)] * n)[h] += p * q
    return costs, wrong, abstain
