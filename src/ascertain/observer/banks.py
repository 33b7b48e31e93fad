"""Where the bank comes from: it is compiled at most once, by something that never sees a reading.

The bank of a problem is compiled from the operation's log, or spread evenly over listed hypotheses. Both are called
without arguments and know the problem alone, so that the bank is determined before the first fresh reading although it
may be computed later; `bank_data` is what determines it, as plain data, for a commitment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import islice
from typing import Any, TypeAlias, final

import numpy as np

from ascertain.bank.candidates import Compiled, CompileStats
from ascertain.bank.compile import DEFAULT_COMPILER, compile_bank, find_compiler
from ascertain.bank.operation import Operation
from ascertain.bank.shells import KeptShells, bank_shells
from ascertain.bank.weights import DEFAULT, Weighting
from ascertain.errors import AscertainError, TaskError
from ascertain.interruption import OutOfTime
from ascertain.task.bank import Bank, EvenBank, uniform_bank
from ascertain.task.canonical import canonical_bytes
from ascertain.task.question import AbstractQuestion
from ascertain.types import State

MakeBank: TypeAlias = Callable[[], Bank | EvenBank]
"""Compiles a bank when it is wanted."""
RULES = "0.1.0"
"""The first version of which the same description gives the same bank. What was begun with that or a later one is
resumed; a version that gives other banks puts its own number here."""
PARTS = "by number"
"""The name of the weights of shells that are computed one by one."""
MAX_EVEN_BITS = 16
"""The largest plant all of whose states are listed as candidates, evenly; of larger ones they are counted unlisted."""


@final
@dataclass(frozen=True)
class CompileReport:
    """What compiling the bank took, and whether a second compiler gave the same states and scores."""

    stats: CompileStats
    map_equal: bool | None
    """None when no second compiler was asked."""


@final
class BankSource:
    """Runs what compiles the bank when the bank is first wanted, and never again, even where it failed."""

    def __init__(self, make_bank: MakeBank, in_parts: bool = False) -> None:
        self._make_bank, self._in_parts = make_bank, in_parts
        self._result: Bank | EvenBank | AscertainError | OutOfTime | None = None

    def bank(self) -> Bank | EvenBank:
        """The bank; what went wrong is raised each time."""
        if self._result is None:
            try:
                self._result = self._make_bank()
            except (AscertainError, OutOfTime) as error:
                self._result = error
            else:
                if not isinstance(self._result, Bank | EvenBank):  # pyright: ignore[reportUnnecessaryIsInstance]  it is a user's
                    self._result = TaskError("what compiles the bank did not return a Bank")
                elif self._result.later is not None and not self._in_parts:
                    self._result = TaskError("the bank to fall back on must be whole; it leaves a part to be computed")
        if isinstance(self._result, AscertainError | OutOfTime):
            raise self._result
        return self._result

    @property
    def report(self) -> CompileReport | None:
        """What compiling took, if it has been done and whatever does it has a report."""
        return getattr(self._make_bank, "report", None) if isinstance(self._result, Bank | EvenBank) else None


@final
class OperationBank:
    """Compiles the bank of an operation: its first shells and the nominal.

    `in_parts`: one shell after the other, each with a weight that only its number decides, so that it is fixed
    however many shells there will be; a compiler that can give first shells alone is asked for one, two, four, ...
    """

    def __init__(
        self,
        operation: Operation,
        compiler: str = DEFAULT_COMPILER,
        shells: int | KeptShells | None = None,
        *,
        weighting: Weighting = DEFAULT,
        against: str | None = None,
        in_parts: bool = False,
    ) -> None:
        for name in (compiler, against):
            if name is not None:
                find_compiler(name)  # a wrong name is refused now, not when the run has begun
        if not isinstance(shells, KeptShells):
            shells = KeptShells() if shells is None else KeptShells(shells, "number")
        self.operation, self._compiler, self._shells = operation, compiler, shells.number
        first = find_compiler(compiler).first_shells
        self.kept = KeptShells(first, "compiler") if shells.number is None and first is not None else shells
        """How many shells the bank keeps, and what says so."""
        self._weighting, self._against, self._in_parts = weighting, against, in_parts
        self._compiled: dict[int | None, Compiled] = {}
        self.report: CompileReport | None = None
        """What compiling took; None before it is done."""

    def with_parts(self, in_parts: bool) -> OperationBank:
        """The same bank, to be compiled anew, in parts or at once."""
        other = copy(self)
        other._in_parts, other._compiled, other.report = in_parts, {}, None
        return other

    def __call__(self) -> Bank:
        if self._in_parts:
            return self._part(1)
        compiled = compile_bank(self.operation, self._compiler, shells=self._shells)
        self.report = CompileReport(compiled.stats, self._compare(compiled))
        limit = compiled.num_shells if self._shells is None else self._shells
        return bank_shells(compiled, limit, self._weighting)

    def _part(self, number: int) -> Bank:
        """The shell of that number, from 1, and what computes the next one."""
        asked = 1 << (number - 1).bit_length()
        compiled = self._compile_shells(None if self._compiler == DEFAULT_COMPILER else asked)
        shell = next(islice(compiled.shells(), number - 1, None), None)
        if shell is None:
            raise TaskError("the operation has no candidates")
        more = compiled.num_shells > number or not compiled.complete
        last = not more or number == self._shells
        each = shell_weight(number) / len(shell.states)
        states = tuple(int(z) for z in shell.states)
        return Bank(states, (each,) * len(states), None if last else lambda: self._part(number + 1))

    def _compile_shells(self, number: int | None) -> Compiled:
        """At least so many shells, or all; what it took is added up over the times that more were asked for."""
        if number not in self._compiled:
            compiled = compile_bank(self.operation, self._compiler, shells=number)
            before = None if self.report is None else self.report.stats
            stats = compiled.stats
            if before is not None:
                stats = replace(
                    stats,
                    model_steps=before.model_steps + stats.model_steps,
                    evaluations=before.evaluations + stats.evaluations,
                    seconds=before.seconds + stats.seconds,
                )
            self.report = CompileReport(stats, None)
            self._compiled[number] = compiled
        return self._compiled[number]

    def _compare(self, compiled: Compiled) -> bool | None:
        """Whether another compiler, if one is named, gives the same states with the same scores."""
        if self._against is None:
            return None
        other = compile_bank(self.operation, self._against, shells=max(compiled.num_shells, 1))
        return np.array_equal(compiled.endpoint, other.endpoint) and np.array_equal(compiled.score, other.score)

    def bank_data(self) -> dict[str, Any]:
        """What determines the bank: the operation by its hash, compiler, shells and weights."""
        nominal = self._weighting.nominal
        return {
            "kind": "operation",
            "operation": operation_hash(self.operation),
            "compiler": self._compiler,
            "shells": self._shells,
            "weighting": [PARTS, None]
            if self._in_parts
            else [self._weighting.name, None if nominal is None else str(nominal)],
            "version": RULES,
            # What a calibration promises stands in the commitment, and with it in the certificate of the run.
            **({} if self.kept.coverage is None else {"promised_coverage": str(self.kept.coverage)}),
        }


def shell_weight(number: int) -> Fraction:
    """The weight of a shell, counted from 1, whatever the others are: in proportion to 1/j^3, as `inverse_cube`.
    They sum to less than 1, because the sum of all 1/j^3 is 1.2020... < 100/83."""
    return Fraction(83, 100 * number**3)


@final
class HypothesesBank:
    """The hypotheses of a question, each with the same weight."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = tuple(dict.fromkeys(states))

    def __call__(self) -> Bank:
        return uniform_bank(self._states)

    def bank_data(self) -> dict[str, Any]:
        """What determines the bank: the question that the observer's settings name."""
        return {"kind": "hypotheses", "version": RULES}


@final
class EveryState:
    """Every state of a Boolean plant, each with the same weight, unlisted."""

    def __init__(self, num_states: int) -> None:
        self._num_states = num_states

    def __call__(self) -> EvenBank:
        return EvenBank(self._num_states)

    def bank_data(self) -> dict[str, Any]:
        """What determines the bank: the question that the observer's settings name."""
        return {"kind": "hypotheses", "version": RULES}


def spread_evenly(question: AbstractQuestion) -> HypothesesBank | EveryState:
    """The bank of who knows nothing: all hypotheses, each with the same weight."""
    return list_hypotheses(question) or EveryState(question.num_candidates)


def list_hypotheses(question: AbstractQuestion) -> HypothesesBank | None:
    """The bank of all hypotheses; None where a plant has too many states to list them."""
    if question.candidates is None and len(question.model.bits) <= MAX_EVEN_BITS:
        return HypothesesBank(range(question.num_candidates))
    return None if question.candidates is None else HypothesesBank(question.candidates)


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
