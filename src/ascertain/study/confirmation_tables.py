"""The tables and the figure of the large benchmark, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.bank.calibrate import largest_rank
from ascertain.bank.calibration_file import Calibration
from ascertain.study import paper
from ascertain.study.confirmation_compilers import COMPILERS, OPERATIONS, compiler_row, compiler_table, name_unequal
from ascertain.study.record import Cell, Choice, Figure, Series, Study, Table, compare

Results: TypeAlias = Sequence[Mapping[str, Any]]
Rows: TypeAlias = Sequence[Mapping[str, Any]]
COSTS = {"candidate states": "candidates", "verifier model steps": "verifier_steps", "physical reads": "reads"}
OUTCOMES = {"correct confirmations": "correct", "safe rejections": "abstained", "wrong acceptances": "wrong"}
FULL, EIGHT, CALIBRATED = range(3)
"""The places of the banks in the rows."""

CHOICES = (
    Choice(
        "What a bank is verified against",
        "all other states of the plant, listed in the bank or not, at the fallback's share of the risk",
        "dropping candidates leaves the rivals as they are, so that few reads can be saved; the paper saves 2.19 %",
    ),
    Choice(
        "How candidates are weighted",
        "the shells as 1/j^3, equally within a shell, 1/16 on the nominal",
        "the first shells weigh the same in the full bank, so reads are the same; with equal weights eight shells save",
    ),
    Choice(
        "What a verifier model step is",
        "one candidate through one command, for every candidate of the bank at every read",
        "steps are candidates times reads; the paper's are a fifth of that: it must drop candidates on the way",
    ),
    Choice(
        "What evaluations of the direct compiler are",
        "those of its probe, of its bounded search and, where that fails, of all paths",
        "every probe that fails is charged on top of enumeration",
    ),
)


def summarise_confirmation(
    calibration: Calibration, results: Results, *, quick: bool, exhaustive: bool, seconds: float
) -> Study:
    """The tables, the figure and the findings of the study."""
    shells, number = calibration.whole.shells, len(results)
    names = ("full bank", "J = 8", f"calibrated J = {'all' if shells is None else shells}")
    rows = tuple(_row(name, place, results) for place, name in enumerate(names))
    compilers = tuple(compiler_row(name, results) for name in COMPILERS)
    return Study(
        name="confirmation",
        title="Score shells: what a calibrated bank saves, and the compilers compared",
        settings_hash=calibration.settings_hash,
        quick=quick,
        seconds=seconds,
        rows=rows,
        tables=(
            _bank_table(rows, number),
            _weight_table(rows, results),
            _calibration_table(calibration, results),
            compiler_table(compilers),
        ),
        figures=(_figure(rows),),
        findings=_findings(calibration, rows, compilers, number, exhaustive=exhaustive),
        alarms=_alarms(rows, compilers, results),
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


def _row(name: str, place: int, results: Results) -> dict[str, Any]:
    """The totals of one bank over all operations."""
    runs = [result["banks"][place] for result in results]
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


def _bank_table(rows: Rows, number: int) -> Table:
    body: list[tuple[Cell, ...]] = []
    full, eight, calibrated = rows
    for metric, key in COSTS.items():
        theirs = paper.CONFIRMATION[metric]
        saved, printed = change(full[key], eight[key]), change(*theirs)
        means = [Fraction(row[key], number) for row in rows]
        beside = [Fraction(total, OPERATIONS) for total in theirs]
        verdict = compare(printed, saved, tolerance=0.05)
        if verdict == "differs":
            why = "shells of little weight are dropped" if key == "reads" else "other plants, other shells"
            verdict = f"differs: {why}"
        body.append(
            (metric, *means[:2], saved, means[2], change(full[key], calibrated[key]), *beside, printed, verdict)
        )
    for metric, key in OUTCOMES.items():
        theirs = paper.CONFIRMATION[metric]
        apart = abs(Fraction(eight[key], number) - Fraction(theirs[1], OPERATIONS))
        word = "reproduced" if apart <= (0 if key == "wrong" else Fraction(1, 200)) else "differs"
        counts = (full[key], eight[key], eight[key] - full[key], calibrated[key], calibrated[key] - full[key])
        body.append((metric, *counts, *theirs, theirs[1] - theirs[0], word))
    return Table(
        "confirmation",
        f"Banks of first shells on {number} operations, beside the paper's on {OPERATIONS:,}",
        (
            "metric",
            "full bank",
            "J = 8",
            "change",
            str(calibrated["bank"]),
            "change",
            "paper, full",
            "paper, J = 8",
            "paper, change",
            "J = 8",
        ),
        tuple(body),
        "Costs are means over operations and their changes per cent; outcomes are numbers of operations. A change "
        "within 5 % of the paper's, or a share of outcomes within 0.5 % of all operations, counts as reproduced.",
    )


def _weight_table(rows: Rows, results: Results) -> Table:
    """Reads with our weights and with equal ones: where saved reads come from."""
    theirs = paper.CONFIRMATION["physical reads"]
    alike = [sum(result["uniform"][place]["reads"] for result in results) for place in (FULL, EIGHT)]
    pairs = (("1/j^3 for shell j", rows[FULL]["reads"], rows[EIGHT]["reads"]), ("all candidates alike", *alike))
    body: list[tuple[Cell, ...]] = [
        (name, Fraction(full, len(results)), Fraction(eight, len(results)), change(full, eight), change(*theirs))
        for name, full, eight in pairs
    ]
    return Table(
        "weights",
        "Mean reads by the weights of candidates",
        ("weights", "full bank", "J = 8", "change, %", "paper, change, %"),
        tuple(body),
        "Eight shells save reads where all candidates weigh alike: each of those kept then weighs more.",
    )


def _covered(calibration: Calibration, results: Results) -> list[bool]:
    """Of every evaluation block whether J shells hold all its truths."""
    shells, size = calibration.whole.shells, len(calibration.strata)
    blocks = [results[low : low + size] for low in range(0, len(results), size)]
    largest = [largest_rank(result["rank"] for result in block) for block in blocks]
    return [rank is not None and shells is not None and rank <= shells for rank in largest]


def _calibration_table(calibration: Calibration, results: Results) -> Table:
    ranks = [rank for row in calibration.ranks for rank in row]
    whole, covered = calibration.whole, _covered(calibration, results)
    body: list[tuple[Cell, ...]] = [
        ("calibration blocks", len(calibration.blocks)),
        ("operations in a block", len(calibration.strata)),
        ("truths in the first shell", sum(rank in (0, 1) for rank in ranks)),
        ("truths in the first eight shells", sum(rank is not None and rank <= 8 for rank in ranks)),
        ("calibrated J", "none is enough" if whole.shells is None else whole.shells),
        ("promised coverage of a block", whole.coverage),
        ("evaluation blocks", len(covered)),
        ("of them covered", sum(covered)),
    ]
    return Table(
        "calibration",
        "How many shells it takes",
        ("what", "here"),
        tuple(body),
        "J was fixed from the calibration blocks alone. Coverage promises availability; safety does not rest on it.",
    )


def _figure(rows: Rows) -> Figure:
    """The cost retained, in per cent of the full bank's."""
    full, metrics = rows[FULL], tuple(COSTS)

    def series(name: str, row: Mapping[str, Any]) -> Series:
        retained = tuple(float(100 * Fraction(row[key], full[key])) for key in COSTS.values())
        return Series(name, metrics, retained, mark="bars")

    theirs = tuple(100 * paper.CONFIRMATION[metric][1] / paper.CONFIRMATION[metric][0] for metric in metrics)
    return Figure(
        "retained",
        "Cost retained by the first shells",
        "",
        "per cent of the full bank",
        (
            series("J = 8", rows[EIGHT]),
            series(str(rows[CALIBRATED]["bank"]), rows[CALIBRATED]),
            Series("the paper, J = 8", metrics, theirs, mark="bars"),
        ),
    )


def _findings(
    calibration: Calibration, rows: Rows, compilers: Rows, number: int, *, exhaustive: bool
) -> tuple[str, ...]:
    full, eight, calibrated = rows
    _, direct, merging = compilers
    found = [
        f"Eight shells keep {100 + change(full['candidates'], eight['candidates']):.1f} % of the candidates and "
        f"{100 + change(full['verifier_steps'], eight['verifier_steps']):.1f} % of the verifier's steps, and confirm "
        f"{eight['correct']} of {number} operations; {eight['abstained']} are safely rejected.",
        f"{len(calibration.blocks)} blocks calibrate {calibrated['bank'].removeprefix('calibrated ')}, which confirms "
        f"{calibrated['correct']} of {number} operations.",
        f"Merging gives the map of enumeration on all {number} operations with "
        f"{merging['enumerated'] / max(1, merging['evaluations']):,.0f} times fewer evaluations."
        if not name_unequal(compilers)
        else "The compilers do not agree.",
    ]
    if direct["operations"]:
        part = "all" if exhaustive else "the first"
        found.append(
            f"The direct compiler, on {part} {direct['operations']} operations, proves {direct['early_proofs']} early "
            f"and evaluates {change(direct['enumerated'], direct['evaluations']):+.2f} % against enumeration."
        )
    return tuple(found)


def _alarms(rows: Rows, compilers: Rows, results: Results) -> tuple[str, ...]:
    wrong = [f"{row['bank']}: {row['wrong']} WRONG acceptances" for row in rows if row["wrong"]]
    alike = sum(run["outcome"] == "wrong" for result in results for run in result["uniform"])
    if alike:
        wrong.append(f"with equal weights: {alike} WRONG acceptances")
    return (*wrong, *name_unequal(compilers))
