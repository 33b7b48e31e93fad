"""The sandwich: L <= AO <= U, the best lower bound, the best policy, and how far apart they are.

    task -> without noise: the deterministic optimum, both sides at once
         -> obstructed, or a program without solution: infinite, both sides
         -> else  L = the largest of the pairwise bound, the program bound and those of prices and openings
                  U = the least of the certified trees and the driven policies, each with its evaluated risk

Every entry of `upper_by_method` is the certified worst-case expected cost of a policy that keeps to (alpha, beta) under
every hypothesis: exact or rounded upwards, never simulated. Without noise what a policy does is certain, so a risk
below 1 is no risk at all, and AO = D. `uniform tree` and `pairwise` are the paper's own construction (Corollary 3.4).
A question about a Boolean plant that is not enumerated is answered through its factors (`factors.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from ascertain.bounds.information import bound_by_information
from ascertain.bounds.plant import bound_plant
from ascertain.bounds.program import ProgramBound, bound_by_program
from ascertain.errors import LimitError, TaskError
from ascertain.model.noisy import NoisyMachine
from ascertain.planning.balancing import Pains, balance, bound_by_columns
from ascertain.planning.budget import split_best, split_uniformly
from ascertain.planning.composition import compose, skeleton
from ascertain.planning.driven import Effort, drive
from ascertain.planning.factors import Factors, find_factors
from ascertain.planning.information_state import FloatArray, is_exchangeable, may_be_nameless
from ascertain.planning.levels import choose_levels
from ascertain.planning.nodes import LatticeTest, evaluate_test
from ascertain.policy.product import Factor, Product
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.quotient import take_quotient
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

Values: TypeAlias = Mapping[str, Fraction | None]
NEAR, CLOSE = Fraction(102, 100), Fraction(105, 100)
"""Where a policy costs no more than this times the lower bound none is balanced, and none driven once more."""
MOST_BY_NAME = 4
"""Exchangeable hypotheses, if there are more of them, are told by rank alone: by name memories are too many."""


@final
@dataclass(frozen=True, eq=False)
class Sandwich:
    """L <= AO <= U. None stands for infinity in `lower`, and in `upper` for "no policy found" (or infinity)."""

    alpha: Fraction
    beta: Fraction
    lower: Fraction | None
    upper: Fraction | None
    policy: Any
    """What attains `upper`: walked like every policy, or a `CertifiedTree`; None when there is none."""
    risk: tuple[Fraction, Fraction] | None
    """The certified wrong-answer and abstention probabilities of the policy."""
    lower_by_method: Values
    upper_by_method: Values
    hardest: tuple[int, int] | None
    """Two hypotheses that are hardest to tell apart, or cannot be."""
    vacuous: bool
    """2 alpha + beta >= 1: a policy may guess, and no lower bound says anything."""

    @property
    def ratio(self) -> Fraction | None:
        """U / L; None when one of them is not finite, or L is 0."""
        return self.upper / self.lower if self.lower and self.upper is not None else None

    @property
    def is_infinite(self) -> bool:
        """Whether it is proved that no policy keeps to the risk."""
        return self.lower is None


@final
@dataclass(frozen=True)
class Labour:
    """How hard to try."""

    effort: Effort = field(default_factory=Effort)
    time_limit: float = 30.0
    """Seconds for the deterministic optimum of the skeleton, and for the program bound."""
    program_nodes: int = 300
    pains: Pains = field(default_factory=Pains)


def sandwich(
    task: Task | PlantTask,
    alpha: Fraction | None = None,
    beta: Fraction | None = None,
    labour: Labour | None = None,
    *,
    tell: Callable[[str], None] | None = None,
) -> Sandwich:
    """The best bounds and the best policy that are known here; the risks are the task's unless given.

    `tell` hears what is being done, now and then.
    """
    alpha = task.alpha if alpha is None else Fraction(alpha)
    beta = task.beta if beta is None else Fraction(beta)
    for name, risk in (("alpha", alpha), ("beta", beta)):
        if not 0 <= risk < 1:
            raise TaskError(f"{name} is {risk}; a probability in [0, 1) is needed")
    labour = labour or Labour()
    if isinstance(task, PlantTask):
        return _of_plant(task, alpha, beta, labour)
    reduced = take_quotient(task).reduced
    obstruction = find_obstruction(task)
    if obstruction is not None and 2 * alpha + beta < 1:
        return _infinite(alpha, beta, obstruction.pair)
    if is_noiseless(reduced):
        return _without_noise(reduced, alpha, beta, labour)
    return _Noisy(reduced, alpha, beta, labour, tell or (lambda _: None)).conclude()


def is_noiseless(task: Task) -> bool:
    """Whether every reading is certain."""
    return not isinstance(task.model, NoisyMachine) or all(len(law) == 1 for law in task.model.laws)


def _infinite(alpha: Fraction, beta: Fraction, pair: tuple[int, int] | None) -> Sandwich:
    return Sandwich(alpha, beta, None, None, None, None, {}, {}, pair, False)


def _without_noise(task: Task, alpha: Fraction, beta: Fraction, labour: Labour) -> Sandwich:
    """What happens is certain, so AO is D."""
    solution = solve(skeleton(task), time_limit=labour.time_limit, prove="never")
    zero = (Fraction(0), Fraction(0))
    if isinstance(solution, Solved):
        values = {"deterministic": solution.cost}
        return Sandwich(alpha, beta, solution.cost, solution.cost, solution.policy, zero, values, values, None, False)
    if isinstance(solution, Bounded):
        return Sandwich(
            alpha,
            beta,
            solution.lower,
            solution.upper,
            solution.policy,
            None if solution.policy is None else zero,
            {"deterministic": solution.lower},
            {"deterministic": solution.upper},
            None,
            False,
        )
    return _infinite(alpha, beta, None)


class _Noisy:
    """All methods on one task, best of each side kept."""

    def __init__(
        self, task: Task, alpha: Fraction, beta: Fraction, labour: Labour, tell: Callable[[str], None]
    ) -> None:
        if alpha == 0 or beta == 0:
            raise TaskError("with noise alpha and beta must be positive: certainty, or never giving up, has no bound")
        self.task, self.alpha, self.beta, self.labour, self.tell = task, alpha, beta, labour, tell
        self.lower: dict[str, Fraction | None] = {}
        self.upper: dict[str, Fraction | None] = {}
        self.best: tuple[Fraction, Any, tuple[Fraction, Fraction]] | None = None
        self.too_many = False
        """Whether memories by name are too many to be listed."""

    def conclude(self) -> Sandwich:
        pairwise = bound_by_information(self.task, self.alpha, self.beta)
        self.lower["pairwise"] = pairwise.value
        self.tell("solving the program of visits, for the bound from below")
        program = self.bound_by_program()
        if program.value is None and not program.vacuous:
            return _infinite(self.alpha, self.beta, pairwise.pair)
        self.tell("composing trees of tests")
        self.try_trees()
        if self.task.about == "start":  # ledgers keep what hypotheses began as
            self.try_driven(program)
            self.tell("balancing a policy over the hypotheses")
            self.try_balanced()
        values = [value for value in self.lower.values() if value is not None]
        cost, policy, risk = self.best or (None, None, None)
        return Sandwich(
            self.alpha,
            self.beta,
            max(values),
            cost,
            policy,
            risk,
            self.lower,
            self.upper,
            pairwise.pair,
            program.vacuous,
        )

    def bound_by_program(self) -> ProgramBound:
        labour = self.labour
        program = bound_by_program(
            self.task, self.alpha, self.beta, max_nodes=labour.program_nodes, time_limit=labour.time_limit
        )
        self.lower["program"] = program.value
        return program

    def offer(self, name: str, cost: Fraction | None, policy: Any, risk: tuple[Fraction, Fraction] | None) -> None:
        self.upper[name] = cost
        if cost is not None and risk is not None and (self.best is None or cost < self.best[0]):
            self.best = cost, policy, risk

    def try_trees(self) -> None:
        """The paper's construction, and the same with the split optimised."""
        solution = solve(skeleton(self.task), time_limit=self.labour.time_limit, prove="never")
        for name, split in (("uniform tree", "uniform"), ("tree", "best")):
            self.upper[name] = None
            if isinstance(solution, Solved | Bounded) and solution.policy is not None:
                tree = compose(self.task, solution.policy, self.alpha, self.beta, split)  # type: ignore[arg-type]
                if tree is not None:
                    self.offer(name, tree.cost, tree, (tree.wrong, tree.abstain))

    def try_driven(self, program: ProgramBound) -> None:
        """By dynamic programming; by rank or nameless where possible; as Chernoff would where memories are many."""
        done = False
        if is_exchangeable(self.task):
            self.try_one("ranked", True, None)
            done = True
        elif may_be_nameless(self.task):
            done = self.try_one("nameless", False, None, nameless=True)
        if done and self.task.num_hypotheses > MOST_BY_NAME:
            return
        self.too_many = not self.try_one("driven", False, None)
        if self.too_many and not self.is_within(CLOSE):
            self.try_one("chernoff", False, self.preference(program))

    def try_balanced(self) -> None:
        """A policy that treats hypotheses alike, where memories by name are few enough, and the bound of columns."""
        self.upper["balanced"] = None
        if is_exchangeable(self.task) or may_be_nameless(self.task) or not self.too_many:
            with suppress(LimitError):
                self.note(bound_by_columns(self.task, self.alpha, self.beta, self.labour.pains))
        if self.too_many or self.is_within(NEAR):
            return
        with suppress(LimitError):
            found = balance(self.task, self.alpha, self.beta, self.labour.pains)
            self.note(found.lower)
            self.lower["openings"] = found.opened
            if found.risk is not None:
                self.offer("balanced", found.risk.worst[2], found.policy, found.risk.worst[:2])

    def is_within(self, ratio: Fraction) -> bool:
        """Whether the best policy so far costs at most so many times the best lower bound so far."""
        known = max((value for value in self.lower.values() if value is not None), default=Fraction(0))
        return self.best is not None and self.best[0] <= ratio * known

    def note(self, lower: Fraction) -> None:
        self.lower["prices"] = max(lower, self.lower.get("prices") or Fraction(0))

    def try_one(self, name: str, by_rank: bool, preference: FloatArray | None, *, nameless: bool = False) -> bool:
        """Offer a driven policy; whether all memories could be listed."""
        self.upper[name] = None
        self.tell(f"driving a policy ({name})")
        try:
            found = drive(
                self.task,
                self.alpha,
                self.beta,
                effort=self.labour.effort,
                by_rank=by_rank,
                preference=preference,
                nameless=nameless,
            )
        except LimitError:
            return False
        if found.lower is not None:
            self.note(found.lower)
        if found.risk is not None:
            self.offer(name, found.cost, found.policy, found.risk.worst[:2])
        return found.options is None

    def preference(self, program: ProgramBound) -> FloatArray:
        """Expected visits of the program's solutions, each in parts of its largest."""
        table = np.zeros((self.task.num_hypotheses, self.task.model.num_actions))
        for h, visits in program.visits.items():
            if h < len(table) and float(visits.max(initial=0.0)) > 0:
                table[h] = visits / visits.max()
        return table


def _of_plant(question: PlantTask, alpha: Fraction, beta: Fraction, labour: Labour) -> Sandwich:
    """A question about a plant of any size whose commands only read: a product of tests."""
    factors = find_factors(question)
    if factors is None:
        return _infinite(alpha, beta, None)
    if factors.flip == 0:
        total = sum(factors.costs, Fraction(0))
        raise LimitError(f"the plant reads without noise, all its factors in {total}; list its states and solve it")
    family = (
        factors.differences
        if factors.asks == "which"
        else (factors.centre, *(factors.centre ^ d for d in factors.differences))
    )
    program = bound_plant(question, alpha, beta, states=family, max_rivals=len(family), time_limit=labour.time_limit)
    pairwise = bound_by_information(_one_factor(factors, alpha, beta), alpha, beta).value
    lower: dict[str, Fraction | None] = {"pairwise": pairwise, "program": program.value}
    if factors.asks == "which":
        policy, upper, risk = _read_each(factors, alpha, beta)
    else:
        policy, upper, risk = _read_levels(factors, alpha, beta)
    best = max(value for value in lower.values() if value is not None)
    least = min(value for value in upper.values() if value is not None)
    return Sandwich(alpha, beta, best, least, policy, risk, lower, upper, None, program.vacuous)


def _one_factor(factors: Factors, alpha: Fraction, beta: Fraction) -> Task:
    """One bit and what reads it."""
    f = factors.flip
    model = NoisyMachine(
        states=("0", "1"),
        actions=("read",),
        readings=("0", "1"),
        successor=np.array([[0], [1]], dtype=np.int32),
        law=np.array([[0], [1]], dtype=np.int32),
        laws=(((0, 1 - f), (1, f)), ((0, f), (1, 1 - f))),
    )
    ends = np.arange(2, dtype=np.int32)
    return Task(
        model=model, state=ends, label=ends, labels=("0", "1"), cost=(max(factors.costs),), alpha=alpha, beta=beta
    )


def _read_each(
    factors: Factors, alpha: Fraction, beta: Fraction
) -> tuple[Product, dict[str, Fraction | None], tuple[Fraction, Fraction]]:
    """Which: one test for each form, thresholds mixed; beside it the uniform split."""
    flips = [factors.flip] * len(factors.forms)
    chosen: list[LatticeTest] = split_best(flips, factors.costs, alpha, beta)
    uniform = split_uniformly(flips, alpha, beta)
    parts = [
        Factor(_one_factor(factors, alpha, beta), test, (action,), (0, 1))
        for test, action in zip(chosen, factors.actions, strict=True)
    ]
    outcomes = [evaluate_test(test, 1) for test in chosen]
    risk = sum((o.says_zero for o in outcomes), Fraction(0)), sum((o.abstains for o in outcomes), Fraction(0))
    upper: dict[str, Fraction | None] = {
        "uniform tree": _total(uniform, factors),
        "product": _total(chosen, factors),
    }
    return Product(tuple(parts)), upper, risk


def _total(tests: list[LatticeTest], factors: Factors) -> Fraction:
    return sum((evaluate_test(t, 1).readings * c for t, c in zip(tests, factors.costs, strict=True)), Fraction(0))


def _read_levels(
    factors: Factors, alpha: Fraction, beta: Fraction
) -> tuple[Any, dict[str, Fraction | None], tuple[Fraction, Fraction]]:
    """Nominal or not: all forms raised together; beside it one test after the other."""
    policy, risk = choose_levels(factors.flip, factors.actions, factors.nominal, factors.costs, alpha, beta)
    uniform = split_uniformly([factors.flip] * len(factors.forms), alpha, beta)
    upper: dict[str, Fraction | None] = {"uniform tree": _total(uniform, factors), "levels": risk.cost}
    return policy, upper, (risk.wrong, risk.abstain)
