"""Compile: where a logged operation may have left the plant, best explanation first, and what may have gone wrong.

log and declarations -> operation -> candidates in shells -> weights -> a path to each candidate
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from ascertain.bank.candidates import Compiled
from ascertain.bank.compile import DEFAULT_COMPILER, compile_bank
from ascertain.bank.layers import Progress
from ascertain.bank.operation import Operation
from ascertain.bank.score import Score
from ascertain.bank.shells import bank_shells
from ascertain.bank.witness import Witness
from ascertain.drawing.shown import Listing, Shown
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import Problem, as_problem
from ascertain.task.canonical import canonical_bytes
from ascertain.types import State
from ascertain.writing import write_whole


@final
@dataclass(frozen=True)
class Candidate:
    """A state that the operation may have ended in."""

    state: State
    shell: int | None
    """Counted from 1; None for a nominal that no shell holds."""
    score: Score | None
    weight: Fraction
    path: Witness | None
    """What may have happened; None where the shell is: nothing was replaced."""


@final
@dataclass(frozen=True, eq=False)
class CompiledOperation(Shown):
    """Where an operation may have ended."""

    compiled: Compiled
    candidates: tuple[Candidate, ...]
    """Best explanation first, the nominal among them; none where nothing that is declared can have happened."""
    lines: tuple[int, ...]
    """`lines[t]` is where command t stands in the log."""

    def shown(self) -> Mapping[str, object]:
        nominal = self.compiled.nominal
        return {**self.compiled.shown(), "nominal": None if nominal is None else self.name(nominal)}

    def listing(self) -> Listing:
        rows = [(self.name(c.state), c.shell, c.score, c.weight) for c in self.candidates]
        return ("state", "shell", "score", "weight"), rows

    def name(self, state: State) -> str:
        """The name of a state of the plant."""
        return self.compiled.operation.model.name_state(state)

    def facts(self) -> dict[str, Any]:
        """The result as plain data, which is what `bank --json` prints."""
        compiled = self.compiled
        return {
            "nominal": None if compiled.nominal is None else self.name(compiled.nominal),
            "candidates": [
                {
                    "state": self.name(each.state),
                    "shell": each.shell,
                    "score": None if each.score is None else list(each.score),
                    "weight": str(each.weight),
                    **self._path_facts(each.path),
                }
                for each in self.candidates
            ],
            "shells": [{"score": list(shell.score), "size": len(shell.states)} for shell in compiled.shells()],
            "complete": compiled.complete,
            "stats": asdict(compiled.stats),
        }

    def _path_facts(self, path: Witness | None) -> dict[str, Any]:
        if path is None:
            return {"replacements": [], "contradicted_trusted": None, "contradicted": None}
        operation = self.compiled.operation
        actions = operation.model.actions
        return {
            "replacements": [
                {"line": self.lines[t], "sent": actions[int(operation.sent[t])], "done": [actions[c] for c in word]}
                for t, word in path.replacements
            ],
            "contradicted_trusted": [self.lines[t] for t in path.contradicted_trusted],
            "contradicted": [self.lines[t] for t in path.contradicted],
        }

    def write(self, path: str | Path) -> None:
        """Write the bank as JSON, without the time it took, so that the same question gives the same bytes."""
        facts = self.facts()
        counts = {key: value for key, value in facts["stats"].items() if key != "seconds"}
        data = {"format": "ascertain-bank", "version": 1, **facts, "stats": counts}
        write_whole(Path(path), canonical_bytes(data) + b"\n")


def compile_operation(
    operation: Operation | Problem | str | Path,
    *,
    compiler: str | None = None,
    shells: int | None = None,
    progress: Progress | None = None,
) -> CompiledOperation:
    """Rank the states that an operation may have ended in, each with what may have happened.

    `operation` is an operation, a problem that describes one, or the name of a problem file. `compiler` and the number
    of `shells` that are kept go before what the problem says; all compilers give the same answer. `progress` is told
    how much of how much is done: commands of the log when merging, else evaluations.
    """
    lines: Sequence[int]
    if isinstance(operation, Operation):
        lines = range(1, operation.length + 1)
    else:
        problem = as_problem(operation).require_machine()
        operation, lines = pose_operation(problem), [record.line for record in problem.log]
        compiler, shells = compiler or problem.observe.compiler, shells or problem.observe.shells
    compiled = compile_bank(operation, compiler or DEFAULT_COMPILER, shells=shells, progress=progress)
    return CompiledOperation(compiled, tuple(_list_candidates(compiled)), tuple(lines))


def _list_candidates(compiled: Compiled) -> list[Candidate]:
    """The states of every shell with their paths, and the nominal."""
    shells = list(compiled.shells())
    if not shells and compiled.nominal is None:
        return []
    bank = bank_shells(compiled, len(shells))
    weight = dict(zip(bank.states, bank.weights, strict=True))
    listed = [(int(z), j, shell.score) for j, shell in enumerate(shells, start=1) for z in shell.states]
    paths = compiled.witnesses([z for z, _, _ in listed]) if listed else ()
    found = [Candidate(z, j, score, weight[z], path) for (z, j, score), path in zip(listed, paths, strict=True)]
    if compiled.nominal is not None and all(z != compiled.nominal for z, _, _ in listed):
        found.append(Candidate(compiled.nominal, None, None, weight[compiled.nominal], None))
    return found
