"""Minimax policies: the cost under the worst hypothesis is what counts, so all hypotheses are treated alike.

A policy that asks the sensors in their order is quick if the first hypothesis is true and slow if the last one is. So
it should take more care before it names the first, which leaves the last one room to be named earlier: a minimax policy
is close to an equaliser, one that costs all hypotheses the same (Wald, Statistical Decision Functions, 1950).
`column_generation.py` finds what mixtures of policies can do, and that bounds every policy from below. Then one policy
is made out of the mixture:

- *restrict*: nodes that no column met so far are left out, and what leads there ends there;
- *derandomise* (`derandomisation.py`), where every hypothesis has its own label: decide history by history for as long
  as it matters, then follow one column after each history. If that comes near a lower bound it is all. Else:
- *dive*: where its columns decide differently, at the node that is met most often, all are bound to decide like most of
  them, and the best mixture under that is found, a few times over. What is left to disagree on is then rarely met;
- *improve* the columns met on the way that are nearest to keeping the risks, decision by decision (`local_search.py`);
  the best of what comes of it is evaluated like every other policy.

Belief graphs with named slots serve both purposes. Where they are too large, ranked or nameless slots still give the
bound, and pruned graphs a policy. Named ones also give a sharper bound, for policies that draw nothing at random
(`branch_and_bound.py`, and for exchangeable hypotheses `ranked_openings.py`).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import MARGINS_NATS, BeliefGraph, GraphBuilder, restrict_graph
from ascertain.planning.branch_and_bound import bound_by_branching
from ascertain.planning.column_generation import Column, ColumnGeneration, Mixture
from ascertain.planning.controller import CertifiedController, fit_horizon
from ascertain.planning.derandomisation import RARE_VISITS, Derandomisation
from ascertain.planning.information_state import Slots, smallest_slots, tabulate_likelihoods
from ascertain.planning.lagrangian import PricedPolicy, build_search_graph
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.planning.local_search import LocalSearch
from ascertain.planning.multipliers import Multipliers
from ascertain.planning.pruning import MAX_STATES, MostInformative
from ascertain.task.task import Task
from ascertain.types import BoolArray, FloatArray, LongArray

FEW_NODES = 2_000
"""Beyond so many nodes fewer columns are improved, and fewer times, in proportion: each change evaluates all nodes."""
NEVER_MET = 1e-9
"""Nodes that all columns meet less often than this are left out of policies: they matter to no risk above 1e-9."""
TIGHT_RATIO, GOOD_RATIO = Fraction(102, 100), Fraction(105, 100)
"""Times the lower bound: a cost below the first leaves nothing to look for, one below the second no other policy."""
ROUNDS, BOUND_ROUNDS = 10, 20
"""Rounds of column generation after a partial policy, for a policy and for a bound, which gains from more."""
PRUNED_ROUNDS, PRUNED_LEAVES, PRUNED_DIVES = 25, 60, 6
"""Rounds on a pruned graph, histories after which a policy made on it follows a column of its own, and rounds after a
partial policy there: fewer than on a whole graph, whose bound would gain from more."""
HOPELESS = 10.0
"""Columns so many times worse than the best break the risks by far, and take longest to improve."""
PRUNED_STARTS, PRUNED_CHANGES = 8, 60
"""Columns of a mixture on a pruned graph that are improved, and changes of each: some seconds too."""
PRUNED_ROOM = (0.999, 0.97, 0.9, 0.7)
"""Parts of the risks that such a policy may use: pruned graphs forget more evidence, and evaluation finds more risk."""


def bound_by_column_generation(
    task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits = DEFAULT_LIMITS
) -> PricedPolicy:
    """The lower bound alone, on the smallest belief graph of the task; LimitError where that is too large."""
    program, mixture = find_best_mixture(task, alpha, beta, limits, smallest_slots(task), limits.max_bound_nodes)
    return _proved(program, mixture)


def _proved(program: ColumnGeneration, mixture: Mixture) -> PricedPolicy:
    """What a mixture proves, without a policy."""
    return PricedPolicy(None, mixture.lower, multipliers=Multipliers.of_groups(mixture.prices, program.group))


def find_best_mixture(
    task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits, slots: Slots, max_nodes: int
) -> tuple[ColumnGeneration, Mixture]:
    """The best mixture of policies on a belief graph of at most `max_nodes` nodes; LimitError where there are more."""
    tables = tabulate_likelihoods(task, slots)
    for more in MARGINS_NATS:
        with suppress(LimitError):
            graph = GraphBuilder.at_risk(tables, alpha, more=more, max_nodes=max_nodes, limits=limits).build()
            program = ColumnGeneration(graph, alpha, beta, limits)
            return program, program.generate(_rounds(graph, limits))
    limits.check_time()
    raise LimitError(f"the readings of this task lead to more than {max_nodes} different information states")


def find_minimax_policy(
    task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits = DEFAULT_LIMITS
) -> PricedPolicy:
    """A minimax policy for a task about the start; LimitError where its belief graph with named slots is too large."""
    program, mixture = find_best_mixture(task, alpha, beta, limits, "named", limits.max_nodes)
    fewer, restricted = _restrict(program, mixture)
    best = derandomised = _derandomise(fewer, restricted, limits)
    if derandomised is None:
        best = _round(fewer, restricted, limits)
    branches = min(limits.max_branches, max(2, _repeats(program.graph, limits) // (3 * BOUND_ROUNDS)))
    target = math.inf if best is None else float(best.cost / TIGHT_RATIO)
    branching = bound_by_branching(program, mixture, branches=branches, rounds=BOUND_ROUNDS, target=target)
    proved = replace(_proved(program, mixture), branched=branching.lower, branching=branching)
    if limits.is_over:
        return replace(proved, best=best)
    if derandomised is not None and derandomised.cost > max(GOOD_RATIO * mixture.lower, TIGHT_RATIO * branching.lower):
        improved = _round(fewer, restricted, limits)
        best = derandomised if improved is None or improved.cost > derandomised.cost else improved
    return replace(proved, best=best)


def find_pruned_minimax_policy(
    task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits, preference: FloatArray
) -> PricedPolicy:
    """A minimax policy on a pruned graph, which proves no bound; LimitError where that is too large as well.

    A price search (`lagrangian.py`) moves the weight of a cost and the price of an error together, which serves badly
    where one hypothesis costs far more than the others: here each has its own.
    """
    tables = tabulate_likelihoods(task, "named")
    if task.model.num_states <= MAX_STATES:
        actions = MostInformative(tables, min(2, tables.num_actions), preference, float(alpha))
        graph = build_search_graph(tables, alpha, beta, actions, limits, coarse=True)
        program = ColumnGeneration(graph, alpha, beta, limits)
        fewer, mixture = _restrict(program, program.generate(PRUNED_ROUNDS, start=program.uniform_prices(1.0)))
        few = replace(limits, max_leaves=min(limits.max_leaves, PRUNED_LEAVES))
        best = _derandomise(fewer, mixture, few, PRUNED_DIVES)
        return PricedPolicy(_improve_columns(fewer, mixture, limits) if best is None else best, None)
    raise LimitError(f"the model has more than {MAX_STATES} states, which are too many for pruning")


def _restrict(program: ColumnGeneration, mixture: Mixture) -> tuple[ColumnGeneration, Mixture]:
    """The same with the nodes alone that a column met so far."""
    often = program.graph.weight.max(axis=1)
    keep = np.zeros(len(often), dtype=np.bool_)
    for column in mixture.columns:
        keep |= (column.visits * often > NEVER_MET) & (column.choice >= 0)
    graph, node = restrict_graph(program.graph, keep)
    fewer = ColumnGeneration(graph, program.alpha, program.beta, program.limits)
    columns = tuple(fewer.column_of(column.choice[node], Fraction(0)) for column in mixture.columns)
    return fewer, replace(mixture, columns=columns)


def _derandomise(
    program: ColumnGeneration, mixture: Mixture, limits: SearchLimits, rounds: int = ROUNDS
) -> CertifiedController | None:
    if len(program.group_size) < len(program.group):
        return None
    return Derandomisation(program, mixture, max_leaves=limits.max_leaves, rounds=rounds).run()


def _repeats(graph: BeliefGraph, limits: SearchLimits) -> int:
    """How often all options of all nodes may be gone through."""
    return limits.max_work // (graph.size * graph.option.shape[1])


def _rounds(graph: BeliefGraph, limits: SearchLimits) -> int:
    """Rounds of column generation: a hundred settle the prices, and a dozen are the least that is of use."""
    return min(100, max(12, _repeats(graph, limits)))


def _round(program: ColumnGeneration, mixture: Mixture, limits: SearchLimits) -> CertifiedController | None:
    """One policy out of a mixture, by diving and local search."""
    graph = program.graph
    mixture = program.generate(_rounds(graph, limits), mixture.columns)
    search = LocalSearch(program, _usual_cost(mixture, graph))
    # The best columns first, no two of the same value.
    starts: list[tuple[float, LongArray]] = []
    met = [(search.value_of(column), column.choice) for column in _dive(program, mixture, limits)]
    for value, choice in sorted(met, key=lambda one: one[0]):
        if not starts or value > starts[-1][0] * (1 + 1e-6):
            starts.append((value, choice))
    part = min(1.0, FEW_NODES / graph.size)
    best: CertifiedController | None = None
    for _, choice in starts[: max(3, int(limits.max_starts * part))]:
        improved = search.improve(choice, max(20, int(limits.max_changes * part)))
        found = fit_horizon(graph, improved, program.alpha, program.beta)
        if found is not None and (best is None or found.cost < best.cost):
            best = found
        if limits.is_over:
            break
    return best


def _usual_cost(mixture: Mixture, graph: BeliefGraph) -> float:
    """About what a policy costs: a mixture that breaks the risks has a value far above it, or an infinite one."""
    dearest = max(float(column.achieved[0].max()) for column in mixture.columns)
    return max(min(mixture.value, dearest), float(graph.tables.cost.min()))


def _improve_columns(program: ColumnGeneration, mixture: Mixture, limits: SearchLimits) -> CertifiedController | None:
    """One policy out of the columns of a mixture, each improved by itself: quicker than diving, and not as thorough."""
    search = LocalSearch(program, _usual_cost(mixture, program.graph))
    best: CertifiedController | None = None
    starts = sorted(((search.value_of(column), k) for k, column in enumerate(mixture.columns)))[:PRUNED_STARTS]
    for value, k in starts:
        if value > HOPELESS * starts[0][0]:
            break
        choice = mixture.columns[k].choice
        for room in PRUNED_ROOM:
            search.room[:] = room
            choice = search.improve(choice, PRUNED_CHANGES)
            found = fit_horizon(program.graph, choice, program.alpha, program.beta)
            if found is not None:
                best = found if best is None or found.cost < best.cost else best
                break
        if limits.is_over:
            break
    return best


def _dive(program: ColumnGeneration, mixture: Mixture, limits: SearchLimits) -> list[Column]:
    """Bind the columns together, node by node; all columns that were met on the way."""
    graph, found = program.graph, list(mixture.columns)
    forbidden = np.zeros((graph.size, 1 + graph.option.shape[1]), dtype=np.bool_)
    rounds = min(60, _rounds(graph, limits))
    for _ in range(min(limits.max_dives, max(3, limits.max_work // (rounds * forbidden.size)))):
        bound = _bind(graph, mixture, forbidden)
        if bound is None or limits.is_over:
            break
        v, decision = bound
        kept = tuple(c for c in mixture.columns if not c.visits[v] or c.choice[v] == decision)
        mixture = program.generate(rounds, kept, forbidden, enough=2e-3)
        found += mixture.columns[len(kept) :]
    return found


def _bind(graph: BeliefGraph, mixture: Mixture, forbidden: BoolArray) -> tuple[int, int] | None:
    """Forbid all but the commonest decision at the node where columns disagree most; None where they hardly do."""
    used = [k for k, share in enumerate(mixture.share) if share > 1e-6]
    choice = np.array([mixture.columns[k].choice for k in used])
    # `met[k, v]`: how often column k, by its share, meets node v under the hypothesis that makes v likeliest.
    often = graph.weight.max(axis=1)
    met = np.array([mixture.share[k] * mixture.columns[k].visits * often for k in used])
    commonest = choice[met.argmax(axis=0), np.arange(graph.size)]
    apart = np.where(choice != commonest, met, 0.0).sum(axis=0)
    v = int(apart.argmax())
    if apart[v] < RARE_VISITS:
        return None
    decision = int(commonest[v])
    forbidden[v] = True
    forbidden[v, 1 + decision if decision >= 0 else 0] = False
    return v, decision
