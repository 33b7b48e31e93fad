"""Claims by prices and by openings: what is proved is verified; whatever is verified after spoiling is still true."""

from __future__ import annotations

import copy
from collections import Counter
from fractions import Fraction as F
from itertools import islice
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.certificate.claims.openings import openings_claim
from ascertain.certificate.claims.prices import prices_claim
from ascertain.errors import LimitError
from ascertain.model import NoisyMachine
from ascertain.pipeline.certify import certify
from ascertain.planning.branch_and_bound import bound_by_branching
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import bound_by_column_generation, find_best_mixture
from ascertain.planning.multipliers import Multipliers
from ascertain.planning.opening_cases import prove_openings
from ascertain.planning.price_rows import PriceRows, build_graph, prove_prices, simplest_between
from ascertain.problem.pose import pose
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.quotient import take_quotient
from ascertain.task.task import Task
from ascertain.types import UNDEFINED
from tests.reference.enumerated import cheapest
from tests.reference.prices import SPOILERS, Claim, find_false_row, is_false
from tests.reference.registers import sensor_bank
from tests.reference.spoilers import spoil_everywhere
from tests.strategies import noisy_machines, tasks
from tests.test_branch_and_bound import lamp

SMALL = SearchLimits(max_nodes=400, max_bound_nodes=400, max_work=20_000)
ALPHA, BETA = F(1, 20), F(1, 4)
HORIZON = 3
"""Actions of the policies that claims are held against: enough for those that are best at such risks, or nearly."""
tiny = noisy_machines(max_states=3, max_actions=2, max_readings=2, max_laws=3)


def verdict(task: Task, claim: Claim) -> str:
    return certify(task, [claim])[1].word


def claim_prices(task: Task, alpha: F = ALPHA, beta: F = BETA) -> Claim | None:
    """The claim of column generation, where the question leads to few information states."""
    quotient = take_quotient(task)
    try:
        found = bound_by_column_generation(quotient.reduced, alpha, beta, SMALL)
    except LimitError:
        return None
    assert found.multipliers is not None
    cost, proof = prove_prices(quotient.reduced, alpha, beta, found.multipliers)
    # Rounding and slack take a little; more than a thousandth would be a mistake.
    assert found.lower is not None
    assert F(998, 1000) * found.lower - F(1, 10**6) <= cost <= found.lower * F(1001, 1000) + F(1, 10**6)
    return prices_claim(quotient, alpha, beta, cost, proof) if cost else None


def claim_openings(task: Task, alpha: F = ALPHA, beta: F = BETA, branches: int = 3) -> Claim | None:
    quotient = take_quotient(task)
    try:
        program, mixture = find_best_mixture(quotient.reduced, alpha, beta, SMALL, "named", SMALL.max_nodes)
    except LimitError:
        return None
    branching = bound_by_branching(program, mixture, branches=branches, rounds=5)
    if branching.symmetric:
        return None
    try:
        proof = prove_openings(quotient.reduced, alpha, beta, branching)
    except LimitError:  # more rows than a certificate may have
        return None
    assert F(998, 1000) * branching.lower - F(1, 10**6) <= proof.lower
    return openings_claim(quotient, alpha, beta, proof) if proof.lower else None


questions = tasks(tiny, about="start", max_hypotheses=3, max_labels=2, shared_states=False)


@settings(max_examples=25)
@given(questions)
def test_what_prices_prove_is_verified_and_no_policy_undercuts_a_row(task: Task) -> None:
    claim = claim_prices(task)
    if claim is None:
        return
    assert verdict(task, claim) == "VERIFIED"
    assert find_false_row(task, claim["proof"], claim["block"], HORIZON) is None
    assert not is_false(task, claim, HORIZON)
    best = cheapest(task, ALPHA, BETA, 2)
    assert best is None or F(claim["cost"]) <= best


@settings(max_examples=15)
@given(questions)
def test_what_openings_prove_is_verified_and_no_policy_is_cheaper(task: Task) -> None:
    claim = claim_openings(task)
    if claim is None:
        return
    assert verdict(task, claim) == "VERIFIED"
    best = cheapest(task, ALPHA, BETA, 2)
    assert best is None or F(claim["cost"]) <= best


@settings(max_examples=25)
@given(questions, st.randoms(use_true_random=False))
def test_any_prices_prove_something_true(task: Task, rng: Random) -> None:
    quotient = take_quotient(task)
    reduced = quotient.reduced
    start = np.array([rng.uniform(0.1, 1) for _ in reduced.state])
    multipliers = Multipliers.uniform(start, rng.uniform(0, 30), rng.uniform(0, 30))
    try:
        graph = build_graph(reduced, ALPHA, multipliers)
        proof = PriceRows(graph, ALPHA, BETA, multipliers).prove({0}, (1e-6, 1e-4, 1e-2))
    except LimitError:
        return
    cost = proof.conclude(proof.worth(proof.vector((c, F(1)) for c in reduced.state.tolist()), 0), ALPHA, BETA)
    claim = prices_claim(quotient, ALPHA, BETA, cost, proof)
    if cost == 0:  # prices may prove less than nothing
        return
    assert verdict(task, claim) == "VERIFIED"
    assert find_false_row(task, claim["proof"], claim["block"], HORIZON) is None


def random_question(rng: Random) -> Task:
    """Two or three states, all of them hypotheses, that one or two actions tell apart, somehow; some are forbidden."""
    n, num_actions = rng.choice((2, 2, 3)), rng.choice((1, 2))
    laws = tuple(((0, p), (1, 1 - p)) for p in (F(1, 10), F(9, 10), F(1, 2)))
    stays = [[s if rng.random() < 0.7 else rng.randrange(n) for _ in range(num_actions)] for s in range(n)]
    idle = [rng.random() < 0.2 for _ in range(num_actions)]
    law = [
        [2 if idle[a] else rng.choice((s % 2, s % 2, rng.randrange(2))) for a in range(num_actions)] for s in range(n)
    ]
    holes = [[a > 0 and rng.random() < 0.15 for a in range(num_actions)] for _ in range(n)]
    model = NoisyMachine(
        states=tuple(f"s{s}" for s in range(n)),
        actions=tuple(f"a{a}" for a in range(num_actions)),
        readings=("0", "1"),
        successor=np.where(holes, UNDEFINED, np.array(stays)).astype(np.int32),
        law=np.where(holes, UNDEFINED, np.array(law)).astype(np.int32),
        laws=laws,
    )
    label = rng.choice(([0, 1, 0], [0, 1, 1], [0, 1, 2]))[:n]
    return Task(
        model=model,
        state=np.arange(n, dtype=np.int32),
        label=np.array(label, dtype=np.int32),
        labels=tuple("xyz"[: max(label) + 1]),
        cost=tuple(F(rng.choice((1, 2, 3)), rng.choice((1, 2))) for _ in range(num_actions)),
    )


def campaign(seeds: range, cases: int) -> Counter[str]:
    """Spoilt claims of random tasks: whatever is verified is held against policies of a few actions."""
    count: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(seed)
        task = random_question(rng)
        if find_obstruction(task) is not None:  # nothing to prove by prices
            continue
        claims = [claim for claim in (claim_prices(task), claim_openings(task)) if claim is not None]
        best = cheapest(task, ALPHA, BETA, 2)
        for case in range(cases if claims else 0):
            claim = copy.deepcopy(rng.choice(claims))
            for _ in range(rng.choice((1, 1, 2))):
                rng.choice(SPOILERS)(rng, claim)
            count[f"{claim['claim']} {judge(task, claim, best, (seed, case))}"] += 1
    return count


def judge(task: Task, claim: Claim, best: F | None, where: object) -> str:
    """What the checker says; fails where it verifies what policies of a few actions refute."""
    word = verdict(task, claim)
    if word == "VERIFIED":
        claim = {"block": list(range(task.model.num_states)), **claim}  # it may be left out
        proofs = [claim["proof"]] if claim["claim"] == "prices" else claim["proofs"]
        for proof in proofs:
            assert find_false_row(task, proof, claim["block"], 2) is None, where
        assert claim["claim"] == "openings" or not is_false(task, claim, HORIZON), where
        same = (claim["alpha"], claim["beta"]) == (str(ALPHA), str(BETA))
        assert best is None or not same or F(claim["cost"]) <= best, where
    return word


def spoil_all_places(seeds: range, every: int = 1) -> Counter[str]:
    """Claims of which every place was changed in turn, or of these changes every so many."""
    count: Counter[str] = Counter()
    for seed in seeds:
        task = random_question(Random(seed))
        if find_obstruction(task) is not None:
            continue
        best = cheapest(task, ALPHA, BETA, 2)
        for claim in (claim_prices(task), claim_openings(task)):
            for place, spoilt in enumerate([] if claim is None else islice(spoil_everywhere(claim), 0, None, every)):
                count[f"{claim['claim']} {judge(task, spoilt, best, (seed, place))}"] += 1  # type: ignore[index]
    return count


def test_nothing_false_is_verified_whichever_place_is_changed() -> None:
    count = spoil_all_places(range(3), 7)
    assert all(count[f"{kind} {word}"] for kind in ("prices", "openings") for word in ("REFUTED", "MALFORMED")), count


@pytest.mark.slow
def test_nothing_false_is_verified_whichever_place_is_changed_of_many() -> None:
    spoil_all_places(range(1000, 1100))


def test_nothing_false_is_verified_among_spoilt_claims() -> None:
    count = campaign(range(16), 60)
    for kind in ("prices", "openings"):
        assert count[f"{kind} VERIFIED"] > 20, count
        assert count[f"{kind} REFUTED"] > 60, count


@pytest.mark.slow
def test_nothing_false_is_verified_among_thousands_of_spoilt_claims() -> None:
    count = campaign(range(1000, 2000), 60)
    assert min(count[f"{kind} VERIFIED"] for kind in ("prices", "openings")) > 500, count


def test_openings_prove_more_than_prices_where_a_mixture_is_cheaper_than_any_policy() -> None:
    task, alpha, beta = lamp(F(1, 10)), F(1, 50), F(1, 7)
    prices, openings = claim_prices(task, alpha, beta), claim_openings(task, alpha, beta, branches=4)
    assert prices is not None
    assert openings is not None
    assert verdict(task, prices) == verdict(task, openings) == "VERIFIED"
    assert F(prices["cost"]) < F(openings["cost"])
    best = cheapest(task, alpha, beta, 3)
    assert best is not None
    assert F(openings["cost"]) <= best


def test_a_coin_that_may_be_tossed_is_a_case_of_its_own() -> None:
    task = lamp(F(1, 10), F(1, 2), costs=(1, 1))
    claim = claim_openings(task, F(1, 50), F(1, 50))
    assert claim is not None
    assert set(claim["nodes"][0]["ask"]) == {"0", "1"}
    assert verdict(task, claim) == "VERIFIED"
    without = copy.deepcopy(claim)
    del without["nodes"][0]["ask"]["1"]
    assert verdict(task, without) == "REFUTED"


def test_rows_name_each_other_in_circles() -> None:
    claim = claim_prices(lamp(F(1, 10)), F(1, 50), F(1, 50))
    assert claim is not None
    rows = claim["proof"]["rows"]
    named = {i: {t for move in row["moves"].values() for t in move.values()} for i, row in enumerate(rows)}
    assert any(i in named[j] for i in named for j in named[i])


def test_few_rows_are_left_after_trimming() -> None:
    claim = claim_prices(pose(sensor_bank(3), flip=F(1, 10)), F(1, 50), F(1, 50))
    assert claim is not None
    assert 5 <= len(claim["proof"]["rows"]) <= 60


def test_a_fraction_between_two_numbers_has_the_least_denominator() -> None:
    rng = Random(3)
    for _ in range(200):
        low = F(rng.randint(1, 500), rng.randint(1, 500))
        high = low + F(rng.randint(0, 50), rng.randint(1, 500))
        found = simplest_between(low, high)
        assert low <= found <= high
        assert all(-(-low * q // 1) > high * q for q in range(1, found.denominator))
