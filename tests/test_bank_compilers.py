"""Three compilers and a naive twin give one answer: where an operation may have ended, and how well it explains it."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bank import direct as direct_compiler
from ascertain.bank.candidates import Compiled
from ascertain.bank.compile import compile_bank
from ascertain.bank.direct import compile_direct
from ascertain.bank.encoding import MANY_PATHS, count_paths
from ascertain.bank.endpoints import unpack
from ascertain.bank.exhaustive import compile_exhaustive
from ascertain.bank.operation import Operation
from ascertain.bank.score import distance, score_counts
from ascertain.bank.witness import find_witnesses
from ascertain.errors import LimitError, TaskError
from ascertain.instances.testbed import Testbed, load_testbed
from ascertain.kernels.bank_direct import find_bound
from ascertain.kernels.bank_seen import is_beaten, pass_by
from ascertain.kernels.boolean_code import NUM_SOURCES, OPERATIONS
from ascertain.model import Machine, Model
from ascertain.model.boolean import REVERSIBLE, BooleanPlant, Command, Gate, enumerate_machine

from .reference import bank as twin
from .strategies import models, names


@st.composite
def gates(draw: st.DrawFn, num_bits: int) -> Gate:
    op = draw(st.sampled_from([op for op, n in zip(OPERATIONS, NUM_SOURCES, strict=True) if n < num_bits]))
    target = draw(st.integers(0, num_bits - 1))
    allowed = [bit for bit in range(num_bits) if op not in REVERSIBLE or bit != target]
    count = NUM_SOURCES[OPERATIONS.index(op)]
    return Gate(op, target, tuple(draw(st.sampled_from(allowed)) for _ in range(count)))


@st.composite
def plants(draw: st.DrawFn) -> BooleanPlant:
    num_bits = draw(st.integers(1, 5))
    commands = tuple(
        Command(name, tuple(draw(st.lists(gates(num_bits), max_size=3))), draw(st.integers(0, num_bits - 1)))
        for name in names("c", draw(st.integers(1, 4)))
    )
    return BooleanPlant(names("b", num_bits), commands)


@st.composite
def windows(draw: st.DrawFn, most: int) -> tuple[int, int]:
    low = draw(st.integers(0, most))
    return low, low + draw(st.integers(0, most))


@st.composite
def operations(draw: st.DrawFn, max_length: int = 6) -> Operation:
    model: Model | BooleanPlant = draw(st.one_of(plants(), models()))
    num_states = 1 << model.num_bits if isinstance(model, BooleanPlant) else model.num_states
    num_commands, length = len(model.actions), draw(st.integers(1, max_length))
    commands = st.integers(0, num_commands - 1)
    words = st.lists(commands, max_size=2).map(tuple)

    def column(entry: st.SearchStrategy[int]) -> np.ndarray:
        return np.array(draw(st.lists(entry, min_size=length, max_size=length)), dtype=np.int32)

    return Operation(
        model=model,
        start=draw(st.integers(0, num_states - 1)),
        sent=column(commands),
        readings=column(st.integers(-1, len(model.readings) - 1)),
        trusted=column(st.integers(0, 1)).astype(np.bool_),
        alternatives=tuple(tuple(draw(st.lists(words, max_size=3, unique=True))) for _ in range(num_commands)),
        max_replaced=draw(st.integers(0, min(3, length))),
        replacement_window=draw(windows(3)),
        flip_window=draw(windows(5)),
    )


def as_map(compiled: Compiled) -> dict[int, tuple[int, int, int]]:
    scores = [(a, b, c) for a, b, c in compiled.score.tolist()]
    return dict(zip(compiled.endpoint.tolist(), scores, strict=True))


def same(a: Compiled, b: Compiled) -> bool:
    return np.array_equal(a.endpoint, b.endpoint) and np.array_equal(a.score, b.score)


@pytest.fixture(scope="module")
def bed() -> Testbed:
    return load_testbed("small")


def operation_of(bed: Testbed, number: int) -> Operation:
    return bed.logged(bed.draw(list(bed.slots())[number]))


# ---- scores ----


@given(st.integers(0, 20), windows(10))
def test_the_distance_from_a_window_is_that_from_its_nearest_number(count: int, window: tuple[int, int]) -> None:
    assert distance(count, window) == min(abs(count - x) for x in range(window[0], window[1] + 1))


@given(operations(), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_a_score_is_what_the_definition_says(operation: Operation, mis: int, replaced: int, flips: int) -> None:
    assert score_counts(operation, mis, replaced, flips) == twin.score(operation, replaced, mis, flips)


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


@settings(max_examples=100)
@given(operations(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 30))
def test_direct_gives_the_first_shells_of_the_twin(operation: Operation, shells: int, probe: int, budget: int) -> None:
    expected = {state: score for state, (score, _) in twin.compile_naively(operation).items()}
    last = sorted(set(expected.values()))[:shells]
    direct = compile_direct(operation, shells=shells, probe_shells=probe, probe_evaluations=budget)
    assert as_map(direct) == {state: score for state, score in expected.items() if score in last}
    if direct.stats.early_proof:
        assert direct.stats.evaluations <= direct.stats.paths
    assert direct.stats.probe_evaluations <= budget
    assert not direct.complete or len(direct.endpoint) == len(expected)


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


# ---- larger operations, drawn at random rather than for being simple ----


def random_operation(seed: int) -> Operation:
    rng = np.random.default_rng(seed)
    num_bits, num_commands, length = (int(rng.integers(low, high)) for low, high in ((3, 7), (3, 6), (6, 16)))

    def gate() -> Gate:
        op = str(rng.choice(OPERATIONS))
        target, *sources = rng.permutation(num_bits)[: 1 + NUM_SOURCES[OPERATIONS.index(op)]].tolist()
        return Gate(op, target, tuple(sources))

    commands = tuple(
        Command(name, tuple(gate() for _ in range(rng.integers(1, 4))), int(rng.integers(num_bits)))
        for name in names("c", num_commands)
    )
    plant = BooleanPlant(names("b", num_bits), commands)
    lists = [[tuple(rng.integers(num_commands, size=n).tolist()) for n in (0, 1, 1, 2)] for _ in commands]
    low = int(rng.integers(0, 5))
    return Operation(
        model=enumerate_machine(plant) if seed % 3 == 0 else plant,
        start=int(rng.integers(1 << num_bits)),
        sent=rng.integers(num_commands, size=length),
        readings=rng.integers(-1, 2, size=length),
        trusted=rng.random(length) < 0.3,
        alternatives=tuple(tuple(dict.fromkeys(words)) for words in lists),
        max_replaced=int(rng.integers(1, 4)),
        replacement_window=(int(rng.integers(0, 2)),) * 2,
        flip_window=(low, low + int(rng.integers(0, 3))),
    )


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_merging_is_exhaustive_on_random_operations(seed: int) -> None:
    operation = random_operation(seed)
    assert same(compile_bank(operation), compile_bank(operation, "exhaustive"))


@settings(max_examples=80)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 8), st.integers(1, 5))
def test_direct_is_merging_on_the_first_shells_wherever_it_stops_to_look(
    seed: int, shells: int, probe: int, between: int
) -> None:
    operation = random_operation(seed)
    with mock.patch.object(direct_compiler, "SLICE", between):
        direct = compile_direct(operation, shells=shells, probe_shells=probe)
    assert same(direct, compile_bank(operation, shells=shells))


@settings(max_examples=60)
@given(operations(max_length=5))
def test_the_bound_of_a_path_never_falls_and_ends_as_its_score(operation: Operation) -> None:
    chances, _ = direct_compiler.count_chances(operation)
    for path in twin.list_paths(operation):
        walked = twin.walk(operation, path)
        if walked is None:
            continue
        bounds = [
            find_bound(
                chances,
                t,
                sum(at < t for at, _ in path),
                sum(at < t for at in walked[1]),
                sum(at < t for at in walked[2]),
            )
            for t in range(operation.length + 1)
        ]
        assert bounds == sorted(bounds)
        score = unpack(np.array([bounds[-1]]))[0].tolist()
        assert tuple(score) == twin.score(operation, len(path), len(walked[1]), len(walked[2]))


@settings(max_examples=60)
@given(
    st.sampled_from([0, 1, 3, 64, 65, 70]),
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from([0, 5, 2**63]),
            st.integers(0, 3),
            st.sampled_from([0, 1, 2, 3, 63, 64, 69, 75]),
        ),
        max_size=60,
    ),
)
def test_a_path_matters_unless_one_as_good_has_come_by(low: int, paths: list[tuple[int, int, int, int]]) -> None:
    seen = direct_compiler.make_seen(4, low, None)
    for number, (place, state, mis, flips) in enumerate(paths):
        if int(seen.used[0]) == seen.state.size:
            seen = direct_compiler.make_seen(2 * seen.state.size, low, seen)
        before = [path[2:] for path in paths[:number] if path[:2] == (place, state)]
        beaten = any(twin.is_as_good(low, other, (mis, flips)) for other in before)
        assert pass_by(seen, low, place, np.uint64(state), mis, flips) == (not beaten)
        for other in (*before, (mis, flips)):
            better = any(each != other and twin.is_as_good(low, each, other) for each in (*before, (mis, flips)))
            assert is_beaten(seen, low, place, np.uint64(state), *other) == better


def test_direct_falls_back_where_memory_does_not_allow_it_to_go_on(bed: Testbed) -> None:
    operation = operation_of(bed, 0)
    with mock.patch.object(direct_compiler, "ROOM", 4):
        whole = compile_bank(operation, "direct", shells=8)
        cut = compile_bank(operation, "direct", shells=8, memory_limit=whole.stats.peak_bytes - 1)
    assert whole.stats.early_proof and not cut.stats.early_proof
    assert same(whole, cut)
    assert cut.stats.evaluations > count_paths(operation) > whole.stats.evaluations


def test_direct_proves_early_on_some_operations_and_falls_back_on_others() -> None:
    with mock.patch.object(direct_compiler, "SLICE", 4):
        stats = [compile_direct(random_operation(seed), shells=3, probe_shells=4).stats for seed in range(30)]
    early = [s for s in stats if s.early_proof]
    failed = [s for s in stats if not s.early_proof]
    assert early and failed
    assert all(s.evaluations + s.evaluations_saved == s.paths for s in early)
    assert sum(s.evaluations_saved for s in early) > 0
    assert all(s.evaluations > s.probe_evaluations > 0 and s.evaluations_saved == 0 for s in failed)


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
        sent=rng.integers(0, 3, 200),
        readings=rng.integers(-1, 2, 200),
        trusted=rng.integers(0, 20, 200) == 0,
        alternatives=(((1,), ()), ((1, 2),), ((0,),)),
        max_replaced=2,
        replacement_window=(1, 1),
        flip_window=(low, low + low % 3),
    )
    merging, exhaustive = compile_bank(operation), compile_exhaustive(operation)
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
        sent=np.arange(64),
        readings=np.arange(64) % 2,
        trusted=np.arange(64) % 5 == 0,
        alternatives=tuple(((), ((c + 7) % 64,)) for c in range(64)),
        max_replaced=1,
        replacement_window=(0, 1),
        flip_window=(20, 30),
    )
    expected = {state: score for state, (score, _) in twin.compile_naively(operation).items()}
    assert as_map(compile_bank(operation)) == as_map(compile_bank(operation, "exhaustive")) == expected
    assert max(expected) >= 2**63


# ---- what may be said about an operation ----


def small_operation(**changes: object) -> Operation:
    machine = Machine(
        states=names("s", 3),
        actions=names("a", 2),
        readings=names("y", 2),
        successor=np.array([[1, 0], [2, -1], [0, 1]], dtype=np.int32),
        output=np.array([[0, 1], [1, -1], [0, 0]], dtype=np.int32),
    )
    operation = Operation(
        model=machine,
        start=0,
        sent=np.array([0, 1]),
        readings=np.array([0, 0]),
        trusted=np.array([True, False]),
        alternatives=(((), (0, 0)), ((0,),)),
        max_replaced=1,
        replacement_window=(0, 0),
        flip_window=(0, 0),
    )
    return replace(operation, **changes)  # type: ignore[arg-type]


def test_a_log_that_cannot_be_done_as_sent_has_no_nominal_but_may_have_candidates() -> None:
    compiled = compile_bank(small_operation())
    assert compiled.nominal is None
    # Dropped: 0 reads nothing, then a1 stays and reads 1, an ordinary reading wrong. Doubled: s2 with reading 1, then
    # a1 to s1. Replaced by a0: s1, then a0 to s2 with reading 1.
    assert as_map(compiled) == {0: (0, 2, 1), 1: (1, 1, 1), 2: (0, 2, 1)}
    assert compiled.witness(0).replacements == ((0, ()),)
    assert compiled.witness(1).contradicted_trusted == (0,)


def test_an_operation_that_cannot_have_happened_has_no_candidates() -> None:
    for compiler in ("merging", "exhaustive", "direct"):
        compiled = compile_bank(small_operation(max_replaced=0), compiler)
        assert compiled.endpoint.size == 0
        assert list(compiled.shells()) == [] and compiled.num_shells == 0


def test_a_state_that_is_no_candidate_has_neither_score_nor_witness() -> None:
    compiled = compile_bank(small_operation(max_replaced=0, sent=np.array([0, 0])))
    assert compiled.endpoint.tolist() == [2]
    assert compiled.score_of(0) is None
    with pytest.raises(TaskError, match="state 0 is not among the 1 candidates"):
        compiled.witness(0)


def test_a_command_listed_as_its_own_alternative_counts_as_replaced() -> None:
    operation = small_operation(
        sent=np.array([0, 0]), alternatives=(((0,),), ()), max_replaced=2, replacement_window=(1, 1)
    )
    compiled = compile_bank(operation)
    assert as_map(compiled) == {2: (0, 1, 1)}
    assert len(compiled.witness(2).replacements) == 1
    assert compiled.stats.paths == 4


def test_words_that_are_no_compiler_or_no_number_of_shells_are_refused_with_a_sentence() -> None:
    with pytest.raises(TaskError, match="'fast' is not a compiler; known are merging, direct, exhaustive"):
        compile_bank(small_operation(), "fast")  # type: ignore[arg-type]
    with pytest.raises(TaskError, match="shells is 0; at least one"):
        compile_bank(small_operation(), shells=0)
    with pytest.raises(TaskError, match="flips begins at 1000000000000"):
        compile_bank(small_operation(flip_window=(10**12, 10**12)))


def test_a_window_without_end_is_a_window() -> None:
    assert as_map(compile_bank(small_operation(flip_window=(0, 10**30)))) == {0: (0, 1, 1), 1: (1, 1, 1), 2: (0, 1, 1)}


# ---- limits ----


def test_memory_is_bounded_and_a_limit_is_one_sentence(bed: Testbed) -> None:
    operation = operation_of(bed, 0)
    peak = compile_bank(operation).stats.peak_bytes
    assert peak > 0
    for compiler in ("merging", "exhaustive"):
        with pytest.raises(LimitError, match="bytes"):
            compile_bank(operation, compiler, memory_limit=10_000)


def test_more_paths_than_can_be_enumerated_are_counted_up_to_a_limit_and_refused(bed: Testbed) -> None:
    operation = replace(operation_of(bed, 0), max_replaced=20)
    assert count_paths(operation) == MANY_PATHS or count_paths(operation) > 2**40
    with pytest.raises(LimitError, match="use the merging one"):
        compile_bank(operation, "exhaustive")


def test_progress_is_told_and_goes_to_the_end(bed: Testbed) -> None:
    operation = operation_of(bed, 0)
    for compiler in ("merging", "exhaustive"):
        told: list[tuple[int, int]] = []
        compile_bank(operation, compiler, progress=lambda done, all_, told=told: told.append((done, all_)))
        assert told[-1] == (operation.length, operation.length)
        assert told == sorted(told)


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
    operation, n, a = operation_of(bed, 3), bed.settings.log_length, bed.settings.num_alternatives
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


@pytest.mark.slow
def test_direct_gives_the_first_shells_of_testbed_operations() -> None:
    bed = load_testbed()
    for slot in bed.block_slots("compilers", 0):
        operation = bed.logged(bed.draw(slot))
        assert same(compile_bank(operation, "direct"), compile_bank(operation, shells=8)), slot.name
