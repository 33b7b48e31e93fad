"""What claims by prices and by openings say, judged another way, and ways to spoil true ones.

A row (x, b) says that no policy spends less than b from x on. A policy of at most n actions spends at least the value
of dynamic programming with n actions left, and the best one exactly that: were b above it for any n, the row would be
false. Likewise a cost above that of some policy within the risks is false (`enumerated.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from ascertain.task.task import Task
from ascertain.types import UNDEFINED

Claim = dict[str, Any]
Vector = dict[tuple[int, int], Fraction]
"""By (class of prices, class of states)."""
FACTORS = (Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000), Fraction(1001, 1000), Fraction(11, 10), Fraction(2))


class PricedTask:
    """A task at the prices of a proof, on the classes of a partition, whose first states stand for them."""

    def __init__(self, task: Task, proof: Any, block: list[int]) -> None:
        self.task, self.block = task, block
        self.first = {c: s for s, c in reversed(list(enumerate(block)))}
        self.prices = [(k, *map(Fraction, price)) for k, *price in proof["prices"]]

    def value(self, x: Vector, horizon: int) -> Fraction:
        """The least that a policy of so many actions spends from x on."""
        model = self.task.model
        wrong = [
            sum((self.prices[j][2] * v for (j, c), v in x.items() if self.label(j, c) != k), Fraction(0))
            for k in range(len(self.task.labels))
        ]
        best = min([*wrong, sum((self.prices[j][3] * v for (j, _), v in x.items()), Fraction(0))])
        for a in range(model.num_actions if horizon else 0):
            if any(model.successor[self.first[c], a] == UNDEFINED for _, c in x):
                continue
            spent = self.task.cost[a] * sum((self.prices[j][1] * v for (j, _), v in x.items()), Fraction(0))
            for y in range(len(model.readings)):
                after: Vector = {}
                for (j, c), v in x.items():
                    p = model.reading_law(self.first[c], a).get(y, Fraction(0))
                    if p:
                        key = j, self.block[int(model.successor[self.first[c], a])]
                        after[key] = after.get(key, Fraction(0)) + v * p
                spent += self.value(after, horizon - 1) if after else Fraction(0)
            best = min(best, spent)
        return best

    def label(self, j: int, c: int) -> int:
        if self.task.state_label is not None:
            return int(self.task.state_label[self.first[c]])
        return int(self.prices[j][0])


def find_false_row(task: Task, proof: Any, block: list[int], horizon: int) -> int | None:
    """A row whose bound some policy of so many actions undercuts."""
    priced = PricedTask(task, proof, block)
    for i, row in enumerate(proof["rows"]):
        x = {(j, c): Fraction(v) for j, c, v in row["members"]}
        if x and Fraction(row["bound"]) > priced.value(x, horizon):
            return i
    return None


def is_false(task: Task, claim: Claim, horizon: int) -> bool:
    """Whether the priced value of the start, with so many actions, shows that a claim by prices cannot be proved."""
    proof, block = claim["proof"], claim["block"]
    x: Vector = {}
    weight = allowed = Fraction(0)
    priced = PricedTask(task, proof, block)
    for h, entry in enumerate(proof["start"]):
        if entry is not None:
            (j, m), c = (entry[0], Fraction(entry[1])), block[int(task.state[h])]
            x[j, c] = x.get((j, c), Fraction(0)) + m
            _, w, wrong, abstain = priced.prices[j]
            weight += m * w
            allowed += m * (Fraction(claim["alpha"]) * wrong + Fraction(claim["beta"]) * abstain)
    return bool(x) and Fraction(claim["cost"]) * weight > priced.value(x, horizon) - allowed


# Spoilers: each changes a claim in place.


def pick_proof(rng: Random, claim: Claim) -> Any:
    return claim["proof"] if claim["claim"] == "prices" else rng.choice(claim["proofs"])


def scale(rng: Random, text: str) -> str:
    """A little less or more."""
    return str(Fraction(text) * rng.choice(FACTORS) if rng.random() < 0.9 else Fraction(rng.randint(0, 3)))


def spoil_cost(rng: Random, claim: Claim) -> None:
    claim["cost"] = scale(rng, claim["cost"])


def raise_bounds(rng: Random, claim: Claim) -> None:
    """All bounds and the claim rise together: the lie that is hardest to see."""
    factor = rng.choice(FACTORS[3:])
    for row in pick_proof(rng, claim)["rows"]:
        row["bound"] = str(Fraction(row["bound"]) * factor)
    claim["cost"] = str(Fraction(claim["cost"]) * factor)


def spoil_row(rng: Random, claim: Claim) -> None:
    rows = pick_proof(rng, claim)["rows"]
    if not rows:
        return
    row, kind = rng.choice(rows), rng.randrange(5)
    if kind == 0:
        row["bound"] = scale(rng, row["bound"])
    elif kind == 1 and row["members"]:
        member = rng.choice(row["members"])
        member[2] = scale(rng, member[2])
    elif kind == 2 and row["members"]:
        row["members"].pop(rng.randrange(len(row["members"])))
    elif kind == 3 and row["moves"]:
        named = row["moves"][rng.choice(sorted(row["moves"]))]
        if named:
            named[rng.choice(sorted(named))] = rng.randrange(len(rows))
    elif row["moves"]:
        row["moves"].pop(rng.choice(sorted(row["moves"])))


def spoil_prices(rng: Random, claim: Claim) -> None:
    price = rng.choice(pick_proof(rng, claim)["prices"])
    i = rng.randrange(4)
    price[i] = rng.randrange(2) if i == 0 else scale(rng, price[i])


def spoil_start(rng: Random, claim: Claim) -> None:
    start = pick_proof(rng, claim)["start"]
    h = rng.randrange(len(start))
    if start[h] is None or rng.random() < 0.3:
        start[h] = rng.choice([None, [0, "1"]])
    else:
        start[h][1] = scale(rng, start[h][1])


def spoil_risk(rng: Random, claim: Claim) -> None:
    risk = rng.choice(("alpha", "beta"))
    claim[risk] = scale(rng, claim[risk])


def spoil_root(rng: Random, claim: Claim) -> None:
    if claim["claim"] == "prices":
        claim["row"] = rng.choice([None, *range(len(claim["proof"]["rows"]))])


def spoil_node(rng: Random, claim: Claim) -> None:
    if claim["claim"] != "openings":
        return
    node = rng.choice(claim["nodes"])
    if "proof" in node:
        if rng.random() < 0.5:
            node["proof"] = rng.randrange(len(claim["proofs"]))
        elif node["rows"]:
            node["rows"][rng.choice(sorted(node["rows"]))] = rng.randrange(4)
        return
    kind = rng.choice(("ask", "answer", "abstain", "history"))
    if kind == "abstain":
        node["abstain"] = None
    elif kind == "history":
        node["history"] = rng.randrange(4)
    elif node[kind]:
        node[kind].pop(rng.choice(sorted(node[kind])))


def cut_cases(rng: Random, claim: Claim) -> None:
    """Leave a decision out, and the nodes below it: the numbers of the others stay."""
    if claim["claim"] == "openings":
        inner = [node for node in claim["nodes"] if "history" in node]
        node = rng.choice(inner) if inner else {"ask": {}}
        if node["ask"]:
            node["ask"].pop(rng.choice(sorted(node["ask"])))


SPOILERS: list[Callable[[Random, Claim], None]] = [
    spoil_cost,
    raise_bounds,
    spoil_row,
    spoil_row,
    spoil_prices,
    spoil_start,
    spoil_risk,
    spoil_root,
    spoil_node,
    cut_cases,
]
