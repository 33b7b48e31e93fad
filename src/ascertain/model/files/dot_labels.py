r"""What the label of a transition says: which inputs, and what is read for each.

The label is text in lines. A quoted label breaks at `\n`, `\l` and `\r`, and an HTML label at `<br/>` and at the rows
of its table; blank lines do not count. Then

- every line `input / output`, split at its first slash, is a transition (spaces around both are dropped);
- a row of cells `input`, `/`, `output`, or `input`, `output`, is one too;
- two lines of which the first has no slash, or ends with its only one, are an input and its output;
- anything else is refused: a label that can be read in two ways is not guessed at.

Names that cannot be written so (an input with a slash, spaces at an end, control characters) stand in the two
attributes `input` and `output` of the edge, with the escapes of a JSON string; where both are given, they count and the
label is for the eye only.
"""

from __future__ import annotations

import html
import json
import re
from typing import TypeAlias

from ascertain.model.files.dot_syntax import Attributes, id_text
from ascertain.model.files.text import cut

InputOutput: TypeAlias = tuple[str, str]
"""An input and what is read."""

SHOWN = 60
"""Characters of a label that an error message repeats: labels are longer than names."""

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
"""A backslash and what follows it."""
_ESCAPED = {"n": "\n", "l": "\n", "r": "\n", "\\": "\\", '"': '"', "\n": ""}
"""What the escapes of a quoted label mean; the three line ends differ only in how Graphviz aligns the line."""
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([A-Za-z]*+)[^<>]*+>", re.DOTALL)
"""A tag or a comment of an HTML label."""
_TOO_LONG = re.compile(r"&#[0-9]{101}")
"""A character by a number that Python takes long to read."""


class LabelError(ValueError):
    """A label that does not say a transition; the caller knows the file and line."""


def read_pairs(attributes: Attributes) -> list[InputOutput]:
    """The transitions of an edge; none where it has no label or an empty one."""
    if "input" in attributes and "output" in attributes:
        return [(json_text(attributes["input"]), json_text(attributes["output"]))]
    label = attributes.get("label", "")
    if label[:1] == "<":
        return _from_rows(_html_rows(label[1:-1]), label)
    return _from_lines([line.strip() for line in _plain_text(label).split("\n")], label)


def json_text(lexeme: str) -> str:
    """The text of an attribute that is written with the escapes of JSON."""
    if lexeme[:1] != '"' or "\\" not in lexeme:
        return id_text(lexeme)
    joined = _ESCAPE.sub(lambda found: "" if found[1] == "\n" else found[0], lexeme)  # Graphviz breaks long strings
    try:
        return str(json.loads(joined, strict=False))
    except ValueError:
        raise LabelError(f"{cut(lexeme, SHOWN)} is not written with the escapes of a JSON string") from None


def _plain_text(label: str) -> str:
    """A label with its escapes resolved; an escape that is not known stays as it is."""
    if label[:1] != '"':
        return label
    body = label[1:-1]
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), body) if "\\" in body else body


def _from_lines(lines: list[str], label: str) -> list[InputOutput]:
    lines = [line for line in lines if line]
    if all("/" in line for line in lines):
        return [_split(line, label) for line in lines]
    if len(lines) == 2 and lines[0].find("/") in (-1, len(lines[0]) - 1):
        return [_named(lines[0].removesuffix("/").strip(), re.sub(r"^/\s+", "", lines[1]), label)]
    raise LabelError(f"the label {cut(label, SHOWN)} has a line without '/'; a transition is written 'input / output'")


def _split(line: str, label: str) -> InputOutput:
    before, _, after = line.partition("/")
    return _named(before.strip(), after.strip(), label)


def _named(action: str, reading: str, label: str) -> InputOutput:
    if not action:
        raise LabelError(
            f"the label {cut(label, SHOWN)} has no input before '/'; a transition is written 'input / output'"
        )
    return action, reading


def _html_rows(body: str) -> list[list[str]]:
    """The lines of an HTML label, each a list of cells; text outside cells is a cell of its own unless blank."""
    rows: list[list[list[str]]] = [[]]
    position, in_cell = 0, False
    for tag in _TAG.finditer(body):
        _add_text(rows[-1], body[position : tag.start()], in_cell)
        position, closing, name = tag.end(), tag[1], (tag[2] or "").lower()
        if name == "td":
            in_cell = not closing
            rows[-1].extend([] if closing else [[]])
        elif name in ("br", "tr", "table"):
            rows.append([[]] if in_cell and name == "br" else [])
    _add_text(rows[-1], body[position:], in_cell)
    texts = [["".join(cell).strip() for cell in row] for row in rows]
    return [row for row in texts if any(row)]


def _add_text(row: list[list[str]], source: str, in_cell: bool) -> None:
    if _TOO_LONG.search(source):
        raise LabelError("a label has a character by a number of more than 100 digits; no character has as many")
    text = html.unescape(re.sub(r"[\r\n]\s*", " ", source))
    if row and (in_cell or text.strip()):
        row[-1].append(text)
    elif text.strip():
        row.append([text])


def _from_rows(rows: list[list[str]], label: str) -> list[InputOutput]:
    if all(len(row) == 1 for row in rows):
        return _from_lines([row[0] for row in rows], label)
    return [_from_cells(row, label) for row in rows]


def _from_cells(row: list[str], label: str) -> InputOutput:
    if len(row) == 1 and "/" in row[0]:
        return _split(row[0], label)
    if len(row) == 2:
        return _named(row[0].removesuffix("/").strip(), row[1], label)
    if len(row) == 3 and row[1] == "/":
        return _named(row[0], row[2], label)
    raise LabelError(
        f"the label {cut(label, SHOWN)} has a row of {len(row)} cells; 'input', '/', 'output' were expected"
    )
