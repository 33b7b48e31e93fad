"""What evidence is made of, by the kind of question: its world, the trigger that watches the nominal, and the rule that
separates best.

The function that is decorated first serves questions about machines; another kind of question registers its own.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any

from ascertain.evidence.belief_probing import SeparatingBeliefs
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Doubts
from ascertain.evidence.hidden_world import HiddenWorld
from ascertain.evidence.labelling import labelling_of
from ascertain.evidence.probing import AbstractRule, Separating
from ascertain.evidence.trigger import AbstractTrigger, BeliefTrigger, Trigger
from ascertain.evidence.worlds import AbstractWorld, ListWorld
from ascertain.task.bank import Bank, EvenBank, listed_bank
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task


@singledispatch
def make_world(question: Task, bank: Bank | EvenBank, alpha: Fraction, doubts: Doubts) -> AbstractWorld:
    """The question's world, with nothing beaten, and a bank to be scored at a risk."""
    labelling = labelling_of(question)
    return ListWorld(question.model, question.candidates, listed_bank(bank), alpha, labelling=labelling, doubts=doubts)


@make_world.register
def _(question: PlantTask, bank: Bank | EvenBank, alpha: Fraction, doubts: Doubts) -> AbstractWorld:
    labelling = labelling_of(question)
    if question.states is not None:
        return ListWorld(question.model, question.states, listed_bank(bank), alpha, labelling=labelling, doubts=doubts)
    return BooleanWorld(question.model, bank, alpha, labelling=labelling, doubts=doubts)


@make_world.register
def _(question: HiddenTask, bank: Bank | EvenBank, alpha: Fraction, doubts: Doubts) -> AbstractWorld:
    labelling = labelling_of(question)
    return HiddenWorld(question.model, question.belief, listed_bank(bank), alpha, labelling=labelling, doubts=doubts)


@singledispatch
def make_trigger(question: Task | PlantTask, nominal: int, doubts: Doubts) -> AbstractTrigger[Any]:
    """The trigger of a run whose nominal is this candidate."""
    return Trigger(question.model, nominal, doubts=doubts)


@make_trigger.register
def _(question: HiddenTask, nominal: int, doubts: Doubts) -> AbstractTrigger[Any]:
    return BeliefTrigger(question.model, question.belief[nominal], doubts=doubts)


@singledispatch
def make_separating(question: Task | PlantTask) -> AbstractRule:
    """The rule that takes the action which tells the leading candidate best from its rivals, per unit of cost."""
    return Separating(question.model, question.actions, tuple(question.cost[a] for a in question.actions))


@make_separating.register
def _(question: HiddenTask) -> AbstractRule:
    return SeparatingBeliefs(question.model, question.cost)
