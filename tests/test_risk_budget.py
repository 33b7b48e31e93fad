"""The risk budget cannot be overspent."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import CertificateError
from ascertain.observer.risk_budget import RiskBudget, Share

RISKS = st.fractions(0, Fraction(1, 2))


@given(RISKS, st.lists(RISKS, max_size=5))
def test_shares_are_spent_exactly_while_they_fit_and_refused_as_soon_as_they_do_not(
    alpha: Fraction, amounts: list[Fraction]
) -> None:
    budget = RiskBudget(alpha)
    for i, amount in enumerate(amounts):
        if sum(amounts[: i + 1], Fraction(0)) > alpha:
            with pytest.raises(CertificateError, match="overspent"):
                budget.spend(f"s{i}", amount)
            return
        after = budget.spend(f"s{i}", amount)
        assert after.spent == budget.spent + amount
        assert after.left == alpha - after.spent
        assert after.amount(f"s{i}") == amount
        budget = after
    assert budget.spent <= alpha


def test_a_ledger_is_not_changed_by_what_is_spent_from_it() -> None:
    before = RiskBudget(Fraction(1, 10))
    after = before.spend("nominal", Fraction(1, 20))
    assert before.shares == ()
    assert after.shares == (Share("nominal", Fraction(1, 20)),)
    assert after.accept("nominal").accepted == "nominal"
    assert after.accepted is None


def test_half_of_alpha_and_a_hair_more_than_half_is_too_much() -> None:
    budget = RiskBudget(Fraction(1, 10)).spend("nominal", Fraction(1, 20))
    with pytest.raises(CertificateError, match=r"1/20 \(nominal\) .* more than alpha = 1/10"):
        budget.spend("fallback", Fraction(1, 20) + Fraction(1, 10**30))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: x.spend("nominal", Fraction(0)), "spent twice"),
        (lambda x: x.spend("other", Fraction(-1, 100)), "at least 0"),
        (lambda x: x.accept("fallback"), "'fallback', which was not spent"),
        (lambda x: x.accept("nominal").accept("nominal"), "one at most"),
        (lambda x: x.accept("nominal").spend("fallback", Fraction(1, 100)), "nothing is spent after it"),
        (lambda x: x.amount("fallback"), "no share is called 'fallback'"),
        (lambda _: RiskBudget(Fraction(1)), "a probability in"),
        (lambda _: RiskBudget(Fraction(1, 10), (Share("a", Fraction(1, 5)),)), "overspent"),
    ],
)
def test_what_a_ledger_refuses_it_refuses_with_a_sentence(spoil: object, message: str) -> None:
    budget = RiskBudget(Fraction(1, 10)).spend("nominal", Fraction(1, 20))
    with pytest.raises(CertificateError, match=message):
        spoil(budget)  # type: ignore[operator]
