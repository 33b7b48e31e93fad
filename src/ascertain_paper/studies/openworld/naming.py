"""Name a box: by the experiment that tells the known machines apart, then by conformance to the one that it named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from ascertain.conformance.sample import draw_words
from ascertain.conformance.specification import Specification, Word, specify
from ascertain.conformance.suite import Suite, plan_suite
from ascertain.live.walk import walk_policy
from ascertain.model import Model
from ascertain.pipeline.settle import settle
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.problem.conformance import pose_conformance
from ascertain.problem.fingerprint import pose_fingerprint

WORDS = (30, 100)
"""Sizes of samples: that of a published comparison, and one that misses what one word in twenty shows once in 170."""

Samples: TypeAlias = Callable[[str], Mapping[int, Sequence[Sequence[Word]]]]
"""By the name of a machine: for each size of a sample, the samples of all seeds."""


@final
@dataclass(frozen=True)
class Named:
    """What the closed world says of a box, and what it took."""

    name: str | None
    """None where a reading contradicted every known machine."""
    actions: int
    resets: int


def name_boxes(known: Mapping[str, Model], boxes: Mapping[str, Model]) -> dict[str, Named]:
    """Every box named by the cheapest experiment that tells the known machines apart."""
    task = pose_fingerprint(known)
    settled = settle(task, prove="never")
    assert settled.policy is not None, "machines of different classes can be told apart with a reset"
    found: dict[str, Named] = {}
    for name, machine in boxes.items():
        posed = pose_conformance(machine)
        walk = walk_policy(task, settled.policy, SimulatedPlant(posed.model, int(posed.state[0])))
        resets = sum(action == "RESET" for action, _ in walk.transcript)
        verdict = walk.verdict.label if isinstance(walk.verdict, Certified) else None
        found[name] = Named(verdict, len(walk.transcript) - resets, resets)
    return found


def specify_machine(machine: Model) -> Specification:
    """What a box must be equivalent to in order to be this machine."""
    return specify(machine, machine.initial[0], range(machine.num_actions))


def plan_suites(machines: Mapping[str, Model], extra: int) -> dict[str, Suite]:
    """A complete suite for each machine."""
    return {name: plan_suite(specify_machine(machine), extra) for name, machine in machines.items()}


def first_exposing(words: Sequence[Word], spec: Specification, other: Specification) -> int | None:
    """The place of the first word along which two machines read differently; None where none does."""
    names, others = spec.model.readings, other.model.readings
    for place, word in enumerate(words):
        ours = [names[y] for y in spec.readings(0, word)]
        if ours != [others[y] for y in other.readings(0, word)]:
            return place
    return None


def exposing_share(spec: Specification, other: Specification, num_words: int) -> float:
    """The share of words of the sampled distribution that expose another machine."""
    words = draw_words(spec, "share", num_words)
    return sum(first_exposing([word], spec, other) is not None for word in words) / num_words
