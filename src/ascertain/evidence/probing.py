"""Action rules: what to probe next, given what is left of a world.

Any rule is valid: evidence is so for every choice that does not see future noise. A rule decides only how long it
takes. And no rule chooses an action that is forbidden where the plant may be: it takes the next one that is allowed.

A *separating* rule believes the candidate that explains the readings best, its *reference*, and looks for the short
word of actions that weakens its strongest rivals most. The weight of a rival is the square root of its likelihood
relative to the strongest one's. If the reference is true, an action multiplies that weight in the mean by the affinity
of the two reading laws, the sum over readings of the root of the product of their probabilities (the Bhattacharyya
coefficient). So the total weight after a word is an expectation, and words are compared by the logarithm of what they
divide the total by, per unit of cost. The word is chosen with look-ahead, its first action is done, and after the
reading everything is chosen anew. Where no word within reach splits anything, the rule follows a shortest word that
tells the reference from its strongest rival.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import singledispatch
from typing import TypeAlias, final

import numpy as np

from ascertain.errors import TaskError
from ascertain.evidence.evidence import Step
from ascertain.evidence.groups import Group
from ascertain.evidence.laws import UNIT, LawLevels, tabulate_levels
from ascertain.evidence.worlds import AbstractWorld
from ascertain.kernels.evidence.probing import Rivals, step_flips, weigh_flips, weigh_laws
from ascertain.model.abstract import AbstractDeterministic, AbstractModel
from ascertain.model.boolean import BooleanPlant
from ascertain.model.tables import AbstractMachine
from ascertain.types import UNDEFINED, Action, BoolArray, FloatArray, IntArray, LongArray, Reading, State

_LEAST = 1e-300
"""Stands for no weight at all, so that its logarithm is a number; less than every weight that matters."""
MAX_PAIRS = 20_000
"""Pairs of states that are looked at for one word, some ten milliseconds an action; then the rule goes on."""
Pair: TypeAlias = tuple[State, State]
"""Two states that are to be told apart."""
_SPLITS = 1e-12
"""A word that gains less than this splits nothing: sums of 512 weights are rounded by some 1e-13 of their total."""


class AbstractRule(ABC):
    """The interface of every action rule. A rule sees the world, never the plant."""

    @abstractmethod
    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        """The next action: one of those allowed, or, without a list, one of the rule's that the world allows."""

    def ask(self, steps: Sequence[Step]) -> Action | None:
        """The action that the rule wants after these steps whatever the world looks like; None when it has none."""
        del steps
        return None


@final
@dataclass(frozen=True)
class FixedSchedule(AbstractRule):
    """The actions in order, whatever is read; from the beginning again when they are done."""

    actions: tuple[Action, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", tuple(int(a) for a in self.actions))
        if not self.actions:
            raise TaskError("a schedule needs at least one action")

    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        return next_allowed(world, self.actions, allowed)


def next_allowed(world: AbstractWorld, actions: Sequence[Action], allowed: Sequence[Action] | None = None) -> Action:
    """The action whose turn it is after so many steps, or the next one after it that is allowed."""
    turn = len(world.history) % len(actions)
    return _first_allowed(world, (*actions[turn:], *actions[:turn]), allowed)


def _first_allowed(world: AbstractWorld, actions: Iterable[Action], allowed: Sequence[Action] | None) -> Action:
    for a in actions:
        if world.is_allowed(a) if allowed is None else a in allowed:
            return a
    raise TaskError("no action of the rule is defined in every state where the plant may be")


@final
@dataclass(frozen=True)
class RoundRobin(AbstractRule):
    """Sensor after sensor; one that several actions read is read by each of them in turn."""

    by_sensor: tuple[tuple[Action, ...], ...]

    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        return _first_allowed(world, self._from_turn(len(world.history)), allowed)

    def _from_turn(self, turn: int) -> Iterator[Action]:
        """The action whose turn it is, the others of its sensor, then those of the sensors after it."""
        for t in range(turn, turn + len(self.by_sensor)):
            actions = self.by_sensor[t % len(self.by_sensor)]
            first = t // len(self.by_sensor) % len(actions)
            yield from (*actions[first:], *actions[:first])


def round_robin(model: AbstractModel, actions: Iterable[Action]) -> RoundRobin:
    """The rule that reads the sensors of these actions in order of their numbers."""
    reading: dict[int, list[Action]] = {}
    for a in actions:
        model.check_step(a, None)
        reading.setdefault(model.sensor(a), []).append(a)
    if not reading:
        raise TaskError("a schedule needs at least one action")
    return RoundRobin(tuple(tuple(same) for _, same in sorted(reading.items())))


@final
@dataclass(frozen=True)
class Separating(AbstractRule):
    """The action that begins the word which weakens the strongest rivals most, per unit of cost."""

    model: AbstractDeterministic
    actions: tuple[Action, ...]
    cost: tuple[Fraction, ...] = ()
    """`cost[i]` is the cost of `actions[i]`; all are 1 when none are given."""
    depth: int = 3
    """The length of the words that are looked at."""
    breadth: int = 8
    """How many first actions are followed up; half as many second ones of each, and so on."""
    num_rivals: int = 512
    """How many rivals, the strongest, are looked at."""
    _split: _Flips | _Laws = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", tuple(int(a) for a in self.actions))
        object.__setattr__(self, "cost", tuple(self.cost) or (Fraction(1),) * len(self.actions))
        if not self.actions or len(self.cost) != len(self.actions) or min(self.cost) <= 0:
            raise TaskError("a separating rule needs actions, and for each a positive cost")
        if self.depth < 1 or self.breadth < 1 or self.num_rivals < 1:
            raise TaskError("depth, breadth and the number of rivals must be at least 1")
        object.__setattr__(self, "_split", _make_split(self.model))

    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        actions = self.actions if allowed is None else tuple(allowed)
        reference, label = world.leader()
        rivals = world.likely_rivals(label, self.num_rivals)
        possible = np.array([world.is_allowed(a) for a in actions])
        if not rivals or not possible.any():
            return next_allowed(world, actions)
        current = np.concatenate([group.current for group in rivals])
        weight = self._split.weigh(np.concatenate([group.penalty for group in rivals]))
        cost = dict(zip(self.actions, self.cost, strict=True))
        search = _WordSearch(self._split, actions, [float(cost[a]) for a in actions], float(weight.sum()), possible)
        search.extend(Rivals(np.uint64(reference), current, weight), (), 0.0, self.depth, self.breadth)
        if search.gain > _SPLITS:
            return actions[search.word[0]]
        # No word within reach splits anything: go where the reference and its strongest rival differ.
        word = shortest_splitting_word(self.model, [(reference, strongest_of(rivals))], actions, actions)
        return word[0] if word and world.is_allowed(word[0]) else next_allowed(world, actions)


def strongest_of(groups: Sequence[Group]) -> State:
    """Where the hypothesis of least penalty is now."""
    group = min(groups, key=lambda group: int(group.penalty.min()))
    return int(group.current[int(np.argmin(group.penalty))])


@final
class _WordSearch:
    """Words searched depth first, at each level through the actions that gain most."""

    def __init__(
        self, split: _Flips | _Laws, actions: tuple[Action, ...], cost: list[float], total: float, allowed: BoolArray
    ) -> None:
        self.split, self.total = split, total
        self.actions, self.cost = np.array(actions, dtype=np.int32), np.array(cost)
        self.allowed = allowed
        """Whether each action may be done now; later ones are judged by the rivals looked at."""
        self.gain, self.word = 0.0, (0,)

    def extend(self, rivals: Rivals, word: tuple[int, ...], paid: float, depth: int, breadth: int) -> None:
        """Try every action next and go on from the best; a word counts when full or when it leaves nothing."""
        # left[i] is the total weight after action i, negative where a rival lacks it. What a word gains is the
        # logarithm of what it divides the total by, over its cost.
        left = self.split.left(self.actions, rivals)
        no_use = (left < 0) if word else (left < 0) | ~self.allowed
        gain = np.where(no_use, -1.0, -np.log(np.maximum(left, _LEAST) / self.total) / (paid + self.cost))
        order = [int(i) for i in np.argsort(-gain, kind="stable") if gain[i] >= 0][:breadth]
        if order and gain[order[0]] > self.gain and (depth == 1 or left[order[0]] <= _LEAST):
            self.gain, self.word = float(gain[order[0]]), (*word, order[0])
        if depth > 1:
            for i in order:
                after = self.split.step(int(self.actions[i]), rivals)
                self.extend(after, (*word, i), paid + float(self.cost[i]), depth - 1, max(1, breadth // 2))


@final
class _Flips:
    """Rivals on a Boolean plant."""

    def __init__(self, plant: BooleanPlant) -> None:
        self.circuit = plant.circuit
        f = float(plant.flip)
        self.affinity = 2 * math.sqrt(f * (1 - f))
        self.root = math.sqrt(f / (1 - f))

    def weigh(self, penalty: LongArray) -> FloatArray:
        return self.root ** (penalty - penalty.min()).astype(np.float64)

    def left(self, actions: IntArray, rivals: Rivals) -> FloatArray:
        left = np.empty(actions.size)
        weigh_flips(self.circuit, actions, self.affinity, rivals, left, np.empty_like(rivals.current))
        return left

    def step(self, a: Action, rivals: Rivals) -> Rivals:
        moved = Rivals(rivals.reference, rivals.current.copy(), rivals.weight.copy())
        return moved._replace(reference=np.uint64(step_flips(self.circuit, a, self.affinity, moved)))


@final
class _Laws:
    """Rivals on a machine."""

    def __init__(self, model: AbstractMachine) -> None:
        self.levels = tabulate_levels(model)
        self.affinity = affinities(self.levels)

    def weigh(self, penalty: LongArray) -> FloatArray:
        return np.exp((penalty.min() - penalty) / (2 * UNIT))

    def left(self, actions: IntArray, rivals: Rivals) -> FloatArray:
        left = np.empty(actions.size)
        weigh_laws(self.levels.law, actions, self.affinity, rivals, left)
        return left

    def step(self, a: Action, rivals: Rivals) -> Rivals:
        reference, current, weight = rivals
        law, after = self.levels.law, self.levels.successor[:, a]
        affinity = self.affinity[law[reference, a], law[current, a]]
        return Rivals(np.uint64(after[reference]), after[current].astype(np.uint64), weight * affinity)


@singledispatch
def _make_split(model: AbstractMachine) -> _Flips | _Laws:
    """How rivals on this model are weighed: the kernels differ by the model's tables."""
    return _Laws(model)


@_make_split.register
def _(model: BooleanPlant) -> _Flips | _Laws:
    return _Flips(model)


def affinities(levels: LawLevels) -> FloatArray:
    """`affinity[k, l]`, for laws k and l, the sum over readings of the root of the product of their probabilities."""
    roots = np.sqrt(np.array([*(float(p) for p in levels.values), 0.0]))[levels.level]
    return np.minimum(roots @ roots.T, 1.0)


def shortest_splitting_word(
    model: AbstractDeterministic,
    pairs: Sequence[Pair],
    first: Sequence[Action],
    later: Sequence[Action],
    *,
    silence: Reading | None = None,
    seen: set[Pair] | None = None,
) -> tuple[Action, ...]:
    """A shortest word after which one of the pairs reads differently in law; empty when MAX_PAIRS pairs show none.

    It begins with one of `first` and goes on with any of `later`. Where there is a `silence` the first state of the
    pair must not keep it. Pairs in `seen` led nowhere before, and are not looked at again.
    """
    seen = set() if seen is None else seen
    queue: deque[tuple[Pair, tuple[Action, ...]]] = deque((pair, ()) for pair in pairs if pair not in seen)
    seen.update(pairs)
    while queue and len(seen) <= MAX_PAIRS:
        (z, n), word = queue.popleft()
        for a in later if word else first:
            after = model.next_state(z, a), model.next_state(n, a)
            if UNDEFINED in after:
                continue
            law = model.reading_law(z, a)
            if silence not in law and law != model.reading_law(n, a):
                return (*word, a)
            if after not in seen and after[0] != after[1]:
                seen.add(after)
                queue.append((after, (*word, a)))
    return ()
