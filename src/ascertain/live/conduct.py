"""Conduct a conformance run: words on a plant, each from a reset, compared with what the specification says.

A word is recorded when it is done. One that a fault or a crash broke off is done again, from its reset: so nothing is
ever in doubt here, and an interrupted run goes on with the first word that is not recorded. A word that disagrees is
run once more: a plant that then reads differently is not deterministic, and conformance says nothing about such a one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from ascertain.conformance.specification import Specification, Word
from ascertain.errors import FileError, PlantFault
from ascertain.live.deadline import NO_DEADLINE, Deadline
from ascertain.live.faults import FaultPolicy
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.observer.records import differing_keys
from ascertain.plant.abstract import AbstractPlant
from ascertain.types import Action, Progress

Steps: TypeAlias = tuple[tuple[str, str], ...]
"""What was done and read, by name."""


@final
@dataclass(frozen=True)
class Conducted:
    """What was done and read, word by word, and how it ended."""

    runs: tuple[Steps, ...]
    """Each begins with a reset; the last one may disagree. Fewer than the words where a deadline has passed."""
    disagrees: bool = False
    """Whether the last reading of the last run is not the specification's."""
    unstable: Steps | None = None
    """The last run as it read at first, where it read differently the second time."""
    faults: tuple[PlantFault, ...] = ()
    """All that were met, those that a repetition mended included."""


def conduct(
    plant: AbstractPlant,
    spec: Specification,
    reset: Action,
    words: Sequence[Word],
    *,
    recorder: Journal | Notebook,
    commitment: Mapping[str, Any],
    policy: FaultPolicy | None = None,
    deadline: Deadline = NO_DEADLINE,
    progress: Progress | None = None,
) -> Conducted:
    """Run the words that are not recorded yet, until one disagrees, all are done, or the deadline has passed.

    A fault that stays is raised.
    """
    done, patience = _begin(recorder, commitment, words, plant, spec), policy or FaultPolicy()
    runs, faults = list(done), list[PlantFault]()
    for number, word in enumerate(words):
        if number < len(done):
            if _disagrees(spec, reset, word, done[number]):
                recorder.end()
                return Conducted(tuple(runs), disagrees=True)
            continue
        if deadline.is_over:
            return Conducted(tuple(runs), faults=tuple(faults))
        if progress is not None:
            progress(number, len(words))
        run = _run(plant, spec, reset, word, patience, faults)
        if _disagrees(spec, reset, word, run):
            again = _run(plant, spec, reset, word, patience, faults)
            if again != run:
                return Conducted((*runs, again), unstable=run, faults=tuple(faults))
        runs.append(run)
        recorder.append({"record": "word", "number": number, "steps": [list(step) for step in run]})
        if _disagrees(spec, reset, word, run):
            recorder.end()
            return Conducted(tuple(runs), disagrees=True, faults=tuple(faults))
    recorder.end()
    return Conducted(tuple(runs), faults=tuple(faults))


def _begin(
    recorder: Journal | Notebook,
    commitment: Mapping[str, Any],
    words: Sequence[Word],
    plant: AbstractPlant,
    spec: Specification,
) -> list[Steps]:
    """What is recorded already; of another run, or of one on another plant, it is refused."""
    where = getattr(recorder, "path", "")
    if not recorder.records:
        recorder.begin(commitment)
        recorder.meet(plant, spec.model)
        return []
    first, *rest = recorder.records
    if differing_keys(first, commitment):
        raise FileError(f"{where}: the journal belongs to another conformance run; resume it with the same options")
    if rest and rest[0].get("record") == "plant":  # not in a journal from before plants were named
        rest = rest[1:]
    if rest and rest[-1].get("record") == "end":
        rest = rest[:-1]
    found: list[Steps] = []
    for record in rest:
        if record.get("record") != "word" or record.get("number") != len(found) or len(found) == len(words):
            raise FileError(f"{where}: record {len(found) + 1} is not the next word of this run")
        found.append(tuple((str(action), str(reading)) for action, reading in record["steps"]))
    return found


def run_word(
    plant: AbstractPlant,
    actions: Sequence[str],
    policy: FaultPolicy,
    faults: list[PlantFault],
    expected: Sequence[str] | None = None,
) -> Steps:
    """These actions, of which the first is a reset, up to the first reading that is not the expected one.

    After a fault, which is added to `faults`, they are begun again after a pause, as often as the policy says; then it
    is raised.
    """
    for attempt in range(1 + policy.retries):
        steps: list[tuple[str, str]] = []
        try:
            for number, action in enumerate(actions):
                steps.append((action, str(plant.send(action))))
                if expected is not None and steps[-1][1] != expected[number]:
                    break
            return tuple(steps)
        except PlantFault as fault:
            faults.append(fault)
            if attempt == policy.retries:
                raise
            policy.pause_before(attempt, NO_DEADLINE)
    raise AssertionError("the last attempt returns or raises")


def _run(
    plant: AbstractPlant, spec: Specification, reset: Action, word: Word, policy: FaultPolicy, faults: list[PlantFault]
) -> Steps:
    """A word from a reset, up to its first reading that is not the specification's; begun again after a fault."""
    actions = [spec.model.actions[a] for a in (reset, *(spec.actions[i] for i in word))]
    return run_word(plant, actions, policy, faults, expected_readings(spec, reset, word))


def expected_readings(spec: Specification, reset: Action, word: Word) -> list[str]:
    """What is read at a reset and along a word, by name."""
    model = spec.model
    return [model.readings[y] for y in (int(model.behaviour[spec.start, reset]), *spec.readings(0, word))]


def _disagrees(spec: Specification, reset: Action, word: Word, run: Steps) -> bool:
    return [reading for _, reading in run] != expected_readings(spec, reset, word)
