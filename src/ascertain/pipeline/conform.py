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
from ascertain.certificate.claims.none_of_these import none_of_these_claim, with_plant
from ascertain.certificate.claims.sampled import sampled_claim
from ascertain.certificate.write import write_certificate
from ascertain.conformance.plan import AbstractPlan
from ascertain.conformance.sample import Sample, plan_sample
from ascertain.conformance.specification import Specification, Word, specify
from ascertain.conformance.suite import Suite, plan_suite
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError, TaskError, find_name
from ascertain.live.conduct import Conducted, Steps, conduct
from ascertain.live.deadline import Deadline, as_deadline
from ascertain.live.faults import FaultPolicy
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook, check_same_plant
from ascertain.model.files import NotAModel, read_listed
from ascertain.observer.records import run_header
from ascertain.pipeline.certify import certify
from ascertain.plant.abstract import AbstractPlant, as_plant, check_identity
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.conformance import as_conformable, check_answers, find_reset, pose_conformance
from ascertain.problem.plants import open_plant
from ascertain.problem.problem import read_any_problem
from ascertain.quotients.refinement import refine
from ascertain.rational import rational_field
from ascertain.task.canonical import fraction_text, task_hash
from ascertain.task.hypotheses import starts_explaining
from ascertain.task.log import LogRecord
from ascertain.task.task import Task
from ascertain.types import Action, Plant, Progress, State
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
    reset: Action
    verdict: Certified | NoneOfThese | Abstained | None = None
    """None where nothing was run."""
    steps: Steps = ()
    """What was done and read, what came before included."""
    before: Steps = ()
    """What of that came before the words of the plan."""
    conducted: Conducted | None = None
    plant: str | None = None
    certificate: str | None = None
    """What the checker says of the certificate; None where none was written."""
    header: Mapping[str, Any] | None = None
    """The plant's identity and address, and when the run began and ended."""

    def shown(self) -> Mapping[str, object]:
        return {"verdict": self.verdict, "words": len(self.plan.words), "cost": self.plan.cost, "plant": self.plant}

    def listing(self) -> Listing:
        return ("action", "reading"), list(self.steps)

    @property
    def statement(self) -> str | None:
        """What is known now, with what confidence and about what; None without a conforming run."""
        return self.plan.statement if isinstance(self.verdict, Certified) else None

    @property
    def names_label(self) -> bool:
        """Whether what a reset leads to tells this label from all others, wherever the plant began.

        That tells which machine it is; in which of its states it began, or has ended, words from reset do not show.
        """
        task, home = self.task, self.reset
        block = refine(task.model.on_actions([a for a in task.actions if a != home])).block
        starts = block[task.model.successor[task.state, home]]
        same = task.label == task.label[self.hypothesis]
        alone = set(starts[same].tolist()).isdisjoint(starts[~same].tolist())
        return alone and (task.about == "start" or bool(same.all()))

    @property
    def price(self) -> str:
        """What the plan costs, in a sentence."""
        plan, size = self.plan, len(self.plan.words)
        least = f"no suite with these access words costs less than {plan.floor}"
        if self.before:  # it counts, so that the words that are left may cost less than any suite by itself
            least = f"without what was observed before, {least}"
        floor = "" if plan.floor is None else f"; {least}"
        return f"{size} words, {plan.num_actions} actions and {size} resets, cost {plan.cost}{floor}"

    @property
    def cost(self) -> Fraction:
        """Of the words that were run."""
        runs = () if self.conducted is None else self.conducted.runs
        actions = self.task.model.actions
        return sum((self.task.cost[actions.index(step[0])] for run in runs for step in run), Fraction(0))

    @property
    def claim(self) -> dict[str, Any] | None:
        """What the run shows, as a claim of a certificate; None where it shows nothing."""
        if isinstance(self.verdict, NoneOfThese):
            return with_plant(none_of_these_claim(self.task, self.steps), self.header)
        if not isinstance(self.verdict, Certified):
            return None
        if isinstance(self.plan, Suite):
            return with_plant(conforms_claim(self.plan, self.hypothesis, self.reset, self.steps), self.header)
        assert isinstance(self.plan, Sample)
        # What came before the first reset is a run of its own, if it began where a reset leads.
        resets = sum(action == self.task.model.actions[self.reset] for action, _ in self.before)
        first = resets + (int(self.task.state[self.hypothesis]) == self.plan.spec.start)
        claim = sampled_claim(self.plan, self.hypothesis, self.reset, self.steps, first)
        return with_plant(claim, self.header)

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
                "floor": fraction_text(plan.floor) if plan.floor else None,
            },
            "done": None
            if self.conducted is None
            else {"words": len(self.conducted.runs), "steps": len(self.steps), "cost": fraction_text(self.cost)},
            "faults": [] if self.conducted is None else [str(fault) for fault in self.conducted.faults],
            "plant": self.plant,
            **({} if self.header is None else self.header),
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
    deadline: float | Deadline | None = None,
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
    the plan before the first action. After `deadline` seconds no further word is begun, and the run abstains.
    """
    if (complete is None) == (sample is None):
        raise TaskError(
            "say how, by one of the two: --complete K for a complete suite (complete=K in Python), or --sample N for N "
            "words that are drawn (sample=N)"
        )
    task = as_conformable(_pose(question, reset, reset_cost) if isinstance(question, str | Path) else question)
    h = _choose(task, hypothesis, before)
    home = find_reset(task, reset)
    check_answers(task, home, [int(task.label[h])])
    spec = _specify(task, h, home)
    known = _observed(spec, home, before, int(task.state[h]))
    limit = as_deadline(deadline)
    if resume and (journal is None or not Path(journal).exists()):
        raise FileError(f"{journal}: there is no such journal to resume; leave --resume out to begin one")
    with ExitStack() as stack:
        recorder = Notebook() if journal is None or plant is None else stack.enter_context(Journal(journal))
        if recorder.records and not resume:
            raise FileError(f"{journal}: this journal has begun already; add --resume to go on with it")
        plan = _plan(spec, complete, sample, seed or _recorded_seed(recorder), confidence, known)
        planned = Conformed(task, plan, h, home, before=tuple(before))
        if plant is None:
            return planned
        if announce is not None:
            announce(planned)
        device = as_plant(_open(plant, task, timeout, ask, stack))
        check_identity(device, identity)
        met = recorder.records[1] if len(recorder.records) > 1 else None
        check_same_plant(met if met is not None and met["record"] == "plant" else None, device, identity)
        conducted = conduct(
            device,
            spec,
            home,
            plan.words,
            recorder=recorder,
            commitment=_commit(task, h, home, plan),
            policy=FaultPolicy(retries),
            deadline=limit,
            progress=progress,
        )
        header = run_header(recorder.records)
    steps = (*before, *(step for run in conducted.runs for step in run))
    verdict = _judge(task, h, conducted, steps, len(plan.words), limit)
    found = replace(planned, verdict=verdict, steps=steps, conducted=conducted, plant=device.name, header=header)
    claim = None if certificate is None else found.claim
    if certificate is None or claim is None:
        return found
    write_certificate(certificate, task, [claim])
    return replace(found, certificate=str(certify(task, [claim])[1]))


def read_method(text: str) -> dict[str, int]:
    """How to check conformance, of a text: "complete:K" or "sample:N"."""
    name, _, number = text.partition(":")
    if name not in ("complete", "sample") or not number.isdecimal() or len(number) > 9 or text == "sample:0":
        raise TaskError(f'--conform: {text[:40]!r} is not understood; write "complete:K" or "sample:N", as complete:0')
    return {name: int(number)}


def _pose(file: str | Path, reset: str, reset_cost: Fraction | int | str) -> Task:
    """The task of a problem file, or that of a model: that the plant is this machine, in its initial state."""
    try:
        return pose_conformance(read_listed(file), name=Path(file).stem, reset=reset, reset_cost=reset_cost)
    except NotAModel as problem:
        return read_any_problem(file, problem.text).task


def _choose(task: Task, label: str | None, before: Sequence[tuple[str, str]]) -> int:
    """The hypothesis that is to be confirmed: the first with this label that can have shown what came before."""
    left = find_explaining(task, before)
    if task.about == "start" and label is not None:
        wanted = find_name(label, task.labels, "--label", "a label of the question", TaskError)
        left = [h for h in left if task.label[h] == wanted]
    elif task.about == "start" and len(set(task.label.tolist())) > 1:
        few = ", ".join(task.labels[:8]) + (", ..." if len(task.labels) > 8 else "")
        raise TaskError(
            f"the question has {len(task.labels)} labels ({few}); say which one is to be confirmed with --label "
            "(hypothesis in Python)"
        )
    if not left:
        raise TaskError(
            f"no hypothesis {'' if label is None else f'with the label {label!r} '}explains what came before"
        )
    return left[0]


def _specify(task: Task, h: int, home: Action) -> Specification:
    """What the plant must be equivalent to, if it is this hypothesis."""
    actions = [a for a in task.actions if a != home]
    costs = {a: task.cost[a] for a in actions}
    start = int(task.model.successor[task.state[h], home])
    return specify(task.model, start, actions, cost=costs, reset_cost=task.cost[home])


def _observed(spec: Specification, home: Action, before: Sequence[tuple[str, str]], begun: State) -> tuple[Word, ...]:
    """The words that came before, from reset to reset; those before the first one, if they began where it leads."""
    number = {spec.model.actions[a]: i for i, a in enumerate(spec.actions)}
    words: list[list[int]] = [[]]
    for action, _ in before:
        if action == spec.model.actions[home]:
            words.append([])
        else:
            words[-1].append(number[action])
    return tuple(tuple(word) for word in words[begun != spec.start :] if word)


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
        return plan_suite(spec, complete, observed=observed)
    assert sample is not None
    return plan_sample(spec, seed, sample, rational_field(confidence, "confidence", TaskError))


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


def _judge(
    task: Task, h: int, conducted: Conducted, steps: Steps, num_words: int, deadline: Deadline
) -> Certified | NoneOfThese | Abstained:
    if conducted.unstable is not None:
        word = " ".join(action for action, _ in conducted.unstable)
        return Abstained(f"the plant does not repeat itself: {word!r} read differently the second time")
    if not conducted.disagrees and len(conducted.runs) < num_words:
        return Abstained(f"{deadline.reason}; {len(conducted.runs)} of {num_words} words agreed by then")
    if not conducted.disagrees:
        return Certified(task.labels[int(task.label[h])])
    left = find_explaining(task, steps)
    if left:
        name = task.labels[int(task.label[left[0]])]
        return Abstained(f"it is not the model, and {name!r} still explains all readings")
    return NoneOfThese(conducted.runs[-1])


def find_explaining(task: Task, steps: Sequence[tuple[str, str]]) -> list[int]:
    """The hypotheses that can have shown these steps, in order."""
    records = [LogRecord(number, action, reading) for number, (action, reading) in enumerate(steps, start=1)]
    return starts_explaining(task.model, task.state, records, "step")
