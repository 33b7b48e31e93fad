"""The compiled bank: where an operation may have ended, each state with its score, and how it may have come there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ascertain.bank.encoding import find_nominal
from ascertain.bank.layers import MEMORY_LIMIT
from ascertain.bank.operation import Operation
from ascertain.bank.score import Score
from ascertain.bank.witness import Witness, find_witnesses
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import TaskError
from ascertain.kernels.bank.steps import Tables
from ascertain.types import LongArray, State, WordArray


@final
@dataclass(frozen=True, kw_only=True)
class CompileStats:
    """What a compilation took.

    An *evaluation* scores one path, or in merging one merged entry, at the end of the log. The direct compiler counts
    every partial path that it follows, to the end or until another has been there before it.
    """

    compiler: str
    paths: int
    """How many the declaration allows; 10^18 stands for that many or more."""
    model_steps: int
    evaluations: int
    seconds: float
    peak_bytes: int
    """The most memory that the arrays took which were worked in."""
    early_proof: bool | None = None
    """Direct compiler: whether it proved its shells; otherwise all paths were evaluated after all."""
    probe_evaluations: int = 0
    """Direct compiler: how many evaluations came before a threshold was found or given up."""
    evaluations_saved: int = 0
    """Direct compiler: how many fewer evaluations than there are paths."""
    largest_layer: int = 0
    """Merging compiler: how many entries the largest layer had."""


@final
@dataclass(frozen=True, eq=False)
class Shell:
    """Candidates of equal score, ascending."""

    score: Score
    states: WordArray


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Compiled(Shown):
    """Candidates ordered by score, then by state."""

    operation: Operation
    endpoint: WordArray
    score: LongArray
    """`score[i]` is the score of `endpoint[i]`."""
    nominal: State | None
    """Where the log as sent ends; None when it cannot be done."""
    complete: bool
    """Whether every endpoint is listed, or those of the first shells only."""
    stats: CompileStats

    def shown(self) -> Mapping[str, object]:
        return {"candidates": self.endpoint.size, "shells": self.num_shells, "complete": self.complete}

    def listing(self) -> Listing:
        name = self.operation.model.name_state
        rows = [(name(int(z)), j, shell.score) for j, shell in enumerate(self.shells(), start=1) for z in shell.states]
        return ("state", "shell", "score"), rows

    def shells(self) -> Iterator[Shell]:
        """The shells in order, one at a time."""
        begin = 0
        for end in (*shell_starts(self.score)[1:].tolist(), len(self.score)):
            if end > begin:
                yield Shell(_as_score(self.score[begin]), self.endpoint[begin:end])
            begin = end

    @property
    def num_shells(self) -> int:
        return shell_starts(self.score).size

    def score_of(self, state: State) -> Score | None:
        """The score of a state; None for one that is not listed."""
        at = np.flatnonzero(self.endpoint == np.uint64(state))
        return _as_score(self.score[at[0]]) if at.size else None

    def witness(self, state: State) -> Witness:
        """A path of fewest replacements that attains a candidate's score; takes a few compilations' time."""
        return self.witnesses((state,))[0]

    def witnesses(self, states: Sequence[State], *, memory_limit: int = MEMORY_LIMIT) -> tuple[Witness, ...]:
        """A witness for each state, all in the time of a single one."""
        for state in states:
            if not (self.endpoint == np.uint64(state)).any():
                raise TaskError(f"state {state} is not among the {self.endpoint.size} candidates")
        return find_witnesses(self.operation, states, memory_limit=memory_limit)


def list_candidates(
    operation: Operation,
    tables: Tables,
    ranked: tuple[WordArray, LongArray],
    shells: int | None,
    stats: CompileStats,
    *,
    seen_all: bool = True,
) -> Compiled:
    """The first shells of states ranked by their scores, or all; `seen_all` says that no other state is an endpoint."""
    state, score = ranked
    starts = shell_starts(score)
    size = len(score) if shells is None or shells >= starts.size else int(starts[shells])
    complete = seen_all and size == len(score)
    endpoint, score = state[:size].copy(), score[:size].copy()
    endpoint.setflags(write=False)
    score.setflags(write=False)
    return Compiled(
        operation=operation,
        endpoint=endpoint,
        score=score,
        nominal=find_nominal(operation, tables),
        complete=complete,
        stats=stats,
    )


def shell_starts(score: LongArray) -> LongArray:
    """The positions where the shells begin, in rows of scores that are in order."""
    fresh = np.ones(len(score), dtype=np.bool_)
    fresh[1:] = (score[1:] != score[:-1]).any(axis=1)
    return np.flatnonzero(fresh)


def _as_score(row: LongArray) -> Score:
    mis, total, largest = row.tolist()
    return mis, total, largest
