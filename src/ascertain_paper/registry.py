"""The studies by name. Each is a folder of `studies/` whose `__init__.py` registers it, and nothing else lists them.

To add one, make a folder with a module that has a function of the conditions, and register it:

    register(StudyEntry("story", order=1, function="ascertain_paper.studies.story.study:study"))

Importing an entry imports no study: names and order are known before anything heavy is loaded, so that --help is quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ascertain.errors import FileError, did_you_mean


@final
@dataclass(frozen=True)
class StudyEntry:
    """A study: its name on the command line, its place among all, and its function as "module:name".

    The function takes the `Conditions` of the call, which say whether the quick or the full form is wanted, and
    returns a `Study`.
    """

    name: str
    order: int
    function: str


STUDIES: dict[str, StudyEntry] = {}
"""Every study that was registered, by name; `ascertain_paper.studies` registers those of this package."""


def register(entry: StudyEntry) -> None:
    """Add a study."""
    if entry.name in STUDIES:
        raise FileError(f"there is a study {entry.name!r} already")
    STUDIES[entry.name] = entry


def study_names() -> tuple[str, ...]:
    """The names of all studies, in their order."""
    return tuple(sorted(STUDIES, key=lambda name: (STUDIES[name].order, name)))


def choose_studies(name: str) -> tuple[str, ...]:
    """The study of that name, or all of them for "all"."""
    known = (*study_names(), "all")
    if name not in known:
        raise FileError(f"study: {name!r} is not known{did_you_mean(name, known)}; known are {', '.join(known)}")
    return study_names() if name == "all" else (name,)
