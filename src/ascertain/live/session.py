"""A session: an observer meets a plant. What it asks is sent, what is heard is told to it, until it has ended.

Each action is recorded before it is sent and each reading before it is used, so that whoever reads the record after a
crash knows all that may have happened. Faults of the plant are dealt with in `faults.py`; none of them gets past here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import PlantFault
from ascertain.evidence.evidence import Step
from ascertain.interruption import OutOfTime
from ascertain.live.deadline import NO_DEADLINE, Deadline
from ascertain.live.faults import ActionOutcome, FaultPolicy, Heard, ask_plant
from ascertain.live.recorder import AbstractRecorder, Notebook
from ascertain.observer.kinds import AnyObserver
from ascertain.observer.records import Cause
from ascertain.observer.staged import Act, Advice
from ascertain.plant.abstract import AbstractPlant, as_plant
from ascertain.policy.verdict import Abstained, Verdict
from ascertain.types import Action, Plant, Reading

Watch: TypeAlias = Callable[[AnyObserver, Heard | None], None]
"""Is shown the observer at the beginning and after each step, with what was heard."""

Propose: TypeAlias = Callable[[AnyObserver, Action], bool]
"""Is shown the observer and the action that it wants, and says whether that may be sent."""


@final
@dataclass(frozen=True)
class Run(Shown):
    """What became of a session."""

    verdict: Verdict | None
    """None after a dry run that did not end at once."""
    observer: AnyObserver
    faults: tuple[PlantFault, ...] = ()
    """All that were met, those that a retry mended included."""
    met: tuple[tuple[int, ActionOutcome], ...] = ()
    """Of each fault: at which action of the run, from 1, and what came of that action in the end."""
    cause: Cause | None = None
    """Why it ended without an answer; None where it has one, and in journals from before this was recorded."""
    next_action: str | None = None
    """In a dry run: what would have been sent."""

    @property
    def plant_failed(self) -> bool:
        """Whether the run had to end because of the plant."""
        return self.cause == "plant"

    def shown(self) -> Mapping[str, object]:
        counters = self.observer.counters
        return {
            "verdict": self.verdict,
            "actions": counters.actions,
            "readings": counters.readings,
            "cost": counters.cost,
            "faults": len(self.faults) or None,
        }

    def listing(self) -> Listing:
        """Every step, and how far the evidence against the strongest rival had come after it."""
        return self.observer.listing()


@dataclass
class _Session:
    observer: AnyObserver
    plant: AbstractPlant
    policy: FaultPolicy
    recorder: AbstractRecorder
    watch: Watch | None
    recorded_events: int
    deadline: Deadline
    faults: list[PlantFault] = field(default_factory=list[PlantFault])
    met: list[tuple[int, ActionOutcome]] = field(default_factory=list[tuple[int, ActionOutcome]])
    cause: Cause | None = "observer"
    ran: bool = False
    """Whether the run has failed after an action that ran."""
    known: dict[Action, dict[str, Reading]] = field(default_factory=dict[Action, dict[str, Reading]])

    def name(self, action: Action) -> str:
        return self.observer.settings.model.actions[action]

    def readings(self, action: Action) -> dict[str, Reading]:
        """By name, what the model can show at this action."""
        if action not in self.known:
            model = self.observer.settings.model
            self.known[action] = {model.readings[y]: y for y in model.possible_readings(action)}
            if (silence := self.observer.settings.silence) is not None:  # whoever keeps silent, at any action
                self.known[action][model.readings[silence]] = silence
        return self.known[action]

    def ask(self, action: Action, policy: FaultPolicy | None = None) -> None:
        """Send an action and tell the observer what came of it."""
        heard = ask_plant(self.plant, self.name(action), self.readings(action), policy or self.policy, self.deadline)
        self.tell(action, heard)

    def recover(self, action: Action) -> None:
        """Reset a plant that has failed: only a reset that surely ran tells where it is now."""
        self.recorder.intent(action)
        self.ask(action, replace(self.policy, strict=True))

    def advise(self) -> Advice:
        """What the observer says, if it comes to say so in time."""
        try:
            return self.observer.next()
        except OutOfTime as over:
            return self.give_up(str(over), self.deadline.cause)

    def give_up(self, reason: str, cause: Cause) -> Verdict:
        """End the run for a reason that the observer does not know of."""
        self.observer, self.cause = self.observer.fail(reason), cause
        assert self.observer.verdict is not None
        return self.observer.verdict

    def tell(self, action: Action, heard: Heard) -> None:
        self.faults += heard.faults
        self.met.extend((self.observer.counters.actions + 1, heard.outcome) for _ in heard.faults)
        match heard.outcome:
            case "reading" | "missing":
                # What is no evidence is recorded as missing too, so that the certificate rests on what the answer does.
                reading = None if heard.reading == self.observer.settings.silence else heard.reading
                self.recorder.reading(action, reading)
                self.observer = self.observer.update(action, reading)
            case "outside":
                self.recorder.reading(action, heard.text)
                self.observer = self.observer.outside(action, heard.text)
            case "doubt":
                self.recorder.doubt(action)
                self.observer = self.observer.doubt(action)
            case "failure":
                self.ran = heard.ran
                self.observer = self.observer.fail(heard.reason, action if heard.ran else None)
            case "cut short":
                self.give_up(self.deadline.reason, self.deadline.cause)
        if self.observer.verdict == Abstained(self.deadline.reason):
            self.cause = self.deadline.cause
        elif heard.outcome in ("doubt", "failure") and isinstance(self.observer.verdict, Abstained):
            self.cause = "plant"
        self.record_events()
        if self.watch is not None:
            self.watch(self.observer, heard)

    def may_act(self, action: Action, approve: Callable[[str], bool] | None, propose: Propose | None = None) -> bool:
        """Whether the action may be sent; if not, the run is given up."""
        approved = propose is None or propose(self.observer, action)
        if self.deadline.is_over and self.deadline.cause == "person":
            self.give_up(self.deadline.reason, self.deadline.cause)
        elif not approved or (approve is not None and not approve(self.name(action))):
            self.give_up(f"the action {self.name(action)!r} was not approved", "person")
        elif self.deadline.is_over:
            self.give_up(self.deadline.reason, self.deadline.cause)
        else:
            return True
        return False

    def record_events(self) -> None:
        for event in self.observer.events[self.recorded_events :]:
            self.recorder.stage(event)
            self.recorded_events += 1

    def end(self, next_action: str | None = None) -> Run:
        verdict = self.observer.verdict
        cause = self.cause if isinstance(verdict, Abstained) else None
        if verdict is not None:
            self.recorder.verdict(verdict, cause, self.ran)
        return Run(verdict, self.observer, tuple(self.faults), tuple(self.met), cause, next_action)


def run_session(
    observer: AnyObserver,
    plant: Plant,
    *,
    recorder: AbstractRecorder | None = None,
    commitment: Mapping[str, Any] | None = None,
    pending: Action | None = None,
    recorded_events: int = 0,
    cause: Cause | None = "observer",
    recovery: Action | None = None,
    name_plant: bool = False,
    approve: Callable[[str], bool] | None = None,
    propose: Propose | None = None,
    dry_run: bool = False,
    watch: Watch | None = None,
    policy: FaultPolicy | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Run:
    """Run the observer on the plant until it answers or abstains.

    `commitment`, if given, is recorded first. A run that is taken up again comes with an observer that was told all
    that was recorded, a plant that was resumed, `pending`, the action of an intent that nothing was recorded after, and
    `recorded_events`, how many changes of stage were; of one that has ended, `cause` is the one recorded. One that goes
    on after a fault of the plant comes with `recovery`, the reset that is done first. With `name_plant` the plant is
    recorded before anything is sent. `approve` and `propose` are asked before each action; a no ends the run,
    and so does the deadline.
    """
    patience, recorder = policy or FaultPolicy(), recorder or Notebook()
    session = _Session(observer, as_plant(plant), patience, recorder, watch, recorded_events, deadline, cause=cause)
    with deadline.limit():
        if dry_run:
            first = pending if recovery is None else recovery
            advice = session.advise() if first is None else Act(first)
            following = session.name(advice.action) if isinstance(advice, Act) else None
            return Run(session.observer.verdict, session.observer, next_action=following)
        if commitment is not None:
            recorder.begin(commitment)
        if name_plant:
            recorder.meet(session.plant, observer.settings.model)
        session.record_events()
        if watch is not None:
            watch(observer, None)
        if pending is not None and observer.verdict is None:
            _settle_pending(session, pending)
        if recovery is not None and observer.verdict is None and session.may_act(recovery, approve, propose):
            session.recover(recovery)
        while isinstance(advice := session.advise(), Act):
            if session.may_act(advice.action, approve, propose):
                recorder.intent(advice.action)
                session.ask(advice.action)
    return session.end()


def _settle_pending(session: _Session, action: Action) -> None:
    """An action was meant to be sent when the run broke off: ask again where that is safe, else it is in doubt."""
    if session.plant.may_repeat(session.name(action)):
        session.ask(action)
    else:
        session.plant.skip(session.name(action))
        fault = PlantFault(f"the run broke off when {session.name(action)!r} was about to be sent")
        session.tell(action, Heard("failure" if session.policy.strict else "doubt", None, (fault,)))


def resume_plant(plant: AbstractPlant, observer: AnyObserver, steps_before: int = 0) -> None:
    """Tell a plant what was sent to it before, as the observer knows it, after so many steps."""
    steps: Sequence[Step] = observer.transcript[steps_before:]
    names = [observer.settings.model.actions[step.action] for step in steps]
    confirmed = max((i + 1 for i, step in enumerate(steps) if step.certain), default=0)
    plant.resume(names, confirmed)
