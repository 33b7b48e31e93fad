"""The audit against exact enumeration, against direct counting, and against observers that break the rule."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import sqrt

import pytest

from ascertain.errors import TaskError
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Step
from ascertain.evidence.probing import FixedSchedule, Separating
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.policy.verdict import Certified, Verdict
from ascertain.task.bank import Bank, nominal_bank, uniform_bank
from ascertain_paper.importance_sampling import AuditedObserver, RuleObserver, audit
from tests.reference.auditing import count_wrong
from tests.reference.evidence import every_run

PLANT = BooleanPlant(
    ("b0", "b1"),
    (Command("look0", (), 0), Command("look1", (), 1), Command("copy", (Gate("copy", 1, (0,)),), 1)),
    Fraction(1, 5),
)
SCHEDULE = FixedSchedule((0, 1, 0, 1, 0, 1, 2))


def observers(bank: Bank, alpha: Fraction) -> Callable[[], AuditedObserver]:
    return lambda: RuleObserver(BooleanWorld(PLANT, bank, alpha), SCHEDULE)


def exact_rate(bank: Bank, alpha: Fraction, truth: int, budget: int) -> Fraction:
    """The probability of a wrong answer, by enumeration."""

    @cache
    def ends(history: tuple[Step, ...]) -> object:
        world = BooleanWorld(PLANT, bank, alpha)
        for step in history:
            world.observe(step.action, step.reading)
        return world.verdict()

    choose = lambda history: Step(SCHEDULE.actions[len(history) % 7], 0)  # noqa: E731
    runs = every_run(PLANT, truth, choose, ends, budget)
    wrong = [r for r in runs if isinstance(r.end, Certified) and r.end.label != PLANT.name_state(truth)]
    return sum((run.probability for run in wrong), Fraction(0))


@pytest.mark.parametrize("until", ["beaten", "answer"])
@pytest.mark.parametrize(
    ("bank", "truth"), [(nominal_bank(2), 0), (uniform_bank([1, 2]), 3), (uniform_bank([1, 2]), 2)]
)
def test_the_audit_agrees_with_enumeration(bank: Bank, truth: int, until: str) -> None:
    alpha, budget, runs = Fraction(1, 8), 9, 600
    rate = exact_rate(bank, alpha, truth, budget)
    found = audit(
        PLANT,
        truth,
        PLANT.name_state(truth),
        bank,
        alpha,
        observers(bank, alpha),
        num_runs=runs,
        budget=budget,
        seed=5,
        until=until,  # type: ignore[arg-type]
    )
    assert 0 < rate <= alpha
    error = float(found.largest) / sqrt(runs)
    assert abs(found.estimate - float(rate)) < 3 * error
    if until == "beaten":
        assert found.unearned == 0 and found.upper_limit(Fraction(1, 1000)) > float(rate)


def test_the_audit_agrees_with_direct_counting_at_one_in_a_hundred() -> None:
    alpha, budget, runs, bank = Fraction(1, 100), 16, 1500, nominal_bank(0)
    plant = BooleanPlant(("b0",), (Command("look", (), 0),), Fraction(1, 5))
    make = lambda: RuleObserver(BooleanWorld(plant, bank, alpha), FixedSchedule((0,)))  # noqa: E731
    found = audit(plant, 1, "1", bank, alpha, make, num_runs=200, budget=budget, seed=1)
    counted = count_wrong(plant, 1, "1", make, num_runs=runs, budget=budget, seed=2)
    spread = sqrt(max(counted, 1)) / runs + 0.01 / sqrt(200)
    assert counted > 0
    assert abs(found.estimate - counted / runs) < 3 * spread
    assert found.upper_limit(Fraction(1, 100)) < 2 * float(alpha)


def test_an_audit_reaches_risks_that_counting_never_would() -> None:
    alpha = Fraction(1, 4_000_000)
    plant = BooleanPlant(("b0", "b1", "b2"), tuple(Command(f"look{i}", (), i) for i in range(3)), Fraction(1, 50))
    bank = nominal_bank(5)
    make = lambda: RuleObserver(BooleanWorld(plant, bank, alpha), Separating(plant, (0, 1, 2), depth=1))  # noqa: E731
    found = audit(plant, 4, plant.name_state(4), bank, alpha, make, num_runs=40, budget=60, seed=9)
    assert found.num_wrong > 30 and found.unearned == 0
    assert 0 < found.estimate <= float(alpha)
    assert found.upper_limit(Fraction(1, 100)) < 1.3 * float(alpha)


class Hasty:
    """Answers the nominal after two readings, whatever they were."""

    def __init__(self) -> None:
        self.seen = 0

    def choose(self) -> int:
        return 0

    def observe(self, action: int, reading: int) -> None:
        self.seen += 1

    def verdict(self) -> Certified | None:
        return Certified("10") if self.seen == 2 else None


def test_an_observer_that_answers_before_it_has_earned_it_is_found_out() -> None:
    found = audit(PLANT, 0, "00", nominal_bank(2), Fraction(1, 100), Hasty, num_runs=50, budget=5, seed=0)
    assert found.unearned > 0 and found.upper_limit(Fraction(1, 100)) == float("inf")


def test_an_audit_is_repeated_bit_for_bit_by_its_seed() -> None:
    bank, alpha = uniform_bank([1, 2]), Fraction(1, 8)

    def run(seed: int) -> object:
        make = observers(bank, alpha)
        return audit(PLANT, 3, "11", bank, alpha, make, num_runs=30, budget=8, seed=seed)

    assert run(4) == run(4)
    assert run(4) != run(5)


def test_audits_that_cannot_be_drawn_are_refused() -> None:
    make = observers(nominal_bank(2), Fraction(1, 16))
    part = Bank((2,), (Fraction(1, 2),))
    with pytest.raises(TaskError, match="sum to 1"):
        audit(PLANT, 0, "00", part, Fraction(1, 16), make, num_runs=1, budget=1, seed=0)
    with pytest.raises(TaskError, match="at least one run"):
        audit(PLANT, 0, "00", nominal_bank(2), Fraction(1, 16), make, num_runs=0, budget=1, seed=0)
    found = audit(PLANT, 0, "00", nominal_bank(2), Fraction(1, 16), make, num_runs=1, budget=1, seed=0)
    with pytest.raises(TaskError, match="delta"):
        found.upper_limit(Fraction(0))


class Late:
    """Reads unscored until it has read a one, then scores a bank, led through what was done, on what comes after."""

    def __init__(self, bank: Bank, alpha: Fraction, *, hasty: bool = False) -> None:
        self.world = BooleanWorld(PLANT, bank, alpha)
        self.begun, self.hasty = False, hasty

    def choose(self) -> int:
        return SCHEDULE.choose(self.world)

    def observe(self, action: int, reading: int) -> None:
        self.world.observe(action, reading if self.begun else None)
        self.begun = self.begun or reading == 1

    def verdict(self) -> Verdict | None:
        if self.hasty and not self.begun and self.world.history:
            return Certified("10")
        return self.world.verdict() if self.begun else None


@pytest.mark.parametrize(("bank", "truth"), [(nominal_bank(2), 0), (uniform_bank([1, 2]), 3)])
def test_a_bank_that_is_scored_late_is_audited_as_enumeration_says(bank: Bank, truth: int) -> None:
    alpha, budget, runs, label = Fraction(1, 8), 9, 300, PLANT.name_state(truth)

    @cache
    def ends(history: tuple[Step, ...]) -> object:
        late = Late(bank, alpha)
        for step in history:
            assert step.reading is not None
            late.observe(step.action, step.reading)
        return late.verdict()

    choose = lambda history: Step(SCHEDULE.actions[len(history) % 7], 0)  # noqa: E731
    found = every_run(PLANT, truth, choose, ends, budget)
    wrong = [run for run in found if isinstance(run.end, Certified) and run.end.label != label]
    rate = sum((run.probability for run in wrong), Fraction(0))
    audited = audit(
        PLANT, truth, label, bank, alpha, lambda: Late(bank, alpha), num_runs=runs, budget=budget, seed=3,
        begins=lambda late: late.begun,
    )  # fmt: skip
    assert 0 < rate <= alpha and audited.unearned == 0
    assert abs(audited.estimate - float(rate)) < 3 * float(audited.largest) / sqrt(runs)


def test_answers_before_the_bank_is_scored_are_not_its_own() -> None:
    bank, alpha = nominal_bank(2), Fraction(1, 8)
    make = lambda: Late(bank, alpha, hasty=True)  # noqa: E731
    found = audit(PLANT, 0, "00", bank, alpha, make, num_runs=40, budget=9, seed=1, begins=lambda late: late.begun)
    assert found.unearned == 0 and found.num_wrong < 40
