"""What a session needs of an observer: what to do next, what came of it, how it ended, and what people may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Protocol

from ascertain.drawing.shown import Listing
from ascertain.evidence.evidence import Step
from ascertain.model.abstract import AbstractModel
from ascertain.observer.counters import Counters
from ascertain.observer.staged import Advice, View
from ascertain.observer.stages import Acceptance, Event
from ascertain.policy.verdict import Verdict
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action, Reading


class AbstractSettings(Protocol):
    """What is fixed before the first fresh reading."""

    @property
    def question(self) -> AbstractQuestion: ...

    @property
    def model(self) -> AbstractModel: ...

    @property
    def alpha(self) -> Fraction: ...

    @property
    def misfit(self) -> Fraction:
        """The risk of a false alarm that no state explains the readings; 0 where nothing looks for it."""
        ...

    @property
    def silence(self) -> Reading | None:
        """The reading that is taken as missing; None where there is none."""
        ...

    @property
    def policy(self) -> str: ...

    def shown(self) -> Mapping[str, object]:
        """A few short facts by name."""
        ...

    def settings_data(self) -> dict[str, Any]:
        """As plain data, for the commitment."""
        ...


class AbstractObserver(Protocol):
    """The interface of every observer; a step returns a new one."""

    @property
    def settings(self) -> AbstractSettings: ...

    @property
    def stage(self) -> str: ...

    @property
    def events(self) -> tuple[Event, ...]: ...

    @property
    def counters(self) -> Counters: ...

    @property
    def verdict(self) -> Verdict | None: ...

    @property
    def acceptance(self) -> Acceptance | None: ...

    @property
    def transcript(self) -> tuple[Step, ...]: ...

    @property
    def view(self) -> View: ...

    def listing(self) -> Listing: ...

    def history(self) -> Iterator[tuple[Step, View]]: ...

    def next(self) -> Advice: ...

    def why(self, action: Action) -> str:
        """Why this action is the next one, for people."""
        ...

    def update(self, action: Action, reading: Reading | None) -> AbstractObserver: ...

    def doubt(self, action: Action) -> AbstractObserver: ...

    def outside(self, action: Action, reading: str) -> AbstractObserver: ...

    def fail(self, reason: str, ran: Action | None = None) -> AbstractObserver: ...
