"""The claim that no policy settles a question about the start for less than a stated cost: shares of what steps cost.

Throughout: r is a state of a *reference*, z a state of the plant, a an action, k a label, g a hypothesis. The reference
says what is read: it is a hypothesis h of the task, which moves and reads as the plant does from there, or fixed
readings, one for each action. With fixed readings r is 0 throughout, or the number of the *joint state* that some
hypotheses have come to: the tuple of their states, whatever they read, with nothing in the place of one that has met an
action which it does not allow. A *share* of the step (r, a) belongs to a label k or to a state z.
With a *potential* p(r) >= 0 for every state of the reference, the shares must fit what the step costs:

    (sum of the shares of (r, a)) + p(r) - p(r') <= c(a)      for every r that the reference reaches and every a,

where r' is where a leads the reference; an action that h forbids in r needs nothing. A *rival* is a hypothesis. Its
*distance* is the least sum of shares of its label and of the states it is in, step by step, over all words that it and
the reference allow and at whose last action, and not before, it reads something else than the reference; infinite where
there is no such word.

*Theorem.* Let rivals have different labels, and none that of h. Then no policy costs less than
(sum of the distances of the rivals) + p(start) - (largest p); with fixed readings, where there is no h, the largest
distance is left out of the sum.

*Proof.* Let a policy settle the task, and let it read what the reference says until it answers or no hypothesis agrees
with what was read. It has then done a word of actions a_1 .. a_n, with the reference in r_0 .. r_n, and some hypothesis
agreed with all that was read before a_n: so it costs at least c(a_1) + ... + c(a_n). At the end all hypotheses that
still agree have one label, which is that of h where there is an h. So every rival but one (every rival, if there is an
h) has come to read something else: in the sum over the steps up to there, shares of its label and of its states come to
at least its distance. At a step, rivals that still agree are in different states, for two in one state read alike for
ever and would get one answer, though their labels differ; and their labels are different. So no share is counted twice,
and all that are counted at step i are together at most c(a_i) - p(r_{i-1}) + p(r_i). The sum over i is at most the cost
of the word - p(r_0) + p(r_n). QED. The step at which two hypotheses in one state get one answer needs that a label
stays with its hypothesis: about the current state, where those that meet agree, the theorem is false.

*Rounding.* Costs of actions are multiples of their greatest common divisor u, so what a policy costs is one too, and
the bound may be rounded up to a multiple of u.

The proof asks nothing of the states of a reference but that each action leads each to one, so that any record of the
actions done so far would serve as well as joint states.

*Classes.* As in lower.py a claim may bring a stable partition; states are then classes. Counting is the case of fixed
readings with equal shares for all states that read something else; packing is the case of a hypothesis h whose steps
are shared out among labels, and so are those of joint states.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ascertain_check.claim import register
from ascertain_check.claims.quotient import Quotient, read_quotient
from ascertain_check.reading import Object, read_index, read_list, read_object, read_rational
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import KEEP, spend

Step: TypeAlias = tuple[int, int]
"""(r, a)."""


@dataclass(frozen=True)
class Reference:
    """Where it starts, and what an action reads and where it leads; None where it is not allowed."""

    start: int
    step: Callable[[int, int], tuple[int, int] | None]
    num_states: int


@dataclass(frozen=True)
class Shares:
    """`labels[r, a, k]` and `states[r, a, z]`, where they are not 0."""

    labels: dict[tuple[int, int, int], Fraction]
    states: dict[tuple[int, int, int], Fraction]
    total: dict[Step, Fraction]


@register("shares", about=("machine",))
def check_shares(task: Task, claim: Object) -> str:
    keys = "claim cost block? reference? readings? joint? rivals labels states potential"
    data = read_object(claim, keys, "the claim 'shares'")
    if task.current is not None:
        raise Refuted("the claim 'shares' is about questions about the start; this one is about the current state")
    cost = read_rational(data["cost"], "cost")
    quotient = read_quotient(task, data.get("block", list(range(task.num_states))))
    reference, own = read_reference(task, quotient, data)
    shares = read_shares(task, quotient, reference, data)
    rivals = [read_index(g, len(task.hypotheses), "a rival") for g in read_list(data["rivals"], "rivals")]
    labels = [task.hypotheses[g][0] for g in rivals]
    if len({*labels, own}) <= len(labels):
        raise Refuted("two rivals, or a rival and the reference, have one label")
    offset = check_sums(task, reference, shares, read_potential(reference, data["potential"]))
    found = [distance(task, quotient, reference, shares, g) for g in rivals]
    if own is None and found:
        found.remove(None if None in found else max(d for d in found if d is not None))
    finite = [d for d in found if d is not None]
    if len(finite) == len(found) and cost > round_up(task, sum(finite, Fraction(0)) + offset):
        raise Refuted(f"the shares prove no more than {sum(finite, Fraction(0)) + offset}")
    return f"no policy costs less than {cost}: the steps of a reference, shared out among rivals"


def read_reference(task: Task, quotient: Quotient, data: Object) -> tuple[Reference, int | None]:
    """The reference, and its label; None where it is fixed readings."""
    if ("reference" in data) == ("readings" in data):
        raise Malformed("the claim 'shares' has a reference or readings, and not both")
    if "joint" in data and "reference" in data:
        raise Malformed("the claim 'shares' has joint states only where it has readings")
    if "reference" in data:
        k, s = task.hypotheses[read_index(data["reference"], len(task.hypotheses), "the reference")]

        def move(r: int, a: int) -> tuple[int, int] | None:
            y, after = quotient.behaviour[r][a], quotient.successor[r][a]
            return None if y is None or after is None else (y, after)

        return Reference(quotient.block[s], move, quotient.num_classes), k
    given = read_list(data["readings"], "readings", task.num_actions)
    readings = [read_index(y, task.num_readings, "a reading") for y in given]
    joint = [read_index(g, len(task.hypotheses), "a hypothesis") for g in read_list(data.get("joint", []), "joint")]
    leads = list_joint_states(quotient, task.num_actions, tuple(quotient.block[task.hypotheses[g][1]] for g in joint))
    return Reference(0, lambda r, a: (readings[a], leads[r][a]), len(leads)), None


def list_joint_states(quotient: Quotient, num_actions: int, start: tuple[int | None, ...]) -> list[list[int]]:
    """Where actions lead from each tuple of states that can be reached; numbered breadth first, actions in order."""
    number, found = {start: 0}, [start]
    leads: list[list[int]] = []
    for states in found:
        spend(num_actions * (2 * KEEP + len(start)))
        row: list[int] = []
        for a in range(num_actions):
            after = tuple(None if z is None else quotient.successor[z][a] for z in states)
            if after not in number:
                number[after] = len(found)
                found.append(after)
            row.append(number[after])
        leads.append(row)
    return leads


def read_shares(task: Task, quotient: Quotient, reference: Reference, data: Object) -> Shares:
    shares = Shares({}, {}, {})
    for name, kept, bound in (
        ("labels", shares.labels, task.num_labels),
        ("states", shares.states, quotient.num_classes),
    ):
        for entry in read_list(data[name], name):
            r, a, who, share = read_list(entry, name, 4)
            step = (read_index(r, reference.num_states, name), read_index(a, task.num_actions, name))
            key = (*step, read_index(who, bound, name))
            if key in kept:
                raise Malformed(f"{name} lists a share twice")
            kept[key] = read_rational(share, name)
            shares.total[step] = shares.total.get(step, Fraction(0)) + kept[key]
    return shares


def read_potential(reference: Reference, value: object) -> dict[int, Fraction]:
    potential: dict[int, Fraction] = {}
    for entry in read_list(value, "potential"):
        r, p = read_list(entry, "potential", 2)
        r = read_index(r, reference.num_states, "potential")
        if r in potential:
            raise Malformed("potential lists a state twice")
        potential[r] = read_rational(p, "potential")
    return potential


def check_sums(task: Task, reference: Reference, shares: Shares, potential: dict[int, Fraction]) -> Fraction:
    """That shares fit what steps cost; returns the potential of the start less the largest that is reached."""
    zero = Fraction(0)
    reached, stack = {reference.start}, [reference.start]
    while stack:
        r = stack.pop()
        spend(15 * task.num_actions)
        for a, cost in enumerate(task.cost):
            move = reference.step(r, a)
            if move is None:
                continue
            if shares.total.get((r, a), zero) + potential.get(r, zero) - potential.get(move[1], zero) > cost:
                raise Refuted(f"the shares of action {a} in state {r} of the reference exceed its cost")
            if move[1] not in reached:
                reached.add(move[1])
                stack.append(move[1])
    return potential.get(reference.start, zero) - max(potential.get(r, zero) for r in reached)


def distance(task: Task, quotient: Quotient, reference: Reference, shares: Shares, g: int) -> Fraction | None:
    """The distance of a rival, None where it is infinite: Dijkstra's algorithm on pairs (r, z)."""
    label, s = task.hypotheses[g]
    zero = Fraction(0)
    start = (reference.start, quotient.block[s])
    best: dict[Step, Fraction] = {start: zero}
    queue: list[tuple[Fraction, int, int, bool]] = [(zero, *start, False)]
    while queue:
        spent, r, z, apart = heapq.heappop(queue)
        if apart:
            return spent
        if spent > best[r, z]:
            continue
        spend(KEEP + 15 * task.num_actions)
        for a in range(task.num_actions):
            move, after = reference.step(r, a), quotient.successor[z][a]
            if move is None or after is None:
                continue
            total = spent + shares.labels.get((r, a, label), zero) + shares.states.get((r, a, z), zero)
            if quotient.behaviour[z][a] != move[0]:
                heapq.heappush(queue, (total, r, z, True))
            elif (move[1], after) not in best or total < best[move[1], after]:
                best[move[1], after] = total
                heapq.heappush(queue, (total, move[1], after, False))
    return None


def round_up(task: Task, bound: Fraction) -> Fraction:
    """The least multiple of the greatest common divisor of all costs that is not below the bound."""
    whole = math.lcm(*(c.denominator for c in task.cost))
    unit = Fraction(math.gcd(*(int(c * whole) for c in task.cost)), whole)
    return unit * math.ceil(bound / unit)
