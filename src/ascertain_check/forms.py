"""What affine commands of a Boolean plant read: parities of bits of the state, plus a constant.

A form is a mask, the bits that are added, and a constant; a mask is a number, bit i of which stands for bit i.
"""

from __future__ import annotations

from typing import TypeAlias

from ascertain_check.plant_task import Command, PlantTask
from ascertain_check.verdicts import Refuted
from ascertain_check.work import spend

Form: TypeAlias = tuple[int, int]
"""(mask, constant)."""


def find_form(task: PlantTask, action: int) -> Form:
    command = task.commands[action]
    return carry(command, (1 << command.tap, 0))


def carry(command: Command, form: Form) -> Form:
    """The form, of the state before the gates, that equals this one of the state after them."""
    mask, constant = form
    spend(2 + 3 * len(command.gates))
    for gate in reversed(command.gates):
        if gate.op in ("and", "or", "toffoli"):
            raise Refuted("a command has a gate that is not affine")
        if not mask >> gate.target & 1:
            continue
        if gate.op in ("xor", "copy", "set", "clear"):
            mask ^= 1 << gate.target
        if gate.op in ("xor", "copy", "cnot"):
            mask ^= 1 << gate.first
        if gate.op == "xor":
            mask ^= 1 << gate.second
        if gate.op in ("set", "not"):
            constant ^= 1
    return mask, constant


def evaluate(form: Form, state: int) -> int:
    return ((form[0] & state).bit_count() + form[1]) & 1


def express(mask: int, masks: list[int]) -> list[int] | None:
    """Which of the masks add up to this one; None where none do."""
    rows: list[tuple[int, int]] = []
    for i, other in enumerate([*masks, mask]):
        left, made = other, 1 << i
        spend(3 + 2 * len(rows))
        for row, using in rows:
            if left ^ row < left:
                left, made = left ^ row, made ^ using
        if left:
            rows.append((left, made))
        elif i == len(masks):
            return [k for k in range(len(masks)) if made >> k & 1]
    return None


def rank(masks: list[int]) -> int:
    return sum(express(mask, masks[:i]) is None for i, mask in enumerate(masks) if mask)
