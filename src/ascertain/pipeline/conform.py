"""Conform: is the plant the model at all, or something that no model describes?

model -> specification -> plan: a complete suite, or a sample -> plant, word by word from reset -> verdict ->
certificate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from typing import Any, final

from ascertain.certificate.claims.conforms import conforms_claim
from ascertain.certificate.claims.none_of_these import none_of_these_claim
from ascertain.certificate.claims.sampled import sampled_claim
from ascertain.certificate.write import write_certificate
from ascertain.conformance.plan import AbstractPlan, CompletePlan, SamplePlan
from ascertain.conformance.pose import pose_conformance
from ascertain.conformance.specification import Specification, Word, specify
from ascertain.conformance.suite import plan_suite
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError, TaskError, find_name
from ascertain.live.conduct import Conducted, Steps, conduct
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.model.files import NotAModel, read_listed
from ascertain.pipeline.certify import certify
from ascertain.plant.abstract import AbstractPlant, as_plant, check_identity
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.plants import open_plant
from ascertain.problem.problem import read_any_problem
from ascertain.rational import rational_field
from ascertain.task.canonical import fraction_text, task_hash
from ascertain.task.task import Task
from ascertain.types import Action, Plant, Progress
from ascertain.version import __version__

CONFIDENCE = Fraction(19, 20)
"""Of a sample, unless another is asked for: the usual 95 %."""


@final
@dataclass(frozen=True, eq=False)
class Conformed(Shown):
    """What became of a conformance run; without a plant, only what it would do."""

    task: Task
    plan: AbstractPlan
    hypothesis: int
    verdict: Certified | NoneOfThese | Abstained | None = None
    """None where nothing was run."""
    steps: Steps = ()
    """What was done and read, what came before included."""
    conducted: Conducted | None = None
    plant: str | None = None
    certificate: str | None = None
    """What the checker says of the certificate; None where none was written."""
    claims: tuple[Mapping[str, Any], ...] = ()
    """What the certificate holds."""

    def shown(self) -> Mapping[str, object]:
        return {"verdict": self.verdict, "words": len(self.plan.words), "cost": self.plan.cost, "plant": self.plant}

    def listing(self) -> Listing:
        return ("action", "reading"), list(self.steps)

    @property
    def statement(self) -> str | None:
        """What is known now, with what confidence and about what; None without a conforming run."""
        return self.plan.statement if isinstance(self.verdict, Certified) else None

    @property
    def exit_code(self) -> int:
        """Of the verb: 0 conforms, 1 none of these, 3 undecided."""
        return {Certified: 0, NoneOfThese: 1, Abstained: 3, type(None): 0}[type(self.verdict)]

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `conform --json` prints."""
        plan, verdict = self.plan, self.verdict
        words = {Certified: "conforms", NoneOfThese: "none of these", Abstained: "abstained", type(None): None}
        return {
            "verdict": words[type(verdict)],
            "label": self.task.labels[int(self.task.label[self.hypothesis])],
            "reason": None if verdict is None or isinstance(verdict, Certified) else verdict.reason,
            "witness": [list(step) for step in verdict.witness] if isinstance(verdict, NoneOfThese) else None,
            "statement": self.statement,
            "method": plan.method,
            "states": plan.spec.num_states,
            "planned": {
                "words": len(plan.words),
                "actions": plan.num_actions,
                "resets": len(plan.words),
                "cost": fraction_text(plan.cost),
                "floor": fraction_text(plan.suite.floor)
                if isinstance(plan, CompletePlan) and plan.suite.floor
                else None,
            },
            "done": None if self.conducted is None else {"words": len(self.conducted.runs), "steps": len(self.steps)},
            "faults": [] if self.conducted is None else [str(fault) for fault in self.conducted.faults],
            "plant": self.plant,
            "certificate": self.certificate,
        }


def conform(
    question: Task | str | Path,
    plant: str | Plant | None = None,
    *,
    complete: int | None = None,
    sample: int | None = None,
    hypothesis: str | None = None,
    reset: str = "RESET",
    reset_cost: Fraction | int | str = 1,
    seed: str | None = None,
    confidence: Fraction | int | str = CONFIDENCE,
    before: Sequence[tuple[str, str]] = (),
    journal: str | Path | None = None,
    resume: bool = False,
    certificate: str | Path | None = None,
    timeout: float = 10.0,
    retries: int = 2,
    identity: str | None = None,
    ask: Callable[[str], str] = input,
    announce: Callable[[Conformed], None] | None = None,
    progress: Progress | None = None,
) -> Conformed:
    """Find out whether a plant conforms to a model, with a suite that is complete or with a sample of words.

    `question` is a task with a reset (`pose_conformance` makes one of a machine), or the file of a model or of a
    problem. `complete=k` shows that every machine of the fault domain with k extra states that reads like this is
    equivalent to the model; `sample=n` draws n words. Without a `plant` nothing is run, and the result says what it
    would cost. `hypothesis` is the label that is to be confirmed, where there are several. `reset` names the action
    that leads back to the initial state; where a model has none of that name it is added at `reset_cost`. `before` is
    what was done and read from where the hypotheses are posed on; it counts.

    With a `journal` the run outlives a crash, and `resume` goes on with the first word that is not recorded. `seed`
    draws a sample again; by default it is new each time and is recorded before the first action. `announce` is shown
    the plan before the first action.
    """
    if (complete is None) == (sample is None):
        raise TaskError("say how: complete=K for a complete suite, or sample=N for N words that are drawn")
    task = _pose(question, reset, reset_cost) if isinstance(question, str | Path) else question
    h = _choose(task, hypothesis)
    home = find_name(reset, task.model.actions, "reset", "an action of the model", TaskError)
    spec = _specify(task, h, home)
    known = _observed(spec, home, before)
    if resume and (journal is None or not Path(journal).exists()):
        raise FileError(f"{journal}: there is no such journal to resume; leave --resume out to begin one")
    with ExitStack() as stack:
        recorder = Notebook() if journal is None or plant is None else stack.enter_context(Journal(journal))
        if recorder.records and not resume:
            raise FileError(f"{journal}: this journal has begun already; add --resume to go on with it")
        plan = _plan(spec, complete, sample, seed or _recorded_seed(recorder), confidence, known)
        planned = Conformed(task, plan, h)
        if plant is None:
            return planned
        if announce is not None:
            announce(planned)
        device = as_plant(_open(plant, task, timeout, ask, stack))
        check_identity(device, identity)
        conducted = conduct(
            device,
            spec,
            home,
            plan.words,
            recorder=recorder,
            commitment=_commit(task, h, home, plan),
            retries=retries,
            progress=progress,
        )
    steps = (*before, *(step for run in conducted.runs for step in run))
    verdict = _judge(task, h, conducted, steps)
    found = Conformed(task, plan, h, verdict, steps, conducted, device.name)
    claim = None if certificate is None else _claim(found, home, before)
    if certificate is None or claim is None:
        return found
    write_certificate(certificate, task, [claim])
    return replace(found, certificate=str(certify(task, [claim])[1]), claims=(claim,))


def _pose(file: str | Path, reset: str, reset_cost: Fraction | int | str) -> Task:
    """The task of a problem file, or that of a model: that the plant is this machine, in its initial state."""
    try:
        return pose_conformance(read_listed(file), name=Path(file).stem, reset=reset, reset_cost=reset_cost)
    except NotAModel as problem:
        return read_any_problem(file, problem.text).task


def _choose(task: Task, label: str | None) -> int:
    """The hypothesis that is to be confirmed: the first with this label."""
    if label is None:
        if len(set(task.label.tolist())) > 1:
            raise TaskError(f"the question has {len(task.labels)} labels; say which one is to be confirmed")
        return 0
    wanted = find_name(label, task.labels, "hypothesis", "a label of the question", TaskError)
    return task.label.tolist().index(wanted)


def _specify(task: Task, h: int, home: Action) -> Specification:
    start = int(task.state[h])
    if int(task.model.successor[start, home]) != start:
        raise TaskError(
            f"the reset {task.model.actions[home]!r} does not lead back to {task.model.states[start]!r}, so that words "
            "cannot be compared from there; name another with --reset"
        )
    actions = [a for a in task.actions if a != home]
    costs = {a: task.cost[a] for a in actions}
    return specify(task.model, start, actions, cost=costs, reset_cost=task.cost[home])


def _observed(spec: Specification, home: Action, before: Sequence[tuple[str, str]]) -> tuple[Word, ...]:
    """The words that came before, from reset to reset."""
    number = {spec.model.actions[a]: i for i, a in enumerate(spec.actions)}
    words: list[list[int]] = [[]]
    for action, _ in before:
        if action == spec.model.actions[home]:
            words.append([])
        else:
            words[-1].append(number[action])
    return tuple(tuple(word) for word in words if word)


def _plan(
    spec: Specification,
    complete: int | None,
    sample: int | None,
    seed: str,
    confidence: Fraction | int | str,
    observed: tuple[Word, ...],
) -> AbstractPlan:
    if complete is not None:
        if complete < 0:
            raise TaskError(f"complete: {complete} extra states; a number from 0 on is needed")
        return CompletePlan(plan_suite(spec, complete, observed=observed))
    assert sample is not None
    return SamplePlan(spec, seed, sample, rational_field(confidence, "confidence", TaskError))


def _recorded_seed(recorder: Journal | Notebook) -> str:
    """The seed of the run that is gone on with, or a new one."""
    if not recorder.records or "seed" not in recorder.records[0].get("method", ()):
        return token_hex(8)
    return str(recorder.records[0]["method"]["seed"])


def _open(plant: str | Plant, task: Task, timeout: float, ask: Callable[[str], str], stack: ExitStack) -> Plant:
    if not isinstance(plant, str):
        return plant
    opened: AbstractPlant = open_plant(plant, task, timeout=timeout, run=token_hex(8), ask=ask)
    stack.callback(opened.close)
    return opened


def _commit(task: Task, h: int, home: Action, plan: AbstractPlan) -> dict[str, Any]:
    """What is fixed before the first action."""
    return {
        "record": "commitment",
        "format": "ascertain-conformance",
        "version": 1,
        "task_sha256": task_hash(task),
        "hypothesis": h,
        "reset": home,
        "method": plan.method,
        "words": len(plan.words),
        "made_by": f"ascertain {__version__}",
    }


def _judge(task: Task, h: int, conducted: Conducted, steps: Steps) -> Certified | NoneOfThese | Abstained:
    if conducted.unstable is not None:
        word = " ".join(action for action, _ in conducted.unstable)
        return Abstained(f"the plant does not repeat itself: {word!r} read differently the second time")
    if not conducted.disagrees:
        return Certified(task.labels[int(task.label[h])])
    left = explained_by(task, steps)
    if left:
        return Abstained(f"it is not the model, and {left[0]!r} still explains all readings")
    return NoneOfThese(conducted.runs[-1])


def explained_by(task: Task, steps: Steps) -> list[str]:
    """The labels of the hypotheses that can have shown these steps."""
    model, left = task.model, {h: int(s) for h, s in enumerate(task.state)}
    for action, reading in steps:
        a = model.actions.index(action)
        y = model.readings.index(reading) if reading in model.readings else None
        left = {h: model.next_state(s, a) for h, s in left.items() if y is not None and y in model.reading_law(s, a)}
    return sorted({task.labels[int(task.label[h])] for h in left})


def _claim(found: Conformed, home: Action, before: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    """What the run shows; None where it shows nothing."""
    task, plan, h, steps = found.task, found.plan, found.hypothesis, found.steps
    if isinstance(found.verdict, NoneOfThese):
        return none_of_these_claim(task, steps)
    if not isinstance(found.verdict, Certified):
        return None
    if isinstance(plan, CompletePlan):
        return conforms_claim(plan, h, home, steps)
    assert isinstance(plan, SamplePlan)
    first = 1 + sum(action == task.model.actions[home] for action, _ in before)
    return sampled_claim(plan, h, home, steps, first)
