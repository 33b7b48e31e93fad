"""Evidence: how much better a weighted bank predicts the readings than one state does.

With L_z(t) the likelihood of the first t readings from state z, and a bank of candidates c with weights w_c,

    E_z(t) = sum over c of w_c L_c(t) / L_z(t)          (infinite where L_z(t) = 0)

is an e-process under z: a supermartingale that starts at 1 or below, so that by Ville's inequality it ever reaches
1/alpha with probability at most alpha when z is the truth. State z is *beaten* once it has. Answering label l when
every rival of l is beaten is then wrong with probability at most alpha, whatever the truth is (`docs/evidence.md`).

Here is the bank's side: the sum. A world compares it with every rival. What a reading costs a state is kept in
integers, its *penalty*, larger for less likely readings, and a state is beaten when its penalty reaches a threshold
that is the same for all states. For a sensor that flips with probability f the penalty is the number of contradicted
readings, L_z = (1-f)^(t-k) f^k, and with r = f/(1-f)

    E_z(t) >= 1/alpha   exactly when   r^k <= alpha * sum over c of w_c r^(k_c):

the factor (1-f)^t is common and falls out, and the least such k is found with integers alone. General laws: `laws.py`.

At alpha = 0 a state is beaten only where E_z is infinite: by a reading that it cannot show and some candidate can.
*Missing* readings leave the penalties as they are. An action that *may have run* or not doubles every hypothesis; the
weight of each candidate is split by a ratio fixed beforehand.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TypeAlias, final

import numpy as np

from ascertain.errors import TaskError
from ascertain.evidence.groups import Group, double_group, start_group
from ascertain.evidence.misfit import least_misfit_count
from ascertain.kernels.evidence.worlds import MISSING, Steps, filter_states
from ascertain.kernels.model.boolean import ONE, run_states
from ascertain.model.boolean import BooleanPlant
from ascertain.task.bank import Bank, EvenBank, listed_bank, scale_weights
from ascertain.types import Action, BoolArray, LongArray, Reading, State, WordArray

NEVER = 1 << 62
"""A threshold that no penalty reaches, far enough from the largest integer that penalties can still be added to it."""
MAX_WITNESSES = 1 << 12
"""States that a world of millions looks at instead of all of them: 4,096 take microseconds at every reading."""
NUM_HEAVIEST = 1 << 6
"""Candidates in whose neighbourhood the first witnesses are: 64 with 300 neighbours each are more than are kept."""
FEW_FLIPS = 1 << 9
"""Sets of bits that are always tried around a candidate: all of at most two bits, up to 30 bits."""
StartOf: TypeAlias = Callable[[WordArray], WordArray]
"""The states that hypotheses began in."""


@final
@dataclass(frozen=True)
class Step:
    """One action, and what was read: None if nothing was. It is not `certain` when it may not have run."""

    action: Action
    reading: Reading | None
    certain: bool = True


@final
@dataclass(frozen=True)
class Doubts:
    """How actions that may not have run are treated: at most `limit` of them, and the weight of "it ran"."""

    limit: int = 4
    ran: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        if self.limit < 0 or not 0 < self.ran < 1:
            raise TaskError(
                f"{self.limit} doubts, split at {self.ran}: at least 0, and a ratio inside (0, 1), are needed"
            )


@dataclass(eq=False)
class AbstractEvidence(ABC):
    """The bank's side of every comparison. It is made before the first reading, and its weights never change."""

    bank: Bank | EvenBank
    alpha: Fraction
    doubts: Doubts = field(default_factory=Doubts)

    def __post_init__(self) -> None:
        self.alpha = Fraction(self.alpha)
        self._weights = list(self.bank.weights)
        """The weight of every candidate that is listed; a doubted action doubles them."""
        if not 0 <= self.alpha < 1:
            raise TaskError(f"alpha is {self.alpha}; a probability in [0, 1) is needed")

    @property
    def num_candidates(self) -> int:
        """How many candidates are followed."""
        return len(self._weights)

    @property
    @abstractmethod
    def num_unbeaten(self) -> int:
        """How many of them are not beaten, and may still be the answer."""

    @property
    def unbeaten_states(self) -> WordArray:
        """Where the candidates that are states and not beaten are now."""
        return np.empty(0, dtype=np.uint64)

    def _split_weights(self) -> None:
        """After a doubted action: the weights in the case that it ran, then those in the case that it did not."""
        ran = self.doubts.ran
        self._weights = [*(w * ran for w in self._weights), *(w * (1 - ran) for w in self._weights)]

    @abstractmethod
    def take(self, step: Step) -> None:
        """Score the candidates on one more step."""

    @property
    @abstractmethod
    def vanished(self) -> bool:
        """Whether no candidate could have shown these readings."""

    @property
    @abstractmethod
    def threshold(self) -> int:
        """The penalty from which on a state is surely beaten by what was read so far."""

    @abstractmethod
    def leader(self) -> tuple[State, State]:
        """The candidate whose weighted likelihood is largest: the state it began in, and the one it is in now."""

    @abstractmethod
    def nats(self, penalty: int) -> float:
        """The logarithm of E_z for a state of that penalty; for people to read, decisions use the threshold."""

    @abstractmethod
    def afresh(self, bank: Bank) -> AbstractEvidence:
        """The same before any reading, with another bank."""


class AbstractStateEvidence(AbstractEvidence):
    """The interface of evidence whose candidates and hypotheses are states.

    Candidate c began in `_initial[c]` and is in `_current[c]`; `_score[c]` is what its readings have cost so far: a
    count, or a row of counts. `_unbeaten[c]` says whether it may still be the answer; a beaten one stays in the sum.
    """

    _initial: WordArray
    _current: WordArray
    _score: LongArray
    _unbeaten: BoolArray

    @property
    def num_unbeaten(self) -> int:
        return int(np.count_nonzero(self._unbeaten))

    @property
    def unbeaten_states(self) -> WordArray:
        return self._current[self._unbeaten]

    @abstractmethod
    def some_fit(self, groups: Iterable[Group], start_of: StartOf, bound: Fraction) -> bool:
        """Whether a hypothesis of these groups explains the readings: its G (`misfit.py`) has not reached the bound."""

    @abstractmethod
    def filter(self, group: Group, step: Step, start_of: StartOf, keep_all: bool = False) -> list[Group]:
        """The group after the step that was taken last, two of them after a doubted one; every hypothesis allows it.

        Beaten hypotheses are dropped, with `keep_all` none.
        """

    def _double(self, moved: WordArray) -> None:
        """Both cases of an action that may have led the candidates to `moved` or not have run."""
        self._initial = np.concatenate([self._initial, self._initial])
        self._current = np.concatenate([moved, self._current])
        self._score = np.concatenate([self._score, self._score])
        self._unbeaten = np.concatenate([self._unbeaten, self._unbeaten])
        self._split_weights()

    def run_alone(self, state: State, history: Sequence[Step]) -> list[Group]:
        """One state through the whole history, dropped by nothing: a group of one for each way the doubts may go."""
        begin = np.array([state], dtype=np.uint64)
        groups = [start_group(begin)]
        for step in history:
            groups = [after for group in groups for after in self.filter(group, step, lambda _: begin, keep_all=True)]
        return groups


class AbstractFlipEvidence(AbstractStateEvidence):
    """Evidence on a Boolean plant: penalties count contradicted readings, and thresholds are exact."""

    plant: BooleanPlant
    _scale: int
    """What the weights in `_terms` are multiplied by."""
    _threshold: int
    _num_readings: int = 0
    """How many readings were scored."""

    @abstractmethod
    def _terms(self) -> Iterator[tuple[int, int]]:
        """Weights times `_scale`, added up over the candidates that share a count, and counts."""

    @abstractmethod
    def _leader_term(self) -> tuple[int, int]:
        """Of the leader, its weight times `_scale`, and its count."""

    @abstractmethod
    def first_witnesses(self) -> list[Group]:
        """States that are likely to hold out the longest, before any reading."""

    def strongest(self) -> list[Group]:
        """The states of least count that are not beaten, where the evidence follows them anyway; otherwise none."""
        return []

    def some_fit(self, groups: Iterable[Group], start_of: StartOf, bound: Fraction) -> bool:
        del start_of  # counts say it
        if not self.plant.flip:
            return True  # what is left contradicts nothing, or nothing can be compared
        limit = least_misfit_count(self._num_readings, self.plant.flip, bound)
        return any(bool((group.penalty < limit).any()) for group in groups)

    def filter(self, group: Group, step: Step, start_of: StartOf, keep_all: bool = False) -> list[Group]:
        del start_of  # counts are exact, so that nothing is computed again
        steps = Steps(
            self.plant.circuit,
            np.array([step.action], dtype=np.int32),
            np.array([MISSING if step.reading is None else step.reading], dtype=np.int32),
            np.array([NEVER if keep_all else self._threshold], dtype=np.int64),
        )
        moved = group.filtered(lambda listed: filter_states(steps, listed))
        return [moved] if step.certain else double_group(group, moved.current)

    @property
    def vanished(self) -> bool:
        return self.plant.flip == 0 and all(k > 0 for _, k in self._terms())

    @property
    def threshold(self) -> int:
        return self._threshold

    @property
    def leader_threshold(self) -> int:
        """What the threshold will be once the leader alone explains the readings; it rises no further by itself."""
        return least_beaten_count([self._leader_term()], self._scale, self.plant.flip, self.alpha)

    def nats(self, penalty: int) -> float:
        f, terms = self.plant.flip, list(self._terms())
        if f == 0:
            alive = sum(share for share, k in terms if k == 0)
            return -math.inf if alive == 0 else math.inf if penalty > 0 else math.log(alive / self._scale)
        step = math.log((1 - f) / f)
        least = min(k for _, k in terms)
        total = math.fsum(share / self._scale * math.exp(-step * (k - least)) for share, k in terms)
        return math.log(total) + step * (penalty - least)

    def _find_threshold(self) -> int:
        return least_beaten_count(list(self._terms()), self._scale, self.plant.flip, self.alpha)


@final
class FlipEvidence(AbstractFlipEvidence):
    """Evidence on a Boolean plant whose candidates are listed."""

    def __init__(self, plant: BooleanPlant, bank: Bank, alpha: Fraction, doubts: Doubts | None = None) -> None:
        super().__init__(bank, alpha, doubts or Doubts())
        if bank.largest >> plant.num_bits:
            raise TaskError(f"the bank lists state {bank.largest}; the plant has {plant.num_bits} bits")
        self.plant = plant
        self._initial = np.array(bank.states, dtype=np.uint64)
        self._current = self._initial.copy()
        self._score = np.zeros(len(bank.states), dtype=np.int64)
        self._unbeaten = np.ones(len(bank.states), dtype=np.bool_)
        self._scale_weights()
        self._threshold = self._find_threshold()

    def afresh(self, bank: Bank) -> FlipEvidence:
        return FlipEvidence(self.plant, bank, self.alpha, self.doubts)

    def take(self, step: Step) -> None:
        plant, moved, command = self.plant, self._current.astype(np.uint64), np.array([step.action], dtype=np.int32)
        run_states(plant.gates, plant.offset, moved, command)
        if not step.certain:
            self._double(moved)
            self._scale_weights()
        else:
            self._current = moved
            if step.reading is None:
                return  # nothing was scored, so that the threshold is what it was
            self._num_readings += 1
            self._score += (moved >> np.uint64(plant.tap[step.action])) & ONE != step.reading
        self._threshold = self._find_threshold()
        self._unbeaten &= self._score < self._threshold

    def leader(self) -> tuple[State, State]:
        best = self._find_leader()
        return int(self._initial[best]), int(self._current[best])

    def _leader_term(self) -> tuple[int, int]:
        best = self._find_leader()
        return self._shares[int(self._share[best])], int(self._score[best])

    def _find_leader(self) -> int:
        # Without noise a contradicted candidate counts for next to nothing, which stands for nothing at all.
        f = max(self.plant.flip, Fraction(1, 10**9))
        return int(np.argmax(self._log_weights - self._score * math.log((1 - f) / f)))

    def first_witnesses(self) -> list[Group]:
        """The heaviest candidates and the states one or two bits away from them."""
        return [near_candidates(listed_bank(self.bank), self.plant.num_bits, 2, MAX_WITNESSES)]

    def _scale_weights(self) -> None:
        """The weights as integers over one denominator, each that occurs once: many candidates weigh the same."""
        self._scale, shares = scale_weights(self._weights)
        number = {share: i for i, share in enumerate(dict.fromkeys(shares))}
        self._shares = list(number)
        self._share: LongArray = np.array([number[share] for share in shares], dtype=np.int64)
        """`_shares[_share[c]]` is the weight of candidate c."""
        self._log_weights = np.array([math.log(share / self._scale) for share in number])[self._share]

    def _terms(self) -> Iterator[tuple[int, int]]:
        # Counted in one table of (weight, count): thousands of candidates have few different weights and counts.
        least = int(self._score.min())
        width = int(self._score.max()) - least + 1
        size = len(self._shares) * width
        many = np.bincount(self._share * width + (self._score - least), minlength=size).reshape(-1, width)
        total: dict[int, int] = {}
        held, at = np.nonzero(many)
        for i, k, number in zip(held.tolist(), at.tolist(), many[held, at].tolist(), strict=True):
            total[k] = total.get(k, 0) + number * self._shares[i]
        for k, share in total.items():
            yield share, least + k


def near_candidates(bank: Bank, num_bits: int, reach: int, limit: int) -> Group:
    """The heaviest candidates and the nearest states to them, at most so many bits away, before any reading."""
    heaviest = sorted(zip(bank.shares, bank.states, strict=True), key=lambda pair: -pair[0])[:NUM_HEAVIEST]
    enough = max(FEW_FLIPS, -(-2 * limit // max(len(heaviest), 1)))
    flips, states = list_flips(num_bits, reach)[:enough], np.array([state for _, state in heaviest], dtype=np.uint64)
    near = (flips[:, np.newaxis] ^ states).ravel()
    first = np.sort(np.unique(near, return_index=True)[1])[:limit]
    listed = np.sort(near[first])
    return Group((), listed, listed.copy(), np.zeros(listed.size, dtype=np.int64))


@cache
def list_flips(num_bits: int, reach: int) -> WordArray:
    """Every set of at most so many bits, as a word, the smaller sets first."""
    sets: list[list[int]] = [[0]]
    for _ in range(reach):
        # Each set once: the bit that joins is above all others.
        sets.append([1 << i | small for i in range(num_bits) for small in sets[-1] if small < 1 << i])
    return np.array([word for same in sets for word in same], dtype=np.uint64)


def least_beaten_count(terms: Sequence[tuple[int, int]], scale: int, flip: Fraction, alpha: Fraction) -> int:
    """The least k with r^k <= alpha * sum of w r^(k_c), where r = flip / (1 - flip); NEVER when there is none.

    The terms are (w * scale, k_c). Exact: counts are taken relative to the least one, and both sides are multiplied up
    to integers. Logarithms only guess where to begin.
    """
    if flip == 0:
        return 1 if any(k == 0 for _, k in terms) else NEVER
    if alpha == 0:
        return NEVER
    # With r = p/m and k = low + j the inequality reads r^j <= alpha * sum of w r^(k_c - low). Times all denominators
    # that is left * p^j <= right * m^j. As r < 1 it holds from some j on, looked for around the logarithms' guess.
    low, high = min(k for _, k in terms), max(k for _, k in terms)
    p, m = flip.numerator, flip.denominator - flip.numerator
    total = sum(share * p ** (k - low) * m ** (high - k) for share, k in terms)
    left, right = alpha.denominator * scale * m ** (high - low), alpha.numerator * total
    j = max(0, math.floor((math.log(left) - math.log(right)) / math.log(m / p)))
    while j > 0 and left * p ** (j - 1) <= right * m ** (j - 1):
        j -= 1
    while left * p**j > right * m**j:
        j += 1
    return low + j
