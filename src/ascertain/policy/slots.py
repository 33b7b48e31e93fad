"""A controller that counts, and that may speak of hypotheses by place: a small table where a plain one would be huge.

A plain table has a node for everything that it remembers. Two things are remembered more cheaply beside the node:

- *how often it has asked*: after `most_actions` actions it abstains, whatever the node says;
- *which hypothesis each slot holds*, for a controller that keeps hypotheses sorted and not named
  (`planning/information_state.py`). At first slot i holds hypothesis i. After reading y at node v, what slot i holds
  goes to slot `moves[v][y][i]`. A node then answers the label of the hypothesis in slot `label[v]`; with `sensors` it
  asks, of the hypothesis in slot `action[v]`, the action of that number.

So the memory is a product: (node, number of actions, arrangement of the hypotheses).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from ascertain.drawing.shown import Shown
from ascertain.errors import ModelError
from ascertain.policy.automaton import NOWHERE, PolicyTable
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.types import Action, Reading

Arrangement: TypeAlias = tuple[int, ...]
"""The hypothesis that each slot holds; empty where slots are not used."""
SlotMemory: TypeAlias = tuple[int, int, Arrangement]
"""(node, actions so far, arrangement)."""


@final
@dataclass(frozen=True, eq=False)
class SlotTable(Shown):
    """The nodes, how often they may ask, and what their slots stand for."""

    nodes: PolicyTable
    most_actions: int
    slot_labels: tuple[int, ...] = ()
    """The label of each hypothesis; empty where nodes answer labels themselves."""
    sensors: tuple[Action, ...] = ()
    """The action that asks about each hypothesis; empty where nodes ask actions themselves."""
    moves: tuple[Mapping[Reading, tuple[int, ...]], ...] = ()
    """`moves[v][y]`: where what each slot holds goes; nothing moves after a reading that is not listed."""

    def __post_init__(self) -> None:
        n = len(self.slot_labels)
        if self.most_actions < 0:
            raise ModelError(f"a controller may ask {self.most_actions} times; at least 0 is needed")
        if self.sensors and len(self.sensors) != n:
            raise ModelError("a controller with sensors has one for each hypothesis")
        if self.moves and len(self.moves) != self.nodes.size:
            raise ModelError("a controller with slots says for each node what moves")
        if any(sorted(move) != list(range(n)) for moves in self.moves for move in moves.values()):
            raise ModelError(f"a move must list every slot in 0 .. {n - 1} once")
        if n and any(label >= n for label in self.nodes.label):
            raise ModelError(f"a node answers by a slot; there are slots 0 .. {n - 1}")
        if self.sensors and any(action >= n for action in self.nodes.action):
            raise ModelError(f"a node asks about a slot; there are slots 0 .. {n - 1}")

    def shown(self) -> Mapping[str, object]:
        return {"nodes": self.nodes.size, "most_actions": self.most_actions, "slots": len(self.slot_labels) or None}

    def start(self) -> SlotMemory:
        return 0, 0, tuple(range(len(self.slot_labels)))

    def decide(self, memory: SlotMemory) -> Decision:
        v, taken, holds = memory
        decision = self.nodes.decide(v)
        if isinstance(decision, Answer):
            return Answer(self.slot_labels[holds[decision.label]]) if holds else decision
        if not isinstance(decision, Ask):
            return decision
        if taken >= self.most_actions:
            return Abstain(f"no answer after {self.most_actions} readings")
        return Ask(self.sensors[holds[decision.action]]) if self.sensors else decision

    def next(self, memory: SlotMemory, reading: Reading) -> SlotMemory:
        v, taken, holds = memory
        after = self.nodes.next(v, reading)
        move = self.moves[v].get(reading) if self.moves and v != NOWHERE else None
        if move is not None:
            moved = [0] * len(holds)
            for i, j in enumerate(move):
                moved[j] = holds[i]
            holds = tuple(moved)
        return after, taken + 1, holds
