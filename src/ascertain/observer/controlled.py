"""The observer that follows a policy which was found, and proved to be right often enough, before the first action.

It collects no evidence of its own. It asks what the policy asks, tells it what was read, and says what it answers; the
guarantee is the policy's, for every hypothesis, and was computed beforehand. So whatever the policy does not provide
for ends in an abstention, which never makes a wrong answer more probable:

- a reading that was lost, unless the policy would not have looked at it: every reading that the action can give leads
  to the same memory;
- an action of which nobody knows whether it ran, a failure of the plant, a budget that is used up.

How often a plant is at fault is in no claim; the policy's own abstentions are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import TaskError
from ascertain.evidence.evidence import Step
from ascertain.model.abstract import AbstractModel
from ascertain.observer.counters import Counters
from ascertain.observer.staged import Act, Advice, View
from ascertain.observer.stages import Event
from ascertain.observer.witness import see_outside
from ascertain.policy.policy import AbstractPolicy, Answer, Ask
from ascertain.policy.verdict import Abstained, Certified, Verdict
from ascertain.task.canonical import task_hash
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action, Reading

FORMAT = "ascertain-controller"
"""What settings in a commitment call themselves, so that they are not taken for those of a staged observer."""
CONTROLLER = "controller"
"""What the stage and the policy of such a run are called."""
VERSION = 1
"""Of the settings in a commitment; another number when a reader would misunderstand what is written now."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ControllerSettings(Shown):
    """The question and the policy that is followed, all of it as plain data too."""

    question: AbstractQuestion
    controller: AbstractPolicy[Any]
    data: Mapping[str, Any]
    """The policy as plain data: what the journal keeps, so that a run that is resumed follows the same one."""
    label: Callable[[int], str]
    """The name of an answer."""
    risk: tuple[Fraction, Fraction, Fraction]
    """How probable a wrong answer and an abstention are at most, and the expected cost, in the worst case."""
    budget: int | None = None
    """The most actions; None: the policy's own."""
    limits: Mapping[Action, int] = field(default_factory=dict[Action, int])
    """How often each action may be used."""
    policy: str = field(default=CONTROLLER, init=False)
    """In the place of the name of a policy that collects evidence."""
    misfit: Fraction = field(default=Fraction(0), init=False)
    """No evidence is followed, and the risk of the policy was computed beforehand."""
    silence: Reading | None = field(default=None, init=False)
    """A policy follows whatever is read."""

    def __post_init__(self) -> None:
        if self.risk[0] > self.question.alpha:
            raise TaskError(
                f"the policy errs with a probability of up to {float(self.risk[0]):.6g}, and the question allows alpha "
                f"= {self.question.alpha}; take another policy, or a larger alpha"
            )

    def shown(self) -> Mapping[str, object]:
        wrong, abstain, cost = self.risk
        return {"wrong": wrong, "abstain": abstain, "cost": cost}

    @property
    def model(self) -> AbstractModel:
        return self.question.model

    @property
    def alpha(self) -> Fraction:
        return self.question.alpha

    def settings_data(self) -> dict[str, Any]:
        """The settings as plain data, with the whole policy; the question by its hash."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "task": task_hash(self.question),
            "policy": self.policy,
            "alpha": str(self.question.alpha),
            "beta": str(self.question.beta),
            "budget": self.budget,
            "limits": [[action, limit] for action, limit in sorted(self.limits.items())],
            "controller": dict(self.data),
        }


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ControlledObserver(Shown):
    """A run so far, as plain values; see `start_controlled`."""

    settings: ControllerSettings
    memory: Hashable
    transcript: tuple[Step, ...] = ()
    counters: Counters = field(default_factory=Counters)
    verdict: Verdict | None = None
    stage: str = field(default=CONTROLLER, init=False)
    """There is one, which is never changed."""
    events: tuple[Event, ...] = field(default=(), init=False)
    acceptance: None = field(default=None, init=False)
    """No evidence stands behind an answer; the policy does."""

    def shown(self) -> Mapping[str, object]:
        return {"stage": self.stage, "actions": self.counters.actions, "verdict": self.verdict}

    def listing(self) -> Listing:
        """Every step."""
        model = self.settings.model
        rows = [
            (model.actions[s.action], "" if s.reading is None else model.readings[s.reading]) for s in self.transcript
        ]
        return ("action", "reading"), rows

    def history(self) -> Iterator[tuple[Step, View]]:
        """Every step, and what could be seen after it; the run is gone through again for this."""
        seen = start_controlled(self.settings)
        for step in self.transcript:
            seen = seen.update(step.action, step.reading) if step.certain else seen.doubt(step.action)
            yield step, seen.view

    def next(self) -> Advice:
        """What to do now: an action, or the verdict when the run has ended."""
        if self.verdict is not None:
            return self.verdict
        decision = self.settings.controller.decide(self.memory)
        assert isinstance(decision, Ask)
        return Act(decision.action)

    def why(self, action: Action) -> str:
        """Why this action is the next one, for people."""
        del action
        return "the policy asks for it; its risk was proved before the first action"

    def update(self, action: Action, reading: Reading | None) -> ControlledObserver:
        """The action was done and this was read; None when the reading is missing."""
        self._check(action)
        self.settings.model.check_step(action, reading)
        controller = self.settings.controller
        if reading is not None:
            return self._go(Step(action, reading), controller.next(self.memory, reading))
        # A lost reading matters only where the policy would have looked at it.
        after = {controller.next(self.memory, y) for y in self.settings.model.possible_readings(action)}
        if len(after) == 1:
            return self._go(Step(action, None), after.pop())
        lost = f"the reading of {self.settings.model.actions[action]!r} was lost, and the policy depends on it"
        return self._go(Step(action, None), self.memory, Abstained(lost))

    def doubt(self, action: Action) -> ControlledObserver:
        """The action may have been done or not, and nothing was read: no policy provides for that."""
        self._check(action)
        name = self.settings.model.actions[action]
        unknown = f"nobody knows whether {name!r} ran, and the policy depends on it"
        return self._go(Step(action, None, certain=False), self.memory, Abstained(unknown))

    def outside(self, action: Action, reading: str) -> ControlledObserver:
        """The action was done, and this was read, which no state of the model gives there: it is none of these."""
        self._check(action)
        verdict = see_outside(self.settings.model, self.transcript, action, reading)
        return self._go(Step(action, None), self.memory, verdict)

    def fail(self, reason: str, ran: Action | None = None) -> ControlledObserver:
        """The run cannot go on: it abstains for that reason, after an action that ran if one is given."""
        self._check_open()
        if ran is not None:
            return self._go(Step(ran, None), self.memory, Abstained(reason))
        return replace(self, verdict=Abstained(reason), counters=replace(self.counters, abstained=1))

    @property
    def view(self) -> View:
        """What a panel shows: no evidence is collected, so that there is none to be seen."""
        counters = self.counters
        return View(
            stage=self.stage,
            label=self.verdict.label if isinstance(self.verdict, Certified) else None,
            evidence_nats=0.0,
            threshold_nats=math.inf,
            rivals=None,
            actions=counters.actions,
            readings=counters.readings,
            cost=counters.cost,
        )

    def _check(self, action: Action) -> None:
        self._check_open()
        if self.next() != Act(action):
            raise TaskError(f"the policy does not ask {self.settings.model.actions[action]!r} now")

    def _check_open(self) -> None:
        if self.verdict is not None:
            raise TaskError(f"the observer has ended with {self.verdict}; start another one")

    def _go(self, step: Step, memory: Hashable, verdict: Verdict | None = None) -> ControlledObserver:
        counters = self.counters
        counted = replace(
            counters,
            actions=counters.actions + 1,
            readings=counters.readings + (step.reading is not None),
            cost=counters.cost + self.settings.question.cost[step.action],
        )
        after = replace(self, memory=memory, transcript=(*self.transcript, step), counters=counted, verdict=verdict)
        return _settle(after)


def start_controlled(settings: ControllerSettings) -> ControlledObserver:
    """An observer before its first reading."""
    return _settle(ControlledObserver(settings=settings, memory=settings.controller.start()))


def _settle(observer: ControlledObserver) -> ControlledObserver:
    """The observer with the verdict that its policy, or a limit, has come to."""
    verdict = observer.verdict or _decide(observer)
    if verdict is None:
        return observer
    answered, gave_up = isinstance(verdict, Certified), isinstance(verdict, Abstained)
    counters = replace(observer.counters, certified=int(answered), abstained=int(gave_up))
    return replace(observer, verdict=verdict, counters=counters)


def _decide(observer: ControlledObserver) -> Verdict | None:
    settings = observer.settings
    decision = settings.controller.decide(observer.memory)
    if isinstance(decision, Answer):
        return Certified(settings.label(decision.label))
    if not isinstance(decision, Ask):
        return Abstained(decision.reason)
    if settings.budget is not None and observer.counters.actions >= settings.budget:
        return Abstained(f"the budget of {settings.budget} actions is used up")
    used = sum(step.action == decision.action for step in observer.transcript)
    if used >= settings.limits.get(decision.action, used + 1):
        return Abstained(f"{settings.model.actions[decision.action]!r} may not be used again: its limit is reached")
    return None
