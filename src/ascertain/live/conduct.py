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
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.plant.abstract import AbstractPlant
from ascertain.types import Action, Progress

Steps: TypeAlias = tuple[tuple[str, str], ...]
"""What was done and read, by name."""


@final
@dataclass(frozen=True)
class Conducted:
    """What was done and read, word by word, and how it ended."""

    runs: tuple[Steps, ...]
    """Each begins with a reset; the last one may disagree."""
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
    retries: int = 2,
    progress: Progress | None = None,
) -> Conducted:
    """Run the words that are not recorded yet, until one disagrees or all are done; a fault that stays is raised."""
    done = _begin(recorder, commitment, words)
    runs, faults = list(done), list[PlantFault]()
    for number, word in enumerate(words):
        if number < len(done):
            if _disagrees(spec, reset, word, done[number]):
                return Conducted(tuple(runs), disagrees=True)
            continue
        if progress is not None:
            progress(number, len(words))
        run = _run(plant, spec, reset, word, retries, faults)
        if _disagrees(spec, reset, word, run):
            again = _run(plant, spec, reset, word, retries, faults)
            if again != run:
                return Conducted((*runs, again), unstable=run, faults=tuple(faults))
        runs.append(run)
        recorder.append({"record": "word", "number": number, "steps": [list(step) for step in run]})
        if _disagrees(spec, reset, word, run):
            return Conducted(tuple(runs), disagrees=True, faults=tuple(faults))
    return Conducted(tuple(runs), faults=tuple(faults))


def _begin(recorder: Journal | Notebook, commitment: Mapping[str, Any], words: Sequence[Word]) -> list[Steps]:
    """What is recorded already; of another run, it is refused."""
    where = getattr(recorder, "path", "")
    if not recorder.records:
        recorder.begin(commitment)
        return []
    first, *rest = recorder.records
    if first != commitment:
        raise FileError(f"{where}: the journal belongs to another conformance run; resume it with the same options")
    found: list[Steps] = []
    for record in rest:
        if record.get("record") != "word" or record.get("number") != len(found) or len(found) == len(words):
            raise FileError(f"{where}: record {len(found) + 1} is not the next word of this run")
        found.append(tuple((str(action), str(reading)) for action, reading in record["steps"]))
    return found


def _run(
    plant: AbstractPlant, spec: Specification, reset: Action, word: Word, retries: int, faults: list[PlantFault]
) -> Steps:
    """A word from a reset, up to its first reading that is not the specification's; begun again after a fault."""
    actions = [spec.model.actions[a] for a in (reset, *(spec.actions[i] for i in word))]
    expected = expected_readings(spec, reset, word)
    for attempt in range(1 + retries):
        steps: list[tuple[str, str]] = []
        try:
            for action, reading in zip(actions, expected, strict=True):
                steps.append((action, str(plant.send(action))))
                if steps[-1][1] != reading:
                    break
            return tuple(steps)
        except PlantFault as fault:
            faults.append(fault)
            if attempt == retries:
                raise
    raise AssertionError("the last attempt returns or raises")


def expected_readings(spec: Specification, reset: Action, word: Word) -> list[str]:
    """What is read at a reset and along a word, by name."""
    model = spec.model
    return [model.readings[y] for y in (int(model.behaviour[spec.start, reset]), *spec.readings(0, word))]


def _disagrees(spec: Specification, reset: Action, word: Word, run: Steps) -> bool:
    return [reading for _, reading in run] != expected_readings(spec, reset, word)
