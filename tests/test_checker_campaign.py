"""The soundness campaign: true certificates are spoilt in many ways, and nothing false is ever verified.

Each base is a tiny random task with true claims about it, made by brute force. A case spoils one certificate a few
times (values, edges, rows, members, parts, pairs), sometimes puts it on a task that differs a little, and always signs
it with the hash of the task it is checked against, so that the proof itself has to fail. Whatever the checker verifies
is put to brute force. A failure names its seed and case: `replay(seed, case)` makes it again.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from ascertain.certificate import certificate_data
from ascertain.certificate.claims.achieves import achieves_claim, achieves_expected_claim
from ascertain.certificate.claims.lower import lower_claim
from ascertain.certificate.claims.lower_expected import lower_expected_claim
from ascertain.certificate.claims.obstruction import obstruction_claim
from ascertain.certificate.claims.quotient import quotient_claim
from ascertain.model import Machine, Model, NoisyMachine
from ascertain.model.noisy import make_law
from ascertain.search.exact import solve
from ascertain.search.solution import MeanProof, Solved
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.task import Task
from ascertain.types import UNDEFINED
from ascertain_check import check
from tests.reference.certificates import Judge, best_policy, best_rows, coarsest_block, policy_costs, quotient_task
from tests.reference.mean_rows import best_mean_rows
from tests.reference.optimum import optimum
from tests.reference.spoilers import RATIONALS, SPOILERS, Claim, shaped, spoil_everywhere

CASES_PER_BASE = 100


# Random tasks.


def random_model(rng: Random) -> Model:
    n, num_actions, num_readings = rng.randint(2, 5), rng.randint(1, 3), rng.randint(1, 3)
    shape = (n, num_actions)
    hole = np.array([rng.random() < 0.15 for _ in range(n * num_actions)]).reshape(shape) & (rng.random() < 0.5)
    successor = np.array([rng.randrange(n) for _ in range(n * num_actions)], dtype=np.int32).reshape(shape)
    output = np.array([rng.randrange(num_readings) for _ in range(n * num_actions)], dtype=np.int32).reshape(shape)
    machine = Machine(
        states=tuple(f"s{i}" for i in range(n)),
        actions=tuple(f"a{i}" for i in range(num_actions)),
        readings=tuple(f"y{i}" for i in range(num_readings)),
        successor=np.where(hole, UNDEFINED, successor),
        output=np.where(hole, UNDEFINED, output),
    )
    return machine if rng.random() < 0.85 else random_noise(rng, machine)


def random_noise(rng: Random, machine: Machine) -> NoisyMachine:
    count = len(machine.readings)
    weights = [[rng.randint(0, 2) + (y == i) for y in range(count)] for i in range(count)]
    laws = tuple(dict.fromkeys(make_law({y: Fraction(w, sum(row)) for y, w in enumerate(row)}) for row in weights))
    return NoisyMachine(
        states=machine.states,
        actions=machine.actions,
        readings=machine.readings,
        successor=machine.successor,
        law=np.where(machine.output == UNDEFINED, UNDEFINED, machine.output % len(laws)),
        laws=laws,
    )


def random_task(rng: Random) -> Task:
    model = random_model(rng)
    num_labels = rng.randint(2, 3)
    of_state = np.array([rng.randrange(num_labels) for _ in model.states], dtype=np.int32)
    state = rng.sample(range(model.num_states), rng.randint(min(2, model.num_states), min(4, model.num_states)))
    label = [int(of_state[s]) for s in state]
    current = rng.random() < 0.3
    if not current and rng.random() < 0.1:
        state.append(state[0])
        label.append((label[0] + 1) % num_labels)
    return Task(
        model=model,
        state=np.array(state, dtype=np.int32),
        label=np.array(label, dtype=np.int32),
        labels=tuple(f"l{k}" for k in range(num_labels)),
        cost=tuple(Fraction(rng.choice(RATIONALS[1:7])) for _ in model.actions),
        state_label=of_state if current else None,
    )


def neighbour(rng: Random, task: Task) -> Task:
    """A task that differs a little: one transition, one reading, one cost, or one hypothesis less."""
    model, kind = task.model, rng.randrange(4)
    s, a = rng.randrange(model.num_states), rng.randrange(model.num_actions)
    if kind == 0 and len(task.state) > 1:
        return replace(task, state=task.state[1:], label=task.label[1:])
    if kind == 1:
        cost = list(task.cost)
        cost[a] = Fraction(rng.choice(RATIONALS[1:7]))
        return replace(task, cost=tuple(cost))
    successor, behaviour = model.successor.copy(), model.behaviour.copy()
    if successor[s, a] != UNDEFINED:
        if kind == 2:
            successor[s, a] = rng.randrange(model.num_states)
        else:
            behaviour[s, a] = rng.randrange(int(behaviour.max()) + 1)
    return replace(task, model=model.rebuilt(successor=successor, behaviour=behaviour))


# True certificates.


@dataclass(frozen=True)
class Subject:
    """A task as the checker sees it, and brute force beside it."""

    task: Task
    text: bytes
    head: dict[str, Any]
    judge: Judge


def make_subject(task: Task) -> Subject:
    head = certificate_data(task, [{"claim": ""}])
    return Subject(task, canonical_bytes(task_data(task)), head, Judge(task))


def true_claims(rng: Random, task: Task) -> list[Claim]:
    """Claims of every kind that is true of the task."""
    block = coarsest_block(task)
    claims = [quotient_claim(task, np.array(block))]
    claims += [obstruction_claim(task, h, g) for h, g in sorted(Judge(task).obstructions)[:2]]
    if isinstance(task.model, NoisyMachine):
        return claims
    best, policy = optimum(task), best_policy(task)
    claims.append(lower_claim(best, *best_rows(task)))
    claims.append(lower_claim(best, *best_rows(task, rng)))
    claims.append(lower_claim(best, *best_rows(quotient_task(task, block), rng), np.array(block)))
    if policy is not None and best is not None:
        claims.append(achieves_claim(best, policy))
        weights = [Fraction(rng.randint(1, 4), rng.randint(1, 4)) for _ in task.state]
        costs = policy_costs(task, claims[-1]["policy"]) or {}
        pairs = zip(task.label.tolist(), task.state.tolist(), strict=True)
        total = sum((w * costs[pair] for w, pair in zip(weights, pairs, strict=True)), Fraction(0))
        claims.append(achieves_expected_claim(total / sum(weights), weights, policy))
        claims.append(lower_expected_claim(best_mean_rows(task, weights)))
        claims.append(lower_expected_claim(best_mean_rows(task, weights, rng)))
        # The solver's own proof has rows of pairs and weights of 0.
        solved = solve(task, objective="expected", weights=weights)
        assert isinstance(solved, Solved)
        assert isinstance(solved.proof, MeanProof)
        claims.append(lower_expected_claim(solved.proof))
    return claims


# The campaign.


def spoilt(seed: int) -> Iterator[tuple[str, Subject, Claim]]:
    """The cases of one seed: the kind of a true claim, a subject, and the spoilt claim that is checked against it."""
    rng = Random(seed)
    task = random_task(rng)
    subject = make_subject(task)
    subjects = [subject] * 3 + [make_subject(neighbour(rng, task)) for _ in range(2)]
    claims = true_claims(rng, task)
    for _ in range(CASES_PER_BASE):
        claim = copy.deepcopy(rng.choice(claims))
        kind = claim["claim"]
        chosen = rng.choice(subjects)
        for _ in range(rng.choice((0 if chosen is not subject else 1, 1, 1, 2, 3))):
            if claim["claim"] == kind and shaped(claim):
                rng.choice(SPOILERS[kind])(rng, claim)
        yield kind, chosen, claim


def judge_case(subject: Subject, claim: Claim) -> str:
    """The verdict of the checker, and whether a refuted claim is false; fails when it verified something false."""
    verdict = check(subject.text, canonical_bytes(subject.head | {"claims": [claim]}))
    if verdict.word == "MALFORMED":
        return verdict.word
    true = subject.judge.is_true(claim)
    if verdict.word == "VERIFIED":
        assert true, f"verified, but false: {json.dumps(claim)} of {subject.text.decode()}"
        return verdict.word
    return "REFUTED and not proved" if true else "REFUTED and false"


def replay(seed: int, case: int) -> tuple[str, str]:
    """The task and the certificate of a case, as texts."""
    _, subject, claim = list(spoilt(seed))[case]
    return subject.text.decode(), canonical_bytes(subject.head | {"claims": [claim]}).decode()


def run_campaign(first_seed: int, num_cases: int) -> Counter[tuple[str, str]]:
    """So many spoilt certificates; returns how often each kind of claim met each verdict."""
    count: Counter[tuple[str, str]] = Counter()
    for seed in range(first_seed, first_seed + num_cases // CASES_PER_BASE):
        for case, (kind, subject, claim) in enumerate(spoilt(seed)):
            try:
                count[kind, judge_case(subject, claim)] += 1
            except Exception as error:
                error.add_note(f"seed {seed}, case {case}")
                raise
    return count


def check_balance(count: Counter[tuple[str, str]]) -> None:
    """The campaign reached every kind of claim and every verdict (an empty victory would be none).

    Of a policy the checker is exact: what it refutes is false of that policy. The other proofs may just be spoilt.
    """
    for kind in SPOILERS:
        for word in ("VERIFIED", "REFUTED and false", "MALFORMED"):
            assert count[kind, word] > 0, (kind, word)
        assert (count[kind, "REFUTED and not proved"] == 0) == kind.startswith("achieves"), kind


@pytest.mark.parametrize("seed", range(10))
def test_true_certificates_are_verified_before_they_are_spoilt(seed: int) -> None:
    rng = Random(seed)
    task = random_task(rng)
    subject = make_subject(task)
    for claim in true_claims(rng, task):
        assert judge_case(subject, claim) == "VERIFIED"
        assert subject.judge.is_true(claim)


def test_nothing_false_is_verified_among_thousands_of_spoilt_certificates() -> None:
    check_balance(run_campaign(0, 4_000))


def spoil_all_places(seeds: range) -> Counter[tuple[str, str]]:
    """Claims of which every place was changed in turn."""
    count: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        rng = Random(seed)
        task = random_task(rng)
        subject = make_subject(task)
        for claim in true_claims(rng, task):
            for place, spoilt in enumerate(spoil_everywhere(claim)):
                verdict = check(subject.text, canonical_bytes(subject.head | {"claims": [spoilt]})).word
                assert verdict != "VERIFIED" or subject.judge.is_true(spoilt), (seed, place, json.dumps(spoilt))
                count[str(claim["claim"]), verdict] += 1
    return count


def test_nothing_false_is_verified_whichever_place_is_changed() -> None:
    count = spoil_all_places(range(3))
    assert all(count[kind, word] for kind in SPOILERS for word in ("REFUTED", "MALFORMED")), count


@pytest.mark.slow
def test_nothing_false_is_verified_whichever_place_is_changed_of_many() -> None:
    spoil_all_places(range(1000, 1300))


@pytest.mark.slow
def test_nothing_false_is_verified_among_two_hundred_thousand_spoilt_certificates() -> None:
    count = run_campaign(1_000_000, 200_000)
    print(*(f"{kind} {word} {n}" for (kind, word), n in sorted(count.items())), sep="\n")
    check_balance(count)
