"""Sequential tests of bits that are read with noise, exactly evaluated: of one bit, of each of many, of all together.

**One bit.** It is read with a flip 0 < f < 1/2, so each reading moves the evidence, the logarithm of the likelihood
ratio, by one step of log((1-f)/f) up or down: it is a walk on the integers. The test answers 1 at `up`, 0 at `-down`,
and abstains after `cap` readings: Wald's sequential probability ratio test, truncated. It starts with nothing
remembered: whatever happened before, its readings are fresh, so what is computed here holds conditionally on every
history. That is all that composition needs. *The guarantee, twice.* By evidence: at `up` the likelihood ratio against
"the bit is 0" is ((1-f)/f)^up, an e-process that ever reaches 1/alpha with probability at most alpha if the bit is 0
(Ville). And by counting, which is what is used: the probability of every point of the walk after t readings is an
integer over q^t (f = p/q), carried forward exactly, so risk, abstention and expected number of readings are rationals
without any rounding. Without a cap and with r = f/(1-f) they are r^up (1 - r^down) / (1 - r^(up+down)) and so on (Wald,
Sequential Analysis, 1947, without overshoot); tests compare the two.

**Each of m bits.** A test of bit i with threshold k (both sides) is wrong with probability e_i(k) and takes n_i(k)
readings of cost c_i; a run that needs all bits is wrong with probability at most the sum of the e_i(k_i). Thresholds
are integers, so the best split of alpha is a *mixed* one: with 24 bits, flip 1/10 and alpha = 2.5e-7, threshold 8 for
nine of them and 9 for fifteen. To minimise sum c_i n_i(k_i) subject to sum e_i(k_i) <= alpha: each raise of a threshold
buys a fall of e_i, by a factor of about (1-f)/f, for about c_i / (1 - 2 f). Falls shrink and prices do not, so raising
one threshold at a time, the one that falls most for its price, gives the lower convex hull of what can be had; at the
end thresholds are lowered again wherever alpha still allows it. The *uniform* split gives alpha / m to every test: the
paper's.

**All bits together: is every bit as it should be?** One bit after the other would be enough for *yes*, but slow for
*no*: the bit that is wrong may be the last. The *levelwise* test reads bit after bit until its evidence for the nominal
value reaches level 1, then all of them again from 1 to 2, and so on up to `up`; a bit whose evidence falls to `-down`
ends the run with *no*. Between visits a bit keeps its evidence, which is exactly the level it left with, so a run is a
sequence of independent walks, and remembers little: which level, which bit, its evidence, how long the visit lasts. A
visit of more than `caps[level]` readings ends in abstention.

*Evaluation of the levelwise test.* On level l let a bit that is as it should be pass with probability s_l after n_l
readings in the mean, and one that is not with s'_l, n'_l. If all m bits are nominal the run says yes with probability
(s_1 ... s_u)^m. If the bits in F, not empty, are not, it says yes with probability (product of s'_l)^|F| times (product
of s_l)^(m-|F|), largest for one bit: alpha is at most the product of the s'_l, since s'_l <= s_l. It says no wrongly,
under the nominal, with at most m times the sum of the probabilities of falling, each weighed with getting there:
computed exactly, visit by visit. *Cost*: exact under the nominal. Otherwise a visit is reached with the product of the
probabilities of passing before it; the largest sum over all F is bounded by letting each visit, level by level, be to
whichever kind of bit costs more, with at least one that is wrong on every level. That is a maximum over more than the
true F's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import TypeAlias, final

from ascertain.errors import TaskError
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.types import Action, Reading

MAX_THRESHOLD = 200
"""Thresholds of a levelwise test that are looked at: only a flip next to 1/2 would need more."""
BITS = 200
"""Binary digits of a rational that is rounded up, so that numerators stay short: 10^-60 of any risk."""


@final
@dataclass(frozen=True)
class LatticeTest:
    """Answers 1 at `up`, 0 at `-down`; begins at `begin`, which is 0 unless earlier evidence is carried over."""

    flip: Fraction
    down: int
    up: int
    cap: int
    begin: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.flip < Fraction(1, 2):
            raise TaskError(
                f"a bit read with flip {self.flip} needs no test, or tells nothing, or the opposite; "
                "it must be above 0 and below 1/2"
            )
        if self.down < 1 or self.up < 1 or self.cap < 1 or not -self.down < self.begin < self.up:
            raise TaskError("a lattice test begins between its thresholds, and needs at least one reading")

    def start(self) -> tuple[int, int]:
        """A memory is the evidence in steps, and the readings so far."""
        return self.begin, 0

    def decide(self, memory: tuple[int, int]) -> Decision:
        evidence, taken = memory
        if evidence >= self.up:
            return Answer(1)
        if evidence <= -self.down:
            return Answer(0)
        if taken >= self.cap:
            return Abstain(f"no answer after {self.cap} readings")
        return Ask(0)

    def next(self, memory: tuple[int, int], reading: Reading) -> tuple[int, int]:
        evidence, taken = memory
        return evidence + (1 if reading == 1 else -1), taken + 1


@final
@dataclass(frozen=True)
class OperatingCharacteristic:
    """Exactly what a test does when the bit has a certain value."""

    says_one: Fraction
    says_zero: Fraction
    abstains: Fraction
    readings: Fraction
    """The expected number, Wald's average sample number."""


@lru_cache(maxsize=4096)
def evaluate_test(test: LatticeTest, value: int) -> OperatingCharacteristic:
    """What the test does when the bit is `value`."""
    # The points between the thresholds, each with its numerator over q^t after t readings.
    p, q = test.flip.numerator, test.flip.denominator
    rise, fall = (q - p, p) if value else (p, q - p)
    inner = test.up + test.down - 1
    now = [0] * inner
    now[test.begin + test.down - 1] = 1
    one = zero = spent = 0
    for _ in range(test.cap):
        # Everything is kept over the same denominator: what ended earlier is multiplied along.
        one, zero, spent = one * q + now[-1] * rise, zero * q + now[0] * fall, (spent + sum(now)) * q
        left = [0, *(x * rise for x in now[:-1])]
        for i, x in enumerate(now[1:]):
            left[i] += x * fall
        now = left
    whole = q**test.cap
    shares = (Fraction(x, whole) for x in (one, zero, sum(now), spent))
    return OperatingCharacteristic(*shares)


@lru_cache(maxsize=4096)
def find_cap(flip: Fraction, down: int, up: int, beta: Fraction, begin: int = 0) -> int:
    """The least cap at which the test abstains with probability at most beta, whichever value the bit has."""
    if beta <= 0:
        raise TaskError("a test with a cap abstains now and then; its beta must be positive")

    def fits(cap: int) -> bool:
        test = LatticeTest(flip, down, up, cap, begin)
        return all(evaluate_test(test, value).abstains <= beta for value in (0, 1))

    # Abstention falls with the cap: double until it is rare enough, then bisect what was doubled last.
    high = 1
    while not fits(high):
        high *= 2
    low = high // 2 + 1
    return bisect_left(range(high), True, lo=low, key=fits)


def least_threshold(flip: Fraction, alpha: Fraction) -> int:
    """The least k at which a test with both thresholds k is wrong with probability at most alpha, cap or no cap."""
    ratio, k = flip / (1 - flip), 1
    while ratio**k > alpha * (1 + ratio**k):
        k += 1
    return k


def split_uniformly(flips: Sequence[Fraction], alpha: Fraction, beta: Fraction) -> list[LatticeTest]:
    """One test for each bit, each with an equal part of alpha and of beta."""
    m = len(flips)
    return [_symmetric_test(flip, least_threshold(flip, alpha / m), beta / m) for flip in flips]


def split_best(
    flips: Sequence[Fraction], costs: Sequence[Fraction], alpha: Fraction, beta: Fraction
) -> list[LatticeTest]:
    """One test for each bit, thresholds mixed so that the sum of their risks is at most alpha for the least cost."""
    m = len(flips)
    share, k = beta / m, [1] * m

    def wrong(i: int, k: int) -> Fraction:
        return evaluate_test(_symmetric_test(flips[i], k, share), 1).says_zero

    def price(i: int, k: int) -> Fraction:
        """What raising the threshold from k to k + 1 costs."""
        more, less = (evaluate_test(_symmetric_test(flips[i], j, share), 1).readings for j in (k + 1, k))
        return costs[i] * (more - less)

    # Greedily up the convex hull, and then down again, the dearest first, where the last raise was more than needed.
    total = sum((wrong(i, 1) for i in range(m)), Fraction(0))
    while total > alpha:
        i = max(range(m), key=lambda j: (wrong(j, k[j]) - wrong(j, k[j] + 1)) / price(j, k[j]))
        total -= wrong(i, k[i]) - wrong(i, k[i] + 1)
        k[i] += 1
    for i in sorted(range(m), key=lambda j: -price(j, k[j] - 1) if k[j] > 1 else 0):
        if k[i] > 1 and total + wrong(i, k[i] - 1) - wrong(i, k[i]) <= alpha:
            total += wrong(i, k[i] - 1) - wrong(i, k[i])
            k[i] -= 1
    return [_symmetric_test(flip, k[i], share) for i, flip in enumerate(flips)]


def _symmetric_test(flip: Fraction, k: int, beta: Fraction) -> LatticeTest:
    return LatticeTest(flip, k, k, find_cap(flip, k, k, beta))


Visit: TypeAlias = tuple[int, int, int, int]
"""(level, bit, evidence, readings on this visit)."""
NOMINAL, OTHER = 0, 1
"""The labels of a levelwise test."""
SAID_NO: Visit = (-1, 0, 0, 0)
"""After a bit has fallen."""


@final
@dataclass(frozen=True)
class LevelwiseTest:
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
        return Ask(self.actions[bit]) if isinstance(decision, Ask) else decision

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
class LevelwiseRisk:
    """Upper bounds over all states: wrong, abstain, and cost when nominal and when not."""

    wrong: Fraction
    abstain: Fraction
    cost_nominal: Fraction
    cost_other: Fraction

    @property
    def cost(self) -> Fraction:
        return max(self.cost_nominal, self.cost_other)


def evaluate_levels(policy: LevelwiseTest, costs: Sequence[Fraction]) -> LevelwiseRisk:
    """The risk of the policy; `costs[i]` is what reading bit i costs."""
    m, dearest = len(policy.actions), max(costs)
    good = [evaluate_test(policy.visit(level), 1) for level in range(policy.up)]
    bad = [evaluate_test(policy.visit(level), 0) for level in range(policy.up)]
    # `reach` is the probability of getting to a visit, rounded up like all sums, so that numerators stay short.
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
    return LevelwiseRisk(max(refused, accepted), max(abstained, given_up), cost, other)


def _up(x: Fraction) -> Fraction:
    """The number in BITS binary digits, rounded up."""
    return -(-x.numerator * (1 << BITS) // x.denominator) * Fraction(1, 1 << BITS)


def _worst_cost(good: list[OperatingCharacteristic], bad: list[OperatingCharacteristic], m: int) -> Fraction:
    """The largest expected number of readings when at least one visit on every level is to a bit that is wrong."""
    after = Fraction(0)
    for g, b in zip(reversed(good), reversed(bad), strict=True):
        must, may = [Fraction(0)] * (m + 1), [Fraction(0)] * (m + 1)
        may[m] = after
        # `must[i]`: no bit before i was wrong on this level, so one of the rest is; `may[i]`: some bit was.
        for i in reversed(range(m)):
            wrong = b.readings + b.says_one * may[i + 1]
            may[i] = _up(max(g.readings + g.says_one * may[i + 1], wrong))
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
) -> tuple[LevelwiseTest, LevelwiseRisk]:
    """The cheapest thresholds that keep to alpha and beta, looked for from the least upwards."""
    m = len(actions)
    best: tuple[LevelwiseTest, LevelwiseRisk] | None = None
    for up in range(1, MAX_THRESHOLD):
        for down in range(1, MAX_THRESHOLD):
            caps = tuple(find_cap(flip, down, level + 1, beta / (2 * m * up), level) for level in range(up))
            policy = LevelwiseTest(flip, tuple(actions), tuple(nominal), up, down, caps)
            risk = evaluate_levels(policy, costs)
            if risk.wrong <= alpha and risk.abstain <= beta:
                if best is None or risk.cost < best[1].cost:
                    best = policy, risk
                break
            # A lower threshold for *no* only accepts a wrong bit more often.
            if prod(evaluate_test(policy.visit(level), 0).says_one for level in range(up)) > alpha:
                break
        if best is not None and up > best[0].up:
            return best
    raise TaskError(f"no thresholds below {MAX_THRESHOLD} keep to the risk; is the flip next to 1/2?")
