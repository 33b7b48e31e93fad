"""The stages of a run, a step at a time: the mutable heart that observers share.

A run is in one of two stages. In the *nominal* stage the bank is the nominal alone, scored on all readings at its share
of alpha; a second e-process, the trigger, watches whether the nominal explains the readings. In the *fallback* stage
the bank is what was compiled. The policies differ in when the second stage begins and on what it is scored:

    eager       at once, on all readings, with the whole of alpha
    staged      on formal rejection of the nominal, on the readings after that, with the rest of alpha
    readwise    as staged, or as soon as the trigger exceeds 1 + lambda after a reading
    reuse       as readwise, on all readings, with the whole of alpha: nominal and bank are one mixture
    incremental as reuse, shell after shell: the next one is added when the best candidate so far no longer explains the
                readings, by the same test as the nominal; every shell has a weight that was fixed by its number

In all but eager the second stage also begins when the first has used up its own budget, if it has one.

Fresh-reading certification (staged, readwise): the bank begins where the operation ended and is led through what was
done since; the readings from before the switch are not shown to it. Not so on a hidden model: where the plant is now
depends there on what was read, not only on what was done, so that leaving readings out that decided about the switch
would bias the rest. Its bank is the hypotheses, fixed with the commitment, and is scored on all readings, with the rest
of alpha: two tests that were both fixed beforehand, whose shares add up to alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from ascertain.errors import AscertainError, TaskError
from ascertain.evidence.evidence import Step
from ascertain.evidence.trigger import AbstractTrigger
from ascertain.evidence.worlds import AbstractWorld
from ascertain.interruption import OutOfTime
from ascertain.observer.banks import BankSource
from ascertain.observer.choice import Chooser
from ascertain.observer.counters import Counters
from ascertain.observer.guard import Guard
from ascertain.observer.risk_budget import RiskBudget
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.stalemate import Stalemates
from ascertain.observer.witness import is_none_of_these, write_witness
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese, Verdict
from ascertain.task.bank import Bank, EvenBank, listed_bank, nominal_bank, reuse_bank
from ascertain.task.labels import join_labels
from ascertain.types import Action, State

StageName: TypeAlias = Literal["nominal", "fallback"]
"""Algorithm 1 of the paper has these two."""
SwitchReason: TypeAlias = Literal["eager", "trigger", "rejection", "exhausted", "contradiction", "forbidden", "shell"]
"""Why a fallback began: at once; the trigger exceeded 1 + lambda; formal rejection; the nominal stage has used up its
budget; the nominal cannot have shown what was read, or it beat all there is; no action is allowed on the nominal. And
"shell": more of its bank was computed."""
NO_MODEL = "no model explains the readings"
"""Why a run abstains on a misfit."""
NOMINAL, FALLBACK, MIXTURE = "nominal", "fallback", "mixture"
"""The names of the shares of alpha."""


@final
@dataclass(frozen=True)
class Event:
    """A change of stage: to which, after how many actions and readings, and why."""

    stage: StageName
    actions: int
    readings: int
    why: SwitchReason


@final
@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """What stands behind an answer: all that someone needs to compute its evidence again."""

    label: str
    current: State | None
    """The state that the plant is in now, certified like the label; None when what is left does not agree on it."""
    share: str
    """The name of the share of alpha that was spent, and `alpha`, how much that is."""
    alpha: Fraction
    bank: Bank | EvenBank
    """The bank that was scored: of a mixture, the part that had been computed by then."""
    scored_from: int
    """The number of the first step, from 0, whose reading is scored; readings before it only move the bank along."""
    transcript: tuple[Step, ...]


@final
class Stages:
    """A run so far. `verdict` is None until it has ended."""

    def __init__(self, settings: ObserverSettings, source: BankSource | None) -> None:
        self.settings = settings
        self.steps: list[Step] = []
        self.events: list[Event] = []
        self.risk_budget = RiskBudget(settings.alpha)
        self.verdict: Verdict | None = None
        self.acceptance: Acceptance | None = None
        self.stage: StageName = "nominal"
        self.guard = Guard(settings)
        self._chooser = Chooser(settings)
        self._stalemates = Stalemates(settings.question)
        self._source = source
        self._scored_from = 0
        self._cost = Fraction(0)
        self._num_readings = self._num_lost = 0
        self._spent_steps = [0, 0, 0]
        self._trigger: AbstractTrigger[Any] | None = None
        try:
            self.world = self._first_world()
            self._settle()
        except OutOfTime as over:
            # There is no bank to score. Nothing is read any more, so that any world will do for what is left to show.
            listed = settings.question.candidates
            self.world = settings.make_world(nominal_bank(0 if listed is None else listed[0]), settings.alpha)
            self.verdict = Abstained(str(over))

    @property
    def share(self) -> str:
        """The name of the share that an answer would be made at now."""
        return MIXTURE if self.settings.mixes else self.stage

    def _first_world(self) -> AbstractWorld:
        settings, nominal = self.settings, self.settings.nominal
        if settings.policy == "eager":
            return self._open_fallback("eager", settings.alpha)
        assert nominal is not None
        self._trigger = settings.make_trigger()
        if settings.mixes:
            self.guard.follow((nominal,))
            self.risk_budget = self.risk_budget.spend(MIXTURE, settings.alpha)
            self._noted = mixture_bank(settings, self._compile)
            return settings.make_world(self._noted, settings.alpha)
        self.guard.follow((nominal,) if self._source is None else settings.question.candidates)
        self.risk_budget = self.risk_budget.spend(NOMINAL, settings.alpha_nominal)
        return settings.make_world(nominal_bank(nominal), settings.alpha_nominal)

    def take(self, step: Step) -> None:
        """One more step, of an action that is allowed."""
        self.steps.append(step)
        self._num_readings += step.reading is not None
        self._num_lost += step.reading is None and step.certain
        self._cost += self.settings.question.cost[step.action]
        if step.reading is not None and step.reading not in self.settings.model.possible_readings(step.action):
            self.verdict = NoneOfThese(write_witness(self.settings.model, self.steps))
            return
        self.guard.note(step)
        try:
            self.world.take(step)
            if self._trigger is not None:
                self._trigger.take(step)
            self._settle()
        except BankFailure as failure:
            self.verdict = Abstained(f"the bank could not be compiled: {failure}")
        except OutOfTime as over:
            self.verdict = Abstained(str(over))

    def choose(self) -> Action:
        """The next action; the run has not ended, so there is one."""
        action = self._chooser.choose(self.world, self.guard, self.steps)
        assert action is not None
        return action

    def explain(self, action: Action) -> str:
        """Why the rule takes this action now."""
        return self._chooser.explain(self.world, action, self.steps)

    def _settle(self) -> None:
        """Answer, change the stage, abstain or go on, as things stand after a step."""
        if self._num_lost > self.settings.losses and self.settings.question.reads_by_chance:
            self.verdict = Abstained(f"more than {self.settings.losses} readings were lost")
            return
        if self._misfits():
            self.verdict = Abstained(NO_MODEL)
            return
        verdict = self._mixture_verdict() if self.settings.mixes else self.world.verdict()
        why = self._why_switch(verdict)
        if why is not None and not self._budget_spent:
            verdict = self._switch(why)
        if verdict is None and self._budget_spent:
            verdict = Abstained(f"the budget of {self.settings.budget} actions is spent")
        if verdict is None and not self._may_act():
            verdict = self._switch("forbidden") if self.stage == "nominal" and self._source else None
            if verdict is None and not self._may_act():
                verdict = Abstained("no action is allowed: each is used up, or forbidden where the plant may be")
        if verdict is None and (left := self._stalemates.find(self.world, self.guard)) is not None:
            verdict = Abstained(f"nothing that is allowed tells apart what is left: {join_labels(left)}")
        if isinstance(verdict, Certified) and self._misfits():  # what was just compiled may have beaten what fitted
            verdict = Abstained(NO_MODEL)
        if isinstance(verdict, Certified):
            self._accept(verdict.label)
        elif isinstance(verdict, Abstained) and is_none_of_these(self.settings.question, self.steps):
            verdict = NoneOfThese(write_witness(self.settings.model, self.steps))
        self.verdict = verdict

    def _misfits(self) -> bool:
        """Whether nothing that is left explains the readings; stages that score by themselves have shares of gamma."""
        settings = self.settings
        part = Fraction(1)
        if not (settings.mixes or settings.policy == "eager"):
            part = settings.nominal_share if self.stage == "nominal" else 1 - settings.nominal_share
        return settings.misfit > 0 and self.world.misfits(part * settings.misfit)

    @property
    def _budget_spent(self) -> bool:
        return len(self.steps) >= self.settings.budget

    def _may_act(self) -> bool:
        return any(self.guard.allows(self.world, a) for a in self.guard.actions)

    def _why_switch(self, verdict: Verdict | None) -> SwitchReason | None:
        """Why the nominal stage is over, in the policies where it is a stage of its own; None while it goes on."""
        if self.stage == "fallback" or self.settings.mixes or isinstance(verdict, Certified):
            return None
        if isinstance(verdict, Abstained):
            # Where cases of a doubted action have beaten each other, all is beaten although the nominal explains the
            # readings. Then nothing that was fixed beforehand says to switch.
            failed = self.world.evidence.vanished and self.world.num_doubts <= self.settings.doubts.limit
            return "contradiction" if failed else None
        return self._why_trigger()

    def _why_trigger(self) -> SwitchReason | None:
        if self._trigger is None:
            return None
        if self.settings.policy != "staged" and self._trigger.exceeds(1 + self.settings.threshold):
            return "trigger"
        if self._trigger.rejects(self.settings.rejection):
            return "rejection"
        limit = self.settings.nominal_budget
        return "exhausted" if limit is not None and len(self.steps) >= limit and self._source is not None else None

    def _mixture_verdict(self) -> Verdict | None:
        """The mixture's verdict. Later parts are computed when what is there no longer explains the readings, or when
        the trigger says so; they are scored on all readings, so that even a spent budget does not come too late."""
        verdict, why = self.world.verdict(), None
        if self.stage == "nominal" and self.world.evidence.bank is not self._noted:
            why = "contradiction"
        elif self.stage == "nominal" and verdict is None and (why := self._why_trigger()) is not None:
            self.world.complete_bank()
            verdict = self.world.verdict()
        if why is not None:
            self._leave_nominal()
        while self.stage == "fallback" and verdict is None and self._wants_shell():
            self.world.complete_bank()
            verdict = self.world.verdict()
        if self.stage == "fallback" and self.world.evidence.bank is not self._noted:
            self._note_bank(why or "shell")
        return verdict

    def _wants_shell(self) -> bool:
        """Whether there is more to compute, and the best candidate so far fails as the nominal would have failed."""
        if self.world.evidence.bank.later is None:
            return False
        if self._budget_spent or not self.settings.model.is_total:
            return True  # the last chance; or a candidate may lack what was done, so that it cannot be followed alone
        trigger = self.settings.make_trigger(self.world.evidence.leader()[0])
        for step in self.steps:
            trigger.take(step)
        return trigger.exceeds(1 + self.settings.threshold)

    def _switch(self, why: SwitchReason) -> Verdict | None:
        """Begin the fallback, if there is something to fall back on."""
        if self.settings.mixes:
            self.world.complete_bank()
            self._enter(why)
        elif self._source is None:
            return Abstained("the nominal does not explain the readings, and there is no bank to fall back on")
        else:
            for i, steps in enumerate(_steps_of(self.world)):
                self._spent_steps[i] += steps
            self.world = self._open_fallback(why, self.settings.alpha_fallback)
        return self.world.verdict()

    def _open_fallback(self, why: SwitchReason, alpha: Fraction) -> AbstractWorld:
        bank = self._compile()
        self.risk_budget = self.risk_budget.spend(FALLBACK, alpha)
        scores_all = self.settings.question.scores_all_readings
        self._scored_from = 0 if scores_all else len(self.steps)
        world = self.settings.make_world(bank, alpha)
        for step in self.steps:
            world.take(step if scores_all else Step(step.action, None, step.certain))
        self.world = world
        self._enter(why)
        return world

    def _enter(self, why: SwitchReason) -> None:
        self._leave_nominal()
        self._note_bank(why)

    def _leave_nominal(self) -> None:
        self.stage, self._trigger = "fallback", None
        self.guard.follow(None)

    def _note_bank(self, why: SwitchReason) -> None:
        """The bank is another one from now on."""
        self._noted = self.world.evidence.bank
        self.events.append(Event("fallback", len(self.steps), self._num_readings, why))

    def _compile(self) -> Bank | EvenBank:
        """The bank. Once readings have been taken, what goes wrong with it ends the run; before, it is raised."""
        if self._source is None:
            raise TaskError(f"the policy {self.settings.policy!r} needs a bank")
        try:
            bank = self._source.bank()
            if bank.largest >= self.settings.question.num_candidates:
                raise TaskError(f"the bank lists state {bank.largest}, which the model does not have")
        except AscertainError as error:
            if not self.steps:
                raise
            raise BankFailure(str(error)) from error
        return bank

    def _accept(self, label: str) -> None:
        self.risk_budget = self.risk_budget.accept(self.share)
        self.acceptance = Acceptance(
            label=label,
            current=self.world.current_state(),
            share=self.share,
            alpha=self.risk_budget.amount(self.share),
            bank=self.world.evidence.bank.computed(),
            scored_from=self._scored_from,
            transcript=tuple(self.steps),
        )

    def counters(self) -> Counters:
        """What the run has cost so far."""
        report = None if self._source is None or self.stage == "nominal" else self._source.report
        world, verifier, propagation = (
            spent + steps for spent, steps in zip(self._spent_steps, _steps_of(self.world), strict=True)
        )
        return Counters(
            actions=len(self.steps),
            readings=self._num_readings,
            cost=self._cost,
            compilations=int(self.stage == "fallback"),
            evaluations=0 if report is None else report.stats.evaluations,
            compile_steps=0 if report is None else report.stats.model_steps,
            propagation_steps=propagation,
            verifier_steps=verifier,
            world_steps=world,
            certified=int(isinstance(self.verdict, Certified)),
            abstained=int(isinstance(self.verdict, Abstained)),
            map_equal=None if report is None else report.map_equal,
        )


@final
class BankFailure(AscertainError):
    """The bank could not be compiled in the middle of a run."""


def mixture_bank(settings: ObserverSettings, compile_rest: Callable[[], Bank | EvenBank]) -> Bank:
    """The nominal at its share, and the rest of the weight, once that is compiled."""
    assert settings.nominal is not None
    share = settings.nominal_share
    return reuse_bank(settings.nominal, share, Fraction(1), lambda: scaled_bank(listed_bank(compile_rest()), 1 - share))


def scaled_bank(bank: Bank, factor: Fraction) -> Bank:
    """The bank with every weight, also of what comes later, multiplied by a factor fixed beforehand."""
    later = bank.later
    rest = None if later is None else lambda: scaled_bank(later(), factor)
    return Bank(bank.states, tuple(factor * w for w in bank.weights), rest)


def _steps_of(world: AbstractWorld) -> tuple[int, int, int]:
    return world.world_steps, world.verifier_steps, world.propagation_steps
