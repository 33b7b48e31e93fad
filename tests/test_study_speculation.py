"""Speculation: the composed clock against one that ticks, the process that compiles, and what both say together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.errors import LimitError
from ascertain.live.compile_worker import CompileWorker
from ascertain.observer.banks import OperationBank
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.comparison import Comparison
from ascertain_paper.studies.observing import observer_settings, settle_on_stream
from ascertain_paper.studies.speculation import study as speculation
from ascertain_paper.studies.speculation.comparison import advantage, advantage_error, beside_table
from ascertain_paper.studies.speculation.study import READWISE, STAGED, measure_operation, speculation_slots
from ascertain_paper.studies.speculation.tables import extra_reads, time_operation
from ascertain_paper.studies.speculation.timeline import (
    STRATEGIES,
    Moment,
    Timed,
    Trace,
    find_crossing,
    spend,
    spend_all,
)
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.timeline import Deed, play

BEGIN = {"deferred": "want", "full background": "start", "gated background": "gate", "readwise": "want"}


def moment_of(script: list[Deed], deed: str) -> Moment | None:
    """When a deed is done, or the end for "end"."""
    names = [name for name, _ in script]
    if deed not in {*names, "end"}:
        return None
    before = script if deed == "end" else script[: names.index(deed)]
    return Moment(sum(name == "read" for name, _ in before), sum(us for _, us in before))


@st.composite
def scripts(draw: st.DrawFn) -> list[Deed]:
    """Reads and decisions, perhaps with a gate, and perhaps with a bank that is wanted after it."""
    script: list[Deed] = [("decide", draw(st.integers(0, 5)))]
    for _ in range(draw(st.integers(1, 6))):
        script += [("read", 0), ("decide", draw(st.integers(0, 9)))]
    places = sorted(draw(st.lists(st.integers(1, len(script)), max_size=2)))
    for place, deed in zip(reversed(places), reversed(("gate", "want")[: len(places)]), strict=True):
        script.insert(place, (deed, 0))
    return script


@st.composite
def operations(draw: st.DrawFn) -> tuple[Timed, list[Deed], list[Deed]]:
    staged, readwise = draw(scripts()), draw(scripts())
    timed = Timed(
        staged=trace_of(staged),
        gate=moment_of(staged, "gate"),
        readwise=trace_of(readwise),
        compile_us=draw(st.integers(0, 60)),
    )
    return timed, staged, readwise


def trace_of(script: list[Deed]) -> Trace:
    end = moment_of(script, "end")
    assert end is not None
    return Trace(moment_of(script, "want"), end)


@given(operations(), st.integers(0, 20))
def test_the_composed_clock_agrees_with_one_that_ticks(operation: tuple[Timed, list[Deed], list[Deed]], r: int) -> None:
    timed, staged, readwise = operation
    for strategy in STRATEGIES:
        script = readwise if strategy == "readwise" else staged
        spent = spend(strategy, timed, Fraction(r))
        assert (spent.wall, spent.compiling) == play(script, BEGIN[strategy], timed.compile_us, r)


@settings(deadline=None)
@given(st.lists(operations(), min_size=1, max_size=4), st.sampled_from(["full background", "gated background"]))
def test_a_crossing_is_the_last_one(drawn: list[tuple[Timed, list[Deed], list[Deed]]], strategy: Any) -> None:
    timed = [operation for operation, _, _ in drawn]
    crossing = find_crossing(timed, strategy, "readwise")

    def lead(read_us: Fraction) -> Fraction:
        return spend_all("readwise", timed, read_us).wall - spend_all(strategy, timed, read_us).wall

    far = Fraction(100_000)  # all times are below 1,000, so that nothing changes its sign beyond
    if crossing is None:
        assert lead(far) > 0
        return
    assert lead(crossing) == 0 or crossing == 0
    beyond = [crossing + Fraction(far, 2**k) for k in range(30)]
    assert all(lead(read_us) <= 0 for read_us in beyond)
    if crossing > 0:
        assert lead(crossing * Fraction(999_999, 1_000_000)) > 0


@pytest.fixture(scope="module")
def worker() -> Iterator[CompileWorker]:
    with CompileWorker() as process:
        yield process


def test_the_process_compiles_what_is_compiled_here(worker: CompileWorker) -> None:
    testbed = load_testbed("small")
    logged = testbed.logged(testbed.draw(speculation_slots(testbed)[0]))
    compiled = compile_bank(logged)
    for compiler in speculation.COMPILERS:
        worker.begin(OperationBank(logged, compiler))
        bank, _, spent_us = worker.result()
        assert bank == bank_shells(compiled, compiled.num_shells)
        assert spent_us > 0


def test_a_compilation_can_be_stopped_and_another_begun(worker: CompileWorker) -> None:
    testbed = load_testbed("small")
    logged = testbed.logged(testbed.draw(speculation_slots(testbed)[0]))
    worker.begin(OperationBank(logged, "exhaustive"))
    whole = worker.result()
    for _ in range(5):  # whether it is stopped halfway or came to its end first, the next answer is the next one's
        worker.begin(OperationBank(logged, "exhaustive"))
        assert worker.stop() >= 0
        worker.begin(OperationBank(logged, "merging"))
        assert worker.result()[0] == whole[0]


def test_what_goes_wrong_in_the_process_is_raised_here(worker: CompileWorker) -> None:
    testbed = load_testbed("small")
    logged = testbed.logged(testbed.draw(speculation_slots(testbed)[0]))
    worker.begin(OperationBank(replace(logged, max_replaced=24), "exhaustive"))
    with pytest.raises(LimitError, match="too many for the exhaustive"):
        worker.result()


def test_measured_runs_read_what_the_observers_read(worker: CompileWorker) -> None:
    testbed = load_testbed("small")
    slots = speculation_slots(testbed)
    prospective = list(testbed.slots())
    for number in (0, 2, 9):
        found = measure_operation(testbed, slots[number], worker)
        operation = testbed.draw(slots[number])
        assert operation.readings.tolist() != testbed.draw(prospective[number]).readings.tolist()
        compiled = compile_bank(testbed.logged(operation))
        bank = bank_shells(compiled, compiled.num_shells)
        switched: dict[str, int | None] = {}
        for controller in (STAGED, READWISE):
            chosen = observer_settings(testbed, operation, controller)
            observer = settle_on_stream(testbed, operation, testbed.stream(operation), chosen, bank)
            run = found["runs"][controller.policy]
            switched[controller.policy] = observer.events[0].readings if observer.events else None
            assert run["end"][0] == observer.counters.readings
            assert (run["wanted"] or [None])[0] == switched[controller.policy]
            assert run["wanted"] is None or 0 < run["wanted"][1] <= run["end"][1]
        assert found["equal"]
        assert (found["gate"] or [None])[0] == switched["readwise"]
        timed = time_operation(found, "merging")
        assert timed.gate is None or timed.staged.wanted is None or timed.gate.reads <= timed.staged.wanted.reads


def test_the_study_composes_checks_in_earnest_and_agrees_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speculation, "EVERY", {"quick": 7})
    monkeypatch.setattr(speculation, "EARNEST", {"quick": {1: None, 2: 1}})
    study = speculation.study(Conditions(settings=load_settings("small"), engine=start_engine("local", 1)))
    assert study.alarms == ()
    assert study.facts["operations"] == 6
    earnest = study.facts["earnest"]
    assert [run["strategy"] for run in earnest] == [*STRATEGIES] * (6 + 2)
    assert sorted({(run["read_ms"], run["number"]) for run in earnest})[:6] == [(1, number) for number in range(6)]
    assert all(run["wall_us"] >= 1000 * run["read_ms"] * run["reads"] for run in earnest)
    table = next(table for table in study.tables if table.name == "earnest")
    assert [row[:3] for row in table.rows] == [(ms, s, n) for ms, n in ((1, 6), (2, 2)) for s in STRATEGIES]
    for row in table.rows:
        runs = [run for run in earnest if (run["read_ms"], run["strategy"]) == row[:2]]
        assert row[3:5] == (sum(run["reads"] for run in runs), sum(run["wall_us"] for run in runs) / 1e6)
    rows = {(row["compiler"], row["read_ms"], row["strategy"]): row for row in study.rows}
    reads = {strategy: rows["exhaustive", 1, strategy]["reads"] for strategy in STRATEGIES}
    assert reads["deferred"] - reads["readwise"] == study.facts["extra_reads"]
    for compiler in speculation.COMPILERS:
        for read_ms in (1, 10, 100):
            walls = {strategy: rows[compiler, read_ms, strategy]["wall_us"] for strategy in STRATEGIES}
            assert walls["full background"] <= walls["gated background"] <= walls["deferred"]
            assert walls["deferred"] >= 1000 * read_ms * reads["deferred"]
    said = [sentence for sentence in study.findings if "in earnest" in sentence]
    assert [sentence.split(" were run")[0] for sentence in said] == ["Of the 6 operations 6", "Of the 6 operations 2"]
    assert all("times the composed time" in sentence for sentence in said)
    assert {row[-1] for row in study.tables[1].rows if row[-1] is not None} == {"another testbed"}


def made(staged: int, readwise: int, compile_us: int) -> Timed:
    """An operation whose bank is wanted after half of its reads."""
    first, second = (Trace(Moment(reads // 2, 0), Moment(reads, 0)) for reads in (staged, readwise))
    return Timed(staged=first, gate=None, readwise=second, compile_us=compile_us)


def test_an_advantage_has_the_error_that_operations_give_it() -> None:
    timed = [made(20, 18, 5000), made(30, 25, 9000), made(26, 26, 2000)]
    read_us = Fraction(1000)
    base, full = (
        [float(spend(name, each, read_us).wall) for each in timed] for name in ("readwise", "full background")
    )
    whole = 1 - sum(full) / sum(base)
    assert float(advantage("full background", timed, read_us)) == pytest.approx(100 * whole)
    assert advantage_error("readwise", timed, read_us) == 0
    spread = sum((b - f - whole * b) ** 2 for b, f in zip(base, full, strict=True)) * 3 / 2
    assert advantage_error("full background", timed, read_us) == pytest.approx(100 * spread**0.5 / sum(base))
    assert advantage_error("full background", timed[:1], read_us) is None


def test_small_advantages_are_judged_by_their_error_and_signs_by_theirs() -> None:
    timed = [made(20, 18, 5000), made(30, 25, 9000), made(26, 26, 2000)] * 10

    def judge(gain: float, error: float, *, comparable: bool = True) -> dict[str, Any]:
        rows = [
            {"compiler": "exhaustive", "strategy": "full background", "read_ms": ms, "compile_ratio": "2",
             "advantage_percent": str(gain), "advantage_error": error}
            for ms in (1, 10, 100)
        ]  # fmt: skip
        table = beside_table(rows, timed, Fraction(12_780), Comparison(comparable=comparable))
        return {str(row[0]): row[-1] for row in table.rows}

    wall = "wall clock less than readwise at {} ms a read, %"
    assert judge(3.2, 2.0)[wall.format(1)] == "too few to tell"
    assert judge(3.2, 0.1)[wall.format(1)].startswith("differs: compiling is ")
    assert judge(0.25, 0.1)[wall.format(1)] == "reproduced"
    assert judge(-3.0, 1.0)[wall.format(100)] == "reproduced"
    assert judge(-3.0, 2.0)[wall.format(100)] == "too few to tell"
    assert judge(3.0, 1.0)[wall.format(100)].startswith("differs")
    found = judge(3.0, 1.0)
    assert found["they cross at, ms a read"] == "reproduced"
    assert found["compile CPU, times readwise's, at 10 ms"] == "differs: 30 of 30 operations need the bank"
    assert found["extra reads behind an open gate, for 72 streams"].startswith("differs")
    timed = timed[:29]
    assert judge(3.0, 1.0)["they cross at, ms a read"] == "too few to tell"
    assert set(judge(3.0, 1.0, comparable=False).values()) == {"another testbed"}


def test_a_run_in_earnest_that_strays_is_said_loudly(worker: CompileWorker) -> None:
    testbed = load_testbed("small")
    result = measure_operation(testbed, speculation_slots(testbed)[0], worker)
    assert extra_reads([result]) == result["runs"]["staged"]["end"][0] - result["runs"]["readwise"]["end"][0]
    run = {"number": 0, "strategy": "readwise", "read_ms": 1, "wall_us": 1, "compile_us": 0, "outcome": "correct"}
    strayed = {**run, "reads": result["runs"]["readwise"]["end"][0] + 1}
    study = speculation.summarise_speculation(load_settings("small"), [result], [strayed], quick=True)
    assert study.alarms == ("operation 0 in earnest, readwise: another run than was measured",)
