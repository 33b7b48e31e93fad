"""The observer: Algorithm 1 of the paper. It is given what was done and read, and returns what to do next.

    observer = start_observer(settings, make_bank)
    while isinstance(act := observer.next(), Act):
        observer = observer.update(act.action, read(act.action))
    act is Certified(label) or Abstained(reason)

A step returns a new observer and the old one stays valid: observers share the heavy state of a run, and one that is
used again after a later one has gone on gets its own, replayed from its transcript. Going on from the latest is quick.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import TaskError
from ascertain.evidence.evidence import Step
from ascertain.evidence.worlds import NO_LABEL
from ascertain.observer.banks import BankSource, MakeBank, list_hypotheses, spread_evenly
from ascertain.observer.counters import Counters
from ascertain.observer.risk_budget import RiskBudget
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.stages import Acceptance, Event, StageName, Stages
from ascertain.observer.witness import see_outside
from ascertain.policy.verdict import Abstained, Verdict
from ascertain.types import Action, Reading


@final
@dataclass(frozen=True)
class Act:
    """Do this action and report what was read."""

    action: Action


Advice: TypeAlias = Act | Verdict
"""What to do next: act, or the end."""


@final
@dataclass(frozen=True)
class View:
    """For people to watch: the leading label, and how far the evidence against its strongest rival has come."""

    stage: str
    label: str | None
    """The label of the candidate that explains the readings best; None when there is none."""
    evidence_nats: float
    """Against the strongest rival that is known now. It may fall again; what counts is whether it was ever reached."""
    threshold_nats: float
    rivals: int | None
    """States of another label that are not beaten; None while they are not counted, in the millions."""
    actions: int
    readings: int
    cost: Fraction
    noisy: bool = True
    """Whether there is chance in the model; without it a rival is beaten by one reading, and nats say nothing."""


class _Link(NamedTuple):
    """The last step of a transcript and the one before it: transcripts that grow share all but their last step."""

    before: _Link | None
    step: Step


@dataclass
class _Run:
    """The state of a run, the transcript that it has seen, and the action chosen after that."""

    stages: Stages
    seen: _Link | None = None
    chosen: Action | None = None


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Observer(Shown):
    """A run so far, as plain values; see `start_observer`."""

    settings: ObserverSettings
    stage: StageName
    events: tuple[Event, ...]
    risk_budget: RiskBudget
    counters: Counters
    verdict: Verdict | None
    """How the run ended; None while it goes on."""
    acceptance: Acceptance | None
    """After an answer: what stands behind it."""
    _source: BankSource | None = field(repr=False)
    _past: _Link | None = field(repr=False)
    _run: _Run = field(repr=False)

    def shown(self) -> Mapping[str, object]:
        return {"stage": self.stage, "actions": self.counters.actions, "verdict": self.verdict}

    def listing(self) -> Listing:
        """Every step, and how far the evidence against the strongest rival had come after it."""
        model, rows = self.settings.model, list[tuple[object, ...]]()
        for step, seen in self.history():
            reading = "" if step.reading is None else model.readings[step.reading]
            rows.append((model.actions[step.action], reading, seen.label or "", f"{seen.evidence_nats:.2f}"))
        return ("action", "reading", "leading label", "evidence (nats)"), rows

    def history(self) -> Iterator[tuple[Step, View]]:
        """Every step, and what could be seen after it; the run is gone through again for this."""
        stages = Stages(self.settings, self._source)
        for step in self.transcript:
            stages.take(step)
            yield step, _observer(self.settings, self._source, _Run(stages)).view

    @property
    def transcript(self) -> tuple[Step, ...]:
        """What was done and read, in order."""
        steps: list[Step] = []
        link = self._past
        while link is not None:
            steps.append(link.step)
            link = link.before
        return tuple(reversed(steps))

    def next(self) -> Advice:
        """What to do now: an action, or the verdict when the run has ended."""
        if self.verdict is not None:
            return self.verdict
        run = self._resume()
        if run.chosen is None:
            run.chosen = run.stages.choose()
        return Act(run.chosen)

    def why(self, action: Action) -> str:
        """Why this action is the next one, for people."""
        return self._resume().stages.explain(action)

    def update(self, action: Action, reading: Reading | None) -> Observer:
        """The action was done and this was read; None when the reading is missing, whatever it would have been."""
        return self._take(Step(action, None if reading == self.settings.silence else reading))

    def doubt(self, action: Action) -> Observer:
        """The action may have been done or not, and nothing was read."""
        return self._take(Step(action, None, certain=False))

    def outside(self, action: Action, reading: str) -> Observer:
        """The action was done, and this was read, which no state of the model gives there: it is none of these."""
        self._check_open()
        ended = self._end_after(see_outside(self.settings.model, self.transcript, action, reading), action)
        return replace(ended, counters=replace(ended.counters, readings=self.counters.readings + 1))

    def fail(self, reason: str, ran: Action | None = None) -> Observer:
        """The run cannot go on: it abstains for that reason.

        `ran` is an action that was done and whose reading cannot be used; it is counted as one that was not read.
        """
        self._check_open()
        ended = self if ran is None else self._end_after(Abstained(reason), ran)
        return replace(ended, verdict=Abstained(reason), counters=replace(ended.counters, abstained=1))

    def _end_after(self, verdict: Verdict, action: Action) -> Observer:
        """The end, after an action that was done and whose reading the model cannot use; it is counted."""
        cost = self.counters.cost + self.settings.question.cost[action]
        run = self._resume()
        # Nothing follows from this step any more, so that the stages need not hear of it.
        run.seen, run.chosen = _Link(self._past, Step(action, None)), None
        counters = replace(self.counters, actions=self.counters.actions + 1, cost=cost)
        return replace(self, verdict=verdict, counters=counters, _past=run.seen, _run=run)

    @property
    def view(self) -> View:
        """What a panel shows. No search is made for it."""
        world, counters = self._resume().stages.world, self.counters
        code = NO_LABEL if world.evidence.vanished else world.leader()[1]
        glance = world.glance(code)
        alpha = world.evidence.alpha
        return View(
            stage=self.stage,
            label=None if code == NO_LABEL else world.labelling.name(code),
            evidence_nats=round(glance.evidence_nats, 6) + 0.0,  # without the rounding of kernels, and without -0
            threshold_nats=math.log(alpha.denominator) - math.log(alpha.numerator) if alpha else math.inf,
            rivals=glance.rivals,
            actions=counters.actions,
            readings=counters.readings,
            cost=counters.cost,
            noisy=self.settings.model.is_noisy,
        )

    def _take(self, step: Step) -> Observer:
        self._check_open()
        self.settings.model.check_step(step.action, step.reading)
        run = self._resume()
        if step.action != run.chosen and not run.stages.guard.allows(run.stages.world, step.action):
            raise TaskError(
                f"action {self.settings.model.actions[step.action]!r} is not allowed now: it is used up, not one of "
                "the question's, or forbidden where the plant may be"
            )
        run.seen, run.chosen = _Link(self._past, step), None
        run.stages.take(step)
        return _observer(self.settings, self._source, run)

    def _check_open(self) -> None:
        if self.verdict is not None:
            raise TaskError(f"the observer has ended with {self.verdict}; start another one")

    def _resume(self) -> _Run:
        """The run as it was after this observer's last step."""
        if self._run.seen is not self._past:
            stages = Stages(self.settings, self._source)
            for step in self.transcript:
                stages.take(step)
            object.__setattr__(self, "_run", _Run(stages, self._past))
        return self._run


def start_observer(settings: ObserverSettings, make_bank: MakeBank | None = None) -> Observer:
    """An observer before its first reading.

    `make_bank` compiles the bank to fall back on. It is called without arguments, so that it sees no reading; at most
    once; and only when a fallback begins (for the policy eager that is now). None: there is nothing to fall back on;
    the policies that cannot do without a bank take the hypotheses, evenly.
    """
    if make_bank is None and (settings.policy == "eager" or settings.mixes):
        eager, question = settings.policy == "eager", settings.question
        make_bank = spread_evenly(question) if eager else list_hypotheses(question)
        if make_bank is None:
            bits = len(settings.model.bits)
            raise TaskError(
                f"the policy {settings.policy!r} needs a bank, and the states of a plant of {bits} bits are too many "
                "to list; give what compiles one, or a nominal and the policy readwise"
            )
    source = None if make_bank is None else BankSource(make_bank, settings.policy == "incremental")
    return _observer(settings, source, _Run(Stages(settings, source)))


def _observer(settings: ObserverSettings, source: BankSource | None, run: _Run) -> Observer:
    stages = run.stages
    return Observer(
        settings=settings,
        stage=stages.stage,
        events=tuple(stages.events),
        risk_budget=stages.risk_budget,
        counters=stages.counters(),
        verdict=stages.verdict,
        acceptance=stages.acceptance,
        _source=source,
        _past=run.seen,
        _run=run,
    )
