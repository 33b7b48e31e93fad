"""What `inspect`, `quotient` and `observe` say about hidden models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascertain.model.hidden import HiddenModel
    from ascertain.quotients.hidden import HiddenQuotient
    from ascertain.quotients.obstruction import Obstruction

SHOWN = 100
"""Separating words are listed for all pairs of at most this many classes."""


def hidden_facts(model: HiddenModel) -> dict[str, Any]:
    """A hidden model as `inspect` shows it, without its classes."""
    from ascertain.cli.show.model_facts import model_facts

    initial = [model.belief_text(belief) for belief in model.initial]
    return {**model_facts(model, initial), "probabilities": model.num_entries}


def class_facts(model: HiddenModel) -> dict[str, Any]:
    """The dimension of the word vectors and the classes of states; null where the model is too large for that."""
    from ascertain.errors import LimitError
    from ascertain.quotients.hidden import group_states

    try:
        block, dimension = group_states(model)
    except LimitError as reason:
        return {"dimension": None, "classes": None, "notes": [f"classes are not computed: {reason}"]}
    return {"dimension": dimension, "classes": len(set(block)), "notes": []}


def task_facts(quotient: HiddenQuotient, obstruction: Obstruction | None) -> dict[str, Any]:
    """A problem about a hidden model as `inspect` shows it."""
    task = quotient.task
    return {
        **hidden_facts(task.model),
        "hypotheses": task.num_hypotheses,
        "labels": len(task.labels),
        "about": task.about,
        "alpha": str(task.alpha),
        "beta": str(task.beta),
        "dimension": quotient.span.dimension,
        "state_classes": quotient.num_classes,
        "classes": quotient.reduced.num_hypotheses,
        "obstructed": obstruction is not None,
        "obstruction": None if obstruction is None else obstruction_facts(obstruction),
    }


def obstruction_facts(obstruction: Obstruction) -> dict[str, Any]:
    """An obstruction as JSON, whatever kind of question it is about."""
    return {
        "pair": list(obstruction.names),
        "labels": list(obstruction.labels),
        "pairs": obstruction.num_pairs,
        "reason": obstruction.reason,
        "sentence": obstruction.sentence,
        "coarsening": [list(group) for group in obstruction.groups],
    }


def quotient_facts(quotient: HiddenQuotient) -> dict[str, Any]:
    """The quotient of a hidden problem as JSON."""
    task, reduced = quotient.task, quotient.reduced
    return {
        "certified": True,
        "states": task.model.num_states,
        "dimension": quotient.span.dimension,
        "state_classes": quotient.num_classes,
        "hypotheses": task.num_hypotheses,
        "classes": [
            {"label": reduced.labels[reduced.label[g]], "members": members}
            for g, members in enumerate(quotient.class_names)
        ],
        "block": quotient.block.tolist(),
        "separating": _words(quotient),
    }


def _words(quotient: HiddenQuotient) -> list[dict[str, Any]] | None:
    """A separating word for every pair of state classes, null where only availability differs; None when too many."""
    if quotient.num_classes > SHOWN:
        return None
    return [{"pair": [p, q], "word": word} for (p, q), word in quotient.named_words()]


def print_quotient(problem: Path, quotient: HiddenQuotient) -> None:
    """The classes of hypotheses as a table."""
    from ascertain.cli.show.output import print_line, print_table, shorten

    task, reduced = quotient.task, quotient.reduced
    rows = [
        (g, reduced.labels[reduced.label[g]], len(members), shorten(members))
        for g, members in enumerate(quotient.class_names)
    ]
    print_table(f"{problem}: classes of hypotheses", rows[:200], ("class", "label", "size", "members"))
    if len(rows) > 200:
        print_line(f"and {len(rows) - 200} more classes; --json lists them all")
    print_line(f"{task.num_hypotheses} hypotheses in {reduced.num_hypotheses} classes,")
    print_line(
        f"{task.model.num_states} states of the hidden model in {quotient.num_classes} classes; word probabilities "
        f"span {quotient.span.dimension} dimensions."
    )
