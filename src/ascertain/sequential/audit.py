"""How often an observer answers wrongly, measured at risks that no counting could reach.

At alpha = 1/4,000,000 a wrong answer is not met by simulating the truth. It is met every time by simulating a candidate
instead, and importance sampling brings that back. Fix a truth z and write M for the bank's mixture: draw c with
probability w_c, then read from c. Let E_z(t) be the ratio of the mixture's likelihood to z's and sigma the first time
it reaches 1/alpha. Draw a run like this: read from c up to sigma, and from z afterwards. Up to any stopping time tau,

    P_z(answer at tau is wrong for z) = E[ 1{wrong} / E_z(min(sigma, tau)) ]

because the law that was drawn from has density E_z(min(sigma, .)) with respect to P_z. An observer that obeys the rule
answers wrongly only after sigma, so each term lies in [0, alpha]: the weight is the value of E_z where the sampling of
the mixture stopped, at least 1/alpha. Hoeffding's inequality then bounds the probability of a wrong answer from above,
at any confidence, rigorously. Drawing from the mixture all the way ("value at the answer") is offered too; its terms
are the values at stopping, which may exceed alpha when the observer uses the running supremum.

Likelihoods are recomputed here from the model, state by state and in rationals, and never taken from the observer's
evidence: an observer whose evidence is wrong shows up as a term greater than alpha (`unearned`), and then there is no
limit to report. What is simulated is deterministic given the seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Literal, Protocol, TypeAlias, final

from ascertain.errors import TaskError
from ascertain.policy.verdict import Certified, Verdict
from ascertain.sequential.bank import Bank
from ascertain.sequential.dynamics import AnyModel, next_state, reading_law
from ascertain.sequential.probing import AbstractRule
from ascertain.sequential.worlds import AbstractWorld
from ascertain.types import Action, Reading, State

Until: TypeAlias = Literal["beaten", "answer"]
_PARTS = 1 << 64


class Observer(Protocol):
    """What is audited: it chooses actions, sees readings, and at some time answers or abstains."""

    def choose(self) -> Action: ...

    def observe(self, action: Action, reading: Reading) -> None: ...

    def verdict(self) -> Verdict | None: ...


@final
@dataclass(frozen=True)
class RuleObserver:
    """A world probed by an action rule."""

    world: AbstractWorld
    rule: AbstractRule

    def choose(self) -> Action:
        return self.rule.choose(self.world)

    def observe(self, action: Action, reading: Reading) -> None:
        self.world.observe(action, reading)

    def verdict(self) -> Verdict | None:
        return self.world.verdict()


@final
@dataclass(frozen=True)
class Audit:
    """The outcome of an audit: `num_runs` runs, and what they say about the probability of a wrong answer."""

    alpha: Fraction
    num_runs: int
    num_wrong: int
    """Runs that ended in a wrong answer, nearly all of them when the candidates are wrong for the truth."""
    estimate: float
    """The mean of the terms: unbiased for the probability of a wrong answer."""
    largest: Fraction
    """The largest term. An observer that obeys the rule has none above alpha."""
    unearned: int
    """Terms greater than alpha: answers that the evidence, recomputed, had not earned."""

    def upper_limit(self, delta: Fraction) -> float:
        """A bound on the probability of a wrong answer, at confidence 1 - delta; infinite after an unearned term."""
        if not 0 < delta < 1:
            raise TaskError(f"delta is {delta}; a probability inside (0, 1) is needed")
        if self.unearned:
            return math.inf
        slack = math.sqrt(math.log(1 / delta) / (2 * self.num_runs))
        return (self.estimate + float(self.alpha) * slack) * (1 + 1e-12)


def audit(
    model: AnyModel,
    truth: State,
    label: str,
    bank: Bank,
    alpha: Fraction,
    observer: Callable[[], Observer],
    *,
    num_runs: int,
    budget: int,
    seed: int,
    until: Until = "beaten",
) -> Audit:
    """Run fresh observers on a truth that is in `truth` and whose right answer is `label`.

    `bank` and `alpha` are what the observer claims to use, with weights that sum to one, so that they can be drawn
    from. `budget` readings without a verdict end a run as an abstention.
    """
    if bank.later is not None or bank.total != 1:
        raise TaskError(f"an audit draws from the bank, so its weights must sum to 1; they sum to {bank.total}")
    if num_runs < 1 or budget < 0:
        raise TaskError(f"{num_runs} runs of {budget} readings; at least one run is needed")
    random = Random(seed)  # noqa: S311  # a simulation, to be repeated, not a secret
    terms: list[Fraction] = []
    for _ in range(num_runs):
        run = _Run(model, truth, bank, alpha, until)
        answer = run.play(observer(), budget, random)
        wrong = isinstance(answer, Certified) and answer.label != label
        terms.append(run.term if wrong else Fraction(0))
    return Audit(
        alpha=alpha,
        num_runs=num_runs,
        num_wrong=sum(term > 0 for term in terms),
        estimate=math.fsum(float(term) for term in terms) / num_runs,
        largest=max(terms),
        unearned=sum(term > alpha for term in terms),
    )


def count_wrong(
    model: AnyModel,
    truth: State,
    label: str,
    observer: Callable[[], Observer],
    *,
    num_runs: int,
    budget: int,
    seed: int,
) -> int:
    """Wrong answers in plain simulation of the truth: what an audit is compared with where both can be had."""
    random = Random(seed)  # noqa: S311  # a simulation, to be repeated, not a secret
    wrong = 0
    for _ in range(num_runs):
        watcher, state, verdict = observer(), truth, None
        for _ in range(budget):
            verdict = watcher.verdict()
            if verdict is not None:
                break
            action = watcher.choose()
            watcher.observe(action, draw_reading(model, state, action, random))
            state = next_state(model, state, action)
        verdict = verdict or watcher.verdict()
        wrong += isinstance(verdict, Certified) and verdict.label != label
    return wrong


def draw_reading(model: AnyModel, state: State, action: Action, random: Random) -> Reading:
    """What the state shows, drawn from its law; probabilities are compared as integers of 64 bits."""
    return _draw(list(reading_law(model, state, action).items()), random)


def _draw(law: Sequence[tuple[int, Fraction]], random: Random) -> int:
    at = Fraction(random.getrandbits(64), _PARTS)
    for value, probability in law:
        at -= probability
        if at < 0:
            return value
    return law[-1][0]


@final
class _Run:
    """One run: the plant as it is simulated, and the likelihoods of every candidate and of the truth, recomputed."""

    def __init__(self, model: AnyModel, truth: State, bank: Bank, alpha: Fraction, until: Until) -> None:
        self.model, self.alpha, self.until = model, alpha, until
        self.weights, self.candidates = bank.weights, list(bank.states)
        self.likelihoods = [Fraction(1)] * len(bank.states)
        self.truth, self.truth_likelihood = truth, Fraction(1)
        self.stopped: Fraction | None = None

    def play(self, observer: Observer, budget: int, random: Random) -> Verdict | None:
        drawn = _draw(list(enumerate(self.weights)), random)
        for _ in range(budget):
            verdict = observer.verdict()
            if verdict is not None:
                return verdict
            action = observer.choose()
            plant = self.truth if self.stopped is not None else self.candidates[drawn]
            reading = draw_reading(self.model, plant, action, random)
            observer.observe(action, reading)
            self._score(action, reading)
        return observer.verdict()

    @property
    def term(self) -> Fraction:
        """1 / E_z where the sampling of the mixture stopped."""
        return self.stopped if self.stopped is not None else self._inverse()

    def _score(self, action: Action, reading: Reading) -> None:
        if self.stopped is not None:
            self.truth = next_state(self.model, self.truth, action)
            return
        for i, state in enumerate(self.candidates):
            if self.likelihoods[i]:
                self.likelihoods[i] *= reading_law(self.model, state, action).get(reading, 0)
                self.candidates[i] = next_state(self.model, state, action)
        self.truth_likelihood *= reading_law(self.model, self.truth, action).get(reading, 0)
        self.truth = next_state(self.model, self.truth, action)
        if self.until == "beaten" and self._inverse() <= self.alpha:
            self.stopped = self._inverse()

    def _inverse(self) -> Fraction:
        mixture = sum((w * x for w, x in zip(self.weights, self.likelihoods, strict=True)), Fraction(0))
        return self.truth_likelihood / mixture
