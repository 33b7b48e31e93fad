"""A rival for the exact solver: "is there a policy of depth at most t?" as satisfiability, for t = 1, 2, ...

For tasks about the start in which every action costs 1. Throughout: h, g are hypotheses, i a time, s a state, a an
action, y a reading. Variables say that h is in s at time i, that it is then sent a, and that it reads y; `apart` says
that the transcripts of h and g differ by time i. Hypotheses not yet apart are sent the same action, and come apart only
by reading differently; those with different labels are apart at time t. A wait, always allowed and always read alike,
lets a branch end early. The formula has about t * hypotheses * (states * actions + hypotheses * actions) clauses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from pysat.solvers import Solver

from ascertain.model import Machine
from ascertain.quotients.quotient import take_quotient
from ascertain.task.task import Task

SOLVER = "glucose4"


@dataclass
class Encoding:
    """Variables by what they say, and the clauses of one depth."""

    task: Task
    depth: int
    number: dict[tuple[str | int, ...], int] = field(default_factory=dict)

    def var(self, *what: str | int) -> int:
        return self.number.setdefault(what, len(self.number) + 1)

    def clauses(self) -> Iterator[list[int]]:
        task = self.task
        model = task.model
        assert isinstance(model, Machine)
        size, wait = task.num_hypotheses, model.num_actions
        reachable = [{int(s)} for s in task.state]
        for h in range(size):
            yield [self.var("in", h, 0, int(task.state[h]))]
        for i in range(self.depth):
            for h in range(size):
                sent = [self.var("sent", h, i, a) for a in range(wait + 1)]
                yield sent
                yield from ([-p, -q] for n, p in enumerate(sent) for q in sent[:n])
                after: set[int] = set()
                for s in reachable[h]:
                    yield from self.moves(h, i, s, model, sent, after)
                reachable[h] = after
            yield from self.comparisons(i, size, wait, len(model.readings))
        for h in range(size):
            for g in range(h):
                if task.label[h] != task.label[g]:
                    yield [self.var("apart", g, h, self.depth)]

    def moves(self, h: int, i: int, s: int, model: Machine, sent: list[int], after: set[int]) -> Iterator[list[int]]:
        here = self.var("in", h, i, s)
        for a in range(model.num_actions):
            t = int(model.successor[s, a])
            if t < 0:
                yield [-here, -sent[a]]
                continue
            after.add(t)
            yield [-here, -sent[a], self.var("in", h, i + 1, t)]
            yield [-here, -sent[a], self.var("read", h, i, int(model.output[s, a]))]
        after.add(s)
        yield [-here, -sent[-1], self.var("in", h, i + 1, s)]
        yield [-here, -sent[-1], self.var("read", h, i, len(model.readings))]

    def comparisons(self, i: int, size: int, wait: int, num_readings: int) -> Iterator[list[int]]:
        for h in range(size):
            for g in range(h):
                before, later = self.var("apart", g, h, i), self.var("apart", g, h, i + 1)
                if i == 0:
                    yield [-before]
                for a in range(wait + 1):
                    p, q = self.var("sent", g, i, a), self.var("sent", h, i, a)
                    yield [before, -p, q]
                    yield [before, p, -q]
                for y in range(num_readings + 1):
                    known = ("read", g, i, y) in self.number and ("read", h, i, y) in self.number
                    if known:
                        yield [before, -self.var("read", g, i, y), -self.var("read", h, i, y), -later]


def solve_by_sat(task: Task, time_limit: float) -> tuple[int | None, int, float]:
    """(optimum or None at the time limit, lower bound reached, seconds)."""
    started = time.process_time()
    reduced = take_quotient(task).reduced
    depth = 1
    while True:
        left = time_limit - (time.process_time() - started)
        verdict = decide(Encoding(reduced, depth), left) if left > 0 else None
        if verdict is None:
            return None, depth, time.process_time() - started
        if verdict:
            return depth, depth, time.process_time() - started
        depth += 1


def decide(encoding: Encoding, time_limit: float) -> bool | None:
    """Whether there is a policy of that depth; None when time runs out."""
    with Solver(name=SOLVER) as solver:
        for clause in encoding.clauses():
            solver.add_clause(clause)
        timer = threading.Timer(time_limit, solver.interrupt)
        timer.start()
        verdict = solver.solve_limited(expect_interrupt=True)
        timer.cancel()
        return verdict
