"""The page of many simulated runs, put together as a record that `report/page.py` draws."""

from __future__ import annotations

from fractions import Fraction

from ascertain.pipeline.simulated_runs import Rate, SimulatedRuns
from ascertain.report.record import Figure, Page, Section, Series
from ascertain.report.tables import Cell, Table, show_ratio
from ascertain.task.question import AbstractQuestion

FEW = 8
"""Costs that are drawn as a bar each, with their names below them; more are drawn as one outline."""
BARS = 40
"""Ranges of the outline: enough for its shape, and still many runs in each."""


def describe_runs(counted: SimulatedRuns, task: AbstractQuestion, problem: str, policy: str, seed: int) -> Page:
    """The page of a simulation as a record; `policy` says where the policy came from."""
    error = 1.96 * counted.standard_error
    asked: tuple[tuple[Cell, ...], ...] = (
        ("problem", problem),
        ("model", repr(task.model)),
        ("hypotheses", task.num_hypotheses),
        ("alpha, the largest risk of a wrong answer", show_ratio(task.alpha)),
        ("beta, the largest risk of an abstention", show_ratio(task.beta)),
        ("policy", policy),
        ("truths", counted.truths),
        ("seed", seed),
    )
    rows: tuple[tuple[Cell, ...], ...] = (
        ("mean cost", _short(counted.mean_cost), f"± {error:.2g}"),
        ("wrong answers", f"{counted.wrong.count:,}", _interval(counted.wrong)),
        ("abstentions", f"{counted.abstained.count:,}", _interval(counted.abstained)),
    )
    told = Table(
        "rates",
        f"{counted.num_runs:,} runs",
        ("", "measured", "95 % interval"),
        rows,
        "Intervals of rates are Clopper and Pearson's; that of the mean is 1.96 standard errors.",
    )
    costs = Table(
        "costs", "Runs by cost", ("cost", "runs"), tuple((_range(*bar), bar[2]) for bar in counted.histogram(FEW))
    )
    return Page(
        title=f"Simulated runs of {problem}",
        answer=(
            f"{counted.num_runs:,} runs cost {_short(counted.mean_cost)} ± {error:.2g} in the mean; "
            f"{counted.wrong.count:,} answers were wrong, {counted.abstained.count:,} runs abstained."
        ),
        good=counted.wrong.interval[0] <= task.alpha,  # more is not chance
        sections=(
            Section(
                "asked",
                "What was simulated",
                tables=(Table("settings", "The question and the policy", ("", ""), asked),),
            ),
            Section("counted", "What was counted", tables=(told,)),
            Section("cost", "What runs cost", tables=(costs,), figures=(_histogram(counted),)),
        ),
    )


def _histogram(counted: SimulatedRuns) -> Figure:
    axes = ("costs", "Runs by what they cost", "cost of a run", "runs")
    if len(counted.costs) <= FEW:
        names = tuple(_short(cost) for cost in counted.costs)
        heights, above = tuple(map(float, counted.costs.values())), tuple(f"{n:,}" for n in counted.costs.values())
        return Figure(*axes, (Series("runs", names, heights, above, mark="bars"),))
    bars = counted.histogram(BARS)
    edges = (float(bars[0][0]), *(float(low) for low, _, _ in bars), float(bars[-1][1]))
    heights = (0.0, *(float(n) for _, _, n in bars), 0.0)
    return Figure(*axes, (Series("runs", edges, heights, mark="steps"),), note=f"In {len(bars)} ranges of equal width.")


def _interval(rate: Rate) -> str:
    low, high = rate.interval
    return f"{low:.2g} to {high:.2g}"


def _range(low: Fraction, high: Fraction, _: int) -> str:
    return _short(low) if low == high else f"{_short(low)} to {_short(high)}"


def _short(cost: Fraction) -> str:
    return str(cost) if cost.denominator == 1 and cost < 10**6 else f"{float(cost):.4g}"
