"""A product of independent tests: one after the other, each on a part of the plant of its own, and one answer.

A *factor* is a small task about one part and a policy for it, with the numbers that its actions and readings have in
the whole. The parts are independent when an action of one part moves and reads that part alone, and every combination
of the factors' hypotheses is a hypothesis of the whole: a register that is read bit by bit has a factor of two
hypotheses for each bit. The product runs the policies in order and abstains as soon as one of them does. It answers

- *which*: the combination of the factors' answers k0, k1, ..., as the number k0 + n0 (k1 + n1 (k2 + ...)), where ni is
  the number of labels of factor i (for bits, the state itself, the first factor the lowest bit); or
- *nominal or not*, where each factor has a nominal label: 0 when all factors answer theirs, and 1, at once, at the
  first that answers anything else.

`combination.py` evaluates products factor by factor.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import ModelError
from ascertain.policy.policy import Abstain, AbstractPolicy, Answer, Ask, Decision
from ascertain.task.task import Task
from ascertain.types import Action, Reading

ProductMemory: TypeAlias = tuple[int, Hashable, int]
"""(factor that is run, its memory, answer so far); past the last factor there is nothing left to remember."""
LOST: ProductMemory = (-1, None, 0)
"""After a reading that the factor which was run does not know."""


@final
@dataclass(frozen=True)
class Factor:
    """A test of one part: `actions[a]` and `readings[y]` are the numbers of its actions and readings in the whole."""

    task: Task
    policy: AbstractPolicy[Any]
    actions: tuple[Action, ...]
    readings: tuple[Reading, ...]
    nominal: int | None = None
    """The label that is nominal, for a product that asks whether all are."""

    def __post_init__(self) -> None:
        model = self.task.model
        if len(self.actions) != model.num_actions or len(self.readings) != len(model.readings):
            raise ModelError("a factor needs the number, in the whole, of each of its actions and of its readings")
        if len(set(self.actions)) < len(self.actions) or len(set(self.readings)) < len(self.readings):
            raise ModelError("two actions or two readings of a factor have the same number in the whole")
        if self.nominal is not None and not 0 <= self.nominal < len(self.task.labels):
            raise ModelError(f"the nominal label of a factor is {self.nominal}; it has {len(self.task.labels)} labels")


@final
@dataclass(frozen=True)
class Product(Shown):
    """The factors in the order in which they are run; asks *nominal or not* when they have nominal labels."""

    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        if not self.factors:
            raise ModelError("a product needs at least one factor")
        if len({factor.nominal is None for factor in self.factors}) > 1:
            raise ModelError("either every factor of a product has a nominal label, or none has")
        if self.asks_nominal and any(factor.task.state_label is not None for factor in self.factors):
            raise ModelError("a product that asks nominal or not is about the start, which does not move")
        used = [a for factor in self.factors for a in factor.actions]
        if len(set(used)) < len(used):
            raise ModelError("two factors of a product share an action; independent tests have actions of their own")

    def shown(self) -> Mapping[str, object]:
        return {"factors": len(self.factors), "asks": "nominal or not" if self.asks_nominal else "which"}

    def listing(self) -> Listing:
        return ("test", "policy"), [(i, repr(factor.policy)) for i, factor in enumerate(self.factors)]

    @property
    def asks_nominal(self) -> bool:
        return self.factors[0].nominal is not None

    def start(self) -> ProductMemory:
        return self._settle(0, self.factors[0].policy.start(), 0)

    def decide(self, memory: ProductMemory) -> Decision:
        i, inner, answer = memory
        if memory == LOST:
            return Abstain("none of these: a reading that the test does not know")
        if i == len(self.factors):
            return Answer(answer)
        decision = self.factors[i].policy.decide(inner)
        if isinstance(decision, Ask):
            return Ask(self.factors[i].actions[decision.action])
        assert isinstance(decision, Abstain)
        return Abstain(f"test {i}: {decision.reason}")

    def next(self, memory: ProductMemory, reading: Reading) -> ProductMemory:
        i, inner, answer = memory
        factor = self.factors[i]
        if memory == LOST or reading not in factor.readings:
            return LOST
        return self._settle(i, factor.policy.next(inner, factor.readings.index(reading)), answer)

    def _settle(self, i: int, inner: Hashable, answer: int) -> ProductMemory:
        """The memory once every test that has answered is left behind."""
        while isinstance(decision := self.factors[i].policy.decide(inner), Answer):
            factor = self.factors[i]
            if self.asks_nominal:
                if decision.label != factor.nominal:
                    return len(self.factors), None, 1
            else:
                answer += decision.label * prod(len(f.task.labels) for f in self.factors[:i])
            i += 1
            if i == len(self.factors):
                return i, None, answer
            inner = self.factors[i].policy.start()
        return i, inner, answer
