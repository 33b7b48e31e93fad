"""The paper's third domain: random automata and random policies, on which the theory must hold without exception.

600 Mealy automata, whose quotients must keep the exact cost of telling states apart (`invariants_automata.py`), and
5,000 adaptive policies on noisy machines, whose stopped transcripts must diverge at least as much as anything that is
decided from them (`invariants_policies.py`); the quick form is the first tenth of each. A violation is an alarm, with
the number of the automaton or policy, which is all that is needed to draw it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ascertain.report.record import Figure, Series
from ascertain.report.tables import Cell, Table
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.studies import paper
from ascertain_paper.studies.invariants.automata import check_automaton
from ascertain_paper.studies.invariants.policies import check_policy
from ascertain_paper.study import OpenChoice, Study

CHECKS = {
    "chain rule": "transcripts diverge by the sum over visits",
    "events": "transcripts diverge at least as much as every event about the ending",
    "explicit bound": "and at least d(1 - alpha - beta || alpha), labels different, own risks",
    "pairwise bound": "the policy costs at least the pairwise bound at its own risks",
    "program bound": "and at least the program bound",
    "quotient": "transcripts, risks, costs and bounds are the same on the quotient",
}
"""What is compared for every policy, in the words of the table."""
CHOICES = (
    OpenChoice(
        "How automata are drawn",
        "3 to 8 states, 2 or 3 actions, 2 or 3 readings, every entry uniform; labels uniform, costs 1 to 3",
        "how many shrink depends on the sizes alone: fewer readings and more states make more equivalent states",
    ),
    OpenChoice(
        "How noisy policies are drawn",
        "2 to 4 states, one in four with a twin, laws in small numbers; trees of depth 1 to 4 whose actions and stops "
        "are drawn after every transcript; three in four answer what is likeliest, if likely enough, the others guess",
        "how many are nonvacuous depends on how good the policies are; guessing alone leaves next to none",
    ),
    OpenChoice(
        "What a nonvacuous instance is",
        "a policy whose own exact risks, the largest over hypotheses, satisfy 2 alpha + beta < 1",
        "these risks are the hardest at which the policy is valid, so that the bounds are tested where they are best",
    ),
    OpenChoice(
        "Whether domination is strict",
        "no: it is an equality exactly when the likelihood ratio is constant on the event and off it",
        "the paper says strictly; where the two are equal that is proved in rationals and counted apart",
    ),
)


def study(conditions: Conditions) -> Study:
    """The synthetic study; its quick form is a tenth. It does not depend on the testbed."""
    parts = {"automata": check_automaton, "policies": check_policy}
    results: dict[str, list[dict[str, Any]]] = {}
    for what, function in parts.items():
        numbers = range(paper.INVARIANTS[what] // (10 if conditions.quick else 1))
        results[what] = conditions.campaign(f"invariants-{what}", function, numbers, what)
    return summarise(conditions, results["automata"], results["policies"])


def summarise(
    conditions: Conditions, automata: Sequence[Mapping[str, Any]], policies: Sequence[Mapping[str, Any]]
) -> Study:
    """Tables, findings and every violation."""
    counts: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for policy in policies:
        counts.update(policy["counts"])
        broken.update(_check_of(sentence) for sentence in policy["violations"])
    rows = (_automata_row(automata), *(_check_row(check, counts, broken) for check in CHECKS))
    facts = {
        "automata": len(automata),
        "shrunk": sum(one["classes"] < one["states"] for one in automata),
        "settled": sum(one["cost"] is not None for one in automata),
        "policies": len(policies),
        "nonvacuous": sum(one["nonvacuous"] for one in policies),
        "noisy_shrunk": sum(one["shrunk"] for one in policies),
        "violations": sum(len(one["violations"]) for one in (*automata, *policies)),
    }
    return Study(
        name="invariants",
        title="Invariants on synthetic systems",
        quick=conditions.quick,
        question="Do the theorems hold on random systems, in exact arithmetic?",
        answer=f"{facts['violations'] or 'No'} violations in {sum(row['comparisons'] for row in rows):,} comparisons, "
        f"on {facts['automata']:,} automata and {facts['policies']:,} noisy policies.",
        rows=rows,
        tables=(_paper_table(facts), _check_table(rows)),
        figures=(_figure(policies),),
        findings=_findings(facts, counts),
        alarms=tuple(
            f"{kind} {one['number']}: {sentence}"
            for kind, found in (("automaton", automata), ("policy", policies))
            for one in found
            for sentence in one["violations"]
        ),
        choices=CHOICES,
        facts=facts,
    )


def _check_of(sentence: str) -> str:
    """The check that a violation is about: the sentence begins with it."""
    return next(check for check in CHECKS if sentence.startswith(check))


def _automata_row(automata: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every automaton compares its question and its pairs, on the quotient and, the question, with the solver."""
    comparisons = sum(one["pairs"] + 1 for one in automata)
    return {
        "check": "distinguishing cost",
        "says": "telling states apart costs exactly the same on the quotient",
        "comparisons": comparisons,
        "equal": comparisons - sum(len(one["violations"]) for one in automata),
        "violations": sum(len(one["violations"]) for one in automata),
    }


def _check_row(check: str, counts: Mapping[str, int], broken: Mapping[str, int]) -> dict[str, Any]:
    return {
        "check": check,
        "says": CHECKS[check],
        "comparisons": counts.get(check, 0),
        "equal": counts.get(f"{check}, equal", 0),
        "violations": broken.get(check, 0),
    }


def _paper_table(facts: Mapping[str, Any]) -> Table:
    whole, tested = facts["automata"] == paper.INVARIANTS["automata"], facts["violations"] == 0
    size = "reproduced" if whole else "quick form: a tenth"
    body: tuple[tuple[Cell, ...], ...] = (
        ("random Mealy automata", facts["automata"], paper.INVARIANTS["automata"], size),
        ("of these the quotient shrinks", facts["shrunk"], paper.INVARIANTS["shrunk"], "differs: other sizes"),
        ("adaptive noisy policies", facts["policies"], paper.INVARIANTS["policies"], size),
        ("nonvacuous instances", facts["nonvacuous"], paper.INVARIANTS["nonvacuous"], "differs: other policies"),
        ("violations", facts["violations"], 0, "reproduced" if tested else "VIOLATED"),
    )
    return Table(
        "invariants",
        "Random systems beside the paper's",
        ("metric", "here", "paper", "judged"),
        body,
        "The paper does not say how its automata and policies were drawn, so the counts of its draws cannot agree.",
    )


def _check_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    keys = ("check", "says", "comparisons", "equal", "violations")
    return Table(
        "checks",
        "What was compared",
        ("check", "what must hold", "comparisons", "of these equal", "violations"),
        tuple(tuple(row[key] for key in keys) for row in rows),
        "Probabilities and costs are rationals and logarithms are enclosed in intervals; equal: proved equal.",
    )


def _figure(policies: Sequence[Mapping[str, Any]]) -> Figure:
    """For each nonvacuous policy the pair that pays closest to what it owes."""
    points = [one["closest"] for one in policies if one["closest"] is not None]
    owed, paid = tuple(point[1] for point in points), tuple(point[0] for point in points)
    ends = (min(owed, default=0.0), max(owed, default=1.0))
    return Figure(
        "owed",
        "What stopped transcripts pay, and owe",
        "d(1 - alpha - beta || alpha), nats",
        "KL of the stopped transcripts, nats",
        (Series("nonvacuous policies", owed, paid), Series("the bound", ends, ends, mark="line")),
        log_x=True,
        log_y=True,
        note="The closest pair of each nonvacuous policy, where both are finite; none may be below the line.",
    )


def _findings(facts: Mapping[str, Any], counts: Mapping[str, int]) -> tuple[str, ...]:
    strict = counts.get("events", 0) - counts.get("events, equal", 0)
    return (
        f"The quotient keeps the exact cost of telling states apart in all {facts['automata']} automata "
        f"({facts['settled']} of their questions can be settled at all) and shrinks {facts['shrunk']} of them."
        if not facts["violations"]
        else f"{facts['violations']} violations were found: see the alarms.",
        f"Of {facts['policies']:,} noisy policies {facts['nonvacuous']:,} are nonvacuous, and "
        f"{facts['noisy_shrunk']:,} run on a machine that its quotient shrinks.",
        f"Of {counts.get('events', 0):,} decision events {strict:,} diverge strictly less than the transcripts; the "
        "others exactly as much (both infinitely, or proved equal in rationals).",
    )
