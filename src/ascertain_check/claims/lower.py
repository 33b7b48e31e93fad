"""The claim that no policy settles the question for less than a stated cost, or at all: rows that bound one another.

Throughout: a *configuration* R is a set of pairs (label, state); it is *pure* when it holds one label. R_{a,y} is what
becomes of R when action a is done and y is read: the pairs (label, successor) of the members that read y. In a task
about the current state the label of a pair is always that of its state. A policy *solves* R at cost C when, for every
member, it only asks what all members with the same transcript allow, answers the right label, and costs at most C.

A configuration R' is *covered* by W when labels can be renamed so that each member of R' is a renamed member of W:
there is a map f of labels such that each (k, z) in R' comes from some (l, z) in W with f(l) = k. The identity covers
subsets. A policy that solves W solves whatever W covers at the same cost, once its answers are renamed by f.

A row is a configuration R with a bound b, a rational or infinite. The rows are *consistent* when for every row

1. R is not pure, and
2. two members of R share a state and differ in label, or for every action a that all members of R allow, b <= c(a), or
   the row names a reading y and a row (R', b') with R' covered by R_{a,y} and b' >= b - c(a), where inf - c = inf, or
   it says nothing of a, the task is about the start, and for some reading y, L(labels in R_{a,y}) >= b - c(a).

L(n) is what n *leaves* cost at least. Let m(a) be the number of readings that action a gives in any state. L(n) is 0
for n <= 1, and otherwise the least, over actions with m(a) >= 2, of c(a) + L(ceil(n / m(a))); infinite without any.

*Lemma.* In a task about the start no policy solves a configuration of n labels at a cost less than L(n). *Proof*, by
induction on the height of the policy's tree, for n >= 2: it begins with an action a. Members keep their labels, so some
reading leaves at least ceil(n / m(a)) of them, and by induction what follows costs at least L of that, as L never falls
when n grows. With m(a) >= 2 the whole costs at least c(a) + L(ceil(n / m(a))) >= L(n); with m(a) = 1 all n are left,
and it costs more than L(n). QED.

*Theorem.* If the rows are consistent, no policy solves the configuration R of any row at a cost less than its bound b.

*Proof.* Suppose some policies do, for some rows. A policy that solves R ends for every member, so on the transcripts
of the members it is a finite tree; among all such pairs of a row and a tree, choose one with a tree T of least height.
T does not begin with an answer, for R is not pure. So it begins with an action a, which all members of R allow, and
c(a) <= (cost of T) < b. Members that share a state have the same transcript for ever, so a policy answers all of them
alike: were two of their labels different, T would not solve R. (In a task about the current state they never are.) If
the row says nothing of a, what T does after some y solves R_{a,y} at a cost less than b - c(a), against the lemma. So
the row names y and R'. As R' is not pure it is not empty, so neither is R_{a,y}, and what T does after reading y solves
R_{a,y}, and therefore, its answers renamed, R', at a cost of at most (cost of T) - c(a) < b - c(a) <= b'. That is
another such pair with a lower tree, which contradicts the choice. QED. Nothing was assumed about rows naming each other
in circles, nor about finite bounds: the induction is on the height of the tree, not along the rows.

The claim names a row whose configuration is covered by that of the task, so its bound holds for the task.

*Classes.* A claim may bring a stable partition (see quotient.py), which is checked on the original task; its rows then
hold pairs (label, class) and are checked on the quotient. A state and its class allow the same actions and give the
same readings, so a policy solves a set of pairs (label, state) at cost C exactly when it solves, in the quotient, the
pairs (label, class of the state); what is proved there holds for the task. Without one each state is its own class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from ascertain_check.claim import register
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

Leaves: TypeAlias = Callable[[int], Fraction | None]


@dataclass(frozen=True)
class Row:
    """A configuration, its bound (None when infinite), and for actions the reading and the row that are named."""

    members: frozenset[Pair]
    bound: Fraction | None
    moves: dict[int, Pair]


@register("lower", about=("machine",))
def check_lower(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim cost row rows block?", "the claim 'lower'")
    cost = read_bound(data["cost"], "cost")
    quotient = read_classes(task, data)
    rows = read_rows(task, quotient, data["rows"])
    least = cost_of_leaves(task, quotient)
    for number in range(len(rows)):
        check_row(task, quotient, rows, number, least)
    check_root(task, quotient, rows, data["row"], cost)
    return "no policy settles the question" if cost is None else f"no policy settles the question for less than {cost}"


def check_root(task: Task, quotient: Quotient, rows: list[Row], value: object, cost: Fraction | None) -> None:
    """The row named by the claim speaks of the task and says enough. To say that a cost is not negative needs none."""
    if value is None:
        if cost != 0:
            raise Refuted("a cost above 0 needs a row")
        return
    root = rows[read_index(value, len(rows), "row")]
    if not covers({(k, quotient.block[s]) for k, s in task.hypotheses}, root.members):
        raise Refuted("the row that is named is not covered by the hypotheses")
    if not reaches(root.bound, cost):
        raise Refuted("the row that is named has a bound below the cost that is claimed")


def cost_of_leaves(task: Task, quotient: Quotient) -> Leaves:
    """L as a function of n; None for infinite."""
    price: dict[int, Fraction] = {}
    for a, cost in enumerate(task.cost):
        number = len({row[a] for row in quotient.behaviour} - {None})
        if number > 1:
            price[number] = min(cost, price.get(number, cost))

    @cache
    def least(n: int) -> Fraction | None:
        if n <= 1:
            return Fraction(0)
        after = ((cost, least(-(-n // number))) for number, cost in price.items())
        return min((cost + rest for cost, rest in after if rest is not None), default=None)

    return least


def check_row(task: Task, quotient: Quotient, rows: list[Row], number: int, least: Leaves) -> None:
    """Conditions 1 and 2 for one row."""
    for a in list_binding(task, quotient, rows[number].members, f"row {number}"):
        check_move(quotient, rows, number, a, task.cost[a], least)


def list_binding(task: Task, quotient: Quotient, members: Collection[Pair], where: str) -> list[int]:
    """Condition 1, and the actions that condition 2 is about: those that all members allow, if no two share a state."""
    if quotient.current is not None and any(quotient.current[c] != k for k, c in members):
        raise Refuted(f"{where} holds a pair whose label is not that of its state")
    if len({k for k, _ in members}) < 2:
        raise Refuted(f"{where} is pure: it holds fewer than two labels")
    if len({c for _, c in members}) < len(members):
        return []
    spend(task.num_actions * (5 + len(members)))
    return [a for a in range(task.num_actions) if all(quotient.successor[c][a] is not None for _, c in members)]


def check_move(quotient: Quotient, rows: list[Row], number: int, a: int, cost: Fraction, least: Leaves) -> None:
    """Condition 2 for one action that all members allow."""
    row, where = rows[number], f"row {number}"
    if row.bound is not None and row.bound <= cost:
        return
    needed = None if row.bound is None else row.bound - cost
    if a not in row.moves:
        if quotient.current is not None or not reaches(least(most_labels(quotient, row, a)), needed):
            raise Refuted(f"{where} says nothing of action {a}, which all its members allow")
        return
    y, target = row.moves[a]
    left = {after for _, after in propagate(quotient, row.members, a, y)}
    if not covers(left, rows[target].members):
        raise Refuted(f"{where}: row {target} is not covered by what is left after action {a} and reading {y}")
    if not reaches(rows[target].bound, needed):
        raise Refuted(f"{where}: the bound of row {target} is too low after action {a}")


def most_labels(quotient: Quotient, row: Row, a: int) -> int:
    """How many labels some reading leaves."""
    left: dict[int | None, set[int]] = {}
    for k, c in row.members:
        left.setdefault(quotient.behaviour[c][a], set()).add(k)
    return max(len(labels) for labels in left.values())


def propagate(quotient: Quotient, members: Collection[Pair], a: int, y: int) -> list[tuple[Pair, Pair]]:
    """R_{a,y}, for an action that all members allow: each member that reads y, and what becomes of it."""
    result: list[tuple[Pair, Pair]] = []
    spend(5 * len(members))
    for k, c in members:
        successor = quotient.successor[c][a]
        if successor is not None and quotient.behaviour[c][a] == y:
            result.append(((k, c), (k if quotient.current is None else quotient.current[successor], successor)))
    return result


def covers(whole: set[Pair], part: frozenset[Pair]) -> bool:
    """Whether `part` is covered by `whole`. No map is searched for, so a cover by an odd one may be missed.

    A subset is covered. Otherwise the map is read off the members: where a state has one label on either side, the one
    must become the other. Of states with two labels only the plainest case is taken: a part that is one such state.
    """
    spend(3 * len(part) + 3 * len(whole))
    if part <= whole:
        return True
    labels: dict[int, set[int]] = {}
    for k, c in whole:
        labels.setdefault(c, set()).add(k)
    if len({c for _, c in part}) == 1:
        (state,) = {c for _, c in part}
        return len(part) <= len(labels.get(state, ()))
    becomes: dict[int, int] = {}
    for k, c in part:
        if len(labels.get(c, ())) != 1:
            return False
        (old,) = labels[c]
        if becomes.setdefault(old, k) != k:
            return False
    return True


def reaches(bound: Fraction | None, needed: Fraction | None) -> bool:
    """Whether bound >= needed, where None is infinite."""
    return bound is None or (needed is not None and bound >= needed)


def read_rows(task: Task, quotient: Quotient, value: object) -> list[Row]:
    items = read_list(value, "rows")
    return [read_row(task, quotient, item, f"row {i}", len(items)) for i, item in enumerate(items)]


def read_row(task: Task, quotient: Quotient, value: object, where: str, size: int) -> Row:
    data = read_object(value, "set bound moves", where)
    entries = [read_list(entry, where, 2) for entry in read_list(data["set"], where)]
    pairs = [(read_index(k, task.num_labels, where), read_index(c, quotient.num_classes, where)) for k, c in entries]
    if len(set(pairs)) < len(pairs):
        raise Malformed(f"{where} lists a member twice")
    moves: dict[int, Pair] = {}
    for key, move in read_map(data["moves"], where).items():
        y, target = read_list(move, where, 2)
        a = read_key(key, task.num_actions, where)
        moves[a] = (read_index(y, task.num_readings, where), read_index(target, size, where))
    return Row(frozenset(pairs), read_bound(data["bound"], where), moves)


def read_bound(value: object, where: str) -> Fraction | None:
    """A rational, or None for "inf"."""
    return None if value == "inf" else read_rational(value, where)
