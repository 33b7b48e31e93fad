"""Observe: an experiment on a live plant, until the question is settled at the stated risk or it has to abstain.

problem -> settings of the observer -> commitment -> plant -> session -> verdict -> conformance -> certificate -> check
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import cast

from ascertain.bank.calibration_file import Calibration
from ascertain.bank.operation import Operation
from ascertain.certificate.write import write_certificate
from ascertain.errors import FileError, PlantFault, TaskError, did_you_mean
from ascertain.live.deadline import Deadline, as_deadline
from ascertain.live.faults import FaultPolicy
from ascertain.live.journal import Journal, has_begun
from ascertain.live.recorder import Notebook, check_same_plant
from ascertain.live.resume import Resumed, begin_controlled, begin_run, committed_misfit, committed_probing
from ascertain.live.session import Run, resume_plant, run_session
from ascertain.live.speculation import SpeculativeBank
from ascertain.live.witnesses import Witness, command_witness
from ascertain.observer.banks import OperationBank
from ascertain.observer.records import START, Record, hash_record, run_header
from ascertain.observer.settings import POLICIES, PolicyName
from ascertain.pipeline import Tell, ignore
from ascertain.pipeline.certify import certify
from ascertain.pipeline.cheap_bound import bound_cheaply
from ascertain.pipeline.checked_answer import RESET, pose_check
from ascertain.pipeline.control import CERTIFIED, PLAN_TIME, SharedPlan
from ascertain.pipeline.moments import Proposal, Watch, explain_proposal, look_at
from ascertain.pipeline.observed import Observed
from ascertain.pipeline.risk import RunRisk
from ascertain.pipeline.run_claims import list_claims
from ascertain.pipeline.run_page import RunStory, describe_run
from ascertain.plant.abstract import AbstractPlant, as_plant, check_identity
from ascertain.plant.replayed import ReplayedPlant
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.problem.hosts import Host
from ascertain.problem.observer import pose_observer, price_policies
from ascertain.problem.plants import open_plant
from ascertain.problem.problem import Problem, as_problem
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.supports import find_uncertain_pair
from ascertain.report.page import check_page, write_page
from ascertain.task.question import AbstractQuestion
from ascertain.types import Plant, Progress

MAX_OBSTRUCTED = 200
"""States of a question that is looked through for obstruction before a run: more would delay the first action."""

NO_PLANT = "--plant PLANT is needed: only a dry run and a journal that has ended do without one"
"""Said before anything is done, or when the journal has been read."""
NO_JOURNAL = "--resume needs --journal FILE, the journal to go on with"
"""Said before anything is done."""


def observe(
    problem: Problem | AbstractQuestion | str | Path,
    plant: str | Plant | None = None,
    *,
    nominal: str | None = None,
    operation: Operation | None = None,
    policy: PolicyName | str | Path | None = None,
    plan_time: float = PLAN_TIME,
    alpha: Fraction | int | str | None = None,
    probing: str | None = None,
    budget: int | None = None,
    shells: int | Calibration | None = None,
    journal: str | Path | None = None,
    resume: bool = False,
    certificate: str | Path | None = None,
    timeout: float = 10.0,
    retries: int = 2,
    strict: bool = False,
    identity: str | None = None,
    approve: Callable[[str], bool] | None = None,
    propose: Callable[[Proposal], bool] | None = None,
    stopped: Callable[[], bool] | None = None,
    ask: Callable[[str], str] = input,
    watch: Watch | None = None,
    note: Tell = ignore,
    dry_run: bool = False,
    deadline: float | Deadline | None = None,
    speculate: bool = False,
    risk_file: str | Path | None = None,
    total_alpha: Fraction | int | str | None = None,
    risk_schedule: str | None = None,
    report: str | Path | None = None,
    conform_by: str | None = None,
    reset: str = RESET,
    progress: Progress | None = None,
    host: Host | None = None,
    plans: SharedPlan | None = None,
    witnesses: Sequence[Witness | str] = (),
) -> Observed:
    """Run the experiment that settles the problem on a plant, and answer or abstain.

    `problem` is a question made in Python, a problem, or the name of a problem file. `nominal` names the state that the
    plant should be in, `operation` is what went before; without them all hypotheses are alike. `plant` is a text such
    as "simulated:7" or "exec:python plant.py" (`problem.plants` lists the kinds), or anything that has `send`; a dry
    run and a journal that has ended do without.
    `policy`, `alpha`, `probing`, `budget` and `shells` go before what the problem file says. Of the bank so many
    `shells` are kept, or as many as a calibration says; without either, all. Where the problem prices computation and
    names no policy, the one is taken that is expected to cost least. With a `journal` the run outlives a crash, and
    `resume` goes on where it ends. An answer is certified in the file `certificate`.

    `policy` is "eager", "staged", "readwise" or "reuse", which collect evidence; a policy file, which is followed; or
    "certified": the best policy that is found in `plan_time` seconds, whose risk is proved before the first action.
    Without one, a noisy question of few hypotheses that has both risks, and about which nothing else is said, is
    settled by a certified policy if one is found; `note` hears which it is.

    A plant may take `timeout` seconds to answer and is asked again `retries` times where that is safe; with `strict`
    the first missing reading ends in an abstention. A plant of another name than `identity` is refused. `approve` is
    asked before each action, and so is `propose`, which hears why as well; a no ends the run, and so does `stopped`, at
    any moment, where it says that a person wants that. `ask` is asked for the readings of a plant that a person plays,
    `watch` is shown every step, and `note` hears warnings. A dry run sends nothing and says what the next action would
    be.

    With a `deadline` the run abstains when so many seconds have passed, also while it compiles or waits for the plant;
    a run that is resumed has its own. With `speculate` the bank is compiled in another process while readings are
    taken; the answer is the same, and a fallback is not waited for as long.

    With a `risk_file` the run takes its alpha from a total risk that many runs share (`live/risk_file.py`), and is
    refused when too little is left; `total_alpha` and `risk_schedule` ("equal:N", "geometric:R") begin one.

    Each of the `witnesses`, a function or a command, is given the hash of the first record before that is written and
    before anything is sent; what one raises keeps the run from beginning (`live/witnesses.py`).

    In a fleet (`observe_fleet`) the text of the plant is filled in by what is known of the `host`, and `plans` keeps
    the policy that is found, for all hosts.

    The run is told on a page in the file `report` (HTML; the extra `plots`). The page of a journal can be drawn later,
    with `resume`: if its run has ended nothing is sent, and otherwise `dry_run` sends nothing.

    An answer holds if the plant is one of the hypotheses. With `conform_by`, "complete:K" or "sample:N", words that
    begin with the action `reset` check that after the answer (`conform`): for a plant without noise, in the journal
    FILE.conformance beside the `journal`, within the same `deadline`; `progress` counts the words.
    """
    if report is not None:
        check_page(report)
    if plant is None and not (dry_run or resume):
        raise TaskError(NO_PLANT)
    if resume and journal is None:
        raise TaskError(NO_JOURNAL)
    if resume and journal is not None and not Path(journal).exists():
        raise FileError(f"{journal}: there is no such journal to resume; leave --resume out to begin one")
    if journal is not None and not (resume or dry_run) and has_begun(journal):  # before a policy is looked for
        raise FileError(f"{journal}: this journal has begun already; add --resume to go on with it")
    if risk_file is None and (total_alpha is not None or risk_schedule is not None):
        raise TaskError("--total-alpha and --risk-schedule need --risk-file FILE, which keeps what is spent")
    tellers = [command_witness(witness) if isinstance(witness, str) else witness for witness in witnesses]
    posed = as_problem(problem)
    check = pose_check(conform_by, posed, reset, approve, journal, resume)
    shared = None if risk_file is None else RunRisk(risk_file, total_alpha, risk_schedule, alpha, journal)
    limit = as_deadline(posed.observe.deadline if deadline is None else deadline)
    limit = limit if stopped is None else replace(limit, stopped=stopped)
    with ExitStack() as stack:
        resumed = None
        if resume and journal is not None:
            resumed = stack.enter_context(Journal(journal, read_only=dry_run))
        if shared is not None:
            alpha = stack.enter_context(shared.taken(posed.question, resumed, dry_run=dry_run))
        control = (plans or SharedPlan()).choose(
            posed,
            policy,
            alpha=alpha,
            budget=budget,
            decided=nominal is not None or operation is not None or probing is not None or resume,
            recorded=resumed.records[0] if resumed is not None and resumed.records else None,
            seconds=plan_time,
            tell=note,
        )
        kept = background = choice = None
        if control is None:
            committed = None if resumed is None else committed_probing(resumed.records, posed.question)
            settings, make_bank = pose_observer(
                posed,
                nominal=nominal,
                operation=operation,
                policy=_evidence_policy(policy),
                alpha=alpha,
                misfit=None if posed.misfit is not None or resumed is None else committed_misfit(resumed.records),
                probing=probing or posed.observe.probing or committed,
                budget=budget,
                shells=shells,
            )
            if policy is None:
                settings, make_bank, choice = price_policies(posed, settings, make_bank)
            if choice is not None:
                note(str(choice))
            kept = make_bank.kept if isinstance(make_bank, OperationBank) else None
            question = settings.question
            if speculate and settings.policy == "incremental":
                note("nothing is speculated on: the policy incremental compiles shells one by one, as they are wanted")
            elif speculate and isinstance(make_bank, OperationBank):
                make_bank = background = stack.enter_context(SpeculativeBank(make_bank))
            elif speculate:
                note("there is nothing to speculate on: the problem has no operation whose bank is to be compiled")
            begin = partial(begin_run, settings=settings, make_bank=make_bank)
        else:
            question = control.settings.question
            posed = replace(posed, question=question)
            note(control.sentence)
            begin = partial(begin_controlled, settings=control.settings)
        _refuse_certainty(question)
        for warning in _list_warnings(question):
            note(warning)
        recorder = resumed or Notebook()
        if journal is not None and not (resume or dry_run):
            recorder = stack.enter_context(Journal(journal))
        begun = begin(recorder, resume=resume, after_fault=plant is not None, deadline=limit)
        if begun.remark is not None:
            note(f"the run has ended with a fault of the plant and does not go on: {begun.remark}; begin another one")
        if limit.is_over and begun.observer.verdict is None:
            begun = begun.out_of_time(limit)
        if begun.commitment is not None and not dry_run:
            for witness in tellers:
                witness(hash_record(START, begun.commitment))
        if background is not None and not dry_run and begun.may_fall_back:
            background.begin()
        device = None
        ended = not begun.meets_plant and not dry_run
        if check is not None and ended and check.is_over(begun.observer.verdict, journal):
            # The plant may have gone since: that does not cost what is known of it.
            device = _stand_in(begun.plant)
        elif not dry_run and (begun.meets_plant or check is not None):
            if plant is None:
                raise TaskError(NO_PLANT)
            try:
                if isinstance(plant, str):
                    patience = min(timeout, limit.left or timeout)
                    name = name_run(None if journal is None or not begun.meets_plant else Path(journal), begun.attempt)
                    plant = open_plant(plant, posed, timeout=patience, run=name, ask=ask, host=host)
                    stack.callback(plant.close)
                device = _greet(as_plant(plant), begun, identity)
            except PlantFault:
                if not limit.is_over:
                    raise
                begun = begun.out_of_time(limit)
        if shared is not None:
            shared.begin()
        run = run_session(
            begun.observer,
            device or ReplayedPlant((), "nothing is sent"),
            recorder=recorder,
            commitment=begun.commitment,
            pending=begun.pending,
            recorded_events=begun.recorded_events,
            cause=begun.cause,
            recovery=begun.recovery if begun.meets_plant else None,
            name_plant=device is not None and begun.names_plant,
            approve=approve,
            propose=None if propose is None else lambda seen, action: propose(explain_proposal(seen, action)),
            dry_run=dry_run,
            watch=None if watch is None or device is None else lambda seen, heard: watch(look_at(seen, heard)),
            policy=FaultPolicy(retries, strict),
            deadline=limit,
        )
        if shared is not None and not dry_run:
            shared.end(run.verdict, note)
        records, question = recorder.records, run.observer.settings.question
        truth, right = _compare(run, device if begun.meets_plant else None)
        conformed = None
        if check is not None and device is not None and isinstance(run.verdict, Certified):
            patience = {"retries": 0 if strict else retries, "deadline": limit}
            conformed = check.run(run, device, journal, resume, note, **patience, progress=progress)
    # A page tells what the checker says also where nothing is written.
    certify_it = certificate is not None or report is not None
    claims = list_claims(run, records, control, conformed, note) if certify_it else ()
    checked = str(certify(question, claims)[1]) if claims else None
    written = certificate if claims else None
    if written is not None:
        write_certificate(written, question, claims)
    priced = run.observer.counters.generalised_cost(**posed.prices) if posed.prices else None
    if priced is not None and choice is not None:
        priced += choice.model_steps * posed.prices.get("model_step", 0)
    risk = None if shared is None else shared.facts()
    named = None if device is None else device.name
    if report is not None:
        story = RunStory(
            problem=str(posed.path),
            run=run,
            records=records,
            plant=named,
            truth=truth,
            right=right,
            lower=bound_cheaply(posed, run.observer.settings.alpha),
            checked=checked,
            journal=None if journal is None else Path(journal),
            certificate=None if written is None else Path(written),
            risk_file=risk,
            conformed=conformed,
        )
        write_page(report, describe_run(story))
    return Observed(
        run,
        named,
        truth,
        right,
        None if written is None else checked,
        kept,
        priced,
        control,
        claims,
        risk,
        choice,
        conformed,
        run_header(records),
    )


def _refuse_certainty(question: AbstractQuestion) -> None:
    """Refuse to be certain of what noise never settles."""
    pair = None if question.alpha else find_uncertain_pair(question)
    if pair is not None:
        raise TaskError(
            f"alpha is 0, and with noise nothing rules out {pair[0]!r} against {pair[1]!r} for certain: whatever one "
            "of them shows, the other may; set [risk] alpha above 0, or --alpha, such as 1/1000000"
        )


def _list_warnings(question: AbstractQuestion) -> list[str]:
    """What is known beforehand to keep a run from settling the question."""
    found: list[str] = []
    if question.alpha == 0 and question.model.is_noisy:
        found.append(
            "alpha is 0, so a rival is beaten only by a reading that it can never show; set [risk] alpha, or --alpha"
        )
    # A plant whose states are not listed has no quotient to be looked through.
    few = question.model.listed is not None and question.model.num_states <= MAX_OBSTRUCTED
    obstruction = find_obstruction(question) if few else None
    if obstruction is not None:
        found.append(f"{obstruction.sentence}; if either is true, this run will not settle it")
    return found


def _greet(plant: AbstractPlant, begun: Resumed, identity: str | None) -> AbstractPlant:
    """The plant, known to be the one meant, and told of what went before."""
    check_identity(plant, identity)
    check_same_plant(begun.plant, plant, identity)
    if begun.commitment is None and begun.meets_plant and not begun.recovers:
        resume_plant(plant, begun.observer, begun.steps_before)
    return plant


def _stand_in(met: Record | None) -> AbstractPlant:
    """In the place of a plant that nothing is sent to: named as it was, or not at all."""
    plant = ReplayedPlant((), "nothing is sent")
    if met is not None:
        plant.name = met["identity"] or met["address"] or plant.name
        plant.identity, plant.address = met["identity"], met["address"]
    return plant


def name_run(journal: Path | None, attempt: int = 0) -> str:
    """What a plant that remembers runs is told: the same again when a journal is resumed, unless it has failed."""
    if journal is None:
        return token_hex(8)
    name = os.path.abspath(journal) + (f" {attempt}" if attempt else "")
    return sha256(name.encode()).hexdigest()[:16]


def _compare(run: Run, plant: AbstractPlant | None) -> tuple[str | None, bool | None]:
    """Of a simulated plant, what it began as, and whether the answer is right."""
    if not isinstance(plant, SimulatedPlant):
        return None, None
    question, verdict = run.observer.settings.question, run.verdict
    labels = question.true_labels(plant.start, plant.state)
    right = verdict.label in labels if isinstance(verdict, Certified) and labels else None
    return question.name_start(plant.start), right


def _evidence_policy(policy: str | Path | None) -> PolicyName | None:
    """The policy that collects evidence; one that is not known is refused by the settings, with what is known."""
    if policy is not None and policy not in POLICIES:
        hint = did_you_mean(str(policy), (*POLICIES, CERTIFIED))
        known = f"{', '.join(POLICIES)}, {CERTIFIED}, or a policy file"
        raise TaskError(f"policy: {str(policy)!r} is not known{hint}; {known}")
    return cast("PolicyName | None", policy)
