"""What a certificate is required to say: every word of the grammar, said and not said."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ascertain.pipeline.conform import conform
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.fingerprint import pose_fingerprint
from ascertain.task.canonical import task_data
from ascertain_check import check, required
from ascertain_check.__main__ import main
from ascertain_check.claims import CLAIMS
from ascertain_check.question import read_question
from ascertain_check.task import read_task
from ascertain_check.verdicts import Malformed
from tests.calls import answer, call
from tests.conftest import ROOT
from tests.reference.run_claims import canonical
from tests.test_conformance import lock, locked

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


def test_risks_are_compared_with_those_of_the_task_and_found_where_claims_name_them() -> None:
    plant = read_question(load("run-plant-nominal")[0])
    claim: dict[str, object] = {"alpha": "0", "beta": "0"}
    assert required.keeps_to_risks(plant, claim, 1) and required.keeps_to_risks(plant, claim | {"alpha": "1/10"}, 1)
    assert not required.keeps_to_risks(plant, claim | {"alpha": "1/9"}, 1)
    assert not required.keeps_to_risks(plant, claim | {"beta": "1/10"}, 1)
    assert required.keeps_to_risks(read_task(load("register-optimum")[0]), claim, 1)
    assert required.risk_of({"claim": "followed", "risk": {"alpha": "1/20"}}) == Fraction(1, 20)


def conforming(**how: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A task about a lock of four states, and the claim that a plant conforms to it."""
    task = locked(4)
    found = conform(task, SimulatedPlant(task.model, 0), **how)
    assert found.claim is not None
    return json.loads(canonical(task_data(task))), found.claim


def test_conformance_is_required_by_how_far_it_goes() -> None:
    task, claim = conforming(complete=1)
    assert [says(task, [claim], f"complete:{k}") for k in (0, 1, 2)] == [True, True, False]
    task, claim = conforming(sample=100, seed="s")
    bound = Fraction(claim["bound"])
    assert [says(task, [claim], f"sampled<={p}") for p in ("1", bound, bound - Fraction(1, 10**6))] == [
        True,
        True,
        False,
    ]


def test_a_sample_is_required_with_a_confidence() -> None:
    """With none at all, any words prove any bound."""
    task, claim = conforming(sample=100, seed="s")
    nothing = claim | {"confidence": "0", "bound": "0"}
    assert says(task, [nothing], "sampled", "sampled<=0@0") and not says(task, [nothing], "sampled<=1")
    assert says(task, [claim], "sampled<=1@19/20") and not says(task, [claim], "sampled<=1@24/25")
    assert not says(task, [claim | {"confidence": "47/50"}], "sampled<=1")
    for text in ("sampled<=1@", "sampled<=@1", "sampled<=1@2/4", "sampled<=1@1@1", "cost<=1@1"):
        with pytest.raises(Malformed):
            required.read_requirement(text)


def test_conformance_to_a_part_of_the_model_is_not_what_is_required() -> None:
    """To one harmless action, or from where a reset leads only, everything conforms."""
    task, claim = conforming(complete=0)
    some = claim["actions"][1:]
    steps = [step for step in claim["transcript"] if step[0] != claim["actions"][0]]
    state, read = task["hypotheses"][claim["hypothesis"]][0], []
    for action, _ in steps:
        read.append([action, task["model"]["output"][state][action]])
        state = task["model"]["successor"][state][action]
    start = task["model"]["successor"][task["hypotheses"][0][0]][claim["reset"]]
    classes = [0 if s == start else None for s in range(len(task["model"]["states"]))]
    part = claim | {"actions": some, "transcript": read, "access": [[]], "classes": classes}
    assert says(task, [part], "conforms") and not says(task, [part], "complete:0")
    begun = claim | {"access": [[]]}
    assert says(task, [begun], "conforms") and not says(task, [begun], "complete:0")


def test_a_plant_that_conforms_to_another_hypothesis_is_not_what_is_required() -> None:
    task, claim = conforming(complete=0)
    known, right = read_task(task), {"claim": "run", "label": task["labels"][task["hypotheses"][0][1]]}
    is_said = required.read_requirement("complete:0")
    assert is_said(known, [claim, right]) and not is_said(known, [claim, {"claim": "followed", "label": "other"}])
    assert not is_said(known, [claim, right, {"claim": "run", "label": "other"}])
    at_the_end = replace(known, current=[0] * known.num_states)
    assert is_said(at_the_end, [claim, {"claim": "run", "label": "other"}])
    assert not is_said(read_question(load("run-plant-nominal")[0]), [])


def test_the_second_of_two_machines_is_the_whole_model_that_a_plant_conforms_to() -> None:
    """States of the first have no class, and need not be reached; the label and the state of the second differ."""
    question = pose_fingerprint({"short": lock(2), "long": lock(3)})
    found = conform(question, SimulatedPlant(question.model, int(question.state[1])), hypothesis="long", complete=0)
    assert found.claim is not None and None in found.claim["classes"]
    task = json.loads(canonical(task_data(question)))
    assert says(task, [found.claim], "complete:0")
    known = read_task(task)
    assert required.is_answer(known, 1, {"long"}) and not required.is_answer(known, 1, {"short"})


def test_a_policy_that_homes_identifies_nothing() -> None:
    """Two states become one, whose label is known then; which of them it was is not."""
    task = {
        "format": "ascertain-task", "version": 1, "labels": ["s", "t"], "hypotheses": [[0, 0], [1, 1]], "cost": ["1"],
        "alpha": "0", "beta": "0", "current": [0, 1],
        "model": {
            "kind": "machine", "states": ["s", "t"], "actions": ["a"], "readings": ["y"], "successor": [[0], [0]],
            "output": [[0], [0]],
        },
    }  # fmt: skip
    claim = {"claim": "achieves", "cost": "1", "policy": {"nodes": [{"ask": 0, "next": {"0": 1}}, {"answer": 0}]}}
    assert says(task, [claim], "settles") and not says(task, [claim], "identifies")


def test_the_cost_of_tests_of_bits_counts_at_the_risks_of_the_task() -> None:
    task = load("run-plant-nominal")[0] | {"beta": "1/10"}
    answers: Any = [{"next": {"0": 1, "1": 2}}, {"answer": 0}, {"answer": 1}]
    order = [{"action": name, "test": 0} for name in ("A", "B")]
    claim = {"claim": "within-risk", "alpha": "1/5", "beta": "0", "cost": "2", "policy": {"tests": [answers]}}
    claim["policy"]["order"] = order
    assert says(task | {"alpha": "1/5"}, [claim], "cost<=2") and not says(task, [claim], "cost<=2")


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
