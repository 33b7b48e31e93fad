"""The settings of an observer: the question, and everything that is fixed before the first fresh reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from ascertain.drawing.shown import Shown
from ascertain.errors import TaskError, did_you_mean
from ascertain.evidence.evidence import Doubts
from ascertain.evidence.kinds import make_trigger, make_world
from ascertain.evidence.trigger import REJECTION, AbstractTrigger
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.abstract import AbstractModel
from ascertain.observer.probing import find_rule
from ascertain.task.bank import Bank, EvenBank
from ascertain.task.canonical import task_hash
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action, Reading, State

PolicyName: TypeAlias = Literal["readwise", "eager", "staged", "reuse", "incremental"]
"""When the fallback begins and on what it is scored: see `stages.py`."""
POLICIES: tuple[PolicyName, ...] = ("readwise", "eager", "staged", "reuse", "incremental")
"""As problem files and the command line write them, the default first; `stages.py` says what they do."""
FORMAT = "ascertain-observer"
"""What settings in a commitment call themselves, so that they are not taken for another kind of file."""
VERSION = 1
"""Of the settings in a commitment; another number when a reader would misunderstand what is written now."""
LOSSES = 10
"""The most readings that may be lost where the settings do not say: enough for a link that fails now and then, and too
few to leave out whatever does not please."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ObserverSettings(Shown):
    """How to decide; validated once. What an observer does follows from these, the bank and the readings."""

    question: AbstractQuestion
    alpha: Fraction
    """The risk of all answers together."""
    nominal: State | None = None
    """The state that the plant should be in, on a hidden model the number of the hypothesis that should be true; only
    the eager policy does without."""
    policy: PolicyName = "readwise"
    threshold: Fraction = Fraction(100)
    """lambda of readwise switching: the bank is compiled after a reading at which the trigger exceeds 1 + lambda."""
    budget: int = 600
    """The most actions that are done, whether or not they are read."""
    nominal_budget: int | None = None
    """T_max of Algorithm 1: the most actions of the nominal stage, after which the fallback begins; None: no limit of
    its own. Without a bank to fall back on it does not count."""
    nominal_share: Fraction = Fraction(1, 2)
    """The part of alpha that the nominal stage may spend."""
    rejection: Fraction = REJECTION
    """beta_nom: the nominal is formally rejected when the trigger reaches its inverse."""
    misfit: Fraction = Fraction(0)
    """gamma: the run abstains when none of the states that are not beaten explains the readings, at this risk of a
    false alarm; 0: nothing looks for it. Problems set 1/1000 where they say nothing (`pose_observer`)."""
    silence: Reading | None = None
    """The reading that stands for no answer, where none may rest on it: it is taken as missing; None: there is none."""
    doubts: Doubts = field(default_factory=Doubts)
    losses: int = LOSSES
    """On a model with noise, the most readings that may be missing; the run abstains when there are more. Without noise
    a missing reading rules out nobody, and there is no limit."""
    probing: str = "round-robin"
    """The name of the probing rule."""
    limits: Mapping[Action, int] = field(default_factory=dict[Action, int])
    """How often each action may be used; those not named, as often as the budget allows."""

    def __post_init__(self) -> None:
        for name in ("alpha", "threshold", "nominal_share", "rejection", "misfit"):
            object.__setattr__(self, name, Fraction(getattr(self, name)))
        object.__setattr__(self, "limits", dict(self.limits))
        if self.policy not in POLICIES:
            hint = did_you_mean(str(self.policy), POLICIES)
            raise TaskError(f"policy: {self.policy!r} is not known{hint}; {', '.join(POLICIES)}")
        find_rule(self.probing, self.question)
        self._check_numbers()
        self._check_nominal()

    def shown(self) -> Mapping[str, object]:
        nominal = None if self.nominal is None else self.question.name_candidate(self.nominal)
        facts = {"policy": self.policy, "probing": self.probing, "nominal": nominal}
        return {**facts, "alpha": self.alpha, "budget": self.budget}

    def _check_numbers(self) -> None:
        if not 0 <= self.alpha < 1:
            raise TaskError(f"alpha is {self.alpha}; a probability in [0, 1) is needed")
        for name in ("budget", "threshold", "losses"):
            if getattr(self, name) < 0:
                raise TaskError(f"{name} is {getattr(self, name)}; it must not be negative")
        if self.nominal_budget is not None and self.nominal_budget < 1:
            raise TaskError(f"nominal_budget is {self.nominal_budget}; at least 1, or take the policy 'eager'")
        for name, value in (("nominal_share", self.nominal_share), ("rejection", self.rejection)):
            if not 0 < value < 1:
                raise TaskError(f"{name} is {value}; a number inside (0, 1) is needed")
        if not 0 <= self.misfit < 1:
            raise TaskError(f"misfit is {self.misfit}; a probability in [0, 1) is needed, 0 to turn it off")
        if self.silence is not None and (self.model.is_noisy or not 0 <= self.silence < len(self.model.readings)):
            raise TaskError(
                "silence that is no evidence is a reading of a model without noise: with noise, how often a state "
                "keeps silent would have to be left out of its law too"
            )
        for action, limit in self.limits.items():
            if action not in self.question.actions or limit < 0:
                raise TaskError(f"limits: action {action} at most {limit} times: it must be one of the question's")

    def _check_nominal(self) -> None:
        if self.nominal is None:
            if self.policy != "eager":
                raise TaskError(
                    f"the policy {self.policy!r} needs a nominal state; give nominal, or take the policy 'eager'"
                )
            return
        number, listed = self.question.num_candidates, self.question.candidates
        if not 0 <= self.nominal < number:
            one, all_ = self.question.candidate_noun
            raise TaskError(f"the nominal is {one} {self.nominal}; {all_} are 0 .. {number - 1}")
        if listed is not None and self.nominal not in listed:
            name = self.question.name_candidate(self.nominal)
            raise TaskError(f"the nominal {name!r} is not one of the hypotheses; list it, or name another nominal")

    @property
    def mixes(self) -> bool:
        """Whether nominal and bank are one mixture, scored on all readings with the whole of alpha."""
        return self.policy in {"reuse", "incremental"}

    @property
    def model(self) -> AbstractModel:
        return self.question.model

    @property
    def alpha_nominal(self) -> Fraction:
        return self.nominal_share * self.alpha

    @property
    def alpha_fallback(self) -> Fraction:
        return self.alpha - self.alpha_nominal

    def make_world(self, bank: Bank | EvenBank, alpha: Fraction) -> AbstractWorld:
        """The question's world, with nothing beaten, and a bank to be scored at a risk."""
        return make_world(self.question, bank, alpha, self.doubts)

    def make_trigger(self, candidate: State | None = None) -> AbstractTrigger[Any]:
        """What watches whether a candidate, the nominal if none is named, explains the readings."""
        watched = self.nominal if candidate is None else candidate
        assert watched is not None
        return make_trigger(self.question, watched, self.doubts)

    def settings_data(self) -> dict[str, Any]:
        """The settings as plain data for the canonical form, rationals as text; the question by its hash."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "task": task_hash(self.question),
            "nominal": self.nominal,
            "policy": self.policy,
            "threshold": str(self.threshold),
            "budget": self.budget,
            "alpha": str(self.alpha),
            "nominal_share": str(self.nominal_share),
            "rejection": str(self.rejection),
            "doubts": [self.doubts.limit, str(self.doubts.ran)],
            "probing": self.probing,
            "limits": [[action, limit] for action, limit in sorted(self.limits.items())],
            # Left out where they are not given, as in version 0.1.0: its runs are resumed.
            **({"misfit": str(self.misfit)} if self.misfit else {}),
            **({} if self.silence is None else {"silence": self.silence}),
            **({} if self.nominal_budget is None else {"nominal_budget": self.nominal_budget}),
            **({} if self.losses == LOSSES else {"losses": self.losses}),
        }
