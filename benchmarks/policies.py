"""What each policy of the observer takes on testbed operations: readings, model steps, and both together at a price.

    python benchmarks/policies.py [--operations 24] [--first 0] [--probing look-ahead] [--compiler merging]
        [--prices 0 1/1000000 1/10000 1/100000,1/100000000]

Operations are drawn anew, every second one active; all policies meet the same operations and the same noise, with the
whole bank. "compile" and "scoring" are model steps. The last columns are the generalised cost, readings plus priced
steps, for each of the prices: of a model step, and after a comma of a world step. The row "chosen" is what `observe`
does when no policy is named: it chooses before each operation, at each price, and pays for choosing. "regret" is how
far that is from the best fixed policy, with the standard error of the difference.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import final

from ascertain.bank.compile import DEFAULT_COMPILER
from ascertain.observer.banks import OperationBank
from ascertain.observer.counters import Counters
from ascertain.observer.pricing import choose_policy
from ascertain.observer.settings import POLICIES, ObserverSettings, PolicyName
from ascertain.observer.staged import Act, start_observer
from ascertain.policy.verdict import Certified
from ascertain_paper.studies.observing import pose_endpoint
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.testbed import Testbed, load_testbed

ALPHA = Fraction(1, 4_000_000)
DEFAULT_PRICES = ["0", "1/1000000", "1/100000", "1/10000", "1/100000,1/100000000"]


@final
@dataclass(frozen=True)
class Way:
    """How an operation is decided."""

    policy: PolicyName
    threshold: Fraction = Fraction(100)
    share: Fraction = Fraction(1, 2)


@final
class Bench:
    """Operations, decided in every way that is asked for, each once."""

    def __init__(self, testbed: Testbed, probing: str, compiler: str) -> None:
        self.testbed, self.probing, self.compiler = testbed, probing, compiler
        self.run = cache(self._run)

    def settings(self, slot: Slot, way: Way) -> ObserverSettings:
        """What the observer of an operation is told."""
        return ObserverSettings(
            question=pose_endpoint(self.testbed, slot.plant),
            alpha=ALPHA,
            nominal=self.testbed.draw(slot).nominal_endpoint,
            policy=way.policy,
            threshold=way.threshold,
            nominal_share=way.share,
            probing=self.probing,
        )

    def _run(self, slot: Slot, way: Way) -> Counters:
        operation = self.testbed.draw(slot)
        noise, state = self.testbed.stream(operation).noise, operation.true_endpoint
        settings, plant = self.settings(slot, way), self.testbed.plants[slot.plant].plant
        in_parts = way.policy == "incremental"
        make_bank = OperationBank(self.testbed.logged(operation), self.compiler, in_parts=in_parts)
        observer = start_observer(settings, make_bank)
        t = 0
        while isinstance(act := observer.next(), Act):
            state, tapped = plant.step(state, act.action)
            observer = observer.update(act.action, tapped ^ int(noise[t]))
            t += 1
        label = settings.question.model.name_state(operation.true_endpoint)
        assert observer.verdict == Certified(label), observer.verdict
        return observer.counters

    def choose(self, slot: Slot, prices: dict[str, Fraction]) -> tuple[Way, int]:
        """What `observe` would take at these prices, and the model steps that choosing takes."""
        operation = self.testbed.logged(self.testbed.draw(slot))
        choice = choose_policy(self.settings(slot, Way("eager")), operation, prices, compiler=self.compiler)
        assert choice is not None
        best = choice.best
        return Way(best.policy, best.threshold, best.nominal_share), choice.model_steps


def read_prices(text: str) -> dict[str, Fraction]:
    """The price of a model step and, after a comma, of a world step."""
    model, _, world = text.partition(",")
    return {"model_step": Fraction(model), "world_step": Fraction(world or 0)}


def show(name: str, counters: Sequence[Counters], costs: Sequence[float]) -> None:
    """A row of the table."""
    compiling = statistics.fmean(c.compile_steps for c in counters)
    scoring = statistics.fmean(c.model_steps for c in counters) - compiling
    world = statistics.fmean(c.world_steps for c in counters) / 1e6
    readings = statistics.fmean(c.readings for c in counters)
    row = f"| {name} | {readings:.2f} | {compiling:,.0f} | {scoring:,.0f} | {world:,.0f} | "
    print(row + " | ".join(f"{cost:.2f}" for cost in costs) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="the number of the first operation")
    parser.add_argument("--probing", default="look-ahead")
    parser.add_argument("--compiler", default=DEFAULT_COMPILER)
    parser.add_argument("--purpose", default="policies", help="operations of another name are other operations")
    parser.add_argument("--prices", nargs="+", default=DEFAULT_PRICES)
    options = parser.parse_args()
    testbed = load_testbed()
    families = len(testbed.settings.families)
    slots = [
        Slot(options.purpose, i % 2, i // 4 % families, i, active=i // 2 % 2 == 0)
        for i in range(options.first, options.first + options.operations)
    ]
    bench = Bench(testbed, options.probing, options.compiler)
    prices = [read_prices(text) for text in options.prices]
    print("| policy | readings | compile | scoring | world, millions | " + " | ".join(options.prices) + " |")
    print("|---" * (5 + len(prices)) + "|")
    fixed: list[list[list[float]]] = []
    for policy in POLICIES:
        counters = [bench.run(slot, Way(policy)) for slot in slots]
        fixed.append([[float(c.generalised_cost(**price)) for c in counters] for price in prices])
        show(policy, counters, [statistics.fmean(costs) for costs in fixed[-1]])
    chosen: list[list[float]] = []
    taken: list[Counter[str]] = []
    for price in prices:
        ways = [bench.choose(slot, price) for slot in slots]
        taken.append(Counter(f"{way.policy} {way.threshold} {way.share}" for way, _ in ways))
        chosen.append(
            [
                float(bench.run(slot, way).generalised_cost(**price) + price["model_step"] * spent)
                for slot, (way, spent) in zip(slots, ways, strict=True)
            ]
        )
    print("| chosen | | | | | " + " | ".join(f"{statistics.fmean(costs):.2f}" for costs in chosen) + " |")
    cells: list[str] = []
    for i, costs in enumerate(chosen):
        best = min((rows[i] for rows in fixed), key=statistics.fmean)
        apart = [mine - theirs for mine, theirs in zip(costs, best, strict=True)]
        error = statistics.stdev(apart) / len(apart) ** 0.5 if len(apart) > 1 else 0.0
        cells.append(f"{statistics.fmean(apart):+.2f} ± {error:.2f}")
    print("| regret | | | | | " + " | ".join(cells) + " |")
    for text, counted in zip(options.prices, taken, strict=True):
        print(f"{text}: " + ", ".join(f"{n} x {way}" for way, n in counted.most_common()))


if __name__ == "__main__":
    main()
