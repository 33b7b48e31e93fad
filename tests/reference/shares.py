"""The slow obvious twin of bounds by shares: what they prove, by value iteration over all pairs, and random ones."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, gcd, lcm
from random import Random
from typing import Any

from ascertain.task.task import Task

INFINITE = Fraction(10**9)
"""More than any sum of shares of a test."""


def proved_by_shares(task: Task, claim: dict[str, Any]) -> Fraction:
    """The bound that a claim without classes proves, if its shares fit what steps cost; rounded up as the claim may."""
    model, zero = task.model, Fraction(0)
    fixed = "readings" in claim
    leads = joint_states(task, claim.get("joint", []))

    def move(r: int, a: int) -> tuple[int, int] | None:
        if fixed:
            return claim["readings"][a], leads[r, a]
        after = int(model.successor[r, a])
        return None if after < 0 else (int(model.behaviour[r, a]), after)

    by_label = {(r, a, k): Fraction(x) for r, a, k, x in claim["labels"]}
    by_state = {(r, a, z): Fraction(x) for r, a, z, x in claim["states"]}
    potential = {r: Fraction(p) for r, p in claim["potential"]}
    start = 0 if fixed else int(task.state[claim["reference"]])
    reached = {start}
    for _ in range(max(model.num_states, len(leads))):
        reached |= {m[1] for r in reached for a in range(model.num_actions) if (m := move(r, a)) is not None}
    found: list[Fraction] = []
    for g in claim["rivals"]:
        label = int(task.label[g])
        value = {(r, z): INFINITE for r in reached for z in range(model.num_states)}
        for _ in value:
            for r, z in list(value):
                for a in range(model.num_actions):
                    m, after = move(r, a), int(model.successor[z, a])
                    if m is None or after < 0:
                        continue
                    rest = zero if int(model.behaviour[z, a]) != m[0] else value[m[1], after]
                    share = by_label.get((r, a, label), zero) + by_state.get((r, a, z), zero)
                    value[r, z] = min(value[r, z], share + rest)
        found.append(value[start, int(task.state[g])])
    total = sum(found, zero) - (max(found, default=zero) if fixed else zero)
    total += potential.get(start, zero) - max(potential.get(r, zero) for r in reached)
    whole = lcm(*(c.denominator for c in task.cost))
    unit = Fraction(gcd(*(int(c * whole) for c in task.cost)), whole)
    return unit * ceil(total / unit)


def joint_states(task: Task, joint: list[int]) -> dict[tuple[int, int], int]:
    """Where an action leads the number of a joint state, from what words of actions lead to, shorter words first."""
    model, number = task.model, dict[tuple[int, ...], int]()
    leads: dict[tuple[int, int], int] = {}

    def follow(word: tuple[int, ...]) -> tuple[int, ...]:
        at = [int(task.state[g]) for g in joint]
        for a in word:
            at = [z if z < 0 else int(model.successor[z, a]) for z in at]
        return tuple(at)

    words: list[tuple[int, ...]] = [()]
    number[follow(())] = 0
    for word in words:
        for a in range(model.num_actions):
            longer = (*word, a)
            if follow(longer) not in number:
                number[follow(longer)] = len(number)
                words.append(longer)
            leads[number[follow(word)], a] = number[follow(longer)]
    return leads


def random_claim(rng: Random, task: Task) -> dict[str, Any]:
    """Random shares, scaled to fit what steps cost; the cost that is claimed is any."""
    model = task.model
    fixed = rng.random() < 0.6
    h = rng.randrange(task.num_hypotheses)
    joint = rng.sample(range(task.num_hypotheses), min(task.num_hypotheses, rng.randint(0, 2))) if fixed else []
    leads = joint_states(task, joint)
    num_references = len(leads) // model.num_actions if fixed else model.num_states
    rivals: dict[int, int] = {}
    for g in rng.sample(range(task.num_hypotheses), task.num_hypotheses):
        if fixed or task.label[g] != task.label[h]:
            rivals.setdefault(int(task.label[g]), g)
    potential = {r: Fraction(rng.randint(0, 2), 2) for r in range(num_references) if rng.random() < 0.3}
    labels: list[list[Any]] = []
    states: list[list[Any]] = []
    for r in range(num_references):
        for a in range(model.num_actions):
            after = leads[r, a] if fixed else int(model.successor[r, a])
            if after < 0:
                continue
            room = task.cost[a] - potential.get(r, Fraction(0)) + potential.get(after, Fraction(0))
            entries = [(labels, k) for k in range(len(task.labels))] + [(states, z) for z in range(model.num_states)]
            chosen = rng.sample(entries, rng.randint(0, min(3, len(entries))))
            for kept, who in chosen:
                kept.append([r, a, who, str(max(Fraction(0), room / len(chosen)))])
    return {
        "claim": "shares",
        "cost": "0",
        **({"readings": [rng.randrange(len(model.readings)) for _ in model.actions]} if fixed else {"reference": h}),
        **({"joint": joint} if joint else {}),
        "rivals": list(rivals.values()),
        "labels": labels,
        "states": states,
        "potential": [[r, str(p)] for r, p in potential.items()],
    }
