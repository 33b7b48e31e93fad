"""Hostile files: every reader accepts an input or refuses it in a sentence, whatever the input is.

The default suite puts hundreds or thousands of spoilt inputs to each reader, and every input that was once a finding.
The slow suite puts a million to each; ASCERTAIN_FUZZ_INPUTS says another number.
"""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ascertain.cli.show.output import print_json

from . import fuzzing
from .fuzz_targets import make_targets
from .fuzzing import Finding, Tally, Target, fuzz, judge, make_input

TARGETS = {
    "dot": 800, "json": 1500, "boolean": 1500, "bnet": 700, "kiss2": 1500, "pomdp": 1500, "problem": 1000, "csv": 2000,
    "jsonl": 2500, "settings": 1000, "calibration": 1500, "expression": 4000, "rational": 8000, "journal": 500,
    "records": 300, "store": 600, "certificate": 1500, "lines": 1500,
    "alphabet": 3000,
}  # fmt: skip
"""How many inputs each gets in the default suite: as many as half a second or so allows."""
FOUND = Path(__file__).parent / "data" / "fuzz"
SENTENCES = dict(line.split("\t") for line in (FOUND / "expected.tsv").read_text(encoding="utf-8").splitlines())


def explain(tally: Tally) -> str:
    return "\n".join(
        f"make_input(make_targets()[{tally.target!r}], seed, {number}): {where}\n{data[:300]!r}\n{what}"
        for where, (number, data, what) in tally.findings.items()
    )


def test_every_target_is_fuzzed() -> None:
    assert set(make_targets()) == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_every_sample_is_accepted_so_that_inputs_begin_from_what_is_right(name: str) -> None:
    target = make_targets()[name]
    for sample in (*target.samples[:20], *target.rare[:20]):
        assert judge(target, sample)[1] == "accepted"


@pytest.mark.parametrize("name", TARGETS)
def test_spoilt_inputs_are_accepted_or_refused_in_a_sentence(name: str) -> None:
    count = TARGETS[name]
    tally = fuzz(make_targets()[name], count, seed=20)
    assert not tally.findings, explain(tally)
    assert tally.inputs == tally.accepted + tally.refused == count
    assert tally.accepted and tally.refused > count // 3
    assert tally.share_understood > 1 / 5, "most inputs are unreadable, so that little behind the first step is tried"


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_million_spoilt_inputs_are_accepted_or_refused_in_a_sentence(name: str) -> None:
    count = int(os.environ.get("ASCERTAIN_FUZZ_INPUTS", "1000000"))
    tally = fuzz(make_targets()[name], count, seed=1)
    assert not tally.findings, explain(tally)
    assert tally.inputs == count


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_what_was_found_once_is_refused_with_its_sentence(name: str) -> None:
    target = make_targets()[name.partition("-")[0]]
    data = (FOUND / name).read_bytes()
    with pytest.raises(target.refusals, match=re.escape(SENTENCES[name])):
        target.read(data)
    with fuzzing.watched():
        assert judge(target, data)[1] != "accepted"


def test_every_regression_file_has_its_sentence() -> None:
    assert {path.name for path in FOUND.iterdir()} == {*SENTENCES, "expected.tsv"}


def test_a_name_with_half_a_surrogate_pair_is_spelled_in_ascii_where_json_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_json("inspect", {"states": ["\ud800"]})
    assert json.loads(capsys.readouterr().out)["states"] == ["\ud800"]


# The fuzzer itself.


def test_an_input_is_made_again_from_its_seed_and_number() -> None:
    target = make_targets()["json"]
    assert [make_input(target, 5, n) for n in range(200)] == [make_input(target, 5, n) for n in range(200)]
    assert make_input(target, 5, 1) != make_input(target, 6, 1)


def test_most_inputs_begin_as_a_usual_sample_and_few_as_a_rare_one() -> None:
    target = Target("probe", bytes, (b"usual words and more of them",), rare=(b"RARE SAMPLE IN CAPITALS ALONE",))
    rare = sum(
        max(make_input(target, 1, n).count(b"RARE"), make_input(target, 1, n).count(b"ALONE")) > 0 for n in range(2000)
    )
    assert 10 < rare < 400


def test_a_binary_input_mostly_keeps_its_length() -> None:
    target = Target("probe", bytes, (bytes(range(256)) * 8,), binary=True)
    assert sum(len(make_input(target, 1, n)) == 2048 for n in range(500)) > 300


def test_json_in_several_parts_is_spoilt_in_one_of_them() -> None:
    target = Target("probe", bytes, (b'{"a": [1, 2]}|{"b": {"c": "d"}}',), between=b"|")
    parts = [make_input(target, 1, n).split(b"|") for n in range(300)]
    whole = [
        pair for pair in parts if len(pair) == 2 and (pair[0] == b'{"a": [1, 2]}') != (pair[1] == b'{"b": {"c": "d"}}')
    ]
    assert len(whole) > 150


def test_an_input_is_unreadable_or_judged_by_the_functions_that_its_refusal_came_through() -> None:
    def parse(data: bytes) -> None:
        raise ValueError("not read")

    def read(data: bytes) -> None:
        if data == b"a":
            parse(data)
        raise ValueError("not liked")

    target = Target("probe", read, (b"a",), refusals=(ValueError,), early=re.compile("read>parse"))
    assert [judge(target, data)[1] for data in (b"a", b"b")] == ["unreadable", "judged"]


def test_tallies_of_parts_add_up_to_that_of_the_whole() -> None:
    target = make_targets()["rational"]
    whole, joined = fuzz(target, 300, seed=4), Tally("rational")
    for first in (0, 100, 200):
        joined.join(fuzz(target, 100, seed=4, first=first))
    assert (joined.inputs, joined.accepted, joined.judged, joined.unreadable) == (
        whole.inputs,
        whole.accepted,
        whole.judged,
        whole.unreadable,
    )


def find(read: object) -> str:
    tally = fuzz(Target("probe", read, (b"a = 1",)), 1)  # type: ignore[arg-type]
    [(where, _)] = tally.findings.items()
    return where


def test_an_error_that_is_not_the_readers_own_is_a_finding() -> None:
    def stumble(_: bytes) -> None:
        raise KeyError("x")

    assert find(stumble).startswith("KeyError")


def test_a_reader_that_does_not_come_to_an_end_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "SECONDS", 0.05)

    def dawdle(_: bytes) -> None:
        end = time.process_time() + 30
        while time.process_time() < end:
            with suppress(Exception):  # a reader that swallows errors does not swallow the watchdog
                sum(range(1000))

    assert find(dawdle).startswith("TooSlow")


def test_a_reader_that_waits_for_nothing_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "HANG", 0.05)
    assert find(lambda _: time.sleep(30)).startswith("TooSlow")


def test_a_reader_that_takes_too_much_memory_is_a_finding() -> None:
    assert find(lambda _: bytearray(fuzzing.MEMORY * 2)).startswith("MemoryError")


@pytest.mark.parametrize("sentence", ["", "x" * 20_000, "half a pair: \ud800"])
def test_a_refusal_that_cannot_be_printed_is_a_finding(sentence: str) -> None:
    def refuse(_: bytes) -> None:
        raise ValueError(sentence)

    with pytest.raises(Finding, match="a sentence"):
        judge(Target("probe", refuse, (b"a",), refusals=(ValueError,)), b"a")
