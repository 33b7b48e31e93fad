"""The page of a run: what was asked, done, read and answered, put together as a record that `report/page.py` draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

from ascertain.drawing.shown import say
from ascertain.evidence.evidence import Step
from ascertain.live.faults import ActionOutcome, fault_kind
from ascertain.live.session import Run
from ascertain.observer.controlled import CONTROLLER
from ascertain.observer.records import START, hash_record, hash_records, run_header
from ascertain.observer.staged import View
from ascertain.observer.stages import SwitchReason
from ascertain.pipeline.conform import Conformed
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.report.record import Figure, Page, Section, Series
from ascertain.report.tables import Cell, Table, show, show_ratio

MOST_ROWS = 400
"""Steps that are listed: more are read by nobody, and the first and the last are what is looked for."""
MOST_POINTS = 2000
"""Steps that are drawn: as many as a wide screen has columns."""
BECAME: Final[Mapping[ActionOutcome, str]] = {
    "reading": "the action was sent again, and read",
    "missing": "the action ran; the run went on without the reading",
    "doubt": "nobody knows whether the action ran; the run went on with both cases",
    "failure": "the run ended without an answer",
    "cut short": "the deadline passed, and the run ended without an answer",
}
"""What became of an action at which faults were met."""
WHY: Final[Mapping[SwitchReason, str]] = {
    "eager": "the policy begins with it",
    "trigger": "the trigger exceeded its threshold",
    "rejection": "the nominal was formally rejected",
    "exhausted": "the nominal stage had used up its budget",
    "contradiction": "the nominal cannot have shown what was read, or had no rival left",
    "forbidden": "no action was allowed on the nominal",
}
"""Why a fallback began."""

SETTINGS: Final[Mapping[str, str]] = {
    "policy": "policy",
    "probing": "probing rule",
    "nominal": "nominal",
    "budget": "most actions",
    "wrong": "the policy is wrong with probability at most",
    "abstain": "it abstains with probability at most",
    "cost": "its expected cost is at most",
}
"""How a page names what settings show of themselves; what is not here stands elsewhere on it."""


@final
@dataclass(frozen=True)
class LowerBound:
    """What no experiment can do better than, or why that was not computed."""

    value: Fraction | None
    meaning: str


@final
@dataclass(frozen=True)
class RunStory:
    """All that the page of a run is put together from."""

    problem: str
    run: Run
    records: Sequence[Mapping[str, Any]]
    """Those of the journal, or of a run without one; in a dry run perhaps none."""
    plant: str | None
    truth: str | None
    right: bool | None
    lower: LowerBound
    checked: str | None
    """What the checker says of the certificate; None where the run has none."""
    journal: Path | None = None
    certificate: Path | None = None
    """Where the certificate was written; None where it was only checked."""
    risk_file: Mapping[str, Any] | None = None
    conformed: Conformed | None = None
    """Of an answer that was checked: what became of that."""


def describe_run(story: RunStory) -> Page:
    """The page of a run as a record."""
    history = list(story.run.observer.history())
    origin = "" if story.journal is None else f"the journal is {story.journal}"
    return Page(
        title=f"A run on {story.problem}",
        answer=_answer(story),
        good=isinstance(story.run.verdict, Certified) and (story.conformed is None or story.conformed.exit_code == 0),
        sections=(
            _asked(story),
            _evidence(story, history),
            _done(story, history),
            _faults(story, history),
            _cost(story),
            *(() if story.conformed is None else (_conformance(story.conformed),)),
            _certificate(story),
        ),
        origin=origin,
    )


def _answer(story: RunStory) -> str:
    verdict, observer = story.run.verdict, story.run.observer
    counters = observer.counters
    spent = f"{_count(counters.actions, 'action')}, {_count(counters.readings, 'reading')}, cost {counters.cost}"
    if verdict is None:
        return f"Not ended yet: {spent}; {_next(story)}."
    if not isinstance(verdict, Certified):
        ended = "None of these" if isinstance(verdict, NoneOfThese) else "Abstained"
        return f"{ended}: {verdict.reason} ({spent})."
    tested = None if story.conformed is None else story.conformed.verdict
    if isinstance(tested, NoneOfThese | Abstained):
        ended = "None of these" if isinstance(tested, NoneOfThese) else "Abstained"
        return f"{ended}: {tested.reason}. The experiment had taken it for {verdict.label} ({spent})."
    alpha = observer.settings.alpha
    risk = f"with a risk of at most {show_ratio(alpha)}" if alpha else "with certainty, if the model is right"
    return f"Certified: {verdict.label}, {risk} ({spent})."


def _next(story: RunStory) -> str:
    return "nothing was sent" if story.run.next_action is None else f"the next action is {story.run.next_action}"


def _asked(story: RunStory) -> Section:
    settings = story.run.observer.settings
    question, model = settings.question, settings.model
    about = "the state at the start" if question.about == "start" else "the state when the run ends"
    rows: list[tuple[Cell, ...]] = [
        ("problem", story.problem),
        ("model", repr(model)),
        ("asked about", about),
        ("hypotheses", question.num_hypotheses),
        ("alpha, the risk of a wrong answer", show_ratio(settings.alpha)),
        *(
            (SETTINGS.get(name, name), say(fact))
            for name, fact in settings.shown().items()
            if name in SETTINGS and fact
        ),
        ("plant", story.plant or "not asked: the page was drawn from the records"),
        *((key, value) for key, value in run_header(story.records).items() if value is not None),
    ]
    if story.truth is not None:
        rows.append(("true of this simulated plant", story.truth))
        rows.append(("the answer is right", {True: "yes", False: "NO", None: "there is none"}[story.right]))
    if story.risk_file is not None:
        risk = story.risk_file
        rows.append(("total risk of all runs", f"{risk['total']}, kept in {risk['path']}"))
        rows.append(("spent by all runs, left", f"{risk['spent']}, {risk['left']}"))
        rows.append(("share of this run", risk["share"] or "none: nothing was sent"))
    actions = [(model.actions[a], question.cost[a]) for a in question.actions]
    tables = [Table("settings", "The question and the settings", ("", ""), tuple(rows))]
    if len(actions) <= MOST_ROWS:
        tables.append(Table("actions", "The actions and what they cost", ("action", "cost"), tuple(actions)))
    return Section("asked", "What was asked", tables=tuple(tables))


def _evidence(story: RunStory, history: Sequence[tuple[Step, View]]) -> Section:
    if not history:
        return Section("evidence", "Evidence and rivals", ("Nothing was done, so that there is nothing to draw.",))
    if story.run.observer.settings.policy == CONTROLLER:
        said = "The run followed a policy whose risk was proved before the first action; it collects no evidence."
        return Section("evidence", "Evidence and rivals", (said,))
    drawn = _thin(history)
    x = tuple(float(view.actions) for view in drawn)
    note = "" if len(drawn) == len(history) else f"{len(drawn):,} of {len(history):,} steps are drawn."
    rivals = [math.nan if view.rivals is None else float(view.rivals) for view in drawn]
    many = max((n for n in rivals if not math.isnan(n)), default=0.0) >= 100
    shown = tuple(math.nan if many and n == 0 else n for n in rivals)  # a logarithmic axis has no place for zero
    left = Figure(
        "rivals",
        "Rivals left after each action",
        "actions",
        "states of another label that are not beaten",
        (Series("rivals left", x, shown, mark="steps"),),
        log_y=many,
        whole_x=True,
        whole_y=True,
        note=f"{'A logarithmic axis; none left is not drawn. ' if many else ''}{note}".strip(),
    )
    sentences, figures = [_stages(story)], list[Figure]()
    if story.run.observer.settings.model.is_noisy and any(math.isfinite(view.threshold_nats) for view in drawn):
        figures.append(_nats(drawn, x, note))
    else:
        sentences.append(
            "Evidence is not weighed here: what was read either contradicts a hypothesis or says nothing against it."
        )
    if sum(not math.isnan(n) for n in rivals) * 2 > len(rivals):
        figures.append(left)
    else:
        sentences.append("Rivals are not counted during such a run: there may be millions of them.")
    last = history[-1][1]
    if last.rivals is not None:
        left_over = _count(last.rivals, "rival") if last.rivals else "no rivals"
        sentences.append(f"At the end there {'is' if last.rivals == 1 else 'are'} {left_over} left.")
    return Section("evidence", "Evidence and rivals", tuple(sentences), figures=tuple(figures))


def _nats(drawn: Sequence[View], x: tuple[float, ...], note: str) -> Figure:
    def finite(values: Iterable[float]) -> tuple[float, ...]:
        return tuple(value if math.isfinite(value) else math.nan for value in values)

    # Without a rival the evidence is infinite: it is drawn where it is known to have come to, at the threshold.
    reached = (view.threshold_nats if view.evidence_nats == math.inf else view.evidence_nats for view in drawn)
    return Figure(
        "evidence",
        "Evidence against the strongest rival, and what is needed",
        "actions",
        "nats",
        (
            Series("evidence", x, finite(reached), mark="line"),
            Series("threshold", x, finite(view.threshold_nats for view in drawn), mark="steps"),
        ),
        note=(
            "The threshold is the logarithm of 1/alpha, of the share that the stage may spend. A rival is beaten once "
            f"its evidence has reached it, also if it falls again; without rivals the line is at the threshold. {note}"
        ).strip(),
        whole_x=True,
    )


def _stages(story: RunStory) -> str:
    observer = story.run.observer
    switches = [event for event in observer.events if event.actions]
    if not switches:
        if observer.stage == "fallback":
            return "All hypotheses were compared from the first action on."
        return f"The run had one stage, {observer.stage}."
    told = [f"after {_count(event.actions, 'action')} the {event.stage} began: {WHY[event.why]}" for event in switches]
    return f"{'; '.join(told).replace('after', 'After', 1)}."


def _done(story: RunStory, history: Sequence[tuple[Step, View]]) -> Section:
    model = story.run.observer.settings.model
    noisy = model.is_noisy and any(math.isfinite(view.threshold_nats) for _, view in history)
    fitting = "nothing fits" if story.run.observer.settings.policy != CONTROLLER else None
    rows: list[tuple[Cell, ...]] = []
    for step, view in history:
        read = model.readings[step.reading] if step.reading is not None else "missing" if step.certain else "in doubt"
        nats = (_number(view.evidence_nats), _number(view.threshold_nats)) if noisy else ()
        rows.append(
            (
                view.actions,
                model.actions[step.action],
                read,
                view.label or fitting,
                *nats,
                view.rivals,
                view.cost,
            )
        )
    note = ""
    if len(rows) > MOST_ROWS:
        half = MOST_ROWS // 2
        note = f"The first {half} and the last {half} of {len(rows):,} actions; the journal has them all."
        rows = [*rows[:half], *rows[-half:]]
    nats = ("evidence (nats)", "needed") if noisy else ()
    columns = ("", "action", "reading", "leading label", *nats, "rivals left", "cost so far")
    table = Table("steps", "Every action and what was read", columns, tuple(rows), note)
    sentences = () if rows else ("Nothing was done.",)
    return Section("done", "What was done and read", sentences, (table,) if rows else ())


def _faults(story: RunStory, history: Sequence[tuple[Step, View]]) -> Section:
    run, model = story.run, story.run.observer.settings.model
    rows: list[tuple[Cell, ...]] = []
    for (number, outcome), fault in zip(run.met, run.faults, strict=True):
        rows.append((number, fault_kind(fault), str(fault), BECAME[outcome]))
    known = {number for number, _ in run.met}
    for number, (step, _) in enumerate(history, start=1):
        if step.reading is None and number not in known:
            told = f"{model.actions[step.action]}: recorded in the journal, which keeps no more of a fault"
            outcome: ActionOutcome = "missing" if step.certain else "doubt"
            rows.append((number, outcome, told, BECAME[outcome]))
    if not rows:
        return Section("faults", "Faults", ("The plant showed no faults.",))
    rows.sort(key=lambda row: row[0] if isinstance(row[0], int) else 0)
    note = f"The first {MOST_ROWS} of {len(rows):,}." if len(rows) > MOST_ROWS else ""
    columns = ("action", "kind", "what was met", "what became of it")
    table = Table("faults", "Faults of the plant", columns, tuple(rows[:MOST_ROWS]), note)
    return Section("faults", "Faults, and what became of them", tables=(table,))


def _cost(story: RunStory) -> Section:
    cost, lower = story.run.observer.counters.cost, story.lower
    sentences = [f"The actions cost {cost} together."]
    if lower.value is None:
        sentences.append(f"No lower bound was computed: {lower.meaning}.")
    else:
        sentences.append(f"The lower bound is {show(lower.value)}: {lower.meaning}.")
    return Section("cost", "Cost", tuple(sentences))


def _conformance(conformed: Conformed) -> Section:
    """Whether the plant is what the answer names at all."""
    sentences = [f"The plan: {conformed.price}."]
    if conformed.statement is not None:
        sentences.append(f"All words agreed, so that {conformed.statement}.")
    elif isinstance(conformed.verdict, Abstained):
        sentences.append(f"Undecided: {conformed.verdict.reason}.")
    if not isinstance(conformed.verdict, NoneOfThese):
        return Section("conformance", "Conformance: is it this machine at all?", tuple(sentences))
    sentences.append(f"It is none of the hypotheses: {conformed.verdict.reason}.")
    table = Table("witness", "The word that shows it", ("action", "reading"), conformed.verdict.witness)
    return Section("conformance", "Conformance: is it this machine at all?", tuple(sentences), (table,))


def _certificate(story: RunStory) -> Section:
    rows: list[tuple[Cell, ...]] = []
    if story.checked is not None:
        rows.append(("the checker says", story.checked))
    if story.certificate is not None:
        beside = f"{story.certificate.name.removesuffix('.json')}.task.json"
        rows.append(("certificate", str(story.certificate)))
        rows.append(("check it again", f"python -P -m ascertain_check {beside} {story.certificate.name}"))
    if story.records:
        rows.append(("commitment, SHA-256", hash_record(START, story.records[0])))
        rows.append(("head of all records, SHA-256", hash_records(story.records)))
        rows.append(("task, SHA-256", story.records[0]["task_sha256"]))
        rows.append(("made by", story.records[0]["made_by"]))
    said = (
        "The certificate of this run was made and checked; a stranger checks it with the standard library of Python."
        if story.checked is not None
        else "There is no certificate: only an answer is certified."
    )
    if story.checked is not None and story.certificate is None:
        said += " It was not written to a file; --certificate NAME.json does that."
    assumed = Table("assumptions", "What it assumes", ("assumption", "otherwise"), _assumptions(story))
    proof = (Table("proof", "The certificate and the records", ("", ""), tuple(rows)),) if rows else ()
    return Section("certificate", "The certificate, and what it assumes", (said,), (*proof, assumed))


def _assumptions(story: RunStory) -> tuple[tuple[Cell, ...], ...]:
    """Those of `docs/guarantees.md` that concern this run."""
    settings, steps = story.run.observer.settings, story.run.observer.transcript
    found = [("The plant is one of the hypotheses, and moves and reads as the model says", "nothing is guaranteed")]
    if story.conformed is not None and story.conformed.statement is not None:
        found = [("The plant is deterministic, and a reset leads it to one state", "conformance shows nothing")]
        if not story.conformed.names_label:
            found.append(("The plant began in one of the hypotheses", "the answer may be wrong"))
    if settings.model.is_noisy:
        found.append(
            (
                "Readings are wrong at most as often as declared, whatever was read before",
                "the risk is larger than alpha",
            )
        )
    if any(step.reading is None and step.certain for step in steps):
        found.append(("Readings were lost for reasons that have nothing to do with their values", "the risk is larger"))
    if any(not step.certain for step in steps):
        found.append(("Whether an action in doubt ran does not depend on noise still to come", "the risk is larger"))
    found.append(("The commitment was made before the first reading", "the settings may have been chosen to please"))
    found.append(("Actions and readings were recorded as they happened", "the certificate is about another run"))
    if story.risk_file is None:
        found.append(("No other run of the question was made and thrown away", "risks add up: use a risk file"))
    else:
        found.append(("All runs of the question took their share of the risk file", "risks add up beyond its total"))
    return tuple(found)


def _thin(history: Sequence[tuple[Step, View]]) -> list[View]:
    """As many steps as are drawn, the last one among them."""
    apart = max(1, math.ceil(len(history) / MOST_POINTS))
    return [view for number, (_, view) in enumerate(history, start=1) if number % apart == 0 or number == len(history)]


def _number(value: float) -> str:
    return "infinite" if value == math.inf else "-infinite" if value == -math.inf else f"{round(value, 2) + 0.0:,.2f}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
