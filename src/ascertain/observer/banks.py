"""What compiles the bank of a problem, when it is wanted: from the operation's log, or evenly over listed hypotheses.

Both are called without arguments and know the problem alone, so that the bank is determined before the first fresh
reading although it may be computed later; `bank_data` is what determines it, as plain data, for a commitment.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import Any, final

import numpy as np

from ascertain.bank.candidates import Compiled
from ascertain.bank.compile import compile_bank, find_compiler
from ascertain.bank.compiler import DEFAULT_COMPILER
from ascertain.bank.operation import Operation
from ascertain.bank.shells import bank_shells
from ascertain.bank.weights import DEFAULT, Weighting
from ascertain.observer.source import CompileEffort
from ascertain.task.bank import Bank, uniform_bank
from ascertain.task.canonical import canonical_bytes
from ascertain.types import State


@final
class OperationBank:
    """Compiles the bank of an operation: its first shells and the nominal."""

    def __init__(
        self,
        operation: Operation,
        compiler: str = DEFAULT_COMPILER,
        shells: int | None = None,
        *,
        weighting: Weighting = DEFAULT,
        against: str | None = None,
    ) -> None:
        for name in (compiler, against):
            if name is not None:
                find_compiler(name)  # a wrong name is refused now, not when the run has begun
        self._operation, self._compiler, self._shells = operation, compiler, shells
        self._weighting, self._against = weighting, against
        self._effort: CompileEffort | None = None

    @property
    def effort(self) -> CompileEffort | None:
        """What compiling took; None before it is done."""
        return self._effort

    def __call__(self) -> Bank:
        compiled = compile_bank(self._operation, self._compiler, shells=self._shells)
        self._effort = CompileEffort(
            compiler=compiled.stats.compiler,
            evaluations=compiled.stats.evaluations,
            model_steps=compiled.stats.model_steps,
            seconds=compiled.stats.seconds,
            map_equal=self._compare(compiled),
        )
        limit = compiled.num_shells if self._shells is None else self._shells
        return bank_shells(compiled, limit, self._weighting)

    def _compare(self, compiled: Compiled) -> bool | None:
        """Whether another compiler, if one is named, gives the same states with the same scores."""
        if self._against is None:
            return None
        other = compile_bank(self._operation, self._against, shells=max(compiled.num_shells, 1))
        return np.array_equal(compiled.endpoint, other.endpoint) and np.array_equal(compiled.score, other.score)

    def bank_data(self) -> dict[str, Any]:
        """What determines the bank: the operation by its hash, compiler, shells and weights."""
        return {
            "kind": "operation",
            "operation": operation_hash(self._operation),
            "compiler": self._compiler,
            "shells": self._shells,
            "weighting": [self._weighting.name, str(self._weighting.nominal)],
            "version": version("ascertain"),
        }


@final
class HypothesesBank:
    """The hypotheses of a question, each with the same weight."""

    effort: CompileEffort | None = None
    """None: nothing is compiled."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = tuple(dict.fromkeys(states))

    def __call__(self) -> Bank:
        return uniform_bank(self._states)

    def bank_data(self) -> dict[str, Any]:
        """What determines the bank: the question that the observer's settings name."""
        return {"kind": "hypotheses", "version": version("ascertain")}


def operation_hash(operation: Operation) -> str:
    """SHA-256 of an operation's log and declarations, in hexadecimal; the model is the question's."""
    data = {
        "start": operation.start,
        "sent": operation.sent.tolist(),
        "readings": operation.readings.tolist(),
        "trusted": [int(x) for x in operation.trusted],
        "alternatives": [[list(word) for word in words] for words in operation.alternatives],
        "replaced": operation.max_replaced,
        "windows": [list(operation.replacement_window), list(operation.flip_window)],
    }
    return sha256(canonical_bytes(data)).hexdigest()
