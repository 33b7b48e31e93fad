"""The first eight shells on the operations of the controllers' study: what a small bank changes in the closed loop.

Every operation is decided twice by the same policy on the same stream, once with the whole bank to fall back on and
once with its first eight shells and the nominal, with all candidates weighted alike as in the paper. A run that never
falls back does not look at the bank, so that it is the same run with either. Model steps are those of the observer,
propagation and verification; compiling is apart, as it takes the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.bank.weights import DEFAULT, EQUAL
from ascertain.observer.staged import Observer
from ascertain.report.tables import Cell, Table
from ascertain.task.bank import Bank
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import WITHIN, Comparison, compare_under
from ascertain_paper.studies.confirmation.study import SHELLS
from ascertain_paper.studies.confirmation.tables import READS_TOLERANCE, change, change_error, weights_choice
from ascertain_paper.studies.observing import Controller, observer_settings, outcome, settle_on_stream, slot_data
from ascertain_paper.study import OpenChoice, Study
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.settings import Settings

Results: TypeAlias = Sequence[Mapping[str, Any]]
STAGED = Controller("staged", "staged", equal_weights=True)
WEIGHTED = Controller("our weights, staged", "staged")
CONTROLLERS = {
    "quick": (STAGED, WEIGHTED),
    "full": (
        STAGED,
        Controller("readwise 100", "readwise", 100, equal_weights=True),
        Controller("eager", "eager", equal_weights=True),
        WEIGHTED,
    ),
}
"""Of each form; the first is the one that stands beside the paper's, and ours the last."""
MEASURED = 2
"""Since version 0.1.0 candidates weigh alike, and a beaten one takes no more steps."""
METRICS = {"fallback candidates": "candidates", "model steps": "model_steps", "physical reads": "reads"}
CHOICES = (
    OpenChoice(
        "Which policy is replayed",
        "staged; in the full form readwise 100 and eager as well",
        "with eager every operation falls back, with the others about as many as are active",
    ),
    OpenChoice(
        "What model steps are counted",
        "those of the observer; compiling is left out, as it is the same for both banks",
        "with the compiler's steps the change would be smaller",
    ),
    weights_choice(),
)


def study(conditions: Conditions) -> Study:
    """The replay; its quick form is of the staged policy alone."""
    results = replay_operations(conditions)
    return summarise_replay(conditions.settings, results, quick=conditions.quick)


def replay_operations(conditions: Conditions) -> list[dict[str, Any]]:
    """All prospective operations, by each policy with either bank."""
    number = len(list(conditions.testbed.slots()))
    controllers = CONTROLLERS[conditions.form]
    cases = [(conditions.settings.text, i, controllers) for i in range(number)]
    return conditions.campaign("replay", replay_operation, cases, "operations", chunk=24, measured=MEASURED)


def replay_operation(case: tuple[str, int, tuple[Controller, ...]]) -> dict[str, Any]:
    """One operation: a pure function of the testbed's settings and its number."""
    text, number, controllers = case
    testbed = testbed_of(text)
    operation = testbed.draw(list(testbed.slots())[number])
    stream = testbed.stream(operation)
    compiled = compile_bank(testbed.logged(operation))
    banks = {
        weighting: [bank_shells(compiled, limit, weighting) for limit in (compiled.num_shells, SHELLS)]
        for weighting in (EQUAL, DEFAULT)
    }
    runs: dict[str, Any] = {}
    for controller in controllers:
        settings = observer_settings(testbed, operation, controller)
        whole, few = banks[EQUAL if controller.equal_weights else DEFAULT]
        observer = settle_on_stream(testbed, operation, stream, settings, whole)
        again = settle_on_stream(testbed, operation, stream, settings, few) if observer.events else observer
        runs[controller.name] = [_run(operation, observer, whole), _run(operation, again, few)]
    return {"operation": slot_data(operation.slot), "active": operation.active, "runs": runs}


def _run(operation: DrawnOperation, observer: Observer, bank: Bank) -> dict[str, Any]:
    counters = observer.counters
    return {
        "candidates": len(bank.states) * counters.compilations,
        "model_steps": counters.propagation_steps + counters.verifier_steps,
        "reads": counters.readings,
        "compilations": counters.compilations,
        "outcome": outcome(operation, observer),
    }


def summarise_replay(settings: Settings, results: Results, *, quick: bool) -> Study:
    """The tables and the findings of the replay."""
    # A store that is resumed gives the controllers in another order.
    names = [controller.name for controller in CONTROLLERS["full"] if controller.name in results[0]["runs"]]
    rows = tuple(_row(name, place, results) for name in names for place in (0, 1))
    pairs = {name: (rows[2 * k], rows[2 * k + 1]) for k, name in enumerate(names)}
    full, eight = pairs[STAGED.name]
    return Study(
        name="replay",
        title="The first eight shells in the closed loop",
        quick=quick,
        question="What do the first eight shells save in the closed loop, and is every answer still right?",
        rows=rows,
        tables=(
            _table(full, eight, results, compare_under(settings)),
            *([_other_table(pairs)] if len(pairs) > 1 else []),
        ),
        findings=(
            f"With eight shells staging answers {eight['correct']} of {eight['operations']} operations correctly, with "
            f"{change(full['candidates'], eight['candidates']):+.2f} % candidates, "
            f"{change(full['model_steps'], eight['model_steps']):+.2f} % model steps and "
            f"{eight['reads'] - full['reads']:+d} reads.",
        ),
        alarms=tuple(f"{row['policy']}, {row['bank']}: {row['wrong']} WRONG answers" for row in rows if row["wrong"]),
        choices=CHOICES,
    )


def _row(name: str, place: int, results: Results) -> dict[str, Any]:
    runs = [result["runs"][name][place] for result in results]
    outcomes = [run["outcome"] for run in runs]
    return {
        "policy": name,
        "bank": ("full bank", f"J = {SHELLS}")[place],
        "operations": len(runs),
        "mean_reads": str(Fraction(sum(run["reads"] for run in runs), len(runs))),
        **{key: sum(run[key] for run in runs) for key in (*METRICS.values(), "compilations")},
        **{key: outcomes.count(key) for key in ("correct", "wrong", "abstained")},
    }


def _table(full: Mapping[str, Any], eight: Mapping[str, Any], results: Results, says: Comparison) -> Table:
    """Staging beside the paper's figures."""
    runs = [result["runs"][STAGED.name] for result in results]
    body: list[tuple[Cell, ...]] = []
    for metric, key in list(METRICS.items())[:2]:
        changed, printed = change(full[key], eight[key]), paper.REPLAY[metric]
        error = change_error([run[0][key] for run in runs], [run[1][key] for run in runs])
        verdict = says.replicated(printed, changed, "other plants, other shells", error=error)
        body.append((metric, full[key], eight[key], changed, error, printed, verdict))
    saved, theirs = eight["reads"] - full["reads"], paper.REPLAY["physical reads"]
    verdict = says.replicated(theirs, saved, "other plants", READS_TOLERANCE)
    body.append(("physical reads (change in number)", full["reads"], eight["reads"], saved, None, theirs, verdict))
    correct = f"{full['correct']}/{full['operations']}", f"{eight['correct']}/{eight['operations']}"
    same = says.replicated(1, eight["correct"] / eight["operations"], "a truth is beyond the eighth shell", 0)
    printed = f"{paper.REPLAY['correct']}/{paper.CONTROLLER['eager'].compilations}"
    body.append(("correct", *correct, eight["correct"] - full["correct"], None, printed, same))
    return Table(
        "replay",
        f"Eight shells on {full['operations']} operations, staged, beside the paper's",
        ("metric", "full bank", f"J = {SHELLS}", "change", "±", "paper, change", "the change is"),
        tuple(body),
        "Changes of candidates and model steps in per cent, with their standard errors over operations; of reads and "
        f"answers in number. {WITHIN} For reads it is {100 * READS_TOLERANCE:.0f} %. The paper's own two changes of "
        f"candidates are {change(*paper.CONFIRMATION['candidate states']):.2f} % in its large benchmark and "
        f"{paper.REPLAY['fallback candidates']:.2f} % here: they depend on the operations.",
    )


def _other_table(pairs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for name, (full, eight) in pairs.items():
        changes = [change(full[key], eight[key]) for key in METRICS.values()]
        body.append((name, full["compilations"], *changes, f"{eight['correct']}/{eight['operations']}"))
    columns = ("policy", "compilations", *(f"{metric}, %" for metric in METRICS), "correct")
    return Table("policies", "The change by policy, in per cent", columns, tuple(body))
