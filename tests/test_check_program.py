"""Information and program claims: true ones are verified, and whatever is verified after spoiling is still true."""

from __future__ import annotations

import copy
import math
from collections import Counter
from fractions import Fraction as F
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bounds.information import bound_by_information
from ascertain.bounds.plant import bound_plant
from ascertain.bounds.program import bound_by_program
from ascertain.certificate.claims.information import information_claim
from ascertain.certificate.claims.program import program_claim
from ascertain.errors import CertificateError
from ascertain.pipeline.certify import certify
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.task import Task
from tests.reference import program as reference
from tests.strategies import models, noisy_machines, tasks
from tests.test_checker_campaign import random_noise, random_task
from tests.test_program_bound import ALPHA, BETA, plant_of, register

Claim = dict[str, Any]
RISKS = st.sampled_from((F(0), F(1, 100), F(1, 10), F(1, 4)))
NUMBERS = ("0", "1/1000", "1/10", "1/3", "1/2", "1", "2", "3", "7", "100")


def verdict(task: Task, *claims: Claim) -> str:
    return certify(task, claims)[1].word


def true_claims(task: Task, alpha: F, beta: F, **limits: Any) -> list[Claim]:
    """What the two bounds claim of the task, where they claim anything."""
    claims: list[Claim] = []
    pairwise = bound_by_information(task, alpha, beta)
    if pairwise.pair is not None:
        claims.append(information_claim(pairwise, alpha, beta))
    program = bound_by_program(task, alpha, beta, **limits)
    if program.dual is not None:
        claims.append(program_claim(program))
    return claims


@settings(max_examples=80)
@given(tasks(models(min_states=2, max_states=5), max_hypotheses=4), RISKS, RISKS, st.integers(1, 5))
def test_what_the_bounds_claim_is_verified(task: Task, alpha: F, beta: F, size: int) -> None:
    for claim in (*true_claims(task, alpha, beta), *true_claims(task, alpha, beta, max_nodes=size, max_rivals=size)):
        assert verdict(task, claim) == "VERIFIED", claim


@settings(max_examples=60)
@given(tasks(noisy_machines(min_states=2, max_states=4, max_readings=2), max_hypotheses=3), RISKS, RISKS)
def test_a_claim_of_a_little_more_is_refuted(task: Task, alpha: F, beta: F) -> None:
    for claim in true_claims(task, alpha, beta):
        if claim["cost"] != "inf":
            more = claim | {"cost": str(F(claim["cost"]) * F(1001, 1000) + F(1, 1000))}
            assert verdict(task, more) == "REFUTED"


def test_the_large_register_is_verified() -> None:
    task = register(24, [0, *(1 << i for i in range(24))], F(1, 10), [0] + [1] * 24)
    bound = bound_by_program(task, ALPHA, BETA)
    assert bound.value is not None and bound.value > F(20896, 100)
    assert verdict(task, program_claim(bound)) == "VERIFIED"


def test_what_has_no_proof_in_the_format_is_not_claimed() -> None:
    alike = register(2, [0, 1], F(1, 10), [0, 0])
    with pytest.raises(CertificateError, match="no pair"):
        information_claim(bound_by_information(alike, F(1, 10), F(0)), F(1, 10), F(0))
    with pytest.raises(CertificateError, match="no multipliers"):
        program_claim(bound_by_program(alike, F(1, 10), F(0)))
    with pytest.raises(CertificateError, match="by symmetry"):
        program_claim(bound_plant(pose_plant(plant_of(3)), F(1, 100), F(0)))


# The soundness campaign.


def spoil(rng: Random, claim: Claim) -> None:
    """Change a claim in one place."""
    kind = rng.randrange(9)
    if kind <= 1:
        claim["cost"] = rng.choice([*NUMBERS, "inf"])
    elif kind == 2:
        claim[rng.choice(("alpha", "beta"))] = rng.choice(NUMBERS[:4])
    elif claim["claim"] == "information":
        claim["pair"] = [rng.randrange(3), rng.randrange(3)]
    elif claim["truths"]:
        spoil_truth(rng, rng.choice(claim["truths"]), kind)


def spoil_truth(rng: Random, truth: Claim, kind: int) -> None:
    if kind == 3:
        truth["weight"] = str(F(truth["weight"]) * F(rng.choice((0, 1, 1, 2)), rng.choice((1, 2, 3))))
    elif kind == 4:
        truth["potential"][rng.randrange(len(truth["potential"]))] = rng.choice(NUMBERS)
    elif kind == 5 and len(truth["nodes"]) > 1:
        lost = rng.randrange(1, len(truth["nodes"]))
        for column in (truth["nodes"], truth["potential"], *(rival["coupled"] for rival in truth["rivals"])):
            del column[lost]
    elif truth["rivals"]:
        rival = rng.choice(truth["rivals"])
        if kind == 6:
            rival["variation"] = rng.choice(NUMBERS)
        elif kind == 7:
            rival["coupled"][rng.randrange(len(rival["coupled"]))] = rng.choice(NUMBERS)
        elif rival["cuts"] and rng.random() < 0.7:
            cut = rng.choice(rival["cuts"])
            cut[-1] = rng.choice(NUMBERS)
            if rng.random() < 0.5:
                cut[0] = rng.randrange(9) if len(cut) == 3 else rng.choice(NUMBERS[1:5])
        else:
            rival["base"] = rng.choice((None, "2", "3", "9"))


def run_campaign(seeds: range, cases: int = 20) -> Counter[tuple[str, str]]:
    """Spoilt claims of random tasks: no policy of at most five steps is better than one that is verified says."""
    count: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        rng = Random(seed)
        task = small_task(rng)
        claims = true_claims(task, F(1, rng.choice((5, 20, 100))), F(rng.choice((0, 1)), 20))

        @cache
        def best_at(alpha: F, beta: F, task: Task = task) -> float:
            return reference.best_policies(task, alpha, beta, 5)

        for _ in range(cases if claims else 0):
            claim = copy.deepcopy(rng.choice(claims))
            for _ in range(rng.randint(1, 3)):
                spoil(rng, claim)
            word = verdict(task, claim)
            count[claim["claim"], word] += 1
            if word == "VERIFIED":
                best = best_at(F(claim["alpha"]), F(claim["beta"]))
                bound = math.inf if claim["cost"] == "inf" else float(F(claim["cost"]))
                assert bound <= best * (1 + 1e-7) + 1e-7, (seed, claim)
    return count


def small_task(rng: Random) -> Task:
    """A tiny noisy task that has something to settle."""
    while True:
        task = random_task(rng)
        if task.num_hypotheses <= 3 and task.model.num_actions <= 2 and len(task.model.readings) == 2:
            model = task.model if task.model.kind == "noisy" else random_noise(rng, task.model)  # type: ignore[arg-type]
            return Task(
                model=model,
                state=task.state,
                label=task.label,
                labels=task.labels,
                cost=task.cost,
                state_label=task.state_label,
            )


def check_balance(count: Counter[tuple[str, str]]) -> None:
    """The campaign met every kind of claim and every verdict."""
    for kind in ("information", "program"):
        for word in ("VERIFIED", "REFUTED", "MALFORMED"):
            if (kind, word) != ("information", "MALFORMED"):
                assert count[kind, word] > 0, (kind, word)


def test_nothing_false_is_verified_among_spoilt_claims() -> None:
    check_balance(run_campaign(range(35)))


@pytest.mark.slow
def test_nothing_false_is_verified_among_very_many_spoilt_claims() -> None:
    check_balance(run_campaign(range(10_000, 12_000)))
