"""Identify: which of several machines is this plant, and is it one of them at all?

machines -> one task -> the experiment on the plant -> conformance to what it named -> verdict -> certificate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from ascertain.certificate.write import write_certificate
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import TaskError
from ascertain.pipeline import Tell, ignore
from ascertain.pipeline.certify import certify
from ascertain.pipeline.conform import Conformed, conform
from ascertain.pipeline.fingerprint import Machines, pose_machines
from ascertain.pipeline.observe import Observed, Watch, observe
from ascertain.plant.abstract import as_plant
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.plants import open_plant
from ascertain.rational import Number
from ascertain.task.task import Task
from ascertain.types import Plant, Progress

IF_ONE = "if it is one of the models"
"""What stands beside an answer that nothing has checked."""


@final
@dataclass(frozen=True, eq=False)
class Identified(Shown):
    """What a plant was found to be."""

    task: Task
    observed: Observed
    conformed: Conformed | None
    """What became of the conformance run; None where none was asked for, or nothing was named."""
    certificate: str | None
    """What the checker says of the certificate; None where none was written."""

    def shown(self) -> Mapping[str, object]:
        return {"verdict": self.verdict, "cost": self.cost, "assumed": self.assumed}

    def listing(self) -> Listing:
        return self.observed.listing()

    @property
    def verdict(self) -> Certified | Abstained | NoneOfThese | None:
        """The answer; after a conformance run, what that came to."""
        return self.observed.run.verdict if self.conformed is None else self.conformed.verdict

    @property
    def assumed(self) -> str | None:
        """What an answer rests on and nothing has checked; None where conformance says more, or nothing is answered."""
        return IF_ONE if self.conformed is None and isinstance(self.verdict, Certified) else None

    @property
    def cost(self) -> Fraction:
        """Of everything that was sent."""
        steps = self.observed.transcript if self.conformed is None else self.conformed.steps
        return sum((self.task.cost[self.task.model.actions.index(step[0])] for step in steps), Fraction(0))

    @property
    def exit_code(self) -> int:
        """Of the verb: 0 named, 1 none of these, 3 undecided, 4 because of the plant."""
        return self.observed.exit_code if self.conformed is None else self.conformed.exit_code

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `fingerprint --plant --json` prints."""
        found = self.observed.facts()
        told = found if self.conformed is None else self.conformed.facts()
        return {
            "verdict": "certified" if isinstance(self.verdict, Certified) else told["verdict"],
            "label": self.verdict.label if isinstance(self.verdict, Certified) else None,
            "reason": told["reason"],
            "witness": told["witness"],
            "assumed": self.assumed,
            "cost": str(self.cost),
            "identification": found,
            "conformance": None if self.conformed is None else told,
            "plant": found["plant"],
            "certificate": self.certificate,
        }


def identify(
    machines: Machines,
    plant: str | Plant,
    *,
    conform_by: str | None = None,
    reset_cost: Number | None = 1,
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Number] | None = None,
    journal: str | Path | None = None,
    resume: bool = False,
    certificate: str | Path | None = None,
    timeout: float = 10.0,
    retries: int = 2,
    identity: str | None = None,
    ask: Callable[[str], str] = input,
    watch: Watch | None = None,
    note: Tell = ignore,
    progress: Progress | None = None,
) -> Identified:
    """Find out which of several machines a plant is, and, with `conform_by`, whether it is one of them at all.

    The plant begins where a reset leads. `conform_by` is "complete:K" or "sample:N", as for `conform`; without it the
    answer holds if the plant is one of the machines. Machines that nobody can tell apart are one class. With a
    `journal` the experiment outlives a crash, and the conformance run, in a journal of its own beside it, too. The
    other parameters are those of `fingerprint`, `observe` and `conform`.
    """
    how = None if conform_by is None else read_method(conform_by)
    if how is not None and reset_cost is None:
        raise TaskError("conformance runs words from reset; say what a reset costs")
    task = pose_machines(machines, reset_cost, actions, cost)
    beside = None if journal is None else Path(f"{journal}.conformance")
    with ExitStack() as stack:
        if isinstance(plant, str):
            plant = open_plant(plant, task, timeout=timeout, ask=ask)
            stack.callback(plant.close)
        device = as_plant(plant)
        # A run that is resumed was begun on a plant that may have been reset since, by the conformance run.
        again = resume and journal is not None and Path(journal).exists()
        observed = observe(
            task,
            device,
            journal=journal,
            resume=again,
            timeout=timeout,
            retries=retries,
            identity=identity,
            watch=watch,
            note=note,
            certificate=certificate,
        )
        conformed = None
        if how is not None and isinstance(observed.run.verdict, Certified):
            conformed = conform(
                task,
                device,
                **how,
                hypothesis=observed.run.verdict.label,
                before=_list_steps(observed),
                journal=beside,
                resume=resume and beside is not None and beside.exists(),
                retries=retries,
                certificate=certificate,
                progress=progress,
            )
    if certificate is None or conformed is None or not conformed.claims:
        return Identified(task, observed, conformed, observed.certificate if conformed is None else None)
    # That it is none of these contradicts the answer, which was right only if it is one of them.
    first = observed.claims if isinstance(conformed.verdict, Certified) else ()
    claims = [*first, *conformed.claims]
    write_certificate(certificate, task, claims)
    return Identified(task, observed, conformed, str(certify(task, claims)[1]))


def _list_steps(observed: Observed) -> tuple[tuple[str, str], ...]:
    """What the experiment did and read; nothing where a reading was lost or an action is in doubt."""
    steps = [(action, reading) for action, reading, certain in observed.transcript if reading is not None and certain]
    return tuple(steps) if len(steps) == len(observed.transcript) else ()


def read_method(text: str) -> dict[str, Any]:
    """How to check conformance: "complete:K" or "sample:N"."""
    name, _, number = text.partition(":")
    if name not in ("complete", "sample") or not number.isdecimal() or len(number) > 9:
        raise TaskError(f'--conform: {text[:40]!r} is not understood; write "complete:K" or "sample:N"')
    return {name: int(number)}
