"""The whole road on one page: from a task to an answer that carries its proof.

quotient -> obstruction -> search -> policy on the original task -> certificate -> check
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ascertain.certificate import certificate_data
from ascertain.certificate.claims.obstruction import obstruction_claim
from ascertain.certificate.solution import solution_claims
from ascertain.quotients.obstruction import Obstruction, find_obstruction
from ascertain.search.exact import Prove, SearchProgress, solve
from ascertain.search.solution import Objective, Solution
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.task import Task
from ascertain_check import Verdict, check


@dataclass(frozen=True)
class Settled:
    """What became of a task: the result, why not if not, and the certificate with the checker's verdict on it."""

    solution: Solution
    obstruction: Obstruction | None
    certificate: dict[str, Any] | None
    """None when nothing was proved before a limit was met."""
    verdict: Verdict | None


def settle(
    task: Task,
    *,
    objective: Objective = "worst",
    weights: Sequence[Fraction] | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: SearchProgress | None = None,
    prove: Prove = "always",
) -> Settled:
    """Find the cheapest experiment that settles the task, certify it, and have the certificate checked."""
    obstruction = find_obstruction(task)
    solution = solve(
        task,
        objective=objective,
        weights=weights,
        time_limit=time_limit,
        memory_limit=memory_limit,
        progress=progress,
        prove=prove,
    )
    claims = solution_claims(solution, weights or [Fraction(1)] * task.num_hypotheses)
    if obstruction is not None:
        claims.append(obstruction_claim(task, *obstruction.pair))
    if not claims:
        return Settled(solution, obstruction, None, None)
    certificate = certificate_data(task, claims)
    verdict = check(canonical_bytes(task_data(task)), canonical_bytes(certificate))
    return Settled(solution, obstruction, certificate, verdict)
