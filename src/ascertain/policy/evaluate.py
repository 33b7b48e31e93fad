"""What a policy achieves on a task: how often it is wrong, how often it does not answer, and what it costs.

For every hypothesis, the probability of a wrong answer, the probability of no answer (an abstention, or looking for
ever), and the expected cost. On small chains these are rationals, solved exactly (absorption.py); on large ones they
are rational upper bounds, proved, together with how far they may be above the truth (enclosure.py). The policy is
(alpha, beta)-valid exactly when it ends with probability one and the largest of the first two are at most alpha and
beta; its cost is the largest expected cost. Where noise is a bound, each of the three is the worst case over every
noise within it (robust.py).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, final

from ascertain.errors import TaskError
from ascertain.policy.absorption import Fates, Triple, find_fates, solve_exactly
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.policy.chain import MAX_PLACES, Chain, follow
from ascertain.policy.enclosure import Enclosure, enclose
from ascertain.policy.policy import AbstractPolicy
from ascertain.policy.robust import solve_robustly
from ascertain.task.task import Task

Memory = TypeVar("Memory", bound=Hashable)
"""What a policy remembers."""

EXACT_WORK = 20_000_000
"""Chains are solved exactly while (places, those in circles squared) times (bits of a number) stays below this, which
takes about three seconds; beyond it numbers grow so long that an enclosure is quicker."""


@final
@dataclass(frozen=True)
class Evaluation:
    """One entry for each hypothesis; upper bounds, each at most `error` above the truth, and exact when that is 0."""

    wrong: tuple[Fraction, ...]
    abstain: tuple[Fraction, ...]
    """The probability that no answer is ever given."""
    costs: tuple[Fraction | None, ...]
    """Expected costs; None where infinite, because the policy may never end."""
    error: Fraction

    @property
    def is_exact(self) -> bool:
        return self.error == 0

    @property
    def alpha(self) -> Fraction:
        return max(self.wrong)

    @property
    def beta(self) -> Fraction:
        return max(self.abstain)

    @property
    def cost(self) -> Fraction | None:
        """The largest expected cost; None when infinite."""
        finite = [c for c in self.costs if c is not None]
        return max(finite) if len(finite) == len(self.costs) else None

    def meets(self, alpha: Fraction, beta: Fraction) -> bool:
        """Whether the policy is proved to be valid at these risks: it ends, and errs and abstains no more often."""
        return self.cost is not None and self.alpha <= alpha and self.beta <= beta


def evaluate(
    task: Task, policy: AbstractPolicy[Memory], *, exact: bool | None = None, max_places: int = MAX_PLACES
) -> Evaluation:
    """What a policy with finitely many memories achieves; `exact` forces or forbids rationals that are solved for.

    TaskError when the policy asks what a hypothesis that may still be true does not allow, LimitError when it reaches
    more than `max_places` places or no bound can be proved.
    """
    chain = follow(task, policy, max_places=max_places)
    fates = find_fates(chain)
    values = value_places(chain, fates, exact=exact)
    start = [values.upper[i] for i in chain.start]
    return Evaluation(
        wrong=tuple(wrong for wrong, _, _ in start),
        abstain=tuple(abstain for _, abstain, _ in start),
        costs=tuple(None if i in fates.endless else cost for i, (_, _, cost) in zip(chain.start, start, strict=True)),
        error=max(values.width[i] for i in chain.start),
    )


def value_places(chain: Chain, fates: Fates, *, exact: bool | None = None) -> Enclosure:
    """The three numbers at every place, solved for or enclosed; `exact` None chooses by size."""
    if exact is None:
        exact = _exact_work(chain, fates) <= EXACT_WORK
    if chain.parts is not None:
        return Enclosure(*solve_robustly(chain, fates, exact=exact))
    if not exact:
        return enclose(chain, fates)
    solved: list[Triple] = solve_exactly(chain, fates)
    return Enclosure(solved, [Fraction(0)] * chain.size)


def _exact_work(chain: Chain, fates: Fates) -> int:
    """About how many bits exact elimination has to move: a number grows by one factor for each place on the way."""
    depth = [0] * chain.size
    common = 1
    work = 0
    for component in fates.components:
        below = max((depth[j] for i in component for j, _ in chain.arrows[i]), default=0)
        for i in component:
            depth[i] = below + len(component)
            common = math.lcm(common, *(p.denominator for _, p in chain.arrows[i])) if common < EXACT_WORK else common
        work += len(component) ** 2
    return work * max(depth) * common.bit_length()


def cost_by_hypothesis(task: Task, policy: Automaton) -> list[Fraction]:
    """`evaluate(...).costs` for a policy that is never wrong on a machine without noise: the cost of each one walk."""
    costs, scale = integer_cost_by_hypothesis(task, policy)
    return [Fraction(cost, scale) for cost in costs]


def integer_cost_by_hypothesis(task: Task, policy: Automaton) -> tuple[list[int], Fraction]:
    """The same in the integer costs of the task, and what these were multiplied by.

    The policy asks only what is allowed and knows every reading, so no chain is needed.
    """
    if not task.model.is_exact:
        raise TaskError("walks are certain only on machines without noise; this task is on a noisy one")
    successor, output = task.model.successor, task.model.behaviour
    price, scale = task.integer_costs()
    prices: list[int] = price.tolist()
    costs: list[int] = []
    for start in task.state.tolist():
        s, node, cost = int(start), policy.start(), 0
        while (a := policy.action[node]) != NOWHERE:
            cost += prices[a]
            node = policy.children[node][int(output[s, a])]
            s = int(successor[s, a])
        costs.append(cost)
    return costs, scale
