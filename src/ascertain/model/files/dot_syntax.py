"""The DOT language: from the text of a digraph to its nodes and edges, with nothing yet said about machines.

    graph     :  ["strict"] "digraph" [id] "{" {statement [";"]} "}"
    statement :  id "=" id  |  ("graph" | "node" | "edge") lists  |  group {"->" group} [lists]
    group     :  id [":" id [":" id]]  |  ["subgraph" [id]] "{" {statement [";"]} "}"
    lists     :  "[" {id ["=" id] [";" | ","]} "]" [lists]
    id        :  a name, a number, a string "..." (strings join with "+"), or HTML in balanced brackets <...>

An edge takes over what the `edge` statements before it in its scope said; the same for nodes is of no use here and left
out. `strict` is of no use either: two transitions may join the same states.

Most of a large file is one shape of statement: `a -> b [...]` or `a [...]`. `QUICK` recognises it in one match, and the
attributes inside, which repeat, are parsed once for each spelling. It accepts nothing that the grammar would read in
another way; whatever it does not accept goes through the grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NoReturn, TypeAlias, final

from ascertain.errors import FileError
from ascertain.model.files.dot_tokens import KEYWORDS, NAME, NUMBER, STRING, Tokens, id_text, is_id, line_of

Attributes: TypeAlias = dict[str, str]
"""Attribute to value as written."""
Edge: TypeAlias = tuple[str, str, Attributes, int]
"""Tail, head, attributes, and where in the text the statement begins."""
Members: TypeAlias = dict[str, None]
"""The nodes of a subgraph, in order."""

MAX_NESTING = 64
"""Subgraphs within subgraphs."""
MAX_NODES = 2**20
MAX_UNWRITTEN = 2**17
"""Transitions beyond those that are written out: subgraphs, and the label of an `edge` statement, stand for many."""
EDGE_DEFAULTS = ("label", "input", "output")
"""The attributes that an `edge` statement can give to a transition."""

_SIMPLE = rf'{NAME}|{NUMBER}|"[^"\\]*+"'
_OUTSIDE = r'[^"\\\[\]{}<>/#]*+'
_SPACE = r"[ \t\r\n]*+"
QUICK = re.compile(
    rf"{_SPACE}({_SIMPLE}){_SPACE}(?:->{_SPACE}({_SIMPLE}){_SPACE})?+"
    rf"\[({_OUTSIDE}(?:{STRING}{_OUTSIDE})*+)\]{_SPACE}(?:;|(?![\[/\#]))",
    re.DOTALL,
)


@final
@dataclass
class Graph:
    """What a digraph says: nodes in the order in which they first appear, edges in the order of the text."""

    text: str
    where: str
    nodes: dict[str, Attributes] = field(default_factory=dict[str, Attributes])
    edges: list[Edge] = field(default_factory=list[Edge])
    attributes: Attributes = field(default_factory=dict[str, str])

    def line(self, offset: int) -> int:
        """The line of a place in the text."""
        return line_of(self.text, offset)

    def fail(self, offset: int, message: str) -> NoReturn:
        """Raise the sentence, with file and line before it."""
        raise FileError(f"{self.where}: line {self.line(offset)}: {message}")

    def check_number(self, transitions: int, offset: int) -> None:
        """A short text stands for a bounded number of transitions; one that is written out has three characters."""
        limit = MAX_UNWRITTEN + len(self.text) // 3
        if transitions > limit:
            self.fail(
                offset,
                f"subgraphs and common labels stand for more than {limit} transitions; a file of this size may have no "
                "more, so write them out, or join fewer nodes",
            )


def parse_graph(text: str, where: str, *, quick: bool = True) -> Graph:
    """The digraph in a text; `where` begins every error message. `quick=False` sends everything through the grammar."""
    graph = Graph(text, where)
    _Parser(graph, quick).parse()
    return graph


@final
class _Parser:
    """One pass over the text, a method for each line of the grammar."""

    def __init__(self, graph: Graph, quick: bool) -> None:
        self.graph = graph
        self.quick = quick
        self.tokens = Tokens(graph.text, graph.where)
        self.names: dict[str, str] = {}
        self.spelled: dict[str, Attributes] = {}

    def parse(self) -> None:
        tokens = self.tokens
        tokens.advance()
        if tokens.at_word("strict"):
            tokens.advance()
        if not tokens.at_word("digraph"):
            tokens.fail(f"found {tokens.found()}; a machine is written 'digraph {{ ... }}'")
        tokens.advance()
        if is_id(tokens.lexeme):
            tokens.take_id("a name")
        if not tokens.at("{"):
            tokens.fail(f"found {tokens.found()}; '{{' was expected after 'digraph'")
        self.statements({}, None, 0)
        if tokens.lexeme:
            tokens.fail(f"found {tokens.found()} after the closing brace; a file holds one digraph")

    def statements(self, defaults: Attributes, members: Members | None, depth: int) -> None:
        """What stands between a brace and its partner; `members` collects the nodes of a subgraph."""
        tokens, opened, following = self.tokens, self.tokens.offset, self.tokens.end
        if depth > MAX_NESTING:
            tokens.fail(f"subgraphs are nested more than {MAX_NESTING} deep; a machine needs none")
        while True:
            tokens.go_to(self.take_quick(following, members) if self.quick and not defaults else following)
            if tokens.at("}"):
                tokens.advance()
                return
            if tokens.at(";"):
                following = tokens.end
                continue
            if tokens.at(""):
                tokens.fail(f"the file ends before the brace of line {self.graph.line(opened)} is closed; add '}}'")
            self.statement(defaults, members, depth)
            following = tokens.offset

    def take_quick(self, offset: int, members: Members | None) -> int:
        """Read every statement of the common shape from here on, and return where the first other one begins."""
        match, text, names, spelled, edges = QUICK.match, self.graph.text, self.names, self.spelled, self.graph.edges
        while found := match(text, offset):
            first, second, inside = found.groups()
            tail = names.get(first) or self.new_name(first)
            head = tail if second is None else names.get(second) or self.new_name(second)
            if not tail or not head:
                return offset
            attributes = spelled.get(inside)
            if attributes is None:
                self.tokens.go_to(found.start(3) - 1)
                attributes = spelled[inside] = self.lists()
            if second is None:
                self.graph.nodes[tail].update(attributes)
            else:
                edges.append((tail, head, attributes, found.start(1)))
            if members is not None:
                members[tail] = members[head] = None
            offset = found.end()
        return offset

    def new_name(self, lexeme: str) -> str:
        """Note a node at its first appearance; nothing for what only the grammar can judge."""
        if lexeme.lower() in KEYWORDS or lexeme == '""':
            return ""
        name = id_text(lexeme)
        self.names[lexeme] = name
        self.declare(name)
        return name

    def declare(self, name: str) -> Attributes:
        """The attributes of a node, which from now on exists."""
        attributes = self.graph.nodes.setdefault(name, {})
        if len(self.graph.nodes) > MAX_NODES:
            self.tokens.fail(f"the digraph has more than {MAX_NODES} nodes; no more are read")
        return attributes

    def statement(self, defaults: Attributes, members: Members | None, depth: int) -> None:
        tokens, start, named = self.tokens, self.tokens.offset, is_id(self.tokens.lexeme)
        if tokens.at_word("graph", "node", "edge"):
            self.set_defaults(tokens.lexeme.lower(), defaults, depth)
            return
        groups = [self.group(defaults, depth)]
        if named and tokens.at("="):
            self.assign(groups[0][0], depth)
            return
        while tokens.at("->"):
            tokens.advance()
            groups.append(self.group(defaults, depth))
        if tokens.at("--"):
            tokens.fail("'--' joins nodes without direction; a transition is written '->'")
        given = self.lists()
        for node in (node for group in groups for node in group):
            self.declare(node).update(given if named and len(groups) == 1 else {})
            if members is not None:
                members[node] = None
        self.join(groups, {**defaults, **given}, start)

    def set_defaults(self, kind: str, defaults: Attributes, depth: int) -> None:
        """`graph [...]`, `node [...]` or `edge [...]`."""
        self.tokens.advance()
        if not self.tokens.at("["):
            found = self.tokens.found()
            self.tokens.fail(f"found {found} after {kind!r}; '[' was expected, or quotes around the word")
        given = self.lists()
        if kind == "edge":
            defaults.update({key: given[key] for key in EDGE_DEFAULTS if key in given})
        elif kind == "graph" and depth == 0:
            self.graph.attributes.update(given)

    def assign(self, key: str, depth: int) -> None:
        """`id = id`, an attribute of the graph; that of a subgraph says nothing about a machine."""
        self.tokens.advance()
        value = self.tokens.take_id("a value after '='")
        if depth == 0:
            self.graph.attributes[key] = value

    def join(self, groups: list[list[str]], attributes: Attributes, start: int) -> None:
        """The edges of a chain of groups."""
        edges = self.graph.edges
        more = sum(len(tails) * len(heads) for tails, heads in pairwise(groups))
        self.graph.check_number(len(edges) + more, start)
        for tails, heads in pairwise(groups):
            edges.extend((tail, head, attributes, start) for tail in tails for head in heads)

    def group(self, defaults: Attributes, depth: int) -> list[str]:
        """One node, or the nodes of a subgraph."""
        tokens = self.tokens
        if tokens.at("{") or tokens.at_word("subgraph"):
            return self.subgraph(defaults, depth)
        name = id_text(tokens.take_id("a node, or '}' at the end,"))
        for _ in range(2):
            if tokens.at(":"):
                tokens.advance()
                tokens.take_id("a port after ':'")
        return [name]

    def subgraph(self, defaults: Attributes, depth: int) -> list[str]:
        tokens = self.tokens
        if tokens.at_word("subgraph"):
            tokens.advance()
            if is_id(tokens.lexeme):
                tokens.take_id("a name")
        if not tokens.at("{"):
            tokens.fail(f"found {tokens.found()}; '{{' was expected after 'subgraph'")
        members: Members = {}
        self.statements(dict(defaults), members, depth + 1)
        return list(members)

    def lists(self) -> Attributes:
        """All attribute lists from here on, as one; none at all where no bracket is open."""
        tokens, given = self.tokens, dict[str, str]()
        while tokens.at("["):
            opened = tokens.offset
            tokens.advance()
            while not tokens.at("]"):
                if tokens.at(""):
                    line = self.graph.line(opened)
                    tokens.fail(f"the file ends before the bracket of line {line} is closed; add ']'")
                key = id_text(tokens.take_id("an attribute, or ']' at the end,"))
                given[key] = "true"
                if tokens.at("="):
                    tokens.advance()
                    given[key] = tokens.take_id(f"a value for {key!r}")
                if tokens.at(",", ";"):
                    tokens.advance()
            tokens.advance()
        return given
