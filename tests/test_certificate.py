"""Certificates: what is made from true records is verified, and what is not true cannot be made or is refuted."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.certificate import certificate_data, write_certificate
from ascertain.certificate.claims.achieves import achieves_claim, achieves_expected_claim
from ascertain.certificate.claims.lower import lower_claim
from ascertain.certificate.claims.obstruction import obstruction_claim
from ascertain.certificate.claims.quotient import quotient_claim
from ascertain.errors import CertificateError, FileError
from ascertain.model import Machine
from ascertain.policy.automaton import Automaton
from ascertain.task.canonical import canonical_bytes, task_data, task_hash
from ascertain.task.task import Task
from ascertain_check import check
from tests.reference.certificates import (
    best_policy,
    best_rows,
    coarsest_block,
    obstructions,
    policy_costs,
    quotient_task,
)
from tests.reference.optimum import optimum
from tests.strategies import machines, noisy_machines, tasks

small = machines(max_states=4, max_actions=2, max_readings=2)
small_tasks = tasks(small, max_hypotheses=4)
any_tasks = tasks(st.one_of(machines(max_states=5), noisy_machines(max_states=4)))


def verdict(task: Task, *claims: dict[str, object]) -> str:
    data = certificate_data(task, claims)
    return str(check(canonical_bytes(task_data(task)), canonical_bytes(data)))


def register(bits: int) -> Task:
    """A shift register that is read by its one action, and the question which state it started in."""
    n = 2**bits
    states = np.arange(n)[:, None]
    model = Machine(
        states=tuple(f"{s:0{bits}b}" for s in range(n)),
        actions=("shift",),
        readings=("0", "1"),
        successor=(states * 2 % n).astype(np.int32),
        output=(states >> (bits - 1)).astype(np.int32),
    )
    every = np.arange(n, dtype=np.int32)
    return Task(model=model, state=every, label=every, labels=model.states, cost=(Fraction(1),))


@given(small_tasks)
def test_the_optimum_is_certified_from_both_sides(task: Task) -> None:
    best = optimum(task)
    rows, root = best_rows(task)
    claims = [lower_claim(best, rows, root)]
    policy = best_policy(task)
    if policy is not None and best is not None:
        claims.append(achieves_claim(best, policy))
    assert verdict(task, *claims) == "VERIFIED"


@given(small_tasks, st.integers(0, 2**32))
def test_rows_with_no_more_members_than_needed_prove_the_optimum(task: Task, seed: int) -> None:
    rows, root = best_rows(task, Random(seed))
    assert verdict(task, lower_claim(optimum(task), rows, root)) == "VERIFIED"


@given(small_tasks)
def test_rows_on_the_classes_of_the_quotient_prove_the_optimum_of_the_task(task: Task) -> None:
    block = coarsest_block(task)
    rows, root = best_rows(quotient_task(task, block))
    claim = lower_claim(optimum(task), rows, root, np.array(block))
    assert verdict(task, claim) == "VERIFIED"


@given(small_tasks, st.sampled_from([Fraction(1, 7), Fraction(1), Fraction(100)]))
def test_no_more_than_the_optimum_is_ever_proved(task: Task, more: Fraction) -> None:
    best = optimum(task)
    rows, root = best_rows(task)
    if best is not None:
        raised = [replace(row, bound=None if row.bound is None else row.bound + more) for row in rows]
        for claim in (lower_claim(best + more, rows, root), lower_claim(best + more, raised, root)):
            assert verdict(task, claim).startswith("REFUTED")
        infinite = [replace(row, bound=None) for row in rows]
        assert verdict(task, lower_claim(None, infinite, root)).startswith("REFUTED")


@given(small_tasks, st.data())
def test_the_mean_cost_is_certified_exactly(task: Task, data: st.DataObject) -> None:
    policy = best_policy(task)
    if policy is None:
        return
    weight = st.fractions(Fraction(1, 9), 9, max_denominator=9)
    weights = data.draw(st.lists(weight, min_size=task.num_hypotheses, max_size=task.num_hypotheses))
    costs = policy_costs(task, achieves_claim(Fraction(0), policy)["policy"])
    assert costs is not None
    each = [costs[int(k), int(s)] for s, k in zip(task.state, task.label, strict=True)]
    mean = sum((w * c for w, c in zip(weights, each, strict=True)), Fraction(0)) / sum(weights)
    assert verdict(task, achieves_expected_claim(mean, weights, policy)) == "VERIFIED"
    if mean > 0:
        assert verdict(task, achieves_expected_claim(mean * Fraction(99, 100), weights, policy)).startswith("REFUTED")


@given(any_tasks)
def test_the_coarsest_stable_partition_is_certified(task: Task) -> None:
    assert verdict(task, quotient_claim(task, np.array(coarsest_block(task)))) == "VERIFIED"


@given(any_tasks, st.data())
def test_no_other_partition_is_certified(task: Task, data: st.DataObject) -> None:
    n = task.model.num_states
    block = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    pairs = set(zip(block, coarsest_block(task), strict=True))
    right = len(pairs) == len(set(block)) == max(block) + 1 == max(coarsest_block(task)) + 1
    try:
        claim = quotient_claim(task, np.array(block))
    except CertificateError:
        assert not right
    else:
        assert (verdict(task, claim) == "VERIFIED") == right


@given(any_tasks)
def test_every_obstruction_is_certified_and_nothing_else_is(task: Task) -> None:
    true = obstructions(task)
    for h in range(task.num_hypotheses):
        for g in range(task.num_hypotheses):
            if (h, g) in true:
                assert verdict(task, obstruction_claim(task, h, g)) == "VERIFIED"
            else:
                with pytest.raises(CertificateError):
                    obstruction_claim(task, h, g)


def test_a_shift_register_is_read_in_as_many_steps_as_it_has_bits_and_no_fewer() -> None:
    task = register(3)
    policy = best_policy(task)
    assert policy is not None
    rows, root = best_rows(task)
    claims = [achieves_claim(Fraction(3), policy), lower_claim(Fraction(3), rows, root)]
    assert verdict(task, *claims, quotient_claim(task, np.arange(8, dtype=np.int32))) == "VERIFIED"
    assert verdict(task, achieves_claim(Fraction(2), policy)).startswith("REFUTED")


def test_an_abstaining_policy_is_not_certified() -> None:
    with pytest.raises(CertificateError, match="abstains"):
        achieves_claim(Fraction(1), Automaton(action=(-1,), label=(-1,), children=({},)))


def test_a_proof_that_names_a_row_it_does_not_have_is_not_made() -> None:
    with pytest.raises(CertificateError, match="row 3"):
        lower_claim(Fraction(1), [], 3)


def test_a_certificate_without_claims_is_not_made() -> None:
    with pytest.raises(CertificateError, match="no claims"):
        certificate_data(register(1), [])


@pytest.mark.parametrize("block", [[0, 2], [1, 2], [0], [0, 1, 2]])
def test_a_partition_with_gaps_or_of_another_size_is_not_certified(block: list[int]) -> None:
    with pytest.raises(CertificateError, match="without gaps"):
        quotient_claim(register(1), np.array(block))


@pytest.mark.parametrize("name", ["proof", "proof.json"])
def test_the_task_is_written_beside_the_certificate_and_no_draft_is_left(tmp_path: Path, name: str) -> None:
    task = register(2)
    certificate, beside = write_certificate(tmp_path / name, task, [quotient_claim(task, np.arange(4, dtype=np.int32))])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["proof.json", "proof.task.json"]
    assert (certificate, beside) == (tmp_path / "proof.json", tmp_path / "proof.task.json")
    assert beside.read_bytes() == canonical_bytes(task_data(task))
    data = json.loads(certificate.read_bytes())
    assert data["task_sha256"] == task_hash(task)
    assert data["made_by"].startswith("ascertain ")
    assert str(check(beside.read_bytes(), certificate.read_bytes())) == "VERIFIED"


def test_a_certificate_that_cannot_be_written_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"proof\.task\.json: the file cannot be written"):
        write_certificate(
            tmp_path / "absent" / "proof", register(1), [quotient_claim(register(1), np.arange(2, dtype=np.int32))]
        )


def test_a_failed_write_leaves_the_old_certificate_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = register(1)
    certificate, _ = write_certificate(tmp_path / "proof", task, [quotient_claim(task, np.arange(2, dtype=np.int32))])
    old = certificate.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match="No space left"):
        write_certificate(tmp_path / "proof", task, [obstruction_claim(_merged(), 0, 1)])
    assert certificate.read_bytes() == old
    assert sorted(p.name for p in tmp_path.iterdir()) == ["proof.json", "proof.task.json"]


def _merged() -> Task:
    """Two labels in one state."""
    return replace(register(1), state=np.zeros(2, dtype=np.int32), label=np.arange(2, dtype=np.int32))


def test_a_nameless_certificate_is_refused() -> None:
    with pytest.raises(CertificateError, match="not the name"):
        write_certificate(".json", register(1), [quotient_claim(register(1), np.arange(2, dtype=np.int32))])
