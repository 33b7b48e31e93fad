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
            openings                    branch_and_bound.py
    upper   deterministic
            uniform tree, tree          composition.py
            product, levels             sequential_tests.py
            driven, ranked, nameless    lagrangian.py, by the slots of information states
            chernoff                    the same, pruned by expected visits
            balanced                    minimax.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from ascertain.bounds.information import PairwiseBound, bound_by_information, check_risks
from ascertain.bounds.plant import bound_plant
from ascertain.bounds.program import ProgramBound, bound_by_program
from ascertain.drawing.shown import Shown
from ascertain.errors import LimitError, TaskError
from ascertain.model.named import register
from ascertain.planning.composition import compose, skeleton
from ascertain.planning.factors import Factors, find_factors
from ascertain.planning.information_state import Slots, smallest_slots
from ascertain.planning.lagrangian import PricedPolicy, search_prices
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.planning.minimax import GOOD_RATIO, TIGHT_RATIO, bound_by_column_generation, find_minimax_policy
from ascertain.planning.multipliers import Branching, Multipliers
from ascertain.planning.sequential_tests import (
    LatticeTest,
    choose_levels,
    evaluate_test,
    split_best,
    split_uniformly,
)
from ascertain.policy.product import Factor, Product
from ascertain.quotients.obstruction import Obstruction, find_obstruction
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved
from ascertain.task.plant_task import PlantTask
from ascertain.task.pose import pose
from ascertain.task.task import Task
from ascertain.types import FloatArray

Values: TypeAlias = Mapping[str, Fraction | None]
"""By method; None stands for infinity, or for no policy."""
Risk: TypeAlias = tuple[Fraction, Fraction]
"""Probabilities of a wrong answer and of abstention."""
MAX_NAMED = 4
"""With more hypotheses than this, ranked or nameless slots are enough: named ones have too many information states."""


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
) -> TwoSidedBounds:
    """The best bounds and the best policy that are known here; the risks are the task's unless given.

    Hypotheses in what is returned are those of the task's quotient.
    `tell` is called with a sentence on what is being done, now and then.
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
    return _Noisy(quotient.reduced, alpha, beta, limits, tell or (lambda _: None)).run()


def _check_positive(alpha: Fraction, beta: Fraction) -> None:
    if alpha == 0 or beta == 0:
        raise TaskError("with noise alpha and beta must be positive: certainty, or never giving up, has no bound")


def _without_noise(quotient: Quotient, alpha: Fraction, beta: Fraction, limits: SearchLimits) -> TwoSidedBounds:
    """What happens is certain, so AO is D."""
    # The laws of a noisy machine may happen to be certain.
    task = quotient.task if quotient.task.model.is_exact else skeleton(quotient.reduced)
    solution = solve(task, time_limit=limits.time_limit, prove="never", least_mean=False)
    if isinstance(solution, Solved):
        lower = upper = solution.cost
    elif isinstance(solution, Bounded):
        lower, upper = solution.lower, solution.upper
    else:
        return TwoSidedBounds(alpha, beta, None, None)
    risk = None if solution.policy is None else (Fraction(0), Fraction(0))
    methods: tuple[Values, Values] = {"deterministic": lower}, {"deterministic": upper}
    return TwoSidedBounds(alpha, beta, lower, upper, solution.policy, risk, *methods)


class _Noisy:
    """All methods on one task, the best of each side kept."""

    def __init__(
        self, task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits, tell: Callable[[str], None]
    ) -> None:
        _check_positive(alpha, beta)
        self.task, self.alpha, self.beta, self.limits, self.tell = task, alpha, beta, limits, tell
        self.lower: dict[str, Fraction | None] = {}
        self.upper: dict[str, Fraction | None] = {}
        self.best: tuple[Fraction, Any, Risk] | None = None
        self.slots: Slots = smallest_slots(task)
        self.multipliers: Multipliers | None = None
        self.branching: Branching | None = None
        self.too_large = False
        """Whether the belief graph with named slots is."""

    def run(self) -> TwoSidedBounds:
        task, alpha, beta, limits = self.task, self.alpha, self.beta, self.limits
        pairwise = bound_by_information(task, alpha, beta)
        self.tell("solving the program of expected visits, for the lower bound")
        program = bound_by_program(
            task, alpha, beta, max_nodes=limits.program_nodes, time_limit=limits.time_limit, pairwise=pairwise
        )
        if program.value is None and not program.vacuous:
            return TwoSidedBounds(alpha, beta, None, None, pairwise=pairwise, program=program)
        self.lower = {"pairwise": pairwise.value, "program": program.value}
        self.tell("composing trees of tests")
        self.try_trees()
        if task.about == "start":  # information states keep what hypotheses began as
            self.try_prices(program)
            self.tell("looking for a minimax policy")
            self.try_minimax()
        values = [value for value in self.lower.values() if value is not None]
        cost, policy, risk = self.best or (None, None, None)
        proofs = pairwise, program, self.multipliers, self.branching
        return TwoSidedBounds(alpha, beta, max(values), cost, policy, risk, self.lower, self.upper, *proofs)

    def offer(self, name: str, cost: Fraction, policy: Any, risk: Risk) -> None:
        self.upper[name] = cost
        if self.best is None or cost < self.best[0]:
            self.best = cost, policy, risk

    def take(self, name: str, found: PricedPolicy) -> None:
        """Offer what a search has found, and note what its prices prove."""
        if found.best is not None:
            self.offer(name, found.best.cost, found.best.policy, found.best.risk.worst[:2])
        self.note_prices(found)

    def note_prices(self, found: PricedPolicy) -> None:
        known = self.lower.get("prices")
        if found.lower is not None and (known is None or found.lower > known):
            self.lower["prices"], self.multipliers = found.lower, found.multipliers

    def is_within(self, ratio: Fraction) -> bool:
        """Whether the best policy so far costs at most so many times the best lower bound so far."""
        known = max((value for value in self.lower.values() if value is not None), default=Fraction(0))
        return self.best is not None and self.best[0] <= ratio * known

    def try_trees(self) -> None:
        """The paper's construction, and the same with the split optimised."""
        self.upper |= {"uniform tree": None, "tree": None}
        solution = solve(skeleton(self.task), time_limit=self.limits.time_limit, prove="never", least_mean=False)
        if not isinstance(solution, Solved | Bounded) or solution.policy is None:
            return
        trees = compose(self.task, solution.policy, self.alpha, self.beta)
        for name, tree in (("uniform tree", trees["uniform"]), ("tree", trees["best"])):
            if tree is not None:
                self.offer(name, tree.cost, tree, (tree.wrong, tree.abstain))

    def try_prices(self, program: ProgramBound) -> None:
        """Price searches: on the smallest graph, with named slots, and pruned by expected visits if that is large."""
        done = self.slots != "named" and (self.search(self.slots, self.slots) or self.slots == "ranked")
        if done and self.task.num_hypotheses > MAX_NAMED:
            return
        self.too_large = not self.search("driven", "named")
        if self.too_large and not self.is_within(GOOD_RATIO):
            self.search("chernoff", "named", self.preference(program))

    def search(self, name: str, slots: Slots, preference: FloatArray | None = None) -> bool:
        """Offer the policy of a price search; whether the graph had all actions."""
        self.tell(f"searching for a policy ({name})")
        self.upper[name] = None
        try:
            found = search_prices(
                self.task, self.alpha, self.beta, limits=self.limits, preference=preference, slots=slots
            )
        except LimitError:
            return False
        self.take(name, found)
        return found.lower is not None

    def preference(self, program: ProgramBound) -> FloatArray:
        """Expected visits of the program's solutions, each in parts of its largest."""
        table = np.zeros((self.task.num_hypotheses, self.task.model.num_actions))
        for h, visits in program.visits.items():
            if h < len(table) and float(visits.max(initial=0.0)) > 0:
                table[h] = visits / visits.max()
        return table

    def try_minimax(self) -> None:
        """The bound of column generation, and a minimax policy where the graph with named slots is small enough."""
        self.upper["balanced"] = None
        if self.slots != "named" or not self.too_large:
            with suppress(LimitError):
                self.note_prices(bound_by_column_generation(self.task, self.alpha, self.beta, self.limits))
        if self.too_large or self.is_within(TIGHT_RATIO):
            return
        with suppress(LimitError):
            found = find_minimax_policy(self.task, self.alpha, self.beta, self.limits)
            self.take("balanced", found)
            self.lower["openings"], self.branching = found.branched, found.branching


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
    program = bound_plant(question, alpha, beta, states=family, max_rivals=len(family), time_limit=limits.time_limit)
    pairwise = bound_by_information(_one_factor(factors, alpha, beta), alpha, beta)
    lower: Values = {"pairwise": pairwise.value, "program": program.value}
    policy, upper, risk = (_test_each if asks_which else _test_levelwise)(factors, alpha, beta)
    best = max(value for value in lower.values() if value is not None)
    least = min(value for value in upper.values() if value is not None)
    return TwoSidedBounds(alpha, beta, best, least, policy, risk, lower, upper)


def _one_factor(factors: Factors, alpha: Fraction, beta: Fraction) -> Task:
    """One bit and what reads it, at the cost of the dearest."""
    return pose(register(1, factors.flip), default_cost=max(factors.costs), alpha=alpha, beta=beta)


def _test_each(factors: Factors, alpha: Fraction, beta: Fraction) -> tuple[Any, Values, Risk]:
    """Which: one test for each form, thresholds mixed; beside it the uniform split."""
    flips = [factors.flip] * len(factors.forms)
    chosen = split_best(flips, factors.costs, alpha, beta)
    bit = _one_factor(factors, alpha, beta)
    parts = [Factor(bit, test, (action,), (0, 1)) for test, action in zip(chosen, factors.actions, strict=True)]
    outcomes = [evaluate_test(test, 1) for test in chosen]
    risk = sum((o.says_zero for o in outcomes), Fraction(0)), sum((o.abstains for o in outcomes), Fraction(0))
    uniform = split_uniformly(flips, alpha, beta)
    return Product(tuple(parts)), {"uniform tree": _total(uniform, factors), "product": _total(chosen, factors)}, risk


def _test_levelwise(factors: Factors, alpha: Fraction, beta: Fraction) -> tuple[Any, Values, Risk]:
    """Nominal or not: all forms raised together; beside it one test after the other."""
    policy, risk = choose_levels(factors.flip, factors.actions, factors.nominal, factors.costs, alpha, beta)
    uniform = split_uniformly([factors.flip] * len(factors.forms), alpha, beta)
    return policy, {"uniform tree": _total(uniform, factors), "levels": risk.cost}, (risk.wrong, risk.abstain)


def _total(tests: list[LatticeTest], factors: Factors) -> Fraction:
    """What the tests cost one after the other."""
    return sum((evaluate_test(t, 1).readings * c for t, c in zip(tests, factors.costs, strict=True)), Fraction(0))
