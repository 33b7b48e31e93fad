"""Is every bit as it should be? All bits are raised together, level by level, and any of them may say no.

One bit after the other would be enough for *yes*, but slow for *no*: the bit that is wrong may be the last. So bit
after bit is read until its evidence for the nominal value reaches level 1, then all of them again from 1 to 2, and so
on up to `up`; a bit whose evidence falls to `-down` ends the run with *no*. Between visits a bit keeps its evidence,
which is exactly the level it left with, so a run is a sequence of independent walks, and remembers little: which level,
which bit, its evidence, how long the visit lasts. A visit of more than `caps[level]` readings ends in abstention.

*Evaluation, exact.* On level l let a bit that is as it should be pass with probability s_l after n_l readings in the
mean, and one that is not with s'_l, n'_l. If all m bits are nominal the run says yes with probability (s_1 ... s_u)^m.
If the bits in F, not empty, are not, it says yes with probability (product of s'_l)^|F| times (product of s_l)^(m-|F|),
largest for one bit: alpha is at most the product of the s'_l, since s'_l <= s_l. It says no wrongly, under the nominal,
with at most m times the sum of the probabilities of falling, each weighed with getting there: computed exactly, visit
by visit. *Cost*: exact under the nominal. Otherwise a visit is reached with the product of the probabilities of passing
before it; the largest sum over all F is bounded by letting each visit, level by level, be to whichever kind of bit
costs more, with at least one that is wrong on every level. That is a maximum over more than the true F's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.errors import TaskError
from ascertain.planning.nodes import LatticeTest, Outcome, evaluate_test, find_cap
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.types import Action, Reading

Visit: TypeAlias = tuple[int, int, int, int]
"""(level, bit, evidence, readings on this visit)."""
NOMINAL, OTHER = 0, 1
SAID_NO: Visit = (-1, 0, 0, 0)


@final
@dataclass(frozen=True)
class Levels:
    """The policy: `actions[i]` reads bit i, which should be `nominal[i]`; label 0 is nominal, 1 is other."""

    flip: Fraction
    actions: tuple[Action, ...]
    nominal: tuple[int, ...]
    up: int
    down: int
    caps: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.actions) != len(self.nominal) or not self.actions or len(self.caps) != self.up:
            raise TaskError("levels need an action and a nominal value for each bit, and a cap for each level")

    def visit(self, level: int) -> LatticeTest:
        """The walk of one bit on a level: says 1 when it passes."""
        return LatticeTest(self.flip, self.down, level + 1, self.caps[level], level)

    def start(self) -> Visit:
        return 0, 0, 0, 0

    def decide(self, memory: Visit) -> Decision:
        level, bit, evidence, taken = memory
        if memory == SAID_NO:
            return Answer(OTHER)
        if level == self.up:
            return Answer(NOMINAL)
        decision = self.visit(level).decide((evidence, taken))
        assert not isinstance(decision, Answer)
        return Ask(self.actions[bit]) if isinstance(decision, Ask) else Abstain(decision.reason)

    def next(self, memory: Visit, reading: Reading) -> Visit:
        level, bit, evidence, taken = memory
        walk = self.visit(level)
        evidence, taken = walk.next((evidence, taken), int(reading == self.nominal[bit]))
        if evidence <= -self.down:
            return SAID_NO
        if evidence < walk.up:
            return level, bit, evidence, taken
        level, bit = (level, bit + 1) if bit + 1 < len(self.actions) else (level + 1, 0)
        return level, bit, level, 0


@final
@dataclass(frozen=True)
class LevelsRisk:
    """Upper bounds over all states: wrong, abstain, and cost when nominal and when not."""

    wrong: Fraction
    abstain: Fraction
    cost_nominal: Fraction
    cost_other: Fraction

    @property
    def cost(self) -> Fraction:
        return max(self.cost_nominal, self.cost_other)


def evaluate_levels(policy: Levels, costs: Sequence[Fraction]) -> LevelsRisk:
    """The risk of the policy; `costs[i]` is what reading bit i costs."""
    m, dearest = len(policy.actions), max(costs)
    good = [evaluate_test(policy.visit(level), 1) for level in range(policy.up)]
    bad = [evaluate_test(policy.visit(level), 0) for level in range(policy.up)]
    reach, refused, abstained, cost = Fraction(1), Fraction(0), Fraction(0), Fraction(0)
    for visit in good:
        for i in range(m):
            cost += reach * visit.readings * costs[i]
            refused += reach * visit.says_zero
            abstained += reach * visit.abstains
            reach = _up(reach * visit.says_one)
            cost, refused, abstained = _up(cost), _up(refused), _up(abstained)
    accepted = Fraction(1)
    for visit in bad:
        accepted *= visit.says_one
    given_up = m * sum((max(a.abstains, b.abstains) for a, b in zip(good, bad, strict=True)), Fraction(0))
    other = _worst_cost(good, bad, m) * dearest
    return LevelsRisk(max(refused, accepted), max(abstained, given_up), cost, other)


def _up(x: Fraction) -> Fraction:
    """The number in 200 bits, rounded up, so that numerators do not grow without end."""
    return -(-x.numerator * (1 << 200) // x.denominator) * Fraction(1, 1 << 200)


def _worst_cost(good: list[Outcome], bad: list[Outcome], m: int) -> Fraction:
    """The largest expected number of readings when at least one visit on every level is to a bit that is wrong."""
    after = Fraction(0)
    for g, b in zip(reversed(good), reversed(bad), strict=True):
        must, may = [Fraction(0)] * (m + 1), [Fraction(0)] * (m + 1)
        may[m] = after
        # `must[i]`: no bit before i was wrong on this level, so one of the rest is; `may[i]`: some bit was.
        for i in reversed(range(m)):
            may[i] = _up(max(g.readings + g.says_one * may[i + 1], b.readings + b.says_one * may[i + 1]))
            wrong = b.readings + b.says_one * may[i + 1]
            must[i] = _up(wrong if i == m - 1 else max(wrong, g.readings + g.says_one * must[i + 1]))
        after = must[0]
    return after


def choose_levels(
    flip: Fraction,
    actions: Sequence[Action],
    nominal: Sequence[int],
    costs: Sequence[Fraction],
    alpha: Fraction,
    beta: Fraction,
) -> tuple[Levels, LevelsRisk]:
    """The cheapest thresholds that keep to alpha and beta, looked for from the least upwards."""
    m = len(actions)
    best: tuple[Levels, LevelsRisk] | None = None
    for up in range(1, 200):
        for down in range(1, 200):
            caps = tuple(find_cap(flip, down, level + 1, beta / (2 * m * up), level) for level in range(up))
            policy = Levels(flip, tuple(actions), tuple(nominal), up, down, caps)
            risk = evaluate_levels(policy, costs)
            if risk.wrong <= alpha and risk.abstain <= beta:
                if best is None or risk.cost < best[1].cost:
                    best = policy, risk
                break
            if evaluate_test(policy.visit(0), 0).says_one > 2 * alpha and _hopeless(policy, alpha):
                break
        if best is not None and up > best[0].up:
            return best
    raise TaskError("no thresholds below 200 keep to the risk; is the flip next to 1/2?")


def _hopeless(policy: Levels, alpha: Fraction) -> bool:
    """Whether even an infinitely low threshold for *no* would accept a wrong bit too often."""
    ratio = policy.flip / (1 - policy.flip)
    return ratio**policy.up > 2 * alpha
