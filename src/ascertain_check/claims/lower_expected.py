"""The claim that no policy settles the question at a lower mean cost: weighted rows that bound one another.

Throughout: configurations, R_{a,y} and *covered* are those of lower.py. In a *weighted* configuration every member has
a weight, which is not negative; |R| is their sum. Members of weight 0 cost nothing but have to be settled. Weights move
with their members, and those of members that meet add up: R_{a,y} is weighted too. The cost of a policy on R, which it
solves, is the sum over members of weight times cost.

A weighted configuration W *holds* parts (R_1, t_1), ..., (R_n, t_n), where each t_i is a positive number, when every
R_i is covered by W and, for every state z, t_1 w_1(z) + ... + t_n w_n(z) <= w(z), where w(z) is the sum of the weights
of the members of W in state z and w_i(z) that of R_i. What a policy costs a member depends on the state of the member
alone, and costs are not negative. So the cost of a policy on W is at least t_1 times its cost on R_1 (its answers
renamed) plus ... plus t_n times its cost on R_n. Sets in place of weights would be wrong: a light member that moves
into the state of a heavy one would count as heavy from there on.

A row is a weighted configuration R with a bound b, a rational or infinite. The rows are *consistent* when for every row

1. R is not pure, and
2. two members of R share a state and differ in label, or for every action a that all members of R allow, the row names
   parts (R', t) with bounds b', each for a reading y (perhaps none), such that R_{a,y} holds those named for y and
   b <= c(a) |R| + (the sum of all t b').

*Theorem.* If the rows are consistent, no policy solves the configuration R of any row at a cost below its bound b, and
none at all if b is infinite.

*Proof.* Suppose some policies do, for some rows. On the transcripts of the members each is a finite tree; among all
such pairs of a row and a tree, choose one with a tree T of least height. T does not begin with an answer, for R is not
pure. So it begins with an action a, which all members of R allow. Members that share a state are answered alike, so
none of them differ in label. What T does after reading y, T_y, solves R_{a,y}, and so every part that is named for y;
no part is pure, so none is empty, and T_y is a lower tree than T. By the choice of T, T_y costs at least b' on each of
these parts, none of which is infinite. Hence T costs c(a) |R| plus the costs of all T_y on R_{a,y}, at least c(a) |R|
plus the sum of all t b', which is at least b. This contradicts the choice. QED. As in lower.py the induction is on the
height of the tree: rows may name each other in circles.

The claim names parts that the hypotheses, weighted as it says, hold; the sum of their t b must be at least the cost
times the sum of the weights. *Classes* are as in lower.py: weights of hypotheses with one label and class add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ascertain_check.claim import register
from ascertain_check.claims.achieves import read_weights
from ascertain_check.claims.lower import covers, list_binding, propagate, reaches, read_bound
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

Weights: TypeAlias = dict[Pair, Fraction]
Part: TypeAlias = tuple[int, Fraction]
"""The number of a row, and how many times it is taken."""


@dataclass(frozen=True)
class Row:
    """A weighted configuration, its bound (None when infinite), and for actions the parts named for each reading."""

    weights: Weights
    bound: Fraction | None
    moves: dict[int, dict[int, list[Part]]]

    @property
    def total(self) -> Fraction:
        return sum(self.weights.values(), Fraction(0))


@register("lower-expected", about=("machine",))
def check_lower_expected(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim cost weights parts rows block?", "the claim 'lower-expected'")
    cost = read_rational(data["cost"], "cost")
    weights = read_weights(task, data["weights"])
    quotient = read_classes(task, data)
    rows = read_rows(task, quotient, data["rows"])
    parts = [read_part(entry, len(rows), "parts") for entry in read_list(data["parts"], "parts")]
    for number in range(len(rows)):
        for a in list_binding(task, quotient, rows[number].weights, f"row {number}"):
            check_move(quotient, rows, number, a, task.cost[a])
    start: Weights = {}
    for (k, s), w in zip(task.hypotheses, weights, strict=True):
        add_weight(start, (k, quotient.block[s]), w)
    if not reaches(sum_parts(rows, start, parts, "the hypotheses"), cost * sum(weights)):
        raise Refuted("the parts of the hypotheses have bounds below the cost that is claimed")
    return f"no policy settles the question at a mean cost of less than {cost}"


def check_move(quotient: Quotient, rows: list[Row], number: int, a: int, cost: Fraction) -> None:
    """Condition 2 for one action that all members allow."""
    row, where = rows[number], f"row {number}"
    value: Fraction | None = cost * row.total
    for y, parts in row.moves.get(a, {}).items():
        left: Weights = {}
        for member, after in propagate(quotient, row.weights, a, y):
            add_weight(left, after, row.weights[member])
        rest = sum_parts(rows, left, parts, f"{where}: what is left after action {a} and reading {y}")
        value = None if value is None or rest is None else value + rest
    if not reaches(value, row.bound):
        raise Refuted(f"{where}: its bound is more than action {a} and the parts named for it cost")


def add_weight(weights: Weights, member: Pair, w: Fraction) -> None:
    weights[member] = weights.get(member, Fraction(0)) + w


def sum_parts(rows: list[Row], whole: Weights, parts: list[Part], where: str) -> Fraction | None:
    """The sum of t b over parts that `whole` must hold; None when infinite."""
    left = weights_by_state(whole)
    value: Fraction | None = Fraction(0)
    for number, times in parts:
        row = rows[number]
        if not covers(set(whole), frozenset(row.weights)):
            raise Refuted(f"{where}: row {number} is not covered")
        for c, w in weights_by_state(row.weights).items():
            left[c] -= times * w
        value = None if value is None or row.bound is None else value + times * row.bound
    if any(w < 0 for w in left.values()):
        raise Refuted(f"{where}: the parts weigh more than there is")
    return value


def weights_by_state(weights: Weights) -> dict[int, Fraction]:
    result: dict[int, Fraction] = {}
    for (_, c), w in weights.items():
        result[c] = result.get(c, Fraction(0)) + w
    return result


def read_rows(task: Task, quotient: Quotient, value: object) -> list[Row]:
    items = read_list(value, "rows")
    return [read_row(task, quotient, item, f"row {i}", len(items)) for i, item in enumerate(items)]


def read_row(task: Task, quotient: Quotient, value: object, where: str, size: int) -> Row:
    data = read_object(value, "set bound moves", where)
    entries = [read_list(entry, where, 3) for entry in read_list(data["set"], where)]
    weights = {
        (read_index(k, task.num_labels, where), read_index(c, quotient.num_classes, where)): read_rational(w, where)
        for k, c, w in entries
    }
    if len(weights) < len(entries):
        raise Malformed(f"{where} lists a member twice")
    moves: dict[int, dict[int, list[Part]]] = {}
    for key, named in read_map(data["moves"], where).items():
        parts = moves.setdefault(read_key(key, task.num_actions, where), {})
        for entry in read_list(named, where):
            y, *part = read_list(entry, where, 3)
            parts.setdefault(read_index(y, task.num_readings, where), []).append(read_part(part, size, where))
    return Row(weights, read_bound(data["bound"], where), moves)


def read_part(value: object, size: int, where: str) -> Part:
    number, times = read_list(value, where, 2)
    part = read_index(number, size, where), read_rational(times, where)
    if not part[1]:
        raise Malformed(f"{where}: a part must be taken a positive number of times")
    return part
