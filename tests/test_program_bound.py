"""The program bound: its twins, what it must never exceed, and the cases that it was made for."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bounds.encounters import find_encounters
from ascertain.bounds.information import bound_by_information
from ascertain.bounds.joint import build_joint
from ascertain.bounds.lattice import LatticeStep, Tangent, best_cut, cut_line, find_base
from ascertain.bounds.pairs import bound_by_pairs
from ascertain.bounds.plant import bound_plant, is_translation_invariant, linear_part, neighbours, restrict_plant_task
from ascertain.bounds.program import bound_by_program
from ascertain.errors import LimitError, TaskError
from ascertain.model import Machine, NoisyMachine
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.noisy import make_law, with_flip
from ascertain.problem.pose_plant import pose_plant
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from tests.by_hand import build, identify
from tests.reference import program as reference
from tests.reference.bayes import bound_by_bayes
from tests.strategies import machines, names, noisy_machines, tasks

ALPHA, BETA = F(1, 4_000_000), F(1, 1000)
RISKS = st.sampled_from((F(0), F(1, 100), F(1, 10), F(1, 4)))
SMALL = noisy_machines(min_states=2, max_states=4, max_actions=2, max_readings=2)


def as_float(value: F | None) -> float:
    return math.inf if value is None else float(value)


def register(num_bits: int, states: list[int], flip: F, label: list[int] | None = None) -> Task:
    """A register read bit by bit; only these of its states may be true."""
    machine = Machine(
        states=names("s", len(states)),
        actions=names("read", num_bits),
        readings=("0", "1"),
        successor=np.tile(np.arange(len(states), dtype=np.int32)[:, None], (1, num_bits)),
        output=np.array([[s >> i & 1 for i in range(num_bits)] for s in states], dtype=np.int32),
    )
    return identify(with_flip(machine, flip) if flip else machine, label)


def plant_of(num_bits: int, flip: F = F(1, 10), *commands: Command) -> BooleanPlant:
    reads = tuple(Command(f"r{i}", (), i) for i in range(num_bits))
    return BooleanPlant(bits=names("b", num_bits), commands=commands or reads, flip=flip)


# The twins.


@settings(max_examples=60)
@given(tasks(SMALL, max_hypotheses=3), RISKS, RISKS)
def test_the_program_is_at_least_the_one_of_the_design(task: Task, alpha: F, beta: F) -> None:
    ours = as_float(bound_by_program(task, alpha, beta).value)
    coupled, design = (f(task, float(alpha), float(beta)) for f in (reference.coupled_bound, reference.design_bound))
    assert coupled >= design * (1 - 1e-7) - 1e-7
    assert ours >= coupled * (1 - 1e-6) - 1e-7


@settings(max_examples=60)
@given(tasks(SMALL, max_hypotheses=3, max_labels=2), RISKS, RISKS)
def test_with_two_labels_and_no_lattice_it_is_the_twin_s(task: Task, alpha: F, beta: F) -> None:
    met = find_encounters(task)
    if any(kind.entropy is not None for kind in met.kinds):
        return
    ours = as_float(bound_by_program(task, alpha, beta).value)
    assert ours == pytest.approx(reference.coupled_bound(task, float(alpha), float(beta)), rel=1e-6, abs=1e-7)


@settings(max_examples=35)
@given(tasks(SMALL, max_hypotheses=3), RISKS, RISKS)
def test_no_policy_beats_the_program(task: Task, alpha: F, beta: F) -> None:
    """The best randomised policy of at most five steps costs at least the bound, and so it does with everything cut."""
    best = reference.best_policies(task, alpha, beta, 5) * (1 + 1e-7) + 1e-7
    assert as_float(bound_by_program(task, alpha, beta).value) <= best
    assert as_float(bound_by_program(task, alpha, beta, max_nodes=2, max_rivals=1).value) <= best
    assert as_float(bound_by_bayes(task, alpha, beta, max_nodes=60, rounds=5).value) <= best


@settings(max_examples=60)
@given(tasks(noisy_machines(min_states=2, max_states=5), max_hypotheses=4), RISKS, RISKS, st.integers(1, 4))
def test_it_is_never_below_the_pairwise_bound_however_it_is_cut(task: Task, alpha: F, beta: F, size: int) -> None:
    pairwise_bound = as_float(bound_by_information(task, alpha, beta).value)
    whole = as_float(bound_by_program(task, alpha, beta).value)
    cut = as_float(bound_by_program(task, alpha, beta, max_nodes=size, max_rivals=size).value)
    known = bound_by_information(task, alpha, beta)
    assert as_float(bound_by_program(task, alpha, beta, pairwise=known).value) == whole
    assert whole >= cut * (1 - 1e-7) - 1e-8
    assert cut >= pairwise_bound * (1 - 1e-7) - 1e-8


@settings(max_examples=60)
@given(tasks(machines(min_states=2, max_states=5), max_hypotheses=4))
def test_without_noise_it_lies_between_the_pair_distance_and_the_optimum(task: Task) -> None:
    value, distance, solution = bound_by_program(task).value, bound_by_pairs(task).value, solve(task)
    if distance is not None:
        assert value is None or value >= distance
    else:
        assert value is None
    if isinstance(solution, Solved):
        assert value is not None and value <= solution.cost


@given(
    st.fractions(F(1, 2), F(99, 100)), st.fractions(F(1, 10**4), F(1, 3)), st.sampled_from((F(2), F(3), F(9, 4), F(9)))
)
def test_the_lattice_owes_what_the_best_law_on_it_owes(p: F, e: F, base: F) -> None:
    if e >= p:
        return
    b, slope = cut_line(best_cut(p, e, base), p, base)
    owed = float(b - slope * e)
    assert owed == pytest.approx(reference.lattice_demand(float(p), float(e), math.log(base)), abs=1e-6)
    assert owed * math.log(base) >= reference.d(float(p), float(e)) - 1e-9


@given(st.fractions(F(1, 2), F(1)), st.fractions(F(1, 100), F(2, 5)), st.fractions(F(1, 100), F(2, 5)))
def test_tangents_stay_below_what_is_owed_and_touch_it(p: F, point: F, e: F) -> None:
    b, slope = cut_line(Tangent(point), p, None)
    assert float(b - slope * e) <= reference.d(float(p), float(e)) + 1e-12
    assert float(b - slope * point) == pytest.approx(reference.d(float(p), float(point)), abs=1e-12)


def test_a_lattice_is_found_exactly_where_there_is_one() -> None:
    def base(*flips: F) -> F | None:
        laws = [(make_law({0: 1 - q, 1: q}), make_law({0: q, 1: 1 - q})) for q in flips]
        table = [[k] * len(laws) for k in (0, 1)]
        machine = NoisyMachine(
            states=("s0", "s1"),
            actions=names("a", len(laws)),
            readings=("0", "1"),
            successor=np.array(table, dtype=np.int32),
            law=np.array([[2 * i + k for i in range(len(laws))] for k in (0, 1)], dtype=np.int32),
            laws=tuple(law for pair in laws for law in pair),
        )
        met = find_encounters(identify(machine))
        return find_base([met.kinds[k] for k in met.reachable(0, 1)])

    assert base(F(1, 10)) == 9
    assert base(F(1, 10), F(1, 4)) == 3
    assert base(F(1, 10), F(1, 28)) == 3
    assert base(F(1, 10), F(1, 5)) is None


# Cases.


def test_a_line_whose_reading_is_at_the_end_must_be_walked() -> None:
    """Five positions; `look` shows something at the last one only. The pairwise bound does not see the way there."""
    go = [[min(i % 5 + 1, 4) + 5 * (i // 5), i] for i in range(10)]
    look = [[0, 1 if i == 9 else 0] for i in range(10)]
    machine = build(go, look)
    task = Task(
        model=machine, state=np.array([0, 5]), label=np.array([0, 1]), labels=("left", "right"), cost=(F(1), F(1))
    )
    assert bound_by_program(task).value == 5
    noisy = replace(task, model=with_flip(machine, F(1, 10)))
    pair, program = (as_float(f(noisy, F(1, 100), F(0)).value) for f in (bound_by_information, bound_by_program))
    assert program >= pair + 0.98 * 4 - 1e-6
    assert program <= reference.best_policies(noisy, F(1, 100), F(0), 14) + 1e-7


def test_a_z_channel_is_bounded_where_relative_entropy_is_infinite_one_way() -> None:
    laws = (make_law({0: F(1)}), make_law({0: F(1, 2), 1: F(1, 2)}))
    machine = NoisyMachine(
        states=("quiet", "lively"),
        actions=("look",),
        readings=("0", "1"),
        successor=np.array([[0], [1]], dtype=np.int32),
        law=np.array([[0], [1]], dtype=np.int32),
        laws=laws,
    )
    task = identify(machine)
    bound = bound_by_program(task, F(1, 100), F(1, 100))
    # lively: readings must differ, and do so half of the time; quiet: log 2 a reading, on the lattice of powers of 2.
    assert bound.by_hypothesis[1] == pytest.approx(2 * (1 - F(3, 100)))
    assert bound.hypothesis == 0
    assert as_float(bound.value) >= reference.d(0.98, 0.01) / math.log(2)
    assert as_float(bound.value) <= reference.best_policies(task, F(1, 100), F(1, 100), 14) + 1e-7


def sensor(flip: F) -> Task:
    """Three hypotheses and one sensor: two that it confuses, and a third that it shows for certain."""
    laws = (make_law({0: 1 - flip, 1: flip}), make_law({0: flip, 1: 1 - flip}), make_law({2: F(1)}))
    machine = NoisyMachine(
        states=("left", "right", "off"),
        actions=("look",),
        readings=("0", "1", "2"),
        successor=np.array([[0], [1], [2]], dtype=np.int32),
        law=np.array([[0], [1], [2]], dtype=np.int32),
        laws=laws,
    )
    return identify(machine)


def test_alpha_divided_by_the_number_of_wrong_labels_would_be_wrong() -> None:
    """All of alpha may go to one wrong label: the optimum, 1.009, is below d(1 - alpha || alpha / 2) / KL."""
    flip, alpha = F(10055, 100_000), F(1, 10)
    task = sensor(flip)
    optimum = reference.best_policies(task, alpha, F(0), 12)
    assert optimum == pytest.approx(1.009, abs=5e-4)
    naive = reference.d(0.9, 0.05) / reference.kl({0: 1 - flip, 1: flip}, {0: flip, 1: 1 - flip})
    assert naive > 1.3
    for bound in (bound_by_program(task, alpha, F(0)).value, bound_by_bayes(task, alpha, F(0), max_nodes=300).value):
        assert optimum - 1e-4 <= as_float(bound) <= optimum + 1e-7


def test_ways_that_shut_behind_one_make_the_program_infeasible() -> None:
    """Each of two rivals is told apart by one action, after which nothing tells anything: no pair is obstructed."""
    sink = [4, 4]
    machine = with_flip(build([sink, sink, sink, sink, sink], [[0, 0], [1, 0], [0, 1], [1, 1], [0, 0]]), F(1, 100))
    task = Task(
        model=machine, state=np.array([0, 1, 2]), label=np.array([0, 1, 1]), labels=("no", "yes"), cost=(F(1), F(1))
    )
    assert bound_by_information(task, F(1, 10), F(1, 10)).value is not None
    bound = bound_by_program(task, F(1, 10), F(1, 10))
    assert bound.value is None
    assert bound.dual is not None and all(truth.weight == 0 for truth in bound.dual.truths)
    assert reference.best_policies(task, F(1, 10), F(1, 10), 4) == math.inf


def test_a_register_of_24_bits_asks_for_208_96_readings_to_know_that_it_is_nominal() -> None:
    task = register(24, [0, *(1 << i for i in range(24))], F(1, 10), [0] + [1] * 24)
    bound = bound_by_program(task, ALPHA, BETA)
    assert float(bound_by_information(task, ALPHA, BETA).value or 0) == pytest.approx(8.635149593)
    assert float(bound.value or 0) == pytest.approx(208.96074753, abs=1e-6)
    assert bound.visits[0] == pytest.approx(np.full(24, 208.96074753 / 24))
    # Without the lattice it is 24 times what one pair owes.
    assert float(bound.value or 0) > 24 * 8.635149593


def test_which_of_all_states_a_register_is_in_asks_for_more_by_symmetry() -> None:
    bound = bound_plant(pose_plant(plant_of(24)), ALPHA, BETA)
    assert float(bound.value or 0) == pytest.approx(258.251153, abs=1e-5)
    without_lattice = 24 * reference.d(1 - 2.5e-7 - 1e-3, 2.5e-7 / 24) / (0.8 * math.log(9))
    assert without_lattice == pytest.approx(250.59, abs=0.01)
    assert float(bound.value or 0) > without_lattice


def test_symmetry_and_the_split_over_all_truths_agree() -> None:
    task = register(3, list(range(8)), F(1, 10))
    split = bound_by_program(task, ALPHA, BETA, max_rivals=3)
    symmetric = bound_plant(pose_plant(plant_of(3)), ALPHA, BETA, max_rivals=3)
    assert as_float(split.value) == pytest.approx(as_float(symmetric.value), rel=1e-7)
    assert as_float(split.value) > max(split.by_hypothesis.values()) + 2
    assert symmetric.symmetric


@pytest.mark.parametrize("label", ["state", {"bits": ["b0", "b1"]}])
def test_an_affine_plant_is_bounded_as_if_it_were_listed(label: object) -> None:
    """A shift register whose end is fed back and turned over, and a read of another bit."""
    shift = Command("shift", (Gate("xor", 2, (2, 0)), Gate("not", 1), Gate("cnot", 0, (1,))), 2)
    plant = plant_of(3, F(1, 10), shift, Command("peek", (Gate("set", 0),), 1))
    question = pose_plant(plant, label=label)  # type: ignore[arg-type]
    assert is_translation_invariant(question)
    listed = restrict_plant_task(question, range(8))
    split = bound_by_program(listed, F(1, 100), F(1, 100))
    symmetric = bound_plant(question, F(1, 100), F(1, 100), states=tuple(range(1, 8)))
    assert as_float(symmetric.value) == pytest.approx(as_float(split.value), rel=1e-6)


def test_only_affine_questions_are_bounded_by_symmetry() -> None:
    plant = plant_of(3)
    curved = plant_of(3, F(1, 10), Command("c", (Gate("and", 0, (1, 2)),), 0))
    assert is_translation_invariant(pose_plant(plant))
    assert not is_translation_invariant(pose_plant(curved))
    assert not is_translation_invariant(pose_plant(plant, label={"nominal": "000"}))
    assert not is_translation_invariant(pose_plant(plant, hypotheses=["000", "001"]))
    assert not is_translation_invariant(pose_plant(plant, never=["111"]))
    assert not is_translation_invariant(pose_plant(plant, about="current"))


@given(st.lists(st.sampled_from(("xor", "cnot", "not", "copy", "set", "clear")), max_size=6), st.randoms())
def test_differences_move_as_the_linear_part_says(ops: list[str], rng) -> None:
    def gate(op: str) -> Gate:
        target, *others = rng.sample(range(4), 3)
        return Gate(op, target, tuple(others[: {"xor": 2, "cnot": 1, "copy": 1}.get(op, 0)]))

    plant = plant_of(4, F(1, 10), Command("c", tuple(gate(op) for op in ops), rng.randrange(4)))
    linear = linear_part(plant)
    for x in range(16):
        for difference in range(16):
            (a, tap), (b, other) = plant.step(x, 0), plant.step(x ^ difference, 0)
            assert (a ^ b, tap ^ other) == linear.step(difference, 0)


def test_a_family_of_states_stands_for_a_plant_that_is_not_listed() -> None:
    question = pose_plant(plant_of(24), label={"nominal": "0" * 24})
    bound = bound_plant(question, ALPHA, BETA)
    assert float(bound.value or 0) == pytest.approx(208.96074753, abs=1e-6)
    listed = replace(question, states=(0, 1, 3))
    task = restrict_plant_task(listed, (0, 3))
    assert (task.num_hypotheses, task.labels) == (2, ("nominal", "other"))
    assert bound_plant(listed, ALPHA, BETA).value is not None
    with pytest.raises(TaskError, match="each a hypothesis"):
        restrict_plant_task(listed, (0, 2))


def test_a_family_keeps_what_is_forbidden_and_what_it_becomes() -> None:
    shift = Command("shift", (Gate("copy", 0, (1,)), Gate("copy", 1, (2,))), 0)
    question = pose_plant(plant_of(3, F(1, 10), shift, Command("up", (Gate("set", 2),), 2)), never=["111"])
    task = restrict_plant_task(question, (4, 0))
    assert task.model.states[:2] == ("100", "000")
    assert "111" not in task.model.states
    with pytest.raises(LimitError, match="beyond 2 states"):
        restrict_plant_task(question, (4, 0), most=2)
    assert isinstance(question, PlantTask)
    assert neighbours(0, 3, 2) == [1, 2, 4, 3, 5, 6]


def test_rivals_of_one_label_share_nothing_and_two_labels_need_no_split() -> None:
    task = register(2, [0, 1, 2, 3], F(1, 10), [0, 0, 1, 1])
    bound = bound_by_program(task, F(1, 100), F(1, 100))
    assert bound.share == {}
    assert as_float(bound.value) == pytest.approx(max(bound.by_hypothesis.values()))


def test_hypotheses_can_be_chosen_and_nonsense_is_refused() -> None:
    task = register(2, [0, 1, 2, 3], F(1, 10))
    one = bound_by_program(task, F(1, 100), F(1, 100), hypotheses=[2])
    assert list(one.by_hypothesis) == [2] and one.cut
    with pytest.raises(TaskError, match="numbered"):
        bound_by_program(task, F(1, 100), F(1, 100), hypotheses=[4])
    with pytest.raises(TaskError, match="at least one node"):
        bound_by_program(task, F(1, 100), F(1, 100), max_nodes=0)


def test_nothing_to_settle_costs_nothing() -> None:
    alike = register(2, [0, 1, 2, 3], F(1, 10), [0, 0, 0, 0])
    assert bound_by_program(alike, F(1, 100), F(1, 100)).value == 0
    vacuous = bound_by_program(register(1, [0, 1], F(1, 10)), F(1, 2), F(0))
    assert (vacuous.value, vacuous.vacuous) == (0, True)
    assert bound_by_bayes(alike, F(1, 2), F(0)).vacuous


def test_without_time_the_bound_is_still_one() -> None:
    task = register(3, list(range(8)), F(1, 10))
    bound = bound_by_program(task, F(1, 100), F(1, 100), time_limit=0.0)
    assert as_float(bound.value) <= as_float(bound_by_program(task, F(1, 100), F(1, 100)).value)


def test_a_graph_that_is_cut_has_one_free_node() -> None:
    machine = build([[(s + 1) % 6] for s in range(6)], [[int(s == 5)] for s in range(6)])
    met = find_encounters(identify(machine, [0, 1, 1, 1, 1, 1]))
    whole, cut = (build_joint(met, 0, (1, 2), most) for most in (100, 2))
    assert not whole.is_cut and cut.is_cut
    assert len(cut.nodes) == 2
    assert {cut.variation(r, e) for r in range(2) for e in np.flatnonzero(cut.target == cut.free).tolist()} == {F(1)}


def test_the_bayes_bound_closes_in_on_the_optimum_of_a_coin() -> None:
    task = register(1, [0, 1], F(1, 10))
    best = reference.best_policies(task, F(1, 100), F(1, 100), 25)
    values = [as_float(bound_by_bayes(task, F(1, 100), F(1, 100), max_nodes=n).value) for n in (10, 60, 400)]
    assert all(a <= b + 1e-9 for a, b in pairwise(values))
    assert best * (1 - 1e-6) <= values[-1] <= best * (1 + 1e-9)
    program = as_float(bound_by_program(task, F(1, 100), F(1, 100)).value)
    assert values[-1] >= program * (1 - 1e-9)


def test_steps_are_ordered_and_lie_on_the_right_corners() -> None:
    assert best_cut(1 - ALPHA - BETA, ALPHA, F(9)) == LatticeStep(6, -4)
