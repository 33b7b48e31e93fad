"""When a run leaves its nominal: the switch is computed again, since a switch placed afterwards could choose readings.

The *trigger* is a second e-process, against the nominal alone, that asks whether something fits better:

    T = sum over q of 1/5 * product over readings of ((1 - q) + q u(y) / K(y)),    q in 1/16, 1/8, 1/4, 1/2, 1,

where K(y) is the probability that the nominal, led through all that was done and read, gives to the reading y, and u
is uniform over the readings that the action gives in some state. T is infinite once K(y) was 0. After an action that
may not have run, T is the least over all cases. The nominal stage ends, and the bank is compiled, at the first moment

- with T > 1 + threshold (not with the policy staged), or T >= 1 / rejection;
- after `nominal_budget` steps, if there is such a limit and a bank; or
- when no action is allowed any more. After such a switch a policy that scores fresh readings has no answer left to
  give: all that forbids an action still does. Elsewhere every reading is scored, before or after, so that it does not
  matter to the risk when the switch was: there it is only asked that the model can run out of actions.

So the switch is a stopping time: it depends on what was read before it and on the settings, and on nothing else. A run
that answers in the nominal stage may meet the conditions at its last step, where the answer came first.

In integers: with K = k/n and m readings a factor is ((16 - j) k m + j n) / (16 k m), q = j/16.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TypeAlias

from ascertain_check.chain import Commitment, Story
from ascertain_check.encounters import law_at
from ascertain_check.evidence import Step, common_denominator
from ascertain_check.hidden_task import HiddenTask
from ascertain_check.plant_task import PlantTask
from ascertain_check.plant_world import move_one
from ascertain_check.question import Question
from ascertain_check.verdicts import Refuted
from ascertain_check.work import KEEP, spend

SIXTEENTHS = (1, 2, 4, 8, 16)
"""16 q."""
Place: TypeAlias = tuple[tuple[int, int], ...]
"""Where the nominal may be: states with what they weigh. One state, but on a hidden model."""


@dataclass(frozen=True)
class Case:
    """The nominal in one case of the doubted actions; 5 T is the sum of the products over `below`, None: infinite."""

    place: Place
    products: tuple[int, ...] | None
    below: int


def check_switch(task: Question, story: Story) -> None:
    """Refuted unless the bank was compiled just when the settings say."""
    commitment, steps = story.commitment, story.steps
    if len(steps) > commitment.budget:
        raise Refuted(f"the run has more actions than its budget of {commitment.budget}")
    if commitment.policy == "eager":
        return
    last = len(steps) if story.switched is None else story.switched
    due = False
    for i, cases in enumerate(watch(task, commitment, steps[:last])):
        due = is_due(commitment, i, cases)
        if due and i < last:
            raise Refuted(f"by the settings the nominal stage ends after step {i}, and the records go on with it")
    if story.switched is not None and not due and not may_run_out(task, commitment):
        raise Refuted(f"by the settings the nominal stage does not end after step {last}, where the bank was compiled")


def is_due(commitment: Commitment, num_steps: int, cases: list[Case]) -> bool:
    """Whether the nominal stage has to end after so many steps."""
    limit = commitment.nominal_budget
    if limit is not None and commitment.bank is not None and num_steps >= limit:
        return True
    readwise = commitment.policy != "staged" and all(exceeds(case, 1 + commitment.threshold) for case in cases)
    return readwise or all(reaches(case, 1 / commitment.rejection) for case in cases)


def may_run_out(task: Question, commitment: Commitment) -> bool:
    """Whether there may be no action left, where that does not matter to what is scored."""
    if not (commitment.mixes or isinstance(task, HiddenTask)):
        return False
    if commitment.limits:
        return True
    if isinstance(task, PlantTask):
        return bool(task.never)
    return any(None in row for row in (task.law if isinstance(task, HiddenTask) else task.successor))


def exceeds(case: Case, bound: Fraction) -> bool:
    """Whether T > bound."""
    return case.products is None or sum(case.products) * bound.denominator > 5 * bound.numerator * case.below


def reaches(case: Case, bound: Fraction) -> bool:
    """Whether T >= bound."""
    return case.products is None or sum(case.products) * bound.denominator >= 5 * bound.numerator * case.below


def watch(task: Question, commitment: Commitment, steps: list[Step]) -> Iterator[list[Case]]:
    """The cases before the first step and after each."""
    assert commitment.nominal is not None
    model = Model(task)
    cases = [Case(model.start(commitment.nominal), (1,) * len(SIXTEENTHS), 1)]
    yield cases
    for step in steps:
        moved = [follow(model, case, step) for case in cases]
        cases = list(dict.fromkeys(moved if step.certain else [*cases, *moved]))
        yield cases


def follow(model: Model, case: Case, step: Step) -> Case:
    """The case in which the action ran."""
    k, n, place = model.lead(case.place, step.action, step.reading)
    spend(KEEP + (case.below.bit_length() >> 6) * (1 + (n.bit_length() >> 7)))
    if step.reading is None:
        return Case(place, case.products, case.below)
    if k == 0 or case.products is None:
        return Case(place, None, 1)
    m = model.count_readings(step.action)
    products = tuple(x * ((16 - j) * k * m + j * n) for x, j in zip(case.products, SIXTEENTHS, strict=True))
    return Case(place, products, case.below * 16 * k * m)


def find_common(weights: Iterable[int]) -> int:
    """The greatest common divisor; it takes longer the longer both are that are divided."""
    common = 0
    for w in weights:
        spend(1 + (common.bit_length() * w.bit_length() >> 18))
        common = gcd(common, w)
    return common


class Model:
    """What the nominal does, whichever kind of model it is on."""

    def __init__(self, task: Question) -> None:
        self.task = task
        self.counts: dict[int, int] = {}

    def start(self, nominal: int) -> Place:
        if not isinstance(self.task, HiddenTask):
            return ((nominal, 1),)
        belief = self.task.beliefs[nominal]
        whole = common_denominator((p for _, p in belief), "the beliefs")
        return tuple((s, int(p * whole)) for s, p in belief)

    def lead(self, place: Place, action: int, reading: int | None) -> tuple[int, int, Place]:
        """K(reading) as k and n, and where the nominal may be after that; k = 0 where it cannot be read."""
        laws = [(w, self.entries(s, action)) for s, w in place]
        if not all(law for _, law in laws):
            raise Refuted(f"action {action} was done where the nominal does not allow it")
        scale = common_denominator((p for _, law in laws for _, _, p in law), "the laws")
        entries, longest = sum(len(law) for _, law in laws), max((w.bit_length() for w, _ in laws), default=0)
        spend(10 * entries + (entries * longest * scale.bit_length() >> 17))
        after: dict[int, int] = {}
        for w, law in laws:
            for t, y, p in law:
                if reading is None or y == reading:
                    after[t] = after.get(t, 0) + w * int(p * scale)
        shown, n = sum(after.values()), scale * sum(w for _, w in place)
        if not isinstance(self.task, HiddenTask):  # the reading tells nothing about where the action led
            return shown, n, ((laws[0][1][0][0], 1),)
        common = find_common(after.values())
        return shown, n, tuple((t, w // common) for t, w in after.items())

    def entries(self, s: int, action: int) -> Sequence[tuple[int, int, Fraction]]:
        """(next state, reading, probability) of an action in a state; none where it is not allowed."""
        task = self.task
        if isinstance(task, HiddenTask):
            return task.law_of(s, action)
        if isinstance(task, PlantTask):
            spend(10 * len(task.commands[action].gates))
            t, chance = move_one(task, s, action)
            return [(t, y, Fraction(p, task.flip.denominator)) for y, p in chance.items()]
        after = task.successor[s][action]
        return [] if after is None else [(after, y, p) for y, p in law_at(task, s, action) or ()]

    def count_readings(self, action: int) -> int:
        """How many readings the action gives, each in some state."""
        task = self.task
        if isinstance(task, PlantTask):
            return 2
        if action not in self.counts:
            table = task.law if isinstance(task, HiddenTask) else task.behaviour
            shown = {row[action] for row in table} - {None}
            spend(len(table) + sum(len(law) for law in task.laws))
            if task.kind != "machine":  # then these are laws, which name the reading last but one
                shown = {entry[-2] for number in shown if number is not None for entry in task.laws[number]}
            self.counts[action] = len(shown)
        return self.counts[action]
