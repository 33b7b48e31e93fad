"""The direct compiler gives the first shells, whether its early proof succeeds or not."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bank.compile import compile_bank
from ascertain.bank.compilers import direct as direct_compiler
from ascertain.bank.compilers.direct import compile_direct
from ascertain.bank.encoding import count_paths
from ascertain.bank.endpoints import unpack
from ascertain.bank.operation import Operation
from ascertain.kernels.bank.direct import find_bound
from ascertain.kernels.bank.seen import is_beaten, pass_by
from ascertain_paper.testbed.testbed import load_testbed

from .operations import as_map, logged_operation, operations, random_operation, same
from .reference import bank as twin


@settings(max_examples=100)
@given(operations(), st.booleans(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 30))
def test_direct_gives_the_first_shells_of_the_twin(
    operation: Operation, merges: bool, shells: int, probe: int, budget: int
) -> None:
    expected = {state: score for state, (score, _) in twin.compile_naively(operation).items()}
    last = sorted(set(expected.values()))[:shells]
    direct = compile_direct(operation, shells=shells, merges=merges, probe_shells=probe, probe_evaluations=budget)
    assert as_map(direct) == {state: score for state, score in expected.items() if score in last}
    if direct.stats.early_proof:
        assert direct.stats.evaluations <= direct.stats.paths
    assert direct.stats.probe_evaluations <= budget
    assert not direct.complete or len(direct.endpoint) == len(expected)


@settings(max_examples=80)
@given(st.integers(0, 2**32), st.booleans(), st.integers(1, 6), st.integers(1, 8), st.integers(1, 5))
def test_direct_is_merging_on_the_first_shells_wherever_it_stops_to_look(
    seed: int, merges: bool, shells: int, probe: int, between: int
) -> None:
    operation = random_operation(seed)
    with mock.patch.object(direct_compiler, "SLICE_EVALUATIONS", between):
        direct = compile_direct(operation, shells=shells, merges=merges, probe_shells=probe)
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


def test_direct_falls_back_where_memory_does_not_allow_it_to_go_on() -> None:
    operation = logged_operation(0)
    with mock.patch.object(direct_compiler, "ROOM", 4):
        whole = compile_bank(operation, "direct", shells=8)
        cut = compile_bank(operation, "direct", shells=8, memory_limit=whole.stats.peak_bytes - 1)
    assert whole.stats.early_proof and not cut.stats.early_proof
    assert same(whole, cut)
    assert cut.stats.evaluations > count_paths(operation) > whole.stats.evaluations


def test_direct_proves_early_on_some_operations_and_falls_back_on_others() -> None:
    with mock.patch.object(direct_compiler, "SLICE_EVALUATIONS", 4):
        stats = [compile_direct(random_operation(seed), shells=3, probe_shells=4).stats for seed in range(30)]
    early = [s for s in stats if s.early_proof]
    failed = [s for s in stats if not s.early_proof]
    assert early and failed
    assert all(s.evaluations + s.evaluations_saved == s.paths for s in early)
    assert sum(s.evaluations_saved for s in early) > 0
    assert all(s.evaluations > s.probe_evaluations > 0 and s.evaluations_saved == 0 for s in failed)


def test_without_merging_every_path_is_evaluated_once_where_all_shells_are_wanted() -> None:
    """On a plant of bits every path happens; with no last shell no bound stops one."""
    for number in range(2):
        operation = logged_operation(number)
        papers, ours = (
            compile_direct(operation, shells=10**6, merges=merges, probe_evaluations=10**6) for merges in (False, True)
        )
        assert (papers.stats.compiler, ours.stats.compiler) == ("direct-unmerged", "direct")
        assert papers.stats.evaluations == papers.stats.paths > ours.stats.evaluations
        assert same(papers, ours) and papers.complete


@pytest.mark.slow
def test_direct_gives_the_first_shells_of_testbed_operations() -> None:
    bed = load_testbed()
    for slot in bed.block_slots("compilers", 0):
        operation = bed.logged(bed.draw(slot))
        assert same(compile_bank(operation, "direct"), compile_bank(operation, shells=8)), slot.name
