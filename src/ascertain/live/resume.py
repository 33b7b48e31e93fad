"""Beginning a run, or taking one up where its journal ends: the observer is told all that was recorded.

The observer is asked before each recorded step, as it was then: what it would do must be what was done, or the journal
belongs to other settings. A bank that is compiled again must have the hash that was recorded. An intent that nothing
was recorded after is *pending*: the action may have been sent or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, final

from ascertain.errors import DeadlineError, FileError, TaskError
from ascertain.interruption import OutOfTime
from ascertain.live.deadline import NO_DEADLINE, Deadline
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.observer.abstract import AbstractObserver
from ascertain.observer.banks import MakeBank
from ascertain.observer.controlled import ControllerSettings, start_controlled
from ascertain.observer.probing import PROBING
from ascertain.observer.records import Cause, Record, commitment_record, verdict_record
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

    observer: AbstractObserver
    pending: Action | None = None
    recorded_events: int = 0
    cause: Cause | None = "observer"
    """Of a run that has ended without an answer, why; None in a journal from before this was recorded."""
    commitment: Mapping[str, Any] | None = None
    """What is still to be recorded first; None where it has been."""

    @property
    def meets_plant(self) -> bool:
        """Whether a plant is needed: not for a run that has ended, here or in the past."""
        return self.observer.verdict is None or (self.commitment is not None and self.cause != "deadline")

    @property
    def may_fall_back(self) -> bool:
        """Whether a bank may still be wanted."""
        return self.observer.verdict is None and self.observer.stage == "nominal"

    def out_of_time(self, deadline: Deadline) -> Resumed:
        """The run, ended by its deadline before an action was sent."""
        return replace(self, observer=self.observer.fail(deadline.reason), pending=None, cause="deadline")


def begin_run(
    recorder: Journal | Notebook,
    settings: ObserverSettings,
    make_bank: MakeBank | None,
    *,
    resume: bool = False,
    deadline: Deadline = NO_DEADLINE,
) -> Resumed:
    """A run with these settings from its beginning, or, with `resume`, from where the journal ends.

    A deadline that passes here ends a new run; one that is taken up is left as it was.
    """
    commitment = commitment_record(settings, make_bank)
    bank = recorder.watch_bank(settings, make_bank)
    return _begin(recorder, lambda: start_observer(settings, bank), commitment, resume, deadline)


def begin_controlled(
    recorder: Journal | Notebook,
    settings: ControllerSettings,
    *,
    resume: bool = False,
    deadline: Deadline = NO_DEADLINE,
) -> Resumed:
    """The same for a run that follows a policy."""
    return _begin(recorder, lambda: start_controlled(settings), settings.commitment(), resume, deadline)


def _begin(
    recorder: Journal | Notebook,
    start: Callable[[], AbstractObserver],
    commitment: Mapping[str, Any],
    resume: bool,
    deadline: Deadline,
) -> Resumed:
    if recorder.records and not resume:
        raise FileError(
            f"{getattr(recorder, 'path', '')}: this journal has begun already; add --resume to go on with it"
        )
    with deadline.limit():
        observer = start()
        if not (isinstance(recorder, Journal) and recorder.records):
            over = observer.verdict == Abstained(deadline.reason)
            return Resumed(observer, cause="deadline" if over else "observer", commitment=commitment)
        try:
            resumed = _replay(recorder, observer, commitment, deadline)
        except OutOfTime:
            raise _too_late(recorder, deadline) from None
    if deadline.is_over and resumed.observer.verdict is None:
        raise _too_late(recorder, deadline)
    return resumed


def resume_observer(journal: Journal, observer: AbstractObserver, commitment: Mapping[str, Any]) -> Resumed:
    """Tell a fresh observer what the journal knows; a journal of another problem is refused.

    A journal that was broken off before its first record knows nothing: it is still to be begun. Where one was broken
    off between a step and what followed from it, a change of stage or the verdict, that is recorded now.
    """
    return _replay(journal, observer, commitment, NO_DEADLINE)


def _replay(journal: Journal, observer: AbstractObserver, commitment: Mapping[str, Any], deadline: Deadline) -> Resumed:
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
    if records and replay.pending is None:
        replay.catch_up()
    return Resumed(replay.observer, replay.pending, replay.num_events, replay.cause)


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
    if first == commitment:
        return
    if first.get("task_sha256") != commitment["task_sha256"]:
        raise FileError(
            f"{journal.path}: the journal belongs to another problem; resume it with the one it was begun with"
        )
    differ = sorted(key for key in {*first, *commitment} if first.get(key) != commitment.get(key))
    raise FileError(
        f"{journal.path}: the run was committed to something else ({', '.join(differ)}); resume it with the same "
        "version, problem and options"
    )


@dataclass
class _Replay:
    journal: Journal
    observer: AbstractObserver
    pending: Action | None = None
    num_events: int = 0
    cause: Cause | None = "observer"
    ran: bool = False
    """Whether the run failed after an action that ran."""
    ended: bool = False
    """Whether the record of the verdict has been met."""

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
            case _:
                raise self.refuse(number, "it is not known")

    def take_intent(self, number: int, action: object) -> None:
        advice = self.observer.next()
        if self.pending is not None or advice != Act(action):  # pyright: ignore[reportArgumentType]
            raise self.refuse(number, "the observer would not have done that then")
        self.pending = advice.action if isinstance(advice, Act) else None

    def take_outcome(self, action: Action, kind: str, record: Record) -> None:
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
        if self.observer.verdict is None and record["verdict"] == "abstained" and cause in (None, *FROM_OUTSIDE):
            ran, self.pending = self.pending if record.get("ran") is True else None, None
            self.observer, self.cause = self.observer.fail(str(record["reason"]), ran), cause
            self.ran = ran is not None
        elif cause == "deadline":  # while the bank was compiled: the observer has heard of it
            self.cause = cause
        verdict, self.ended = self.observer.verdict, True
        if "cause" not in record:
            self.cause = None
        if verdict is None or verdict_record(verdict, self.cause, self.ran) != record:
            raise self.refuse(number, "the observer does not come to that verdict")

    def catch_up(self) -> None:
        for event in self.observer.events[self.num_events :]:
            self.journal.stage(event)
            self.num_events += 1
        if self.observer.verdict is not None:
            self.journal.verdict(self.observer.verdict, self.cause, self.ran)

    def refuse(self, number: int, why: str) -> FileError:
        return FileError(f"{self.journal.path}: record {number} does not fit the run ({why}); it cannot be resumed")
