"""The left side of the chain rule, transcript by transcript."""

from __future__ import annotations

from ascertain.bounds.divergence import ZERO, Interval, log_interval
from ascertain.model import Model
from ascertain.policy.automaton import Automaton
from ascertain.types import State
from ascertain_paper.studies.invariants.chain_rule import list_transcripts


def divergence_by_transcripts(model: Model, policy: Automaton, truth: State, rival: State) -> Interval | None:
    """KL(P_h || P_g) from the probabilities of all transcripts; None when infinite."""
    total = ZERO
    for _, p, q in list_transcripts(model, policy, truth, rival):
        if q == 0:
            return None
        total += log_interval(p / q).times(p)
    return total
