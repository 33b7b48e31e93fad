"""The chain rule: two stopped transcripts diverge by the sum of expected visits times the divergence of one reading.

A policy does the same after the same readings, whoever is true, so its choices cancel in the likelihood ratio, and

    KL(P_h || P_g) = sum over (s, t, a) of N_h(s, t, a) KL(K(. | s, a) || K(. | t, a)),

where N_h(s, t, a) is how often, on average under h, action a is done while h is in s and g would be in t (equation 9 of
the paper). The right side is computed here from a policy whose walks end; `transcripts.py` has the left one.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ascertain.bounds.divergence import ZERO, Interval, relative_entropy
from ascertain.errors import TaskError
from ascertain.model import Model
from ascertain.model.noisy import make_law
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.types import UNDEFINED, Action, State

Transcript = tuple[int, Fraction, Fraction]
"""The node where it ends (NOWHERE where the policy has no child for a reading), and its probability under h and g."""


def list_transcripts(model: Model, policy: Automaton, truth: State, rival: State) -> Iterator[Transcript]:
    """Every transcript that the truth can give; there may be exponentially many."""
    stack = [(policy.start(), truth, rival, Fraction(1), Fraction(1))]
    while stack:
        node, s, t, p, q = stack.pop()
        a = NOWHERE if node == NOWHERE else policy.action[node]
        if a == NOWHERE:
            yield node, p, q
            continue
        after, other = _step(model, s, a), _step(model, t, a) if q else UNDEFINED
        against = model.reading_law(t, a) if q else {}
        for y, part in model.reading_law(s, a).items():
            share = q * against.get(y, Fraction(0))
            stack.append((policy.next(node, y), after, other, p * part, share))


def expected_visits(
    model: Model, policy: Automaton, truth: State, rival: State
) -> dict[tuple[State, State, Action], Fraction]:
    """N_h(s, t, a): t is -1 where the rival does not allow what was done, which only a ruled-out rival may not."""
    visits: dict[tuple[State, State, Action], Fraction] = {}
    waiting: dict[int, dict[tuple[State, State], Fraction]] = {policy.start(): {(truth, rival): Fraction(1)}}
    for node in range(policy.size):
        a = policy.action[node]
        for (s, t), p in waiting.pop(node, {}).items():
            if a == NOWHERE:
                continue
            visits[s, t, a] = visits.get((s, t, a), Fraction(0)) + p
            after = (_step(model, s, a), UNDEFINED if t == UNDEFINED else int(model.successor[t, a]))
            for y, part in model.reading_law(s, a).items():
                child = policy.next(node, y)
                if child != NOWHERE:
                    there = waiting.setdefault(child, {})
                    there[after] = there.get(after, Fraction(0)) + p * part
    return visits


def divergence_by_visits(model: Model, policy: Automaton, truth: State, rival: State) -> Interval | None:
    """The right side of the chain rule; None when infinite."""
    total = ZERO
    for (s, t, a), count in expected_visits(model, policy, truth, rival).items():
        if t == UNDEFINED or model.successor[t, a] == UNDEFINED:
            return None
        one = relative_entropy(make_law(dict(model.reading_law(s, a))), make_law(dict(model.reading_law(t, a))))
        if one is None:
            return None
        total += one.times(count)
    return total


def _step(model: Model, state: State, action: Action) -> State:
    after = int(model.successor[state, action])
    if after == UNDEFINED:
        raise TaskError(
            f"the policy asks {model.actions[action]!r} in state {model.states[state]!r}, which does not allow it"
        )
    return after
