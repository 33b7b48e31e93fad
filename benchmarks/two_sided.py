"""Two-sided bounds over the suite of noisy questions: `python -m benchmarks.two_sided --models DIR --only WORD`.

For every instance: L and U with their ratio and the method that gave U; where all information states can be listed, the
optimum enclosed by the dynamic program on the lattice of likelihoods (mixtures of policies from below, or whatever
bound is better, and U itself from above) and U over its lower end; beside them the paper's construction alone, the
pairwise bound and the uniform split over the deterministic tree; and the wrong-answer probability of the policy, as
certified and as measured by importance sampling, with its standard error: the certified one is evaluated, and decides;
then processor seconds until U <= 1.25 L, processor seconds in all, and seconds by the clock. Geometric means of the
ratios at the end. With `--bounds-only` neither the optimum nor the paper's construction nor the measured probability
is computed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from tests.reference.measuring import measure_wrong
from tests.reference.suite import Instance, list_instances

from ascertain.errors import LimitError
from ascertain.planning.composition import compose, skeleton
from ascertain.planning.information_state import smallest_slots
from ascertain.planning.limits import DEFAULT_LIMITS
from ascertain.planning.minimax import find_best_mixture
from ascertain.planning.two_sided import TwoSidedBounds, bound_both_sides
from ascertain.quotients.quotient import take_quotient
from ascertain.search.exact import solve
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

ROOT = Path(__file__).resolve().parent.parent
ALPHA, BETA = Fraction(1, 4_000_000), Fraction(1, 1000)
CLOSE = Fraction(5, 4)
"""The ratio whose time is taken."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--models", type=Path, help="the directory of real machines")
    options.add_argument("--only", nargs="+", default=[""], help="instances whose name holds one of these words")
    options.add_argument("--bounds-only", action="store_true", help="L and U and their times, nothing beside them")
    options.add_argument("--audit", type=int, default=2000, help="runs of the audit for each hypothesis")
    chosen = options.parse_args()
    print(f"alpha = {ALPHA}, beta = {BETA}, {datetime.now(UTC):%Y-%m-%d}")
    print(
        "| instance | L | U | U/L | by | optimum | U/optimum | paper's L | paper's U | U/L | wrong <= | measured "
        "| to 1.25 | processor | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    ours: list[float] = []
    papers: list[tuple[float, float]] = []
    for instance in list_instances(ROOT / "examples", chosen.models):
        if any(word in instance.name for word in chosen.only):
            report(instance, 0 if chosen.bounds_only else chosen.audit, not chosen.bounds_only, ours, papers)
    if ours:
        print(f"geometric mean of U/L over {len(ours)} instances: {mean(ours):.3f}")
    if papers:
        print(
            f"on the {len(papers)} that the paper's construction settles: {mean([o for o, _ in papers]):.3f}, "
            f"by the paper's {mean([p for _, p in papers]):.3f}"
        )


def report(instance: Instance, runs: int, compare: bool, ours: list[float], papers: list[tuple[float, float]]) -> None:
    """One line of the table."""
    started = time.monotonic()
    question = instance.make()
    close = Watch()
    found = bound_both_sides(question, ALPHA, BETA, progress=close)
    if found.lower is not None:
        close(found.lower, found.upper)  # plants that are not enumerated report no progress
    seconds, processor = time.monotonic() - started, time.process_time() - close.began
    if found.is_infinite:
        print(f"| {instance.name} | inf | inf | | proved | | | | | | | | | {processor:.1f} | {seconds:.0f} |")
        return
    measured = measure_wrong(question, found, runs, seed=1) if runs else None
    best = min((v, k) for k, v in found.upper_by_method.items() if v is not None)[1] if found.upper is not None else "-"
    lower, upper = found.lower_by_method.get("pairwise"), compose_uniformly(question, found) if compare else None
    seen = "" if measured is None else f"{measured.estimate:.2e} ± {measured.error:.0e}"
    wrong = f"{float(found.risk[0]):.2e}" if found.risk else ""
    cells = [number(found.lower), number(found.upper), ratio(found.lower, found.upper), best]
    cells += list(enclose_optimum(question, found)) if compare else ["-", "-"]
    cells += [number(lower), number(upper), ratio(lower, upper), wrong, seen]
    reached = "-" if close.reached is None else f"{close.reached:.1f}"
    print(f"| {instance.name} | {' | '.join(cells)} | {reached} | {processor:.1f} | {seconds:.0f} |")
    sys.stdout.flush()
    keep(found, lower, upper, ours, papers)


class Watch:
    """When, in seconds of processor time, the upper side first was at most 1.25 times the lower one."""

    def __init__(self) -> None:
        self.began, self.reached = time.process_time(), None

    def __call__(self, lower: Fraction, upper: Fraction | None) -> None:
        if self.reached is None and upper is not None and upper <= CLOSE * lower:
            self.reached: float | None = time.process_time() - self.began


def compose_uniformly(question: Task | PlantTask, found: TwoSidedBounds) -> Fraction | None:
    """What the paper's construction costs: it is left out of the bounds where something better is known."""
    if "uniform tree" in found.upper_by_method or not isinstance(question, Task):
        return found.upper_by_method.get("uniform tree")
    task = take_quotient(question).reduced
    plan = solve(skeleton(task), time_limit=30.0, prove="never").policy
    tree = None if plan is None else compose(task, plan, ALPHA, BETA, splits=("uniform",))["uniform"]
    return None if tree is None else tree.cost


def enclose_optimum(question: Task | PlantTask, found: TwoSidedBounds) -> tuple[str, str]:
    """The optimum between two ends, where all information states can be listed, and U over the lower end.

    No policy is cheaper than the best mixture of policies, or than L, and U is one policy: the optimum lies between.
    """
    if not isinstance(question, Task) or found.upper is None:
        return "-", "-"
    task = take_quotient(question).reduced
    limits, slots = DEFAULT_LIMITS, smallest_slots(task)
    try:
        _, mixture = find_best_mixture(task, ALPHA, BETA, limits, slots, limits.max_bound_nodes)
    except LimitError:
        return "-", "-"
    lower = max(mixture.lower, found.lower or Fraction(0))
    return f"{float(lower):.2f}..{float(found.upper):.2f}", ratio(lower, found.upper)


def keep(
    found: TwoSidedBounds,
    lower: Fraction | None,
    upper: Fraction | None,
    ours: list[float],
    papers: list[tuple[float, float]],
) -> None:
    """Add the ratios to the lists."""
    if found.ratio is not None:
        ours.append(float(found.ratio))
        if lower and upper is not None:
            papers.append((float(found.ratio), float(upper / lower)))


def number(value: Fraction | None) -> str:
    return "-" if value is None else f"{float(value):.2f}"


def ratio(lower: Fraction | None, upper: Fraction | None) -> str:
    return f"{float(upper / lower):.3f}" if lower and upper is not None else "-"


def mean(values: list[float]) -> float:
    return math.exp(math.fsum(math.log(v) for v in values) / len(values))


if __name__ == "__main__":
    main()
