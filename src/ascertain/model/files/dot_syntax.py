"""The DOT language: from the text of a digraph to its nodes and edges, with nothing yet said about machines.

Words are names, numbers, strings, HTML and marks. Comments are /* ... */, // to the end of the line, and lines that
begin with #. A word is kept as it was written, quotes and brackets included (a *lexeme*), since what an escape means
depends on who asks. All repetitions are possessive, so no text takes more than one pass.

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
from ascertain.model.files.text import cut

Attributes: TypeAlias = dict[str, str]
"""Attribute to value as written."""
Edge: TypeAlias = tuple[str, str, Attributes, int]
"""Tail, head, attributes, and where in the text the statement begins."""
Members: TypeAlias = dict[str, None]
"""The nodes of a subgraph, in order."""

MAX_NESTING = 64
"""Subgraphs within subgraphs: the parser calls itself for each, and Python's stack is not deep."""
MAX_NODES = 2**20
"""Each takes some hundred bytes, so that no file of MAX_BYTES fills the memory."""
MAX_UNWRITTEN = 2**17
"""Transitions beyond those that are written out: subgraphs, and the label of an `edge` statement, stand for many."""
EDGE_DEFAULTS = ("label", "input", "output")
"""The attributes that an `edge` statement can give to a transition."""

KEYWORDS = frozenset({"strict", "graph", "digraph", "node", "edge", "subgraph"})
"""Words that name something only in quotes, in capitals or not."""
MARKS = frozenset(["", "->", "--", *"{}[]=;,:+"])
"""What is no id; the empty lexeme stands for the end of the file."""
SHOWN = 40
"""Characters of a lexeme that an error message repeats: enough to find it in the line that is named."""

# Letters are A-Z, a-z, _ and all beyond ASCII. Saying which characters are none is the same, and compiles at once.
NAME = r"[^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*+(?!\.)"
"""A name without quotes: letters, also those beyond ASCII, digits and underscores."""
NUMBER = r"-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?+)(?![^\x00-\-/-@\[-^`{-\x7f])"
"""A number, after which no letter may stand."""
STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""A string in quotes, escapes not yet resolved."""

_SKIP = r"(?:^[ \t]*+\#[^\n]*+|[ \t\r]++|\n|//[^\n]*+|/\*.*?\*/)*+"
"""Blanks and comments."""
_NEXT = re.compile(rf"{_SKIP}({NAME}|{NUMBER}|{STRING}|->|--|[{{}}\[\]=;,:+])?+", re.DOTALL | re.MULTILINE)
"""Blanks and comments, and the lexeme after them, if there is one; HTML is found by its brackets."""
_BRACKET = re.compile(r"<!--.*?(?:-->|\Z)|[<>]", re.DOTALL)
"""What counts when brackets of HTML are balanced, and comments, inside which nothing does."""
_STRANGE = re.compile(rf"[^\s\[\]{{}};,\"]{{1,{SHOWN}}}")
"""What an error message repeats of text that is no lexeme."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
"""A backslash and what follows it."""

_SIMPLE = rf'{NAME}|{NUMBER}|"[^"\\]*+"'
"""An id that needs no more than one look: no escapes, no HTML."""
_OUTSIDE = r'[^"\\\[\]{}<>/#]*+'
"""What may stand between the strings of a quick attribute list: nothing that opens, closes or comments."""
_SPACE = r"[ \t\r\n]*+"
"""Blanks, but no comments."""
QUICK = re.compile(
    rf"{_SPACE}({_SIMPLE}){_SPACE}(?:->{_SPACE}({_SIMPLE}){_SPACE})?+"
    rf"\[({_OUTSIDE}(?:{STRING}{_OUTSIDE})*+)\]{_SPACE}(?:;|(?![\[/\#]))",
    re.DOTALL,
)
"""The common statement: `a -> b [...]` or `a [...]`."""


def is_id(lexeme: str) -> bool:
    """Whether a lexeme may name something: a name that is no keyword, a number, a string or HTML."""
    return lexeme not in MARKS and lexeme.lower() not in KEYWORDS


def id_text(lexeme: str) -> str:
    """What an id says. In a string, DOT itself knows two escapes only: a quote, and a line that goes on."""
    if lexeme[:1] == "<":
        return lexeme[1:-1]
    if lexeme[:1] != '"':
        return lexeme
    if "\\" not in lexeme:
        return lexeme[1:-1]
    return _ESCAPE.sub(lambda found: {'"': '"', "\n": ""}.get(found[1], found[0]), lexeme[1:-1])


@final
@dataclass
class Digraph:
    """What a digraph says: nodes in the order in which they first appear, edges in the order of the text."""

    text: str
    where: str
    nodes: dict[str, Attributes] = field(default_factory=dict[str, Attributes])
    edges: list[Edge] = field(default_factory=list[Edge])
    attributes: Attributes = field(default_factory=dict[str, str])

    def line(self, offset: int) -> int:
        """The line of a place in the text."""
        return 1 + self.text.count("\n", 0, offset)

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


@final
class DotTokens:
    """A text read word by word: `lexeme` is the current one, from `offset` to `end`."""

    def __init__(self, graph: Digraph) -> None:
        self.graph, self.text = graph, graph.text
        self.lexeme = ""
        self.offset = self.end = 0

    def at(self, *lexemes: str) -> bool:
        """Whether the current lexeme is one of these."""
        return self.lexeme in lexemes

    def at_word(self, *keywords: str) -> bool:
        """Whether the current lexeme is one of these keywords, in capitals or not."""
        return self.lexeme.lower() in keywords

    def go_to(self, offset: int) -> None:
        """Read the first lexeme from a place on."""
        self.end = offset
        self.advance()

    def advance(self) -> None:
        """Read the next lexeme."""
        found = _NEXT.match(self.text, self.end)
        assert found is not None  # it matches nothing at all as well
        self.end = found.end()
        lexeme = found[1]
        if lexeme is not None:
            self.lexeme, self.offset = lexeme, self.end - len(lexeme)
            return
        self.offset = self.end
        if self.text.startswith("<", self.offset):
            self.end = self.html_end()
        elif self.offset < len(self.text):
            self.fail(self.strange())
        self.lexeme = self.text[self.offset : self.end]

    def html_end(self) -> int:
        """Where the bracket at hand is closed; comments do not count."""
        depth = 0
        for bracket in _BRACKET.finditer(self.text, self.offset):
            depth += {"<": 1, ">": -1}.get(bracket[0], 0)
            if depth == 0:
                return bracket.end()
        return self.fail("the HTML that begins here is not closed; each '<' needs its '>'")

    def take_id(self, wanted: str) -> str:
        """Pass an id and return it as it was written, strings joined by '+' as one."""
        first = self.lexeme
        if not is_id(first):
            hint = "; put quotes around it" if self.at_word(*KEYWORDS) else ""
            self.fail(f"found {self.found()} where {wanted} was expected{hint}")
        self.advance()
        if not (self.at("+") and first[0] == '"'):
            return first
        parts = [first[1:-1]]
        while self.at("+"):
            self.advance()
            if self.lexeme[:1] != '"':
                self.fail(f"found {self.found()} after '+'; a string in quotes was expected")
            parts.append(self.lexeme[1:-1])
            self.advance()
        return f'"{"".join(parts)}"'

    def strange(self) -> str:
        """What to say of text that is no lexeme."""
        rest = self.text[self.offset : self.offset + 2]
        if rest[0] == '"':
            return "the string that begins here is not closed; add '\"'"
        if rest == "/*":
            return "the comment that begins here is not closed; add '*/'"
        word = _STRANGE.match(self.text, self.offset)
        return f"{(word[0] if word else rest[0])!r} is not DOT; a name with such characters needs quotes around it"

    def found(self) -> str:
        """The current lexeme for an error message."""
        return repr(cut(self.lexeme, SHOWN)) if self.lexeme else "the end of the file"

    def fail(self, message: str) -> NoReturn:
        """Raise the sentence, with file and line before it."""
        self.graph.fail(self.offset, message)


def parse_graph(text: str, where: str, *, quick: bool = True) -> Digraph:
    """The digraph in a text; `where` begins every error message. `quick=False` sends everything through the grammar."""
    graph = Digraph(text, where)
    _Parser(graph, quick).parse()
    return graph


@final
class _Parser:
    """One pass over the text, a method for each line of the grammar."""

    def __init__(self, graph: Digraph, quick: bool) -> None:
        self.graph = graph
        self.quick = quick
        self.tokens = DotTokens(graph)
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
