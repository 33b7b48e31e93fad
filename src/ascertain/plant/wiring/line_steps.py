"""Steps of plants that are sent lines of text and may answer with one."""

from __future__ import annotations

from collections.abc import Mapping

from ascertain.errors import TaskError
from ascertain.plant.wiring.adapter import Step, StepForm

LINE_STEPS: Mapping[str, StepForm] = {
    "write": StepForm(changes=True, gives=False),
    "query": StepForm(changes=True, gives=True),
    "read": StepForm(changes=False, gives=True),
}
"""What they are sent, and what they then say: instruments and devices on serial lines take the same."""


def check_line(step: Step) -> Step:
    """The step, whose text is sent as one line; a TaskError where it is none."""
    if not step.told.strip() or not step.told.isprintable():
        raise TaskError(f"{step.verb} {step.told[:80]!r} must be a line of text; its ending is added when it is sent")
    return step
