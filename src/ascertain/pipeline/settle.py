"""Settle: the cheapest experiment that answers a question without risk, with the proof that none is cheaper.

quotient -> obstruction -> search -> policy on the original task -> certificate -> check
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from ascertain.certificate.claims.obstruction import obstruction_claim
from ascertain.certificate.solution import solution_claims
from ascertain.certificate.write import write_certificate
from ascertain.drawing.outline import Outline
from ascertain.drawing.shown import Shown
from ascertain.drawing.tree import write_tree
from ascertain.errors import CertificateError, LimitError, TaskError
from ascertain.pipeline.certify import certify
from ascertain.policy.automaton import Automaton
from ascertain.policy.plain import named_policy_data
from ascertain.problem.problem import Problem, find_question
from ascertain.quotients.obstruction import Obstruction, find_obstruction
from ascertain.search.exact import Prove, SearchProgress, solve
from ascertain.search.solution import Bounded, Objective, SearchStats, Solution, Solved, StopReason, Unsolvable
from ascertain.search.witness import outline_witness
from ascertain.task.canonical import fraction_text
from ascertain.task.task import Task, check_task
from ascertain_check import Verdict

MOST_CHECKED = 200_000
"""States times actions of a task whose policy is checked unasked when a limit was met: the checker takes a second."""


@final
@dataclass(frozen=True, eq=False)
class Settled(Shown):
    """What became of a task: the result, why not if not, and the certificate with the checker's verdict on it."""

    task: Task
    solution: Solution
    obstruction: Obstruction | None
    certificate: dict[str, Any] | None
    """None when nothing was proved before a limit was met, or Ctrl-C was pressed while it was made."""
    verdict: Verdict | None

    def shown(self) -> Mapping[str, object]:
        lower, upper = self.interval
        cost = lower if isinstance(self.solution, Solved) else None
        between = f"{lower} .. {'infinite' if upper is None else upper}" if isinstance(self.solution, Bounded) else None
        return {"status": self.status, "cost": cost, "between": between, "certificate": self.verdict}

    def __str__(self) -> str:
        return repr(self) if self.policy is None else f"{self!r}\n{self.policy}"

    def html(self) -> str:
        return super().html() + ("" if self.policy is None else self.policy.html())

    @property
    def status(self) -> str:
        """In one word: solved, unsolvable or bounded."""
        return type(self.solution).__name__.lower()

    @property
    def policy(self) -> Automaton | None:
        """The best experiment that was found."""
        return None if isinstance(self.solution, Unsolvable) else self.solution.policy

    @property
    def interval(self) -> tuple[Fraction | None, Fraction | None]:
        """Lower and upper bound on the least cost; None stands for infinity."""
        match self.solution:
            case Solved(cost=cost):
                return cost, cost
            case Bounded(lower=lower, upper=upper):
                return lower, upper
            case Unsolvable():
                return None, None

    @property
    def proved(self) -> Fraction | None:
        """The lower bound that the certificate proves; None where it proves none (or that nothing settles the task)."""
        proof = None if isinstance(self.solution, Unsolvable) else self.solution.proof
        return (
            proof.bound if proof is not None and self.verdict is not None and self.verdict.word == "VERIFIED" else None
        )

    @property
    def is_optimal(self) -> bool:
        """Whether the certificate proves that no experiment is cheaper than the one that was found."""
        return isinstance(self.solution, Solved) and self.proved == self.solution.cost

    @property
    def stopped_by(self) -> StopReason | None:
        """The limit that was met before the search was over."""
        return self.solution.why if isinstance(self.solution, Bounded) else None

    @property
    def unsettled(self) -> tuple[str, ...]:
        """Of an unsolvable task, states of hypotheses that cannot be settled even among themselves."""
        if not isinstance(self.solution, Unsolvable):
            return ()
        members, block = set(self.solution.members), self.solution.witness.block
        found: dict[tuple[int, int], str] = {}
        for s, k in zip(self.task.state, self.task.label, strict=True):
            key = (int(k), int(block[s]))
            if key in members:
                found.setdefault(key, self.task.model.states[int(s)])
        return tuple(found.values())

    @property
    def stats(self) -> SearchStats:
        """What the search took."""
        return self.solution.stats

    def facts(self) -> dict[str, Any]:
        """The result as plain data, which is what `solve --json` prints."""
        (lower, upper), policy = self.interval, self.policy
        solved = self.solution if isinstance(self.solution, Solved) else None
        return {
            "status": self.status,
            "objective": self.solution.objective,
            "lower": fraction_text(lower),
            "upper": fraction_text(upper),
            "proved_lower": None if self.proved is None else str(self.proved),
            "mean": None if solved is None else fraction_text(solved.mean),
            "mean_is_least": None if solved is None else solved.mean_is_least,
            "policy": None if policy is None else named_policy_data(self.task, policy),
            "stats": {
                **asdict(self.stats),
                "nodes": None if policy is None else policy.size,
                "depth": None if policy is None else policy.depth,
            },
            "certificate": None if self.verdict is None else str(self.verdict),
        }

    @property
    def outline(self) -> Outline | None:
        """The tree of the policy, or of why there is none; None where a limit was met first."""
        if isinstance(self.solution, Unsolvable):
            return outline_witness(self.task, self.solution.witness)
        return None if self.policy is None else self.policy.outline

    def draw(self, path: str | Path, title: str = "") -> None:
        """Draw the policy, or why there is none (.html, .svg, .dot, .txt); nothing where a limit was met first."""
        facts, policy, root = self.facts(), self.policy, self.outline
        if root is None:
            raise LimitError(f"{path}: the search was stopped before there was anything to draw")
        if policy is not None:
            above = [
                ("objective", f"{facts['objective']} cost"),
                ("cost of this experiment", facts["upper"]),
                ("lower bound", facts["lower"]),
                ("nodes, depth", f"{policy.size}, {policy.depth}"),
            ]
        else:
            above = [("unsolvable", "whatever is done, a reading may come after which one of these sets is left")]
        write_tree(path, root, title or "Policy", [*above, ("certificate", facts["certificate"] or "none")])

    def write_policy(self, path: str | Path) -> Path:
        """Write the policy file; `docs/policies.md` describes it."""
        if self.policy is None:
            raise TaskError(f"{path}: no policy was found, so that there is none to write")
        from ascertain.planning.exported import Controller  # noqa: PLC0415  planning is loaded where it is used
        from ascertain.planning.policy_file import write_policy  # noqa: PLC0415

        return write_policy(path, Controller(self.task, self.policy))

    def write_certificate(self, path: str | Path) -> tuple[Path, Path]:
        """Write NAME.json and NAME.task.json; returns both paths."""
        if self.certificate is None:
            raise CertificateError(f"{path}: nothing was proved before the limit, so that there is no certificate")
        return write_certificate(path, self.task, self.certificate["claims"])


def settle(
    task: Task | Problem | str | Path,
    *,
    objective: Objective = "worst",
    weights: Sequence[Fraction] | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: SearchProgress | None = None,
    prove: Prove = "always",
) -> Settled:
    """Find the cheapest experiment that settles the task, certify it, and have the certificate checked.

    `task` is a task, a problem, or the name of a problem file, whose weights are used for means unless
    others are given here. The other parameters are those of `search.exact.solve`.

    Under "worst" the policy has the least worst cost and, among such, the least mean that was found
    (`solution.mean_is_least` says whether it is the least of all).
    """
    task, problem = find_question(task, lambda problem: problem.task)
    if problem is not None:
        weights = weights or problem.weights or None
    check_task(task)
    solution = solve(
        task,
        objective=objective,
        weights=weights,
        time_limit=time_limit,
        memory_limit=memory_limit,
        progress=progress,
        prove=prove,
    )
    # What is obstructed is unsolvable, so that nobody else need be asked.
    obstruction = find_obstruction(task) if isinstance(solution, Unsolvable) else None
    claims = solution_claims(solution, weights or [Fraction(1)] * task.num_hypotheses)
    if obstruction is not None:
        claims.append(obstruction_claim(task, *obstruction.pair))
    if isinstance(solution, Bounded) and prove != "always" and task.model.successor.size > MOST_CHECKED:
        claims = []
    certificate, verdict = None, None
    with suppress(KeyboardInterrupt):  # what was found is worth more than its certificate
        certificate, verdict = certify(task, claims) if claims else (None, None)
    return Settled(task, solution, obstruction, certificate, verdict)
