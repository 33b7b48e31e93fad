"""What a certificate is required to say: every word of the grammar, said and not said."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ascertain_check import check, required
from ascertain_check.__main__ import main
from ascertain_check.claims import CLAIMS
from ascertain_check.question import read_question
from ascertain_check.task import read_task
from tests.calls import answer, call
from tests.conftest import ROOT
from tests.reference.run_claims import canonical

CORPUS = ROOT / "tests" / "certificates" / "verified"


def load(name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The task and the claims of a case of the corpus."""
    task, certificate = (json.loads((CORPUS / f"{name}{end}.json").read_bytes()) for end in (".task", ""))
    return task, certificate["claims"]


def says(task: dict[str, Any], claims: list[dict[str, Any]], *wanted: str) -> bool:
    text = canonical(task)
    head = {"format": "ascertain-certificate", "version": 1, "made_by": "", "task_sha256": sha256(text).hexdigest()}
    verdict = check(text, canonical(head | {"claims": claims}), wanted)
    assert verdict.word in ("VERIFIED", "INSUFFICIENT"), verdict
    assert verdict.exit_code == int(verdict.word == "INSUFFICIENT")
    assert verdict.proved
    return verdict.word == "VERIFIED"


SAID = [
    ("register-optimum", ["settles", "identifies", "optimal", "cost<=2", "cost>=2", "achieves", "lower"]),
    ("sink-unsolvable", ["unsolvable", "cost>=1000000"]),
    ("run-plant-nominal", ["answer=01", "alpha<=1/10", "run"]),
]
UNSAID = [
    ("register-optimum", ["unsolvable", "cost<=1", "cost>=3", "alpha<=1", "answer=l0", "complete:0", "sampled<=1"]),
    ("sink-unsolvable", ["settles", "identifies", "optimal", "cost<=1000000"]),
    ("run-plant-nominal", ["answer=11", "alpha<=9/100", "optimal", "settles", "followed", "cost>=0", "cost<=100"]),
    ("run-plant-nominal", ["identifies", "unsolvable"]),
]


@pytest.mark.parametrize(("name", "wanted"), SAID)
def test_what_a_certificate_says_is_found(name: str, wanted: list[str]) -> None:
    assert says(*load(name), *wanted)
    assert all(says(*load(name), one) for one in wanted)


@pytest.mark.parametrize(("name", "wanted"), UNSAID)
def test_what_a_certificate_does_not_say_is_missed(name: str, wanted: list[str]) -> None:
    assert not any(says(*load(name), one) for one in wanted)


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_the_name_of_every_claim_can_be_required(name: str) -> None:
    found = [
        path for path in CORPUS.glob("*.json") if f'"claim":"{name}"'.encode() in path.read_bytes().replace(b" ", b"")
    ]
    task, claims = load("register-optimum")
    assert says(task, claims, name) == (name in {claim["claim"] for claim in claims})
    if found:
        task, claims = load(found[0].stem)
        assert says(task, claims, name)


def test_a_policy_without_its_lower_bound_is_not_optimal() -> None:
    task, claims = load("register-optimum")
    upper, lower = claims
    assert not says(task, [upper], "optimal")
    assert not says(task, [lower], "optimal")
    assert says(task, [lower], "cost>=2") and not says(task, [lower], "settles")
    assert not says(task, [upper | {"cost": "5/2"}, lower], "optimal")


def test_the_mean_is_optimal_with_the_same_weights_up_to_a_factor() -> None:
    upper: Any = {"claim": "achieves-expected", "cost": "3/2", "weights": ["1", "2"]}
    for cost, weights, is_optimal in (
        ("3/2", ["1", "2"], True),
        ("3/2", ["2/3", "4/3"], True),
        ("3/2", ["2", "1"], False),
        ("1", ["1", "2"], False),
    ):
        lower: Any = {"claim": "lower-expected", "cost": cost, "weights": weights}
        assert required.is_optimal([upper, lower]) == is_optimal
        assert not required.is_optimal([lower])
    alone: list[Any] = [upper | {"weights": ["2"]}, {"claim": "lower-expected", "cost": "3/2", "weights": ["3"]}]
    assert required.is_optimal(alone)


def test_a_policy_identifies_only_where_all_labels_differ() -> None:
    task, claims = load("register-optimum")
    known = read_task(task)
    same = replace(known, hypotheses=[(0, s) for _, s in known.hypotheses])
    assert [required.read_requirement("identifies")(t, claims) for t in (known, same)] == [True, False]
    assert required.read_requirement("settles")(same, claims)


def test_an_obstruction_is_a_bound_where_the_risks_leave_something_to_settle() -> None:
    known = read_task(load("register-optimum")[0])
    claims: list[Any] = [{"claim": "obstruction"}]
    for kind, alpha, beta, counts in (
        ("machine", Fraction(1, 2), Fraction(1, 2), True),
        ("noisy", Fraction(1, 4), Fraction(1, 4), True),
        ("noisy", Fraction(1, 4), Fraction(1, 2), False),  # 2 alpha + beta is 1
    ):
        task = replace(known, kind=kind, alpha=alpha, beta=beta)
        assert required.lower_bounds(task, claims) == ([None] if counts else [])


def test_risks_are_compared_on_listed_models_only_and_found_where_claims_name_them() -> None:
    plant = read_question(load("run-plant-nominal")[0])
    claim: dict[str, object] = {"alpha": "0", "beta": "0"}
    assert not required.keeps_to_risks(plant, claim, 1)
    assert required.keeps_to_risks(read_task(load("register-optimum")[0]), claim, 1)
    assert required.risk_of({"claim": "followed", "risk": {"alpha": "1/20"}}) == Fraction(1, 20)


def test_conformance_is_required_by_how_far_it_goes() -> None:
    task: Any = None
    complete: list[Any] = [{"claim": "conforms", "extra": 2}]
    sampled: list[Any] = [{"claim": "sampled", "bound": "1/50"}]
    assert [required.read_requirement(f"complete:{k}")(task, complete) for k in (0, 2, 3)] == [True, True, False]
    assert [required.read_requirement(f"sampled<={p}")(task, sampled) for p in ("1/10", "1/50", "1/51")] == [
        True,
        True,
        False,
    ]


def test_a_smaller_risk_of_another_claim_does_not_stand_for_the_risk_of_a_run() -> None:
    """Or an answer at a large risk would pass beside a policy that has a small one."""
    task, claims = load("run-noisy-nominal")
    run = claims[0]
    careful = {"claim": "within-risk", "alpha": "0", "beta": "1", "cost": "0", "policy": {"nodes": [{"answer": None}]}}
    assert says(task, [careful], "alpha<=0")
    assert says(task, [careful, run], "alpha<=1/10")
    assert not says(task, [careful, run], "alpha<=1/100")


def test_bounds_at_other_risks_do_not_bound_the_policies_of_the_task() -> None:
    task, _ = load("run-noisy-nominal")  # its alpha is 1/10, its beta 0
    for alpha, beta, counts in (("1/10", "0", True), ("1/5", "0", True), ("1/20", "0", False), ("1/5", "1/10", True)):
        claim = {"claim": "information", "alpha": alpha, "beta": beta, "cost": "1/100", "pair": [0, 1]}
        assert says(task, [claim], "cost>=1/100") == counts
    for alpha, counts in (("1/10", True), ("1/11", True), ("1/9", False)):
        policy = {"nodes": [{"answer": 0}]}
        claim = {"claim": "within-risk", "alpha": alpha, "beta": "0", "cost": "0", "policy": policy}
        task["hypotheses"] = [[0, 0]]
        assert says(task, [claim], "cost<=0") == counts


@pytest.mark.parametrize(
    "text", ["", "nonsense", "alpha<=", "alpha<=0.1", "cost<=-1", "complete:", "complete:x", "cost<1"]
)
def test_a_requirement_that_is_not_one_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(CORPUS / f"register-optimum{end}.json") for end in (".task", "")]
    assert main(["--require", text, *files]) == 2
    assert "the requirement" in capsys.readouterr().out


def test_the_command_line_says_what_is_missing(tmp_path: Path) -> None:
    files = [CORPUS / f"register-optimum{end}.json" for end in (".task", "")]
    done = call("verify", *files, "--require", "optimal", "--require", "answer=x", code=1)
    assert done.stdout.splitlines()[0] == "INSUFFICIENT: verified, but it does not say 'answer=x'"
    assert "the policy settles the question at a cost of at most 2" in done.stdout
    assert answer("verify", *files, "--require", "optimal")["verdict"] == "VERIFIED"
    call("verify", *files, "--budget", "1", code=3)
