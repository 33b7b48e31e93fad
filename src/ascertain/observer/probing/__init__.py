"""Probing rules: what to do next, one file a rule.

Any rule is valid: evidence is so for every choice that does not see future noise, and the observer offers a rule only
actions that are allowed. A rule decides only how long a run takes. To add one, write a module here with a `ProbingRule`
at its top, call `PROBING.register`, or declare an entry point in the group `ascertain.probing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from ascertain.errors import TaskError, did_you_mean
from ascertain.evidence.probing import AbstractRule
from ascertain.registry import Registry
from ascertain.task.question import AbstractQuestion


@final
@dataclass(frozen=True, eq=False)
class ProbingRule:
    """A rule by name, as problem files and the command line write it."""

    name: str
    help: str
    """What it does, in a few words."""
    make: Callable[[Any], AbstractRule]
    """The rule for a question that it serves."""
    serves: Callable[[AbstractQuestion], bool] = lambda _: True
    audience: str = "every question"
    """The questions that it serves, in words."""


PROBING: Registry[ProbingRule] = Registry(ProbingRule, __name__, "ascertain.probing", lambda rule: [rule.name])
"""Every probing rule by its name; those of this package stand in its modules."""


def find_rule(name: str, question: AbstractQuestion) -> ProbingRule:
    """The rule of that name, if there is one and it serves the question."""
    rule = PROBING.find(name)
    if rule is None:
        known = "; ".join(f"{rule.name} ({rule.help})" for rule in PROBING)
        raise TaskError(f"probing: {name!r} is not known{did_you_mean(name, PROBING.words())}; known are {known}")
    if not rule.serves(question):
        raise TaskError(f"probing: {name} is for {rule.audience}; use separating")
    return rule


def default_probing(question: AbstractQuestion) -> str:
    """The rule where none is named: look-ahead on a Boolean plant; else planned without noise, and separating with it.

    A run that is resumed keeps the rule that it was begun with, whatever the default was then.
    """
    if question.model.bits:
        return "look-ahead"
    return "planned" if question.model.is_exact else "separating"
