"""Sessions: the observer on plants that go wrong in every way, by script and by seed; no wrong answer, no traceback."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from ascertain.errors import PlantFault, TaskError
from ascertain.live import faults as live_faults
from ascertain.live.faults import FaultPolicy, Heard, ask_plant, fault_kind
from ascertain.live.recorder import AbstractRecorder
from ascertain.live.session import Run, resume_plant, run_session
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_flip
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.records import Cause
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Observer, start_observer
from ascertain.observer.stages import Event
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import (
    Contradicted,
    Garbled,
    HungUp,
    InDoubt,
    Late,
    Missing,
    Refused,
    Restarted,
)
from ascertain.plant.line_plant import LinePlant
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified, Verdict
from ascertain.problem.pose import pose
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.plant_task import PlantTask
from tests.scripted import FAULTS, GENTLE, ScriptedServer

TINY = Fraction(1, 10**12)
"""A risk at which no wrong answer is expected in as many runs as anyone will make here."""


@cache
def questions() -> tuple[Any, ...]:
    """Small questions of every sort: a noisy machine, a machine without noise, plants of which every state is one."""
    ring = machine_from_transitions(
        (f"s{i}", a, str(i % 3 // 2 if a == "step" else i // 2 % 2), f"s{(i + 1) % 5 if a == 'step' else i}")
        for i in range(5)
        for a in ("step", "look at it")
    )
    noisy = with_flip(ring, Fraction(1, 20))
    commands = (
        Command("turn", (Gate("not", 0), Gate("cnot", 1, (0,))), 1),
        Command("roll", (Gate("toffoli", 2, (0, 1)), Gate("not", 1)), 2),
        Command("fill", (Gate("set", 3),), 0),
        Command("peep", (), 3),
    )
    plant = BooleanPlant(("b0", "b1", "b2", "b3"), commands, Fraction(1, 30))
    return (
        pose(noisy, label="state", alpha=TINY),
        pose(noisy, label="state", about="current", alpha=TINY),
        pose(ring, label="state", alpha=0),
        pose_plant(plant, label={"bits": ["b0", "b2"]}, alpha=TINY),
        pose_plant(plant, label={"nominal": "0101"}, alpha=TINY),
    )


def settings_for(question: Any, **changes: Any) -> tuple[ObserverSettings, HypothesesBank]:
    states = range(1 << question.model.num_bits) if isinstance(question, PlantTask) else question.state.tolist()
    words = {"policy": "eager", "budget": 100, **changes}
    return ObserverSettings(question=question, alpha=question.alpha, **words), HypothesesBank(states)


def start(question: Any, **changes: Any) -> Observer:
    return start_observer(*settings_for(question, **changes))


def true_label(question: Any, state: int) -> str:
    if isinstance(question, PlantTask):
        return question.label_of(state)
    if question.state_label is not None:
        return question.labels[int(question.state_label[state])]
    return question.labels[int(question.label[question.state.tolist().index(state)])]


@dataclass
class Story:
    """A simulated run with all that its seed decided."""

    question: Any
    server: ScriptedServer
    run: Run

    @property
    def wrong(self) -> bool:
        if not isinstance(self.run.verdict, Certified):
            return False
        plant = self.server.plant
        state = plant.state if self.question.about == "current" else plant.start
        assert isinstance(state, int)
        return self.run.verdict.label != true_label(self.question, state)


def simulate(seed: int, faults: tuple[str, ...] = FAULTS) -> Story:
    """A run on a plant that goes wrong; everything about it follows from the seed."""
    chance = random.Random(f"story {seed}")
    question = chance.choice(questions())
    policy = chance.choice(("eager", "staged", "readwise", "reuse"))
    settings, make_bank = settings_for(
        question,
        policy=policy,
        nominal=None if policy == "eager" else chance.randrange(question.model.num_states),
        threshold=chance.choice((0, 10)),
        probing=chance.choice(("round-robin", "separating")),
    )
    truth = chance.randrange(question.model.num_states)
    server = ScriptedServer(
        SimulatedPlant(question.model, truth, f"readings {seed}"),
        seed,
        question.model.num_states,
        rate=chance.choice((0.02, 0.1, 0.3)),
        faults=chance.choice((faults, tuple(chance.sample(faults, 2)))),
        retry_safe=chance.random() < 0.5,
        says_last=chance.random() < 0.5,
    )
    session = FaultPolicy(retries=chance.randrange(4), strict=chance.random() < 0.1, pause=0)
    run = run_session(start_observer(settings, make_bank), LinePlant(server.connect), policy=session)
    return Story(question, server, run)


def check_stories(seeds: range) -> Counter[str]:
    """Run the stories; returns how often each thing happened."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        story = simulate(seed)
        assert not story.wrong, f"seed {seed}: {story.run.verdict} from state {story.server.plant.start}"
        assert story.run.verdict is not None
        seen["certified" if isinstance(story.run.verdict, Certified) else "abstained"] += 1
        seen["plant failed"] += story.run.plant_failed
        seen["certified in spite of faults"] += bool(isinstance(story.run.verdict, Certified) and story.run.faults)
        seen.update({f"struck: {fault}" for fault in story.server.struck})
        seen.update({f"met: {fault_kind(fault)}" for fault in story.run.faults})
    return seen


def test_no_injected_fault_leads_to_a_wrong_answer() -> None:
    seen = check_stories(range(320))
    assert all(seen[f"struck: {fault}"] for fault in FAULTS), seen
    kinds = (Late, Missing, InDoubt, Refused, Garbled, Contradicted, HungUp, Restarted)
    assert all(seen[f"met: {fault.kind}"] for fault in kinds), seen
    assert min(seen["certified"], seen["plant failed"], seen["certified in spite of faults"]) > 20, seen


@pytest.mark.slow
def test_no_injected_fault_leads_to_a_wrong_answer_in_ten_thousand_runs() -> None:
    seen = check_stories(range(1000, 11000))
    assert min(seen["certified"], seen["plant failed"], seen["certified in spite of faults"]) > 1000, seen


def test_every_story_can_be_told_again_from_its_seed() -> None:
    for seed in range(30):
        first, again = simulate(seed), simulate(seed)
        assert first.run.verdict == again.run.verdict
        assert first.run.observer.transcript == again.run.observer.transcript
        assert first.server.struck == again.server.struck
        assert list(map(str, first.run.faults)) == list(map(str, again.run.faults))


@pytest.mark.parametrize("careless", ["doubt is missing", "duplicates count"])
def test_careless_sessions_would_be_caught_by_the_same_stories(careless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if careless == "doubt is missing":
        judge = live_faults._judge
        monkeypatch.setattr(
            live_faults, "_judge", lambda *args: "missing" if (found := judge(*args)) == "doubt" else found
        )
    else:
        monkeypatch.setattr(LinePlant, "_await", _take_any_number)
    assert any(_is_wrong(seed) for seed in range(1000))


def _take_any_number(self: LinePlant, channel: Any, deadline: float) -> str:
    return channel.read(deadline).decode(errors="replace").partition(" ")[2] or "?"


def _is_wrong(seed: int) -> bool:
    return simulate(seed, GENTLE).wrong


# ------------------------------------------------------------------------------------------ one fault at a time


class Scripted(AbstractPlant):
    """Answers or raises what it is told to, in order."""

    def __init__(self, *answers: str | Exception, retry_safe: bool = False) -> None:
        self.answers = list(answers)
        self.retry_safe = retry_safe
        self.asked: list[str] = []

    def send(self, action: str) -> str:
        self.asked.append(f"send {action}")
        return self._next()

    def repeat(self, action: str) -> str:
        self.asked.append(f"repeat {action}")
        return self._next()

    def _next(self) -> str:
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


READINGS = {"ok": 0, "no": 1}


def hear(*answers: str | Exception, retry_safe: bool, **policy: Any) -> tuple[Heard, list[str]]:
    plant = Scripted(*answers, retry_safe=retry_safe)
    heard = ask_plant(plant, "a", READINGS, FaultPolicy(**{"pause": 0, **policy}))
    return heard, plant.asked


@pytest.mark.parametrize(
    ("fault", "alone", "repeated"),
    [
        (Late("x"), "doubt", True),
        (InDoubt("x"), "doubt", True),
        (Missing("x"), "missing", False),
        (Refused("x"), "failure", True),
        (Garbled("x"), "failure", True),
        (HungUp("x"), "failure", True),
        (Restarted("x"), "failure", False),
        (Contradicted("x"), "failure", False),
        (PlantFault("x"), "failure", False),
    ],
)
def test_the_table_of_faults_is_kept(fault: PlantFault, alone: str, repeated: bool) -> None:
    heard, asked = hear(fault, "ok", retry_safe=False)
    assert (heard.outcome, asked) == (alone, ["send a"])
    heard, asked = hear(fault, fault, "no", retry_safe=True)
    if repeated:
        assert (heard.outcome, heard.reading, asked) == ("reading", 1, ["send a", "repeat a", "repeat a"])
        assert heard.faults == (fault, fault)
    else:
        assert (heard.outcome, asked) == (alone, ["send a"])
    heard, _ = hear(fault, fault, fault, retry_safe=True)
    assert heard.outcome == alone
    heard, _ = hear(fault, retry_safe=False, strict=True)
    assert heard.outcome == "failure"


def test_a_reading_outside_the_model_is_heard_and_not_asked_for_again() -> None:
    heard, asked = hear("perhaps", "ok", retry_safe=True)
    assert (heard.outcome, heard.text, heard.faults, len(asked)) == ("outside", "perhaps", (), 1)
    for nonsense in (None, "x" * 5000):
        heard, _ = hear(nonsense, retry_safe=False)  # type: ignore[arg-type]
        assert heard.outcome == "failure" and "no name of a reading" in heard.reason


def test_silence_after_a_garbled_answer_is_a_failure() -> None:
    for last in (Late("x"), Missing("x"), InDoubt("x")):
        heard, _ = hear(Garbled("x"), last, retry_safe=True, retries=1)
        assert heard.outcome == "failure"


def test_retries_are_counted() -> None:
    heard, asked = hear(*[Late("x")] * 9, retry_safe=True, retries=5)
    assert (heard.outcome, len(asked)) == ("doubt", 6)
    assert len(hear(Late("x"), retry_safe=True, retries=0)[1]) == 1
    with pytest.raises(TaskError, match="-1 retries"):
        FaultPolicy(retries=-1)


# ------------------------------------------------------------------------------------------------------ the loop


class Diary(AbstractRecorder):
    """Writes down what it is told, beside what the plant was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[object, ...]] = []

    def append(self, record: Mapping[str, Any]) -> None:
        raise AssertionError("every kind of record is written down by its own method")

    def begin(self, commitment: Mapping[str, Any]) -> None:
        self.lines.append(("begin", commitment))

    def intent(self, action: int) -> None:
        self.lines.append(("intent", action))

    def reading(self, action: int, reading: int | None) -> None:
        self.lines.append(("reading", action, reading))

    def doubt(self, action: int) -> None:
        self.lines.append(("doubt", action))

    def stage(self, event: Event) -> None:
        self.lines.append(("stage", event))

    def verdict(self, verdict: Verdict, cause: Cause | None = None, ran: bool = False) -> None:
        self.lines.append(("verdict", verdict, cause))


class Watched(AbstractPlant):
    """A simulated plant that writes into the diary when it is asked."""

    def __init__(self, plant: SimulatedPlant, diary: Diary) -> None:
        self.plant, self.diary = plant, diary

    def send(self, action: str) -> str:
        self.diary.lines.append(("sent", self.plant.model.actions.index(action)))
        return self.plant.send(action)


@pytest.mark.parametrize("policy", ["eager", "readwise"])
def test_each_intent_is_recorded_before_it_is_sent_and_each_reading_after(policy: str) -> None:
    question, diary = questions()[0], Diary()
    observer = start(question, policy=policy, nominal=4)
    plant = Watched(SimulatedPlant(question.model, 0, 1), diary)
    run = run_session(observer, plant, recorder=diary, commitment={"to": "this"})
    assert diary.lines[0] == ("begin", {"to": "this"})
    assert diary.lines[-1] == ("verdict", run.verdict, None) == ("verdict", Certified("s0"), None)
    told = [line for line in diary.lines if line[0] != "stage"][1:-1]
    expected: list[tuple[object, ...]] = []
    for step in run.observer.transcript:
        expected += [("intent", step.action), ("sent", step.action), ("reading", step.action, step.reading)]
    assert told == expected
    events = [(i, line[1]) for i, line in enumerate(diary.lines) if line[0] == "stage"]
    assert tuple(event for _, event in events) == run.observer.events
    assert len(events) == 1
    assert events[0][0] == 1 if policy == "eager" else diary.lines[events[0][0] - 1][0] == "reading"


def test_a_doubt_is_recorded_as_one_and_a_missing_reading_as_none() -> None:
    question, diary = questions()[2], Diary()
    plant = Scripted(Late("x"), Missing("x"), HungUp("the line is dead"))
    run = run_session(start(question), plant, recorder=diary)
    kinds = [line[0] for line in diary.lines]
    assert kinds == ["stage", "intent", "doubt", "intent", "reading", "intent", "verdict"]
    assert diary.lines[4][2] is None
    assert diary.lines[-1] == ("verdict", run.verdict, "plant")
    assert run.verdict == Abstained("the line is dead")
    assert run.plant_failed
    assert [fault_kind(fault) for fault in run.faults] == ["late", "missing", "hang-up"]


def test_a_plant_that_never_answers_ends_in_an_abstention() -> None:
    question = questions()[2]
    run = run_session(start(question), Scripted(*[Late("no answer")] * 99))
    assert isinstance(run.verdict, Abstained)
    assert run.plant_failed
    assert len(run.observer.transcript) == 5  # four doubts are borne


def test_a_dry_run_sends_nothing_and_names_the_next_action() -> None:
    question = questions()[0]
    run = run_session(start(question), Scripted(), dry_run=True)
    assert (run.verdict, run.next_action) == (None, "step")
    run = run_session(start(question), Scripted(), dry_run=True, pending=1)
    assert run.next_action == "look at it"


def test_an_action_that_is_not_approved_is_not_sent() -> None:
    question, diary, asked = questions()[0], Diary(), []

    def approve(action: str) -> bool:
        asked.append(action)
        return len(asked) < 3

    plant = Scripted("0", "0")
    run = run_session(start(question), plant, recorder=diary, approve=approve)
    assert plant.asked == [f"send {action}" for action in asked[:2]]
    assert run.verdict == Abstained(f"the action {asked[2]!r} was not approved")
    assert not run.plant_failed
    assert [line[0] for line in diary.lines].count("intent") == 2


def test_what_is_watched_is_the_observer_after_each_step() -> None:
    question, seen = questions()[0], []
    plant = SimulatedPlant(question.model, 2, 5)
    run = run_session(start(question), plant, watch=lambda observer, heard: seen.append((observer, heard)))
    assert seen[0][1] is None
    assert [observer.counters.actions for observer, _ in seen] == list(range(len(seen)))
    assert seen[-1][0] is run.observer


def test_an_interruption_gets_through_after_its_intent_was_recorded() -> None:
    question, diary = questions()[0], Diary()
    with pytest.raises(KeyboardInterrupt):
        run_session(start(question), Scripted("0", KeyboardInterrupt()), recorder=diary)  # type: ignore[arg-type]
    assert [line[0] for line in diary.lines] == ["stage", "intent", "reading", "intent"]


@pytest.mark.parametrize("cut", [0, 1, 4])
@pytest.mark.parametrize("pending", [False, True])
def test_a_run_that_broke_off_ends_as_if_it_had_not(cut: int, pending: bool) -> None:
    question = questions()[0]
    whole = run_session(start(question), SimulatedPlant(question.model, 1, 9))
    steps = whole.observer.transcript
    assert len(steps) > 5
    observer = start(question)
    for step in steps[:cut]:
        observer = observer.update(step.action, step.reading)
    plant = SimulatedPlant(question.model, 1, 9)
    resume_plant(plant, observer)
    action = steps[cut].action if pending else None
    run = run_session(observer, plant, pending=action, recorded_events=len(observer.events))
    assert run.verdict == whole.verdict
    assert run.observer.transcript == steps


def test_an_action_that_was_pending_is_in_doubt_where_it_cannot_be_asked_again() -> None:
    question, diary = questions()[0], Diary()
    plant = Watched(SimulatedPlant(question.model, 1, 9), diary)
    run = run_session(start(question), plant, pending=0, recorder=diary, recorded_events=1)
    assert diary.lines[0] == ("doubt", 0)
    assert not run.observer.transcript[0].certain
    strict = run_session(start(question), plant, pending=0, policy=FaultPolicy(strict=True))
    assert strict.plant_failed and isinstance(strict.verdict, Abstained)


def test_a_plant_that_was_taken_up_again_continues_its_numbers() -> None:
    question = questions()[0]
    server = ScriptedServer(SimulatedPlant(question.model, 1, 9), 0, 5, retry_safe=True, says_last=True)
    observer = start(question)
    first = LinePlant(server.connect)
    for _ in range(3):
        action = observer.next().action  # type: ignore[union-attr]
        reading = question.model.readings.index(first.send(question.model.actions[action]))
        observer = observer.update(action, reading)
    pending = observer.next().action  # type: ignore[union-attr]
    first.send(question.model.actions[pending])  # and here the lights went out
    second = LinePlant(server.connect)
    resume_plant(second, observer)
    run = run_session(observer, second, pending=pending, recorded_events=len(observer.events))
    whole = run_session(start(question), SimulatedPlant(question.model, 1, 9))
    assert (run.verdict, run.observer.transcript) == (whole.verdict, whole.observer.transcript)
    assert len(server.acted) == len(run.observer.transcript)
