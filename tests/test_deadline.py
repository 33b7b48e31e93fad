"""Deadlines: a run abstains when its time is over, wherever that finds it, and says so again when it is resumed.

Clocks are made up: they go forward when they are looked at, when a plant is asked, or when a test says so. One run has
a real clock, of which nothing is asked but that it ends the run.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import pytest

from ascertain.bank.candidates import Compiled
from ascertain.bank.compile import COMPILERS, Compiler, compile_bank, find_compiler
from ascertain.bank.operation import Operation
from ascertain.errors import DeadlineError, PlantFault, TaskError
from ascertain.interruption import OutOfTime, limited, look_up, seconds_left
from ascertain.live.deadline import NO_DEADLINE, Deadline, as_deadline
from ascertain.live.faults import FaultPolicy, ask_plant
from ascertain.live.journal import Journal
from ascertain.observer.probing.planned import PlannedProbing
from ascertain.observer.settings import PolicyName
from ascertain.pipeline.observe import observe
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Late, Missing
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.observer import pose_observer
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import Problem, read_problem
from ascertain.task.bank import listed_bank
from ascertain.types import Progress
from tests.calls import answer, call
from tests.conftest import LAMP, ROOT
from tests.journal_runs import read_records

PRESS = ROOT / "examples" / "operation" / "press.toml"
OVER = "the deadline of 10 s has passed"
pytestmark = pytest.mark.usefixtures("one_time")


class Clock:
    """Shows the time, and is a `step` later whenever it has been looked at."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


class Slow(AbstractPlant):
    """A simulated plant whose answers take so many seconds each."""

    name = "slow"

    def __init__(self, plant: SimulatedPlant, clock: Clock, seconds: float) -> None:
        self.plant, self.clock, self.seconds = plant, clock, seconds
        self.patience: list[float] = []

    def wait_at_most(self, seconds: float) -> None:
        self.patience.append(seconds)

    def send(self, action: str) -> str:
        if self.patience[-1] < self.seconds:
            self.clock.now += self.patience[-1]
            raise Late("the plant did not answer in time")
        self.clock.now += self.seconds
        return self.plant.send(action)


def press(*, away: bool = False) -> SimulatedPlant:
    """The press in its nominal, or in the best candidate of another label."""
    settings, make_bank = pose_observer(read_problem(PRESS))
    assert make_bank is not None and settings.nominal is not None
    labels, start = settings.question.true_labels, settings.nominal
    if away:
        start = next(z for z in listed_bank(make_bank()).states if labels(z, z) != labels(start, start))
    return SimulatedPlant(settings.model, start, 1)


@pytest.fixture
def slow() -> Iterator[tuple[Clock, Problem]]:
    """A clock, and the press with a compiler that takes 6 s from one report of progress to the next."""
    clock = Clock()

    def compile_slowly(
        operation: Operation, shells: int | None, memory_limit: int, progress: Progress | None
    ) -> Compiled:
        assert progress is not None
        for done in range(3):
            progress(done, 3)
            clock.now += 6.0
        return find_compiler("merging").compile(operation, shells, memory_limit, None)

    COMPILERS.register(Compiler("slow", compile_slowly))
    posed = read_problem(PRESS)
    yield clock, replace(posed, observe=replace(posed.observe, compiler="slow"))
    COMPILERS._by_word.pop("slow")


def test_a_deadline_is_so_many_seconds_of_its_clock() -> None:
    clock = Clock()
    clock.now = 5.0
    deadline = Deadline(10, clock)
    for now, left in ((5.0, 10.0), (14.0, 1.0), (15.0, 0.0), (99.0, 0.0)):
        clock.now = now
        assert (deadline.left, deadline.is_over) == (left, left == 0)
    assert not NO_DEADLINE.is_over and as_deadline(None) is NO_DEADLINE


def test_a_stop_is_heard_while_a_plant_is_waited_for(tmp_path: Path) -> None:
    """The plant answers when the run is over, and not before: to wait for it would take forever."""
    over, asked = threading.Event(), threading.Event()

    class Mute(AbstractPlant):
        name = "mute"

        def send(self, action: str) -> str:
            asked.set()
            assert over.wait(600)
            return "dark"

    journal = tmp_path / "a.journal"
    found = observe(LAMP, Mute(), journal=journal, stopped=asked.is_set)
    over.set()
    assert (found.facts()["cause"], found.facts()["reason"]) == ("person", "a person has stopped the run")
    assert "was stopped before the plant answered 'look'" in str(found.run.faults[-1])
    assert [record["record"] for record in read_records(journal)][-2:] == ["intent", "verdict"]
    assert observe(LAMP, journal=journal, resume=True).facts()["reason"] == "a person has stopped the run"


def test_what_a_plant_raises_is_heard_by_a_run_that_can_be_stopped() -> None:
    class Odd(AbstractPlant):
        name = "odd"

        def send(self, action: str) -> str:
            raise ZeroDivisionError(action)

    with pytest.raises(ZeroDivisionError, match="look"):
        observe(LAMP, Odd(), stopped=lambda: False)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e300])
def test_odd_deadlines_are_refused(seconds: float) -> None:
    with pytest.raises(TaskError, match="deadline"):
        as_deadline(seconds)


def test_who_looks_up_is_stopped_only_where_time_is_limited_and_over() -> None:
    look_up()
    assert seconds_left() is None
    clock = Clock()
    with Deadline(10, clock).limit():
        look_up()
        assert seconds_left() == 10
        with limited(lambda: 0.0, "another"), pytest.raises(OutOfTime, match="another"):
            look_up()
        clock.now = 10.0
        with pytest.raises(OutOfTime, match=OVER):
            look_up()
    look_up()


def test_no_action_is_sent_after_it(tmp_path: Path, one_time: str) -> None:
    clock = Clock()
    plant = Slow(press(), clock, 3.0)
    observed = observe(PRESS, plant, journal=tmp_path / "j", deadline=Deadline(10, clock))
    facts = observed.facts()
    assert (facts["reason"], facts["cause"], facts["verdict"]) == (OVER, "deadline", "abstained")
    # Three answers come in time; the fourth would take longer than what is left, and is not waited for.
    assert facts["readings"] == 3 and plant.patience == [10.0, 7.0, 4.0, 1.0] and clock.now == 10.0
    assert not observed.run.plant_failed
    with Journal(tmp_path / "j") as journal:
        assert journal.records[-1] == {
            "record": "verdict", "verdict": "abstained", "label": None, "reason": OVER, "cause": "deadline",
            "time": one_time,
        }  # fmt: skip
        assert journal.records[-2]["record"] == "intent"


def test_a_run_that_ends_in_time_is_the_run_without_a_deadline() -> None:
    clock = Clock()
    free = observe(PRESS, Slow(press(), clock, 0.01)).facts()
    assert observe(PRESS, Slow(press(), clock, 0.01), deadline=Deadline(10, clock)).facts() == free
    assert free["verdict"] == "certified"


@pytest.mark.parametrize("policy", ["eager", "staged", "readwise", "reuse"])
def test_compiling_stops_and_the_journal_gives_the_same_verdict_again(
    policy: PolicyName, slow: tuple[Clock, Problem], tmp_path: Path
) -> None:
    (clock, posed), journal = slow, tmp_path / "run.journal"
    plant = Slow(press(away=True), clock, 0.01)
    observed = observe(posed, plant, policy=policy, journal=journal, deadline=Deadline(10, clock))
    facts = observed.facts()
    assert (facts["reason"], facts["cause"]) == (OVER, "deadline")
    assert 12 <= clock.now < 13  # at the third report, and not when all was compiled
    assert facts["counters"]["compilations"] == 0 and facts["events"] == []
    with Journal(journal) as kept:
        before = kept.records
    assert before[-1]["cause"] == "deadline" and not any(r["record"] == "stage" for r in before)
    assert before[-2]["record"] == ("commitment" if policy == "eager" else "reading")
    # Resumed without a deadline, with the same and with another: the bank that was not compiled then is not now.
    for deadline in (None, Deadline(10, clock), 1000.0):
        again = observe(posed, "simulated:1", policy=policy, journal=journal, resume=True, deadline=deadline).facts()
        assert {**again, "plant": facts["plant"]} == facts
    with Journal(journal) as kept:
        assert kept.records == before
    # What a person asks for afterwards needs no bank either.
    assert observed.run.observer.view.actions == facts["actions"] == len(observed.listing()[1])
    assert clock.now < 13


@pytest.mark.parametrize("policy", ["eager", "readwise"])
def test_a_run_that_cannot_be_replayed_in_time_is_left_as_it_was(
    policy: PolicyName, slow: tuple[Clock, Problem], tmp_path: Path
) -> None:
    (clock, posed), journal, cut = slow, tmp_path / "run.journal", tmp_path / "cut.journal"
    whole = observe(posed, press(away=True), policy=policy, journal=journal).facts()
    assert whole["stage"] == "fallback" and whole["verdict"] == "certified"
    with Journal(journal) as kept:
        records = kept.records
    last = max(i for i, record in enumerate(records) if record["record"] == "reading")
    with Journal(cut) as kept:
        for record in records[: last - 1]:  # without the last intent: the run goes on
            kept.append(record)
    for seconds in (10, 17):  # over while the bank is compiled again, and when it has been
        with pytest.raises(DeadlineError, match="nothing was added") as refused:
            observe(posed, press(away=True), policy=policy, journal=cut, resume=True, deadline=Deadline(seconds, clock))
        assert refused.value.exit_code == 3
    with Journal(cut) as kept:
        assert kept.records == records[: last - 1]
    again = observe(
        posed, press(away=True), policy=policy, journal=cut, resume=True, deadline=Deadline(19, clock)
    ).facts()
    assert {**again, "counters": None} == {**whole, "counters": None}  # what the world took is counted anew


def test_a_plan_that_is_not_found_in_time_ends_the_run(tmp_path: Path) -> None:
    clock = Clock(step=2.0)
    observed = observe(LAMP.parent.parent / "valve" / "leak.toml", "simulated:1", deadline=Deadline(10, clock))
    assert observed.facts()["cause"] == "deadline" and observed.facts()["actions"] == 0


def test_a_person_who_thinks_too_long_is_not_obeyed() -> None:
    clock = Clock()

    def approve(_: str) -> bool:
        clock.now += 4.0
        return True

    observed = observe(PRESS, press(), approve=approve, deadline=Deadline(10, clock))
    assert (observed.facts()["actions"], observed.facts()["cause"]) == (2, "deadline")


def test_a_plant_that_does_not_greet_in_time_is_no_fault_of_the_plant(tmp_path: Path) -> None:
    mute = tmp_path / "mute.py"
    mute.write_text("import time\ntime.sleep(60)\n")
    observed = observe(LAMP, f"exec:{sys.executable} {mute}", deadline=0.5)
    assert (observed.facts()["cause"], observed.run.plant_failed) == ("deadline", False)
    with pytest.raises(PlantFault, match="greeted"):
        observe(LAMP, f"exec:{sys.executable} {mute}", deadline=1000, timeout=0.2)


def test_nobody_is_asked_again_after_the_deadline() -> None:
    class Silent(AbstractPlant):
        retry_safe = True
        asked = 0

        def send(self, action: str) -> str:
            self.asked += 1
            clock.now += 4
            raise Late(action)

        repeat = send

    clock = Clock()
    plant = Silent()
    assert ask_plant(plant, "a", {}, FaultPolicy(9, pause=0), Deadline(10, clock)).outcome == "cut short"
    assert plant.asked == 3
    # Without a reading, but with its answer, an action has run: that is told, and the deadline comes after it.
    plant.send = plant.repeat = _missing  # type: ignore[method-assign]
    assert ask_plant(plant, "a", {}, FaultPolicy(9, pause=0), Deadline(10, clock)).outcome == "missing"


def _missing(action: str) -> str:
    raise Missing(action)


def test_by_a_real_clock_the_verb_ends_with_exit_code_3(tmp_path: Path) -> None:
    idle = tmp_path / "idle.py"
    idle.write_text("import sys, time\nsys.stdin.readline()\nprint('plant idle', flush=True)\ntime.sleep(60)\n")
    facts = answer("observe", LAMP, "--plant", f"exec:{sys.executable} {idle}", "--deadline", "1", code=3)
    assert (facts["reason"], facts["cause"]) == ("the deadline of 1 s has passed", "deadline")


def test_a_problem_file_may_set_it_and_the_verb_goes_before_it(tmp_path: Path) -> None:
    text = LAMP.read_text().replace("[observe]", "[observe]\ndeadline = 0.000001")
    (tmp_path / "lamp.toml").write_text(text)
    done = call("observe", tmp_path / "lamp.toml", "--plant", "simulated:3", code=3)
    assert "abstained: the deadline of 1e-06 s has passed" in done.stdout
    call("observe", tmp_path / "lamp.toml", "--plant", "simulated:3", "--deadline", "1000")
    for odd in ("0", "-1", '"soon"', "[]"):
        (tmp_path / "odd.toml").write_text(text.replace("0.000001", odd))
        refused = call("observe", tmp_path / "odd.toml", "--plant", "simulated:3", code=2)
        assert "[observe] deadline" in refused.stderr
    call("observe", LAMP, "--plant", "simulated:3", "--deadline", "0", code=2)


def test_what_is_replaced_in_a_deadline_begins_anew() -> None:
    clock = Clock()
    first = Deadline(10, clock)
    clock.now = 9.0
    assert replace(first, seconds=5).left == 5


def test_a_plan_that_time_has_cut_short_is_not_followed() -> None:
    leak = read_problem(ROOT / "examples" / "valve" / "leak.toml").task
    left = chain([1000.0, 1000.0], repeat(0.0))
    with limited(left.__next__, OVER), pytest.raises(OutOfTime, match=OVER):
        PlannedProbing(leak)


@pytest.mark.parametrize("compiler", ["merging", "exhaustive", "direct"])
def test_every_compiler_looks_at_the_time_now_and_then(compiler: str) -> None:
    operation = pose_operation(read_problem(PRESS))
    # Nine logs one after the other, with eight replacements: to follow every path would take months.
    many = {name: getattr(operation, name).repeat(9) for name in ("sent", "readings", "trusted")}
    clock = Clock(step=6.0)
    with Deadline(10, clock).limit(), pytest.raises(OutOfTime, match=OVER):
        compile_bank(replace(operation, **many, max_replaced=8), compiler)
    assert clock.now >= 18  # when it began, in time, and too late; kernels look before they are compiled
