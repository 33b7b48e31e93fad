"""The open world: boxes that are in no model, named with and without conformance.

For a population of machines (a folder of learned ones, or a family of our own): how many boxes are misnamed when only
some of the classes are known; how many of these complete and sampled conformance expose; what that costs in actions and
resets, beside the floor; that no box that is known is ever called an outsider; and that a server that always answers
the same, such as a silent one, is not certified. Misnaming with complete conformance, or a false alarm, is an alarm of
the study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, final

from ascertain.conformance.sample import bound_disagreement, draw_words
from ascertain.conformance.specification import Specification, Word
from ascertain.conformance.suite import Suite
from ascertain.report.tables import Cell, Table
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.studies.openworld.constant import (
    certify_silence,
    constant_table,
    expose_constants,
    make_constants,
)
from ascertain_paper.studies.openworld.machines import Population, find_population
from ascertain_paper.studies.openworld.naming import (
    WORDS,
    Samples,
    exposing_share,
    first_exposing,
    name_boxes,
    plan_suites,
    specify_machine,
)
from ascertain_paper.study import OpenChoice, Study

DRAWS, SEEDS = 10, 100
"""Draws of the known classes, as in the published comparison, and seeds of samples."""
CONFIDENCE = Fraction(19, 20)
"""Of the bounds that samples give."""
PUBLISHED: dict[str, Any] = {
    "misnamed": 273.6,
    "random": (3_040_390, 451_259),
    "exhaustive": 126_000_853,
}
"""For the 596 TLS boxes in 22 classes (Incremental Fingerprinting in an Open World): misnamed by closed-world
fingerprints with 11 classes known; actions and resets of random conformance testing, which guarantees nothing; actions
of exhaustive testing with two extra states."""
COUNTED: tuple[str, ...] = (
    *("right", "misnamed", "none", "right_after", "misnamed_after", "none_after"),
    *("false_alarms", "actions", "resets"),
)
"""What is counted over boxes, before and after complete conformance."""
CHOICES = (
    OpenChoice(
        "Which classes are known",
        "drawn uniformly, ten times for each number, by a seed that names the draw",
        "the published draws are not known, so that means differ a little",
    ),
    OpenChoice(
        "What identification costs",
        "the cheapest experiment in the worst case, reset cost 1, found anew for each draw",
        "published figures are of other experiments",
    ),
)


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """All that depends on the machines alone."""

    population: Population
    specs: Mapping[str, Specification]
    suites: Mapping[int, Mapping[str, Suite]]


def study(conditions: Conditions) -> Study:
    """The study; its quick form has three draws and ten seeds, and no extra state."""
    population = find_population(conditions.models)
    extras = (0,) if conditions.quick else (0, 1)
    prepared = Prepared(
        population,
        {name: specify_machine(machine) for name, machine in population.machines.items()},
        {extra: plan_suites(population.machines, extra) for extra in extras},
    )
    seeds = 10 if conditions.quick else SEEDS

    @cache
    def samples(name: str) -> dict[int, list[list[Word]]]:
        spec = prepared.specs[name]
        return {n: [draw_words(spec, f"{name}:{seed}", n) for seed in range(seeds)] for n in WORDS}

    pairs = _expose_pairs(prepared, samples)
    draws = _draw_known(conditions, prepared, samples, 3 if conditions.quick else DRAWS)
    return _summarise(conditions, prepared, pairs, draws, seeds)


def _expose_pairs(prepared: Prepared, samples: Samples) -> list[dict[str, Any]]:
    """For each machine and each other that may be taken for it: what exposes the other, and how often."""
    rows: list[dict[str, Any]] = []
    for name, spec in prepared.specs.items():
        words = prepared.suites[0][name].words
        for other, outsider in prepared.specs.items():
            alarms = {
                n: sum(first_exposing(w, spec, outsider) is not None for w in drawn)
                for n, drawn in samples(name).items()
            }
            rows.append(
                {
                    "model": name,
                    "plant": other,
                    "complete": first_exposing(words, spec, outsider) is not None,
                    "samples": {str(n): number for n, number in alarms.items()},
                    "share": None if name == other else exposing_share(spec, outsider, 400),
                }
            )
    return rows


def _draw_known(conditions: Conditions, prepared: Prepared, samples: Samples, draws: int) -> list[dict[str, Any]]:
    """For each number of known classes: how boxes are named in the closed world, and after complete conformance."""
    names = list(prepared.population.machines)
    rows: list[dict[str, Any]] = []
    sizes = sorted({max(2, len(names) // 2), len(names) - 1, len(names)})
    progress = conditions.counting("draws")
    for place, known in enumerate(sizes):
        for draw in range(draws):
            if progress is not None:
                progress(place * draws + draw, len(sizes) * draws)
            chosen = sorted(Random(f"openworld:{known}:{draw}").sample(names, known))  # noqa: S311
            row = _name_all(prepared, samples, chosen)
            if known == sizes[0]:
                row["silence_certified"] = certify_silence(
                    {name: prepared.population.machines[name] for name in chosen}
                )
            rows.append(row)
    return rows


def _name_all(prepared: Prepared, samples: Samples, known: Sequence[str]) -> dict[str, Any]:
    population, suites = prepared.population, prepared.suites[0]
    constants = make_constants(prepared.specs)
    named = name_boxes({name: population.machines[name] for name in known}, {**population.machines, **constants})
    row: dict[str, Any] = {"known": len(known), **dict.fromkeys(COUNTED, 0)}
    row |= expose_constants(constants, named, prepared.specs, suites, samples)
    for name, boxes in population.boxes.items():
        given = named[name]
        row["actions"] += boxes * given.actions
        row["resets"] += boxes * given.resets
        kind = "none" if given.name is None else "right" if given.name == name else "misnamed"
        row[kind] += boxes
        exposed = given.name is not None and first_exposing(
            suites[given.name].words, prepared.specs[given.name], prepared.specs[name]
        ) is not None  # fmt: skip
        row["false_alarms"] += boxes * (exposed and kind == "right")
        row[f"{'none' if exposed else kind}_after"] += boxes
    return row


def _summarise(
    conditions: Conditions,
    prepared: Prepared,
    pairs: list[dict[str, Any]],
    draws: list[dict[str, Any]],
    seeds: int,
) -> Study:
    population = prepared.population
    others = [row for row in pairs if row["model"] != row["plant"]]
    missed = [row for row in others if not row["complete"]]
    false = [row for row in pairs if row["model"] == row["plant"] and (row["complete"] or any(row["samples"].values()))]
    misnamed = sum(row["misnamed_after"] for row in draws)
    alarms = [f"{row['plant']} shows all of the complete suite of {row['model']}" for row in missed]
    alarms += [f"{row['model']} was called an outsider" for row in false]
    alarms += [f"{misnamed} boxes were misnamed after complete conformance"] if misnamed else []
    left = sum(row["constants_missed"] for row in draws)
    alarms += [f"{left} servers that always answer the same show all of a complete suite"] if left else []
    silent = sum(row.get("silence_certified", False) for row in draws)
    alarms += [f"the silent server was certified {silent} times where silence is no evidence"] if silent else []
    half = [row for row in draws if row["known"] == draws[0]["known"]]
    before = sum(row["misnamed"] for row in half) / len(half)
    return Study(
        name="openworld",
        title="Open world: boxes that are in no model",
        quick=conditions.quick,
        question="How often is a box that is in no model named as one, and what does it cost to find out?",
        answer=f"With {half[0]['known']} of {len(population.machines)} classes known, {before:.1f} of "
        f"{population.num_boxes} boxes are misnamed in the mean; with complete conformance "
        f"{misnamed or 'none'} in any draw.",
        rows=(*draws, *pairs),
        tables=(
            _naming_table(draws, population),
            _cost_table(prepared),
            _sample_table(others, pairs),
            constant_table(draws, seeds),
        ),
        findings=(
            f"{population.source}: {len(population.machines)} classes, {population.num_boxes} boxes.",
            f"Complete conformance without extra states exposes {len(others) - len(missed)} of {len(others)} ordered "
            "pairs of classes.",
            f"A server that is silent whatever is done is named in {sum(row['silent_named'] for row in half)} of "
            f"{len(half)} draws in the closed world, with complete conformance in none, and in "
            f"{silent or 'none'} where silence is no evidence.",
        ),
        alarms=tuple(alarms),
        choices=CHOICES,
        facts={"boxes": population.num_boxes, "classes": len(population.machines), "published": PUBLISHED},
    )


def _naming_table(draws: Sequence[Mapping[str, Any]], population: Population) -> Table:
    keys = ("right", "misnamed", "none", "right_after", "misnamed_after", "none_after", "actions", "resets")
    rows: list[tuple[Cell, ...]] = []
    for known in sorted({row["known"] for row in draws}):
        these = [row for row in draws if row["known"] == known]
        rows.append((known, *(sum(row[key] for row in these) / len(these) for key in keys)))
    return Table(
        "naming",
        f"How {population.num_boxes} boxes are named when some of {len(population.machines)} classes are known",
        (
            *("known", "right", "misnamed", "none of these"),
            *("right, complete:0", "misnamed, complete:0", "none of these, complete:0"),
            *("identifying: actions", "identifying: resets"),
        ),
        tuple(rows),
        "Means over draws of the known classes. Published for 596 TLS boxes with 11 of 22 classes known: 273.6 are "
        "misnamed.",
    )


def _cost_table(prepared: Prepared) -> Table:
    boxes, rows = prepared.population.boxes, list[tuple[Cell, ...]]()
    for extra, suites in prepared.suites.items():
        actions = sum(boxes[name] * suite.num_actions for name, suite in suites.items())
        resets = sum(boxes[name] * len(suite.words) for name, suite in suites.items())
        floors = [suite.floor for suite in suites.values()]
        known = all(floor is not None for floor in floors)
        floor = sum(boxes[name] * (suite.floor or 0) for name, suite in suites.items()) if known else None
        rows.append((f"complete:{extra}", actions, resets, actions + resets, floor))
    return Table(
        "cost",
        "What complete conformance of every box costs",
        ("method", "actions", "resets", "both", "floor of both"),
        tuple(rows),
        "The floor: no suite with the same access words costs less. Published for the 596 TLS boxes: random "
        "conformance testing 3,040,390 actions and 451,259 resets, without a guarantee; exhaustive testing with two "
        "extra states 126,000,853 actions.",
    )


def _sample_table(others: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> Table:
    """The pairs that samples miss most often."""
    hardest = sorted(others, key=lambda row: (row["samples"][str(WORDS[-1])], row["share"]))[:6]
    same = [row for row in pairs if row["model"] == row["plant"]]
    rows: list[tuple[Cell, ...]] = [
        (row["model"], row["plant"], row["share"], *(row["samples"][str(n)] for n in WORDS)) for row in hardest
    ]
    rows.append(("each of all", "itself", 0.0, *(sum(row["samples"][str(n)] for row in same) for n in WORDS)))
    bounds = ", ".join(f"{float(bound_disagreement(n, CONFIDENCE)):.4f} for {n} words" for n in WORDS)
    return Table(
        "samples",
        "The outsiders that samples miss most often",
        ("taken for", "truly", "share of words that expose it", *(f"exposed by sample:{n}" for n in WORDS)),
        tuple(rows),
        f"Times that it was exposed, over seeds. The bounds at confidence {CONFIDENCE}: {bounds}.",
    )
