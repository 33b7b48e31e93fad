"""The hardest pair of a question, and why: what tells the two apart, where, and how quickly at best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from ascertain.bounds.divergence import relative_entropy, round_up
from ascertain.bounds.information import PairwiseBound
from ascertain.bounds.pairs import PairBound
from ascertain.planning.factors import Factors
from ascertain.task.canonical import fraction_text
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task


@final
@dataclass(frozen=True)
class HardestPair:
    """Two states that the plant may be in, and the sentence that says why they are hard to tell apart."""

    states: tuple[str, str]
    labels: tuple[str, str]
    why: str
    action: str | None = None
    readings: tuple[tuple[str, Fraction, Fraction], ...] = ()
    """What may be read there, and how probable it is for the one and for the other."""
    rate: Fraction | None = None
    """Nats for each unit of cost, rounded up."""

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "states": list(self.states),
            "labels": list(self.labels),
            "action": self.action,
            "readings": [[name, str(p), str(q)] for name, p, q in self.readings],
            "rate": None if self.rate is None else str(round_up(self.rate, 30)),
            "why": self.why,
        }


def explain_information(task: Task, bound: PairwiseBound) -> HardestPair | None:
    """The pair of the pairwise bound; None where no pair bounds anything."""
    if bound.pair is None or bound.place is None:
        return None
    s, t, a = bound.place
    states, action = task.model.states, task.model.actions[a]
    law, other = task.model.reading_law(s, a), task.model.reading_law(t, a)
    none, names = Fraction(0), task.model.readings
    readings = tuple((names[y], law.get(y, none), other.get(y, none)) for y in sorted({*law, *other}))
    pair, labels = _describe(task, bound.pair)
    where = f"{action!r}" if (states[s], states[t]) == pair else f"{action!r} in {states[s]!r} against {states[t]!r}"
    return _explain(HardestPair(pair, labels, where, action, readings, bound.rate))


def explain_pairs(task: Task, bound: PairBound) -> HardestPair | None:
    """The pair that is farthest apart without noise; None where there is nothing to settle."""
    if bound.pair is None or bound.word is None:
        return None
    word = ", ".join(task.model.actions[a] for a in bound.word)
    why = f"nothing cheaper than {word} tells the two apart, which costs {fraction_text(bound.value)}"
    return HardestPair(*_describe(task, bound.pair), why)


def explain_factors(question: PlantTask, factors: Factors) -> HardestPair:
    """Two states that differ in one form, the dearest to read, and in nothing else that can be read."""
    i = max(range(len(factors.forms)), key=lambda k: (factors.costs[k], -k))
    pair = (factors.centre, factors.centre ^ factors.differences[i])
    plant, action, flip = question.model, question.model.actions[factors.actions[i]], factors.flip
    zero = ((0, 1 - flip), (1, flip))
    one = ((0, flip), (1, 1 - flip))
    laws = (one, zero) if factors.nominal[i] else (zero, one)
    entropy = relative_entropy(*laws)
    rate = None if entropy is None else entropy.high / factors.costs[i]
    readings = tuple((plant.readings[y], dict(laws[0])[y], dict(laws[1])[y]) for y in (0, 1))
    names = plant.name_state(pair[0]), plant.name_state(pair[1])
    labels = question.label_of(pair[0]), question.label_of(pair[1])
    return _explain(HardestPair(names, labels, f"{action!r}", action, readings, rate))


def _explain(pair: HardestPair) -> HardestPair:
    """The pair with its whole reason, of which it has where to ask."""
    seen = ", ".join(f"{name!r} with {p} against {q}" for name, p, q in pair.readings)
    speed = "without end" if pair.rate is None else f"{float(pair.rate):.4g} nats for each unit of cost"
    return replace(pair, why=f"{pair.why} tells the two apart best, {speed}: it reads {seen}")


def _describe(task: Task, pair: tuple[int, int]) -> tuple[tuple[str, str], tuple[str, str]]:
    """The names of the states of two hypotheses, and their labels."""
    (s, t), (k, m) = ([int(table[h]) for h in pair] for table in (task.state, task.label))
    return (task.model.states[s], task.model.states[t]), (task.labels[k], task.labels[m])
