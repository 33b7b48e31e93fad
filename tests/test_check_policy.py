"""The claim of risks and cost: what is true is verified, and whatever is verified is true by brute force."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.certificate.claims import within_risk
from ascertain.certificate.claims.within_risk import within_risk_claim
from ascertain.errors import CertificateError, TaskError
from ascertain.pipeline.certify import certify
from ascertain.policy.absorption import find_fates, solve_exactly
from ascertain.policy.automaton import NOWHERE, PolicyTable
from ascertain.policy.chain import follow
from ascertain.policy.evaluate import evaluate
from ascertain.policy.product import Factor, Product
from ascertain.task.task import Task
from ascertain_check.claims import within_risk as checker
from ascertain_check.task import read_task
from tests.reference.transcripts import Forbidden, count_visits, whole_task
from tests.strategies import models, tasks
from tests.test_checker_campaign import random_noise, random_task
from tests.test_evaluate import bit, drawn, stepping, tables

Claim = dict[str, Any]
LITTLE = Fraction(1, 10**60)


def verdict(task: Task, *claims: Claim) -> str:
    return str(certify(task, claims)[1])


def judge(task: Task, claim: Claim) -> bool:
    """Whether the policy of a claim does what the claim says, from expected visits."""
    nodes = claim["policy"]["nodes"]
    policy = PolicyTable(
        action=tuple(node.get("ask", NOWHERE) for node in nodes),
        label=tuple(NOWHERE if node.get("answer") is None else node["answer"] for node in nodes),
        children=tuple({int(y): child for y, child in node.get("next", {}).items()} for node in nodes),
    )
    try:
        found = [count_visits(task, policy, h) for h in range(task.num_hypotheses)]
    except Forbidden:
        return False
    alpha, beta, limit = (Fraction(claim[key]) for key in ("alpha", "beta", "cost"))
    return all(w <= alpha and b <= beta and c is not None and c <= limit for w, b, c in found)


@given(st.data())
def test_what_a_policy_achieves_is_certified_and_nothing_less_is(data: st.DataObject) -> None:
    task, policy = drawn(
        data, loops=data.draw(st.booleans()), model=models(max_states=3, max_readings=2, partial=False)
    )
    exact = data.draw(st.sampled_from([None, True, False]))
    if evaluate(task, policy).cost is None:
        with pytest.raises(CertificateError, match="for ever"):
            within_risk_claim(task, policy, exact=exact)
        return
    claim = within_risk_claim(task, policy, exact=exact)
    assert verdict(task, claim) == "VERIFIED"
    assert judge(task, claim)
    for key in ("alpha", "beta", "cost"):
        if claim[key] != "0":
            less = claim | {key: str(Fraction(claim[key]) * (1 - LITTLE))}
            assert verdict(task, less).startswith("REFUTED: hypothesis")


@given(st.data())
def test_of_a_policy_that_never_goes_back_the_checker_verifies_exactly_what_is_true(data: st.DataObject) -> None:
    task = data.draw(tasks(models(max_states=3, max_actions=2, max_readings=2), max_hypotheses=3))
    policy = data.draw(tables(task, loops=False))
    limits = {key: str(data.draw(st.sampled_from([Fraction(n, 6) for n in range(19)]))) for key in ("alpha", "beta")}
    claim = {"claim": "within-risk", **limits, "cost": str(data.draw(st.integers(0, 6))), "policy": plain(policy)}
    assert (verdict(task, claim) == "VERIFIED") == judge(task, claim)


def plain(policy: PolicyTable) -> Claim:
    nodes = []
    for v in range(policy.size):
        if policy.action[v] != NOWHERE:
            nodes.append({"ask": policy.action[v], "next": {str(y): c for y, c in policy.children[v].items()}})
        else:
            nodes.append({"answer": None if policy.label[v] == NOWHERE else policy.label[v]})
    return {"nodes": nodes}


def random_policy(rng: Random, task: Task) -> PolicyTable:
    size, loops = rng.randint(1, 4), rng.random() < 0.6
    asks = [rng.random() < 0.7 and (loops or v + 1 < size) for v in range(size)]
    return PolicyTable(
        action=tuple(rng.randrange(task.model.num_actions) if a else NOWHERE for a in asks),
        label=tuple(NOWHERE if a else rng.randint(-1, len(task.labels) - 1) for a in asks),
        children=tuple(
            {
                y: rng.randint(0 if loops else v + 1, size - 1)
                for y in range(len(task.model.readings))
                if rng.random() < 0.9
            }
            if a
            else {}
            for v, a in enumerate(asks)
        ),
    )


def spoil(rng: Random, claim: Claim) -> None:
    """One small lie."""
    key = rng.choice(["alpha", "beta", "cost", "node", "value", "value", "values"])
    if key in ("alpha", "beta", "cost"):
        claim[key] = str(Fraction(claim[key]) * Fraction(rng.choice([0, 1, 8, 9, 11]), 10))
    elif key == "node":
        node = rng.choice(claim["policy"]["nodes"])
        if "answer" in node:
            node["answer"] = rng.choice([None, 0, 1])
        elif node["next"]:
            node["next"][rng.choice(sorted(node["next"]))] = rng.randrange(len(claim["policy"]["nodes"]))
    elif claim.get("values"):
        rows = claim["values"] if key == "values" else [rng.choice(claim["values"])]
        column, factor = rng.randint(3, 5), Fraction(rng.choice([0, 5, 9, 11, 20]), 10)
        for row in rows:
            row[column] = str(Fraction(row[column]) * factor)


def true_claim(rng: Random) -> tuple[Task, Claim]:
    while True:
        task = random_task(rng)
        if task.model.kind == "machine" and rng.random() < 0.8:
            task = replace(task, model=random_noise(rng, task.model))  # type: ignore[arg-type]
        try:
            return task, within_risk_claim(task, random_policy(rng, task), exact=rng.choice([True, False]))
        except (CertificateError, TaskError):
            continue  # it may go on for ever, or asks what is forbidden


def run_campaign(seed: int, num_bases: int, cases: int) -> Counter[tuple[bool, str]]:
    count: Counter[tuple[bool, str]] = Counter()
    for base in range(num_bases):
        rng = Random(f"{seed} {base}")
        task, claim = true_claim(rng)
        for _ in range(cases):
            spoilt = copy.deepcopy(claim)
            for _ in range(rng.randint(0, 3)):
                spoil(rng, spoilt)
            word = verdict(task, spoilt).partition(":")[0]
            if word == "VERIFIED":
                assert judge(task, spoilt), (seed, base, json.dumps(spoilt))
            elif word == "REFUTED" and "values" not in spoilt:
                assert not judge(task, spoilt), (seed, base, json.dumps(spoilt))
            count["values" in spoilt, word] += 1
    return count


def check_balance(count: Counter[tuple[bool, str]]) -> None:
    for listed in (False, True):
        assert count[listed, "VERIFIED"] > 50
        assert count[listed, "REFUTED"] > 50


def test_nothing_false_is_verified_among_spoilt_claims() -> None:
    check_balance(run_campaign(0, 60, 25))


@pytest.mark.slow
def test_nothing_false_is_verified_among_a_hundred_thousand_spoilt_claims() -> None:
    count = run_campaign(1, 2_000, 50)
    print(count)
    check_balance(count)


def test_a_walk_until_sure_is_certified_by_its_values() -> None:
    for exact in (True, False):
        claim = within_risk_claim(bit(), stepping(8, 8), exact=exact)
        assert verdict(bit(), claim) == "VERIFIED"
        assert len(claim["values"]) == 2 * 15
        assert 0 <= Fraction(claim["alpha"]) - Fraction(1, 1 + 9**8) < Fraction(1, 10**40)


def test_numbers_that_would_be_too_long_to_write_are_rounded_up_and_still_prove_the_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(within_risk, "MAX_BITS", 40)
    policy = stepping(4, 4, 30)
    claim = within_risk_claim(bit(), policy, exact=True)
    assert "values" in claim
    assert verdict(bit(), claim) == "VERIFIED"
    assert 0 < Fraction(claim["alpha"]) - evaluate(bit(), policy).alpha < Fraction(1, 10**38)


def test_the_checker_does_not_follow_numbers_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = within_risk_claim(bit(), stepping(4, 4, 8))
    chain = follow(bit(), stepping(4, 4, 8))
    values = solve_exactly(chain, find_fates(chain))
    longest = max(x.denominator.bit_length() for triple in values for x in triple)
    monkeypatch.setattr(checker, "MAX_BITS", longest)
    assert verdict(bit(), claim) == "VERIFIED"
    monkeypatch.setattr(checker, "MAX_BITS", longest - 1)
    assert f"longer than {longest - 1} bits; such a claim needs values" in verdict(bit(), claim)


def test_a_product_of_tests_is_certified_on_the_whole() -> None:
    test = stepping(2, 2)
    whole = Product(tuple(Factor(bit(), test, (i,), (0, 1)) for i in range(3)))
    task = whole_task(whole)
    claim = within_risk_claim(task, whole)
    assert verdict(task, claim) == "VERIFIED"
    assert Fraction(claim["alpha"]) == 1 - (1 - Fraction(1, 82)) ** 3


def bounded(laws: list[Any], **bound: Any) -> dict[str, Any]:
    """A task of two states that nothing leaves; the second action reads the same in both."""
    return {
        "format": "ascertain-task", "version": 1, "hypotheses": [[0, 0], [1, 1]], "labels": ["s", "t"],
        "cost": ["1", "1"], "alpha": "1/10", "beta": "0", "current": None,
        "model": {
            "kind": "noisy", "states": ["s", "t"], "actions": ["a", "b"], "readings": ["0", "1", "-", "done"],
            "successor": [[0, 0], [1, 1]], "law": [[0, 2], [1, 2]], "laws": [*laws, [[3, "1"]]], **bound,
        },
    }  # fmt: skip


TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)


def test_noise_within_a_bound_may_do_all_or_nothing_and_lose_any_reading() -> None:
    exact = [[[0, "9/10"], [1, "1/10"]], [[0, "1/10"], [1, "9/10"]]]
    task = read_task(bounded(exact, at_most="1/10"))
    assert checker.spread(task, 0) == [(1 - TENTH, [0]), (0, [0, 0]), (TENTH, [0, 1])]
    assert checker.spread(task, 2) == [(1, [3])]
    assert checker.spread(read_task(bounded(exact)), 0) == [(1 - TENTH, [0]), (TENTH, [1])]
    silent = [[[0, "18/25"], [1, "1/10"], [2, "9/50"]], [[0, "1/10"], [1, "18/25"], [2, "9/50"]]]
    task = read_task(bounded(silent, at_most="1/10", lost=[2, "1/5"]))
    sure, lost = (1 - TENTH) * (1 - FIFTH), (1 - TENTH) * FIFTH
    assert checker.spread(task, 1) == [(sure, [1]), (lost, [1, 2]), (TENTH, [0, 1, 2])]


def test_the_sentence_speaks_of_a_bound_only_where_there_is_one() -> None:
    answers = {"nodes": [{"ask": 0, "next": {"0": 1, "1": 2}}, {"answer": 0}, {"answer": 1}]}
    claim = {"claim": "within-risk", "alpha": "1/10", "beta": "0", "cost": "1", "policy": answers}
    laws = [[[0, "9/10"], [1, "1/10"]], [[0, "1/10"], [1, "9/10"]]]
    said = [checker.check_within_risk(read_task(bounded(laws, **bound)), claim) for bound in ({}, {"at_most": "1/10"})]
    assert ["whatever the noise" in sentence for sentence in said] == [False, True]
