"""Folders of protocol-state-fuzzer: a folder for each model, with `learnedModel.dot` and perhaps `alphabet.xml` in it.

An alphabet is a root element with one element for each input; the input's name is its attribute `name`, or its text,
and may be left to the tool that knows the element. Where all names are given, the model must not have other inputs.

XML may come from anyone. There is no document type here, so that there are no entities to expand; sizes and depths
are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final
from xml.parsers import expat

from ascertain.errors import FileError, did_you_mean
from ascertain.model.abstract import find_repeated
from ascertain.model.files import read_listed
from ascertain.model.files.text import cut, fail, read_text
from ascertain.model.tables import AbstractMachine

MODEL, ALPHABET = "learnedModel.dot", "alphabet.xml"
"""What the files in the folder of a model are called."""
MAX_CHARACTERS = 2**20
"""Of an alphabet: those that we know have some thousands."""
MAX_DEPTH = 100
"""Elements within elements: messages have a dozen levels."""
MAX_INPUTS = 10_000
"""More than any table of a model would have room for."""
MAX_MODELS = 10_000
"""Folders that are looked at."""


@final
@dataclass(frozen=True)
class Alphabet:
    """The inputs of a model, as far as they are named."""

    names: tuple[str, ...]
    is_whole: bool
    """Whether every input is named."""


def read_folder(path: str | Path) -> dict[str, AbstractMachine]:
    """The models in a folder, each named after its own folder; of a folder that is that of one model, this one."""
    root = Path(path)
    try:
        folders = [root] if (root / MODEL).is_file() else [sub for sub in root.iterdir() if (sub / MODEL).is_file()]
    except OSError as error:
        raise FileError(f"{root}: the folder cannot be read ({error.strerror})") from None
    if not folders:
        raise FileError(f"{root}: no model in this folder; NAME/{MODEL} was expected, or name the files")
    if len(folders) > MAX_MODELS:
        raise FileError(f"{root}: {len(folders)} models; at most {MAX_MODELS} are read")
    return {folder.resolve().name: _read(folder) for folder in sorted(folders)}


def _read(folder: Path) -> AbstractMachine:
    model = read_listed(folder / MODEL)
    if (folder / ALPHABET).exists():
        alphabet = read_alphabet(folder / ALPHABET)
        other = [action for action in model.actions if action not in alphabet.names]
        if alphabet.is_whole and other:
            fail(
                str(folder / ALPHABET),
                f"{MODEL} has the input {cut(other[0], 60)!r}, which is not listed here"
                f"{did_you_mean(other[0], alphabet.names)}; are these two files of one model?",
            )
    return model


def read_alphabet(path: str | Path) -> Alphabet:
    """The inputs that an alphabet lists, in its order."""
    text, where = read_text(path), str(path)
    if len(text) > MAX_CHARACTERS:
        fail(where, f"the alphabet has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    listener = _Listener(where)
    parser = expat.ParserCreate("UTF-8")
    parser.StartDoctypeDeclHandler = listener.refuse_type
    parser.StartElementHandler = listener.begin
    parser.EndElementHandler = listener.end
    parser.CharacterDataHandler = listener.take
    listener.parser = parser
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as reason:
        fail(f"{where}:{reason.lineno}", f"this is not XML: {expat.ErrorString(reason.code)}")
    named = [name for name in listener.names if name]
    if not listener.names:
        fail(where, "the alphabet has no input; an element for each was expected within the outermost one")
    if len(set(named)) < len(named):
        fail(where, f"the input {cut(find_repeated(named), 60)!r} is listed twice")
    return Alphabet(tuple(named), len(named) == len(listener.names))


@final
class _Listener:
    """Collects the names of the elements just below the outermost one."""

    parser: expat.XMLParserType

    def __init__(self, where: str) -> None:
        self.where, self.depth = where, 0
        self.names: list[str] = []
        self._text: list[str] = []

    def _fail(self, problem: str) -> None:
        fail(f"{self.where}:{self.parser.CurrentLineNumber}", problem)

    def refuse_type(self, *_: object) -> None:
        self._fail("an alphabet has no document type (<!DOCTYPE ...>); remove it")

    def begin(self, _tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self._fail(f"elements are nested more than {MAX_DEPTH} deep")
        if self.depth == 2:
            self.names.append(attributes.get("name", "").strip())
            self._text = []
            if len(self.names) > MAX_INPUTS:
                self._fail(f"there are more than {MAX_INPUTS} inputs")

    def take(self, text: str) -> None:
        if self.depth == 2:
            self._text.append(text)

    def end(self, _tag: str) -> None:
        if self.depth == 2 and not self.names[-1]:
            self.names[-1] = "".join(self._text).strip()
        self.depth -= 1
