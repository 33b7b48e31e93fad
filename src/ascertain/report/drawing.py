"""Draw the outline of a policy: on the terminal, as Graphviz text, as SVG, or as a page that opens offline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from rich.tree import Tree

from ascertain.errors import FileError
from ascertain.model.files.text import write_whole
from ascertain.policy.automaton import Automaton
from ascertain.report.outline import Outline, outline_policy
from ascertain.report.printable import printable
from ascertain.task.task import Task

if TYPE_CHECKING:
    from jinja2 import Template

LONGEST_TEXT, LONGEST_READING = 40, 28
"""Longer names are cut short in a drawing; hovering shows them whole."""
_STYLE = {"ask": "bold", "answer": "green", "abstain": "yellow", "again": "dim"}


def draw_policy(path: str | Path, task: Task, policy: Automaton, title: str = "Policy") -> None:
    """Draw the policy of a task into a file: Graphviz text (.dot), a picture (.svg) or a page (.html)."""
    if Path(path).suffix not in {".dot", ".svg", ".html"}:
        raise FileError(f"{path}: a policy is drawn as .html, .svg or .dot; give the file one of these suffixes")
    write_drawing(Path(path), outline_policy(task, policy), title, [])


def write_drawing(path: Path, root: Outline, title: str, facts: list[tuple[str, str]]) -> None:
    """Write the outline as Graphviz text (.dot), as a picture (.svg) or as a page with facts above (.html)."""
    match path.suffix:
        case ".dot":
            text = draw_dot(root)
        case ".svg":
            text = draw_svg(root, title)
        case _:
            text = draw_html(root, title, facts)
    write_whole(path, text.encode())


def draw_terminal(root: Outline) -> Tree:
    """A tree for Rich: readings in front, actions in bold, answers in green."""

    def grow(node: Outline, tree: Tree) -> None:
        for child in node.children:
            grow(child, tree.add(_line(child)))

    tree = Tree(_line(root))
    grow(root, tree)
    return tree


def _line(node: Outline) -> Text:
    line = Text()
    if node.reading:
        line.append(f"{node.reading} → ", style="cyan")
    line.append(node.text, style=_STYLE[node.kind])
    if node.shared and node.kind == "ask":
        line.append(f"  #{node.number}", style="dim")
    return line


def draw_dot(root: Outline) -> str:
    """Graphviz text; shared nodes are drawn once, with several arrows."""
    lines = ["digraph policy {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in _walk(root):
        if node.kind != "again":
            shape = "box" if node.kind == "ask" else "ellipse"
            lines.append(f"  n{node.number} [shape={shape} label={_quoted(node.text)}];")
        lines += [f"  n{node.number} -> n{c.number} [label={_quoted(c.reading)}];" for c in node.children]
    return "\n".join([*dict.fromkeys(lines), "}"]) + "\n"


def _quoted(text: str) -> str:
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
    return _template("tree.svg").render(
        title=printable(title),
        placed=placed,
        columns=max(p.x for p in placed) + 1,
        rows=root.width,
        # Boxes and gaps are as wide as the longest name needs, in pixels a character, up to a limit.
        box=20 + 8 * min(LONGEST_TEXT, max(len(p.node.text) for p in placed)),
        gap=30 + 7 * min(LONGEST_READING, max(len(p.node.reading) for p in placed)),
        longest_text=LONGEST_TEXT,
        longest_reading=LONGEST_READING,
    )


def _place(node: Outline, depth: int, top: int, parent: tuple[int, float] | None) -> Iterator[_Placed]:
    """Leaves stand one below the other; every other node in the middle of what is below it."""
    here = (depth, top + node.width / 2)
    yield _Placed(node, *here, parent)
    for child in node.children:
        yield from _place(child, depth + 1, top, here)
        top += child.width


def draw_html(root: Outline, title: str, facts: list[tuple[str, str]]) -> str:
    """One page, no scripts and nothing to fetch: facts in a table, the tree in parts that open and close."""
    return _template("tree.html").render(title=printable(title), facts=facts, root=root)


def _template(name: str) -> Template:
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("ascertain.report", "templates")
    return Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True).get_template(name)
