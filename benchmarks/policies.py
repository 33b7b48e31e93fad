"""What each policy of the observer takes on testbed operations: readings, model steps, and both together at a price.

    python benchmarks/policies.py [--operations 24] [--first 0] [--probing separating] [--prices 0 1/1000000 1/10000]

Operations are drawn anew, every second one active; all policies meet the same operations and the same noise, with the
whole bank, compiled by merging. "model steps" are those of compiling and of scoring candidates. The last columns are
the generalised cost, readings plus the price of a model step times their number, for each of the prices.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace
from fractions import Fraction

from ascertain.observer.banks import OperationBank
from ascertain.observer.settings import POLICIES, ObserverSettings
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.policy.verdict import Certified
from ascertain_paper.studies.observing import pose_endpoint
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.testbed import Testbed, load_testbed

ALPHA = Fraction(1, 4_000_000)


def run(testbed: Testbed, slot: Slot, settings: ObserverSettings, make_bank: OperationBank) -> Observer:
    """One policy on one operation."""
    operation = testbed.draw(slot)
    noise, state = testbed.stream(operation).noise, operation.true_endpoint
    settings = replace(settings, nominal=operation.nominal_endpoint)
    observer = start_observer(settings, make_bank)
    t = 0
    while isinstance(act := observer.next(), Act):
        state, tapped = settings.model.step(state, act.action)  # pyright: ignore[reportAttributeAccessIssue]
        observer = observer.update(act.action, tapped ^ int(noise[t]))
        t += 1
    label = settings.question.model.name_state(operation.true_endpoint)
    assert observer.verdict == Certified(label), observer.verdict
    return observer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="the number of the first operation")
    parser.add_argument("--probing", default="separating")
    parser.add_argument(
        "--prices", nargs="+", type=Fraction, default=[Fraction(0), Fraction(1, 10**6), Fraction(1, 10**5)]
    )
    options = parser.parse_args()
    testbed = load_testbed()
    numbers = range(options.first, options.first + options.operations)
    slots = [
        Slot("policies", i % 2, i // 4 % len(testbed.settings.families), i, active=i // 2 % 2 == 0) for i in numbers
    ]
    print(
        "policy        readings  compile steps  scoring steps  " + "  ".join(f"at {price}" for price in options.prices)
    )
    for policy in POLICIES:
        found: list[Observer] = []
        for slot in slots:
            question = pose_endpoint(testbed, slot.plant)
            settings = ObserverSettings(
                question=question, alpha=ALPHA, nominal=0, policy=policy, probing=options.probing
            )
            make_bank = OperationBank(testbed.logged(testbed.draw(slot)), in_parts=policy == "incremental")
            found.append(run(testbed, slot, settings, make_bank))
        counters = [observer.counters for observer in found]
        mean = [
            statistics.fmean(number)
            for number in (
                [c.readings for c in counters],
                [c.compile_steps for c in counters],
                [c.model_steps - c.compile_steps for c in counters],
            )
        ]
        costs = [statistics.fmean(float(c.generalised_cost(model_step=p)) for c in counters) for p in options.prices]
        row = f"{policy:12} {mean[0]:9.2f} {mean[1]:14,.0f} {mean[2]:14,.0f}  "
        print(row + "  ".join(f"{cost:10.2f}" for cost in costs), flush=True)


if __name__ == "__main__":
    main()
