"""What may be said about an operation, what cannot be compiled, and the limits of memory and of paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ascertain.bank.compile import compile_bank, compiler_names
from ascertain.bank.encoding import MANY_PATHS, count_paths
from ascertain.bank.operation import Operation
from ascertain.errors import LimitError, TaskError
from ascertain.model import Machine

from .operations import as_map, logged_operation
from .strategies import names

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
    for compiler in compiler_names():
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
    with pytest.raises(
        TaskError, match="'fast' is not a compiler; known are merging, direct, direct-unmerged, exhaustive"
    ):
        compile_bank(small_operation(), "fast")
    with pytest.raises(TaskError, match="shells is 0; at least one"):
        compile_bank(small_operation(), shells=0)
    with pytest.raises(TaskError, match="flips begins at 1000000000000"):
        compile_bank(small_operation(flip_window=(10**12, 10**12)))


def test_a_window_without_end_is_a_window() -> None:
    assert as_map(compile_bank(small_operation(flip_window=(0, 10**30)))) == {0: (0, 1, 1), 1: (1, 1, 1), 2: (0, 1, 1)}


# ---- limits ----


def test_memory_is_bounded_and_a_limit_is_one_sentence() -> None:
    operation = logged_operation(0)
    peak = compile_bank(operation).stats.peak_bytes
    assert peak > 0
    for compiler in ("merging", "exhaustive"):
        with pytest.raises(LimitError, match="bytes"):
            compile_bank(operation, compiler, memory_limit=10_000)


def test_more_paths_than_can_be_enumerated_are_counted_up_to_a_limit_and_refused() -> None:
    operation = replace(logged_operation(0), max_replaced=20)
    assert count_paths(operation) == MANY_PATHS or count_paths(operation) > 2**40
    with pytest.raises(LimitError, match="use the merging one"):
        compile_bank(operation, "exhaustive")


def test_progress_is_told_and_goes_to_the_end() -> None:
    operation = logged_operation(0)
    for compiler in ("merging", "exhaustive"):
        told: list[tuple[int, int]] = []
        compile_bank(operation, compiler, progress=lambda done, all_, told=told: told.append((done, all_)))
        assert told[-1] == (operation.length, operation.length)
        assert told == sorted(told)
