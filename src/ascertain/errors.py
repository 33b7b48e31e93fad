"""Everything that is raised on purpose.

A message is one sentence that names the culprit (file, line or field) and says what would be right. The command line
turns each of these into that sentence and the exit code of its class; anything else that escapes is an internal error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

LONGEST = 2000
"""Characters of a message: names come from files, and a file may hold one of any length."""


class AscertainError(Exception):
    """The base of every error raised on purpose; bad input unless a subclass says otherwise."""

    exit_code = 2

    def __init__(self, message: object = "") -> None:
        text = str(message)
        super().__init__(text if len(text) <= LONGEST else f"{text[: LONGEST - 505]} ... {text[-500:]}")


class ArgumentError(AscertainError, TypeError):
    """An argument of another kind than a function of the vocabulary takes."""


class ModelError(AscertainError):
    """A model that does not fit together."""


class TaskError(AscertainError):
    """A question that does not fit its model."""


class FileError(AscertainError):
    """A file that cannot be read, or does not say what its format requires."""


class MissingFileError(FileError):
    """A file that is not there; whoever names it says so before the sentence."""


class CertificateError(AscertainError):
    """A certificate that cannot be made or read."""


class PlantFault(AscertainError):
    """A plant that did not do what its model allows: no answer, an answer out of turn, an action it does not know."""

    exit_code = 4


class DeadlineError(AscertainError):
    """A run that could not be taken up in the time that it was given; nothing was added to its journal."""

    exit_code = 3


class LimitError(AscertainError):
    """An input larger than the method that was asked for can take."""


class MissingExtraError(AscertainError):
    """A package that an extra of `ascertain` brings, and that is not installed."""


def import_extra(module: str, extra: str) -> Any:
    """A module of a package that the extra of this name brings; where it is missing, one sentence says so."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{package} is not installed; install it with: pip install 'ascertain[{extra}]'"
        ) from None


def find_name(
    name: str, known: Mapping[str, int] | Sequence[str], where: str, what: str, error: type[AscertainError] = ModelError
) -> int:
    """The number of a name that is known; else the error says that it is not `what`, with the place in front."""
    if name not in known:
        raise error(f"{where}: {name!r} is not {what}{did_you_mean(name, known)}")
    return known[name] if isinstance(known, Mapping) else known.index(name)


def check_keys(where: str, data: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a key of a file that is not known, and offer the one that was probably meant."""
    for key in data:
        if key not in known:
            rest = f"known are {', '.join(known)}" if known else "nothing else may stand here"
            raise TaskError(f"{where}unknown key {key!r}{did_you_mean(key, known)}; {rest}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The tail of an error message that offers the nearest known word, or nothing."""
    near = get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
