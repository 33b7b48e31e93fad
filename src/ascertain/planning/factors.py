"""Plants whose commands only read: independent bits in some coordinates, however many there are.

Let every command of a question be *affine* (gates xor, cnot, not, copy, set, clear), so that what it taps is a linear
form of the bits plus a constant. The commands *only read* when doing any of them leaves what each of them would tap as
it was: t_c'(T_c x) = t_c'(x) for all commands c, c' and states x. Then nothing that can be observed ever changes, and a
state is, for every experiment, the list of its forms' values. Independent forms take all values independently: reading
them is reading a register in other coordinates (parities are such a change of basis), and a question about 2^24 states
has 24 factors of two hypotheses each.

Answerable here: *which* (the state, or some bits, as far as they are sums of forms) and *nominal or not* (one state, or
an expression that is a conjunction of bits and negated bits). If a bit that is asked for is no sum of forms, two states
with different labels read alike: the question is obstructed, and the complexity infinite. Where forms are dependent the
cheapest independent ones are kept, which is enough for a policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np

from ascertain.bounds.plant import AFFINE
from ascertain.errors import LimitError
from ascertain.model.boolean import Gate
from ascertain.model.expression import Expression
from ascertain.model.named import register
from ascertain.planning.sequential_tests import LatticeTest, choose_levels, evaluate_test, split_best, split_uniformly
from ascertain.policy.product import Factor, Product
from ascertain.task.plant_task import BitsRule, ExpressionRule, NominalRule, PlantTask, StateRule
from ascertain.task.task import Task
from ascertain.types import Action, State

Risk: TypeAlias = tuple[Fraction, Fraction]
"""Probabilities of a wrong answer and of abstention."""
PricedChoice: TypeAlias = tuple[Fraction, Any, Risk]
"""What a policy costs, the policy, and its risk."""
Form: TypeAlias = tuple[int, int]
"""(mask, constant): the parity of the bits in the mask, plus the constant."""


@final
@dataclass(frozen=True)
class Factors:
    """Independent forms, what reads them, and what is asked of them."""

    flip: Fraction
    actions: tuple[Action, ...]
    forms: tuple[Form, ...]
    costs: tuple[Fraction, ...]
    asks: Literal["which", "nominal"]
    nominal: tuple[int, ...]
    """For *nominal or not*: the value of each form that is nominal."""
    differences: tuple[State, ...]
    """`differences[i]` changes form i and no other."""
    centre: State
    """A nominal state, or 0."""

    def one_bit(self, cost: Fraction, alpha: Fraction = Fraction(0), beta: Fraction = Fraction(0)) -> Task:
        """The question which value one form has: one bit, and what reads it."""
        machine, both = register(1, self.flip).as_machine(), np.arange(2, dtype=np.int32)
        return Task(model=machine, state=both, label=both, labels=machine.states, cost=(cost,), alpha=alpha, beta=beta)


def find_factors(question: PlantTask) -> Factors | None:
    """The factors of a question; None when it is obstructed; LimitError when its commands do not only read."""
    if question.about != "start" or question.states is not None or question.never:
        raise LimitError(
            "factors are for questions about the start, over all states of a plant, with nothing forbidden"
        )
    if any(g.op not in AFFINE for a in question.actions for g in question.model.commands[a].gates):
        raise LimitError("a command has a gate that is not affine, so the plant has no factors that can be read off")
    commands = question.model.commands
    taps = {a: transform(commands[a].gates, (1 << commands[a].tap, 0)) for a in question.actions}
    _check_reading(question, taps)
    order = sorted(taps, key=lambda a: (question.cost[a], a))
    independent, rows = _eliminate([taps[a][0] for a in order])
    kept = [(order[i], taps[order[i]]) for i in independent]
    targets, centre = _wanted(question)
    used: set[int] = set()
    for mask in targets:
        left, made = _reduce(mask, rows)
        if left:
            return None
        used |= {i for i in range(len(kept)) if made >> i & 1}
    asks_nominal = isinstance(question.rule, ExpressionRule | NominalRule)
    if asks_nominal and len(_eliminate(targets)[0]) < len(used):
        raise LimitError("the nominal bits are fewer than the forms they are sums of; that is not a product of tests")
    chosen = [kept[i] for i in sorted(used)]
    forms = tuple(form for _, form in chosen)
    return Factors(
        flip=question.model.flip,
        actions=tuple(a for a, _ in chosen),
        forms=forms,
        costs=tuple(question.cost[a] for a, _ in chosen),
        asks="nominal" if asks_nominal else "which",
        nominal=tuple(evaluate_form(form, centre) for form in forms),
        differences=_dual_basis([form[0] for _, form in kept], sorted(used)),
        centre=centre,
    )


def evaluate_form(form: Form, state: State) -> int:
    return ((form[0] & state).bit_count() + form[1]) & 1


def transform(gates: Sequence[Gate], form: Form) -> Form:
    """The form, of the state before the gates, that equals this one of the state after them."""
    mask, constant = form
    # From the last gate to the first, the target bit is replaced by what the gate makes of the bits before it:
    # xor and copy overwrite it with its sources, cnot adds its source, set and clear are constants, not adds one.
    for gate in reversed(gates):
        bit = 1 << gate.target
        if not mask & bit:
            continue
        if gate.op in {"xor", "copy", "set", "clear"}:
            mask ^= bit
        if gate.op in {"xor", "copy", "cnot"}:
            for source in gate.sources:
                mask ^= 1 << source
        if gate.op in {"set", "not"}:
            constant ^= 1
    return mask, constant


def _check_reading(question: PlantTask, taps: dict[Action, Form]) -> None:
    for a in question.actions:
        for b, form in taps.items():
            if transform(question.model.commands[a].gates, form) != form:
                names = question.model.actions
                raise LimitError(f"command {names[a]!r} changes what {names[b]!r} reads, so the plant has no factors")


def _eliminate(masks: Sequence[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Which masks are not sums of earlier ones, and their reduced forms, for `_reduce`; constants are left out."""
    kept: list[int] = []
    rows: list[tuple[int, int]] = []
    for i, mask in enumerate(masks):
        left, made = _reduce(mask, rows)
        if left:
            rows.append((left, made ^ 1 << len(kept)))
            kept.append(i)
    return kept, rows


def _reduce(mask: int, rows: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """What is left of a mask once reduced forms are added, and which masks that makes it the sum of, as bits."""
    # No two reduced forms have the same leading bit, so that adding one helps exactly where it makes a smaller number.
    left, made = mask, 0
    for row, using in rows:
        if left ^ row < left:
            left, made = left ^ row, made ^ using
    return left, made


def _dual_basis(forms: Sequence[int], wanted: Sequence[int]) -> tuple[State, ...]:
    """For each wanted form a state that changes it and none of the others: Gauss over the field of two elements."""
    n, width = len(forms), max(form.bit_length() for form in forms)
    rows = [form | 1 << (width + i) for i, form in enumerate(forms)]
    pivots: list[int] = []
    for i in range(n):
        pivot = (rows[i] & ((1 << width) - 1)).bit_length() - 1
        pivots.append(pivot)
        for j in range(n):
            if j != i and rows[j] >> pivot & 1:
                rows[j] ^= rows[i]
    # Row i now reads: bit pivots[i] is the sum of the forms in its tail, where all bits that are no pivots are 0.
    return tuple(sum(1 << pivots[i] for i in range(n) if rows[i] >> (width + k) & 1) for k in wanted)


def _wanted(question: PlantTask) -> tuple[list[int], State]:
    """The bits that are asked for, as masks, and a nominal state."""
    match question.rule:
        case StateRule():
            return [1 << b for b in range(question.model.num_bits)], 0
        case BitsRule(bits):
            return [1 << b for b in bits], 0
        case NominalRule(state):
            return [1 << b for b in range(question.model.num_bits)], state
        case ExpressionRule(expression):
            literals = list_literals(expression)
            return [1 << b for b in literals], sum(value << b for b, value in literals.items())


def list_literals(expression: Expression) -> dict[int, int]:
    """The bits and their values of a conjunction of bits and negated bits; LimitError when it is not one."""
    stack: list[dict[int, int]] = []
    for step in expression.program:
        if isinstance(step, int):
            stack.append({step: 1})
        elif step == "not" and len(stack[-1]) == 1:
            stack.append({b: 1 - value for b, value in stack.pop().items()})
        elif step == "and" and all(stack[-1].get(b, v) == v for b, v in stack[-2].items()):
            right, left = stack.pop(), stack.pop()
            stack.append(left | right)
        else:
            raise LimitError("only conjunctions of bits and negated bits are products of tests")
    return stack[0]


def choose_tests(factors: Factors, alpha: Fraction, beta: Fraction) -> dict[str, PricedChoice]:
    """Policies of a plant that only reads: one test after the other, and the best split or all forms together."""
    flips = [factors.flip] * len(factors.forms)
    found = {"uniform tree": _test_each(factors, split_uniformly(flips, alpha, beta))}
    if factors.asks == "which":
        return found | {"product": _test_each(factors, split_best(flips, factors.costs, alpha, beta))}
    policy, risk = choose_levels(factors.flip, factors.actions, factors.nominal, factors.costs, alpha, beta)
    return found | {"levels": (risk.cost, policy, (risk.wrong, risk.abstain))}


def _test_each(factors: Factors, tests: list[LatticeTest]) -> PricedChoice:
    """One test for each form, with thresholds that are the same on both sides."""
    bit, nominal = factors.one_bit(max(factors.costs)), factors.asks == "nominal"
    parts = [
        Factor(bit, test, (action,), (0, 1), value if nominal else None)
        for test, action, value in zip(tests, factors.actions, factors.nominal, strict=True)
    ]
    outcomes = [evaluate_test(test, 1) for test in tests]
    cost = sum((o.readings * c for o, c in zip(outcomes, factors.costs, strict=True)), Fraction(0))
    risk = sum((o.says_zero for o in outcomes), Fraction(0)), sum((o.abstains for o in outcomes), Fraction(0))
    return cost, Product(tuple(parts)), risk
