"""D of a task, exactly: the cheapest policy that settles the question, proved cheapest, or a proof that none does.

The road: on a large task find a first policy, greedily; take the quotient; measure pairs, all of them where states are
few; deepen on the graph of configurations until the lower bound, first set by the farthest pair, meets the upper bound
(`search/deepening.py`; where that is not over at once, the splitting tree and a greedy policy are asked first); then
read the policy off the graph and write the proof. At a limit, or at Ctrl-C, the interval reached is the answer, with
what proves and attains it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from ascertain.errors import TaskError
from ascertain.interruption import OutOfTime, limited, seconds_left, whole_loading
from ascertain.kernels._jit import compiling_seconds
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.policy.evaluate import cost_by_hypothesis, integer_cost_by_hypothesis
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain.quotients.separation import PairDistances
from ascertain.search.configuration import Arena, Member, build_arena, is_pure
from ascertain.search.deepening import Search, SearchProgress
from ascertain.search.first_policy import find_first_policy
from ascertain.search.least_mean import lower_mean
from ascertain.search.mean_proof import MeanProver
from ascertain.search.proof import InfinityProver, prove_bound
from ascertain.search.solution import (
    Bounded,
    MeanProof,
    Objective,
    Proof,
    ProofRow,
    SearchStats,
    SharesProof,
    Solution,
    Solved,
    StopReason,
    Unsolvable,
)
from ascertain.task.task import Task, check_task

__all__ = ["Prove", "SearchProgress", "solve"]  # what roads need of a search comes from here

Prove: TypeAlias = Literal["always", "when solved", "never"]
"""When the proof of a lower bound is written."""
Weights: TypeAlias = tuple[Fraction, ...]
"""One positive rational for each hypothesis of the task."""
LARGE, SMALL_STATES = 25_000, 50
"""States times actions above which a first policy is found at once; a hypothesis counts as so many states."""

MOMENT = 1e-6
"""Seconds that whoever is patient thinks are left."""
PATIENCE = 1.0
"""Seconds after Ctrl-C in which a first policy is looked for, where there is none yet."""


@whole_loading()
def solve(
    task: Task,
    *,
    objective: Objective = "worst",
    weights: Sequence[Fraction] | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: SearchProgress | None = None,
    prove: Prove = "always",
    least_mean: bool = True,
    distances: PairDistances | None = None,
) -> Solution:
    """The optimum of a task on a deterministic machine, with a policy on the original task and a proof.

    `objective` "worst" minimises the largest cost over hypotheses, and then the mean as far as `search/least_mean.py`
    gets, unless `least_mean` is False: any policy of the least worst cost will do then. `mean_is_least` of the result
    says whether no policy of that worst cost has a lower mean. "expected" minimises the mean.
    Means are under `weights`, one positive rational for each hypothesis (all equal if not given). Limits are in seconds
    and bytes, of all but the proof; without one, three quarters of the free memory may be used. The proof of the lower
    bound is written afterwards and may take longer than the search: `prove` says whether "always", only "when solved",
    or "never". What is unsolvable always comes with its witness. Ctrl-C ends the search, and a second
    one the proof. `distances` are those of the task's quotient (`measure_task`), where they are known already.
    """
    started, compiled_before = time.monotonic(), compiling_seconds()
    check_task(task)
    mean = objective == "expected"
    given = check_weights(task, weights)
    deadline = None if time_limit is None else started + time_limit
    first: Automaton | None = None
    try:
        with _ending_at(deadline, patient=not is_large(task)):
            first = find_first_policy(task, deadline=deadline, eager=True) if is_large(task) else None
            quotient = take_quotient(task)
            arena = build_arena(quotient.reduced, mean=mean, distances=distances)
    except OutOfTime:
        first = first or find_first_policy(task, deadline=deadline, eager=True)
        return conclude_early(task, first, given, objective, "time", time.monotonic() - started)
    except KeyboardInterrupt:
        if first is None and is_large(task):
            soon = time.monotonic() + PATIENCE
            with _ending_at(soon):
                first = find_first_policy(task, deadline=soon, eager=True)
        return conclude_early(task, first, given, objective, "interrupt", time.monotonic() - started)
    if is_pure(arena.start):
        return answer_at_once(arena, quotient, given if mean else None, time.monotonic() - started)
    merged = merge_weights(quotient, arena, given)
    if mean and not fits(task, merged):
        raise TaskError("the weights need too many bits once written over one denominator; use simpler ratios")
    try:
        with _ending_at(deadline, patient=True):
            search = Search(
                arena,
                merged if mean else None,
                task=task,
                first=first,
                time_limit=time_limit,
                memory_limit=memory_limit,
                started=started,
                compiled_before=compiled_before,
            )
    except OutOfTime:
        first = first or find_first_policy(task, deadline=deadline, eager=True)
        return conclude_early(task, first, given, objective, "time", time.monotonic() - started)
    with _ending_at(deadline):
        why = search.run(progress)
    if search.lower == INFINITE and mean:
        # What cannot be settled cannot be settled at any mean cost either, and a proof of it is one about worst costs.
        # It is known to exist, so it is looked for without limits.
        unsolvable = solve(task, progress=progress, distances=distances)
        assert isinstance(unsolvable, Unsolvable)
        return replace(unsolvable, objective=objective)
    improve = least_mean and not mean and search.is_planned and fits(task, merged)
    solution = conclude(search, quotient, given if mean else None, why, prove, merged if improve else None)
    return with_mean(task, given, solution)


def _ending_at(deadline: float | None, *, patient: bool = False) -> AbstractContextManager[None]:
    """Within, what looks up is stopped at this time by `time.monotonic`, or earlier if others say so.

    No work is begun that would end much later. Who is patient stops nothing that is done in a moment.
    """
    if deadline is None:
        return nullcontext()
    outer = time.monotonic() + (seconds_left() or 0.0) if seconds_left() is not None else math.inf
    least = MOMENT if patient else -math.inf

    def left() -> float:
        now = time.monotonic()
        return min(outer - now, max(least, deadline - now))

    return limited(left, "the time limit of the search", strict=True)


def is_large(task: Task) -> bool:
    """Whether a first policy is found before anything else; small tasks are mostly solved at once."""
    actions = task.model.num_actions
    return task.model.is_exact and max(task.num_hypotheses * SMALL_STATES, task.model.num_states) * actions > LARGE


def conclude_early(
    task: Task, first: Automaton | None, weights: Weights, objective: Objective, why: StopReason, seconds: float
) -> Bounded:
    """The result where even the tables of a search were not made: a first policy, and that something has to be done."""
    lower, proof = least_that_must_be_done(task)
    upper: Fraction | None = None
    if first is not None:
        upper = max(cost_by_hypothesis(task, first)) if objective == "worst" else mean_cost(task, first, weights)
    stats = SearchStats(seconds, 0, 0, 0, 0)
    known = proof if objective == "worst" else None
    return Bounded(lower, upper, first and first.named(task), known, why, stats, objective)


def least_that_must_be_done(task: Task) -> tuple[Fraction, Proof]:
    """Where two labels are possible, one action at least: the cheapest. With a proof on the states of the task."""
    block = np.arange(task.model.num_states, dtype=np.int32)
    _, first = np.unique(task.label, return_index=True)
    if len(first) < 2:
        return Fraction(0), Proof((), None, block, Fraction(0))
    members = tuple((int(task.label[h]), int(task.state[h])) for h in first[:2])
    least = min(task.cost)
    return least, Proof((ProofRow(members, least, {}),), 0, block, least)


def with_mean(task: Task, weights: Weights, solution: Solution) -> Solution:
    """The result with the mean cost of its policy."""
    if isinstance(solution, Solved):
        return replace(solution, mean=mean_cost(task, solution.policy, weights))
    return solution


def mean_cost(task: Task, policy: Automaton, weights: Weights) -> Fraction:
    """The mean cost of a policy that is never wrong."""
    costs, scale = integer_cost_by_hypothesis(task, policy)
    whole = as_integers(weights)
    return sum(w * c for w, c in zip(whole, costs, strict=True)) / (scale * sum(whole))


def conclude(
    search: Search,
    quotient: Quotient,
    weights: Weights | None,
    why: StopReason | None,
    prove: Prove,
    merged: dict[Member, int] | None = None,
) -> Solution:
    """The result of a search that has come to an end, or to a limit; a mean has weights.

    With `merged` weights of its members, a policy of the least worst cost is the one of the least mean, if that is
    found.
    """
    objective: Objective = "worst" if weights is None else "expected"
    stats = search.stats()
    if search.lower == INFINITE:
        witness = write_proof(search, quotient)
        assert isinstance(witness, Proof), "shares prove finite bounds"
        return Unsolvable(witness, stats, objective)
    wanted = prove == "always" or (prove == "when solved" and why is None)
    proof: Proof | MeanProof | SharesProof | None = None
    if wanted:
        try:
            proof = write_proof(search, quotient) if weights is None else write_mean_proof(search, quotient, weights)
        except KeyboardInterrupt:  # the second one, if the search was interrupted too: then without a proof
            why = why or "interrupt"
    lower, upper = search.interval()
    if upper is None:
        return Bounded(lower, None, None, proof, why or "time", stats, objective)
    if merged is not None and lower == upper:
        with suppress(KeyboardInterrupt):  # what is known stays known
            improved, is_least = lower_mean(search.graph, merged, search.deadline)
            return Solved(upper, improved.named(quotient.task), proof, stats, objective, mean_is_least=is_least)
    policy = search.read_policy().named(quotient.task)
    if why is not None and objective == "worst":
        # What was cut short may have improved a later step without having told the earlier ones.
        upper = max(cost_by_hypothesis(quotient.reduced, policy))
    if lower == upper:
        return Solved(upper, policy, proof, stats, objective, mean_is_least=objective == "expected")
    return Bounded(lower, upper, policy, proof, why or "time", stats, objective)


def write_proof(search: Search, quotient: Quotient) -> Proof | SharesProof:
    """Rows for the lower bound that the search has reached; shares where these have said it first."""
    if search.shares is not None and search.lower <= search.shares.bound:
        return search.shares.proof(search.arena, quotient)
    bound = None if search.lower == INFINITE else Fraction(search.lower, search.unit)
    if bound == 0:
        return Proof((), None, quotient.block, bound)
    prover = InfinityProver(search.graph, search.tree)
    rows, root = prover.prove() if bound is None else prove_bound(search.graph, search.lower)
    return Proof(rows, root, quotient.block, bound)


def write_mean_proof(search: Search, quotient: Quotient, weights: Weights) -> MeanProof:
    """Weighted rows for the lower bound on the mean that the search has reached."""
    rows, parts = MeanProver(search.graph).prove(search.lower)
    # The search counts in the smallest integers of the same ratio.
    unit = sum(weights, Fraction(0)) / sum(search.graph.start.values())
    return MeanProof(
        rows=rows,
        parts=tuple((number, times * unit) for number, times in parts),
        block=quotient.block,
        bound=Fraction(search.lower, search.unit),
        weights=weights,
    )


def answer_at_once(arena: Arena, quotient: Quotient, weights: Weights | None, seconds: float) -> Solved:
    """One label is possible, so nothing need be asked."""
    label = next(iter(arena.start))[0]
    policy = Automaton(action=(NOWHERE,), label=(label,), children=({},)).named(quotient.task)
    stats, zero = SearchStats(seconds, 1, 0, 0, 0), Fraction(0)
    if weights is None:
        return Solved(zero, policy, Proof((), None, quotient.block, zero), stats, "worst", zero, True)
    return Solved(zero, policy, MeanProof((), (), quotient.block, zero, weights), stats, "expected", zero, True)


def check_weights(task: Task, weights: Sequence[Fraction] | None) -> Weights:
    """Weights are one positive rational for each hypothesis; all equal if not given."""
    if weights is None:
        return (Fraction(1),) * task.num_hypotheses
    if len(weights) != task.num_hypotheses:
        raise TaskError(f"there are {len(weights)} weights for {task.num_hypotheses} hypotheses")
    for h, w in enumerate(weights):
        if w <= 0:
            raise TaskError(f"hypothesis {h} has weight {w}; a weight must be positive")
    return tuple(Fraction(w) for w in weights)


def as_integers(weights: Weights) -> list[int]:
    """Integers in the ratio of the weights."""
    unit = math.lcm(*(w.denominator for w in weights))
    return [w.numerator * (unit // w.denominator) for w in weights]


def merge_weights(quotient: Quotient, arena: Arena, given: Weights) -> dict[Member, int]:
    """Integer weights, in the ratio of those given, of the members of the reduced task."""
    state_of = {c: s for s, c in enumerate(arena.class_of.tolist())}
    total: dict[Member, int] = {}
    members: list[Member] = [
        (label, state_of[s])
        for label, s in zip(quotient.reduced.label.tolist(), quotient.reduced.state.tolist(), strict=True)
    ]
    classes: list[int] = quotient.hypothesis_class.tolist()
    for c, w in zip(classes, as_integers(given), strict=True):
        total[members[c]] = total.get(members[c], 0) + w
    # The smallest integers in the same ratio.
    common = math.gcd(*total.values())
    return {member: w // common for member, w in total.items()}


def fits(task: Task, merged: dict[Member, int]) -> bool:
    """Whether sums of costs times weights stay below the 62 bits of INFINITE."""
    return sum(merged.values()) * int(task.integer_costs()[0].max()) < 2**42
