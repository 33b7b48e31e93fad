"""What a claim is to the checker: its name, the kinds of models it is about, and the function that checks it.

A file in `claims/` is all that a new claim takes. Its function takes the task and the claim, raises Refuted or
Malformed, or returns the sentence that it has proved, and registers itself:

    @register("obstruction", about=("machine", "noisy"))
    def check_obstruction(task: Task, claim: Object) -> str: ...

`about` lists kinds of models as task files name them. A claim about a task with a model of another kind is refuted
before its function is called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ascertain_check.question import Question
from ascertain_check.reading import Object
from ascertain_check.verdicts import Refuted

Check = TypeVar("Check", bound=Callable[[Any, Object], str])

REFUSALS = {
    "machine": "models with noise; this task has a machine without",
    "noisy": "machines without noise; this task has a noisy one",
    "boolean": "models whose states are listed; this task has a Boolean plant",
    "hidden": "models whose transitions are certain; this task has a hidden one",
}
"""By kind of model: what a claim that excludes it is about, and what it was given instead."""
LISTED = ("machine", "noisy")
"""Models whose states are listed and whose transitions are certain."""


@dataclass(frozen=True)
class Claim:
    """A claim that the checker knows; `trusted` lists what it cannot prove and has to take on trust, if anything."""

    name: str
    about: tuple[str, ...]
    check: Callable[[Any, Object], str]
    trusted: tuple[str, ...]

    def prove(self, task: Question, claim: Object) -> str:
        """The sentence that the claim proves about the task."""
        if task.kind not in self.about:
            raise Refuted(f"the claim {self.name!a} is about {REFUSALS[task.kind]}")
        return self.check(task, claim)


CLAIMS: dict[str, Claim] = {}
"""Every claim that was registered, by its name; `ascertain_check.claims` registers those of this package."""


def register(name: str, about: tuple[str, ...], trusted: tuple[str, ...] = ()) -> Callable[[Check], Check]:
    """Decorate the function that checks the claim called `name`."""

    def add(check: Check) -> Check:
        if name in CLAIMS:
            raise ValueError(f"there is a claim {name!a} already")
        CLAIMS[name] = Claim(name, about, check, trusted)
        return check

    return add
