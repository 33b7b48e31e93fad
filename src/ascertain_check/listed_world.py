"""The evidence of a run against every hypothesis of a machine, with noise or without.

Hypotheses with the label in question are told from rivals once and for all (in a task about the current state, at the
end). Then only where a hypothesis is and its product matter; one whose product is 0 is beaten. Of several rivals in one
state the one with the largest product is beaten last, at every moment from then on, because they share the future:
keeping it alone is exact. So is keeping both cases of an action that may not have run, each where it is, since a rival
is beaten when all its cases are.

An action may be done only if every hypothesis that is not beaten allows it where it is. Before the first scored step
none is beaten.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ascertain_check.evidence import Bar, Stage, Step, check_effort, common_denominator, need_answer, raise_bar
from ascertain_check.task import Law, Task, predicted
from ascertain_check.verdicts import Malformed, Refuted

Products: TypeAlias = dict[int, int]
"""By state the largest product of the hypotheses that are there."""


def check_listed(task: Task, label: str, stage: Stage, steps: list[Step]) -> None:
    """Refuted unless this is the answer that the evidence allows."""
    if label not in task.labels:
        raise Malformed("the label is not one of the task's")
    scale = common_denominator((p for law in score_laws(task) for _, p in law), "the laws")
    check_effort(len(task.hypotheses), stage, steps, scale)
    k = task.labels.index(label)
    world = Filter(task, tabulate(task, scale))
    rivals = {s: 1 for h, s in task.hypotheses if task.current is None and h != k}
    others = {s: 1 for h, s in task.hypotheses if task.current is not None or h == k}
    for i, bar in enumerate(raise_bar(world.move, stage, steps)):
        if bar.total == 0:
            raise Refuted("no candidate of the bank explains the readings")
        reading = stage.scored(steps, i)
        rivals, others = (beat(world.follow(part, steps[i], reading), bar) for part in (rivals, others))
    if task.current is not None:
        rivals = {s: n for s, n in others.items() if task.current[s] != k}
    named = f"one that is now in state {min(rivals)}" if rivals else None
    need_answer(named, bool(others))


def beat(products: Products, bar: Bar) -> Products:
    """What is left."""
    return {s: n for s, n in products.items() if n * bar.factor > bar.limit}


def tabulate(task: Task, scale: int) -> list[dict[int, int]]:
    """For every behaviour what is read, with which probability, or what that counts, times scale."""
    if not task.noisy:
        return [{y: 1} for y in range(task.num_readings)]
    return [{y: int(p * scale) for y, p in law} for law in score_laws(task)]


def score_laws(task: Task) -> list[Law]:
    """What each reading counts: its probability where laws are exact. Only ratios at one reading matter.

    Under a bound f what is predicted counts 1 - f and all else f. If readings may be lost too, with l the bound on that
    and m = (1-f)(1-l), what is predicted counts 1 and all else f/m, but silence (1-m)/(1-f) where it is not predicted.
    The factor of one state against another has then a mean of at most 1 under the other, whatever errors turn into and
    losses depend on. Where an action can give one reading only, it counts 1.
    """
    f, lost = task.at_most, task.lost
    if f is None:
        return task.laws
    silence, loss = lost or (None, Fraction(0))
    m = (1 - f) * (1 - loss)
    right, wrong, silent = (1 - f, f, f) if lost is None else (Fraction(1), f / m, (1 - m) / (1 - f))
    found: list[Law] = []
    for law in task.laws:
        shown = predicted(law, f, lost) if len(law) > 1 else None
        other = {y: Fraction(1) if len(law) == 1 else silent if y == silence else wrong for y, _ in law}
        found.append(tuple((y, right if y == shown else other[y]) for y, _ in law))
    return found


class Filter:
    """Moves hypotheses on; `chances[b]` is what is read where the behaviour is b."""

    def __init__(self, task: Task, chances: list[dict[int, int]]) -> None:
        self.task, self.chances = task, chances
        self.columns: dict[int, list[tuple[int, dict[int, int]] | None]] = {}

    def column(self, a: int) -> list[tuple[int, dict[int, int]] | None]:
        """For every state where the action leads and what is read; made once for each action that was done."""
        if a not in self.columns:
            rows = zip(self.task.successor, self.task.behaviour, strict=True)
            pairs = ((row[a], laws[a]) for row, laws in rows)
            self.columns[a] = [None if t is None or b is None else (t, self.chances[b]) for t, b in pairs]
        return self.columns[a]

    def move(self, s: int, a: int) -> tuple[int, dict[int, int]] | None:
        return self.column(a)[s]

    def follow(self, products: Products, step: Step, reading: int | None) -> Products:
        """Where hypotheses are after the step, with their products."""
        after: Products = {}
        column = self.column(step.action)
        for s, n in products.items():
            moved = column[s]
            if moved is None:
                raise Refuted(f"action {step.action} was done while a hypothesis in state {s}, not beaten, forbids it")
            target, chance = moved
            product = n if reading is None else n * chance.get(reading, 0)
            if product > after.get(target, 0):
                after[target] = product
            if not step.certain and n > after.get(s, 0):
                after[s] = n
        return after
