"""The tree of an experiment, drawn as far as one can see: a part of it at a time, foldable, with a search through all.

Lines are HTML's own `details`, so that keyboards and screen readers know how to open and close them. Where a part has
more lines than are drawn, a button goes on from there; the path above leads back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, final

from nicegui import events, ui

from ascertain.drawing import template
from ascertain.drawing.outline import Outline
from ascertain.studio.parts import notice

MOST_LINES = 150
"""Lines that are drawn at once: some screens full, and drawn in a few milliseconds."""
MOST_MATCHES = 20
"""Matches that are listed: more are better told apart by more letters."""
CLICKED = "(event) => { const b = event.target.closest('[data-node]'); if (b) { event.preventDefault(); emit(b.dataset.node); } }"  # noqa: E501
"""A click on a button inside of the drawing, told to the server by the node's number."""


@final
class Tree:
    """All nodes of a tree by number, the root first."""

    def __init__(self, nodes: Sequence[Sequence[Any]]) -> None:
        self.nodes = nodes
        self.children = [list[int]() for _ in nodes]
        self.below: list[int] = [1] * len(nodes)
        for number in range(len(nodes) - 1, 0, -1):
            self.below[nodes[number][0]] += self.below[number]
        self.home: dict[int, int] = {}
        """Where a node of the policy is drawn; other places only refer to it."""
        for number, node in enumerate(nodes):
            if number:
                self.children[int(node[0])].append(number)
            if node[3] != "again":
                self.home.setdefault(node[7], number)
        self._words = [f"{node[1]} {node[2]} {node[3]} {node[4]}".lower() for node in nodes]

    def parent(self, number: int) -> int:
        """The node above, -1 at the root."""
        return self.nodes[number][0]

    def path(self, number: int) -> list[int]:
        """From the root to this node."""
        found = [number]
        while (number := self.parent(number)) >= 0:
            found.append(number)
        return found[::-1]

    def part(self, root: int, most: int = MOST_LINES) -> tuple[Outline, Mapping[int, int]]:
        """The tree below a node, its nearest lines first; and by node how many lines below it are left out."""
        kept, queue = {root}, deque([root])
        while queue:
            number = queue.popleft()
            if len(kept) + len(self.children[number]) <= most:
                kept.update(self.children[number])
                queue.extend(self.children[number])
        left_out: dict[int, int] = {}

        def draw(number: int) -> Outline:
            _, reading, text, kind, name, cost, worst, policy_node = self.nodes[number]
            if kind == "again":  # it is drawn elsewhere, and says where
                return Outline(reading, text, kind, self.home[policy_node], name, cost, worst)
            shown = [child for child in self.children[number] if child in kept]
            if self.children[number] and not shown:
                left_out[number] = self.below[number] - 1
            return Outline(reading, text, kind, number, name, cost, worst, tuple(draw(child) for child in shown))

        return draw(root), left_out

    def find(self, words: str) -> list[int]:
        """The nodes that hold all these words, in reading, action, answer or cost."""
        first, *others = sorted(words.lower().split(), key=len, reverse=True) or [""]
        said = self._words if first else ()
        found = (n for n, text in enumerate(said) if first in text and all(word in text for word in others))
        return list(islice(found, MOST_MATCHES + 1))

    def say(self, number: int) -> str:
        """A node in a few words."""
        _, reading, text, kind, name, *_ = self.nodes[number]
        sign = {"answer": "✔ ", "abstain": "✘ "}.get(kind, "")
        return f"{f'{reading} → ' if reading else ''}{sign}{text}{f' {name}' if name else ''}"


def show_tree(tree: Tree) -> None:
    """The tree, with a search above it."""
    here, costs = [0], any(node[5] for node in tree.nodes)
    words = ui.input("Search the tree", on_change=lambda: matches.refresh())  # noqa: PLW0108  it is defined below
    words.props("clearable debounce=10 outlined dense").classes("w-full max-w-md").mark("search-tree")

    @ui.refreshable
    def matches() -> None:
        found = tree.find(str(words.value or ""))
        if words.value:
            notice("info", f"{min(len(found), MOST_MATCHES)}{'+' if len(found) > MOST_MATCHES else ''} found")
        with ui.column().classes("gap-1"):
            for number in found[:MOST_MATCHES]:
                above = " / ".join(tree.say(n) for n in tree.path(number)[-4:-1])
                button = ui.button(
                    f"{above} / {tree.say(number)}" if above else tree.say(number),
                    on_click=lambda _, n=number: go(max(tree.parent(n), 0)),
                )
                button.props("flat no-caps dense align=left").classes("studio-wrap")

    def go(number: int) -> None:
        here[0] = number
        drawing.refresh()

    def clicked(event: events.GenericEventArguments) -> None:
        chosen = str(event.args)
        if chosen.isdigit() and int(chosen) < len(tree.nodes):
            go(int(chosen))

    @ui.refreshable
    def drawing() -> None:
        if here[0]:
            with ui.row().classes("gap-1 items-center").props('role=navigation aria-label="Path in the tree"'):
                for number in tree.path(here[0])[:-1][-6:]:
                    ui.button(f"↑ {tree.say(number)}", on_click=lambda _, n=number: go(n)).props("flat no-caps dense")
        root, left_out = tree.part(here[0])
        drawn = template("branch.html").render(root=root, left_out=left_out, costs=costs)
        ui.html(drawn, sanitize=False).classes("studio-tree").on("click", clicked, js_handler=CLICKED)

    with ui.element("div").classes("studio-matches w-full"):
        matches()
    drawing()
