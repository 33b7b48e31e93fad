"""Evidence: how much better a weighted bank predicts what was read than one state does, in integers.

With L_z(t) the likelihood of the readings scored so far from state z, and a bank of candidates c with weights w_c,

    E_z(t) = sum over c of w_c L_c(t) / L_z(t)          (infinite where L_z(t) = 0 and the sum is positive).

Where z is the truth, E_z is a nonnegative supermartingale that starts at most at 1, whatever actions are chosen, so by
Ville's inequality it ever reaches 1/alpha with probability at most alpha. A state is *beaten* once it has, and stays
so. Answering label k when every hypothesis with another label is beaten is wrong only if the true one is beaten: with
probability at most alpha, for any number of hypotheses, and whether or not the bank lists the truth.

All probabilities of the model are written over one denominator, its *scale*. After t scored readings a likelihood is
n / scale^t with an integer n, the *product*, and since the power is common to all, z is beaten exactly when

    n_z * den * q <= p * total,        alpha = p/q, the sum over the bank = total / (den * scale^t), total > 0.

A reading that is missing is no evidence: products stay as they are. An action that *may have run* makes two cases of
every hypothesis, each to be beaten by itself; a candidate's weight is split between its cases by a ratio fixed
beforehand, so the bank still has the same total and the argument holds for cases as it does for states. Only the sum
is ever used, so candidates that have come to the same state are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend

Move: TypeAlias = Callable[[int, int], tuple[int, dict[int, int]] | None]
"""From a state and an action: where it leads, and by reading its probability times scale; None: not allowed."""

MAX_BITS = 1 << 14
"""Of a denominator that is common to all weights, or to all probabilities."""
MAX_DOUBTS = 12


@dataclass(frozen=True)
class Step:
    """One action, and what was read: None if nothing was. It is not `certain` when it may not have run."""

    action: int
    reading: int | None
    certain: bool


@dataclass(frozen=True)
class Stage:
    """A bank with its share of alpha, fixed beforehand, and the step from which on readings are scored with it."""

    bank: list[tuple[int, Fraction]] | None
    """None: every state, each with the same weight."""
    alpha: Fraction
    scored_from: int
    ran: Fraction
    before: Stage | None = None
    """What was scored before `scored_from`."""

    def scored(self, steps: list[Step], i: int) -> int | None:
        """What was read at step i, if it counts."""
        return steps[i].reading if i >= self.scored_from else None


@dataclass(frozen=True)
class Bar:
    """A state is beaten when its product times `factor` is at most `limit`, and `total`, the bank's sum, is not 0."""

    total: int
    factor: int
    limit: int


def common_denominator(values: Iterable[Fraction], what: str) -> int:
    common = 1
    for value in values:
        spend(2 + (common.bit_length() >> 8) ** 2)
        common = lcm(common, value.denominator)
        if common.bit_length() > MAX_BITS:
            raise Malformed(f"{what}: the common denominator is longer than {MAX_BITS} bits, this checker's limit")
    return common


def need_list(stage: Stage) -> list[tuple[int, Fraction]]:
    if stage.bank is None:
        raise Malformed("a bank of all states is for Boolean plants of which every state is a hypothesis")
    return stage.bank


def raise_bar(move: Move, stage: Stage, steps: list[Step]) -> Iterator[Bar]:
    """What it takes to be beaten after each step."""
    bank = need_list(stage)
    den = common_denominator((w for _, w in bank), "the weights of the bank")
    mass = {state: int(w * den) for state, w in bank}
    p, q = stage.alpha.numerator, stage.alpha.denominator
    for i, step in enumerate(steps):
        mass = advance(move, mass, step, stage.scored(steps, i), stage.ran)
        den *= 1 if step.certain else stage.ran.denominator
        total = sum(mass.values())
        yield Bar(total, den * q, p * total)


def advance(move: Move, mass: dict[int, int], step: Step, reading: int | None, ran: Fraction) -> dict[int, int]:
    """The bank after one step; candidates that do not allow the action drop out."""
    after: dict[int, int] = {}
    ran_share = 1 if step.certain else ran.numerator
    for state, m in mass.items():
        moved = move(state, step.action)
        if moved is None:
            continue
        target, chance = moved
        gain = m * ran_share if reading is None else m * chance.get(reading, 0)
        after[target] = after.get(target, 0) + gain
        if not step.certain:
            after[state] = after.get(state, 0) + m * (ran.denominator - ran.numerator)
    return after


def check_effort(num_hypotheses: int, stage: Stage, steps: list[Step], scale: int) -> None:
    """Count the moves, and the length of the numbers that they multiply, which grow with every step."""
    doubts = sum(not step.certain for step in steps)
    if doubts > MAX_DOUBTS:
        raise Malformed(f"{doubts} actions may or may not have run; this checker takes at most {MAX_DOUBTS}")
    moves = (len(steps) + 1) * (num_hypotheses + len(stage.bank or [])) << doubts
    bits = scale.bit_length()
    spend(5 * moves + (moves * (len(steps) + 1) * bits * (1 + (bits >> 7)) >> 11))


def need_answer(rival: str | None, supported: bool) -> None:
    """Every rival is beaten, and something that has the label is not."""
    if rival is not None:
        raise Refuted(f"a rival is not beaten: {rival}")
    if not supported:
        raise Refuted("the readings beat every hypothesis, those with the label too; that is no answer")
