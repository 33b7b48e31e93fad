"""What a policy achieves where noise is a bound: the worst case over every noise within it, exactly.

Let errors have probability at most f given the past, wherever they go. Whoever chooses the noise may look at all that
has happened. For a wrong answer, for none, and for the cost, each by itself, the worst value v is the least
non-negative solution of the robust Bellman equation over places (memory, label, state)

    v(i) = c(i) + (1 - f) v(without an error) + f max over readings y of v(after y):

the law of a reading is any that gives what is predicted at least 1 - f. These laws form a polytope, v is linear in the
law, so that an end of it is worst: no error, or all of f on one reading. Where readings may be lost as well, with
probability at most l, the first term splits: (1 - f)(1 - l) v(without an error) + (1 - f) l max(v(without an error),
v(silence)). In general c(i) + the sum, over the parts of the probability, of p times the largest v that it can be sent
to. The choice depends on the place alone, as the value after it does.

*Ends.* Noise that never errs is within the bound, so a policy ends with probability one, whatever the noise, exactly if
it does so from every place without any error (`absorption.find_fates`). A policy that does not is refused.

*Solution.* Components are solved in the order of `absorption.py`. A place by itself is one step of the recursion; a
circle is solved for a fixed choice of the noise, and the choice improved until nothing improves (Howard's policy
iteration): every choice ends, numbers are exact, choices are finitely many.

*Rounded* instead, where numbers grow too long, each step of the recursion is rounded up, which keeps it an upper bound
and a supersolution; and once more down, to know how far that is from the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ascertain.errors import LimitError, TaskError
from ascertain.policy.absorption import NOTHING, Fates, Triple, known_value, solve_component
from ascertain.policy.chain import Arrow, Chain, Part

MAX_CIRCLE = 300
"""Places of one circle: it is solved exactly, again for every choice of the noise."""
UNIT = 1 << 160
"""Rounded values are multiples of one part in so many: 48 decimals, as for enclosures."""


def solve_robustly(chain: Chain, fates: Fates, *, exact: bool) -> tuple[list[Triple], list[Fraction]]:
    """Upper bounds at every place, and how far they may be above the truth, which is nothing if `exact`."""
    assert chain.parts is not None
    if fates.endless:
        raise TaskError("under some noise within the bound the policy goes on for ever; make it give up after a while")
    if exact:
        return _solve(chain, fates, lambda x: x), [Fraction(0)] * chain.size
    upper = _solve(chain, fates, lambda x: Fraction(-(-x.numerator * UNIT // x.denominator), UNIT))
    lower = _solve(chain, fates, lambda x: Fraction(x.numerator * UNIT // x.denominator, UNIT))
    return upper, [max(a - b for a, b in zip(*pair, strict=True)) for pair in zip(upper, lower, strict=True)]


def _solve(chain: Chain, fates: Fates, rounded: Callable[[Fraction], Fraction]) -> list[Triple]:
    assert chain.parts is not None
    value: list[Triple] = [NOTHING] * chain.size
    for component in fates.components:
        i = component[0]
        known = known_value(chain, fates, i)
        if known is not None:
            value[i] = known
        elif len(component) == 1 and all(i not in targets for _, targets in chain.parts[i]):
            wrong, abstain, cost = (_step(chain.parts[i], value, column) for column in range(3))
            value[i] = rounded(wrong), rounded(abstain), rounded(chain.cost[i] + cost)
        else:
            _solve_circle(chain, component, value)
    return value


def _step(parts: tuple[Part, ...], value: list[Triple], column: int) -> Fraction:
    """The worst mean of one of the three numbers after the next reading."""
    return sum((p * max(value[j][column] for j in targets) for p, targets in parts), Fraction(0))


def _solve_circle(chain: Chain, component: tuple[int, ...], value: list[Triple]) -> None:
    """The values of places that can reach one another, by policy iteration for each of the three numbers."""
    if len(component) > MAX_CIRCLE:
        raise LimitError(
            f"the policy goes round in a circle of {len(component)} places; where noise is a bound at most "
            f"{MAX_CIRCLE} are solved"
        )
    assert chain.parts is not None
    parts = {i: chain.parts[i] for i in component}
    solved: list[dict[int, Fraction]] = []
    for column in range(3):
        choice = {i: [targets[0] for _, targets in parts[i]] for i in component}
        while True:
            arrows: dict[int, list[Arrow]] = {
                i: [(j, p) for j, (p, _) in zip(choice[i], parts[i], strict=True)] for i in component
            }
            solve_component(chain, arrows, value)
            better = False
            for i in component:
                for k, (_, targets) in enumerate(parts[i]):
                    best = max(targets, key=lambda j: value[j][column])
                    if value[best][column] > value[choice[i][k]][column]:
                        choice[i][k], better = best, True
            if not better:
                break
        solved.append({i: value[i][column] for i in component})
    for i in component:
        value[i] = solved[0][i], solved[1][i], solved[2][i]
