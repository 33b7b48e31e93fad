"""Why the controllers' figures are not the paper's: the figures behind each reason, the findings and the choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any, TypeAlias, final

from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import TOLERANCE, Comparison
from ascertain_paper.studies.controller.measure import AT_RISK, LIKE, OUR_WEIGHTS, OURS, PAPER, WEIGHTED
from ascertain_paper.studies.controller.switching import LEVELS, median_contradicted, switching_table
from ascertain_paper.studies.uncertainty import error_of_mean, error_of_ratio, mean
from ascertain_paper.study import OpenChoice
from ascertain_paper.testbed.settings import Settings

Results: TypeAlias = Sequence[Mapping[str, Any]]
Rows: TypeAlias = Sequence[Mapping[str, Any]]
EAGER, STAGED, LAST = "eager", "staged", "readwise 1000"
"""What the paper's savings are measured against, and the two controllers that it tells apart by outcome."""
BESIDE = {
    **{name: name for name in paper.CONTROLLER},
    AT_RISK.name: STAGED,
    **{ours.name: ours.name.removeprefix(OUR_WEIGHTS) for ours in WEIGHTED},
    **{ours.name: LIKE for ours in OURS if ours not in WEIGHTED},
}
"""Each controller here, in the order of the table, and the paper's that it stands beside."""


@final
@dataclass(frozen=True)
class Account:
    """What one controller did on some of the operations."""

    number: int
    reads: float
    error: float | None
    """The standard error of the mean of reads."""
    compilations: int
    switch: float | None
    """Median reads before the switch, where there was one after the start."""
    until: float | None
    after: float | None
    """Mean reads before and after the switch, over the same operations."""


def account(name: str, results: Results) -> Account:
    """One controller on these operations."""
    runs = [result["runs"][name] for result in results]
    reads = [run["reads"] for run in runs]
    switched = [run for run in runs if run["fallback_after"]]
    begun = [run["fallback_after"] for run in switched]
    return Account(
        number=len(runs),
        reads=float(mean(reads)),
        error=error_of_mean(reads),
        compilations=sum(run["compilations"] for run in runs),
        switch=float(median(begun)) if begun else None,
        until=float(mean(begun)) if begun else None,
        after=float(mean([run["reads"] - run["fallback_after"] for run in switched])) if begun else None,
    )


def split(results: Results) -> dict[str, Results]:
    """The operations by outcome, those that there are."""
    parts = {"active": [r for r in results if r["active"]], "inactive": [r for r in results if not r["active"]]}
    return {outcome: part for outcome, part in parts.items() if part}


def why_reads(name: str, results: Results) -> str:
    """What makes a controller read otherwise than the paper's: a later switch, the plants."""
    active = split(results).get("active", ())
    switch = account(name, active).switch if active else None
    # The paper prints two medians; its smaller thresholds switch no later than its largest.
    printed = paper.TRIGGER_MEDIAN.get(BESIDE[name], min(paper.TRIGGER_MEDIAN.values()))
    return "later switch, other plants" if switch is not None and switch > printed else "other plants"


def saving(name: str, results: Results) -> tuple[float, float | None]:
    """The change of reads against eager's on the same operations, in per cent, and its standard error."""
    here, eager = ([result["runs"][each]["reads"] for result in results] for each in (name, EAGER))
    error = error_of_ratio(here, eager)
    return float(100 * (Fraction(sum(here), sum(eager)) - 1)), None if error is None else 100 * error


def printed_saving(name: str) -> float:
    """The paper's change of reads against its eager, in per cent."""
    return 100 * (paper.CONTROLLER[name].mean_reads / paper.CONTROLLER[EAGER].mean_reads - 1)


def why_switch(results: Results) -> str:
    """What a switch waited for."""
    twice = median_contradicted([r["switching"] for r in results if r["active"]], 2)
    return "other plants" if twice is None else f"second contradiction after {twice:g}"


def why_banks(name: str, results: Results) -> str:
    """How often a controller compiled although the nominal was true."""
    inactive = split(results).get("inactive", ())
    return f"another trigger, {account(name, inactive).compilations if inactive else 0} in vain"


def find_alarms(rows: Rows, results: Results, *, comparable: bool) -> tuple[str, ...]:
    """Wrong answers and unequal maps always; on the frozen testbed, which was solved whole, abstentions as well."""
    alarms = [f"{row['policy']}: {row['wrong']} WRONG answers" for row in rows if row["wrong"]]
    if comparable:
        alarms += [
            f"{row['policy']}: {row['abstained']} of {len(results)} operations are not answered"
            for row in rows
            if row["abstained"]
        ]
    unequal = sum(not result["map_equal"] for result in results)
    return (*alarms, *([f"the compilers disagree on {unequal} operations"] if unequal else []))


def tell_findings(rows: Rows, results: Results, says: Comparison) -> tuple[str, ...]:
    """How many are right; what ours save; and where, and why, the paper's own controllers differ."""
    runs, parts, comparable = results[0]["runs"], split(results), says.comparable
    found = [_tell_outcomes(rows, len(results)), *_tell_gains(rows, comparable=comparable)]
    if says.tuned and set(paper.CONTROLLER) <= set(runs):
        found.append(_tell_tuned(results))
    if {controller.name for controller in PAPER} <= set(runs):
        found.append(_tell_savings(results, comparable=comparable))
        found.append(_tell_steps(rows, comparable=comparable))
    if len(parts) == 2 and {STAGED, AT_RISK.name, LAST} <= set(runs):
        found.append(_tell_thresholds(parts["active"], comparable=comparable))
        if comparable:
            found.append(_tell_excess(results))
    return tuple(found)


def _tell_tuned(results: Results) -> str:
    """What settings show that were fitted to the paper's figures, and what they do not."""
    near, apart = 0, list[str]()
    for name, theirs in paper.CONTROLLER.items():
        here = account(name, results)
        change, error = (100 * x / theirs.mean_reads for x in (here.reads - theirs.mean_reads, here.error or 0.0))
        near += abs(change) <= 100 * TOLERANCE
        apart.append(f"{name} {change:+.1f} ± {error:.1f} %")
    return (
        "These settings were chosen with the paper's figures in sight: a sensor that is wrong half as often, and "
        "active operations that end far from the nominal. Mean reads against the paper's, with the standard error over "
        f"operations: {', '.join(apart)}; {near} of {len(apart)} are within {100 * TOLERANCE:.0f} %. That tells what "
        "the difference on the frozen testbed may come from; it reproduces nothing."
    )


def _tell_savings(results: Results, *, comparable: bool) -> str:
    """What the paper's controllers save against its eager, here and there."""
    changes = [
        f"{controller.name} {saving(controller.name, results)[0]:+.1f} %"
        + (f" (the paper's {printed_saving(controller.name):+.1f})" if comparable else "")
        for controller in PAPER
        if controller.name != EAGER
    ]
    return f"Reads against eager's {account(EAGER, results).reads:.1f}, with equal weights: {', '.join(changes)}."


def _tell_steps(rows: Rows, *, comparable: bool) -> str:
    """How far staging can save steps: enumeration takes the same for every operation."""
    by_name = {row["policy"]: row for row in rows}
    eager, staged = (by_name[name] for name in (EAGER, STAGED))
    ratio = Fraction(eager["model_steps"]) / Fraction(staged["model_steps"])
    most = Fraction(eager["compilations"], max(1, staged["compilations"]))
    counted = Fraction(eager["evaluations"])
    apart = Fraction(eager["model_steps"]) - Fraction(eager["compile_steps"])
    said = (
        f"Staging takes {float(ratio):.2f} times fewer steps than eager. Enumeration takes the same for every "
        f"operation, so that compiling alone gives {eager['compilations']}/{staged['compilations']} = "
        f"{float(most):.2f}; propagation and verification are {float(100 * apart / (apart + counted)):.1f} % of "
        "eager's steps, a path counted as one."
    )
    if not comparable:
        return said
    whole, part = paper.CONTROLLER[EAGER], paper.CONTROLLER[STAGED]
    compiling = part.model_steps * whole.compilations / part.compilations
    return (
        f"{said} The paper's {whole.model_steps / part.model_steps:.1f} times cannot be reached here: with banks that "
        f"take the same it needs at least {100 * (1 - compiling / whole.model_steps):.0f} % of eager's steps outside "
        "the compiler."
    )


def _tell_outcomes(rows: Rows, number: int) -> str:
    whole = [row for row in rows if row["correct"] == number]
    if len(whole) == len(rows):
        return f"All {len(rows)} controllers answer all {number} operations correctly; none is answered wrongly."
    others = "; ".join(
        f"{row['policy']} {row['correct']} ({row['abstained']} abstained, {row['wrong']} wrong)"
        for row in rows
        if row["correct"] < number
    )
    return f"{len(whole)} of {len(rows)} controllers answer all {number} operations correctly; the others: {others}."


def _tell_gains(rows: Rows, *, comparable: bool) -> list[str]:
    by_name = {row["policy"]: row for row in rows}
    best, staged = by_name.get(OURS[-1].name), by_name.get(STAGED)
    if best is None or staged is None:
        return []
    reads = Fraction(best["mean_reads"]) / Fraction(staged["mean_reads"])
    steps = Fraction(staged["model_steps"]) / Fraction(best["model_steps"])
    printed = paper.CONTROLLER[STAGED].model_steps * 1e6 / float(Fraction(best["model_steps"]))
    return [
        f"Reuse with look-ahead and the merging compiler reads {100 * (1 - float(reads)):.1f} % less than "
        f"staging here, and takes {float(steps):,.0f} times fewer model steps than we count for staging with "
        f"enumeration{f', {printed:.1f} times fewer than the paper prints for staging' if comparable else ''}."
    ]


def _tell_excess(results: Results) -> str:
    """Where staging's reads beyond the paper's are, outcome by outcome."""
    parts = {
        outcome: (account(STAGED, part), *paper.STRATA[outcome, STAGED]) for outcome, part in split(results).items()
    }
    whole, theirs = account(STAGED, results).reads, paper.CONTROLLER[STAGED].mean_reads
    active, inactive = parts["active"][0], parts["inactive"][0]
    share = {
        outcome: here.number * (here.reads - reads) / len(results) for outcome, (here, _, reads, _) in parts.items()
    }
    plants = sorted({result["operation"][0] for result in results})
    each = [account(STAGED, [r for r in split(results)["inactive"] if r["operation"][0] == p]).reads for p in plants]
    return (
        f"Staging reads {whole - theirs:+.1f} against the paper's {theirs}: {share['inactive']:+.1f} from inactive "
        f"operations ({inactive.reads:.1f} against {parts['inactive'][2]}; by plant {_join(each)}), which never "
        f"switch; {share['active']:+.1f} from active ones ({active.reads:.1f} against {parts['active'][2]}): "
        f"{active.until or 0:.1f} before the switch, which are not scored again, and {active.after or 0:.1f} after it. "
        f"The switch comes after {active.switch or 0:g} in the median, the paper's after "
        f"{paper.TRIGGER_MEDIAN[STAGED]}. Eager, which has no switch, reads "
        f"{account('eager', split(results)['active']).reads:.1f} on active operations."
    )


def _tell_thresholds(active: Results, *, comparable: bool) -> str:
    """Whether the largest threshold is staging, and what the paper finds."""
    staged, strict, last = (account(name, active) for name in (STAGED, AT_RISK.name, LAST))
    alike = sum(result["runs"][STAGED] == result["runs"][LAST] for result in active)
    said = (
        f"Readwise 1000 switches at T > 1001 and staging rejects at T >= 1000: the same run on {alike} of "
        f"{len(active)} active operations ({last.reads:.1f} and {staged.reads:.1f} reads), those where "
        f"no reading leaves T between the two. Staging that rejects at its stage's own risk reads {strict.reads:.1f} "
        f"there, and switches after {strict.switch or 0:g} in the median; readwise 1000 after {last.switch or 0:g}."
    )
    if not comparable:
        return said
    printed = [paper.STRATA["active", name][1] for name in (STAGED, LAST)]
    before = [paper.TRIGGER_MEDIAN[name] for name in (STAGED, LAST)]
    return (
        f"{said} The paper's saves {printed[0] - printed[1]:.1f} reads, {printed[0]} -> {printed[1]}, by switching "
        f"after {before[1]} in place of {before[0]}; against the stricter staging it saves "
        f"{strict.reads - last.reads:.1f} here. The nominal is contradicted for the first time after "
        f"{_times(active, 1)} reads in the median, for the second after {_times(active, 2)}."
    )


def _times(active: Results, times: int) -> str:
    reads = median_contradicted([result["switching"] for result in active], times)
    return "never" if reads is None else f"{reads:g}"


def _join(values: Sequence[float]) -> str:
    return " and ".join(f"{value:.1f}" for value in values)


def list_choices(settings: Settings, rows: Rows, results: Results) -> tuple[OpenChoice, ...]:
    """What the paper leaves open, each with the figures that it moves."""
    by_name = {row["policy"]: row for row in rows}
    eager, states = by_name["eager"], f"2^{settings.num_bits}"
    charged = Fraction(eager["compile_steps"]) / max(1, eager["compilations"]) * len(results) / 10**6
    theirs = paper.CONTROLLER["eager"]
    vain = paper.CONTROLLER["readwise 10"].compilations - paper.STRATA["active", STAGED][0]
    chosen = [
        OpenChoice(
            "What a model step is",
            "one candidate through one command, in the compiler as in the verifier",
            f"enumeration is charged {float(charged):,.2f} million steps a compilation; the table of computation shows "
            "what it is when a compiled path counts as one step, which is nearer to the paper's",
        ),
        OpenChoice(
            "Whether the paper's model steps are means or totals",
            "means, as its figure says",
            f"a total of {theirs.model_steps} million would be {theirs.model_steps / theirs.compilations:.2f} million "
            f"a compilation, fewer than the {paper.EVALUATIONS['exhaustive'] / paper.OPERATIONS / 1e6:.2f} million "
            "evaluations that its compilers take",
        ),
        OpenChoice(
            "When readwise switching happens",
            "when an e-process against the nominal exceeds 1 + lambda, after a reading",
            f"a true nominal is left with probability at most 1/(1 + lambda); the paper's {vain} of "
            f"{paper.STRATA['inactive', STAGED][0]} at lambda = 10 is more",
        ),
        *_switch_choices(results),
        *([_weight_choice(by_name)] if OUR_WEIGHTS + EAGER in by_name else []),
        OpenChoice(
            "What is certified",
            f"the state, against all others of the {states}, listed in the bank or not",
            "safety that does not rest on the bank, and no fewer reads than against the bank alone; how many more is "
            "not measured",
        ),
        OpenChoice(
            "The plants",
            f"{len(settings.plants)} of our own, drawn from published seeds",
            "reads, candidates and how soon a wrong nominal is contradicted depend on them",
        ),
    ]
    return tuple(chosen)


def _switch_choices(results: Results) -> list[OpenChoice]:
    watched = [result["switching"] for result in results if result["active"]]
    if not watched:
        return []
    rows = {str(row[0]): row for row in switching_table(watched).rows}
    ours, single = rows[f"the trigger exceeds {LEVELS[3]:,}"][1:3]
    strict = account(AT_RISK.name, split(results)["active"]).switch if AT_RISK.name in results[0]["runs"] else None
    return [
        OpenChoice(
            "When the nominal is formally rejected",
            "when the trigger reaches 1/beta_nom = 1000; in a second row, at the risk of the nominal stage",
            f"staging switches after {_number(ours)} reads in the median, as readwise 1000 does; at the stage's risk "
            f"after {_number(strict)}, and readwise 1000 is ahead of it, as in the paper",
        ),
        OpenChoice(
            "The trigger's numerator",
            "a mixture over how often readings are of something else",
            f"the best single one, known afterwards, would switch after {_number(single)} in place of {_number(ours)}",
        ),
    ]


def _weight_choice(by_name: Mapping[str, Mapping[str, Any]]) -> OpenChoice:
    ours, equal = (float(Fraction(by_name[name]["mean_reads"])) for name in (OUR_WEIGHTS + EAGER, EAGER))
    return OpenChoice(
        "How candidates are weighted",
        "equally, the nominal one of them, in the paper's rows; in ours the shells as 1/j^3, equally within a shell, "
        "1/16 on the nominal",
        f"eager reads {equal:.1f}, with our weights {ours:.1f} (the paper's: {paper.CONTROLLER[EAGER].mean_reads}): "
        "where the nominal weighs 1/16 from the start, staging has little left to save",
    )


def _number(cell: object) -> str:
    return f"{cell:g}" if isinstance(cell, int | float) else "never"
