"""What a person sees of a running session: what came of the last action, and which comes next and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from ascertain.live.faults import Heard
from ascertain.observer.kinds import AnyObserver
from ascertain.observer.staged import View
from ascertain.policy.verdict import Abstained
from ascertain.types import Action

_SILENT = {"reading": "silence, no evidence"}
"""How a reading is shown that is taken as missing."""


@final
@dataclass(frozen=True)
class Moment:
    """A running session as a person may watch it: what came of the last action, and how far the evidence has come."""

    last: str | None
    """None before the first action."""
    view: View
    faults: tuple[str, ...] = ()
    """What was met at the last action, mended or not."""


@final
@dataclass(frozen=True)
class Proposal:
    """The action that is to be sent next."""

    action: str
    why: str
    readings: tuple[str, ...]
    """What the model can show then."""


Watch: TypeAlias = Callable[[Moment], None]


def look_at(observer: AnyObserver, heard: Heard | None) -> Moment:
    """What is shown of a step."""
    if heard is None:
        return Moment(None, observer.view)
    faults = tuple(str(fault) for fault in heard.faults)
    if heard.outcome == "cut short" and isinstance(observer.verdict, Abstained):
        return Moment(observer.verdict.reason, observer.view)
    if heard.outcome in ("failure", "cut short"):
        return Moment(f"the plant: {faults[0]}", observer.view, faults)
    model, last = observer.settings.model, observer.transcript[-1]
    read = None if last.reading is None else model.readings[last.reading]
    result = read or heard.text or _SILENT.get(heard.outcome, heard.outcome)
    return Moment(f"{model.actions[last.action]} -> {result}", observer.view, faults)


def explain_proposal(observer: AnyObserver, action: Action) -> Proposal:
    """What a person is asked to approve."""
    model = observer.settings.model
    readings = tuple(model.readings[y] for y in model.possible_readings(action))
    return Proposal(model.actions[action], observer.why(action), readings)
