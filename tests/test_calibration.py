"""Calibration: the theorem by all orders of the blocks, the study against exact coverage, and the file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.bank.calibrate import Calibrated, calibrate_blocks, calibrate_ranks, calibrate_strata, largest_rank
from ascertain.bank.calibration_file import Calibration, calibration_data, read_calibration, write_calibration
from ascertain.bank.compile import compile_bank
from ascertain.errors import FileError, TaskError
from ascertain_paper.calibration import calibrate_testbed, rank_truth
from ascertain_paper.studies.audit.exact_coverage import exact_coverage, law_of_largest
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.calibration import (
    as_number,
    chosen_rank,
    coverage_by_enumeration,
    law_by_enumeration,
    share_covered,
)

RANKS = st.one_of(st.integers(0, 4), st.none())
HASH = "ab" * 32


def laws(max_size: int = 4) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Laws of ranks 0, 1, ... with small denominators, zeros among them."""
    parts = st.lists(st.integers(0, 5), min_size=1, max_size=max_size).filter(any)
    return parts.map(lambda weights: tuple(Fraction(w, sum(weights)) for w in weights))


@given(st.lists(RANKS, min_size=2, max_size=6), st.data())
def test_over_all_orders_of_the_blocks_the_last_is_covered_as_often_as_promised(
    ranks: list[int | None], data: st.DataObject
) -> None:
    m = len(ranks) - 1
    place = data.draw(st.integers(1, m))
    promised = calibrate_ranks([0] * m, place).coverage
    assert promised == Fraction(m + 1 - place, m + 1)
    assert share_covered(ranks, place) >= promised
    if len(set(ranks)) == len(ranks):
        assert share_covered(ranks, place) == promised, "without ties the bound is attained"


@given(st.lists(RANKS, min_size=1, max_size=8), st.data())
def test_the_rank_that_is_chosen_is_the_one_in_its_place(ranks: list[int | None], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(ranks)))
    found = calibrate_ranks(ranks, place)
    assert as_number(found.shells) == chosen_rank(ranks, place)
    assert (found.coverage == 0) == (found.shells is None)


def test_the_papers_hundred_blocks_promise_a_hundred_in_a_hundred_and_one() -> None:
    ranks = [[1, 3], [8, 2], *[[1, 1]] * 98]
    assert calibrate_blocks(ranks) == Calibrated(8, Fraction(100, 101), 100, 1)
    assert calibrate_blocks(ranks, place=2) == Calibrated(3, Fraction(99, 101), 100, 2)
    assert calibrate_strata(ranks) == (
        Calibrated(8, Fraction(100, 101), 100, 1),
        Calibrated(3, Fraction(100, 101), 100, 1),
    )


def test_a_truth_that_is_no_candidate_leaves_nothing_promised() -> None:
    ranks = [[1, 2], [None, 1], [1, 1]]
    assert calibrate_blocks(ranks) == Calibrated(None, Fraction(0), 3, 1)
    assert calibrate_blocks(ranks, place=2).shells == 2
    assert [found.shells for found in calibrate_strata(ranks)] == [None, 2]
    assert largest_rank([]) == 0 and largest_rank([3, None, 5]) is None


@pytest.mark.parametrize(
    ("ranks", "place", "complaint"),
    [
        ([], 1, "at least one block"),
        ([[]], 1, "at least one block"),
        ([[1], [1, 2]], 1, "one operation of each"),
        ([[1], [2]], 3, "places are 1 to 2"),
        ([[1]], 0, "places are 1 to 1"),
        ([[-1]], 1, "negative"),
    ],
)
def test_ranks_that_make_no_calibration_are_refused(ranks: list[list[int]], place: int, complaint: str) -> None:
    with pytest.raises(TaskError, match=complaint):
        calibrate_blocks(ranks, place)


@given(laws(), st.integers(1, 4), st.data())
def test_exact_coverage_is_the_sum_over_all_sequences_and_no_less_than_promised(
    law: tuple[Fraction, ...], m: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, m))
    exact = exact_coverage(law, m, place)
    assert exact == coverage_by_enumeration(law, m, place)
    assert exact >= Fraction(m + 1 - place, m + 1)


@given(st.lists(laws(3), min_size=1, max_size=3))
def test_the_largest_of_independent_ranks_has_the_law_of_the_sum_over_all_cases(given_laws: list[Any]) -> None:
    found = law_of_largest(given_laws)
    assert {k: p for k, p in enumerate(found) if p} == {k: p for k, p in law_by_enumeration(given_laws).items() if p}


def test_the_rank_of_a_truth_counts_the_better_scores() -> None:
    testbed = load_testbed("small")
    for slot in list(testbed.block_slots("ranks", 0))[:6]:
        operation = testbed.draw(slot)
        compiled = compile_bank(testbed.logged(operation))
        score = dict(zip(compiled.endpoint.tolist(), map(tuple, compiled.score.tolist()), strict=True))
        better = {s for s in score.values() if s < score[operation.true_endpoint]}
        assert rank_truth(testbed, slot) == len(better) + 1


def test_a_testbed_is_calibrated_alike_by_one_worker_and_by_two_and_tells_its_progress() -> None:
    testbed, told = load_testbed("small"), list[tuple[int, int]]()
    alone = calibrate_testbed(testbed, blocks=2, progress=lambda done, total: told.append((done, total)))
    assert alone == calibrate_testbed(testbed, blocks=2, workers=2)
    assert told == [(1, 2), (2, 2)]
    assert (alone.settings_hash, alone.seeds, len(alone.strata)) == (testbed.settings.hash, (1, 2), 16)
    assert alone.whole.coverage == Fraction(2, 3)
    assert alone.ranks != calibrate_testbed(testbed, blocks=2, purpose="evaluation").ranks
    with pytest.raises(TaskError, match="at least one block"):
        calibrate_testbed(testbed, blocks=0)


@pytest.mark.slow
def test_a_hundred_blocks_of_the_testbed_calibrate_and_as_many_others_are_covered_nearly_always() -> None:
    testbed = load_testbed()
    whole = calibrate_testbed(testbed, blocks=100, workers=2).whole
    assert whole.coverage == Fraction(100, 101) and whole.shells is not None
    others = calibrate_testbed(testbed, blocks=100, purpose="evaluation", workers=2)
    covered = sum(as_number(largest_rank(row)) <= whole.shells for row in others.ranks)
    # Given the calibration blocks coverage itself is random, Beta(100, 1): below 9/10 once in 37,000 calibrations.
    assert covered >= 85


def calibration(**changes: Any) -> Calibration:
    facts: dict[str, Any] = {
        "settings": "small",
        "settings_hash": HASH,
        "compiler": "merging",
        "seeds": (1, 2),
        "strata": ("plant 0", "plant 1"),
        "blocks": ("calibration 0", "calibration 1", "calibration 2"),
        "ranks": ((1, 4), (2, 0), (1, None)),
        "place": 2,
    }
    return Calibration(**facts | changes)


def test_a_calibration_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    write_calibration(calibration(), path)
    assert read_calibration(path, HASH) == calibration()
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["shells"], data["coverage"]) == (4, "1/2")
    assert data["per_stratum"] == [
        {"stratum": "plant 0", "shells": 1, "coverage": "1/2"},
        {"stratum": "plant 1", "shells": 4, "coverage": "1/2"},
    ]
    assert (data["settings_hash"], data["seeds"], data["blocks"][0]) == (HASH, [1, 2], "calibration 0")
    assert path.read_text(encoding="utf-8") == json.dumps(data, sort_keys=True, separators=(",", ":")) + "\n"


def test_data_under_other_settings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    write_calibration(calibration(), path)
    with pytest.raises(FileError, match="calibrated under settings abababababab…, these are cdcdcdcdcdcd…"):
        read_calibration(path, "cd" * 32)


def changed(key: str, value: object) -> dict[str, Any]:
    return calibration_data(calibration()) | {key: value}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([], "a calibration is a JSON object"),
        ({}, "this is not a calibration of version 1"),
        (changed("version", 2), "this is not a calibration of version 1"),
        (changed("version", True), "this is not a calibration of version 1"),
        (changed("strate", []), "unknown key 'strate'; did you mean 'strata'"),
        ({k: v for k, v in calibration_data(calibration()).items() if k != "seeds"}, "the key 'seeds' is missing"),
        (changed("settings_hash", "abc"), "64 hexadecimal digits"),
        (changed("settings_hash", 3), "settings_hash must be text"),
        (changed("compiler", "\ud800"), "compiler must be text"),
        (changed("strata", ["a", "a"]), "strata must be a list of different names"),
        (changed("strata", "ab"), "strata must be a list"),
        (changed("blocks", ["b"]), "ranks must be 1 rows"),
        (changed("ranks", [[1, 4], [2, 0], [1]]), "ranks must be 3 rows, one a block, of 2"),
        (changed("ranks", [1, 2, 3]), "ranks must be a list of lists"),
        (changed("ranks", [[1, 4], [2, 0], [1, -1]]), "ranks are whole numbers from 0"),
        (changed("ranks", [[1, 4], [2, 0], [1, True]]), "ranks are whole numbers from 0"),
        (changed("ranks", [[1, 4], [2, 0], [1, 1.0]]), "ranks are whole numbers from 0"),
        (changed("ranks", [[1, 4], [2, 0], [1, 10**400]]), "ranks are whole numbers from 0"),
        (changed("place", 4), "places are 1 to 3"),
        (changed("place", "1"), "place must be whole numbers"),
        (changed("seeds", [1.5]), "seeds must be whole numbers"),
        (changed("shells", 3), "shells does not follow from the ranks"),
        (changed("shells", 4.0), "shells does not follow from the ranks"),
        (changed("coverage", "3/4"), "coverage does not follow from the ranks"),
        (changed("coverage", "2/4"), "coverage does not follow from the ranks"),
        (changed("per_stratum", []), "per_stratum does not follow from the ranks"),
        (changed("per_stratum", {}), "per_stratum does not follow from the ranks"),
    ],
)
def test_a_malformed_calibration_gets_one_sentence(data: object, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FileError, match=complaint) as caught:
        read_calibration(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", '{"format": NaN}', "[" * 100_000, '{"a":1,"a":2}'])
def test_what_is_not_json_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError):
        read_calibration(path)
