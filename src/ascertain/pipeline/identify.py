"""Identify: which of several machines is this plant, and is it one of them at all?

machines -> one task -> the experiment on the plant -> conformance to what it named -> verdict -> certificate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import TaskError
from ascertain.observer.probing.planned import PLANNED_MEAN
from ascertain.pipeline import Tell, ignore
from ascertain.pipeline.conform import Conformed
from ascertain.pipeline.fingerprint import Machines, pose_machines
from ascertain.pipeline.moments import Watch
from ascertain.pipeline.observe import NO_JOURNAL, observe
from ascertain.pipeline.observed import Observed
from ascertain.policy.verdict import Verdict
from ascertain.problem.hosts import Host
from ascertain.rational import Number
from ascertain.search.solution import Objective
from ascertain.task.task import Task
from ascertain.types import Plant, Progress


@final
@dataclass(frozen=True, eq=False)
class Identified(Shown):
    """What a plant was found to be."""

    task: Task
    observed: Observed

    def shown(self) -> Mapping[str, object]:
        return {"verdict": self.verdict, "cost": self.cost, "assumed": self.assumed}

    def listing(self) -> Listing:
        return self.observed.listing()

    @property
    def verdict(self) -> Verdict | None:
        """The answer; after a conformance run, what that came to."""
        return self.observed.verdict

    @property
    def conformed(self) -> Conformed | None:
        """What became of the conformance run; None where none was asked for, or nothing was named."""
        return self.observed.conformed

    @property
    def assumed(self) -> str | None:
        """What an answer rests on and nothing has checked; None where conformance says more, or nothing is answered."""
        return self.observed.assumed

    @property
    def certificate(self) -> str | None:
        """What the checker says of the certificate; None where none was written."""
        return self.observed.certificate

    @property
    def cost(self) -> Fraction:
        """Of the experiment and of the words that checked it."""
        words = Fraction(0) if self.conformed is None else self.conformed.cost
        return self.observed.run.observer.counters.cost + words

    @property
    def exit_code(self) -> int:
        """Of the verb: 0 named, 1 none of these, 3 undecided, 4 because of the plant."""
        return self.observed.exit_code

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `fingerprint --plant --json` prints."""
        told = self.observed.facts()
        experiment = replace(self.observed, conformed=None).facts()
        shared = ("verdict", "label", "reason", "witness", "assumed", "conformance", "plant", "certificate")
        return {**{key: told[key] for key in shared}, "cost": str(self.cost), "identification": experiment}


def identify(
    machines: Machines | Task,
    plant: str | Plant,
    *,
    conform_by: str | None = None,
    reset_cost: Number | None = 1,
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Number] | None = None,
    objective: Objective = "worst",
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
    host: Host | None = None,
) -> Identified:
    """Find out which of several machines a plant is, and, with `conform_by`, whether it is one of them at all.

    The plant begins where a reset leads. `conform_by` is "complete:K" or "sample:N", as for `conform`; without it the
    answer holds if the plant is one of the machines. Machines that nobody can tell apart are one class. With a
    `journal` the experiment outlives a crash, and the conformance run, in a journal of its own beside it, too. In a
    fleet (`identify_fleet`) machines are posed once, and the text of the plant is filled in by what is known of the
    `host`. The other parameters are those of `fingerprint`, `observe` and `conform`.
    """
    if conform_by is not None and reset_cost is None:
        raise TaskError("conformance runs words from reset; say what a reset costs")
    if resume and journal is None:
        raise TaskError(NO_JOURNAL)
    given = isinstance(machines, Mapping | Sequence)
    task = pose_machines(machines, reset_cost, actions, cost) if given else machines
    observed = observe(
        task,
        plant,
        probing=None if objective == "worst" else PLANNED_MEAN.name,
        conform_by=conform_by,
        journal=journal,
        resume=resume and journal is not None and Path(journal).exists(),
        certificate=certificate,
        timeout=timeout,
        retries=retries,
        identity=identity,
        ask=ask,
        watch=watch,
        note=note,
        progress=progress,
        host=host,
    )
    return Identified(task, observed)
