"""The tables and the figure of the large benchmark, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.bank.calibrate import largest_rank
from ascertain.bank.calibration_file import Calibration
from ascertain.bank.weights import inverse_cube
from ascertain.report.record import Figure, Series
from ascertain.report.tables import Cell, Table
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import SHARE_TOLERANCE, TOO_FEW, WITHIN, Comparison, compare_under
from ascertain_paper.studies.confirmation.compilers import (
    COMPILERS,
    compiler_row,
    compiler_table,
    direct_table,
    name_unequal,
    tell_compilers,
)
from ascertain_paper.studies.confirmation.sizes import size_table
from ascertain_paper.studies.uncertainty import error_of_ratio
from ascertain_paper.study import OpenChoice, Study
from ascertain_paper.testbed.settings import Settings

Results: TypeAlias = Sequence[Mapping[str, Any]]
Rows: TypeAlias = Sequence[Mapping[str, Any]]
COSTS = {"candidate states": "candidates", "verifier model steps": "verifier_steps", "physical reads": "reads"}
OUTCOMES = {"correct confirmations": "correct", "safe rejections": "abstained", "wrong acceptances": "wrong"}
BANKS = {
    "full bank": ("equal", 0),
    "J = 8": ("equal", 1),
    "our weights, full bank": ("ours", 0),
    "our weights, J = 8": ("ours", 1),
    "calibrated": ("ours", 2),
}
"""The banks by the names of their rows, and where a result has them. The first two are the paper's."""
FULL, EIGHT, OURS_FULL, OURS_EIGHT, CALIBRATED = range(len(BANKS))
"""The places of the banks in the rows."""
READS_TOLERANCE = 0.25
"""Of a change of reads by a few per cent."""
LIGHT = "late shells weigh little"
"""Why dropping shells saves next to no reads; the table of weights shows it."""


def weights_choice(kept: int = paper.CALIBRATION["shells"], many: int = 100) -> OpenChoice:
    """How candidates are weighted, and how much more the first shells weigh when the others are dropped."""
    gain = float(inverse_cube([1] * kept)[0] / inverse_cube([1] * many)[0]) - 1
    return OpenChoice(
        "How candidates are weighted",
        "equally, the nominal one of them, in the paper's rows; in ours the shells as 1/j^3, equally within a shell, "
        "1/16 on the nominal",
        f"with ours {kept} shells alone weigh {100 * gain:.1f} % more than as the first of {many}, which is worth "
        f"{gain:.3f} nats: the reads hardly change. With equal weights they do",
    )


CHOICES = (
    OpenChoice(
        "What a bank is verified against",
        "all other states of the plant, listed in the bank or not, at the fallback's share of the risk",
        "dropping candidates leaves the rivals as they are, so that reads can be saved by weights alone",
    ),
    weights_choice(),
    OpenChoice(
        "What a verifier model step is",
        "one candidate through one command, until it is beaten: then it can no longer be the answer",
        "every candidate at every read would be candidates times reads, five times what the paper has",
    ),
    OpenChoice(
        "What evaluations of the direct compiler are",
        "those of its probe, of its bounded search and, where that fails, of all paths; the paper's follows every "
        "partial path, ours, another compiler, merges equal ones",
        "a probe that fails is charged on top of enumeration; merging makes most of them succeed",
    ),
)


def summarise_confirmation(settings: Settings, calibration: Calibration, results: Results, *, quick: bool) -> Study:
    """The tables, the figure and the findings of the study."""
    shells, number, says = calibration.whole.shells, len(results), compare_under(settings)
    rows = tuple(_row(name, *where, results) for name, where in BANKS.items())
    rows[CALIBRATED]["bank"] = f"our weights, calibrated J = {'all' if shells is None else shells}"
    compilers = tuple(compiler_row(name, results) for name in COMPILERS)
    findings = _findings(calibration, rows, number, says)
    return Study(
        name="confirmation",
        title="Score shells: what a calibrated bank saves, and the compilers compared",
        quick=quick,
        question="What does a bank save that keeps only the first score shells, and do the compilers agree?",
        answer=findings[1],
        rows=rows,
        tables=(
            _bank_table(rows, results, says),
            size_table(results, says),
            _calibrated_table(rows),
            _weight_table(results, says),
            _calibration_table(calibration, results, says),
            compiler_table(compilers, says),
            direct_table(results, compilers, says),
        ),
        figures=(_figure(rows),),
        findings=(
            *findings,
            *tell_compilers(compilers, number),
        ),
        alarms=_alarms(rows, compilers),
        choices=CHOICES,
        facts={
            "calibration_blocks": len(calibration.blocks),
            "operations": number,
            "strata": len(calibration.strata),
            "calibrated_shells": shells,
            "coverage": str(calibration.whole.coverage),
            "covered_blocks": sum(_covered(calibration, results)),
            "compilers": list(compilers),
        },
    )


def _row(name: str, weights: str, place: int, results: Results) -> dict[str, Any]:
    """The totals of one bank over all operations."""
    runs = [result[weights][place] for result in results]
    outcomes = [run["outcome"] for run in runs]
    return {
        "bank": name,
        "operations": len(runs),
        **{key: sum(run[key] for run in runs) for key in COSTS.values()},
        **{key: outcomes.count(key) for key in OUTCOMES.values()},
    }


def change(before: int, after: int) -> float:
    """The change in per cent; 0 of nothing."""
    return float(100 * Fraction(after - before, before)) if before else 0.0


def change_error(before: Sequence[int], after: Sequence[int]) -> float | None:
    """The standard error of the change of the sums, in per cent."""
    error = error_of_ratio(after, before)
    return None if error is None else 100 * error


def _bank_table(rows: Rows, results: Results, says: Comparison) -> Table:
    body: list[tuple[Cell, ...]] = []
    full, eight, number = rows[FULL], rows[EIGHT], len(results)
    theirs = paper.CONFIRMATION["candidate states"][0] / paper.OPERATIONS
    size = f"banks of {full['candidates'] / number:,.0f}, not {theirs:,.0f}"
    for metric, key in COSTS.items():
        theirs = paper.CONFIRMATION[metric]
        saved, printed = change(full[key], eight[key]), change(*theirs)
        error = change_error(*([result["equal"][place][key] for result in results] for place in (FULL, EIGHT)))
        means = [Fraction(row[key], number) for row in (full, eight)]
        if key == "reads":
            verdict = says.replicated(printed, saved, "other plants", READS_TOLERANCE, error)
        else:
            verdict = says.replicated(printed, saved, size, error=error)
        body.append((metric, *means, saved, *(Fraction(total, paper.OPERATIONS) for total in theirs), printed, verdict))
    body.append(steps_row(full, eight, says))
    for metric, key in OUTCOMES.items():
        theirs = paper.CONFIRMATION[metric]
        word = says.counted((theirs[1], paper.OPERATIONS), (eight[key], number), "other plants, other shells")
        body.append((metric, full[key], eight[key], eight[key] - full[key], *theirs, theirs[1] - theirs[0], word))
    return Table(
        "confirmation",
        f"Eight shells on {number:,} operations, beside the paper's on {paper.OPERATIONS:,}",
        ("metric", "full bank", "J = 8", "change", "paper, full", "paper, J = 8", "paper, change", "J = 8 is"),
        tuple(body),
        "All candidates weigh alike, the nominal one of them. Costs are means over operations and their changes per "
        f"cent; outcomes are numbers of operations. {WITHIN} For "
        f"the change of reads it is {100 * READS_TOLERANCE:.0f} %; of outcomes all shares that chance allows must lie "
        f"within {100 * SHARE_TOLERANCE:.1f} % of all operations.",
    )


def steps_row(full: Mapping[str, Any], eight: Mapping[str, Any], says: Comparison) -> tuple[Cell, ...]:
    """For how many reads a candidate is followed until it is beaten; what is judged is the number with eight shells."""
    here = [Fraction(row["verifier_steps"], row["candidates"]) for row in (full, eight)]
    steps, states = (paper.CONFIRMATION[metric] for metric in ("verifier model steps", "candidate states"))
    theirs = [Fraction(step, state) for step, state in zip(steps, states, strict=True)]
    changes = [float(100 * (after / before - 1)) for before, after in (here, theirs)]
    verdict = says.replicated(float(theirs[1]), float(here[1]), "other plants")
    return ("verifier steps of a candidate", *here, changes[0], *theirs, changes[1], verdict)


def _calibrated_table(rows: Rows) -> Table:
    full, calibrated = rows[OURS_FULL], rows[CALIBRATED]
    number = calibrated["operations"]
    body: list[tuple[Cell, ...]] = [
        (metric, Fraction(calibrated[key], number), change(full[key], calibrated[key])) for metric, key in COSTS.items()
    ]
    body += [(metric, calibrated[key], calibrated[key] - full[key]) for metric, key in OUTCOMES.items()]
    return Table(
        "calibrated",
        "The bank that calibration keeps",
        ("metric", str(calibrated["bank"]), "against the full bank"),
        tuple(body),
        "With our weights. As above: costs in the mean, with changes per cent, and numbers of operations.",
    )


def _weight_table(results: Results, says: Comparison) -> Table:
    """Reads with our weights and with equal ones: where saved reads come from."""
    theirs = paper.CONFIRMATION["physical reads"]
    body: list[tuple[Cell, ...]] = []
    for name, kind, why in (
        ("all candidates alike", "equal", "other plants"),
        ("1/j^3 for shell j", "ours", LIGHT),
    ):
        full, eight = ([result[kind][place]["reads"] for result in results] for place in (FULL, EIGHT))
        saved, error = change(sum(full), sum(eight)), change_error(full, eight)
        verdict = says.replicated(change(*theirs), saved, why, READS_TOLERANCE, error)
        means = [Fraction(sum(reads), len(results)) for reads in (full, eight)]
        body.append((name, *means, saved, error, change(*theirs), verdict))
    return Table(
        "weights",
        "Mean reads by the weights of candidates",
        ("weights", "full bank", "J = 8", "change, %", "±", "paper, change, %", "the change is"),
        tuple(body),
        "Eight shells save reads where all candidates weigh alike: each of those kept then weighs more. The change has "
        f"its standard error; within {100 * READS_TOLERANCE:.0f} % of the paper's it is reproduced.",
    )


def _covered(calibration: Calibration, results: Results) -> list[bool]:
    """Of every evaluation block whether J shells hold all its truths."""
    size = len(calibration.strata)
    blocks = [results[low : low + size] for low in range(0, len(results), size)]
    return [calibration.whole.covers(largest_rank(result["rank"] for result in block)) for block in blocks]


def _calibration_table(calibration: Calibration, results: Results, says: Comparison) -> Table:
    ranks = [rank for row in calibration.ranks for rank in row]
    whole, covered, theirs = calibration.whole, _covered(calibration, results), paper.CALIBRATION
    enough = len(calibration.blocks) >= theirs["blocks"]

    def judge(printed: float, here: float | None) -> str:
        if says.comparable and not enough:
            return TOO_FEW
        return says.replicated(printed, here or 0, "other plants, other shells", 0)

    body: list[tuple[Cell, ...]] = [
        ("calibration blocks", len(calibration.blocks), theirs["blocks"], None),
        ("operations in a block", len(calibration.strata), theirs["strata"], None),
        ("truths in the first shell", sum(rank in (0, 1) for rank in ranks), None, None),
        ("truths in the first eight shells", sum(rank is not None and rank <= 8 for rank in ranks), None, None),
        (
            "calibrated J",
            "none is enough" if whole.shells is None else whole.shells,
            theirs["shells"],
            judge(theirs["shells"], whole.shells),
        ),
        (
            "promised coverage of a block",
            str(whole.coverage),
            str(paper.COVERAGE),
            judge(float(paper.COVERAGE), float(whole.coverage)),
        ),
        ("evaluation blocks", len(covered), theirs["evaluation blocks"], None),
        ("of them covered", sum(covered), None, None),
    ]
    return Table(
        "calibration",
        "How many shells it takes",
        ("what", "here", "paper", "it is"),
        tuple(body),
        "J was fixed from the calibration blocks alone. Coverage promises availability; safety does not rest on it. "
        "Reproduced is what is equal, from as many blocks.",
    )


def _figure(rows: Rows) -> Figure:
    """The cost retained, in per cent of the full bank's."""
    metrics = tuple(COSTS)

    def series(name: str, row: Mapping[str, Any], full: Mapping[str, Any]) -> Series:
        retained = tuple(float(100 * Fraction(row[key], full[key])) for key in COSTS.values())
        return Series(name, metrics, retained, mark="bars")

    theirs = tuple(100 * paper.CONFIRMATION[metric][1] / paper.CONFIRMATION[metric][0] for metric in metrics)
    return Figure(
        "retained",
        "Cost retained by the first shells",
        "",
        "per cent of the full bank",
        (
            series("J = 8", rows[EIGHT], rows[FULL]),
            series(str(rows[CALIBRATED]["bank"]), rows[CALIBRATED], rows[OURS_FULL]),
            Series("the paper, J = 8", metrics, theirs, mark="bars"),
        ),
    )


def _findings(calibration: Calibration, rows: Rows, number: int, says: Comparison) -> tuple[str, ...]:
    full, eight, calibrated = rows[FULL], rows[EIGHT], rows[CALIBRATED]
    reads, theirs = full["reads"] / number, paper.CONFIRMATION["physical reads"][0] / paper.OPERATIONS
    return (
        f"With the full bank an operation takes {reads:.1f} reads in the mean, in the paper {theirs:.1f}: "
        f"{says.replicated(theirs, reads, 'other plants')}.",
        f"Eight shells keep {100 + change(full['candidates'], eight['candidates']):.1f} % of the candidates and "
        f"{100 + change(full['verifier_steps'], eight['verifier_steps']):.1f} % of the verifier's steps, and confirm "
        f"{eight['correct']} of {number} operations; {eight['abstained']} are safely rejected.",
        f"{len(calibration.blocks)} blocks calibrate {calibrated['bank'].rpartition('calibrated ')[2]}, which confirms "
        f"{calibrated['correct']} of {number} operations.",
    )


def _alarms(rows: Rows, compilers: Rows) -> tuple[str, ...]:
    wrong = [f"{row['bank']}: {row['wrong']} WRONG acceptances" for row in rows if row["wrong"]]
    return (*wrong, *name_unequal(compilers))
