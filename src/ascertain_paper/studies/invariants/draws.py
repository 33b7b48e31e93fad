"""Random machines, questions and policies of the synthetic study; each is drawn by its own name alone.

Nothing is chosen by what comes out: a machine may shrink or not, a policy may settle its question or guess. The sizes
are small enough for every transcript to be listed, and for D to be found without any of the solver's short cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from ascertain.model import Machine, NoisyMachine
from ascertain.model.noisy import Law, make_law
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.task.task import Task
from ascertain.types import State
from ascertain_paper.testbed.draws import Draws

SEED = "invariants 1"
SURE = (Fraction(0), Fraction(1, 2), Fraction(3, 4), Fraction(19, 20))
"""A likely answer is given when its share of the likelihood is at least one of these, drawn with the policy."""
DEEPEST = 4

Standing: TypeAlias = tuple[tuple[Fraction, State], ...]
"""For each hypothesis the likelihood of what was read so far and the state that the plant is then in."""


def draw_automaton(number: int) -> Task:
    """A complete Mealy automaton of 3 to 8 states, unknown which, whose states have at least two labels."""
    draws = Draws(f"{SEED}, automaton {number}")
    states, actions, readings = draws.within(3, 8), draws.within(2, 3), draws.within(2, 3)
    model = Machine(
        states=_names("s", states),
        actions=_names("a", actions),
        readings=_names("y", readings),
        successor=_table(draws, states, actions, states),
        output=_table(draws, states, actions, readings),
    )
    return _pose(draws, model, [0, 1, *(draws.below(states) for _ in range(states - 2))])


def draw_question(number: int) -> Task:
    """A noisy machine of 2 to 4 states, unknown which; in one of four a state has a twin that behaves alike."""
    draws = Draws(f"{SEED}, question {number}")
    states, actions, readings = draws.within(2, 4), draws.within(1, 3), draws.within(2, 3)
    laws: dict[Law, int] = {}
    law = [[laws.setdefault(_law(draws, readings), len(laws)) for _ in range(actions)] for _ in range(states)]
    lead = _table(draws, states, actions, states).tolist()
    label = [0, 1, *(draws.below(3) for _ in range(states - 2))]
    if draws.below(4) == 0:
        twin = draws.below(states)
        for table in (law, lead):
            table.append(list(table[twin]))
        lead = [[states if to == twin and draws.below(2) else to for to in row] for row in lead]
        label.append(label[twin])
    model = NoisyMachine(
        states=_names("s", len(lead)),
        actions=_names("a", actions),
        readings=_names("y", readings),
        successor=np.array(lead, dtype=np.int32),
        law=np.array(law, dtype=np.int32),
        laws=tuple(laws),
    )
    return _pose(draws, model, label)


def draw_random_policy(number: int, task: Task) -> Automaton:
    """An adaptive policy: what it does next, and when it stops, is drawn anew after every transcript."""
    draws = Draws(f"{SEED}, policy {number}")
    drawn = _Tree(task, draws, draws.within(1, DEEPEST), draws.below(4) > 0, SURE[draws.below(len(SURE))])
    drawn.grow(tuple((Fraction(1), int(s)) for s in task.state), 0)
    return Automaton(tuple(drawn.action), tuple(drawn.label), tuple(drawn.children))


@final
@dataclass
class _Tree:
    """A policy that is being drawn, depth first, so that children come after their parents."""

    task: Task
    draws: Draws
    depth: int
    likely: bool
    """Whether it answers the label of the largest likelihood, if that is large enough; otherwise it guesses."""
    sure: Fraction

    def __post_init__(self) -> None:
        self.action: list[int] = []
        self.label: list[int] = []
        self.children: list[dict[int, int]] = []

    def grow(self, standing: Standing, depth: int) -> int:
        """Add what is done after a transcript, and all that may follow; returns its node."""
        node = len(self.action)
        stops = depth == self.depth or (depth > 0 and self.draws.below(8) == 0)
        self.action.append(NOWHERE if stops else self.draws.below(self.task.model.num_actions))
        self.label.append(self._answer(standing) if stops else NOWHERE)
        self.children.append({})
        for y in range(0 if stops else len(self.task.model.readings)):
            after = self._read(standing, self.action[node], y)
            if any(p for p, _ in after):
                self.children[node][y] = self.grow(after, depth + 1)
        return node

    def _read(self, standing: Standing, action: int, y: int) -> Standing:
        model = self.task.model
        return tuple(
            (p * model.reading_law(s, action).get(y, Fraction(0)), int(model.successor[s, action])) for p, s in standing
        )

    def _answer(self, standing: Standing) -> int:
        present = sorted(set(self.task.label.tolist()))
        if not self.likely:
            return [NOWHERE, *present][self.draws.below(len(present) + 1)]
        shares = {k: max(p for (p, _), m in zip(standing, self.task.label, strict=True) if m == k) for k in present}
        best = max(present, key=lambda k: (shares[k], -k))
        return best if shares[best] >= self.sure * sum(shares.values()) else NOWHERE


def _pose(draws: Draws, model: Machine | NoisyMachine, label: Sequence[int]) -> Task:
    """The question which of these labels the state has, at costs of 1 to 3 an action."""
    used = sorted(set(label))
    return Task(
        model=model,
        state=np.arange(model.num_states, dtype=np.int32),
        label=np.array([used.index(k) for k in label], dtype=np.int32),
        labels=_names("l", len(used)),
        cost=tuple(Fraction(draws.within(1, 3)) for _ in model.actions),
    )


def _law(draws: Draws, readings: int) -> Law:
    """A law in small numbers that prefers one reading; now and then a reading never comes."""
    weights = [draws.below(4) for _ in range(readings)]
    weights[draws.below(readings)] += draws.within(1, 12)
    return make_law({y: Fraction(w, sum(weights)) for y, w in enumerate(weights)})


def _table(draws: Draws, rows: int, columns: int, bound: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    return np.array([[draws.below(bound) for _ in range(columns)] for _ in range(rows)], dtype=np.int32)


def _names(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i in range(count))
