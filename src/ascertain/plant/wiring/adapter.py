"""The contract of adapters: what speaks a transport connects, closes and does one step at a time.

An adapter does not decide what a fault means for the run. It says what it knows, by raising one of these faults of
`ascertain.plant.faults`:

    NotSent     the step surely did not reach the plant: nobody listens, the connection was gone before
    Late        it was sent, and no answer came within the time given
    HungUp      it was sent, and the connection ended before the answer came
    InDoubt     the plant answered, and it does not follow whether the step was done (such as HTTP 500)
    Refused     the plant answered that it did not do it
    Garbled     an answer that is none in this transport
    Restarted   the plant is there, and no longer where it was

`plant.py` makes of these what a session hears, from what the step does and what the wiring file says. Anything else
that is raised ends the run as a plant fault.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, final

from ascertain.errors import FileError
from ascertain.plant.faults import Restarted

Types: TypeAlias = tuple[type, ...]
"""The types that a value in the file may have, of str, int, float, bool, list and dict."""
TEXT: Types = (str,)
"""A text."""
NUMBER: Types = (int, float)
"""A number, whole or not."""
SCALAR: Types = (str, int, float, bool)
"""Any single value."""


@final
@dataclass(frozen=True)
class StepForm:
    """What a step of one verb looks like in the file, and what it does."""

    changes: bool
    """Whether it may change the plant, so that it must not be done twice by accident."""
    gives: bool
    """Whether it gives a value."""
    told: Types = TEXT
    """What stands after the verb."""
    keys: Mapping[str, Types] = field(default_factory=dict[str, Types])
    """Further keys of the step."""
    needs: tuple[str, ...] = ()
    """Those of them that must be there."""


@final
@dataclass(frozen=True)
class Step:
    """One step of an action: `{ write = "ns=2;s=V1", value = true }` has the verb write, told "ns=2;s=V1"."""

    verb: str
    told: Any
    words: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The further keys."""
    changes: bool = False
    gives: bool = False

    def __str__(self) -> str:
        rest = "".join(f", {key} {value!r}" for key, value in self.words.items())
        return f"{self.verb} {self.told}{rest}"


@final
@dataclass(frozen=True)
class AdapterSettings:
    """What an adapter is made with: what [plant] says."""

    address: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the file says of the adapter's own `options`, checked for their types."""
    folder: Path = Path()
    """Where the wiring file is: names of files are meant from there."""
    run: str = "0"
    """Names the run to a plant that remembers runs."""
    steps: tuple[Step, ...] = ()
    """All steps of the file, for what must be ready before one of them is done (subscriptions)."""


class AbstractAdapter(ABC):
    """Speaks one transport. Made without touching the plant; a TaskError says what is wrong with the settings."""

    steps: ClassVar[Mapping[str, StepForm]]
    """The verbs it understands: of write, read, query, publish, request and wait. Pauses (`wait = 0.2`) are not its
    concern: a number after `wait` is waited for by the core."""
    options: ClassVar[Mapping[str, Types]] = {}
    """Its own keys of [plant]."""
    by_name: ClassVar[bool] = False
    """Whether the plant knows actions by their names: then an action without steps is `query` with its name, and a file
    without actions stands for all of them."""
    single: ClassVar[bool] = False
    """Whether an action is one step, as where the plant itself counts actions."""
    numbered: ClassVar[bool] = False
    """Whether a late answer is recognised as such. Otherwise the core closes and connects again after `Late`, so that
    it is never taken for the answer to the next step; `connect` then begins with nothing left to be read."""
    keeps_state: ClassVar[bool] = True
    """Whether a plant that is connected to again can be where it was; not where connecting starts it."""
    remembers: bool = False
    """Whether the plant answers a step again without doing it twice; may be set by `connect`."""

    def __init__(self, settings: AdapterSettings) -> None:
        self.settings = settings

    @classmethod
    def check(cls, step: Step) -> Step:
        """The step, whose verb and keys are known to be right, as `do` wants it; a TaskError says what is wrong.

        Here a step may turn out not to change anything (HTTP GET).
        """
        return step

    @abstractmethod
    def connect(self, timeout: float) -> str | None:
        """Reach the plant; what it says it is, where the transport has such a thing. Called again after `close`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection; also of one that is broken or was never made."""

    @abstractmethod
    def do(self, step: Step, timeout: float) -> object:
        """Do one step within so many seconds. Its value, if it gives one, is text, a number, a truth value or None."""

    def begin(self) -> None:  # noqa: B027  most steps stand alone
        """An action begins: none of its steps is done yet."""

    def repeat(self, step: Step, timeout: float) -> object:
        """Do the step that failed last once more; only for plants that remember is this something else."""
        return self.do(step, timeout)

    def resume(self, steps: Sequence[Step], confirmed: int) -> None:
        """Take up a run in which these steps were done, the first `confirmed` of them surely."""
        if steps and not self.keeps_state:
            raise Restarted("the plant was started anew, so it is not where it was; the run cannot go on")

    def skip(self, step: Step) -> None:  # noqa: B027  most plants do not count
        """The step was meant to be sent, and nobody knows whether it was: whatever is counted goes past it."""

    @classmethod
    def template(cls) -> str:
        """A commented wiring file to start from: beside the adapter's own file, with the suffix `.toml`."""
        path = Path(inspect.getfile(cls)).with_suffix(".toml")
        if not path.is_file():
            raise FileError(f"{path}: the adapter {cls.__name__} has no template; write the wiring file by hand")
        return path.read_text(encoding="utf-8")
