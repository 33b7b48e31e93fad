"""Inspect: what a model or a problem is, before anything is spent on it.

model -> its size, what is missing in it, what can never happen; question -> quotient -> obstruction
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ascertain.drawing.flowchart import MOST_STATES, draw_flowchart
from ascertain.errors import LimitError
from ascertain.model import checks
from ascertain.model.abstract import AbstractModel
from ascertain.model.files import NotAModel, made_of, read_with_notes
from ascertain.model.hidden import HiddenModel
from ascertain.problem.problem import Problem, read_any_problem
from ascertain.quotients.abstract import AbstractQuotient
from ascertain.quotients.hidden import HiddenQuotient, group_states
from ascertain.quotients.obstruction import Obstruction, find_obstruction
from ascertain.quotients.quotient import take_quotient
from ascertain.quotients.refinement import refine

NAMED = 20
"""Stuck states and missing transitions that are named: enough to see what they have in common."""


@final
@dataclass(frozen=True, eq=False)
class Inspected:
    """What a model or a problem is."""

    about_model: Mapping[str, Any]
    """What is known of the model, by name."""
    quotient: AbstractQuotient | None = None
    """Of a problem's question."""
    obstruction: Obstruction | None = None
    """Two hypotheses that no experiment tells apart, if there are such."""
    notes: tuple[str, ...] = ()
    """What was not used, changed or decided in reading the file."""

    @property
    def flowchart(self) -> str | None:
        """The model of a problem as Mermaid text, what cannot be told apart in one colour; None where it is large."""
        if self.quotient is None:
            return None
        model = self.quotient.task.model
        return draw_flowchart(model.states, model.named_arrows(MOST_STATES), self.quotient.block.tolist())

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `inspect --json` prints."""
        question = {} if self.quotient is None else _question_facts(self.quotient, self.obstruction)
        return {**self.about_model, **question, "notes": list(self.notes)}


def inspect(what: AbstractModel | Problem | str | Path) -> Inspected:
    """Look at a model, a problem, or the file of one of them."""
    facts: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    if isinstance(what, str | Path):
        try:
            read = read_with_notes(what)
            what, facts, notes = made_of(read.model, str(what)), read.facts, read.notes
        except NotAModel as problem:
            what = read_any_problem(what, problem.text)
    if isinstance(what, Problem):  # a problem holds a model and a question, and both are looked at
        quotient = take_quotient(what.listed_question)
        obstruction = find_obstruction(what.listed_question)
        return Inspected(_model_facts(quotient.task.model), quotient, obstruction, what.notes)
    classes, remarks = _class_facts(what)
    return Inspected({**_model_facts(what), **classes, **facts}, notes=(*notes, *remarks))


def _model_facts(model: AbstractModel) -> dict[str, Any]:
    """The size of a model, what is missing in it and what in it can never happen."""
    listed = model.listed
    if listed is None:  # its states are too many to look at
        return model.size_facts()
    stuck = checks.stuck_states(listed)
    return {
        **model.size_facts(),
        "missing_transitions": checks.count_missing(listed),
        "first_missing": [[listed.states[s], model.actions[a]] for s, a in checks.list_missing(listed, NAMED)],
        "unreachable_states": len(checks.unreachable_states(listed)),
        "useless_actions": [model.actions[a] for a in checks.useless_actions(listed)],
        "stuck_states": len(stuck),
        "first_stuck": [listed.states[s] for s in stuck[:NAMED]],
        "laws_sum_to_one": not checks.unsound_laws(listed),
        "strongly_connected": checks.is_strongly_connected(listed),
    }


def _class_facts(model: AbstractModel) -> tuple[dict[str, Any], tuple[str, ...]]:
    """How many classes of states no experiment tells apart, and remarks; nothing of a plant that is not enumerated."""
    if model.listed is None:
        return {}, ()
    if not isinstance(model, HiddenModel):  # whose classes are found by linear algebra, not by refinement
        return {"classes": refine(model.as_machine()).num_classes}, ()
    try:
        block, span, _ = group_states(model)
    except LimitError as reason:
        return {"dimension": None, "classes": None}, (f"classes are not computed: {reason}",)
    return {"dimension": span.dimension, "classes": len(set(block))}, ()


def _question_facts(quotient: AbstractQuotient, obstruction: Obstruction | None) -> dict[str, Any]:
    task = quotient.task
    return {
        "hypotheses": task.num_hypotheses,
        "labels": len(task.labels),
        "about": task.about,
        "alpha": str(task.alpha),
        "beta": str(task.beta),
        **({"dimension": quotient.span.dimension} if isinstance(quotient, HiddenQuotient) else {}),
        "state_classes": quotient.num_classes,
        "classes": quotient.reduced.num_hypotheses,
        "obstructed": obstruction is not None,
        "obstruction": None if obstruction is None else _obstruction_facts(obstruction),
    }


def _obstruction_facts(obstruction: Obstruction) -> dict[str, Any]:
    return {
        "pair": list(obstruction.names),
        "labels": list(obstruction.labels),
        "pairs": obstruction.num_pairs,
        "reason": obstruction.reason,
        "sentence": obstruction.sentence,
        "coarsening": [list(group) for group in obstruction.groups],
    }
