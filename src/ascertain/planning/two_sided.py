"""Two-sided bounds: L <= AO <= U, the best lower bound and the best policy, by all methods together.

    task -> without noise: the deterministic optimum, both sides at once
         -> obstructed, or a program without solution: infinite, both sides
         -> else  L = the largest of the pairwise bound, the program bound, and those of prices and of branching
                  U = the least of the certified trees, the price searches and the minimax policy

Every entry of `upper_by_method` is the certified worst-case expected cost of a policy that keeps to (alpha, beta) under
every hypothesis: exact or rounded upwards, never simulated. Without noise what a policy does is certain, so a risk
below 1 is no risk at all, and AO = D. `uniform tree` and `pairwise` are the paper's own construction (Corollary 3.4). A
question about a Boolean plant that is not enumerated is answered through its factors (`factors.py`).

The names of the methods are those of the output and its files:

    lower   deterministic; pairwise; program
            prices                      lagrangian.py, column_generation.py
            interpolation               interpolation.py
            openings                    branch_and_bound.py, ranked_openings.py
    upper   deterministic
            uniform tree, tree          composition.py
            product, levels             sequential_tests.py
            driven, ranked, nameless    lagrangian.py, by the slots of information states
            chernoff                    the same, pruned by expected visits
            short                       short_policies.py
            balanced                    minimax.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from ascertain.bounds.information import PairwiseBound, bound_by_information, check_risks
from ascertain.bounds.plant import bound_plant
from ascertain.bounds.program import ProgramBound
from ascertain.drawing.shown import Shown
from ascertain.errors import LimitError, TaskError
from ascertain.planning.composition import skeleton
from ascertain.planning.factors import PricedChoice, Risk, choose_tests, find_factors
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.planning.multipliers import Branching, Multipliers
from ascertain.planning.noisy_search import BoundProgress, NoisySearch
from ascertain.quotients.obstruction import Obstruction, find_obstruction
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

Values: TypeAlias = Mapping[str, Fraction | None]
"""By method; None stands for infinity, or for no policy."""


@final
@dataclass(frozen=True, eq=False)
class TwoSidedBounds(Shown):
    """L <= AO <= U. None stands for infinity in `lower`, and in `upper` for "no policy found" (or infinity)."""

    alpha: Fraction
    beta: Fraction
    lower: Fraction | None
    upper: Fraction | None
    policy: Any = None
    """What attains `upper`; None when there is none."""
    risk: Risk | None = None
    """The certified wrong-answer and abstention probabilities of the policy."""
    lower_by_method: Values = field(default_factory=dict[str, Fraction | None])
    upper_by_method: Values = field(default_factory=dict[str, Fraction | None])
    pairwise: PairwiseBound | None = None
    """The pairwise bound of the task's quotient under noise, with the pair that is hardest to tell apart."""
    program: ProgramBound | None = None
    """The program bound of the task's quotient under noise."""
    multipliers: Multipliers | None = None
    """What proves the bound by prices of the task's quotient."""
    branching: Branching | None = None
    """What proves the bound by openings of the task's quotient."""
    obstruction: Obstruction | None = None
    """Why no policy keeps to the risk, where two hypotheses cannot be told apart."""
    remarks: tuple[str, ...] = ()
    """Which methods met which limit, and so found nothing, or less than they might have."""
    stopped_by: Literal["time", "interrupt"] | None = None
    """Why the search ended before all methods were done, if it did: both sides hold all the same."""
    policies: tuple[PricedChoice, ...] = ()
    """The best policy of each method, the cheapest first, which is `policy`."""

    def shown(self) -> Mapping[str, object]:
        return {"alpha": self.alpha, "beta": self.beta, "lower": self.lower, "upper": self.upper}

    @property
    def ratio(self) -> Fraction | None:
        """U / L; None when one of them is not finite, or L is 0."""
        return self.upper / self.lower if self.lower and self.upper is not None else None

    @property
    def is_infinite(self) -> bool:
        """Whether it is proved that no policy keeps to the risk."""
        return self.lower is None


def bound_both_sides(
    task: Task | PlantTask,
    alpha: Fraction | None = None,
    beta: Fraction | None = None,
    limits: SearchLimits = DEFAULT_LIMITS,
    *,
    tell: Callable[[str], None] | None = None,
    progress: BoundProgress | None = None,
) -> TwoSidedBounds:
    """The best bounds and the best policy that are known here; the risks are the task's unless given.

    Hypotheses in what is returned are those of the task's quotient.
    `tell` is called with a sentence on what is being done and how far both sides are; `progress` with both sides
    whenever one of them is better than before.
    """
    alpha, beta = check_risks(task, alpha, beta)
    # Without a list of states there is no quotient to search, and with gates there may be factors instead.
    if isinstance(task, PlantTask):
        if task.model.is_noisy:
            _check_positive(alpha, beta)
        return _bound_plant(task, alpha, beta, limits)
    quotient = take_quotient(task)
    obstruction = find_obstruction(task)
    if obstruction is not None and obstruction.rules_out(alpha, beta):
        return TwoSidedBounds(alpha, beta, None, None, obstruction=obstruction)
    if not quotient.reduced.model.is_noisy:
        return _without_noise(quotient, alpha, beta, limits)
    _check_positive(alpha, beta)
    search = NoisySearch(quotient.reduced, alpha, beta, limits, tell, progress)
    search.run()
    return _list_found(search)


def _check_positive(alpha: Fraction, beta: Fraction) -> None:
    if alpha == 0 or beta == 0:
        raise TaskError("with noise alpha and beta must be positive: certainty, or never giving up, has no bound")


def _without_noise(quotient: Quotient, alpha: Fraction, beta: Fraction, limits: SearchLimits) -> TwoSidedBounds:
    """What happens is certain, so AO is D."""
    # The laws of a noisy machine may happen to be certain.
    task = quotient.task if quotient.task.model.is_exact else skeleton(quotient.reduced)
    solution = solve(task, time_limit=limits.seconds, prove="never")
    if isinstance(solution, Solved):
        lower = upper = solution.cost
    elif isinstance(solution, Bounded):
        lower, upper = solution.lower, solution.upper
    else:
        return TwoSidedBounds(alpha, beta, None, None)
    risk = None if solution.policy is None else (Fraction(0), Fraction(0))
    methods: tuple[Values, Values] = {"deterministic": lower}, {"deterministic": upper}
    policies = () if upper is None or risk is None else ((upper, solution.policy, risk),)
    return TwoSidedBounds(alpha, beta, lower, upper, solution.policy, risk, *methods, policies=policies)


def _list_found(search: NoisySearch) -> TwoSidedBounds:
    """What all methods together have found."""
    cost, policy, risk = search.best or (None, None, None)
    return TwoSidedBounds(
        search.alpha,
        search.beta,
        None if search.is_infinite else search.best_lower,
        cost,
        policy,
        risk,
        search.lower,
        search.upper,
        search.pairwise,
        search.program,
        search.multipliers,
        search.branching,
        remarks=tuple(search.remarks),
        stopped_by=search.stopped_by,
        policies=tuple(sorted(search.policies.values(), key=lambda one: one[0])),
    )


def _bound_plant(question: PlantTask, alpha: Fraction, beta: Fraction, limits: SearchLimits) -> TwoSidedBounds:
    """A question about a plant of any size whose commands only read: a product of tests."""
    factors = find_factors(question)
    if factors is None:
        return TwoSidedBounds(alpha, beta, None, None)
    if factors.flip == 0:
        total = sum(factors.costs, Fraction(0))
        raise LimitError(f"the plant reads without noise, all its factors in {total}; list its states and solve it")
    asks_which = factors.asks == "which"
    centred = (factors.centre, *(factors.centre ^ d for d in factors.differences))
    family = factors.differences if asks_which else centred
    program = bound_plant(question, alpha, beta, states=family, max_rivals=len(family), time_limit=limits.seconds)
    pairwise = bound_by_information(factors.one_bit(max(factors.costs), alpha, beta), alpha, beta)
    lower: Values = {"pairwise": pairwise.value, "program": program.value}
    found = choose_tests(factors, alpha, beta)
    policies = tuple(found[name] for name in sorted(found, key=lambda name: (found[name][0], name)))
    cost, policy, risk = policies[0]
    best = max(value for value in lower.values() if value is not None)
    upper = {name: cost for name, (cost, _, _) in found.items()}
    return TwoSidedBounds(alpha, beta, best, cost, policy, risk, lower, upper, policies=policies)
