"""Fingerprint: which of several machines is it, in as few actions as possible?

machines -> one task, up to those that nobody can tell apart -> settle
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, final

from ascertain.certificate.claims.none_of_these import none_of_these_claim
from ascertain.certificate.write import write_certificate
from ascertain.drawing.shown import Shown
from ascertain.errors import FileError, TaskError, find_name
from ascertain.model import Model
from ascertain.model.files import AnyModel, list_model, read_listed
from ascertain.model.files.fuzzer_folder import read_folder
from ascertain.observer.witness import LOST
from ascertain.pipeline.certify import certify
from ascertain.pipeline.settle import Settled, settle
from ascertain.policy.decision_graph import draw_decision_graph
from ascertain.policy.evaluate import cost_by_hypothesis
from ascertain.policy.verdict import NoneOfThese
from ascertain.problem.fingerprint import pose_fingerprint
from ascertain.rational import Number, rational_field
from ascertain.search.exact import Prove, SearchProgress
from ascertain.search.solution import Objective
from ascertain.task.hypotheses import is_lost, starts_explaining
from ascertain.task.log import read_log, read_rows
from ascertain.task.task import Task
from ascertain.writing import write_whole

Machines: TypeAlias = Mapping[str, AnyModel] | Sequence[str | Path]
"""Machines by name, or the files that they are read from and named after; a folder stands for the models in it, in the
layout of protocol-state-fuzzer."""
Weights: TypeAlias = Mapping[str, Number] | str | Path
"""How often each machine is met, by name; or the file that says so, in the columns machine and weight."""
WEIGHT_COLUMNS = ("machine", "weight")
"""What a row of a file of weights says."""


@final
@dataclass(frozen=True, eq=False)
class Fingerprinted(Shown):
    """The experiment that tells machines apart, and which of them nothing tells apart."""

    settled: Settled
    classes: tuple[tuple[str, ...], ...]
    """The machines of each class, in the order of the task's labels."""
    expected: Fraction | None
    """The mean cost of the policy over machines, as often as their weights say."""

    def shown(self) -> Mapping[str, object]:
        return {**self.settled.shown(), "classes": len(self.classes), "expected": self.expected}

    def __str__(self) -> str:
        return str(self.settled)

    def html(self) -> str:
        policy = self.settled.policy
        return super().html() + ("" if policy is None else policy.html())

    def write_decision_graph(self, path: str | Path) -> None:
        """Write the experiment as the decision graph of protocol-state-fuzzer (.dot)."""
        if self.settled.policy is None:
            raise FileError(f"{path}: no experiment was found that could be written")
        try:
            text = draw_decision_graph(self.settled.task, self.settled.policy, self.classes)
        except FileError as reason:
            raise FileError(f"{path}: {reason}") from None
        write_whole(path, text.encode())

    def facts(self) -> dict[str, Any]:
        """The result as plain data, which is what `fingerprint --json` prints."""
        return {
            **self.settled.facts(),
            "expected": None if self.expected is None else str(self.expected),
            "classes": [list(names) for names in self.classes],
        }


@final
@dataclass(frozen=True)
class Explained:
    """Which classes of machines explain a transcript; none where it is none of these."""

    classes: tuple[str, ...]
    verdict: NoneOfThese | None = None
    """Where no machine explains it: the transcript up to the reading that contradicts the last one."""
    certificate: str | None = None
    """What the checker says of the proof; None where none was asked for."""

    def facts(self) -> dict[str, Any]:
        """The result as plain data, which is what `fingerprint --transcript --json` prints."""
        return {
            "explained_by": list(self.classes),
            "reason": None if self.verdict is None else self.verdict.reason,
            "witness": None if self.verdict is None else [list(step) for step in self.verdict.witness],
            "certificate": self.certificate,
        }


def fingerprint(
    machines: Machines,
    *,
    reset_cost: Fraction | int | str | None = 1,
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Number] | None = None,
    objective: Objective = "worst",
    weights: Weights | None = None,
    time_limit: float | None = None,
    progress: SearchProgress | None = None,
    prove: Prove = "always",
) -> Fingerprinted:
    """Find the cheapest experiment that tells machines apart, on the actions that all of them know and a reset.

    `reset_cost` is what the reset costs; None: there is none. `actions` keeps these only, and `cost` has the costs of
    those that do not cost 1. Means are under `weights`, which name every machine; all alike if there are none. The
    other parameters are those of `settle`.
    """
    task = pose_machines(machines, reset_cost, actions, cost)
    weight = weigh_machines(task, weights)
    settled = settle(task, objective=objective, weights=weight, time_limit=time_limit, progress=progress, prove=prove)
    classes: list[list[str]] = [[] for _ in task.labels]
    for s, k in zip(task.state, task.label, strict=True):
        classes[int(k)].append(task.model.origin[int(s)])
    costs = [] if settled.policy is None else cost_by_hypothesis(task, settled.policy)
    spent = sum((w * c for w, c in zip(weight, costs, strict=True)), Fraction(0)) if costs else None
    expected = None if spent is None else spent / sum(weight)
    return Fingerprinted(settled, tuple(tuple(names) for names in classes), expected)


def explain_transcript(
    machines: Machines,
    transcript: str | Path,
    *,
    reset_cost: Fraction | int | str | None = 1,
    certificate: str | Path | None = None,
) -> Explained:
    """Say which classes of machines explain a log, from the initial state on.

    A blank reading was lost. Where no machine explains the log, `certificate` names the file for the proof of that. It
    is written if no reading up to there was lost and the checker takes it: that a machine does not define an action
    proves nothing about a plant that was sent it.
    """
    task, path = pose_machines(machines, reset_cost), Path(transcript)
    records = read_log(path)

    def explaining(length: int) -> list[int]:
        return starts_explaining(task.model, task.state, records[:length], str(path))

    if left := explaining(len(records)):
        return Explained(tuple(sorted({task.labels[int(task.label[h])] for h in left})))
    shortest = bisect_left(range(len(records)), True, key=lambda length: not explaining(length))
    lost = [is_lost(task.model, record) for record in records[:shortest]]
    found = NoneOfThese(tuple((r.command, LOST if gone else r.reading) for r, gone in zip(records, lost, strict=False)))
    if certificate is None or any(lost):
        return Explained((), found)
    claims = [none_of_these_claim(task, found.witness)]
    said = str(certify(task, claims)[1])
    if said == "VERIFIED":
        write_certificate(certificate, task, claims)
    return Explained((), found, said)


def pose_machines(
    machines: Machines,
    reset_cost: Fraction | int | str | None,
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Number] | None = None,
) -> Task:
    """The task of naming the machine up to those that nobody can tell apart."""
    price = None if reset_cost is None else rational_field(reset_cost, "--reset-cost", TaskError)
    known = {n: list_model(m, n) for n, m in machines.items()} if isinstance(machines, Mapping) else _read(machines)
    return pose_fingerprint(known, reset_cost=price, actions=actions, cost=cost)


def weigh_machines(task: Task, weights: Weights | None) -> list[Fraction]:
    """The weight of each hypothesis of a task of fingerprinting."""
    names = [task.model.origin[int(s)] for s in task.state]
    if weights is None:
        return [Fraction(1)] * len(names)
    where = str(weights) if isinstance(weights, str | Path) else "weights"
    error = FileError if isinstance(weights, str | Path) else TaskError
    given: dict[str, Fraction] = {}
    for place, name, number in _list_weights(weights):
        find_name(name, names, place, "a machine", error)
        if name in given:
            raise error(f"{place}: {name!r} stands twice; once is right")
        given[name] = rational_field(number, f"{place}: the weight of {name!r}", error)
        if given[name] <= 0:
            raise error(f"{place}: the weight of {name!r} is {given[name]}; a weight must be positive")
    missing = next((name for name in names if name not in given), None)
    if missing is not None:
        raise error(f"{where}: {missing!r} has no weight; every machine needs one, such as 1")
    return [given[name] for name in names]


def _list_weights(weights: Weights) -> Iterator[tuple[str, str, object]]:
    """For each weight the words that begin a message about it, the machine, and what was written."""
    if isinstance(weights, Mapping):
        yield from (("weights", name, number) for name, number in weights.items())
        return
    for line, row in read_rows(Path(weights), WEIGHT_COLUMNS, 2):
        yield f"{weights}:{line}", str(row["machine"]).strip(), row["weight"]


def _read(files: Sequence[str | Path]) -> dict[str, Model]:
    machines: dict[str, Model] = {}
    for path in map(Path, files):
        for name, machine in (read_folder(path) if path.is_dir() else {path.stem: read_listed(path)}).items():
            if name in machines:
                raise FileError(
                    f"{path}: there are two models {name!r}; rename one, as machines are called after their files"
                )
            machines[name] = machine
    return machines
