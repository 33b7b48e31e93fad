"""What is certified is what runs: `python -m benchmarks.statistical.controllers --runs N --seconds S --only WORD`.

For ten questions of the two-sided table: a certified policy is found, written to a file, read back and simulated under
the hypothesis whose expected cost is largest. The mean cost of N runs must be the evaluated one within its error, and,
at an alpha so large that they can be counted, wrong answers and abstentions must be as frequent as was evaluated.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from zlib import crc32

from tests.reference.suite import list_instances

from ascertain.pipeline.simulate import simulate_runs
from ascertain.planning.exported import Controller, export_policy, listed
from ascertain.planning.limits import DEFAULT_LIMITS
from ascertain.planning.policy_file import read_policy, write_policy
from ascertain.planning.two_sided import bound_both_sides
from ascertain.policy.combination import chances_by_factor
from ascertain.policy.evaluate import evaluate
from ascertain.policy.product import Product
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

ROOT = Path(__file__).resolve().parent.parent.parent
ALPHA, BETA = Fraction(1, 20), Fraction(1, 20)
"""Large enough that 10,000 runs show some five hundred of each."""
INSTANCES = (
    "register 4, which state",
    "register 8, which state",
    "register 24, which state",
    "one of 3 sensors",
    "one of 4 sensors",
    "one of 8 sensors",
    "ring register 2, which state",
    "far sensor, 5 places",
    "permutations, 4 states",
    "8-bit plant, one of 4 states",
    "valve train, flip 1/10",
    "mail servers, flip 1/10",
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=10_000)
    options.add_argument("--seconds", type=float, default=10.0, help="for finding each policy")
    options.add_argument("--only", nargs="+", default=[""], help="instances whose name holds one of these words")
    chosen = options.parse_args()
    print(f"alpha = {ALPHA}, beta = {BETA}, {chosen.runs} runs, {datetime.now(UTC):%Y-%m-%d}")
    print("| instance | truth | cost | mean of runs | off by | wrong | counted | abstains | counted |")
    print("|---|---|---|---|---|---|---|---|---|")
    known = {instance.name: instance for instance in list_instances(ROOT / "examples")}
    for name in (name for name in INSTANCES if any(word in name for word in chosen.only)):
        report(name, replace(known[name].make(), alpha=ALPHA, beta=BETA), chosen.runs, chosen.seconds)


def report(name: str, question: Task | PlantTask, runs: int, seconds: float) -> None:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "policy.json"
        limits = replace(DEFAULT_LIMITS, until=time.monotonic() + seconds)
        write_policy(path, export_policy(question, bound_both_sides(question, limits=limits).policy))
        controller = read_policy(path, [question])
        state, wrong, abstain, cost = worst_hypothesis(controller)
        counted = simulate_runs(question, path, runs=runs, state=state, seed=crc32(name.encode()))
    off = (float(counted.mean_cost) - cost) / counted.standard_error if counted.standard_error else 0.0
    cells = [state, f"{cost:.4f}", f"{float(counted.mean_cost):.4f}", f"{off:+.1f} errors"]
    cells += [
        f"{wrong:.4f}",
        f"{counted.wrong.count / runs:.4f}",
        f"{abstain:.4f}",
        f"{counted.abstained.count / runs:.4f}",
    ]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def worst_hypothesis(controller: Controller) -> tuple[str, float, float, float]:
    """The state under which the policy costs most, and what it does there: wrong, abstain, cost, evaluated."""
    question, form = controller.question, controller.form
    if isinstance(form, Product):
        return _under_all_zero(controller, form)
    found = evaluate(listed(question), controller.policy)
    costs = [c if c is not None else Fraction(0) for c in found.costs]
    h = max(range(len(costs)), key=lambda k: costs[k])
    start = question.model.name_state(question.start_of(h))
    return start, float(found.wrong[h]), float(found.abstain[h]), float(costs[h])


def _under_all_zero(controller: Controller, product: Product) -> tuple[str, float, float, float]:
    """Tests of one bit are symmetric: every state costs the same, so the first will do."""
    reach, right, cost, abstain = Fraction(1), Fraction(1), Fraction(0), Fraction(0)
    for (_, chances), *_ in chances_by_factor(product):
        assert chances.cost is not None
        cost, abstain = cost + reach * chances.cost, abstain + reach * chances.abstain
        reach, right = reach * chances.go, right * chances.right
    state = controller.question.model.name_state(0)
    return state, float(reach - right), float(abstain), float(cost)


if __name__ == "__main__":
    main()
