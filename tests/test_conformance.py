"""Conformance: suites that expose every other machine of a fault domain, samples with a bound, and their
certificates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.conformance.identifiers import cover, find_splitters, identify, useful_splitters
from ascertain.conformance.sample import bound_disagreement, draw_words
from ascertain.conformance.specification import Specification, Word, specify
from ascertain.conformance.suite import plan_suite
from ascertain.conformance.tree import ObservationTree, find_gap
from ascertain.errors import LimitError, ModelError, PlantFault, TaskError
from ascertain.model import Machine
from ascertain.pipeline.certify import certify
from ascertain.pipeline.conform import Conformed, conform
from ascertain.plant.faults import Late
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.conformance import pose_conformance
from ascertain.task.task import Task
from tests.reference import conformance as slow
from tests.strategies import machines


def machine_of(table: slow.Table, num_readings: int) -> Machine:
    return Machine(
        states=tuple(f"s{i}" for i in range(len(table))),
        actions=tuple(f"a{i}" for i in range(len(table[0]))),
        readings=tuple(f"y{i}" for i in range(num_readings)),
        successor=np.array([[t for t, _ in row] for row in table], dtype=np.int32),
        output=np.array([[y for _, y in row] for row in table], dtype=np.int32),
        initial=(0,),
    )


def specification(machine: Machine) -> Specification:
    return specify(machine, 0, range(machine.num_actions))


def table_of(spec: Specification) -> slow.Table:
    return tuple(tuple(zip(*rows, strict=True)) for rows in zip(spec.successor, spec.output, strict=True))


def random_table(rng: Random, num_states: int, num_actions: int = 2, num_readings: int = 2) -> slow.Table:
    return tuple(
        tuple((rng.randrange(num_states), rng.randrange(num_readings)) for _ in range(num_actions))
        for _ in range(num_states)
    )


def lock(num_states: int) -> Machine:
    """A combination lock: only the word 0 0 ... 0 opens it."""
    table = tuple((((s + 1) % num_states, int(s == num_states - 1)), (0, 0)) for s in range(num_states))
    return machine_of(table, 2)


def locked(num_states: int) -> Task:
    return pose_conformance(lock(num_states))


@given(machines(partial=False, max_states=5), st.integers(0, 1))
@settings(max_examples=60)
def test_a_planned_suite_satisfies_the_hypothesis_of_the_theorem(machine: Machine, extra: int) -> None:
    spec = specification(machine)
    suite = plan_suite(spec, extra)
    assert slow.is_complete(table_of(spec), slow.prefixes(suite.words), spec.access, extra)
    assert suite.floor is not None and suite.floor <= suite.cost


@given(machines(partial=False, max_states=4, max_actions=2), st.data())
@settings(max_examples=60)
def test_what_keeps_a_tree_from_proving_is_found_by_the_definition(machine: Machine, data: st.DataObject) -> None:
    spec = specification(machine)
    extra = data.draw(st.integers(0, 1))
    kept = [word for word in plan_suite(spec, extra).words if data.draw(st.integers(0, 7))]
    tree = ObservationTree(spec)
    for word in kept:
        tree.insert(word)
    complete = slow.is_complete(table_of(spec), slow.prefixes(kept), spec.access, extra)
    assert (find_gap(tree, spec.access, extra) is None) == complete


def prune(rng: Random, table: slow.Table, tree: set[Word], access: Sequence[Word], extra: int) -> set[Word]:
    """Leaves taken away, in random order, as long as the hypothesis holds."""
    tree = set(tree)
    stuck: set[Word] = set()
    while True:
        leaves = sorted(w for w in tree - stuck if not any(v[: len(w)] == w and v != w for v in tree))
        if not leaves:
            return tree
        leaf = rng.choice(leaves)
        if slow.is_complete(table, tree - {leaf}, access, extra):
            tree.remove(leaf)
        else:
            stuck.add(leaf)


def check_theorem(rng: Random, machines: Sequence[slow.Table], extra: int) -> tuple[int, int, int]:
    """For one random specification: machines that show a pruned tree, trees with a leaf fewer, and those that then
    admit another machine."""
    spec = specification(machine_of(random_table(rng, 2), 2))
    table = table_of(spec)
    grown = slow.prefixes((*plan_suite(spec, extra).words, *draw_words(spec, str(rng.random()), 3)))
    tree = prune(rng, table, grown, spec.access, extra)
    domain = [m for m in machines if slow.in_domain(m, spec.access, extra)]
    shows = [m for m in domain if all(slow.run(m, w)[1] == slow.run(table, w)[1] for w in tree)]
    assert all(slow.are_equivalent(m, table) for m in shows)
    leaves = sorted(w for w in tree if w and not any(v[: len(w)] == w and v != w for v in tree))
    less = tree - {rng.choice(leaves)}
    others = [m for m in domain if all(slow.run(m, w)[1] == slow.run(table, w)[1] for w in less)]
    return len(shows), 1, int(any(not slow.are_equivalent(m, table) for m in others))


def test_every_small_machine_of_the_domain_that_shows_a_tree_that_just_suffices_is_equivalent() -> None:
    """And with one leaf fewer the theorem is false for most trees, so that this test can fail."""
    small = [table for n in (1, 2) for table in slow.all_machines(n, 2, 2)]
    rng, totals = Random(7), np.zeros(3, dtype=int)
    for _ in range(40):
        totals += check_theorem(rng, small, 0)
    assert totals[0] > 200 and totals[2] > totals[1] / 2


@pytest.mark.slow
@pytest.mark.parametrize("extra", [0, 1])
def test_the_theorem_holds_for_all_machines_of_three_states(extra: int) -> None:
    small = [table for n in (1, 2, 3) for table in slow.all_machines(n, 2, 2)]
    rng, totals = Random(extra), np.zeros(3, dtype=int)
    for _ in range(60):
        totals += check_theorem(rng, small, extra)
    assert totals[0] > 1000 and totals[2] > totals[1] / 2


@given(st.lists(st.tuples(st.integers(1, 31), st.integers(1, 9)), min_size=1, max_size=7))
def test_a_cover_is_the_cheapest_of_all(options: list[tuple[int, int]]) -> None:
    target = 0
    for mask, _ in options:
        target |= mask
    places, exact = cover(options, target)
    joined = 0
    for k in places:
        joined |= options[k][0]
    assert exact and joined & target == target
    costs = []
    for chosen in range(1 << len(options)):
        picked = [options[k] for k in range(len(options)) if chosen >> k & 1]
        mask = 0
        for m, _ in picked:
            mask |= m
        if mask & target == target:
            costs.append(sum(price for _, price in picked))
    assert sum(options[k][1] for k in places) == min(costs)


@given(machines(partial=False, max_states=5))
def test_splitters_tell_states_apart_as_their_readings_do(machine: Machine) -> None:
    spec = specification(machine)
    for splitter in find_splitters(spec.successor, spec.output, spec.weight, max_behaviours=200):
        for s in range(spec.num_states):
            different = [
                t for t in range(spec.num_states) if spec.readings(t, splitter.word) != spec.readings(s, splitter.word)
            ]
            assert splitter.separated[s] == sum(1 << t for t in different)
    for s in range(spec.num_states):
        chosen, _ = identify(
            useful_splitters(find_splitters(spec.successor, spec.output, spec.weight), s),
            s,
            spec.num_states,
            lambda x: x.weight,
        )
        assert all(
            any(spec.readings(s, x.word) != spec.readings(t, x.word) for x in chosen)
            for t in range(spec.num_states)
            if t != s
        )


def test_what_was_observed_counts() -> None:
    spec = specification(lock(5))
    fresh = plan_suite(spec, 0)
    rest = plan_suite(spec, 0, observed=fresh.words[-3:])
    assert rest.cost < fresh.cost
    assert slow.is_complete(table_of(spec), slow.prefixes((*rest.words, *fresh.words[-3:])), spec.access, 0)
    assert plan_suite(spec, 0, observed=fresh.words).words == ()


def test_costs_of_actions_and_resets_decide_which_words_are_run() -> None:
    machine = lock(4)
    dear = specify(machine, 0, range(2), cost={1: Fraction(50)})
    assert plan_suite(dear, 0).cost <= dear.price(plan_suite(specification(machine), 0).words)


def test_specifications_are_minimal_and_complete() -> None:
    twice = machine_of((((1, 0), (0, 1)), ((0, 0), (1, 1)), ((2, 1), (2, 1))), 2)  # 0 and 1 alike, 2 out of reach
    spec = specification(twice)
    assert spec.num_states == 1 and spec.block.tolist() == [0, 0, -1]
    partial = Machine(
        states=("p",), actions=("a",), readings=("y",),
        successor=np.array([[-1]]), output=np.array([[-1]]), initial=(0,),
    )  # fmt: skip
    with pytest.raises(ModelError, match="action 'a' is not defined in state 'p'"):
        specification(partial)


def test_a_suite_that_nobody_could_run_is_refused() -> None:
    with pytest.raises(LimitError, match="fewer extra states"):
        plan_suite(specification(lock(8)), 25)


@pytest.mark.parametrize(("words", "confidence"), [(1, "1/2"), (30, "19/20"), (100, "19/20"), (1000, "999/1000")])
def test_the_bound_of_a_sample_is_the_least_that_holds(words: int, confidence: str) -> None:
    delta = 1 - Fraction(confidence)
    p = bound_disagreement(words, Fraction(confidence))
    assert (1 - p) ** words <= delta < (1 - p + Fraction(1, 10**6)) ** words


def test_a_sample_covers_transitions_evenly_and_has_the_declared_length() -> None:
    spec = specification(lock(3))
    words = draw_words(spec, "seed", 3000)
    assert words[:10] == draw_words(spec, "seed", 10)  # any number of words begins alike
    firsts = {(s, i): sum(w[: len(a) + 1] == (*a, i) for w in words) for s, a in enumerate(spec.access) for i in (0, 1)}
    assert min(firsts.values()) > 400
    mean = sum(len(w) for w in words) / len(words) - 2
    assert 3.5 < mean < 4.5  # one action of access in the mean, the transition, then four


# On plants.


def plant_of(task: Task, table: slow.Table | None = None, **kwargs: Any) -> SimulatedPlant:
    """The model of a conformance task, or another machine with the same reset."""
    if table is None:
        return SimulatedPlant(task.model, int(task.state[0]))
    other = pose_conformance(machine_of(table, 2))
    return SimulatedPlant(other.model, int(other.state[0]))


@pytest.mark.parametrize("how", [{"complete": 0}, {"complete": 1}, {"sample": 20, "seed": "s"}])
def test_a_plant_that_is_the_model_conforms_and_the_checker_agrees(how: dict[str, Any], tmp_path: Path) -> None:
    task = locked(4)
    found = conform(task, plant_of(task), **how, certificate=tmp_path / "c.json")
    assert found.verdict == Certified("s0") and found.certificate == "VERIFIED" and found.statement


def test_every_other_machine_of_the_domain_is_exposed_with_a_witness(tmp_path: Path) -> None:
    model = machine_of((((1, 0), (0, 0)), ((0, 1), (1, 0))), 2)
    spec_table, task = table_of(specification(model)), pose_conformance(model)
    exposed = 0
    for table in list(slow.all_machines(2, 2, 2))[::3]:
        found = conform(task, plant_of(task, table), complete=0, certificate=tmp_path / "c")
        if slow.are_equivalent(table, spec_table):
            assert found.verdict == Certified("s0")
        else:
            exposed += 1
            assert isinstance(found.verdict, NoneOfThese) and found.exit_code == 1
            word = tuple(int(action[1:]) for action, _ in found.verdict.witness[1:])
            assert slow.run(table, word)[1] != slow.run(spec_table, word)[1]
        assert found.certificate == "VERIFIED"
    assert exposed > 60


class Changeable:
    """Answers like a plant, except where it is told not to."""

    def __init__(self, plant: SimulatedPlant, at: Mapping[int, str | BaseException]) -> None:
        self.plant, self.at, self.sent = plant, at, 0

    def send(self, action: str) -> str:
        reading = self.plant.send(action)
        self.sent += 1
        answer = self.at.get(self.sent, reading)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def test_a_reading_that_no_model_has_is_a_witness(tmp_path: Path) -> None:
    task = locked(3)
    plant = Changeable(
        plant_of(task), dict.fromkeys(range(2, 1000, 2), "smoke") | dict.fromkeys(range(3, 1000, 2), "reset")
    )
    found = conform(task, plant, complete=0, certificate=tmp_path / "c.json")
    assert isinstance(found.verdict, NoneOfThese) and found.verdict.witness[-1][1] == "smoke"
    assert found.certificate == "VERIFIED"


def test_a_plant_that_does_not_repeat_itself_is_not_judged() -> None:
    task = locked(3)
    found = conform(task, Changeable(plant_of(task), {2: "smoke"}), complete=0)
    assert isinstance(found.verdict, Abstained) and "does not repeat itself" in found.verdict.reason
    assert found.exit_code == 3


def test_a_fault_costs_a_word_again_and_one_that_stays_is_raised() -> None:
    task = locked(3)
    found = conform(task, Changeable(plant_of(task), {5: Late("late"), 9: Late("late")}), complete=0)
    assert found.verdict == Certified("s0") and found.conducted is not None and len(found.conducted.faults) == 2
    with pytest.raises(PlantFault):
        conform(task, Changeable(plant_of(task), dict.fromkeys(range(5, 100), Late("late"))), complete=0)


@pytest.mark.parametrize("how", [{"complete": 0}, {"sample": 12}])
def test_a_run_that_was_broken_off_goes_on_with_the_next_word(how: dict[str, Any], tmp_path: Path) -> None:
    task, journal = locked(4), tmp_path / "run.journal"
    with pytest.raises(KeyboardInterrupt):
        conform(task, Changeable(plant_of(task), {20: KeyboardInterrupt()}), **how, journal=journal)
    with pytest.raises(Exception, match="has begun already"):
        conform(task, plant_of(task), **how, journal=journal)
    found = conform(task, plant_of(task), **how, journal=journal, resume=True, certificate=tmp_path / "c.json")
    assert found.verdict == Certified("s0") and found.certificate == "VERIFIED"
    with pytest.raises(Exception, match="another conformance run"):
        conform(task, plant_of(task), complete=1, journal=journal, resume=True)


def test_what_went_before_counts_and_stands_in_the_certificate(tmp_path: Path) -> None:
    task = locked(4)
    plant = plant_of(task)
    before = [(action, plant.send(action)) for action in ("a0", "a0", "a0", "a0", "RESET", "a1")]
    found = conform(task, plant, complete=0, before=before, certificate=tmp_path / "c.json")
    assert found.certificate == "VERIFIED" and found.steps[: len(before)] == tuple(before)
    assert found.plan.cost <= conform(task, complete=0).plan.cost


def test_bad_input_is_a_sentence() -> None:
    with pytest.raises(TaskError, match="say how"):
        conform(locked(3))
    with pytest.raises(TaskError, match="one initial state"):
        pose_conformance(replace(lock(2), initial=()))
    with pytest.raises(TaskError, match="is no reset"):
        conform(locked(3), complete=0, reset="a0")


# What the checker refuses.


def certified(how: dict[str, Any], tmp_path: Path) -> tuple[Conformed, dict[str, Any]]:
    task = locked(4)
    found = conform(task, plant_of(task), **how, certificate=tmp_path / "c.json")
    return found, json.loads((tmp_path / "c.json").read_text())["claims"][0]


def verdict_on(task: Task, claim: dict[str, Any]) -> str:
    return certify(task, [claim])[1].word


def runs_of(claim: dict[str, Any]) -> list[list[list[int]]]:
    runs: list[list[list[int]]] = [[]]
    for step in claim["transcript"]:
        if step[0] == claim["reset"]:
            runs.append([step])
        else:
            runs[-1].append(step)
    return runs


@pytest.mark.parametrize("extra", [0, 1])
def test_a_suite_without_a_leaf_is_verified_only_if_the_definition_still_holds(extra: int, tmp_path: Path) -> None:
    found, claim = certified({"complete": extra}, tmp_path)
    table = table_of(found.plan.spec)
    runs, refuted = runs_of(claim), 0
    for k in range(1, len(runs)):
        kept = [*runs[:k], runs[k][:-1], *runs[k + 1 :]]
        spoilt = {**claim, "transcript": [step for run in kept for step in run]}
        tree = slow.prefixes(tuple(a for a, _ in run if a != claim["reset"]) for run in kept)
        expected = slow.is_complete(table, tree, found.plan.spec.access, extra)
        assert verdict_on(found.task, spoilt) == ("VERIFIED" if expected else "REFUTED")
        refuted += not expected
    assert refuted > len(runs) / 3


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"extra": 1}, "REFUTED"),
        ({"extra": 1000}, "REFUTED"),
        ({"extra": 1001}, "MALFORMED"),
        ({"access": [[]]}, "VERIFIED"),  # a weaker statement, but a true one
        ({"access": [[0]]}, "MALFORMED"),
        ({"access": [[], [0], [0]]}, "MALFORMED"),
        ({"access": [[], [2]]}, "MALFORMED"),
        ({"access": [[], [1, 1, 1, 1, 1]]}, "REFUTED"),
        ({"actions": [0]}, "REFUTED"),
        ({"actions": [0, 1, 2]}, "MALFORMED"),
        ({"actions": [0, 1, 1]}, "MALFORMED"),
        ({"actions": []}, "MALFORMED"),
        ({"classes": [0, 1, 2, 2]}, "REFUTED"),
        ({"classes": [0, 1, 2, None]}, "REFUTED"),
        ({"classes": [None, 1, 2, 3]}, "REFUTED"),
        ({"classes": [None, None, None, None]}, "REFUTED"),
        ({"classes": [3, 2, 1, 0]}, "VERIFIED"),
        ({"classes": [0, 1, 2]}, "MALFORMED"),
        ({"reset": 1}, "MALFORMED"),
        ({"hypothesis": 1}, "MALFORMED"),
        ({"transcript": []}, "REFUTED"),
        ({"transcript": [[0, 1]]}, "REFUTED"),
        ({"transcript": [[0, True]]}, "MALFORMED"),
        ({"surplus": 1}, "MALFORMED"),
    ],
)
def test_a_complete_claim_that_is_changed_is_not_taken(change: dict[str, Any], word: str, tmp_path: Path) -> None:
    found, claim = certified({"complete": 0}, tmp_path)
    assert verdict_on(found.task, {**claim, **change}) == word


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"seed": "t"}, "REFUTED"),
        ({"words": 21}, "REFUTED"),
        ({"words": 19}, "REFUTED"),
        ({"words": 0}, "MALFORMED"),
        ({"words": 22}, "MALFORMED"),
        ({"first": 0}, "REFUTED"),
        ({"first": 2}, "REFUTED"),
        ({"stop": 4}, "REFUTED"),
        ({"stop": 1}, "MALFORMED"),
        ({"stop": 1001}, "MALFORMED"),
        ({"bound": "1/10"}, "REFUTED"),
        ({"bound": "1"}, "VERIFIED"),
        ({"bound": "2"}, "MALFORMED"),
        ({"confidence": "99/100"}, "REFUTED"),
        ({"confidence": "9/10"}, "VERIFIED"),
        ({"confidence": "1"}, "MALFORMED"),
        ({"access": [[], [0], [0, 0, 0], [0, 0]]}, "REFUTED"),
    ],
)
def test_a_sampled_claim_that_is_changed_is_not_taken(change: dict[str, Any], word: str, tmp_path: Path) -> None:
    found, claim = certified({"sample": 20, "seed": "s"}, tmp_path)
    assert verdict_on(found.task, {**claim, **change}) == word


@pytest.mark.parametrize(
    ("transcript", "word"),
    [
        ([[0, 1]], "VERIFIED"),
        ([[0, 0]], "REFUTED"),
        ([[0, 0], [0, 0], [0, 0], [0, 0]], "VERIFIED"),
        ([[0, 0], [0, 0], [0, 0], [0, 1]], "REFUTED"),
        ([[0, "smoke"]], "VERIFIED"),
        ([[0, "y1"]], "REFUTED"),
        ([[0, 1], [5, 0]], "MALFORMED"),
        ([[0, 7]], "MALFORMED"),
        ([], "REFUTED"),
    ],
)
def test_none_of_these_needs_every_hypothesis_contradicted(transcript: list[list[Any]], word: str) -> None:
    task = locked(4)
    assert verdict_on(task, {"claim": "none-of-these", "transcript": transcript}) == word
