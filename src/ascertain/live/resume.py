"""Beginning a run, or taking one up where its journal ends: the observer is told all that was recorded.

The observer is asked before each recorded step, as it was then: what it would do must be what was done, or the journal
belongs to other settings. A bank that is compiled again must have the hash that was recorded. An intent that nothing
was recorded after is *pending*: the action may have been sent or not. A run that a fault of the plant has ended goes on
where `recovery.py` says that it can: a record that names the plant follows the verdict, and the reset is done first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, final

from ascertain.errors import DeadlineError, FileError, TaskError
from ascertain.interruption import OutOfTime
from ascertain.live.deadline import NO_DEADLINE, STOPPED, Deadline
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.live.recovery import find_reset, why_not
from ascertain.observer.banks import MakeBank
from ascertain.observer.controlled import ControllerSettings, start_controlled
from ascertain.observer.kinds import AnyObserver
from ascertain.observer.probing import PROBING
from ascertain.observer.records import Cause, Record, commitment_record, differing_keys, verdict_record
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, start_observer
from ascertain.policy.verdict import Abstained
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action

FROM_OUTSIDE: tuple[Cause, ...] = ("plant", "person", "deadline")
"""Why a run ends although the observer would go on."""


@final
@dataclass(frozen=True)
class Resumed:
    """Where a run stands: the observer, the action in doubt, if any, and how many changes of stage are recorded."""

    observer: AnyObserver
    pending: Action | None = None
    recorded_events: int = 0
    cause: Cause | None = "observer"
    """Of a run that has ended without an answer, why; None in a journal from before this was recorded."""
    commitment: Mapping[str, Any] | None = None
    """What is still to be recorded first; None where it has been."""
    plant: Record | None = None
    """The record that names the plant; None where there is none yet, and in journals from before this was recorded."""
    recovery: Action | None = None
    """After a fault of the plant: the reset that is done first."""
    recovers: bool = False
    """Whether the run goes on after that fault just now."""
    names_plant: bool = False
    """Whether the plant is to be named in the records: at the beginning, and where the run goes on after a fault."""
    attempt: int = 0
    """How many faults of the plant the run has gone on after, this one included."""
    steps_before: int = 0
    """The steps before the last of those faults."""
    remark: str | None = None
    """Why a run that a fault of the plant has ended does not go on; None where it does, and of all others."""

    @property
    def meets_plant(self) -> bool:
        """Whether a plant is needed: not for a run that has ended, here or in the past."""
        cut_short = self.cause in ("deadline", "person")
        return self.observer.verdict is None or (self.commitment is not None and not cut_short)

    @property
    def may_fall_back(self) -> bool:
        """Whether a bank may still be wanted."""
        return self.observer.verdict is None and self.observer.stage == "nominal"

    def out_of_time(self, deadline: Deadline) -> Resumed:
        """The run, ended by its deadline before an action was sent."""
        return replace(self, observer=self.observer.fail(deadline.reason), pending=None, cause=deadline.cause)


def begin_run(
    recorder: Journal | Notebook,
    settings: ObserverSettings,
    make_bank: MakeBank | None,
    *,
    resume: bool = False,
    after_fault: bool = False,
    deadline: Deadline = NO_DEADLINE,
) -> Resumed:
    """A run with these settings from its beginning, or, with `resume`, from where the journal ends.

    With `after_fault` a run that a fault of the plant has ended goes on from a reset, if it can. A deadline that passes
    here ends a new run; one that is taken up is left as it was.
    """
    commitment = commitment_record(settings, make_bank)
    bank = recorder.watch_bank(settings, make_bank)
    return _begin(recorder, lambda: start_observer(settings, bank), commitment, resume, deadline, after_fault)


def begin_controlled(
    recorder: Journal | Notebook,
    settings: ControllerSettings,
    *,
    resume: bool = False,
    after_fault: bool = False,
    deadline: Deadline = NO_DEADLINE,
) -> Resumed:
    """The same for a run that follows a policy; no policy provides for a fault, so that it never goes on after one."""
    begun = _begin(recorder, lambda: start_controlled(settings), commitment_record(settings), resume, deadline)
    ended = after_fault and begun.commitment is None and begun.cause == "plant"
    return replace(begun, remark="it follows a policy, which does not provide for that") if ended else begun


def _begin(
    recorder: Journal | Notebook,
    start: Callable[[], AnyObserver],
    commitment: Mapping[str, Any],
    resume: bool,
    deadline: Deadline,
    after_fault: bool = False,
) -> Resumed:
    if recorder.records and not resume:
        raise FileError(
            f"{getattr(recorder, 'path', '')}: this journal has begun already; add --resume to go on with it"
        )
    with deadline.limit():
        observer = start()
        if not (isinstance(recorder, Journal) and recorder.records):
            over = observer.verdict == Abstained(deadline.reason)
            cause = deadline.cause if over else "observer"
            return Resumed(observer, cause=cause, commitment=commitment, names_plant=True)
        try:
            resumed = _replay(recorder, observer, commitment, deadline, after_fault)
        except OutOfTime:
            raise _too_late(recorder, deadline) from None
    if deadline.is_over and resumed.observer.verdict is None:
        raise _too_late(recorder, deadline)
    return resumed


def resume_observer(journal: Journal, observer: AnyObserver, commitment: Mapping[str, Any]) -> Resumed:
    """Tell a fresh observer what the journal knows; a journal of another problem is refused.

    A journal that was broken off before its first record knows nothing: it is still to be begun. Where one was broken
    off between a step and what followed from it, a change of stage or the verdict, that is recorded now.
    """
    return _replay(journal, observer, commitment, NO_DEADLINE)


def _replay(
    journal: Journal,
    observer: AnyObserver,
    commitment: Mapping[str, Any],
    deadline: Deadline,
    after_fault: bool = False,
) -> Resumed:
    records, replay = journal.records, _Replay(journal, observer)
    if records:
        _check_commitment(journal, records[0], commitment)
    replay.check_time(deadline)
    for number, record in enumerate(records[1:], start=1):
        journal.note_interruption(number)
        try:
            replay.take(number, record)
        except (KeyError, TypeError, TaskError) as error:
            raise replay.refuse(number, str(error)) from None
        replay.check_time(deadline)
    if len(records) > 1 and replay.pending is None:  # before that the plant is still to be named
        replay.catch_up()
    return replay.resumed(after_fault)


def _too_late(journal: Journal, deadline: Deadline) -> DeadlineError:
    return DeadlineError(
        f"{journal.path}: {deadline.reason} while the run so far was computed again; nothing was added to the journal, "
        "so resume it with more time"
    )


def committed_probing(records: Sequence[Record], question: AbstractQuestion) -> str | None:
    """The probing rule that a run was begun with; None where none serves the question, or nothing was begun.

    The default has changed since version 0.1.0, and will again. What was begun goes on as it was.
    """
    settings = records[0].get("settings") if records else None
    name = cast("Record", settings).get("probing") if isinstance(settings, dict) else None
    rule = PROBING.find(name) if isinstance(name, str) else None
    return rule.name if rule is not None and rule.serves(question) else None


def committed_misfit(records: Sequence[Record]) -> str | None:
    """The risk of a false alarm that a run was begun with, "0" where it was begun without; None: nothing was begun."""
    settings = records[0].get("settings") if records else None
    if not isinstance(settings, dict):
        return None
    misfit = cast("Record", settings).get("misfit", "0")
    return misfit if isinstance(misfit, str) else None


def _check_commitment(journal: Journal, first: Record, commitment: Mapping[str, Any]) -> None:
    """The first record is what would be committed to now."""
    differ = differing_keys(first, commitment)
    if not differ:
        return
    if "task_sha256" in differ:
        raise FileError(
            f"{journal.path}: the journal belongs to another problem; resume it with the one it was begun with"
        )
    raise FileError(
        f"{journal.path}: the run was committed to something else ({', '.join(differ)}); resume it with the same "
        "problem and options"
    )


@dataclass
class _Replay:
    journal: Journal
    observer: AnyObserver
    pending: Action | None = None
    num_events: int = 0
    cause: Cause | None = "observer"
    ran: bool = False
    """Whether the run failed after an action that ran."""
    ended: bool = False
    """Whether the record of the verdict has been met."""
    plant: Record | None = None
    reached: AnyObserver | None = None
    """As far as is known for certain, where the run stood before the plant failed."""
    recovering: bool = False
    """Whether the plant has failed, and the reset that the run goes on with is not known to have run."""
    attempt: int = 0
    steps_before: int = 0
    num_intents: int = 0

    def check_time(self, deadline: Deadline) -> None:
        """Refuse to go on where the time that there is now, not that of then, has kept a bank from being compiled."""
        over = self.observer.verdict == Abstained(deadline.reason)
        if over and self.journal.interrupted is None and not self.ended:
            raise OutOfTime(deadline.reason)

    def take(self, number: int, record: Record) -> None:
        match record["record"]:
            case "intent":
                self.take_intent(number, record["action"])
            case "reading" | "doubt" as kind:
                if record["action"] != self.pending or self.pending is None:
                    raise self.refuse(number, "it does not follow its intent")
                action, self.pending = self.pending, None
                self.take_outcome(action, kind, record)
            case "stage":
                self.take_stage(number, record)
            case "verdict":
                self.take_verdict(number, record)
            case "plant":
                self.take_plant(number, record)
            case _:
                raise self.refuse(number, "it is not known")

    def take_plant(self, number: int, record: Record) -> None:
        """The plant, named before the first action, or again where the run goes on after it failed."""
        if number > 1:
            question = self.observer.settings.question
            if not self.ended or self.cause != "plant" or self.reached is None:
                raise TaskError("the plant has not failed")
            if reason := self.why_not() or why_not(question, find_reset(question)):
                raise TaskError(f"the run cannot go on after the plant has failed: {reason}")
            self.observer, self.pending, self.ran, self.ended = self.reached, None, False, False
            self.cause, self.recovering = "observer", True
            self.attempt, self.steps_before = self.attempt + 1, len(self.observer.transcript)
        self.plant = record

    def take_intent(self, number: int, action: object) -> None:
        self.num_intents += 1
        if self.recovering:
            reset = find_reset(self.observer.settings.question)
            if reset is None or action != reset:
                raise TaskError("after a fault of the plant the run goes on with a reset")
            self.pending = reset  # once more where the run broke off before anything came of it
            return
        advice = self.observer.next()
        if self.pending is not None or advice != Act(action):  # pyright: ignore[reportArgumentType]
            raise self.refuse(number, "the observer would not have done that then")
        self.pending = advice.action if isinstance(advice, Act) else None

    def take_outcome(self, action: Action, kind: str, record: Record) -> None:
        if self.recovering and kind == "doubt":
            raise TaskError("the run goes on after a reset only if that ran")
        self.recovering, self.reached = False, self.observer
        if kind == "reading":
            reading = record["reading"]
            if isinstance(reading, str):
                self.observer = self.observer.outside(action, reading)
            else:
                self.observer = self.observer.update(action, reading)
            return
        self.observer = self.observer.doubt(action)
        if self.observer.verdict is not None:  # one doubt too many
            self.cause = "plant"

    def take_stage(self, number: int, record: Record) -> None:
        events = self.observer.events
        if self.num_events >= len(events) or record["after"] != events[self.num_events].actions:
            raise self.refuse(number, "the observer did not change its stage then")
        if record["bank_sha256"] != self.journal.bank_hash:
            raise self.refuse(number, "the bank that is compiled now is not the one that was compiled then")
        self.num_events += 1

    def take_verdict(self, number: int, record: Record) -> None:
        """The verdict; one that the observer does not come to by itself came from outside."""
        cause = record.get("cause")
        if self.ended:
            raise self.refuse(number, "the run has ended before")
        if self.observer.verdict is None:
            self.reached = self.observer
        if self.observer.verdict is None and record["verdict"] == "abstained" and cause in (None, *FROM_OUTSIDE):
            ran, self.pending = self.pending if record.get("ran") is True else None, None
            self.observer, self.cause = self.observer.fail(str(record["reason"]), ran), cause
            self.ran = ran is not None
        elif cause == "deadline" or (cause == "person" and record["reason"] == STOPPED):
            self.cause = cause  # while the bank was compiled: the observer has heard of it
        verdict, self.ended = self.observer.verdict, True
        if "cause" not in record:
            self.cause = None
        said = {key: value for key, value in record.items() if key != "time"}
        if verdict is None or verdict_record(verdict, self.cause, self.ran) != said:
            raise self.refuse(number, "the observer does not come to that verdict")

    def catch_up(self) -> None:
        for event in self.observer.events[self.num_events :]:
            self.journal.stage(event)
            self.num_events += 1
        if self.observer.verdict is not None:
            self.journal.verdict(self.observer.verdict, self.cause, self.ran)

    def resumed(self, after_fault: bool) -> Resumed:
        """Where the run stands; if a fault of the plant has ended it and it is to go on, before that, if it can."""
        found = Resumed(
            self.observer,
            self.pending,
            self.num_events,
            self.cause,
            plant=self.plant,
            names_plant=len(self.journal.records) <= 1,
            attempt=self.attempt,
            steps_before=self.steps_before,
        )
        if self.recovering and not self.ended:
            # A reset that may have been sent is sent again: a second one changes nothing and reads the same.
            return replace(found, pending=None, recovery=find_reset(self.observer.settings.question))
        if not (after_fault and self.ended and self.cause == "plant"):
            return found
        question = self.observer.settings.question
        reset = find_reset(question)
        reason = self.why_not() or why_not(question, reset)
        if reason is not None or self.reached is None:
            return replace(found, remark=reason)
        return replace(
            found,
            observer=self.reached,
            cause="observer",
            recovery=reset,
            recovers=True,
            names_plant=True,
            attempt=self.attempt + 1,
            steps_before=len(self.reached.transcript),
        )

    def why_not(self) -> str | None:
        """Why this run, whatever its question, cannot go on after a fault of the plant."""
        if self.plant is None:
            return "its journal does not name the plant"
        if self.reached is None or len(self.reached.events) != self.num_events:
            return "it changed its stage in the step that failed"
        budget = self.observer.settings.settings_data().get("budget")
        if isinstance(budget, int) and self.num_intents >= budget:
            return f"its budget of {budget} actions is spent"
        return None

    def refuse(self, number: int, why: str) -> FileError:
        return FileError(f"{self.journal.path}: record {number} does not fit the run ({why}); it cannot be resumed")
