"""Tests of bits in the checker: against walks from every state, runs that follow them, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations, combinations_with_replacement, islice
from operator import xor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.certificate.claims.within_risk import tests_claim as claim_of_tests
from ascertain.certificate.write import certificate_data
from ascertain.errors import LimitError
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.named import register
from ascertain.observer.records import hash_records
from ascertain.pipeline.bound import bound
from ascertain.pipeline.observe import observe
from ascertain.planning.exported import Controller, factors_of
from ascertain.planning.policy_forms import parse_controller, policy_data
from ascertain.planning.sequential_tests import LatticeTest, LevelwiseTest
from ascertain.policy.chain import follow, tabulate
from ascertain.policy.plain import as_ordered
from ascertain.policy.policy import Answer, Ask
from ascertain.policy.product import Factor, Product
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.plant_task import PlantTask
from ascertain_check import check
from ascertain_check.bit_tests import measure, read_bit_policy
from ascertain_check.forms import express, rank
from ascertain_check.plant_task import read_plant_task
from tests.reference.spoilers import spoil_everywhere

TENTH = Fraction(1, 10)
LABELS: list[Any] = ["state", {"bits": ["b0", "b2"]}, {"nominal": "010"}, {"expression": "b0 and not b2"}]
Triple = tuple[Fraction, Fraction, Fraction]


def parities(flip: Fraction = TENTH) -> BooleanPlant:
    """Three bits, read as b0, as b0 + b1 + 1 and as b0 + b2, with costs that differ; and a command that moves a bit."""
    work = Gate("clear", 3)
    commands = (
        Command("first", (), 0),
        Command("sum", (work, Gate("xor", 3, (0, 1)), Gate("not", 3)), 3),
        Command("other", (work, Gate("xor", 3, (0, 2))), 3),
        Command("move", (Gate("not", 0),), 0),
    )
    return BooleanPlant(bits=("b0", "b1", "b2", "work"), commands=commands, flip=flip)


def ask(label: Any, alpha: str = "1/10", beta: str = "1/10") -> PlantTask:
    """About b0, b1 and b2; `work` is no part of any label, so a label of all bits is one of these three."""
    named = {"bits": ["b0", "b1", "b2"]} if label == "state" else label
    named = {"expression": "not b0 and b1 and not b2"} if named == {"nominal": "010"} else named
    costs = {"sum": "2", "other": "3"}
    actions = ["first", "sum", "other"]
    return pose_plant(parities(), label=named, actions=actions, cost=costs, alpha=alpha, beta=beta)


def walk(question: PlantTask, controller: Controller, state: int) -> Triple:
    """(wrong, abstain, cost) of the policy from one state, reading by reading."""
    policy, wrong, abstain, cost = controller.policy, Fraction(0), Fraction(0), Fraction(0)
    now = {(policy.start(), state): Fraction(1)}
    while now:
        after: dict[tuple[Any, int], Fraction] = {}
        for (memory, s), chance in now.items():
            decision = policy.decide(memory)
            if isinstance(decision, Answer):
                wrong += chance * (controller.label(decision.label) not in question.true_labels(state, s))
            elif isinstance(decision, Ask):
                cost += chance * question.cost[decision.action]
                to = question.model.next_state(s, decision.action)
                for y, p in question.model.reading_law(s, decision.action).items():
                    place = policy.next(memory, y), to
                    after[place] = after.get(place, Fraction(0)) + chance * p
            else:
                abstain += chance
        now = after
    return wrong, abstain, cost


@st.composite
def controllers(draw: st.DrawFn) -> Controller:
    question = ask(draw(st.sampled_from(LABELS)))
    factors, small = factors_of(question), st.integers(1, 2)
    if factors.asks == "nominal" and draw(st.booleans()):
        caps = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
        order = draw(st.permutations(range(len(factors.actions))))
        actions, nominal = (tuple(column[i] for i in order) for column in (factors.actions, factors.nominal))
        return Controller(question, LevelwiseTest(TENTH, actions, nominal, len(caps), draw(small), caps))
    parts: list[Factor] = []
    for i, action in enumerate(factors.actions):
        test = LatticeTest(TENTH, draw(small), draw(small), draw(st.integers(1, 4)))
        bit = factors.one_bit(factors.costs[i])
        nominal = factors.nominal[i] if factors.asks == "nominal" else None
        parts.append(Factor(bit, as_ordered(tabulate(follow(bit, test))), (action,), (0, 1), nominal))
    return Controller(question, Product(tuple(parts)))


def checked(question: PlantTask, policy: Any) -> Triple:
    task = read_plant_task(json.loads(canonical_bytes(task_data(question))))
    return measure(task, read_bit_policy(task, policy))


def judge(question: PlantTask, claim: dict[str, Any]) -> str:
    texts = canonical_bytes(task_data(question)), canonical_bytes(certificate_data(question, [claim]))
    return str(check(*texts))


def test_a_mask_is_the_sum_of_others_exactly_when_some_of_them_add_up_to_it() -> None:
    """Also where masks depend on one another."""
    for masks in combinations_with_replacement(range(8), 3):
        sums = {reduce(xor, chosen, 0) for n in range(4) for chosen in combinations(masks, n)}
        assert 2 ** rank(list(masks)) == len(sums)
        for mask in range(8):
            found = express(mask, list(masks))
            assert (found is not None) == (mask in sums)
            assert found is None or reduce(xor, (masks[k] for k in found), 0) == mask


@given(controllers())
@settings(max_examples=60)
def test_what_is_measured_is_what_the_worst_state_comes_to(controller: Controller) -> None:
    question = controller.question
    assert isinstance(question, PlantTask)
    walks = [walk(question, controller, state) for state in range(8)]
    found = checked(question, policy_data(controller))
    worst = tuple(max(column) for column in zip(*walks, strict=True))
    assert all(a <= b for a, b in zip(worst, found, strict=True))
    assert all(a <= b for a, b in zip(found, controller.risk(), strict=True))
    if isinstance(controller.form, Product) and not controller.form.asks_nominal:
        assert found == worst
    claim = claim_of_tests(controller.risk(), policy_data(controller))
    assert judge(question, claim) == "VERIFIED"
    assert judge(question, {**claim, "values": []}) == "MALFORMED: tests of bits have no values"


@pytest.mark.parametrize("label", LABELS)
def test_a_run_is_certified_and_only_with_the_answer_that_its_readings_give(tmp_path: Path, label: Any) -> None:
    question = ask(label)
    path = tmp_path / "c.json"
    seen = observe(question, "simulated:5", policy="certified", certificate=path)
    assert seen.is_certified and seen.certificate == "VERIFIED"
    claim = json.loads(path.read_bytes())["claims"][0]
    for other in ("true", "false", "b0=0 b2=0", "b0=1 b2=1", "b0=1 b1=0 b2=1"):
        if other != claim["label"]:
            lie = json.loads(json.dumps(claim))
            lie["label"] = lie["records"][-1]["label"] = other
            lie["head"] = hash_records(lie["records"])
            assert judge(question, lie).startswith("REFUTED")


def test_both_forms_of_a_plant_that_is_not_enumerated_are_certified_and_run(tmp_path: Path) -> None:
    for label in ("state", {"nominal": "0" * 20}):
        asked = pose_plant(register(20, TENTH), label=label, alpha="1/50", beta="1/20")
        found = bound(asked, certified=True)
        assert str(found.verdict) == "VERIFIED" and found.certified is not None and found.upper is not None
        assert found.certified.upper is not None
        assert 0 < found.certified.upper - found.upper < Fraction(1, 10**9)
        assert not found.certified.has_lower
        assert any("not certified" in remark for remark in found.remarks)
        path = tmp_path / "policy.json"
        found.write_policy(path)
        seen = observe(asked, "simulated:2", policy=path, certificate=tmp_path / "c.json")
        assert seen.is_certified and seen.certificate == "VERIFIED"


def test_nothing_false_is_verified_among_spoilt_claims() -> None:
    question = ask({"expression": "b0 and not b2"})
    caps = (3, 4)
    factors = factors_of(question)
    levels = LevelwiseTest(TENTH, factors.actions, factors.nominal, 2, 2, caps)
    one = as_ordered(tabulate(follow(factors.one_bit(Fraction(1)), LatticeTest(TENTH, 2, 2, 5))))
    parts = [
        Factor(factors.one_bit(c), one, (a,), (0, 1), n)
        for a, c, n in zip(factors.actions, factors.costs, factors.nominal, strict=True)
    ]
    words: set[str] = set()
    for form in (levels, Product(tuple(parts))):
        controller = Controller(question, form)
        claim = claim_of_tests(controller.risk(), policy_data(controller))
        for lie in islice(spoil_everywhere(claim), 0, None, 5):
            word = judge(question, lie).partition(":")[0]
            words.add(word)
            if word == "VERIFIED":
                told = parse_controller(lie["policy"], question, "the claim")
                for state in range(8):
                    truth = zip(walk(question, told, state), ("alpha", "beta", "cost"), strict=True)
                    assert all(x <= Fraction(lie[k]) for x, k in truth)
    assert words == {"VERIFIED", "REFUTED", "MALFORMED"}


NODES = [{"next": {"0": 1, "1": 2}}, {"answer": 0}, {"answer": 1}]


def product(*actions: str, nodes: Any = NODES) -> dict[str, Any]:
    return {"tests": [nodes], "order": [{"action": a, "test": 0} for a in actions]}


@pytest.mark.parametrize(
    ("label", "policy", "reason"),
    [
        ("state", product("first", "sum"), "no sum of what the tests read"),
        ({"expression": "b0 and not b2"}, product("first", "sum", "other"), "more than the bits that are nominal"),
        ({"expression": "b0 or b2"}, product("first", "other"), "not a conjunction"),
        ("state", product("first", "first", "sum", "other"), "each once"),
        ("state", product("first", "sum", "move"), "no action of the task"),
        ("state", product("first", "sum", "other", nodes=[{"next": {"0": 0, "1": 0}}]), "does not come after it"),
        ("state", product("first", "sum", "other", nodes=[]), "at least one node"),
        ("state", product("first", "sum", "other", nodes=[{"next": {"2": 1}}, {"answer": 1}]), '"0" and "1"'),
        (
            {"expression": "b0 and not b2"},
            {"levels": {"actions": ["first", "other"], "nominal": [1, 0], "up": 1, "down": 1, "caps": [2]}},
            "nominal values of the task",
        ),
        (
            {"expression": "b0 and not b2"},
            {"levels": {"actions": ["first", "other"], "nominal": [1, 1], "up": 1, "down": 1000, "caps": [9999]}},
            "this checker's limit",
        ),
    ],
)
def test_what_is_no_policy_for_the_task_is_refused(label: Any, policy: Any, reason: str) -> None:
    claim = {"claim": "within-risk", "alpha": "1", "beta": "1", "cost": "1000", "policy": policy}
    assert reason in judge(ask(label), claim)


def test_commands_that_move_or_multiply_have_no_certified_tests() -> None:
    claim = {"claim": "within-risk", "alpha": "1", "beta": "1", "cost": "9"}
    moved = pose_plant(parities(), label={"bits": ["b0"]}, alpha="1/10", beta="1/10")
    assert "changes what command" in judge(moved, claim | {"policy": product("move")})
    both = Command("both", (Gate("and", 3, (0, 1)),), 3)
    plant = replace(parities(), commands=(both,))
    asked = pose_plant(plant, label={"bits": ["b0"]}, alpha="1/10", beta="1/10")
    assert "not affine" in judge(asked, claim | {"policy": product("both")})
    current = pose_plant(parities(), label={"bits": ["b0"]}, about="current", alpha="1/10", beta="1/10")
    assert "about the start" in judge(current, claim | {"policy": product("first")})
    with pytest.raises(LimitError, match="leads back"):
        claim_of_tests((TENTH, TENTH, Fraction(1)), product("first", nodes=[{"next": {"0": 0}}]))
