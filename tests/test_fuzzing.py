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

from ascertain.cli.output import print_json

from . import fuzzing
from .fuzz_targets import make_targets
from .fuzzing import Finding, Tally, Target, fuzz, judge, make_input

TARGETS = {
    "dot": 400, "json": 1000, "boolean": 800, "bnet": 400, "kiss2": 1000, "pomdp": 800, "problem": 500, "csv": 1500,
    "jsonl": 1500, "settings": 800, "calibration": 1000, "expression": 3000, "rational": 5000, "journal": 300,
    "records": 150, "store": 300, "certificate": 1500, "lines": 1500,
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
    for sample in target.samples[:20]:
        assert judge(target, sample)[1]


@pytest.mark.parametrize("name", TARGETS)
def test_spoilt_inputs_are_accepted_or_refused_in_a_sentence(name: str) -> None:
    count = TARGETS[name]
    tally = fuzz(make_targets()[name], count, seed=20)
    assert not tally.findings, explain(tally)
    assert tally.inputs == tally.accepted + tally.refused == count
    assert tally.accepted and tally.refused > count // 3


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
        assert judge(target, data)[1] is False


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
