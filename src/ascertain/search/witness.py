"""Why a question is unsolvable, as a tree that a person reads.

The root is a set of states that cannot be settled even among themselves. Whatever is done next, some reading leaves a
set that cannot be settled either: the tree shows that reading and that set for every action that all states of the set
allow. It ends where hypotheses with different labels have come to react alike, where no action is allowed, or where it
comes back to a set that was there before.
"""

from __future__ import annotations

import numpy as np

from ascertain.drawing.outline import Outline
from ascertain.drawing.printable import printable
from ascertain.errors import LimitError
from ascertain.search.solution import Proof, ProofRow
from ascertain.task.task import Task

MAX_ROWS = 300
"""Sets of a witness that is drawn: trees are drawn by recursion, and nobody could read a larger one."""
MOST_STATES = 4
"""States of a set that are named."""


def outline_witness(task: Task, witness: Proof) -> Outline:
    """The witness from its root, by the names of the task."""
    if witness.root is None or len(witness.rows) > MAX_ROWS:
        raise LimitError(f"the witness has {len(witness.rows)} sets of states; at most {MAX_ROWS} are drawn")
    model = task.model
    first = dict(zip(*np.unique(witness.block, return_index=True), strict=True))
    parents = np.bincount([k for row in witness.rows for _, k in row.moves.values()], minlength=len(witness.rows))
    shared: dict[int, str] = {}

    def describe(row: ProofRow) -> str:
        states = sorted({int(first[c]) for _, c in row.members})
        names = [printable(model.states[s]) for s in states]
        if len(states) == 1:
            return f"labels differ, but all react as {names[0]}"
        rest = len(names) - MOST_STATES
        told = " or ".join(names[:MOST_STATES]) + (f" or {rest} more" if rest > 0 else "")
        return told if row.moves else f"{told}: no action is allowed in all of them"

    def draw(k: int, via: str) -> Outline:
        row = witness.rows[k]
        if k in shared:
            return Outline(via, f"as at {shared[k]}", "again", k)
        if not row.moves:
            return Outline(via, describe(row), "abstain", k)
        if parents[k] > (k != witness.root):
            shared[k] = f"#{len(shared) + 1}"
        below = tuple(
            draw(child, printable(f"{model.actions[a]} / {model.readings[y]}"))
            for a, (y, child) in sorted(row.moves.items())
        )
        return Outline(via, describe(row), "ask", k, shared.get(k, ""), children=below)

    return draw(witness.root, "")
