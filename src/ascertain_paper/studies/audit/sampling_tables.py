"""False acceptance at the real alpha: estimates and limits, for the mean of the truths audited and for each of them.

Runs of all audits are independent, so that Hoeffding's inequality holds for all runs of a row together, and limits the
mean of the truths' probabilities of a wrong answer. For each of K truths by itself it holds at delta/K, and the largest
of those limits holds for all of them at once. What an observer spends in two shares is limited by the sum of two
limits, each at delta/2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from ascertain.report.tables import Cell, Table, show_ratio
from ascertain_paper.importance_sampling import Audit
from ascertain_paper.studies.audit.parts import DELTA, Part, Results
from ascertain_paper.studies.audit.sampling import AFTER, BEFORE, FALLBACK, NOMINAL, WHOLE, pool_audits, read_audit
from ascertain_paper.testbed.settings import Settings

SHARES = {NOMINAL: (NOMINAL,), FALLBACK: (FALLBACK,), BEFORE: (BEFORE,), AFTER: (AFTER,), WHOLE: (BEFORE, AFTER)}
"""The rows of the table, and the shares of alpha that each adds up."""


@final
@dataclass(frozen=True)
class Sampled:
    """One row: what the audits of all truths say together."""

    name: str
    alpha: Fraction
    truths: int
    runs: int
    wrong: int
    estimate: float
    """Of the mean over truths."""
    mean_limit: float
    worst_limit: float
    unearned: int

    @property
    def decided(self) -> str:
        """What the runs decide."""
        if self.unearned:
            return "VIOLATED"
        if self.worst_limit <= self.alpha:
            return "shown for each truth"
        return "shown for the mean" if self.mean_limit <= self.alpha else "not shown by so few runs"


def sampled_row(name: str, shares: Sequence[str], results: Results, risk: Fraction) -> Sampled:
    """The row of an observer that spends these shares of alpha, each of them `risk`."""
    found = [group_truths(results, share, risk) for share in shares]
    truths = list(found[0])
    assert all(list(each) == truths for each in found), "shares that are added up are audited for the same truths"
    pooled = [pool_audits(list(each.values())) for each in found]
    delta = DELTA / len(shares)
    return Sampled(
        name=name,
        alpha=len(shares) * risk,
        truths=len(truths),
        runs=sum(each.num_runs for each in pooled),
        wrong=sum(each.num_wrong for each in pooled),
        estimate=math.fsum(each.estimate for each in pooled),
        mean_limit=math.fsum(each.upper_limit(delta) for each in pooled),
        worst_limit=max(math.fsum(each[truth].upper_limit(delta / len(truths)) for each in found) for truth in truths),
        unearned=sum(each.unearned for each in pooled),
    )


def group_truths(results: Results, share: str, risk: Fraction) -> Mapping[tuple[int, int, int], Audit]:
    """The audits of a share by plant, bank and truth."""
    chosen = [result for result in results if result["stage"] == share]
    return {(each["plant"], each["bank"], each["truth"]): read_audit(each, risk) for each in chosen}


def sampling_part(frozen: Settings, results: Results) -> Part:
    """1: false acceptance at the real alpha."""
    sampled = [sampled_row(name, shares, results, frozen.staged_risk) for name, shares in SHARES.items()]
    body: list[tuple[Cell, ...]] = [
        (each.name, show_ratio(each.alpha), each.truths, each.runs, each.wrong, *_shares(each), each.decided)
        for each in sampled
    ]
    columns = (
        "observer", "alpha", "truths", "runs", "wrong when provoked", "estimate / alpha", "limit of the mean / alpha",
        "limit of the worst / alpha", "wrong at most alpha",
    )  # fmt: skip
    note = (
        "By importance sampling, for the truths that are hardest to tell apart; every answer was checked to have the "
        f"evidence that it needs. Limits are Hoeffding's at confidence {1 - DELTA}, of the mean over the truths and of "
        "the worst of them, and rest on that check: no term exceeds alpha. Readwise 100 is driven through its switch; "
        "its two shares are audited apart and added up."
    )
    table = Table("false-acceptance", "False acceptance at the real risk", columns, tuple(body), note)
    alarms = [
        f"{each.unearned} answers of the observer {each.name!r} were not earned by the evidence"
        for each in sampled
        if each.unearned
    ]
    return table, (), [_row(each) for each in sampled], _findings(sampled) if not alarms else [], alarms


def _shares(each: Sampled) -> tuple[float, float, float]:
    alpha = float(each.alpha)
    return each.estimate / alpha, each.mean_limit / alpha, each.worst_limit / alpha


def _row(each: Sampled) -> dict[str, Any]:
    limits = {"limit": each.mean_limit, "worst_limit": each.worst_limit}
    return {
        "question": "false acceptance",
        "stage": each.name,
        "runs": each.runs,
        "truths": each.truths,
        "alpha": str(each.alpha),
        "estimate": each.estimate,
        **{name: None if math.isinf(limit) else limit for name, limit in limits.items()},
        "unearned": each.unearned,
        "decided": each.decided,
    }


def _findings(sampled: Sequence[Sampled]) -> list[str]:
    by = {each.name: each for each in sampled}
    nominal, whole = by[NOMINAL], by[WHOLE]
    return [
        f"For the {nominal.truths} hardest truths the nominal stage is wrong with a mean probability of "
        f"{nominal.estimate:.2e}, {nominal.estimate / float(nominal.alpha):.2f} of what it may spend "
        f"({nominal.decided}); readwise 100, driven through its switch, with {whole.estimate:.2e}, "
        f"{whole.estimate / float(whole.alpha):.2f} of what it may spend ({whole.decided}). Every answer had the "
        "evidence that it needs."
    ]
