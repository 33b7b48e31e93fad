"""A wired plant: it does the steps of an action in order, and says what every fault on the way means.

What an adapter reports is about one step. What a session needs to know is about the action: whether it ran, did not
run, may have run as a whole (in doubt), or was left *half done*; and whether it may be asked for again. Asked again, an
action goes on with the step that failed, so a step that was done is never done twice.

A step may be done again if it changes nothing, if it surely was not done, or if the file says `retry_safe`. A
connection that was lost may mean that the plant was restarted: unless the file says `reconnect`, the run then ends.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from ascertain.errors import AscertainError, PlantFault, TaskError
from ascertain.plant import PlantContext
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import ActionFault, Garbled, HalfDone, HungUp, InDoubt, Late, NotSent, Refused, Restarted
from ascertain.plant.wiring.adapter import AdapterSettings, Step
from ascertain.plant.wiring.decoding import as_text
from ascertain.plant.wiring.file import WiredAction, Wiring, read_wiring

_SILENCE = object()
"""The value of a step that was not answered in time, where that is a reading."""


@final
class WiredPlant(AbstractPlant):
    """The plant that a wiring describes, connected to at once."""

    def __init__(self, wiring: Wiring, *, timeout: float = 10.0, run: str = "0") -> None:
        self.wiring = wiring
        self._timeout = wiring.timeout or timeout
        self._until = math.inf
        settings = AdapterSettings(wiring.address, wiring.options, wiring.path.parent, run, wiring.steps)
        try:
            self._adapter = wiring.adapter(settings)
        except TaskError as reason:
            raise TaskError(f"{wiring.path}: [plant] {reason}") from None
        self._connected = self._greeted = self._gone = False
        self._action: WiredAction | None = None
        self._done = 0
        """Steps of the action that are done."""
        self._value: object = None
        self._failed = False
        """Whether the step that comes next was tried before."""
        self._again = False
        """Whether it may be."""
        self.address = wiring.address
        try:
            self._connect()
        except BaseException as reason:
            self.close()
            if isinstance(reason, TaskError):
                raise TaskError(f"{wiring.path}: {reason}") from None
            if not isinstance(reason, ActionFault):
                raise
            said = f"the plant at {wiring.address} cannot be reached: "  # a plant of lines says so too
            raise PlantFault(f"{wiring.path}: {said}{str(reason).removeprefix(said)}") from None
        self.name = self.identity or self.address

    def send(self, action: str) -> str:
        found = self.wiring.action(action)
        if found is None:
            raise Refused(f"{self.wiring.path}: the wiring has no action {action!r}")
        self._action, self._done, self._value, self._failed = found, 0, None, False
        self._adapter.begin()
        return self._go_on()

    def repeat(self, action: str) -> str:
        assert self._action is not None and self._action.name == action, "only what failed is asked again"
        return self._go_on()

    def may_repeat(self, action: str) -> bool:
        if self._failed and self._action is not None and self._action.name == action:
            return self._again
        found = self.wiring.action(action)
        return found is not None and (self._adapter.remembers or found.retry_safe or not found.changes)

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:
        done = [self._steps_of(action) for action in actions]
        sure = len(done) if confirmed is None else confirmed
        self._adapter.resume([step for steps in done for step in steps], sum(len(steps) for steps in done[:sure]))

    def skip(self, action: str) -> None:
        found = self.wiring.action(action)
        if found is not None and found.changes > 1:
            raise HalfDone(f"{action!r} has several steps, and some of them may have been done; the run cannot go on")
        for step in self._steps_of(action):
            self._adapter.skip(step)

    def wait_at_most(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def close(self) -> None:
        self._connected = False
        self._adapter.close()

    def _steps_of(self, action: str) -> list[Step]:
        found = self.wiring.action(action)
        return [] if found is None else [step for step in found.steps if not _is_pause(step)]

    def _connect(self) -> None:
        """Reach the plant, and make sure that it is the one that it was."""
        said = self._adapter.connect(self._time_left())
        self._connected = True
        if self.wiring.identity is not None:
            said = as_text(self._adapter.do(self.wiring.identity, self._time_left()))
        if self._greeted and said != self.identity:
            raise Restarted(f"the plant was {self.identity!r} and is now {str(said)[:200]!r}")
        self._greeted, self.identity = True, said

    def _time_left(self) -> float:
        return min(self._timeout, self._until - time.monotonic())

    def _go_on(self) -> str:
        """Do the steps that are left, and decode what was read."""
        action = self._action
        assert action is not None
        while self._done < len(action.steps):
            try:
                value = self._do(action, self._done)
            except PlantFault:
                self._failed = True
                raise
            if self._done == action.reads:
                self._value = value
            self._done, self._failed = self._done + 1, False
        if self._value is _SILENCE:
            assert action.silence is not None
            return action.silence
        if action.reads is None:
            assert action.decoder.otherwise is not None
            return action.decoder.otherwise
        try:
            return action.decoder.decode(self._value)
        except Garbled as fault:
            # To read again until a value fits would choose readings by their values.
            self._failed, self._again = True, False
            raise Garbled(f"{action.name!r}: {fault}") from None

    def _do(self, action: WiredAction, i: int) -> object:
        step, patience = action.steps[i], self._time_left()
        try:
            if _is_pause(step):
                self._pause(float(step.told))
                return None
            if self._gone or patience <= 0:
                raise NotSent("the plant has hung up") if self._gone else Late("the time was over before it was sent")
            if not self._connected:
                self._connect_again()
            # Only a plant that remembers tells a step that is repeated from another one.
            ask = self._adapter.repeat if self._failed else self._adapter.do
            return ask(step, patience)
        except ActionFault as fault:
            if (
                isinstance(fault, Late)
                and i == action.reads
                and action.silence is not None
                and patience == self._timeout
            ):
                if not self._adapter.numbered:
                    self.close()
                return _SILENCE
            raise self._judge(action, i, fault) from None
        except AscertainError:
            self._again = False
            raise
        except Exception as reason:  # whatever a transport that is not ours may raise
            self._again = False
            self.close()
            raise PlantFault(f"{action.name!r}, {step}: {type(reason).__name__}: {reason}") from reason

    def _connect_again(self) -> None:
        """Before anything of the step is sent, so that whatever goes wrong here, it was not done."""
        try:
            self._connect()
        except Restarted:
            raise
        except ActionFault as reason:
            self.close()
            raise NotSent(f"the plant cannot be reached again: {reason}") from None

    def _pause(self, seconds: float) -> None:
        left = self._until - time.monotonic()
        time.sleep(max(0.0, min(seconds, left)))
        if left < seconds:
            raise Late("the time was over in a pause")

    def _judge(self, action: WiredAction, i: int, fault: ActionFault) -> ActionFault:
        """What the fault of a step means for the action, and whether the step may be done again."""
        step, adapter = action.steps[i], self._adapter
        not_done = isinstance(fault, NotSent | Refused)
        lost = isinstance(fault, NotSent | HungUp | Restarted)
        if lost or (isinstance(fault, Late | Garbled) and not adapter.numbered):
            self.close()
        self._gone = self._gone or (lost and not (self.wiring.reconnect or adapter.remembers))
        harmless = not step.changes or not_done or action.retry_safe
        self._again = not self._gone and not isinstance(fault, Restarted)
        self._again = self._again and (adapter.remembers or (harmless and not isinstance(fault, Garbled)))
        least = sum(before.changes for before in action.steps[:i])
        most = least + (step.changes and not not_done)
        text = f"{action.name!r}, {step}: {fault}"
        if most and least < action.changes and not (least == 0 and most == action.changes):
            return HalfDone(f"{text}; of its {action.changes} steps that change the plant {least} were surely done")
        if isinstance(fault, NotSent):
            return HungUp(text)
        if most > least and not adapter.remembers and isinstance(fault, Late | HungUp | InDoubt) and not self._gone:
            return InDoubt(f"{text}; it may have been done")
        return type(fault)(text)


def _is_pause(step: Step) -> bool:
    return step.verb == "wait" and isinstance(step.told, float)


def open_wiring(path: str | Path, *, timeout: float = 10.0, run: str = "0") -> WiredPlant:
    """Read a wiring file and connect to its plant; `timeout` holds where the file does not say one."""
    return WiredPlant(read_wiring(path), timeout=timeout, run=run)


def open_for(wiring: Wiring, context: PlantContext) -> WiredPlant:
    """The plant for a problem, all of whose actions must be wired; that is checked before anything is sent."""
    wiring.check_actions(context.model.actions)
    wiring = replace(wiring, address=context.fill(wiring.address))
    return WiredPlant(wiring, timeout=context.timeout, run=context.run)


def describe(action: WiredAction) -> dict[str, Any]:
    """What an action would do, as plain data."""
    readings = action.readings
    return {
        "name": action.name,
        "steps": [str(step) for step in action.steps],
        "readings": None if readings is None else list(readings),
        "retry_safe": action.retry_safe or not action.changes,
        "silence": action.silence,
    }
