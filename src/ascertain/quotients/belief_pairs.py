"""Two beliefs about a hidden model in which some actions are forbidden: does an allowed experiment tell them apart?

An action is allowed while every state that either belief holds possible defines it, so what is allowed depends on the
*supports* of the two beliefs, and these follow from the word alone. Take the graph whose nodes are pairs of supports.
All pairs of vectors (u, v) that words bring to a node are moved by the same matrices and allow the same actions, and a
word tells the two apart when the totals of u and v differ. Totals are linear: so at each node a basis of the pairs
that come there is enough, and breadth first over basis pairs finds a shortest word, for the reason that `words.py`
gives. Before it is found the totals agree, so that a word is possible under both beliefs or under neither.

If no word is found, the two are *alike* when they allow the same actions at every node that is reached: then each can
stand for the other in every experiment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, final

from ascertain.errors import LimitError
from ascertain.model.hidden import Belief, HiddenModel
from ascertain.quotients.span import Span, Vector, integers, primitive
from ascertain.quotients.words import ReadingWord, SparseRows, integer_steps
from ascertain.types import Action, Reading, State

T = TypeVar("T")
SupportPair: TypeAlias = tuple[frozenset[State], frozenset[State]]
"""The states that two beliefs hold possible."""
BeliefPair: TypeAlias = tuple[dict[State, int], dict[State, int]]
"""Two vectors of weights, over one denominator."""

MAX_NODES = 20_000
"""Pairs of supports that are looked at for two beliefs: there can be exponentially many, and each keeps a basis of
exact vectors."""


@final
@dataclass(frozen=True)
class Comparison:
    """A shortest allowed word that tells two beliefs apart, or whether they are alike in everything."""

    word: ReadingWord | None
    alike: bool


@final
class PairSearch:
    """Compares beliefs on one model; its matrices are made once."""

    def __init__(self, model: HiddenModel) -> None:
        self.model = model
        self.steps: dict[Action, list[tuple[Reading, SparseRows]]] = {}
        for (a, y), rows in integer_steps(model).items():
            self.steps.setdefault(a, []).append((y, rows))

    def compare(self, one: Belief, other: Belief) -> Comparison:
        """Whether, and how, an allowed experiment tells the two apart."""
        spans: dict[SupportPair, Span] = {}
        start = _scaled((dict(one), dict(other)), integers)
        self._is_new(spans, start)
        queue: deque[tuple[ReadingWord, BeliefPair]] = deque([((), start)])
        alike = True
        while queue:
            word, (u, v) = queue.popleft()
            actions = range(self.model.num_actions)
            first, second = ({a for a in actions if self.model.allows(states, a)} for states in (u, v))
            alike = alike and first == second
            for a in sorted(first & second):
                for y, rows in self.steps.get(a, []):
                    after = _move(rows, u), _move(rows, v)
                    # Totals are the probabilities of the word so far: where they differ it tells the two beliefs apart.
                    if sum(after[0].values()) != sum(after[1].values()):
                        return Comparison((*word, (a, y)), False)
                    if after[0] and self._is_new(spans, after):
                        queue.append(((*word, (a, y)), _scaled(after, primitive)))
        return Comparison(None, alike)

    def _is_new(self, spans: dict[SupportPair, Span], pair: BeliefPair) -> bool:
        """Whether the pair is no combination of those that came to its node before; then it is kept there."""
        u, v = pair
        node = frozenset(u), frozenset(v)
        if node not in spans and len(spans) >= MAX_NODES:
            raise LimitError(
                f"two hypotheses lead to more than {MAX_NODES} pairs of supports; too many to compare them"
            )
        vector = [*(u[s] for s in sorted(u)), *(v[s] for s in sorted(v))]
        return spans.setdefault(node, Span()).add(vector)


def _move(rows: SparseRows, weights: Mapping[State, int]) -> dict[State, int]:
    after: dict[State, int] = {}
    for s, w in weights.items():
        for t, k in rows[s]:
            after[t] = after.get(t, 0) + w * k
    return after


def _scaled(pair: tuple[dict[State, T], dict[State, T]], scale: Callable[[list[T]], Vector]) -> BeliefPair:
    """Both sides as integers without a common divisor."""
    u, v = pair
    entries = scale([*u.values(), *v.values()])
    return dict(zip(u, entries[: len(u)], strict=True)), dict(zip(v, entries[len(u) :], strict=True))
