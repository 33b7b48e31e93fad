"""The best policy of at most so many actions, by going through all of them: what they achieve, history by history.

After a history (where each hypothesis would be, and how probable the readings are under it) a policy abstains, answers,
or asks, and then does something after each reading. So what it can achieve from there on, as a vector of costs, errors
and abstentions under each hypothesis, is one of a finite set: those of the endings, and for each action the sums of one
vector for each reading. Vectors that break a risk, or that another one is at most as large as everywhere, are left out.
All numbers are rational. Policies draw nothing at random, but an action that tells nothing is a coin that they may
toss.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np

from ascertain.model import NoisyMachine
from ascertain.task.task import Task
from ascertain.types import UNDEFINED

Vector = tuple[Fraction, ...]
ZERO = Fraction(0)
LAWS = tuple(
    tuple(Fraction(p) for p in law.split())
    for law in (
        "1 0 0",
        "3/4 1/8 1/8",
        "1/8 3/4 1/8",
        "1/10 9/10 0",
        "9/10 1/10 0",
        "3/5 2/5 0",
        "1/2 0 1/2",
        "0 1/4 3/4",
    )
)
RISKS = tuple(
    (Fraction(a), Fraction(b))
    for a, b in (
        ("1/5", "1/4"),
        ("1/10", "1/5"),
        ("1/4", "1/10"),
        ("1/20", "1/3"),
        ("1/100", "1/20"),
        ("1/1000", "1/100"),
    )
)


class OutOfReachError(Exception):
    """There are too many policies to go through."""


def short_optimum(task: Task, alpha: Fraction, beta: Fraction, depth: int, most: int = 150) -> Fraction | None:
    """The least worst-case cost of a valid policy of at most `depth` actions; None where there is none."""
    n = task.num_hypotheses
    chance = (Fraction(1),) * n
    found = _achievable(task, (alpha, beta), tuple(int(s) for s in task.state), chance, depth, most)
    return min((max(vector[:n]) for vector in found), default=None)


def _achievable(
    task: Task, risks: tuple[Fraction, Fraction], state: tuple[int, ...], chance: Vector, depth: int, most: int
) -> list[Vector]:
    n = task.num_hypotheses
    nothing = (ZERO,) * n
    right = task.label if task.state_label is None else task.state_label[list(state)]
    found = [nothing + nothing + chance]
    for k in range(len(task.labels)):
        found.append(nothing + tuple(p if right[h] != k else ZERO for h, p in enumerate(chance)) + nothing)
    alive = [h for h in range(n) if chance[h]]
    for a in task.actions if depth else ():
        if any(task.model.successor[state[h], a] == UNDEFINED for h in alive):
            continue
        moved = tuple(int(task.model.successor[s, a]) if h in alive else s for h, s in enumerate(state))
        laws = [task.model.reading_law(s, a) if h in alive else {} for h, s in enumerate(state)]
        spent = tuple(task.cost[a] * p for p in chance) + nothing + nothing
        sums = [spent]
        for y in sorted(set().union(*laws)):
            after = tuple(p * law.get(y, ZERO) for p, law in zip(chance, laws, strict=True))
            parts = _achievable(task, risks, moved, after, depth - 1, most)
            if len(sums) * len(parts) > most * most:
                raise OutOfReachError
            sums = _best([_add(u, v) for u, v in product(sums, parts)], risks, n, most)
        found += sums
    return _best(found, risks, n, most)


def _add(u: Vector, v: Vector) -> Vector:
    return tuple(x + y for x, y in zip(u, v, strict=True))


def _best(vectors: list[Vector], risks: tuple[Fraction, Fraction], n: int, most: int) -> list[Vector]:
    """Those that keep to the risks and that no other one beats."""
    kept: list[Vector] = []
    for vector in sorted(set(vectors)):
        if max(vector[n : 2 * n]) > risks[0] or max(vector[2 * n :]) > risks[1]:
            continue
        if not any(all(x <= y for x, y in zip(other, vector, strict=True)) for other in kept):
            kept.append(vector)
            if len(kept) > most:
                raise OutOfReachError
    return kept


def random_small_task(seed: int) -> tuple[Task, Fraction, Fraction]:
    """A noisy task of 2 to 5 states and its risks: some partial, some about the current state, labels shared or not."""
    random = Random(seed)
    n, num_actions, num_readings = random.randint(2, 5), random.randint(1, 3), random.randint(2, 3)
    laws = [law for law in LAWS if num_readings == 3 or not law[2]]
    laws = random.sample(laws, random.randint(2, min(4, len(laws))))
    law = np.array([[random.randrange(len(laws)) for _ in range(num_actions)] for _ in range(n)])
    # Half of the machines hardly move, so that more can be learnt; a third are not complete.
    stays = random.choice((0.0, 0.7))
    successor = np.array(
        [[s if random.random() < stays else random.randrange(n) for _ in range(num_actions)] for s in range(n)]
    )
    if random.random() < 1 / 3:
        gone = np.array([[random.random() < 0.15 for _ in range(num_actions)] for _ in range(n)])
        law, successor = np.where(gone, UNDEFINED, law), np.where(gone, UNDEFINED, successor)
    model = NoisyMachine(
        states=tuple(f"s{i}" for i in range(n)),
        actions=tuple(f"a{i}" for i in range(num_actions)),
        readings=tuple(f"y{i}" for i in range(num_readings)),
        successor=successor.astype(np.int32),
        law=law.astype(np.int32),
        laws=tuple(tuple((y, p) for y, p in enumerate(one[:num_readings]) if p) for one in laws),
    )
    state = sorted(random.sample(range(n), random.randint(2, n)))
    num_labels = random.randint(2, n)
    of_state = np.array([random.randrange(num_labels) for _ in range(n)], dtype=np.int32)
    of_state[state[:2]] = 0, 1
    current = random.random() < 0.3
    alpha, beta = random.choice(RISKS)
    task = Task(
        model=model,
        state=np.array(state, dtype=np.int32),
        label=of_state[state],
        labels=tuple(f"l{k}" for k in range(num_labels)),
        cost=tuple(random.choice((Fraction(1), Fraction(1, 2), Fraction(2))) for _ in range(num_actions)),
        state_label=of_state if current else None,
    )
    return task, alpha, beta
