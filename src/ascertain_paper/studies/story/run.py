"""One operation from its log to its certificate, as it happens.

A run of commands was logged; two of them were secretly replaced. The observer is shown the log and fresh readings,
finds that the nominal does not explain them, compiles what may have happened, and certifies where the plant was when
the readings began, against all other states. A stranger checks the certificate. The operation is the first of the
testbed's that is active with the most replacements; nothing about its run was looked at to choose it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, final

from ascertain.bank.witness import Witness, find_witnesses
from ascertain.certificate.claims.run import run_claim
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Step
from ascertain.live.recorder import Notebook
from ascertain.live.session import Run, run_session
from ascertain.observer.banks import OperationBank
from ascertain.observer.records import commitment_record, hash_records
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Observer, start_observer
from ascertain.observer.stages import Acceptance
from ascertain.pipeline.certify import certify
from ascertain.plant.simulated import SimulatedPlant
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.plant_task import PlantTask
from ascertain.types import State
from ascertain_check import Verdict
from ascertain_paper.studies.observing import pose_endpoint
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.testbed import Testbed

NAME = "operation"
"""The certificate is NAME.json, its task NAME.task.json."""
SHELLS = 8
FEW = 1 << 16
"""The strongest rival is asked for when so many are left: earlier, it would take a sweep of all states each time."""


@final
@dataclass(frozen=True, kw_only=True)
class Story:
    """What happened, and what was made of it."""

    testbed: Testbed
    operation: DrawnOperation
    settings: ObserverSettings
    question: PlantTask
    run: Run
    acceptance: Acceptance | None
    witness: Witness | None
    """What may have been replaced, by the state that was certified."""
    trigger_nats: tuple[float, ...]
    """Against the nominal, after each reading of the first stage."""
    last_rival: State | None
    evidence_nats: tuple[tuple[int, float], ...]
    """Against the last rival to be beaten, after each reading that was scored, by its number."""
    rivals: tuple[tuple[int, int], ...]
    """How many states of another label are left after each of those readings."""
    certificate: bytes
    task: bytes
    head: str
    checked: str
    """What the checker says of the certificate; empty when there is none."""
    proved: tuple[str, ...]
    """What it verified, a sentence each."""

    @property
    def observer(self) -> Observer:
        """As it was in the end: one that collects evidence."""
        assert isinstance(self.run.observer, Observer)
        return self.run.observer

    @property
    def certificate_hash(self) -> str:
        return sha256(self.certificate).hexdigest()


def live_through(testbed: Testbed) -> Story:
    """Run the observer on the operation and certify what it answers."""
    operation = choose_operation(testbed)
    question = replace(pose_endpoint(testbed, operation.slot.plant), alpha=2 * testbed.settings.staged_risk)
    settings = ObserverSettings(
        question=question,
        alpha=question.alpha,
        nominal=operation.nominal_endpoint,
        budget=testbed.settings.stream_length,
        probing="separating",
    )
    make_bank, notebook = OperationBank(testbed.logged(operation), shells=SHELLS), Notebook()
    observer = start_observer(settings, notebook.watch_bank(settings, make_bank))
    device = SimulatedPlant(question.model, operation.true_endpoint, operation.name)
    run = run_session(observer, device, recorder=notebook, commitment=commitment_record(settings, make_bank))
    acceptance = run.observer.acceptance
    certificate, task, verdict = certify_answer(question, acceptance, notebook)
    scored = None if acceptance is None else follow_evidence(settings, acceptance)
    certified = None if acceptance is None else question.model.state_named(acceptance.label, "label")
    return Story(
        testbed=testbed,
        operation=operation,
        settings=settings,
        question=question,
        run=run,
        acceptance=acceptance,
        witness=None if certified is None else find_witnesses(testbed.logged(operation), [certified])[0],
        trigger_nats=follow_trigger(settings, run),
        last_rival=None if scored is None else scored[0],
        evidence_nats=() if scored is None else scored[1],
        rivals=() if scored is None else scored[2],
        certificate=certificate,
        task=task,
        head=hash_records(notebook.records),
        checked="" if verdict is None else str(verdict),
        proved=() if verdict is None else verdict.proved,
    )


def choose_operation(testbed: Testbed) -> DrawnOperation:
    """The first active prospective operation of those with the most replacements."""
    families = testbed.settings.families
    most = max(family.replacements for family in families)
    slot = next(slot for slot in testbed.slots() if slot.active and families[slot.family].replacements == most)
    return testbed.draw(slot)


def certify_answer(
    question: PlantTask, acceptance: Acceptance | None, notebook: Notebook
) -> tuple[bytes, bytes, Verdict | None]:
    """The certificate and its task as they are written, and what the checker says; an abstention has none."""
    if acceptance is None:
        return b"", b"", None
    certificate, verdict = certify(question, [run_claim(question, acceptance, notebook.records)])
    return canonical_bytes(certificate), canonical_bytes(task_data(question)), verdict


def follow_trigger(settings: ObserverSettings, run: Run) -> tuple[float, ...]:
    """The trigger after each reading until the stage changed, recomputed."""
    steps: tuple[Step, ...] = run.observer.transcript
    end = run.observer.events[0].actions if run.observer.events else len(steps)
    trigger, nats = settings.make_trigger(), list[float]()
    for step in steps[:end]:
        trigger.take(step)
        nats.append(trigger.nats)
    return tuple(nats)


def follow_evidence(
    settings: ObserverSettings, acceptance: Acceptance
) -> tuple[State | None, tuple[tuple[int, float], ...], tuple[tuple[int, int], ...]]:
    """The last rival to be beaten, the evidence against it, and how many rivals are left, reading after reading."""
    steps, start = acceptance.transcript, acceptance.scored_from
    world = settings.make_world(acceptance.bank, acceptance.alpha)
    assert isinstance(world, BooleanWorld)
    for step in steps[:start]:
        world.observe(step.action, None)
    assert isinstance(settings.question, PlantTask)
    answered = settings.question.model.state_named(acceptance.label, "label")
    rivals: list[tuple[int, int]] = []
    last: State | None = None
    untouched, all_others = True, (1 << settings.question.model.num_bits) - 1
    for number, step in enumerate(steps[start:], start=start + 1):
        world.observe(step.action, step.reading)
        # As long as there were fewer readings than it takes contradictions nobody is beaten, and nobody need look.
        untouched = untouched and number - start < world.evidence.threshold
        rivals.append((number, all_others if untouched else world.rivals_left(answered)))
        strongest = world.strongest_rival(answered) if rivals[-1][1] <= FEW else None
        last = last if strongest is None else strongest.state
    return last, _evidence_against(settings, acceptance, last), tuple(rivals)


def _evidence_against(
    settings: ObserverSettings, acceptance: Acceptance, state: State | None
) -> tuple[tuple[int, float], ...]:
    if state is None:
        return ()
    world = settings.make_world(acceptance.bank, acceptance.alpha)
    found: list[tuple[int, float]] = []
    for number, step in enumerate(acceptance.transcript, start=1):
        scored = number > acceptance.scored_from
        world.observe(step.action, step.reading if scored else None)
        if scored:
            found.append((number, world.evidence_against(state)))
    return tuple(found)


def facts_of(story: Story) -> dict[str, Any]:
    """What programs may want of the story."""
    observer = story.observer
    return {
        "operation": story.operation.slot.name,
        "label": None if story.acceptance is None else story.acceptance.label,
        "truth": story.question.label_of(story.operation.true_endpoint),
        "readings": observer.counters.readings,
        "alpha": str(observer.risk_budget.alpha),
        "threshold_nats": None if story.acceptance is None else -math.log(story.acceptance.alpha),
        "certificate_sha256": story.certificate_hash if story.certificate else None,
        "head": story.head,
        "checked": story.checked,
    }
