"""Evidence under any reading laws, in fixed point, with exact rationals where fixed point cannot decide.

The penalty of a state is a lower bound on -log L_z(t), in units of 2^-32 nats: each reading adds -log K(y | s, a),
rounded down to an integer, so that penalties add up without error and bit for bit alike everywhere. After t readings

    penalty_z <= -log L_z(t) * 2^32 <= penalty_z + t.

The candidates' sum is enclosed the same way: their penalties rounded up give a lower bound on it, rounded down an upper
one. The few floating-point operations left (a sum of exponentials relative to the largest, rounded once, and its
logarithm) are accurate to better than 2^-45 relatively, and one unit is taken off, or added, for them. With A the
logarithm of 1/alpha and N the logarithm of the sum,

    penalty_z >= upper(A) - lower(N)        z is surely beaten: rounding went toward not beating
    penalty_z <  lower(A) - upper(N) - t    z is surely not beaten
    in between                              z's likelihood and the sum are compared as exact rationals.

So a world drops exactly the states that the rule drops.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np

from ascertain.errors import TaskError
from ascertain.evidence.evidence import NEVER, AbstractStateEvidence, Doubts, StartOf, Step
from ascertain.evidence.groups import Group, double_group, keep_strongest
from ascertain.evidence.misfit import Tally, least_misfit_count
from ascertain.kernels.evidence.worlds import filter_laws
from ascertain.model.tables import AbstractMachine
from ascertain.task.bank import Bank
from ascertain.types import UNDEFINED, Action, BoolArray, IntArray, LongArray, Reading, State

UNIT = 1 << 32
"""Penalties are in units of 2^-32 nats: t readings are uncertain by t units, 10^-7 nats at t = 600, so that hardly ever
rationals must decide; and NEVER is 2^30 nats, more than any run gathers."""
IMPOSSIBLE = -1
"""In a table of levels: the law never gives this reading."""
NUM_TRIED = 1 << 6
"""Hypotheses, the strongest, that are asked first whether one explains the readings: one of them nearly always does."""
_DIGITS = Context(prec=80)
"""80 decimal digits: in units, the logarithm of a number of a thousand digits has 14 of them before the point."""
_MARGIN = Decimal("1e-40")
"""What a logarithm is widened by: far more than the 60 digits behind the point lose, far less than a unit."""


@lru_cache(maxsize=1 << 14)  # a bank asks for the same few weights after every reading
def log_bounds(x: Fraction) -> tuple[int, int]:
    """Integers on either side of 2^32 log x; x is positive.

    The logarithm of a rational other than 1 is irrational. It is computed here to 80 digits and widened by far more
    than what is lost in them, so that for x next to 1 the two integers may lie on either side of 0.
    """
    if x == 1:
        return 0, 0
    log = _DIGITS.subtract(_DIGITS.ln(Decimal(x.numerator)), _DIGITS.ln(Decimal(x.denominator)))
    scaled = _DIGITS.multiply(log, Decimal(UNIT))
    return math.floor(_DIGITS.subtract(scaled, _MARGIN)), math.ceil(_DIGITS.add(scaled, _MARGIN))


@final
@dataclass(frozen=True, eq=False)
class LawLevels:
    """The distinct probabilities of a model's laws: `level[k, y]` is the number, in `values`, of law k's K(y)."""

    successor: IntArray
    law: IntArray
    level: IntArray
    values: tuple[Fraction, ...]
    floor: LongArray
    """`floor[j]` is -log of value j, in units, rounded down; `ceiling[j]` the same rounded up."""
    ceiling: LongArray

    def costs(self, reading: Reading) -> LongArray:
        """For each law the penalty of the reading, rounded down; IMPOSSIBLE where the law never gives it."""
        level = self.level[:, reading]
        return np.where(level == IMPOSSIBLE, IMPOSSIBLE, self.floor[level])


def tabulate_levels(model: AbstractMachine) -> LawLevels:
    """The tables that evidence and worlds work on.

    Where noise is a bound, what a reading counts takes the place of its probability (`scores` of the model).
    """
    laws = model.scores
    values = tuple(sorted({p for law in laws for _, p in law}, reverse=True))
    number = {p: j for j, p in enumerate(values)}
    level = np.full((len(laws), len(model.readings)), IMPOSSIBLE, dtype=np.int32)
    for k, law in enumerate(laws):
        for y, p in law:
            level[k, y] = number[p]
    # A probability is at most 1, so what it costs is at least 0, however little that is.
    bounds = [(max(low, 0), high) for low, high in (log_bounds(1 / p) for p in values)]
    floor = np.array([low for low, _ in bounds], dtype=np.int64)
    ceiling = np.array([high for _, high in bounds], dtype=np.int64)
    return LawLevels(model.successor, model.behaviour, level, values, floor, ceiling)


@final
@dataclass
class _Witness:
    """A hypothesis that explained the readings after `seen` steps, the state that it was in then, and its G."""

    hypothesis: int
    ran: tuple[bool, ...]
    state: State
    tally: Tally
    seen: int

    def is_among(self, group: Group) -> bool:
        return group.ran == self.ran and bool((group.hypothesis == self.hypothesis).any())


@final
class LawEvidence(AbstractStateEvidence):
    """Evidence on a machine, with noise or without."""

    def __init__(
        self,
        model: AbstractMachine,
        bank: Bank,
        alpha: Fraction,
        doubts: Doubts | None = None,
        levels: LawLevels | None = None,
    ) -> None:
        super().__init__(bank, alpha, doubts or Doubts())
        if max(bank.states) >= model.num_states:
            raise TaskError(f"the bank lists state {max(bank.states)}; the model has {model.num_states} states")
        self.model = model
        self.levels = levels or tabulate_levels(model)
        self._initial = np.array(bank.states, dtype=np.uint64)
        self._current = self._initial.copy()
        self._score = np.zeros((len(bank.states), len(self.levels.values)), dtype=np.int64)
        self._unbeaten = np.ones(len(bank.states), dtype=np.bool_)
        self._risk = log_bounds(1 / self.alpha) if self.alpha else (NEVER, NEVER)
        self._history: list[Step] = []
        self._num_readings = 0
        self._witness: _Witness | None = None
        self._weigh()

    def afresh(self, bank: Bank) -> LawEvidence:
        return LawEvidence(self.model, bank, self.alpha, self.doubts, self.levels)

    def take(self, step: Step) -> None:
        self._history.append(step)
        law = self.levels.law[self._current, step.action]
        if step.reading is None:
            self._keep(law != UNDEFINED)
        else:
            level = np.where(law == UNDEFINED, IMPOSSIBLE, self.levels.level[law, step.reading])
            possible = level != IMPOSSIBLE
            self._keep(possible)
            self._score[np.arange(len(self._score)), level[possible]] += 1
            self._num_readings += 1
        moved = self.levels.successor[self._current, step.action].astype(np.uint64)
        if step.certain:
            self._current = moved
        else:
            self._double(moved)
        self._weigh()
        if step.reading is not None and not self.vanished:
            self._note_beaten()

    def _note_beaten(self) -> None:
        """Which candidates are beaten by now; unclear ones are decided in exact rationals."""
        penalty = self._score @ self.levels.floor
        unclear = np.flatnonzero(self._unbeaten & (penalty >= self.doubtful) & (penalty < self.threshold))
        self._unbeaten &= penalty < self.threshold
        for i in unclear.tolist():
            self._unbeaten[i] = not self.beats(self._score[i])

    def _keep(self, kept: BoolArray) -> None:
        """Forget candidates of likelihood zero: they add nothing from now on."""
        self._initial, self._current, self._score = self._initial[kept], self._current[kept], self._score[kept]
        self._unbeaten = self._unbeaten[kept]
        self._weights = [w for w, k in zip(self._weights, kept, strict=True) if k]

    def _weigh(self) -> None:
        """Enclose the logarithm of the candidates' sum."""
        self._exact: Fraction | None = None  # made when a comparison needs it, once for each reading
        if self.vanished:
            return
        # Penalties rounded up and weights down bound each term from below, the other way round from above. One unit is
        # for the floating-point sum; the upper bound has one more, as `_log_sum` rounds down.
        weight = [log_bounds(w) for w in self._weights]
        least = self._score @ self.levels.ceiling
        most = self._score @ self.levels.floor
        self._sum = (
            _log_sum([low - int(x) for (low, _), x in zip(weight, least, strict=True)]) - 1,
            _log_sum([high - int(x) for (_, high), x in zip(weight, most, strict=True)]) + 2,
        )

    def filter(self, group: Group, step: Step, start_of: StartOf, keep_all: bool = False) -> list[Group]:
        if keep_all:  # even a state that lacks the action, at NEVER
            scored = self._add_penalties(group, step)
            return [scored] if step.certain else double_group(group, scored.current)
        if step.reading is not None:
            return [self._drop_beaten(group, step.action, self.levels.costs(step.reading), start_of)]
        after = self.levels.successor[group.current, step.action].astype(np.uint64)
        if step.certain:
            return [Group(group.ran, group.hypothesis, after, group.penalty)]
        return double_group(group, after)

    def _drop_beaten(self, group: Group, action: Action, cost: LongArray, start_of: StartOf) -> Group:
        levels, threshold = self.levels, self.threshold
        left = group.filtered(lambda listed: filter_laws(levels.successor, levels.law, action, cost, threshold, listed))
        # What comes near the threshold is for rationals to decide.
        return self._settle(left, np.flatnonzero(left.penalty >= self.doubtful), start_of)

    def _add_penalties(self, group: Group, step: Step) -> Group:
        """Drop nothing: what cannot have shown the reading, or lacks the action, is at NEVER."""
        levels = self.levels
        law = levels.law[group.current, step.action]
        cost = np.zeros(len(levels.level), np.int64) if step.reading is None else levels.costs(step.reading)
        # NEVER stays NEVER: penalties saturate there instead of running over.
        added = np.where(law == UNDEFINED, IMPOSSIBLE, cost[law])
        penalty = np.where(added == IMPOSSIBLE, NEVER, np.minimum(group.penalty, NEVER - added) + added)
        after = np.where(law == UNDEFINED, group.current, levels.successor[group.current, step.action])
        return Group(group.ran, group.hypothesis, after.astype(np.uint64), penalty)

    def _settle(self, group: Group, unclear: LongArray, start_of: StartOf) -> Group:
        """Drop those of the unclear hypotheses that exact rationals beat; equal ones are compared once."""
        if not unclear.size:
            return group
        used = self._count_uses(group.only(unclear), start_of).sum(axis=1)
        uses, where = np.unique(used, axis=0, return_inverse=True)
        beaten = np.array([self.beats(row) for row in uses], dtype=np.bool_)
        kept = np.ones(group.size, dtype=np.bool_)
        kept[unclear] = ~beaten[where.reshape(-1)]
        return group.only(kept)

    def _count_uses(self, group: Group, start_of: StartOf) -> LongArray:
        """How often each hypothesis has used each level, by how many readings the action can give, from the history."""
        levels, sizes = self.levels, self._sizes()
        uses = np.zeros((group.size, len(sizes), len(levels.values)), dtype=np.int64)
        state = start_of(group.hypothesis)
        ran = iter(group.ran)
        for step in self._history:
            if step.reading is not None:
                level = levels.level[levels.law[state, step.action], step.reading]
                uses[np.arange(group.size), sizes.index(self._possible(step.action)), level] += 1
            if step.certain or next(ran):
                state = levels.successor[state, step.action].astype(np.uint64)
        return uses

    def _possible(self, action: Action) -> int:
        """How many readings the action can give."""
        return len(self.model.possible_readings(action))

    def _sizes(self) -> list[int]:
        return sorted({self._possible(step.action) for step in self._history if step.reading is not None} or {1})

    def some_fit(self, groups: Iterable[Group], start_of: StartOf, bound: Fraction) -> bool:
        left, f = list(groups), self.model.noise_bound
        if f is not None:
            # The least count of contradictions decides; the last level, the lowest, is that of an error.
            number = sum(s.reading is not None and self._possible(s.action) > 1 for s in self._history)
            limit, error = least_misfit_count(number, f, bound), len(self.levels.values) - 1
            if number == 0 or any(bool((g.penalty < limit * self.levels.floor[error]).any()) for g in left):
                return True  # so many errors would have cost more
            strongest = keep_strongest(left, NUM_TRIED)
            tried = (g for g in (*strongest, *left) if g.size)
            return any(bool((self._count_uses(g, start_of).sum(axis=1)[:, error] < limit).any()) for g in tried)
        # One hypothesis that explains the readings is enough, and the one of last time mostly does.
        witness = self._witness
        if witness is not None and any(witness.is_among(group) for group in left):
            self._follow(witness)
            if not witness.tally.reaches(bound):
                return True
        strongest = keep_strongest(left, NUM_TRIED)
        return any(self._find_witness(group, start_of, bound) for group in (*strongest, *left) if group.size)

    def _follow(self, witness: _Witness) -> None:
        levels = self.levels
        for step in self._history[witness.seen :]:  # all are certain: after a doubted one `ran` would be another
            if step.reading is not None:
                law = levels.law[witness.state, step.action]
                chance = levels.values[int(levels.level[law, step.reading])]
                witness.tally.add(1 / (chance * self._possible(step.action)))
            witness.state = int(levels.successor[witness.state, step.action])
        witness.seen = len(self._history)

    def _find_witness(self, group: Group, start_of: StartOf, bound: Fraction) -> bool:
        """Whether a hypothesis of the group explains the readings; it is the witness from now on."""
        uses = self._count_uses(group, start_of)
        flat, first = np.unique(uses.reshape(group.size, -1), axis=0, return_index=True)
        for row, i in zip(flat.reshape(-1, *uses.shape[1:]), first.tolist(), strict=True):
            tally = Tally()
            for at, times in zip(np.argwhere(row).tolist(), row[row > 0].tolist(), strict=True):
                tally.add(1 / (self.levels.values[at[1]] * self._sizes()[at[0]]), times)
            if not tally.reaches(bound):
                seen = len(self._history)
                self._witness = _Witness(int(group.hypothesis[i]), group.ran, int(group.current[i]), tally, seen)
                return True
        return False

    @property
    def vanished(self) -> bool:
        return not self._weights

    def leader(self) -> tuple[State, State]:
        if self.vanished:
            raise TaskError("no candidate of the bank explains the readings; none of them leads")
        # Floors are compared, which may err by a few units about who leads; no answer rests on it.
        best = int(np.argmin(self._score @ self.levels.floor - np.array([log_bounds(w)[0] for w in self._weights])))
        return int(self._initial[best]), int(self._current[best])

    @property
    def threshold(self) -> int:
        return NEVER if self.vanished or not self.alpha else self._risk[1] - self._sum[0]

    @property
    def doubtful(self) -> int:
        """The penalty below which a state is surely not beaten; from here to the threshold only `beats` can decide."""
        return NEVER if self.vanished or not self.alpha else self._risk[0] - self._sum[1] - self._num_readings

    def beats(self, uses: LongArray) -> bool:
        """Whether a state that used level j `uses[j]` times is beaten, in exact rationals."""
        if self._exact is None:
            self._exact = sum(
                (w * self._likelihood(row) for w, row in zip(self._weights, self._score, strict=True)), Fraction(0)
            )
        return self.alpha * self._exact >= self._likelihood(uses)

    def _likelihood(self, uses: LongArray) -> Fraction:
        result = Fraction(1)
        for value, times in zip(self.levels.values, uses, strict=True):
            result *= value ** int(times)
        return result

    def nats(self, penalty: int) -> float:
        if self.vanished:
            return -math.inf
        return math.inf if penalty >= NEVER else (self._sum[0] + penalty) / UNIT


def _log_sum(logs: list[int]) -> int:
    """2^32 times the logarithm of the sum of exp(x / 2^32), rounded down."""
    # Relative to the largest, so that nothing overflows and at least one term is exactly 1; `fsum` rounds once.
    top = max(logs)
    return top + math.floor(math.log(math.fsum(math.exp((x - top) / UNIT) for x in logs)) * UNIT)
