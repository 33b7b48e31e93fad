"""What became of a run on a live plant, as an object, as plain data and as an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, final

from ascertain.bank.shells import KeptShells
from ascertain.drawing.shown import Listing, Shown
from ascertain.live.faults import fault_kind
from ascertain.live.session import Run
from ascertain.observer.pricing import PolicyChoice
from ascertain.observer.records import run_header, verdict_record
from ascertain.pipeline.conform import Conformed
from ascertain.pipeline.control import Control
from ascertain.policy.verdict import Certified, NoneOfThese, Verdict
from ascertain.task.canonical import fraction_text

IF_ONE = "if it is one of the models"
"""What stands beside an answer that nothing has checked."""

IF_BEGAN = "if it began in one of the hypotheses"
"""What stands beside an answer about the state, where conformance has checked the machine from its reset on."""


@final
@dataclass(frozen=True)
class Observed(Shown):
    """What became of a run."""

    run: Run
    plant: str | None
    """The name of the plant; None where none was needed."""
    truth: str | None
    """Of a simulated plant, what it began as."""
    right: bool | None
    """Whether the answer is true of a simulated plant; None without an answer, or where nothing is true of it."""
    certificate: str | None
    """What the checker says of the certificate; None where none was written."""
    shells: KeptShells | None = None
    """How many shells the bank keeps, and what says so; None where no operation went before."""
    generalised_cost: Fraction | None = None
    """What actions and computation cost together; None where the problem does not price computation."""
    control: Control | None = None
    """The policy that was followed; None where evidence was collected."""
    claims: tuple[Mapping[str, Any], ...] = ()
    """What the certificate holds."""
    risk_file: Mapping[str, Any] | None = None
    """What the risk file says after the run, and the share that the run took; None without one."""
    choice: PolicyChoice | None = None
    """What the policy was chosen by, where computation is priced and no policy is named."""
    conformed: Conformed | None = None
    """What became of the conformance run; None where none was asked for, or nothing was answered."""
    header: Mapping[str, Any] = field(default_factory=lambda: run_header(()))
    """The plant's identity and address, and when the run began and ended; None what was not recorded."""

    def shown(self) -> Mapping[str, object]:
        truth = {"truth": self.truth, "right": self.right, "certificate": self.certificate}
        return {**self.run.shown(), "verdict": self.verdict, "plant": self.plant, **truth}

    def listing(self) -> Listing:
        return self.run.listing()

    @property
    def verdict(self) -> Verdict | None:
        """The answer; where a conformance run contradicts it or leaves it open, what that came to."""
        if self.conformed is None or isinstance(self.conformed.verdict, Certified):
            return self.run.verdict
        return self.conformed.verdict

    @property
    def is_certified(self) -> bool:
        """Whether the question was answered."""
        return isinstance(self.verdict, Certified)

    @property
    def assumed(self) -> str | None:
        """What an answer rests on and nothing has checked; None where conformance shows it, or nothing is answered."""
        if not self.is_certified:
            return None
        if self.conformed is None:
            return IF_ONE
        return None if self.conformed.names_label else IF_BEGAN

    @property
    def exit_code(self) -> int:
        """Of the verb: 0 certified, 1 none of these, 3 abstained, 4 because of the plant."""
        if isinstance(self.verdict, NoneOfThese):
            return 1
        return 0 if self.is_certified else 4 if self.run.plant_failed else 3

    @property
    def transcript(self) -> list[tuple[str, str | None, bool]]:
        """Every step: what was done, what was read, and whether it is certain that the action ran."""
        observer = self.run.observer
        model, steps = observer.settings.model, observer.transcript
        read = [None if s.reading is None else model.readings[s.reading] for s in steps]
        if isinstance(self.run.verdict, NoneOfThese):  # the last reading need not be one of the model's
            read[-1] = self.run.verdict.witness[-1][1]
        return [(model.actions[s.action], y, s.certain) for s, y in zip(steps, read, strict=True)]

    def facts(self) -> dict[str, Any]:
        """The run as plain data, which is what `observe --json` prints."""
        run, observer, verdict = self.run, self.run.observer, self.verdict
        model, counters, acceptance = observer.settings.model, observer.counters, observer.acceptance
        # A conformance run has moved the plant.
        current = None if acceptance is None or self.conformed is not None else acceptance.current
        return {
            "verdict": None if verdict is None else verdict_record(verdict)["verdict"],
            "label": verdict.label if isinstance(verdict, Certified) else None,
            "reason": None if verdict is None or isinstance(verdict, Certified) else verdict.reason,
            "witness": [list(step) for step in verdict.witness] if isinstance(verdict, NoneOfThese) else None,
            "assumed": self.assumed,
            "cause": run.cause,
            "current_state": None if current is None else model.name_state(current),
            "readings": counters.readings,
            "actions": counters.actions,
            "cost": fraction_text(counters.cost),
            "alpha": fraction_text(observer.settings.alpha),
            "misfit": fraction_text(observer.settings.misfit),
            "policy": observer.settings.policy,
            "controller": None if self.control is None else self.control.facts(),
            "stage": observer.stage,
            "shells": None if self.shells is None else self.shells.facts(),
            "events": [asdict(event) for event in observer.events],
            "transcript": [list(step) for step in self.transcript],
            "counters": {key: value for key, value in asdict(counters).items() if key != "cost"},
            "faults": [
                {"kind": fault_kind(fault), "text": str(fault), "at": at, "outcome": outcome}
                for fault, (at, outcome) in zip(run.faults, run.met, strict=True)
            ],
            "plant_failed": run.plant_failed,
            "next_action": run.next_action,
            "plant": self.plant,
            **self.header,
            **({} if self.truth is None else {"truth": self.truth, "right": self.right}),
            "conformance": None if self.conformed is None else self.conformed.facts(),
            "certificate": self.certificate,
            **({} if self.generalised_cost is None else {"generalised_cost": fraction_text(self.generalised_cost)}),
            **({} if self.risk_file is None else {"risk_file": dict(self.risk_file)}),
            **({} if self.choice is None else {"choice": self.choice.facts()}),
        }
