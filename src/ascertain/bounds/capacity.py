"""The capacity bound: a question about a Boolean plant is a message that noisy readings must carry.

However commands move bits about, a reading is one bit that is flipped with probability f: a use of a binary symmetric
channel whose input depends on the state and on what was read before. So the question with M labels takes no fewer
readings than a code with M messages, with feedback and an end of its own choosing (Burnashev 1976; the proof follows
Berlin, Nakiboglu, Rimoldi and Telatar 2009, with every constant kept and abstention added).

*Setting.* Take one state of each label and let the truth be drawn from these M at random. A policy with Pr(wrong) <=
alpha and Pr(abstain) <= beta for each of them keeps to both in the mean, and the worst expected cost is at least the
mean one, which is at least E[T] times the least cost of an action; T is the number of readings, E[T] finite. F_t is all
that is known after t of them, H_t the entropy of the truth given F_t (a random number), e = alpha + beta,

    C  = log 2 - h(f)                   the most that H can fall by at a reading, in the mean given F_t,
    C1 = (1 - 2f) log((1 - f)/f)        the relative entropy of a reading under one input from the other.

*Lemma.* E[H_0 - H_s] <= C E[s] for every stopping time s <= T: H_t + C t is a submartingale, H is bounded, E[T] finite.

*One phase (Fano).* At T the answer is the truth but with probability e, so that E[H_T] <= h(e) + e log M, if
e <= 1 - 1/M. Hence E[T] >= ((1 - e) log M - h(e)) / C.

*Two phases.* Choose D in (0, 1/2]. Let s be the first time at which some state has a posterior probability of at least
1 - D, or T if that comes first; G is the event that there is such a time up to T.
- Outside G the policy stops where every answer is wrong with probability above D, or abstains. So Pr(not G) <= alpha/D
  + beta, and we write g = 1 - alpha/D - beta. On G, H_s <= h(D) + D log M; elsewhere H_s <= log M. By the lemma

      E[s] >= ((1 - D - alpha/D - beta) log M - h(D)) / C.

- On G let A be the event that the truth is the state z that leads at s, p its probability given F_s, and u and v the
  probabilities that z is answered, given F_s and A, and given F_s and not A. Before the reading that made z lead, its
  odds were below (1 - D)/D, and a reading multiplies odds by at most (1 - f)/f. So 1 - p >= m, where m = D f / (D f +
  (1 - D)(1 - f)). (Without a reading, p = 1/M <= 1/2.) Wrong answers and abstentions have E[1_G (1 - p) v] <= alpha and
  E[1_G p (1 - u)] <= e, so that E[1_G v] <= b = alpha/m and E[1_G (1 - u)] <= a = e/(1 - D).
- Given F_s, the transcript from s to T has a relative entropy, under A from under not A, of at least d(u || v), and of
  at most C1 E[T - s | F_s, A]: each reading adds that of a law from a mixture of the two laws, and the relative entropy
  is convex. So E[T - s] >= E[1_G p d(u || v)] / C1 >= (1 - D) E[1_G d(u || v)] / C1. As d is convex in both arguments,
  falls where u falls or v rises with u >= v, and Pr(G) d(1 - a/Pr(G) || b/Pr(G)) rises with Pr(G) where a + b <= Pr(G),

      E[T - s] >= (1 - D) g d(1 - a/g || b/g) / C1            if a + b <= g, and at least 0 in any case.

The sum of the two holds for every D; the best of DIVISIONS is taken. Everything is rounded so that the bound is not
above its true value. Nothing is claimed where the label is that of the current state: several states of the start may
then have one answer.
"""

from __future__ import annotations

from fractions import Fraction

from ascertain.bounds.divergence import Interval, binary_entropy, log_interval, required_divergence, round_value
from ascertain.errors import LimitError
from ascertain.task.plant_task import BitsRule, PlantTask, StateRule

DIVISIONS = tuple(Fraction(part, 1 << k) for k in range(1, 65) for part in ((1,) if k == 1 else (2, 3))[::-1])
"""The values of D that are tried: powers of 1/2 down to 2^-63, and those between them; the best one is about alpha's
root when alpha is small."""
MOST_LISTED = 1 << 16
"""Of states that are listed, or that have labels by an expression, so many are asked for their label."""


def bound_by_capacity(question: PlantTask) -> Fraction:
    """The best capacity bound on a question about the start of a Boolean plant, at its risks; rounded down."""
    alpha, beta = question.alpha, question.beta
    if question.about != "start":
        raise LimitError("the capacity bound is for questions about the start: states that merge may have one answer")
    least, flip = min(question.cost[a] for a in question.actions), question.model.flip
    num_labels = count_labels(question)
    if 2 * alpha + beta >= 1 or num_labels < 2:
        return Fraction(0)
    message = log_interval(Fraction(num_labels)).low
    found = [_one_phase(message, num_labels, flip, alpha + beta)]
    if flip > 0:
        found += [_two_phases(message, flip, alpha, beta, d) for d in DIVISIONS if alpha < d * (1 - beta)]
    return round_value(least * max(found))


def bound_by_one_reading(question: PlantTask) -> Fraction:
    """The pairwise bound with the KL that any reading of the plant can give, whichever states it is in; rounded down.

    See `information.py`: whatever the commands do, Gamma is at most C1 over the least cost. At 0 where readings are
    certain, or nothing is asked.
    """
    alpha, beta = question.alpha, question.beta
    required = required_divergence(alpha, beta) if alpha and 2 * alpha + beta < 1 else None
    rate = binary_entropy(question.model.flip, 1 - question.model.flip)
    if required is None or rate is None or count_labels(question) < 2:
        return Fraction(0)
    return round_value(min(question.cost[a] for a in question.actions) * required.low / rate.high)


def count_labels(question: PlantTask) -> int:
    """How many labels the hypotheses have, or how many were seen among MOST_LISTED of them."""
    if question.states is None and isinstance(question.rule, StateRule):
        return question.model.num_states
    if question.states is None and isinstance(question.rule, BitsRule):
        return 1 << len(question.rule.bits)
    seen = (question.start_of(h) for h in range(min(question.num_hypotheses, MOST_LISTED)))
    return len({question.label_of(z) for z in seen})


def _one_phase(message: Fraction, num_labels: int, flip: Fraction, error: Fraction) -> Fraction:
    """E[T] at least."""
    if error > 1 - Fraction(1, num_labels):
        return Fraction(0)
    carried = (1 - error) * message - _entropy(error).high
    return max(carried / _capacity(flip), Fraction(0))


def _two_phases(message: Fraction, flip: Fraction, alpha: Fraction, beta: Fraction, d: Fraction) -> Fraction:
    """E[s] and E[T - s] at least, added up, for D = d; alpha < d (1 - beta), so that g is positive."""
    g = 1 - alpha / d - beta
    finding = max(((g - d) * message - _entropy(d).high) / _capacity(flip), Fraction(0))
    mass = d * flip / (d * flip + (1 - d) * (1 - flip))
    a, b = (alpha + beta) / (1 - d), alpha / mass
    required = binary_entropy(1 - a / g, b / g) if a + b <= g else None
    rate = binary_entropy(flip, 1 - flip)
    if required is None or rate is None:  # alpha is 0: the program and the pairwise bound say what that means
        return finding
    return finding + (1 - d) * g * required.low / rate.high


def _capacity(flip: Fraction) -> Fraction:
    """C, rounded up."""
    return log_interval(Fraction(2)).high - _entropy(flip).low


def _entropy(p: Fraction) -> Interval:
    """h(p), of a coin, in nats."""
    parts = [log_interval(1 / q).times(q) for q in (p, 1 - p) if q]
    return Interval(sum((x.low for x in parts), Fraction(0)), sum((x.high for x in parts), Fraction(0)))
