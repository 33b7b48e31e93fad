"""What is done about a plant's faults: ask again where that is safe, else go on without the reading, else give up.

An action is sent; what comes of it is a reading, a reading *outside* the model (which shows that the plant is none of
its hypotheses), one that is *missing* (the action ran), an action *in doubt* (nobody knows whether it ran) or a
*failure*, which ends the run in an abstention, as does a deadline that has *cut* it *short*. `docs/plants.md` has the
table.

- A plant that is retry-safe is asked again, so many times, after every fault but these: a missing reading would be
  missing again, and nothing that a restarted or self-contradicting plant says later can be believed. Before each retry
  there is a pause, twice as long as the one before, so that a plant that is busy or restarting has time.
- Going on without a reading is right only when its loss had nothing to do with its value. That is assumed of an answer
  that is late or was lost on the way, and it is what the plant declares with `?` and `~`. It need not be so for an
  answer that arrived in a shape nobody understands: that is a failure, also after a retry that ends in silence.
- A refusal is a failure: an action that the observer believes allowed is one that the model allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Literal, TypeAlias, final

from ascertain.errors import PlantFault, TaskError
from ascertain.live.deadline import NO_DEADLINE, Deadline
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import ActionFault, Contradicted, Garbled, HalfDone, HungUp, InDoubt, Late, Missing, Refused
from ascertain.types import Reading

ActionOutcome: TypeAlias = Literal["reading", "outside", "missing", "doubt", "failure", "cut short"]
"""What comes of an action; the docstring above says what each means."""
WORTH_REPEATING = (Late, InDoubt, Refused, Garbled, HungUp, HalfDone)
"""The faults after which a plant that is retry-safe may give another answer."""
CUT_SHORT = (Late, HungUp)
"""The faults that a deadline brings about: no answer by then, or nobody who has taken what was sent."""
RAN = (Missing, Contradicted)
"""The faults of an action that ran all the same, and that has to be counted."""
LONGEST_PAUSE = 10.0
"""Seconds that nobody waits longer for before a retry: about what a device takes to restart."""
LONGEST = 4096
"""Characters of a reading: as long as a line of the protocol."""
HEARING = 0.02
"""Seconds between two looks at whether a person has stopped the run: sooner than a person can see."""
SILENT = (Late, InDoubt)
"""The faults after which nobody knows whether the action ran."""


@final
@dataclass(frozen=True)
class FaultPolicy:
    """How patient a session is."""

    retries: int = 2
    """How often an action is sent again to a plant that is retry-safe."""
    strict: bool = False
    """Whether missing readings and actions in doubt end the run as well."""
    pause: float = 0.1
    """Seconds before the first retry; each further pause is twice as long, up to LONGEST_PAUSE."""
    sleep: Callable[[float], None] = time.sleep
    """How to pause."""

    def __post_init__(self) -> None:
        if not 0 <= self.retries <= 1000:
            raise TaskError(f"{self.retries} retries; a number from 0 to 1000 is needed")
        if not 0 <= self.pause <= LONGEST_PAUSE:
            raise TaskError(f"a pause of {self.pause} s; a number from 0 to {LONGEST_PAUSE:g} is needed")

    def pause_before(self, retry: int, deadline: Deadline) -> None:
        """Wait before this retry, counted from 0, never past the deadline."""
        seconds = min(self.pause * 2 ** min(retry, 60), LONGEST_PAUSE, deadline.left)
        if seconds > 0:
            self.sleep(seconds)


@final
@dataclass(frozen=True)
class Heard:
    """What came of an action, and the faults met on the way."""

    outcome: ActionOutcome
    reading: Reading | None = None
    faults: tuple[PlantFault, ...] = ()
    text: str = ""
    """What was read where the model has no such reading."""

    @property
    def reason(self) -> str:
        """What the last fault says."""
        return str(self.faults[-1])

    @property
    def ran(self) -> bool:
        """Whether it is known that the action ran, whatever became of its reading."""
        return self.outcome in ("reading", "outside", "missing") or (
            bool(self.faults) and isinstance(self.faults[-1], RAN)
        )


def ask_plant(
    plant: AbstractPlant,
    action: str,
    readings: Mapping[str, Reading],
    policy: FaultPolicy,
    deadline: Deadline = NO_DEADLINE,
) -> Heard:
    """Send an action and hear what comes of it; the faults of the plant never get past here.

    Nobody waits longer than the deadline, nor asks again after it. What then did not come in time is no fault of the
    plant's: nobody knows whether the action ran, and the run is over. Where a person can stop the run, the plant is
    asked by another thread, so that a stop is heard while it is waited for.
    """
    faults: list[PlantFault] = []
    ask = plant.send
    for attempt in range(1 + policy.retries):
        if attempt > 0:
            policy.pause_before(attempt - 1, deadline)
        plant.wait_at_most(deadline.left)
        try:
            text = ask(action) if deadline.stopped is None else _ask_beside(ask, action, deadline.stopped)
            if not isinstance(text, str) or len(text) > LONGEST:  # pyright: ignore[reportUnnecessaryIsInstance]  a user's
                raise Garbled(f"the plant answered {action!r} with {str(text)[:80]!r}, which is no name of a reading")
            known = text in readings
            return Heard("reading" if known else "outside", readings.get(text), tuple(faults), "" if known else text)
        except PlantFault as fault:
            faults.append(fault)
        if deadline.is_over and isinstance(faults[-1], CUT_SHORT):
            return Heard("cut short", None, tuple(faults))
        if not (plant.may_repeat(action) and isinstance(faults[-1], WORTH_REPEATING)):
            break
        ask = plant.repeat
    return Heard(_judge(faults, policy), None, tuple(faults))


def _ask_beside(ask: Callable[[str], str], action: str, stopped: Callable[[], bool]) -> str:
    """What the plant answers; once a person has stopped the run nobody waits for that any longer."""
    answers: SimpleQueue[str | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            answers.put(ask(action))
        except BaseException as raised:
            answers.put(raised)

    # It ends with the program if the plant never answers; what the run is limited by holds there too.
    Thread(target=copy_context().run, args=(work,), daemon=True).start()
    while True:
        with suppress(Empty):
            answer = answers.get(timeout=HEARING)
            if isinstance(answer, BaseException):
                raise answer
            return answer
        if stopped():
            raise Late(f"the run was stopped before the plant answered {action!r}")


def _judge(faults: list[PlantFault], policy: FaultPolicy) -> ActionOutcome:
    """Whether the run can go on after these faults, of which the last was final."""
    last = faults[-1]
    if policy.strict or any(isinstance(fault, Garbled) for fault in faults):
        return "failure"
    if isinstance(last, Missing):
        return "missing"
    return "doubt" if isinstance(last, SILENT) else "failure"


def fault_kind(fault: PlantFault) -> str:
    """The kind of a fault in a word or two."""
    return fault.kind if isinstance(fault, ActionFault) else "fault"
