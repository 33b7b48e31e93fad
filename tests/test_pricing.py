"""The policy that is expected to cost least, where computation has a price."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bank.compile import compile_bank
from ascertain.bank.operation import Operation
from ascertain.observer.banks import OperationBank
from ascertain.observer.pricing import PolicyChoice, _Plan, choose_policy  # pyright: ignore[reportPrivateUsage]
from ascertain.observer.settings import POLICIES, ObserverSettings
from ascertain.pipeline.moments import Moment
from ascertain.pipeline.observe import observe
from ascertain.policy.verdict import Certified
from ascertain.problem.observer import pose_observer
from ascertain.problem.problem import read_problem
from ascertain_paper.studies.observing import pose_endpoint
from ascertain_paper.testbed.testbed import load_testbed
from tests.journal_runs import PowerCut, without_times
from tests.reference.pricing import contradicted_often

EXAMPLES = Path(__file__).parent.parent / "examples" / "operation"


def posed(number: int, alpha: Fraction = Fraction(1, 1000)) -> tuple[ObserverSettings, Operation]:
    """An observer of the small testbed and the operation that went before."""
    testbed = load_testbed("small")
    slot = list(testbed.block_slots("pricing", 0))[number]
    drawn = testbed.draw(slot)
    question = pose_endpoint(testbed, slot.plant)
    return ObserverSettings(question=question, alpha=alpha, nominal=drawn.nominal_endpoint), testbed.logged(drawn)


def choose(number: int, price: Fraction, probability: Fraction | None = None) -> PolicyChoice:
    options, operation = posed(number)
    choice = choose_policy(options, operation, {"model_step": price}, probability=probability)
    assert choice is not None
    return choice


def plan(**changed: float) -> _Plan:
    plain = _Plan(
        rivals=1000.0,
        errors=0.02,
        nats=3.9,
        num_readings=2,
        alpha=1e-4,
        probability=Fraction(1, 2),
        compile_steps=1e5,
        candidates=100.0,
        action_cost=1.0,
        most=600,
        prices={},
        spent=0,
    )
    return replace(plain, **changed)


@pytest.mark.parametrize(("rivals", "alpha", "errors"), [*product((1, 3, 40), (0.1, 0.01), (0.0, 0.02, 0.2))])
def test_readings_are_those_of_a_random_code(rivals: float, alpha: float, errors: float) -> None:
    """Beside a twin that looks at every pattern of contradicted readings."""
    found = plan(rivals=rivals, alpha=alpha, errors=errors, nats=3.0, most=11).certify(0.5)
    assert found == pytest.approx(contradicted_often(rivals, alpha * 0.5, errors, 3.0, 11))


def test_waiting_is_longer_the_larger_lambda_and_never_endless() -> None:
    waits = [plan().wait(threshold) for threshold in (0, 3, 100, 1000)]
    assert waits == sorted(waits)
    assert plan(errors=0.0).wait(100) == 4
    assert plan(errors=0.49, nats=0.04).wait(100) < 600 * 10


@given(st.integers(0, 15), st.lists(st.fractions(0, 1, max_denominator=10**6), min_size=2, max_size=4))
@settings(max_examples=15, deadline=None)
def test_the_dearer_a_model_step_the_fewer_are_expected(number: int, prices: list[Fraction]) -> None:
    """What minimises a sum has no more of a part whose price rises; and the policies are all there, best first."""
    steps = list[float]()
    for price in sorted(prices):
        choice = choose(number % len(list(load_testbed("small").block_slots("pricing", 0))), price)
        steps.append(choice.best.model_steps)
        assert sorted(each.policy for each in choice.estimates) == sorted(POLICIES)
        costs = [each.cost for each in choice.estimates]
        assert costs == sorted(costs)
        assert choice.best.cost == pytest.approx(choice.best.readings + float(price) * choice.best.model_steps)
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(steps))


def test_a_free_compile_is_done_at_once_and_a_dear_one_is_put_off() -> None:
    assert choose(0, Fraction(0), Fraction(1, 1000)).best.policy == "eager"
    dear = choose(0, Fraction(1)).best
    assert dear.policy in ("reuse", "incremental")
    cheap = [e for e in choose(0, Fraction(1, 10**9)).estimates if e.policy == dear.policy]
    assert dear.threshold > cheap[0].threshold


def test_the_steps_of_compiling_are_foreseen_within_a_small_factor() -> None:
    for number in range(6):
        options, operation = posed(number)
        choice = choose_policy(options, operation, {})
        assert choice is not None
        steps = compile_bank(operation).stats.model_steps
        assert steps / 4 < choice.compile_steps < 4 * steps
        assert 0 < choice.model_steps < steps


def test_a_nominal_that_contradicts_what_is_trusted_is_thought_unlikely() -> None:
    options, operation = posed(0)
    sure = compile_bank(replace(operation, max_replaced=0)).score[0][0] == 0
    trusting = replace(operation, trusted=operation.trusted & False)
    found = [choose_policy(options, each, {}) for each in (operation, trusting)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].probability == (Fraction(1, 2) if sure else Fraction(1, 8))
    assert found[1].probability == Fraction(1, 2)
    declared = choose_policy(options, operation, {}, probability=Fraction(9, 10))
    assert declared is not None
    assert declared.probability == Fraction(9, 10)


def test_where_nothing_can_be_compared_nothing_is_chosen() -> None:
    options, operation = posed(0)
    assert choose_policy(replace(options, nominal=None, policy="eager"), operation, {}) is None
    assert choose_policy(replace(options, alpha=Fraction(0)), operation, {}) is None


def priced(tmp_path: Path, cost: str, observing: str = "") -> Path:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    text = (EXAMPLES / "press.toml").read_text(encoding="utf-8")
    path = tmp_path / "priced.toml"
    path.write_text(f"{text}\n[cost]\n{cost}\n[observe]\n{observing}\n", encoding="utf-8")
    return path


def test_observe_says_what_it_chose_and_pays_for_choosing(tmp_path: Path) -> None:
    path, told = priced(tmp_path, "model_step = '1/100'"), list[str]()
    found = observe(path, "simulated:3", note=told.append, certificate=tmp_path / "c.json")
    assert isinstance(found.run.verdict, Certified)
    assert found.certificate == "VERIFIED"
    assert found.choice is not None
    used, best = found.run.observer.settings, found.choice.best
    assert isinstance(used, ObserverSettings)
    assert (used.policy, used.threshold, used.nominal_share) == (best.policy, best.threshold, best.nominal_share)
    assert any(f"the policy {best.policy}" in line for line in told)
    facts = json.loads(json.dumps(found.facts()))["choice"]
    assert facts["estimates"][0]["policy"] == best.policy
    counters = found.run.observer.counters
    assert found.generalised_cost == counters.cost + Fraction(counters.model_steps + found.choice.model_steps, 100)


def test_the_choice_is_made_before_the_first_reading_and_a_resumed_run_makes_it_again(tmp_path: Path) -> None:
    path = priced(tmp_path, "model_step = '1/100'")
    begun = set[str]()
    for seed in range(2):
        whole, cut = tmp_path / f"{seed}.journal", tmp_path / f"{seed}.cut"
        found = observe(path, f"simulated:{seed}", probing="separating", journal=whole)

        def break_off(moment: Moment) -> None:
            if moment.view.readings == 2:
                raise PowerCut

        with pytest.raises(PowerCut):
            observe(path, f"simulated:{seed}", probing="separating", journal=cut, watch=break_off)
        again = observe(path, f"simulated:{seed}", probing="separating", journal=cut, resume=True)
        assert again.run.verdict == found.run.verdict
        records = without_times(whole)
        assert without_times(cut) == records
        begun.add(json.dumps(records[0], sort_keys=True))
    assert len(begun) == 1  # whatever was read


def test_what_is_named_is_not_chosen(tmp_path: Path) -> None:
    assert observe(priced(tmp_path, "model_step = 1"), "simulated:1", dry_run=True, policy="staged").choice is None
    assert observe(priced(tmp_path, "model_step = 1", "policy = 'eager'"), "simulated:1", dry_run=True).choice is None
    assert observe(EXAMPLES / "press.toml", "simulated:1", dry_run=True).choice is None
    partly = observe(
        priced(tmp_path, "model_step = 1", "threshold = 7\nnominal_share = '1/3'"), "simulated:1", dry_run=True
    ).choice
    assert partly is not None
    assert {each.threshold for each in partly.estimates if each.policy in ("reuse", "readwise")} == {Fraction(7)}
    assert {each.nominal_share for each in partly.estimates if each.policy != "eager"} == {Fraction(1, 3)}


def test_a_bank_that_is_taken_in_parts_keeps_what_it_was_told() -> None:
    operation = posed(0)[1]
    for bank in (OperationBank(operation), OperationBank(operation, "direct"), OperationBank(operation, shells=3)):
        parts = bank.with_parts(True)
        assert parts.kept == bank.kept
        assert parts.with_parts(False).bank_data() == bank.bank_data()
        assert parts.bank_data() != bank.bank_data()


def test_without_prices_the_policy_is_readwise(tmp_path: Path) -> None:
    options, _ = pose_observer(read_problem(EXAMPLES / "press.toml"))
    plain = ("readwise", Fraction(100), Fraction(1, 2))
    assert (options.policy, options.threshold, options.nominal_share) == plain
