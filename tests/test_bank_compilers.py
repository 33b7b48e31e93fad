"""Three compilers and a naive twin give one answer: where an operation may have ended, and how well it explains it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bank.compile import compile_bank
from ascertain.bank.compilers.direct import compile_direct
from ascertain.bank.encoding import count_paths
from ascertain.bank.endpoints import unpack
from ascertain.bank.operation import Operation
from ascertain.bank.score import score_counts
from ascertain.bank.witness import find_witnesses
from ascertain.kernels.bank.best import distance, pack
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain_paper.testbed.testbed import Testbed, load_testbed

from .operations import as_map, logged_operation, operations, random_operation, same, windows
from .reference import bank as twin
from .strategies import names


@pytest.fixture(scope="module")
def bed() -> Testbed:
    return load_testbed("small")


# ---- scores ----


@given(st.integers(0, 20), windows(10))
def test_the_distance_from_a_window_is_that_from_its_nearest_number(count: int, window: tuple[int, int]) -> None:
    assert distance(count, *window) == min(abs(count - x) for x in range(window[0], window[1] + 1))


@given(operations(), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_a_score_is_what_the_definition_says(operation: Operation, mis: int, replaced: int, flips: int) -> None:
    wanted = twin.score(operation, replaced, mis, flips)
    counts = (np.array([count], dtype=np.int64) for count in (mis, replaced, flips))
    assert score_counts(operation, *counts).tolist() == [list(wanted)]
    so, sy = distance(replaced, *operation.replacement_window), distance(flips, *operation.flip_window)
    assert unpack(np.array([pack(mis, so, sy)])).tolist() == [list(wanted)]


# ---- compilers against the twin ----


@settings(max_examples=150)
@given(operations())
def test_merging_and_exhaustive_give_the_scores_of_the_twin(operation: Operation) -> None:
    expected = {state: score for state, (score, _) in twin.compile_naively(operation).items()}
    merging, exhaustive = compile_bank(operation), compile_bank(operation, "exhaustive")
    assert as_map(merging) == as_map(exhaustive) == expected
    assert merging.complete and exhaustive.complete
    assert merging.endpoint.tolist() == sorted(expected, key=lambda state: (expected[state], state))
    nominal = twin.walk(operation, ())
    assert merging.nominal == exhaustive.nominal == (None if nominal is None else nominal[0])


@given(operations())
def test_first_shells_are_cut_from_all_and_come_one_at_a_time(operation: Operation) -> None:
    whole = compile_bank(operation)
    shells = list(whole.shells())
    assert [shell.score for shell in shells] == sorted({tuple(row) for row in whole.score.tolist()})
    assert [state for shell in shells for state in shell.states.tolist()] == whole.endpoint.tolist()
    assert all(whole.score_of(state) == shell.score for shell in shells for state in shell.states.tolist())
    assert len(shells) == whole.num_shells
    for compiler in ("merging", "exhaustive"):
        first = compile_bank(operation, compiler, shells=2)
        assert first.endpoint.tolist() == [state for shell in shells[:2] for state in shell.states.tolist()]
        assert first.complete == (len(shells) <= 2)


@settings(max_examples=75)
@given(operations())
def test_a_witness_attains_the_score_with_fewest_replacements(operation: Operation) -> None:
    compiled = compile_bank(operation)
    naive = twin.compile_naively(operation)
    states = compiled.endpoint.tolist()
    declared = set(twin.list_paths(operation))
    for state, witness in zip(states, compiled.witnesses(states), strict=True):
        assert witness.replacements in declared
        assert twin.walk(operation, witness.replacements) == (
            state,
            list(witness.contradicted_trusted),
            list(witness.contradicted),
        )
        counts = (len(witness.replacements), len(witness.contradicted_trusted), len(witness.contradicted))
        assert (twin.score(operation, *counts), counts[0]) == naive[state]
    if states:
        assert compiled.witness(states[-1]) == compiled.witnesses(states)[-1]


@settings(max_examples=25)
@given(operations(max_length=12))
def test_witnesses_do_not_depend_on_the_memory_that_they_may_use(operation: Operation) -> None:
    states = compile_bank(operation).endpoint.tolist()
    assert find_witnesses(operation, states) == find_witnesses(operation, states, memory_limit=15_000)


@given(operations())
def test_paths_are_counted_as_they_are_listed(operation: Operation) -> None:
    assert count_paths(operation) == sum(1 for _ in twin.list_paths(operation))
    exhaustive = compile_bank(operation, "exhaustive")
    happened = sum(twin.walk(operation, path) is not None for path in twin.list_paths(operation))
    assert exhaustive.stats.evaluations == happened


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_merging_is_exhaustive_on_random_operations(seed: int) -> None:
    operation = random_operation(seed)
    assert same(compile_bank(operation), compile_bank(operation, "exhaustive"))


# ---- windows and lengths beyond one word of bits ----


@pytest.mark.parametrize("low", [0, 1, 63, 64, 65, 127, 128, 150, 400])
def test_windows_of_any_size_are_exact_on_long_logs(low: int) -> None:
    rng = np.random.default_rng(low)
    plant = BooleanPlant(
        ("x", "y", "z"),
        (
            Command("a", (Gate("xor", 0, (0, 1)), Gate("copy", 2, (0,))), 0),
            Command("b", (Gate("and", 1, (0, 2)), Gate("not", 0)), 1),
            Command("c", (Gate("or", 2, (1, 0)), Gate("not", 1)), 2),
        ),
    )
    operation = Operation(
        model=plant,
        start=5,
        sent=rng.integers(0, 3, 200).astype(np.int32),
        readings=rng.integers(-1, 2, 200).astype(np.int32),
        trusted=rng.integers(0, 20, 200) == 0,
        alternatives=(((1,), ()), ((1, 2),), ((0,),)),
        max_replaced=2,
        replacement_window=(1, 1),
        flip_window=(low, low + low % 3),
    )
    merging, exhaustive = compile_bank(operation), compile_bank(operation, "exhaustive")
    assert same(merging, exhaustive)
    assert merging.num_shells > 1
    assert same(compile_direct(operation, shells=3), compile_bank(operation, shells=3))
    states = merging.endpoint.tolist()
    for state, witness in zip(states, merging.witnesses(states), strict=True):
        walked = twin.walk(operation, witness.replacements)
        assert walked is not None and walked[0] == state
        counts = (len(witness.replacements), len(walked[1]), len(walked[2]))
        assert twin.score(operation, *counts) == merging.score_of(state)


def test_states_of_64_bits_are_told_apart() -> None:
    bits = names("b", 64)
    plant = BooleanPlant(
        bits, tuple(Command(f"set{i}", (Gate("not", i), Gate("cnot", (i + 1) % 64, (i,))), i) for i in range(64))
    )
    operation = Operation(
        model=plant,
        start=2**64 - 1,
        sent=np.arange(64, dtype=np.int32),
        readings=np.arange(64, dtype=np.int32) % 2,
        trusted=np.arange(64) % 5 == 0,
        alternatives=tuple(((), ((c + 7) % 64,)) for c in range(64)),
        max_replaced=1,
        replacement_window=(0, 1),
        flip_window=(20, 30),
    )
    expected = {state: score for state, (score, _) in twin.compile_naively(operation).items()}
    assert as_map(compile_bank(operation)) == as_map(compile_bank(operation, "exhaustive")) == expected
    assert max(expected) >= 2**63


# ---- the testbed ----


@pytest.mark.parametrize("number", [0, 20])
def test_all_compilers_agree_on_testbed_operations(bed: Testbed, number: int) -> None:
    drawn = bed.draw(list(bed.slots())[number])
    operation = bed.logged(drawn)
    merging, exhaustive = compile_bank(operation), compile_bank(operation, "exhaustive")
    assert same(merging, exhaustive)
    assert merging.nominal == drawn.nominal_endpoint
    assert merging.score_of(drawn.true_endpoint) is not None
    assert merging.stats.paths == exhaustive.stats.evaluations
    assert merging.stats.model_steps < exhaustive.stats.model_steps
    direct = compile_bank(operation, "direct", shells=3)
    assert same(direct, compile_bank(operation, shells=3))
    witness = merging.witness(drawn.true_endpoint)
    assert twin.walk(operation, witness.replacements) == (
        drawn.true_endpoint,
        list(witness.contradicted_trusted),
        list(witness.contradicted),
    )


def test_an_exhaustive_model_step_is_one_prefix_through_one_command(bed: Testbed) -> None:
    # All start words are of one command: log as sent, one replacement at i, two at i < j; each from there on.
    operation, n, a = logged_operation(3), bed.settings.log_length, bed.settings.num_alternatives
    expected = n + sum(a * (n - i) for i in range(n)) + sum(a * a * j * (n - j) for j in range(n))
    assert compile_bank(operation, "exhaustive").stats.model_steps == expected


@pytest.mark.slow
def test_merging_is_exhaustive_on_500_testbed_operations() -> None:
    bed = load_testbed()
    slots = [slot for block in range(25) for slot in bed.block_slots("compilers", block)]
    assert len(slots) == 500
    for slot in slots:
        operation = bed.logged(bed.draw(slot))
        assert same(compile_bank(operation), compile_bank(operation, "exhaustive")), slot.name
