"""Hypothesis strategies for model files: names of every kind, DOT text in every dress, and data of any shape."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ascertain.model import Machine, NoisyMachine

NASTY = [
    *("", " ", "a/b", "/", "//", "/*", "\\", "\\\\", "a\\", "\\n", 'q"', '"', "a\nb", "\r\n", "\t", "\x00", "\x7f"),
    *("__start0", "__start", "node", "Digraph", "state0", "s 1", "é", "\u2028", "\ud800", "<b>", "&amp;", "#", "; }"),
    *("a / b", " a", "a ", "-1", "1.5", "1a", "a.b", "x,y", "[label]", "->", "a->b", "undefined", "\\u0041", "\\N"),
]


@st.composite
def renamed(draw: st.DrawFn, model: st.SearchStrategy[Machine | NoisyMachine]) -> Machine | NoisyMachine:
    """Models whose names are anything, in an order of their own, some of them unused, perhaps with origins."""
    plain = draw(model)
    name = st.one_of(st.sampled_from(NASTY), st.text(max_size=4), st.text('ab/\\" \n', max_size=4))

    def fresh(count: int) -> tuple[str, ...]:
        return tuple(draw(st.lists(name, min_size=count, max_size=count, unique=True)))

    origin = draw(st.one_of(st.just(()), st.lists(name, min_size=plain.num_states, max_size=plain.num_states)))
    return replace(
        plain,
        states=fresh(plain.num_states),
        actions=fresh(plain.num_actions),
        readings=fresh(len(plain.readings)),
        origin=tuple(origin),
    )


GAPS = st.sampled_from(["", " ", "  ", "\n", "\t", "\r\n", " /* c -> d [x] */ ", " // c\n", "\n# c {\n", "\n  # c\n"])
SPACES = st.sampled_from([" ", "\n", "\t ", " /* c */ ", " // c\n"])
IDS = st.one_of(
    st.sampled_from(["a", "b", "s0", "_x", "Äb", "12", "-3", "1.5", ".5", '"a"', '"s 0"', '"a\\"b"', '"node"']),
    st.sampled_from(['"a" + "b"', '"x\\\ny"', '"[,;]"', '"a -> b"', '"//"', '"<b>"', '"{"', '"é/è"', '"\\\\"']),
)
VALUES = st.one_of(IDS, st.sampled_from(['"a / b"', '"x/y|z"', "<a<br/>b>", '""', "<<b>x</b>/y>", '"p\\nq"', "red"]))
KEYS = st.sampled_from(["label", "color", "input", "shape", '"label"', "weight"])


@st.composite
def attribute_lists(draw: st.DrawFn) -> str:
    text = ""
    for _ in range(draw(st.integers(1, 2))):
        items = []
        for _ in range(draw(st.integers(0, 3))):
            gap = draw(GAPS)
            items.append(
                f"{draw(KEYS)}{gap}={draw(GAPS)}{draw(VALUES)}{draw(st.sampled_from([' ', ',', ' ; ', ', ']))}"
            )
        text += f"[{draw(GAPS)}{draw(GAPS).join(items)}]{draw(GAPS)}"
    return text


@st.composite
def statements(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.integers(0, 9))
    gap = draw(GAPS)
    if kind == 0 and depth < 2:
        body = "".join(draw(st.lists(statements(depth + 1), max_size=3)))
        return f"{draw(st.sampled_from(['subgraph x ', 'SUBGRAPH', '']))}{{{gap}{body}}}{draw(SPACES)}"
    if kind == 1:
        return f"{draw(st.sampled_from(['node', 'edge', 'Graph']))}{gap}{draw(attribute_lists())};"
    if kind == 2:
        return f"{draw(st.sampled_from(['label', 'rankdir']))}{gap}={gap}{draw(VALUES)}{draw(SPACES)}"
    chain = draw(st.integers(1, 2 if kind > 4 else 3))
    port = draw(st.sampled_from(["", "", "", ":p", ":p:n"]))
    nodes = f"{gap}->{draw(GAPS)}".join(draw(IDS) for _ in range(chain)) + port
    lists = draw(attribute_lists()) if kind > 3 else ""
    return f"{nodes}{gap}{lists}{draw(st.sampled_from([';', ' ', '; ', ' ; ', chr(10)]))}"


@st.composite
def digraphs(draw: st.DrawFn) -> str:
    body = draw(GAPS).join(draw(st.lists(statements(), max_size=6)))
    head = draw(st.sampled_from(["digraph", "DiGraph g", 'digraph "a b"', "digraph 7"]))
    return f"{draw(GAPS)}{head}{draw(SPACES)}{{{draw(GAPS)}{body}}}{draw(GAPS)}"


PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(["s", "a", "1/2", ""])),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=2), inner, max_size=3)),
    max_leaves=8,
)
