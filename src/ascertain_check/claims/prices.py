"""The claim that no policy within stated risks costs less: prices of errors, and rows that bound one another.

*Prices.* Hypothesis h counts m_h >= 0 times and belongs to a class j, with prices w_j of a unit of cost, A_j of a wrong
answer and B_j of an abstention, none of them negative. A policy that errs with probability at most alpha and abstains
with probability at most beta under every hypothesis has a *priced sum*

    P = sum over h of m_h (w_j cost_h + A_j wrong_h + B_j abstain_h)
      <= (sum of m_h w_j) (largest cost_h) + alpha (sum of m_h A_j) + beta (sum of m_h B_j).

So a lower bound on P, less the last two terms, over W = sum of m_h w_j > 0, bounds its worst expected cost. This holds
for policies that draw at random, too.

*Vectors.* After a history, let X(j, c) be the sum, over the hypotheses of class j that are then in c, of m_h times the
probability of the readings under h; (j, c) is a *member* if such a hypothesis may still be true, even if X is 0 there.
A vector x *lies below* X if each of its members is one of X, with x <= X there. An action a, which all members allow,
and a reading y make of x the vector x_{a,y}, where x(j, c) K(y | c, a) is added to (j, successor), for all members with
K > 0. Write c(a) for the cost of a, mass(x) for the sum of w_j x, and *stop(x)* for the least of abstaining, the sum of
B_j x, and of answering k, the sum of A_j x over the members whose label is not k. The label of a member is that of its
class; in a task about the current state, that of its state.

*One step.* Whoever does not stop at x spends at least what the cheapest action costs, times mass(x): step(x) is the
least of stop(x) and that.

*Rows.* A row is a vector x, a bound b, and for some actions a and readings y another row (x', b'). It is worth
lambda b' at a vector z if x' lies below z in its members, lambda being the least z / x' where x' > 0 (0 if there is no
such member). The rows are *consistent* when for every row b <= stop(x), and for every action a that all its members
allow

    b <= c(a) mass(x) + sum over y of (what the row named for y is worth at x_{a,y}; else step(x_{a,y})).

*Theorem.* If the rows are consistent, every policy that ends with probability one spends, from wherever lambda x lies
below the true vector X on, at least lambda b, for every row (x, b) and lambda >= 0.

*Proof.* First for policies that are finite trees, by induction on their height. A tree that stops spends at least what
stopping costs at lambda x, as prices are not negative: lambda stop(x) >= lambda b. One that asks a may do so only if
all hypotheses that may still be true allow it, so all members of x do. It spends c(a) mass(X) >= lambda c(a) mass(x),
and then, after y, whatever the tree for y spends at X_{a,y}, below which lambda x_{a,y} lies, and so does lambda mu x'
if x' is worth mu b'. By the induction that is at least lambda mu b', or, where no row is named, lambda step(x_{a,y}),
since that tree stops or asks. In sum lambda b at least. Now let any policy end with probability one, and cut it off
after n actions: it then abstains. The cut one is a finite tree, so it spends lambda b at least; and its priced sum
tends to that of the policy, as the probability of not having ended by then tends to 0 under every hypothesis. QED. Rows
may name each other in circles: the induction is on trees, not along the rows. A policy that may go on for ever under
some hypothesis costs infinitely much, since costs are positive, and needs no bound.

*Classes of states.* As in lower.py, a claim may bring a stable partition; c is then a class of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ascertain_check.claim import LISTED, register
from ascertain_check.claims.information import read_risks, say_bound
from ascertain_check.claims.quotient import Quotient, read_classes
from ascertain_check.reading import (
    Object,
    read_index,
    read_key,
    read_list,
    read_map,
    read_object,
    read_rational,
)
from ascertain_check.task import Pair, Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend

Vector: TypeAlias = dict[Pair, Fraction]
"""By member, (class of prices, state)."""
ZERO = Fraction(0)


@dataclass(frozen=True)
class Price:
    label: int
    cost: Fraction
    wrong: Fraction
    abstain: Fraction


@dataclass(frozen=True)
class Row:
    """`moves[a][y]` is the row that is named for reading y of action a."""

    vector: Vector
    bound: Fraction
    moves: dict[int, dict[int, int]]


@dataclass(frozen=True)
class Proof:
    """Prices by class; for each hypothesis its class and how often it counts, or None; and the rows."""

    task: Task
    quotient: Quotient
    prices: list[Price]
    start: list[tuple[int, Fraction] | None]
    rows: list[Row]
    cheapest: Fraction
    """The least cost of an action."""

    def mass(self, x: Vector) -> Fraction:
        return sum((self.prices[j].cost * amount for (j, _), amount in x.items()), ZERO)

    def label(self, member: Pair) -> int:
        j, c = member
        return self.prices[j].label if self.quotient.current is None else self.quotient.current[c]

    def answer(self, x: Vector, label: int) -> Fraction:
        """What answering the label costs."""
        return sum((self.prices[m[0]].wrong * amount for m, amount in x.items() if self.label(m) != label), ZERO)

    def abstain(self, x: Vector) -> Fraction:
        return sum((self.prices[j].abstain * amount for (j, _), amount in x.items()), ZERO)

    def stop(self, x: Vector) -> Fraction:
        """The least of abstaining and of answering: a label that no member has is never the cheapest answer."""
        right: dict[int, Fraction] = {}
        for m, amount in x.items():
            right[self.label(m)] = right.get(self.label(m), ZERO) + self.prices[m[0]].wrong * amount
        return min(self.abstain(x), sum(right.values(), ZERO) - max(right.values(), default=ZERO))

    def allows(self, x: Vector, action: int) -> bool:
        spend(5 + len(x))
        return all(self.quotient.successor[c][action] is not None for _, c in x)

    def step(self, x: Vector) -> Fraction:
        """The least of stopping and of one more action."""
        return min(self.stop(x), self.cheapest * self.mass(x))

    def after(self, x: Vector, action: int) -> dict[int, Vector]:
        """x_{a,y} for every reading y that a member may give, of an action that all members allow."""
        result: dict[int, Vector] = {}
        for (j, c), amount in x.items():
            for y, p, target in moves_of(self.task, self.quotient, c, action):
                vector = result.setdefault(y, {})
                vector[j, target] = vector.get((j, target), ZERO) + amount * p
        return result

    def worth(self, z: Vector, number: int | None) -> Fraction:
        """What row `number` is worth at z; one step where there is none."""
        if number is None:
            return self.step(z)
        row = self.rows[number]
        if not row.vector.keys() <= z.keys():
            raise Refuted(f"row {number} has a member that is not there where the row is named")
        return row.bound * min((z[m] / amount for m, amount in row.vector.items() if amount), default=ZERO)

    def conclude(self, spent: Fraction, alpha: Fraction, beta: Fraction, cost: Fraction) -> None:
        """Whether a priced sum of at least `spent` proves the cost."""
        counted = [(self.prices[one[0]], one[1]) for one in self.start if one is not None]
        weight = sum((price.cost * m for price, m in counted), ZERO)
        allowed = sum(((alpha * price.wrong + beta * price.abstain) * m for price, m in counted), ZERO)
        if not weight:
            raise Refuted("no hypothesis has a weight")
        if spent - allowed < cost * weight:
            raise Refuted("the prices do not add up to that cost")


@register("prices", about=LISTED)
def check_prices(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim alpha beta cost proof row block?", "the claim 'prices'")
    alpha, beta = read_risks(data)
    cost = read_rational(data["cost"], "cost")
    quotient = read_classes(task, data)
    proof = read_proof(task, quotient, data["proof"])
    check_rows(proof)
    start: Vector = {}
    for (_, s), one in zip(task.hypotheses, proof.start, strict=True):
        if one is not None:
            member = one[0], quotient.block[s]
            start[member] = start.get(member, ZERO) + one[1]
    row = None if data["row"] is None else read_index(data["row"], len(proof.rows), "row")
    proof.conclude(proof.worth(start, row), alpha, beta, cost)
    return say_bound(cost, alpha, beta)


def check_rows(proof: Proof) -> None:
    """Whether the rows are consistent."""
    for number, row in enumerate(proof.rows):
        if row.bound > proof.stop(row.vector):
            raise Refuted(f"row {number}: its bound is above what stopping costs")
        for a, cost in enumerate(proof.task.cost):
            if proof.allows(row.vector, a):
                named = row.moves.get(a, {})
                after = proof.after(row.vector, a).items()
                spent = sum((proof.worth(z, named.get(y)) for y, z in after), cost * proof.mass(row.vector))
                if row.bound > spent:
                    raise Refuted(f"row {number}: its bound is above what action {a} costs")


def moves_of(task: Task, quotient: Quotient, c: int, action: int) -> list[tuple[int, Fraction, int]]:
    """The readings of an action in c with their probabilities, and where it leads; none where it is not allowed."""
    number, target = quotient.behaviour[c][action], quotient.successor[c][action]
    if number is None or target is None:
        return []
    law = task.laws[number] if task.noisy else ((number, Fraction(1)),)
    return [(y, p, target) for y, p in law]


def read_proof(task: Task, quotient: Quotient, value: object) -> Proof:
    data = read_object(value, "prices start rows", "a proof")
    prices = [read_price(task, price) for price in read_list(data["prices"], "prices")]
    entries = read_list(data["start"], "start", len(task.hypotheses))
    start = [read_start(prices, entry, k) for entry, (k, _) in zip(entries, task.hypotheses, strict=True)]
    rows = read_list(data["rows"], "rows")
    read = [read_row(task, quotient, row, len(prices), len(rows), f"row {i}") for i, row in enumerate(rows)]
    return Proof(task, quotient, prices, start, read, min(task.cost))


def read_price(task: Task, value: object) -> Price:
    k, cost, wrong, abstain = read_list(value, "a price", 4)
    label = read_index(k, task.num_labels, "the label of a price")
    return Price(label, *(read_rational(part, "a price") for part in (cost, wrong, abstain)))


def read_start(prices: list[Price], value: object, label: int) -> tuple[int, Fraction] | None:
    """The class of a hypothesis with this label, and how often it counts."""
    if value is None:
        return None
    first, amount = read_list(value, "start", 2)
    j = read_index(first, len(prices), "start")
    if prices[j].label != label:
        raise Refuted("a hypothesis has the prices of another label")
    return j, read_rational(amount, "start")


def read_row(task: Task, quotient: Quotient, value: object, num_prices: int, size: int, where: str) -> Row:
    data = read_object(value, "members bound moves", where)
    vector: Vector = {}
    for entry in read_list(data["members"], where):
        j, c, amount = read_list(entry, where, 3)
        member = read_index(j, num_prices, where), read_index(c, quotient.num_classes, where)
        if member in vector:
            raise Malformed(f"{where} lists a member twice")
        vector[member] = read_rational(amount, where)
    moves: dict[int, dict[int, int]] = {}
    for key, named in read_map(data["moves"], where).items():
        readings = read_map(named, where).items()
        moves[read_key(key, task.num_actions, where)] = {
            read_key(y, task.num_readings, where): read_index(target, size, where) for y, target in readings
        }
    return Row(vector, read_rational(data["bound"], where), moves)
