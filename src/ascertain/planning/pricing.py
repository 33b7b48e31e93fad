"""The best policy for given prices of errors, by dynamic programming on ledgers, and the lower bound it proves.

Give every hypothesis h a weight w_h, sum 1, a wrong answer the price A and an abstention the price B. Every policy that
is wrong with probability at most alpha and abstains with probability at most beta, under every hypothesis, has

    max over h of its cost >= sum of w_h (cost_h) >= min over policies of sum w_h (cost_h + A wrong_h + B abstain_h)
                                                    - A alpha - B beta,

so the right side is a lower bound on the complexity AO, for whatever w, A and B. The minimum is a dynamic program on
unnormalised weights mu_h = w_h * (likelihood of the readings under h):

    W(mu) = min{ A (mass of mu not labelled l), for each l;  B (mass of mu);
                 c(a) (mass of mu) + sum over y of W(mu_{a,y}), for each a }.

*Why a ledger may be used.* W increases in every mu_h, being an infimum of sums with coefficients that are not negative.
A ledger's weights never exceed the true ones: penalties are rounded up, and what is dead is dropped. So W on ledgers is
at most W; and iterating from zero stays below the solution, each update being shrunk by more than its rounding
(`kernels/planning/controllers.py`). Actions on dead ranks that a ledger leaves out tell the living nothing, free
nothing, and cost.

The policy of the minimum is what an optimal one looks like at those prices. Raising A makes it more careful: the least
A at which its risk, evaluated exactly, is within alpha gives an upper bound; the best prices found give the lower one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.kernels.planning.controllers import SHRINK, choose_options, improve_values
from ascertain.planning.belief_graph import Ledgers
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.information_state import DEAD, UNIT, FloatArray
from ascertain.types import LongArray

_SWEEPS = 4000


@final
@dataclass(frozen=True, eq=False)
class Priced:
    """The solution of the dynamic program at some prices."""

    wrong: float
    abstain: float
    value: FloatArray
    """`value[v]`, at or below the true one."""
    choice: LongArray
    """What the best policy does at each memory, as in `Remembering`."""
    lower: Fraction | None
    """The lower bound on AO that these prices prove; None when the ledgers leave actions out."""


class Pricing:
    """Ledgers prepared for dynamic programs at any prices."""

    def __init__(self, ledgers: Ledgers, total: float) -> None:
        """`total` is the mass that the weights at the start stand for, not less than it is."""
        self.ledgers, self.total = ledgers, total
        weight = weigh(ledgers.penalty)
        self.mass: FloatArray = weight.sum(axis=1)
        self.factor: FloatArray = np.where(ledgers.child >= 0, np.exp(-ledgers.shift / UNIT), 0.0)
        by_label = weight if ledgers.slot is not None else weight @ _indicator(ledgers)
        others: FloatArray = by_label @ (1 - np.eye(by_label.shape[1]))
        self.said: LongArray = others.argmin(axis=1)
        self.rivals: FloatArray = others[np.arange(len(others)), self.said]
        self.closed = (ledgers.option < 0).all(axis=1)

    def solve(
        self, wrong: float, abstain: float, alpha: Fraction, beta: Fraction, below: Priced | None = None
    ) -> Priced:
        """The best policy at these prices. `below`: a solution at prices that are not higher, to start from."""
        ledgers, cost = self.ledgers, self.ledgers.book.cost
        answer, leave = wrong * self.rivals, abstain * self.mass
        stop = np.minimum(answer, leave)
        # Asking on at a closed memory would cost its mass at least, whatever came of it.
        stop = np.where(self.closed, np.minimum(stop, cost.min() * self.mass), stop) * SHRINK
        value = np.zeros(ledgers.size) if below is None else below.value.copy()
        arguments = (ledgers.option, ledgers.child, self.factor, self.mass, cost, stop, value)
        improve_values(*arguments, _SWEEPS, 1e-7)
        choice = np.empty(ledgers.size, dtype=np.int64)
        choose_options(*arguments, choice)
        choice = np.where(choice >= 0, choice, np.where(answer <= leave, -1 - self.said, ABSTAIN))
        mean = Fraction(float(value[0])) / Fraction(self.total) * (1 - Fraction(1, 1 << 40))
        lower = mean - Fraction(wrong) * alpha - Fraction(abstain) * beta
        return Priced(wrong, abstain, value, choice, lower if ledgers.whole else None)


def weigh(penalty: LongArray) -> FloatArray:
    """What is left of each weight; nothing of what is dead."""
    return np.where(penalty >= DEAD, 0.0, np.exp(-np.minimum(penalty, DEAD) / UNIT))


def _indicator(ledgers: Ledgers) -> FloatArray:
    task = ledgers.book.task
    return (task.label[:, None] == np.arange(len(task.labels))[None, :]).astype(np.float64)


def start_penalties(weights: FloatArray) -> tuple[LongArray, float]:
    """Penalties that stand for these weights, rounded up, and the mass they stand for, in units of the largest."""
    largest = float(weights.max())
    nats = [-math.log(w / largest) for w in weights.tolist()]
    units = np.array([math.ceil(x * UNIT) + 1 if x > 0 else 0 for x in nats], dtype=np.int64)
    return units, math.fsum(weights.tolist()) / largest * (1 + 1e-12)
