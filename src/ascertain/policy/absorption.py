"""How a chain ends, exactly: the probabilities of a wrong answer and of none, and the expected cost, from every place.

Write v(i) for one of these three numbers at place i. It satisfies v(i) = c(i) + sum over arrows (j, p) of p v(j), where
c is the cost of the step for the cost and 0 for the probabilities, and at an ending v is 0 or 1. A place from which no
ending can be reached is a *trap*: a run that enters one never answers, which counts as an abstention, and costs without
end. Call the other places that do not end *passing*. From a passing place an ending can be reached, there are finitely
many, so a run leaves them for good with probability one, and the equations at the passing places have one solution.

The places are divided into strong components: sets of places that can reach one another. Taken in an order in which
arrows lead to components already done, each component is a small system of its own, which is solved by eliminating one
place after the other, that of the fewest arrows first: a walk on a line stays sparse. A chain without circles has
components of one place, and the solution is backward induction. All numbers are rationals.

An expected cost is finite exactly from places that cannot reach a trap: a run that may enter one does so with positive
probability, and every step costs at least the cheapest action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.policy.chain import Arrow, Chain, End

Triple: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""(wrong, abstain, cost)."""

_Equation: TypeAlias = tuple[dict[int, Fraction], Triple]
"""The arrows of a place to others that are not solved yet, and the constant."""
NOTHING: Triple = (Fraction(0), Fraction(0), Fraction(0))
"""A right answer that costs nothing more."""
_AT_END: dict[End, Triple] = {
    End.RIGHT: NOTHING,
    End.WRONG: (Fraction(1), Fraction(0), Fraction(0)),
    End.ABSTAIN: (Fraction(0), Fraction(1), Fraction(0)),
}
"""What each ending counts for."""
_TRAPPED = _AT_END[End.ABSTAIN]
"""A run that never ends never answers, which counts as an abstention."""


@final
@dataclass(frozen=True)
class Fates:
    """What does not depend on probabilities: the order of the components, and which places lead to traps."""

    components: tuple[tuple[int, ...], ...]
    """Strong components, each after all that its arrows lead to."""
    trapped: frozenset[int]
    """Places that no ending can be reached from."""
    endless: frozenset[int]
    """Places that a trap can be reached from, traps included: their expected cost is infinite."""


def find_fates(chain: Chain) -> Fates:
    """Which places end, and in which order to solve."""
    targets = [[j for j, _ in arrows] for arrows in chain.arrows]
    sources = _turn_round(targets)
    # Where noise is a bound it may never err, so that only steps without an error are sure to come to an end.
    sure = sources if chain.parts is None else _turn_round([[j for _, to in p[:1] for j in to] for p in chain.parts])
    ending = _reach([i for i, end in enumerate(chain.end) if end is not None], sure)
    trapped = frozenset(i for i in range(chain.size) if i not in ending)
    return Fates(tuple(_strong_components(targets)), trapped, frozenset(_reach(sorted(trapped), sources)))


def _turn_round(targets: Sequence[Sequence[int]]) -> list[list[int]]:
    """From where each place is reached in one step."""
    sources: list[list[int]] = [[] for _ in targets]
    for i, following in enumerate(targets):
        for j in following:
            sources[j].append(i)
    return sources


def known_value(chain: Chain, fates: Fates, place: int) -> Triple | None:
    """The values at an ending or a trap (whose cost is not used); None at a passing place."""
    end = chain.end[place]
    if end is not None:
        return _AT_END[end]
    return _TRAPPED if place in fates.trapped else None


def solve_exactly(chain: Chain, fates: Fates) -> list[Triple]:
    """The three numbers at every place; the cost has no meaning at endless places."""
    value: list[Triple] = [NOTHING] * chain.size
    for component in fates.components:
        known = known_value(chain, fates, component[0])
        if known is not None:
            for i in component:
                value[i] = known
        else:
            solve_component(chain, {i: chain.arrows[i] for i in component}, value)
    return value


def solve_component(chain: Chain, arrows: Mapping[int, Sequence[Arrow]], value: list[Triple]) -> None:
    """Solve the equations of one component, whose arrows lead out of it to places that are solved already."""
    # A row is the arrows that stay inside, and the constant that the others and the cost of the step add up to.
    rows: dict[int, _Equation] = {}
    for i, following in arrows.items():
        inside: dict[int, Fraction] = {}
        for j, p in following:
            if j in arrows:
                inside[j] = inside.get(j, Fraction(0)) + p
        outside = [(p, value[j]) for j, p in following if j not in arrows]
        rows[i] = inside, _add((Fraction(0), Fraction(0), chain.cost[i]), outside)
    # Back substitution: each row speaks only of places that were eliminated later.
    for i, (following, constant) in reversed(_eliminate(rows).items()):
        value[i] = _add(constant, [(p, value[j]) for j, p in following.items()])


def _eliminate(rows: dict[int, _Equation]) -> dict[int, _Equation]:
    """The rows in the order of their elimination; each speaks of places that are eliminated later only."""
    sources: dict[int, set[int]] = {i: set() for i in rows}
    for i, (arrows, _) in rows.items():
        for j in arrows:
            sources[j].add(i)
    solved: dict[int, _Equation] = {}
    while rows:
        # Markowitz's rule: the place whose elimination can make the fewest new arrows.
        i = min(rows, key=lambda k: (len(rows[k][0]) * len(sources[k]), k))
        arrows, constant = rows.pop(i)
        stay = arrows.pop(i, Fraction(0))
        # A component that passes has a way out, so a run does not stay for ever.
        scale = 1 / (1 - stay)
        arrows = {j: p * scale for j, p in arrows.items()}
        constant = _add(NOTHING, [(scale, constant)])
        solved[i] = arrows, constant
        for j in arrows:
            sources[j].discard(i)
        # Put the row of i into every row that speaks of it.
        for k in sources.pop(i) - {i}:
            others, own = rows[k]
            p = others.pop(i)
            for j, q in arrows.items():
                others[j] = others[j] + p * q if j in others else p * q
                sources[j].add(k)
            rows[k] = (others, _add(own, [(p, constant)]))
    return solved


def _add(first: Triple, rest: Sequence[tuple[Fraction, Triple]]) -> Triple:
    """first + sum of p times triple."""
    wrong, abstain, cost = first
    for p, (w, b, c) in rest:
        wrong, abstain, cost = wrong + p * w, abstain + p * b, cost + p * c
    return wrong, abstain, cost


def _reach(start: Sequence[int], following: Sequence[Sequence[int]]) -> set[int]:
    """All that can be reached, the start included."""
    seen, stack = set(start), list(start)
    while stack:
        for j in following[stack.pop()]:
            if j not in seen:
                seen.add(j)
                stack.append(j)
    return seen


def _strong_components(following: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Tarjan's algorithm without recursion; a component comes after all that it leads to."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    closed: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in range(len(following)):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        open_.append(root)
        stack = [(root, iter(following[root]))]
        while stack:
            i, targets = stack[-1]
            for j in targets:
                if j not in order:
                    order[j] = low[j] = len(order)
                    open_.append(j)
                    stack.append((j, iter(following[j])))
                    break
                if j not in closed:
                    low[i] = min(low[i], order[j])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[i])
                if low[i] == order[i]:
                    # The component of i ends the list of open places.
                    members = [open_.pop()]
                    while members[-1] != i:
                        members.append(open_.pop())
                    closed.update(members)
                    found.append(tuple(sorted(members)))
    return found
