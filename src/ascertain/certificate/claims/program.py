"""The claim that no policy within stated risks costs less, or exists, as plain data: the multipliers of the program."""

from __future__ import annotations

from typing import Any

from ascertain.bounds.joint import RULED_OUT
from ascertain.bounds.lattice import Cut, Tangent
from ascertain.bounds.program import ProgramBound
from ascertain.bounds.proof import ProgramProof, RivalProof, TruthProof
from ascertain.errors import CertificateError
from ascertain.task.canonical import fraction_text


def program_claim(bound: ProgramBound) -> dict[str, Any]:
    """What the multipliers of a program bound prove of the task that it was computed for."""
    if bound.dual is None:
        raise CertificateError("this program bound has no multipliers, so there is nothing to certify")
    if bound.symmetric:
        raise CertificateError("a bound by symmetry is about states that are not listed; it has no certificate")
    return proof_data(bound.dual)


def proof_data(proof: ProgramProof) -> dict[str, Any]:
    """The claim that a proof supports."""
    return {
        "claim": "program",
        "alpha": str(proof.alpha),
        "beta": str(proof.beta),
        "cost": fraction_text(proof.value),
        "truths": [_truth_data(truth) for truth in proof.truths],
    }


def _truth_data(truth: TruthProof) -> dict[str, Any]:
    states = truth.graph.met.states
    nodes = [[None if i == RULED_OUT else int(states[i]) for i in node] for node in truth.graph.nodes]
    return {
        "hypothesis": truth.graph.hypothesis,
        "weight": str(truth.weight),
        "nodes": nodes,
        "potential": [str(u) for u in truth.potential],
        "rivals": [_rival_data(rival) for rival in truth.rivals],
    }


def _rival_data(rival: RivalProof) -> dict[str, Any]:
    return {
        "hypothesis": rival.hypothesis,
        "base": None if rival.base is None else str(rival.base),
        "cuts": [[*_cut_data(cut), str(y)] for cut, y in rival.cuts],
        "variation": str(rival.variation),
        "coupled": [str(w) for w in rival.coupled],
    }


def _cut_data(cut: Cut) -> list[Any]:
    return [str(cut.point)] if isinstance(cut, Tangent) else [cut.i, -cut.j]
