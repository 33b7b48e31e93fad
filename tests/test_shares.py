"""Lower bounds by shares: never above brute force, checked by the checker, and what is spoilt proves nothing false."""

from __future__ import annotations

import copy
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.certificate.claims.shares import shares_claim
from ascertain.model.build import machine_from_transitions
from ascertain.pipeline.certify import certify
from ascertain.problem.pose import pose
from ascertain.quotients.quotient import take_quotient
from ascertain.search.configuration import build_arena, is_pure
from ascertain.search.exact import solve
from ascertain.search.shares import bound_by_counting, bound_by_joint_states, bound_by_packing
from ascertain.search.solution import SharesProof, Solved
from ascertain.task.task import Task
from ascertain_check import Verdict
from tests.reference.optimum import optimum
from tests.reference.scaling_tasks import counter, locks, mutants
from tests.reference.shares import proved_by_shares, random_claim
from tests.reference.spoilers import poke
from tests.strategies import machines, tasks
from tests.test_checker_campaign import random_task


def judge(task: Task, claim: dict[str, Any]) -> Verdict:
    return certify(task, [claim])[1]


def claims_of(task: Task) -> list[dict[str, Any]]:
    """What counting, packing and joint states prove of a task."""
    quotient = take_quotient(task)
    arena = build_arena(quotient.reduced)
    if is_pure(arena.start):
        return []
    found = [
        bound_by_counting(arena, 0),
        bound_by_packing(arena, 0, lambda: False),
        bound_by_joint_states(arena, 0, lambda: False, most=300),
    ]
    return [shares_claim(shares.proof(arena, quotient)) for shares in found if shares is not None]


@given(tasks(machines(min_states=3, max_states=7, max_readings=2), about="start", max_labels=6))
@settings(max_examples=80, deadline=None)
def test_bounds_by_shares_are_verified_and_never_above_the_optimum(task: Task) -> None:
    best = optimum(task)
    for claim in claims_of(task):
        assert best is None or Fraction(claim["cost"]) <= best
        assert judge(task, claim).word == "VERIFIED"


@given(tasks(machines(min_states=2, max_states=4), about="start", max_labels=4), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_shares_prove_what_value_iteration_says_and_no_more_than_the_optimum(task: Task, seed: int) -> None:
    claim = random_claim(Random(seed), task)
    most, best = proved_by_shares(task, claim), optimum(task)
    refused = "exceed its cost" in judge(task, claim).reason  # a potential may leave less than nothing for the shares
    if refused or most < 0:
        return
    assert best is None or most <= best
    claim["cost"] = str(most)
    assert judge(task, claim).word == "VERIFIED"
    claim["cost"] = str(most + Fraction(1, 1000))
    assert most > 10**6 or judge(task, claim).word == "REFUTED"


def campaign(seeds: range, cases: int) -> Counter[tuple[str, str]]:
    """Spoilt claims of mutants and of random tasks: none that is verified is above brute force."""
    count: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        rng = Random(seed)
        task = mutants(4, seed=seed, states=3, actions=2, readings=2) if seed % 2 else random_machine_task(rng)
        claims, best = [*claims_of(task), random_claim(rng, task)], optimum(task)
        for case in range(cases):
            claim = copy.deepcopy(rng.choice(claims))
            for _ in range(rng.randint(1, 2)):
                spoil(rng, claim)
            if rng.random() < 0.2:
                poke(rng, claim)
            word = judge(task, claim).word
            if word == "VERIFIED":
                assert best is None or Fraction(claim["cost"]) <= best, (seed, case, claim)
            count["shares", word] += 1
    return count


def random_machine_task(rng: Random) -> Task:
    """A tiny task about the start, without noise."""
    while True:
        task = random_task(rng)
        if task.model.kind == "machine" and task.state_label is None:
            return task


def test_what_is_spoilt_proves_nothing_false() -> None:
    count = campaign(range(12), 40)
    assert min(count["shares", word] for word in ("VERIFIED", "REFUTED", "MALFORMED")) > 10, count


def spoil(rng: Random, claim: dict[str, Any]) -> None:
    """One change, of any kind; a cost that is claimed may rise by any amount."""
    kind = rng.choice(("cost", "shares", "rivals", "potential", "step", "reference"))
    entries = claim["labels"] + claim["states"]
    if kind == "cost":
        claim["cost"] = str(Fraction(claim["cost"]) + Fraction(rng.randint(1, 6), rng.choice((1, 2, 3))))
    elif kind == "shares" and entries:
        rng.choice(entries)[3] = rng.choice(("1", "2", "3/2"))
    elif kind == "rivals" and claim["rivals"]:
        claim["rivals"].append(rng.choice([*claim["rivals"], 0, 1, 2]))
    elif kind == "potential":
        claim["potential"] = [[r, str(rng.randint(0, 3))] for r in range(rng.randint(0, 3))]
    elif kind == "step" and entries:
        rng.choice(entries)[rng.randrange(3)] = rng.randrange(3)
    elif "reference" in claim:
        claim["reference"] = rng.randrange(4)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"cost": "inf"}, "MALFORMED"),
        ({"readings": None}, "MALFORMED"),
        ({"readings": [0]}, "MALFORMED"),
        ({"reference": 0}, "MALFORMED"),
        ({"rivals": [0, 0]}, "REFUTED"),
        ({"rivals": [99]}, "MALFORMED"),
        ({"states": [[0, 0, 6, "2"]]}, "REFUTED"),
        ({"states": [[0, 0, 6, "1"], [0, 0, 6, "1"]]}, "MALFORMED"),
        ({"states": [[1, 0, 6, "1"]]}, "MALFORMED"),
        ({"states": [[0, 0, 6, "-1"]]}, "MALFORMED"),
        ({"states": []}, "REFUTED"),
        ({"potential": [[0, "1"], [0, "1"]]}, "MALFORMED"),
        ({"cost": "7"}, "REFUTED"),
        ({"cost": "6"}, "VERIFIED"),
        ({"rivals": [], "cost": "1"}, "REFUTED"),
        ({"rivals": [], "cost": "0"}, "VERIFIED"),
        ({"extra": 1}, "MALFORMED"),
        ({"joint": [7]}, "MALFORMED"),
        ({"joint": []}, "VERIFIED"),
        ({"joint": [0]}, "REFUTED"),  # the shares are those of joint state 0 alone, and the others go without
        ({"readings": None, "reference": 0, "joint": [0]}, "MALFORMED"),
    ],
)
def test_the_checker_says_what_is_wrong_with_shares(change: dict[str, Any], word: str) -> None:
    task = counter(7)
    (claim,) = [claim for claim in claims_of(task) if "readings" in claim and "joint" not in claim]
    claim |= change
    if change.get("readings", 0) is None:
        del claim["readings"]
    assert judge(task, claim).word == word


@pytest.mark.parametrize(("seed", "proved"), [(1, 4), (4, 6)])
def test_what_is_refused_is_told_how_much_its_shares_and_potentials_prove(seed: int, proved: int) -> None:
    task = mutants(8, seed=seed, states=4, actions=2, readings=2)
    (claim,) = [claim for claim in claims_of(task) if claim["potential"] and "reference" in claim]
    assert judge(task, claim).word == "VERIFIED"
    refused = judge(task, {**claim, "cost": str(proved + 1)})
    assert (refused.word, refused.reason) == ("REFUTED", f"the shares prove no more than {proved}")


def test_a_potential_counts_where_a_step_begins_and_where_it_ends() -> None:
    task = mutants(8, seed=1, states=4, actions=2, readings=2)
    (claim,) = [claim for claim in claims_of(task) if claim["potential"] and "reference" in claim]
    start = claim["block"][int(task.state[claim["reference"]])]
    bare = {**claim, "cost": "0", "rivals": [], "labels": [], "states": []}
    falling = judge(task, {**bare, "potential": [[start, "100"]]})
    assert falling.word == "REFUTED" and "exceed its cost" in falling.reason
    reached = {int(task.state[claim["reference"]])}
    for _ in range(task.model.num_states):
        reached |= {int(s) for s in task.model.successor[sorted(reached)].ravel()}
    for r in {claim["block"][s] for s in reached}:  # every step counts, however far away
        assert judge(task, {**bare, "potential": [], "states": [[r, 0, 0, "100"]]}).word == "REFUTED"
    level = [[r, "100"] for r in sorted(set(claim["block"]))]
    assert judge(task, {**bare, "potential": level}).word == "VERIFIED"


def test_the_distance_of_a_rival_is_that_of_its_cheapest_word_though_a_dearer_one_is_met_first() -> None:
    """From z the action a leads to y at a share of 3, and the word b a at a share of 1; only y reads otherwise."""
    arrows = [
        ("z", "a", "0", "y"), ("z", "b", "0", "x"), ("x", "a", "0", "y"), ("x", "b", "0", "x"),
        ("y", "a", "1", "y"), ("y", "b", "0", "y"), ("w", "a", "0", "w"), ("w", "b", "0", "w"),
    ]  # fmt: skip
    task = pose(machine_from_transitions(arrows), hypotheses=["z", "w"], cost={"a": 4, "b": 1})
    model = task.model
    states = [[0, model.actions.index("a"), model.index[z], share] for z, share in (("z", "3"), ("x", "1"))]
    claim = {"claim": "shares", "readings": [model.readings.index("0")] * 2, "rivals": [0, 1], "labels": []}
    claim |= {"states": states, "potential": []}
    assert judge(task, {**claim, "cost": "1"}).word == "VERIFIED"
    assert judge(task, {**claim, "cost": "2"}).reason == "the shares prove no more than 1"


def test_shares_say_nothing_of_the_current_state() -> None:
    task = counter(5)
    claim = next(claim for claim in claims_of(task) if "readings" in claim)
    now = Task(
        model=task.model,
        state=task.state,
        label=task.label,
        labels=task.labels,
        cost=task.cost,
        state_label=task.label,
    )
    assert judge(now, claim).word == "REFUTED"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_locks_are_bounded_by_their_joint_states(seed: int) -> None:
    task = locks(6, seed=seed, digits=4, actions=3)
    result = solve(task)
    assert isinstance(result, Solved)
    proved = {"joint" in claim: Fraction(claim["cost"]) for claim in claims_of(task)}
    assert proved[False] < proved[True] <= result.cost <= proved[True] + 1


def test_of_locks_one_of_which_never_opens_all_others_must_open() -> None:
    """The digits 0 1 open x, 2 0 open y; z starts over whatever is dialled."""
    arrows = [
        ("x", "0", "-", "x1"), ("x", "1", "-", "x"), ("x", "2", "-", "x"),
        ("x1", "0", "-", "x"), ("x1", "1", "open", "x"), ("x1", "2", "-", "x"),
        ("y", "0", "-", "y"), ("y", "1", "-", "y"), ("y", "2", "-", "y1"),
        ("y1", "0", "open", "y"), ("y1", "1", "-", "y"), ("y1", "2", "-", "y"),
        ("z", "0", "-", "z"), ("z", "1", "-", "z"), ("z", "2", "-", "z"),
    ]  # fmt: skip
    task = pose(machine_from_transitions(arrows), hypotheses=["x", "y", "z"])
    (claim,) = [claim for claim in claims_of(task) if "joint" in claim]
    assert Fraction(claim["cost"]) == optimum(task) == 3
    assert claim["rivals"] == [0, 1, 2]
    assert judge(task, claim).word == "VERIFIED"
    assert judge(task, {**claim, "rivals": [0, 1]}).word == "REFUTED"


def test_joint_states_are_numbered_as_they_are_met_and_end_where_an_action_is_not_allowed() -> None:
    """Actions a and b lead x, y (0) to x1, y1 (1) and x alone (2); from 1 to 1 and y alone (3).

    From 2 they lead to x1 alone (4) and 2, from 3 to y1 alone (5) and nowhere (6), from 4 to 4, 6, from 5 to 5, 3.
    """
    arrows = [
        ("x", "a", "0", "x1"), ("x", "b", "0", "x"), ("x1", "a", "1", "x1"),
        ("y", "a", "0", "y1"), ("y1", "a", "0", "y1"), ("y1", "b", "0", "y"),
    ]  # fmt: skip
    task = pose(machine_from_transitions(arrows), hypotheses=["x", "y"], cost={"a": 2, "b": 3})
    claim = {"claim": "shares", "readings": [0, 0], "joint": [0, 1], "rivals": [], "labels": [], "states": []}
    lowest = (10, 8, 7, 5, 5, 3, 2)

    def with_potential(*values: int) -> Verdict:
        return judge(task, {**claim, "cost": "0", "potential": [[r, str(p)] for r, p in enumerate(values)]})

    assert with_potential(*lowest).word == "VERIFIED"
    for r in range(1, 7):
        assert "exceed its cost" in with_potential(*lowest[:r], lowest[r] - 1, *lowest[r + 1 :]).reason
    assert with_potential(*lowest, 0).word == "MALFORMED"


def test_a_counter_is_settled_by_counting() -> None:
    result = solve(counter(120))
    assert isinstance(result, Solved)
    assert result.cost == 119
    assert isinstance(result.proof, SharesProof)


def test_mutants_are_bounded_by_what_must_be_visited() -> None:
    task = mutants(30, states=8, actions=3)
    packing = max(Fraction(claim["cost"]) for claim in claims_of(task))
    assert packing >= 14
