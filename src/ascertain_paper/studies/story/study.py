"""One operation told as a story: its log, what was replaced, the evidence, the rivals, the verdict, the certificate."""

from __future__ import annotations

import math

from ascertain.bank.operation import Replacement
from ascertain.report.record import Figure, Series
from ascertain.report.tables import Cell, Table, show_ratio
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.studies.story.run import NAME, Story, facts_of, live_through
from ascertain_paper.study import Excerpt, Study

AROUND = 2
"""Lines of the log that are shown before and after one that matters."""


def study(conditions: Conditions) -> Study:
    """The story; it has one form."""
    return tell(live_through(conditions.testbed))


def tell(story: Story) -> Study:
    """The story as a section of the report."""
    wrong = story.acceptance is not None and story.acceptance.label != _truth(story)
    refuted = bool(story.certificate) and not story.checked.startswith("VERIFIED")
    return Study(
        name="story",
        title="One operation, from its log to its certificate",
        quick=False,
        question="Where was the plant when fresh readings began, if commands of its log were replaced unnoticed?",
        answer=_answer(story),
        rows=(facts_of(story),),
        tables=(_replaced_table(story), _run_table(story)),
        figures=_figures(story),
        findings=_findings(story),
        alarms=(
            *(["the answer of the worked operation is WRONG"] if wrong else []),
            *([f"the certificate of the worked operation: {story.checked}"] if refuted else []),
        ),
        facts=facts_of(story),
        excerpts=_excerpts(story),
        attachments={f"{NAME}.json": story.certificate, f"{NAME}.task.json": story.task} if story.certificate else {},
    )


def _truth(story: Story) -> str:
    return story.question.label_of(story.operation.true_endpoint)


def _answer(story: Story) -> str:
    observer = story.observer
    if story.acceptance is None:
        return f"No answer after {observer.counters.readings} readings: {story.run.verdict}."
    right = "the right" if story.acceptance.label == _truth(story) else "a WRONG"
    return (
        f"{observer.counters.readings} readings certify {right} state of {1 << story.question.model.num_bits:,}, at a "
        f"risk of at most {show_ratio(observer.risk_budget.alpha)}; the checker says {story.checked}."
    )


def _findings(story: Story) -> tuple[str, ...]:
    operation, observer = story.operation, story.observer
    family = story.testbed.settings.families[operation.slot.family]
    sentences = [
        f"{operation.sent.size} commands were sent to a plant of {story.question.model.num_bits} bits, and "
        f"{family.replacements} of them replaced by others, which nobody noticed. By the log as sent the plant "
        f"ended in {story.question.label_of(operation.nominal_endpoint)}, the nominal.",
    ]
    for event in observer.events:
        sentences.append(
            f"After {event.readings} fresh readings the nominal no longer explained what was read ({event.why}): the "
            f"bank was compiled from the log, {observer.counters.compile_steps:,} model steps, "
            f"{story.acceptance.bank.num_candidates if story.acceptance else 0} candidates in the first shells."
        )
    verdict = f"The verdict: {story.run.verdict}, after {observer.counters.readings} readings."
    if story.acceptance is not None:
        right = "right" if story.acceptance.label == _truth(story) else "WRONG"
        verdict = (
            f"After {observer.counters.readings} readings all of the other "
            f"{(1 << story.question.model.num_bits) - 1:,} states were beaten, and the observer answered "
            f"{story.acceptance.label}, which is {right}. The risk of a wrong answer was at most "
            f"{show_ratio(observer.risk_budget.alpha)}, {_shares(story)}. The checker says {story.checked}."
        )
    return (*sentences, verdict)


def _shares(story: Story) -> str:
    """How the stages share the run's risk, as the end of a sentence."""
    shares = [f"{show_ratio(each.amount)} in the {each.name} stage" for each in story.observer.risk_budget.shares]
    return f"of which {' and '.join(shares)}" if len(shares) > 1 else "all of it in one stage"


def _excerpts(story: Story) -> tuple[Excerpt, ...]:
    shown = [
        Excerpt(
            "The log, where it matters",
            _log_excerpt(story),
            "Marked lines were replaced in truth; the observer is not told. Readings that are not trusted are wrong "
            f"with probability {story.testbed.settings.log_flip}.",
        )
    ]
    if story.certificate:
        lines = (
            f"$ python -P -m ascertain_check {NAME}.task.json {NAME}.json",
            story.checked,
            *story.proved,
            "",
            f"certificate  {NAME}.json, {len(story.certificate):,} bytes",
            f"sha256       {story.certificate_hash}",
            f"journal head {story.head}",
        )
        note = (
            "Both files lie beside this page. The risk that the checker names is the share of the stage that answered; "
            f"the whole run has {show_ratio(story.observer.risk_budget.alpha)}."
        )
        shown.append(Excerpt("The certificate", "\n".join(lines), note))
    return tuple(shown)


def _log_excerpt(story: Story) -> str:
    operation, actions = story.operation, story.question.model.actions
    replaced = dict(operation.replacements)
    wanted = sorted({i + d for i in replaced for d in range(-AROUND, AROUND + 1) if 0 <= i + d < operation.sent.size})
    lines = [f"{'position':>8}  {'sent':<8} {'read':>4}  "]
    for before, i in zip([-1, *wanted], wanted, strict=False):
        if i > before + 1:
            lines.append("     ...")
        trust = "trusted" if operation.trusted[i] else ""
        mark = f"<- replaced by {' '.join(actions[a] for a in replaced[i])}" if i in replaced else ""
        lines.append(
            f"{i + 1:>8}  {actions[operation.sent[i]]:<8} {operation.readings[i]:>4}  {trust:<8} {mark}".rstrip()
        )
    if wanted and wanted[-1] < operation.sent.size - 1:
        lines.append("     ...")
    return "\n".join(lines)


def _replaced_table(story: Story) -> Table:
    body: list[tuple[Cell, ...]] = [_replaced_row(story, "what happened", r) for r in story.operation.replacements]
    if story.witness is not None:
        rows = [_replaced_row(story, "what the log and the answer suggest", r) for r in story.witness.replacements]
        body += rows or [("what the log and the answer suggest", None, "-", "nothing was replaced")]
    return Table(
        "replaced",
        "What was replaced",
        ("", "position", "sent", "done instead"),
        tuple(body),
        "The second is a path of least score that ends in the state that was certified. The state is certified; the "
        "path is an explanation, and others may end in the same state.",
    )


def _replaced_row(story: Story, who: str, replacement: Replacement) -> tuple[Cell, ...]:
    actions, (position, word) = story.question.model.actions, replacement
    done = " ".join(actions[a] for a in word) or "nothing"
    return who, position + 1, actions[int(story.operation.sent[position])], done


def _run_table(story: Story) -> Table:
    observer = story.observer
    shares = [(f"share of the {share.name} stage", show_ratio(share.amount)) for share in observer.risk_budget.shares]
    body: list[tuple[Cell, ...]] = [
        ("readings", f"{observer.counters.readings:,}"),
        ("model steps", f"{observer.counters.model_steps:,}"),
        ("alpha, the risk of the run", show_ratio(observer.risk_budget.alpha)),
        *shares,
        ("nominal", story.question.label_of(story.operation.nominal_endpoint)),
        ("truth", _truth(story)),
        ("answer", "abstained" if story.acceptance is None else story.acceptance.label),
        ("last rival to be beaten", None if story.last_rival is None else story.question.label_of(story.last_rival)),
        ("checker", story.checked or "no answer, no certificate"),
    ]
    return Table("run", "The run", ("", "value"), tuple(body))


def _figures(story: Story) -> tuple[Figure, ...]:
    if not story.evidence_nats or story.acceptance is None:
        return ()
    reads = tuple(float(number) for number, _ in story.evidence_nats)
    needed = -math.log(story.acceptance.alpha)
    series = [
        Series("against the last rival", reads, tuple(nats for _, nats in story.evidence_nats), mark="steps"),
        Series("needed: log(1/share)", (reads[0], reads[-1]), (needed, needed), mark="line"),
    ]
    if story.observer.events:
        first = tuple(float(t + 1) for t in range(len(story.trigger_nats)))
        bound = math.log(1 + story.settings.threshold)
        series += [
            Series("trigger, against the nominal", first, story.trigger_nats, mark="steps"),
            Series("switch: log(1 + lambda)", (first[0], first[-1]), (bound, bound), mark="line"),
        ]
    left = tuple((number, count) for number, count in story.rivals if count)
    return (
        Figure("evidence", "Evidence over reads against its threshold", "reading", "evidence (nats)", tuple(series)),
        Figure(
            "rivals",
            "Rivals left",
            "reading",
            "states of another label, not beaten",
            (Series("rivals", tuple(float(n) for n, _ in left), tuple(float(c) for _, c in left), mark="steps"),),
            log_y=True,
            note=f"Of {1 << story.question.model.num_bits:,} states; the line ends before the last one is beaten.",
        ),
    )
