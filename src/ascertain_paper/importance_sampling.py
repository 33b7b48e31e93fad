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

*A bank that is scored late*, as a fallback's is after its switch at a stopping time S: read from z up to S, while
every candidate is led along unscored, then from c up to sigma and from z again, where E_z(t) is now the ratio for the
readings after S alone. The law drawn from has density 1 up to S and E_z after it, so that the formula stands, for
answers after S; earlier ones are another bank's, with a share of alpha of its own, and are not counted here.

Likelihoods are recomputed here from the model, state by state and in exact arithmetic, and never taken from the
observer's evidence: an observer whose evidence is wrong shows up as a term greater than alpha (`unearned`), and then
there is no limit to report. The limit takes for granted that terms above alpha cannot occur, which the rule says and
each run is checked for. What is simulated is deterministic given the seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from random import Random
from typing import Literal, Protocol, TypeAlias, TypeVar, final

from ascertain.errors import TaskError
from ascertain.evidence.probing import AbstractRule
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.abstract import AbstractDeterministic
from ascertain.policy.verdict import Certified, Verdict
from ascertain.task.bank import Bank
from ascertain.types import Action, Reading, State

Until: TypeAlias = Literal["beaten", "answer"]
Look: TypeAlias = Callable[[State, Action], tuple[Mapping[Reading, Fraction], State]]
_PARTS = 1 << 64
_ZERO = Fraction(0)
_REMEMBERED = 1 << 18
"""Steps of single states that are remembered from run to run: most runs do much the same."""


class AuditedObserver(Protocol):
    """What is audited: it chooses actions, sees readings, and at some time answers or abstains."""

    def choose(self) -> Action: ...

    def observe(self, action: Action, reading: Reading) -> None: ...

    def verdict(self) -> Verdict | None: ...


ObserverT = TypeVar("ObserverT", bound=AuditedObserver)


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
    model: AbstractDeterministic,
    truth: State,
    label: str,
    bank: Bank,
    alpha: Fraction,
    observer: Callable[[], ObserverT],
    *,
    num_runs: int,
    budget: int,
    seed: int,
    until: Until = "beaten",
    begins: Callable[[ObserverT], bool] | None = None,
) -> Audit:
    """Run fresh observers on a truth that is in `truth` and whose right answer is `label`.

    `bank` and `alpha` are what the observer claims to use, with weights that sum to one, so that they can be drawn
    from. `budget` readings without a verdict end a run as an abstention. `begins` says of an observer whether its bank
    is scored from the next reading on; without it that is from the first.
    """
    if bank.later is not None or bank.total != 1:
        raise TaskError(f"an audit draws from the bank, so its weights must sum to 1; they sum to {bank.total}")
    if not all(0 <= z < model.num_states for z in (truth, *bank.states)):
        raise TaskError(f"the truth and the states of the bank must be in 0 .. {model.num_states - 1}")
    if num_runs < 1 or budget < 0:
        raise TaskError(f"{num_runs} runs of {budget} readings; at least one run is needed")
    random = Random(seed)  # noqa: S311  # a simulation, to be repeated, not a secret
    look: Look = lru_cache(_REMEMBERED)(partial(_look, model))
    terms: list[Fraction] = []
    for _ in range(num_runs):
        run = _Run(look, truth, bank, alpha, until)
        answer = run.play(observer(), budget, random, begins)
        wrong = run.begun and isinstance(answer, Certified) and answer.label != label
        terms.append(run.term if wrong else Fraction(0))
    return Audit(
        alpha=alpha,
        num_runs=num_runs,
        num_wrong=sum(term > 0 for term in terms),
        estimate=math.fsum(float(term) for term in terms) / num_runs,
        largest=max(terms),
        unearned=sum(term > alpha for term in terms),
    )


def _look(model: AbstractDeterministic, state: State, action: Action) -> tuple[Mapping[Reading, Fraction], State]:
    """What the state shows, and where it goes."""
    return model.reading_law(state, action), model.next_state(state, action)


def _draw(law: Sequence[tuple[int, Fraction]], random: Random) -> int:
    at = Fraction(random.getrandbits(64), _PARTS)
    for value, probability in law:
        at -= probability
        if at < 0:
            return value
    return law[-1][0]


@final
class _Run:
    """One run: the plant as it is simulated, and the likelihoods of every candidate and of the truth, recomputed.

    Likelihoods are kept as integers over one common denominator, which cancels in their ratios.
    """

    def __init__(self, look: Look, truth: State, bank: Bank, alpha: Fraction, until: Until) -> None:
        self.look, self.alpha, self.until = look, alpha, until
        self.bank, self.candidates = bank, list(bank.states)
        self.likelihoods = [1] * len(bank.states)
        self.truth, self.truth_likelihood = truth, 1
        self.begun = False
        self.stopped: Fraction | None = None

    def play(
        self, observer: ObserverT, budget: int, random: Random, begins: Callable[[ObserverT], bool] | None
    ) -> Verdict | None:
        drawn = _draw(list(enumerate(self.bank.weights)), random)
        for left in range(budget, -1, -1):
            self.begun = self.begun or begins is None or begins(observer)
            verdict = observer.verdict()
            if verdict is not None or left == 0:
                return verdict
            action = observer.choose()
            mixed = self.begun and self.stopped is None
            law, _ = self.look(self.candidates[drawn] if mixed else self.truth, action)
            reading = _draw(list(law.items()), random)
            observer.observe(action, reading)
            if mixed:
                self._score(action, reading)
            self._move(action)
        raise AssertionError("the loop returns when nothing is left")

    @property
    def term(self) -> Fraction:
        """1 / E_z where the sampling of the mixture stopped."""
        return self.stopped if self.stopped is not None else self._inverse()

    def _score(self, action: Action, reading: Reading) -> None:
        alive = [i for i, likelihood in enumerate(self.likelihoods) if likelihood]
        shown = [self._probability(self.candidates[i], action, reading) for i in alive]
        of_truth = self._probability(self.truth, action, reading)
        scale = math.lcm(of_truth.denominator, *{p.denominator for p in shown})
        for i, p in zip(alive, shown, strict=True):
            self.likelihoods[i] *= p.numerator * (scale // p.denominator)
        self.truth_likelihood *= of_truth.numerator * (scale // of_truth.denominator)
        if self.until == "beaten" and self._inverse() <= self.alpha:
            self.stopped = self._inverse()

    def _probability(self, state: State, action: Action, reading: Reading) -> Fraction:
        return self.look(state, action)[0].get(reading, _ZERO)

    def _move(self, action: Action) -> None:
        self.truth = self.look(self.truth, action)[1]
        if self.stopped is None:
            for i, likelihood in enumerate(self.likelihoods):
                if likelihood:
                    self.candidates[i] = self.look(self.candidates[i], action)[1]

    def _inverse(self) -> Fraction:
        mixture = sum(w * x for w, x in zip(self.bank.shares, self.likelihoods, strict=True))
        return Fraction(self.truth_likelihood * self.bank.scale, mixture)
