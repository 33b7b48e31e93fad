"""Claims about conformance: what the checker verifies is what the definitions say, however a claim was spoilt."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ascertain.model.build import machine_from_transitions
from ascertain.pipeline.certify import certify
from ascertain.pipeline.conform import conform
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.conformance import pose_conformance
from ascertain.problem.pose import Reset, pose
from ascertain.task.canonical import task_data
from ascertain.task.task import Task
from ascertain.types import UNDEFINED
from ascertain_check import check
from ascertain_check.claims.sampled import below
from tests.reference import conformance as slow
from tests.reference.run_claims import canonical
from tests.reference.spoilers import poke, spoil_everywhere
from tests.test_conformance import locked, machine_of, random_table

Claim = dict[str, Any]
SMALL = [table for n in (1, 2) for table in slow.all_machines(n, 2, 2)]


def verdict_on(task: Task, claim: Claim) -> str:
    return certify(task, [claim])[1].word


def sentence_on(task: Task, claim: Claim) -> str:
    return certify(task, [claim])[1].proved[0]


def random_question(rng: Random) -> Task:
    """A small machine from its start on, or all its states, from each of which a reset leads to the first one."""
    machine = machine_of(random_table(rng, rng.choice((1, 2, 3))), 2)
    whole = pose(machine, reset=Reset("RESET", to="s0"), label="class")
    return rng.choice((pose_conformance(machine), whole))


def true_claims(rng: Random, task: Task) -> list[Claim]:
    """What runs on a plant that is the model have shown, and what one that is not has."""
    claims: list[Claim] = []
    state = int(task.state[rng.randrange(len(task.state))])
    ways: list[dict[str, Any]] = [{"complete": 0}, {"complete": 1}, {"sample": 4, "seed": "s"}]
    for how in ways:
        label = task.labels[int(task.label[task.state.tolist().index(state)])]
        before = (
            [("a0", task.model.readings[next(iter(task.model.reading_law(state, 0)))])] if rng.random() < 0.5 else []
        )
        plant = SimulatedPlant(task.model, state if not before else task.model.next_state(state, 0))
        found = conform(task, plant, **how, hypothesis=label, before=before)
        assert found.claim is not None and found.exit_code == 0
        claims.append(found.claim)
    for _ in range(4):
        readings = [[rng.randrange(2), rng.choice((0, 1, "smoke"))] for _ in range(6)]
        ends = [n for n in range(1, 7) if not slow.left_by(task, readings[:n])]
        claims += [{"claim": "none-of-these", "transcript": readings[:n]} for n in ends[:1]]
    return claims


def judge(task: Task, claim: Claim) -> str:
    """What the checker says; fails where it verifies what the definitions refute."""
    word = verdict_on(task, claim)
    if word == "VERIFIED":
        assert slow.is_true(task, claim), (task_data(task), json.dumps(claim))
    if word == "VERIFIED" and claim["claim"] == "conforms":
        assert not others_of_the_domain(task, claim), (task_data(task), json.dumps(claim))
    return word


def others_of_the_domain(task: Task, claim: Claim) -> list[slow.Table]:
    """Small machines of the fault domain that show the same, but are not equivalent."""
    observed = slow.read_claim(task, claim)
    if observed is None or sorted(claim["actions"]) != [0, 1] or claim["extra"] > 2:
        return []
    table, runs = observed
    access = [tuple(claim["actions"].index(a) for a in word) for word in claim["access"]]
    shows = [m for m in SMALL if all(slow.run(m, w)[1] == slow.run(table, w)[1] for w in runs)]
    return [m for m in shows if not slow.are_equivalent(m, table) and slow.in_domain(m, access, claim["extra"])]


def campaign(seeds: range) -> Counter[tuple[str, str]]:
    """Every place of every claim is spoilt, and then some at random; runs are also cut short and left out."""
    count: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        rng = Random(seed)
        task = random_question(rng)
        for claim in true_claims(rng, task):
            assert judge(task, claim) == "VERIFIED"
            spoilt = list(spoil_everywhere(claim))
            for _ in range(40):
                other = json.loads(json.dumps(claim))
                for _ in range(rng.randint(1, 3)):
                    poke(rng, other)
                spoilt.append(other)
            for _ in range(10):
                steps, first = claim["transcript"], rng.randrange(len(claim["transcript"]))
                spoilt.append({**claim, "transcript": steps[:first] + steps[first + rng.randint(1, 4) :]})
            for other in spoilt:
                count[str(claim["claim"]), judge(task, other)] += 1
    return count


def check_balance(count: Counter[tuple[str, str]]) -> None:
    for kind in ("conforms", "sampled", "none-of-these"):
        for word in ("VERIFIED", "REFUTED", "MALFORMED"):
            assert count[kind, word] > 0, (kind, word, count)


def test_nothing_false_is_verified_wherever_a_claim_is_spoilt() -> None:
    check_balance(campaign(range(4)))


@pytest.mark.slow
def test_nothing_false_is_verified_among_hundreds_of_thousands_of_spoilt_claims() -> None:
    count = campaign(range(1000, 1200))
    print(*(f"{kind} {word} {n}" for (kind, word), n in sorted(count.items())), sep="\n")
    check_balance(count)


def test_the_checker_agrees_with_the_definition_on_trees_with_words_left_out() -> None:
    count: Counter[bool] = Counter()
    for seed in range(40):
        rng = Random(seed)
        task = pose_conformance(machine_of(random_table(rng, 3), 2))
        extra = rng.randrange(2)
        found = conform(task, SimulatedPlant(task.model, 0), complete=extra)
        assert found.claim is not None
        runs = [[]]
        for step in found.claim["transcript"]:
            runs.append([step]) if step[0] == found.claim["reset"] else runs[-1].append(step)
        for _ in range(6):
            kept = [run[: rng.choice((len(run), len(run), len(run) - 1))] for run in runs]
            kept = [run for run in kept if run and rng.random() < 0.9]
            claim = {**found.claim, "transcript": [step for run in kept for step in run], "extra": rng.randrange(2)}
            expected = slow.is_true(task, claim)
            assert (verdict_on(task, claim) == "VERIFIED") == expected, (seed, claim)
            count[expected] += 1
    assert min(count.values()) > 20, count


@pytest.mark.parametrize("extra", [0, 1])
def test_the_sentence_says_which_machines_are_excluded(extra: int) -> None:
    task = locked(4)
    found = conform(task, SimulatedPlant(task.model, 0), complete=extra)
    assert found.claim is not None
    told = sentence_on(task, found.claim)
    assert told.startswith(f"complete conformance: every machine of at most {4 + extra} states, and every complete")
    assert f"by one of 4 words and at most {extra} further actions" in told
    fewer = sentence_on(task, {**found.claim, "access": [[], [0]]})
    assert "of at most" not in fewer and "by one of 2 words" in fewer


def sampled(task: Task, words: int, stop: int, *, first: int = 0, **changes: Any) -> Claim:
    """A sample of an own distribution, made by the twin; the first word begins with the transcript where first is 0."""
    model, access = task.model, [(), (0,)]
    steps: list[list[int]] = []
    for j in range(words):
        z = int(task.state[0])
        steps += [[2, next(iter(model.reading_law(z, 2)))]] if j or first else []
        for a in slow.draw("seed", j, access, 2, stop):
            steps.append([a, next(iter(model.reading_law(z, a)))])
            z = model.next_state(z, a)
    bound = Fraction(1, 2) if words == 1 else Fraction(3, 4)
    claim = {
        "claim": "sampled",
        "hypothesis": 0,
        "reset": 2,
        "actions": [0, 1],
        "classes": [0, 1, 2, 3],
        "access": [[], [0]],
    }
    claim |= {"transcript": steps, "seed": "seed", "stop": stop, "words": words, "first": first}
    return {**claim, "confidence": str(1 - (1 - bound) ** words), "bound": str(bound), **changes}


def test_samples_are_taken_up_to_their_limits() -> None:
    task = locked(4)
    for words, stop, first in ((1, 2, 0), (1, 2, 1), (3, 2, 0), (3, 5, 0), (2, 3, 1)):
        assert verdict_on(task, sampled(task, words, stop, first=first)) == "VERIFIED"
    assert verdict_on(task, sampled(task, 1, 1000)) == "VERIFIED"
    assert verdict_on(task, sampled(task, 2, 3, confidence="1501/1600")) == "REFUTED"
    # Of two words, runs 0 and 1: none begins at 2, and there is no run 3.
    assert verdict_on(task, sampled(task, 2, 3) | {"first": 1}) == "REFUTED"
    assert verdict_on(task, sampled(task, 2, 3) | {"first": 2}) == "REFUTED"
    assert verdict_on(task, sampled(task, 2, 3) | {"first": 3}) == "MALFORMED"
    assert verdict_on(task, sampled(task, 2, 3) | {"words": 3}) == "MALFORMED"
    told = sentence_on(task, sampled(task, 3, 5))
    assert told.startswith("sampled conformance to hypothesis 0: 3 words agreed")
    assert "one of 2 states, one of 2 actions, then 4 further actions in the mean" in told
    assert verdict_on(task, sampled(task, 1, 1) | {"stop": 1}) == "MALFORMED"


def test_a_seed_that_has_no_bytes_is_malformed() -> None:
    """Half a surrogate pair cannot be hashed; the checker answers nonetheless."""
    task = locked(4)
    text, head = canonical(task_data(task)), {"format": "ascertain-certificate", "version": 1, "made_by": ""}
    claim = sampled(task, 1, 2) | {"seed": "\ud800"}
    certificate = {**head, "task_sha256": sha256(text).hexdigest(), "claims": [claim]}
    assert str(check(text, json.dumps(certificate).encode())).startswith("MALFORMED: seed holds half of a surrogate")


def test_numbers_are_drawn_evenly() -> None:
    last = 2**256 - 1  # one too many for thirds
    assert [below(iter([last, 5]), 3), below(iter([last - 1, 5]), 3), below(iter([last]), 2)] == [2, 2, 1]


def test_what_was_done_before_a_reset_that_leads_elsewhere_counts_only_if_it_agrees() -> None:
    task = pose(machine_of((((0, 0), (1, 1)), ((0, 1), (1, 0))), 2), reset=Reset("RESET", to="s0"))
    found = conform(task, SimulatedPlant(task.model, 1), complete=0, hypothesis="s1", before=[])
    assert found.claim is not None
    claim = {**found.claim, "hypothesis": 1}
    assert verdict_on(task, claim) == "VERIFIED"
    runs = sum(step[0] == claim["reset"] for step in claim["transcript"])
    assert f"these {runs} runs" in sentence_on(task, claim)
    assert f"these {runs + 1} runs" in sentence_on(task, {**claim, "hypothesis": 0})
    early = {**claim, "transcript": [[0, 1], *claim["transcript"]]}
    assert verdict_on(task, early) == "VERIFIED" and f"these {runs} runs" in sentence_on(task, early)
    assert verdict_on(task, {**early, "transcript": [[0, 0], *claim["transcript"]]}) == "REFUTED"
    # The whole suite in one go from another state than the reset leads to shows nothing.
    once = [step for step in claim["transcript"] if step[0] != claim["reset"]]
    assert verdict_on(task, {**claim, "transcript": once}) == "REFUTED"


def test_a_reset_that_is_not_defined_or_leads_to_several_states_is_refuted() -> None:
    task = pose(machine_of((((0, 0), (1, 1)), ((0, 1), (1, 0))), 2), reset=Reset("RESET", to="s0"))
    found = conform(task, SimulatedPlant(task.model, 0), complete=0, hypothesis="s0")
    assert found.claim is not None
    # The last one is another action, not defined where a reset leads on.
    for state, a, target in ((0, 2, UNDEFINED), (1, 2, UNDEFINED), (1, 2, 1), (0, 2, 1), (1, 0, UNDEFINED)):
        successor, behaviour = np.array(task.model.successor), np.array(task.model.behaviour)
        successor[state, a] = target
        behaviour[state, a] = UNDEFINED if target == UNDEFINED else behaviour[1 - state, a]
        other = replace(task, model=task.model.rebuilt(successor=successor, behaviour=behaviour))
        assert verdict_on(other, found.claim) == "REFUTED"


def test_a_reading_that_only_another_run_shows_is_no_witness(tmp_path: Path) -> None:
    task = locked(2)
    for steps, word in (([[0, 0], [0, 1], [2, "reset"]], "REFUTED"), ([[0, 0], [2, 2], [0, 1]], "VERIFIED")):
        assert verdict_on(task, {"claim": "none-of-these", "transcript": steps}) == word


def test_labels_in_another_order_and_states_that_cannot_be_reached_change_nothing() -> None:
    machine = machine_of((((0, 0), (1, 1)), ((0, 1), (1, 0)), ((2, 0), (2, 0))), 2)
    task = pose(machine, hypotheses=["s1", "s0"], label={"s1": "x", "s0": "y"}, reset=Reset("RESET", to="s0"))
    assert task.state.tolist() != task.label.tolist()
    found = conform(task, SimulatedPlant(task.model, 1), complete=0, hypothesis="x")
    assert found.claim is not None and found.claim["classes"] == [0, 1, None]
    told = sentence_on(task, found.claim)
    assert "every machine of at most 2 states" in told and f"these {len(found.plan.words)} runs" in told


def test_access_words_over_other_actions_are_malformed() -> None:
    task = locked(4)
    found = conform(task, SimulatedPlant(task.model, 0), complete=0)
    assert found.claim is not None
    assert verdict_on(task, {**found.claim, "actions": [1], "transcript": [], "access": [[], [0]]}) == "MALFORMED"


def test_none_of_these_does_not_rest_on_an_action_that_is_not_allowed_and_knows_laws() -> None:
    partial = pose(machine_from_transitions([("s", "a", "0", "s"), ("t", "b", "0", "t"), ("t", "a", "1", "t")]))
    b = partial.model.actions.index("b")
    assert verdict_on(partial, {"claim": "none-of-these", "transcript": [[b, 1]]}) == "REFUTED"
    noisy = pose(machine_from_transitions([("s", "a", "0", "s"), ("t", "a", "1", "t")]), flip="1/10", alpha="1/10")
    for steps in ([[0, 0]], [[0, 1], [0, 0]]):
        assert verdict_on(noisy, {"claim": "none-of-these", "transcript": steps}) == "REFUTED"
    assert verdict_on(noisy, {"claim": "none-of-these", "transcript": [[0, "smoke"]]}) == "VERIFIED"
