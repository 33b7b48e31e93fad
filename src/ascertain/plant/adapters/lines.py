"""Plants that speak the line protocol, in a wiring file: names may differ from the model's, and answers are decoded.

Numbers, repeated answers and runs that go on are the protocol's own (`line_plant.py`), so an action is one line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, final

from ascertain.errors import PlantFault, TaskError
from ascertain.plant import PlantKind
from ascertain.plant.faults import ActionFault, NotSent
from ascertain.plant.line_plant import LinePlant, open_lines
from ascertain.plant.wiring.adapter import AbstractAdapter, AdapterSettings, Step, StepForm


@final
class LinesAdapter(AbstractAdapter):
    """`query` sends the name of an action, and its value is the answer."""

    steps: ClassVar[Mapping[str, StepForm]] = {"query": StepForm(changes=True, gives=True)}
    by_name = True
    single = True
    numbered = True
    keeps_state = False

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        if settings.address.partition(":")[0] not in ("exec", "tcp"):
            raise TaskError(
                f'address: {settings.address[:80]!r} is not understood; write "exec:COMMAND" or "tcp://HOST:PORT"'
            )
        self._plant: LinePlant | None = None

    def connect(self, timeout: float) -> str | None:
        if self._plant is None:
            try:
                self._plant = open_lines(self.settings.address, timeout, self.settings.run)
            except ActionFault:
                raise
            except PlantFault as reason:
                raise NotSent(str(reason)) from None
            self.remembers = self._plant.retry_safe
        return self._plant.name  # a plant that hung up is greeted anew by `repeat`, which knows whether it may be

    def close(self) -> None:
        if self._plant is not None:
            self._plant.close()

    def do(self, step: Step, timeout: float) -> str:
        return self._asked(timeout).send(step.told)

    def repeat(self, step: Step, timeout: float) -> str:
        return self._asked(timeout).repeat(step.told)

    def resume(self, steps: Sequence[Step], confirmed: int) -> None:
        self._asked(None).resume([step.told for step in steps], confirmed)

    def skip(self, step: Step) -> None:
        self._asked(None).skip(step.told)

    def _asked(self, timeout: float | None) -> LinePlant:
        assert self._plant is not None, "the core connects first"
        if timeout is not None:
            self._plant.wait_at_most(timeout)
        return self._plant


LINES = PlantKind("lines", adapter=LinesAdapter)
"""A program or a socket that speaks the line protocol, with a table in between."""
