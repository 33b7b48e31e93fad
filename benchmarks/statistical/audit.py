"""False acceptance measured two ways where both can be had, and by the audit alone where only it can.

    python benchmarks/statistical/audit.py [--counted 20000] [--audited 2000] [--testbed 50]

First a small plant at alpha = 1/100: the audit beside plain counting under the same truth. Then the testbed's plants at
alpha = 1/4,000,000, the world being all 16,777,216 states, for truths one bit away from the nominal.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction

from tests.reference.auditing import count_wrong

from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.probing import FixedSchedule, RoundRobin, round_robin
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.task.bank import Bank, nominal_bank, uniform_bank
from ascertain_paper.importance_sampling import Audit, RuleObserver, audit
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.testbed import load_testbed

DELTA = Fraction(1, 1000)


def compare_with_counting(counted: int, audited: int) -> None:
    """A plant of three bits with an irreversible command, several banks, several truths."""
    commands = (
        *(Command(f"look{i}", (), i) for i in range(3)),
        Command("mix", (Gate("cnot", 1, (0,)),), 1),
        Command("or", (Gate("or", 2, (1, 2)),), 2),
    )
    plant = BooleanPlant(("b0", "b1", "b2"), commands, Fraction(1, 10))
    alpha, budget = Fraction(1, 100), 24
    schedule = FixedSchedule((0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4))
    print(f"alpha = 1/100: {counted} runs counted, {audited} audited, limits at confidence 999/1000")
    for bank, truths in ((nominal_bank(5), (4, 1, 7)), (uniform_bank([5, 2]), (4, 7))):
        for truth in truths:
            label = plant.name_state(truth)

            def make(bank: Bank = bank) -> RuleObserver:
                return RuleObserver(BooleanWorld(plant, bank, alpha), schedule)

            found = audit(plant, truth, label, bank, alpha, make, num_runs=audited, budget=budget, seed=truth)
            wrong = count_wrong(plant, truth, label, make, num_runs=counted, budget=budget, seed=100 + truth)
            error = math.sqrt(max(wrong, 1)) / counted
            print(
                f"  bank {bank.states}, truth {truth}: counted {wrong / counted:.5f} ± {error:.5f}, "
                f"audited {found.estimate:.5f}, at most {found.upper_limit(DELTA):.5f}, unearned {found.unearned}"
            )
            assert abs(wrong / counted - found.estimate) < 4 * error + 4 * float(alpha) / math.sqrt(audited)
            assert found.unearned == 0


def audit_testbed(runs: int) -> None:
    """Every truth one bit away from the nominal, on both plants; the worst is reported."""
    testbed, alpha = load_testbed(), Fraction(1, 4_000_000)
    print(f"alpha = 1/4,000,000, all 2^24 states, {runs} runs for each of 24 truths")
    for number, drawn in enumerate(testbed.plants):
        plant, rule = drawn.plant, round_robin(drawn.plant, tuple(drawn.probing))
        nominal = testbed.draw(Slot("audit", number, 0, 0, active=False)).nominal_endpoint
        bank = nominal_bank(nominal)

        def make(plant: BooleanPlant = plant, bank: Bank = bank, rule: RoundRobin = rule) -> RuleObserver:
            return RuleObserver(BooleanWorld(plant, bank, alpha), rule)

        found: dict[int, Audit] = {}
        for bit in range(plant.num_bits):
            truth = nominal ^ 1 << bit
            label = plant.name_state(truth)
            found[bit] = audit(plant, truth, label, bank, alpha, make, num_runs=runs, budget=600, seed=bit)
        worst = max(found, key=lambda bit: found[bit].estimate)
        ratios = [result.estimate / float(alpha) for result in found.values()]
        print(
            f"  {drawn.name}: {sum(r.num_wrong for r in found.values())} wrong in the changed measure; estimates "
            f"from {min(ratios):.3f} to {max(ratios):.3f} alpha, the largest for bit {worst}, where the limit is "
            f"{found[worst].upper_limit(DELTA) / float(alpha):.3f} alpha"
        )
        assert all(r.unearned == 0 and r.estimate <= float(alpha) for r in found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counted", type=int, default=20_000)
    parser.add_argument("--audited", type=int, default=2_000)
    parser.add_argument("--testbed", type=int, default=50)
    options = parser.parse_args()
    compare_with_counting(options.counted, options.audited)
    audit_testbed(options.testbed)


if __name__ == "__main__":
    main()
