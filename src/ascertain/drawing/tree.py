"""Draw the outline of a policy: as text, as Graphviz text, as SVG, or as a page that opens offline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ascertain.drawing import template
from ascertain.drawing.outline import Outline
from ascertain.drawing.printable import printable
from ascertain.errors import FileError
from ascertain.writing import write_whole

SUFFIXES = (".html", ".svg", ".dot", ".txt")
"""What `write_tree` writes."""
LONGEST_TEXT, LONGEST_READING = 40, 28
"""Longer names are cut short in a picture; hovering shows them whole."""

Pieces: TypeAlias = list[tuple[str, str]]
"""The parts of a line, each with its kind: "ask", "answer", "abstain", "again", "reading", "cost", "worst" or ""."""


def write_tree(path: str | Path, root: Outline, title: str, facts: Sequence[tuple[str, str]] = ()) -> None:
    """Write the outline as a page with facts above (.html), a picture (.svg), Graphviz text (.dot) or text (.txt)."""
    match Path(path).suffix:
        case ".dot":
            text = draw_dot(root)
        case ".svg":
            text = draw_svg(root, title)
        case ".html":
            text = draw_html(root, title, facts)
        case ".txt":
            text = draw_text(root) + "\n"
        case _:
            raise FileError(f"{path}: a policy is drawn as {', '.join(SUFFIXES)}; give the file one of these suffixes")
    write_whole(path, text.encode())


def draw_text(root: Outline) -> str:
    """The tree as lines of plain text."""
    return "\n".join("".join(text for text, _ in line) for line in list_lines(root))


def list_lines(root: Outline) -> list[Pieces]:
    """The lines of the tree: readings in front, what is done or answered, and on the right what it has cost so far."""
    lines = list(_grow(root, "", ""))
    wide = max(sum(len(text) for text, _ in pieces) for pieces, _ in lines) + 3
    for pieces, node in lines:
        cost = node.cost or ("cost so far" if root.children and root.children[0].cost else "")
        if cost:
            pieces.append((" " * (wide - sum(len(text) for text, _ in pieces)), ""))
            pieces.append((cost, "cost"))
        if node.worst and node is not root:
            pieces.append((" *", "worst"))
    if lines[0][1].children and root.worst:
        lines[0][0].append((", * worst", "worst"))
    return [pieces for pieces, _ in lines]


def _grow(node: Outline, before: str, below: str) -> Iterator[tuple[Pieces, Outline]]:
    pieces = [(before, ""), (f"{node.reading} → " * bool(node.reading), "reading"), (node.sign + node.text, node.kind)]
    yield [*pieces, (f"  {node.name}" * bool(node.name), "again")], node
    for k, child in enumerate(node.children, start=1):
        last = k == len(node.children)
        yield from _grow(child, below + ("└── " if last else "├── "), below + ("    " if last else "│   "))


def draw_dot(root: Outline) -> str:
    """Graphviz text; shared nodes are drawn once, with several arrows."""
    lines = ["digraph policy {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in _walk(root):
        if node.kind != "again":
            shape = "box" if node.kind == "ask" else "ellipse"
            lines.append(f"  n{node.number} [shape={shape} label={quoted(node.sign + node.text)}];")
        for child in node.children:
            told = child.reading + f"\n{child.cost}" * bool(child.cost)
            bold = " penwidth=2" * child.worst
            lines.append(f"  n{node.number} -> n{child.number} [label={quoted(told)}{bold}];")
    return "\n".join([*dict.fromkeys(lines), "}"]) + "\n"


def quoted(text: str) -> str:
    """A text as Graphviz reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _walk(node: Outline) -> Iterator[Outline]:
    yield node
    for child in node.children:
        yield from _walk(child)


@dataclass(frozen=True)
class _Placed:
    """A node with its place in the picture, and where its parent stands."""

    node: Outline
    x: int
    y: float
    parent: tuple[int, float] | None


def draw_svg(root: Outline, title: str) -> str:
    """A left-to-right tree as a self-contained SVG, legible in light and dark."""
    placed = list(_place(root, 0, 0, None))
    return template("tree.svg").render(
        title=printable(title),
        placed=placed,
        columns=max(p.x for p in placed) + 1,
        rows=root.width,
        # Boxes and gaps are as wide as the longest name needs, in pixels a character, up to a limit.
        box=20 + 8 * min(LONGEST_TEXT, max(len(p.node.sign + p.node.text) for p in placed)),
        gap=34 + 7 * min(LONGEST_READING, max(max(len(p.node.reading), len(p.node.cost)) for p in placed)),
        longest_text=LONGEST_TEXT,
        longest_reading=LONGEST_READING,
        costs=any(p.node.cost for p in placed),
    )


def _place(node: Outline, depth: int, top: int, parent: tuple[int, float] | None) -> Iterator[_Placed]:
    """Leaves stand one below the other; every other node in the middle of what is below it."""
    here = (depth, top + node.width / 2)
    yield _Placed(node, *here, parent)
    for child in node.children:
        yield from _place(child, depth + 1, top, here)
        top += child.width


def draw_html(root: Outline, title: str, facts: Sequence[tuple[str, str]]) -> str:
    """One page, no scripts and nothing to fetch: facts in a table, the tree in parts that open and close."""
    return template("tree.html").render(title=printable(title), facts=facts, root=root)
