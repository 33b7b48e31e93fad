"""A slow obvious reader of Cassandra files: dense tables, one statement after the other, no checks."""

from __future__ import annotations

import re
from fractions import Fraction

Joint = dict[tuple[str, str, str, str], Fraction]
"""(state, action, next state, reading) to a positive probability."""


def naive_joint(text: str) -> tuple[Joint, dict[str, Fraction] | None]:
    """The joint law and the start belief of a file that is right."""
    text = "\n".join(line.split("#")[0] for line in text.splitlines())
    keywords = r"(?:^|(?<=\s))(discount|values|states|actions|observations|start|T|O|R)\s*(?=:|\s(?:in|ex)clude)"
    parts = re.split(keywords, text)
    statements = list(zip(parts[1::2], parts[2::2], strict=True))
    names: dict[str, list[str]] = {}
    tables: dict[str, dict[tuple[int, int, int], Fraction]] = {"T": {}, "O": {}}
    start: dict[str, Fraction] | None = None
    for word, rest in statements:
        if word in {"states", "actions", "observations"}:
            listed = rest.replace(":", "").split()
            counted = len(listed) == 1 and listed[0].isdigit()
            names[word] = [str(i) for i in range(int(listed[0]))] if counted else listed
        elif word == "start":
            start = naive_start(rest, names["states"])
        elif word in tables:
            fill(tables[word], word, rest, names, start)
    joint: Joint = {}
    for (a, s, t), p in tables["T"].items():
        for (b, u, y), q in tables["O"].items():
            if (a, t) == (b, u) and p * q:
                cell = names["states"][s], names["actions"][a], names["states"][t], names["observations"][y]
                joint[cell] = p * q
    return joint, start


def naive_start(rest: str, states: list[str]) -> dict[str, Fraction]:
    words = rest.replace(":", " ").split()
    if words[0] in {"include", "exclude"}:
        some = states if "*" in words else [states[place(word, states)[0]] for word in words[1:]]
        words = some if words[0] == "include" else [s for s in states if s not in some]
        return {s: Fraction(1, len(words)) for s in words}
    if words == ["uniform"]:
        return {s: Fraction(1, len(states)) for s in states}
    if len(states) == 1:
        return {states[0]: Fraction(1)}
    if len(words) == 1:
        return {states[place(words[0], states)[0]]: Fraction(1)}
    return {s: Fraction(word) for s, word in zip(states, words, strict=True) if Fraction(word)}


def place(word: str, names: list[str]) -> list[int]:
    if word == "*":
        return list(range(len(names)))
    return [names.index(word) if word in names else int(word)]


def fill(
    table: dict[tuple[int, int, int], Fraction],
    letter: str,
    rest: str,
    names: dict[str, list[str]],
    start: dict[str, Fraction] | None,
) -> None:
    """One statement: the words between colons, the last of which goes on with numbers or a keyword."""
    columns = names["states"] if letter == "T" else names["observations"]
    *heads, last = rest.strip().lstrip(":").split(":")
    words = last.split()
    sorts = [names["actions"], names["states"], columns]
    fields = [place(head.strip(), sort) for head, sort in zip([*heads, words[0]], sorts, strict=False)]
    values = words[1:]
    states = fields[1] if len(fields) > 1 else list(range(len(names["states"])))
    for a in fields[0]:
        for i, s in enumerate(states):
            for c in range(len(columns)) if len(fields) < 3 else fields[2]:
                if values == ["uniform"]:
                    p = Fraction(1, len(columns))
                elif values == ["identity"]:
                    p = Fraction(int(s == c))
                elif values == ["reset"]:
                    assert start is not None
                    p = start.get(columns[c], Fraction(0))
                elif len(fields) == 3:
                    p = Fraction(values[0])
                elif len(fields) == 2:
                    p = Fraction(values[c])
                else:
                    p = Fraction(values[i * len(columns) + c])
                table[a, s, c] = p
