"""Boolean networks in .bnet files: a line `VARIABLE, RULE` for each variable.

    targets, factors          the header, which may be left out
    Damage,  Damage           an input: its rule is itself
    p53,     Damage & !Mdm2
    Mdm2,    p53 | (Mdm2 & !Damage)

Rules are made of names, 0, 1, true, false, "!", "&", "|" and parentheses; "#" begins a comment. A variable that rules
use but no line updates is an input as well. What is observed is not said in the file: every state variable, unless a
problem file declares some (`[network]`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

from ascertain.errors import AscertainError, FileError
from ascertain.model.boolean import MAX_BITS
from ascertain.model.expression import MAX_LENGTH, Expression, parse_expression
from ascertain.model.files.text import read_text
from ascertain.model.machine import Machine
from ascertain.model.network import MAX_OBSERVED, BooleanNetwork

_NAME = re.compile(r"[A-Za-z_][\w.:\[\]-]*")
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_][\w.:\[\]-]*)|(?P<constant>[01])(?!\w)|(?P<sign>[!&|()]))")
_WORDS = {"!": "not", "&": "and", "|": "or", "(": "(", ")": ")"}


def read_bnet(path: str | Path) -> Machine:
    """The network in a .bnet file as a machine, with the inputs and observed variables that are meant by default."""
    return read_network(path).machine()


def read_network(path: str | Path) -> BooleanNetwork:
    """The network in a .bnet file."""
    return parse_bnet(read_text(path), str(path))


def parse_bnet(text: str, where: str) -> BooleanNetwork:
    """The network in the text of a .bnet file; `where` begins every error message."""
    factors = _read_factors(text, where)
    names = list(factors)
    words: dict[str, str] = {}
    for name, (line, factor) in factors.items():
        words[name], used = _translate(factor, f"{where}:{line}")
        names += [other for other in used if other not in names]
        if len(names) > MAX_BITS:
            raise FileError(f"{where}:{line}: more than {MAX_BITS} variables; larger networks are not read")
    rules = tuple(
        parse_expression(words[name], names, f"{where}:{factors[name][0]}") if name in words else None for name in names
    )
    inputs = tuple(v for v, rule in enumerate(rules) if rule is None or rule.program == (v,))
    state = [v for v in range(len(names)) if v not in inputs]
    try:
        return BooleanNetwork(tuple(names), rules, inputs, tuple(state[:MAX_OBSERVED]))
    except AscertainError as reason:
        raise type(reason)(f"{where}: {reason}") from None


def write_bnet(network: BooleanNetwork) -> str:
    """The text of a .bnet file that reads back as the same rules."""
    lines = [
        f"{name}, {name if rule is None else _infix(rule, network.variables)}"
        for name, rule in zip(network.variables, network.rules, strict=True)
    ]
    return "\n".join(["targets, factors", *lines, ""])


def _read_factors(text: str, where: str) -> dict[str, tuple[int, str]]:
    factors: dict[str, tuple[int, str]] = {}
    for line, content in enumerate(text.splitlines(), start=1):
        plain = content.split("#", 1)[0].strip()
        name, comma, factor = (part.strip() for part in plain.partition(","))
        if not plain or (name.lower(), factor.lower()) == ("targets", "factors"):
            continue
        here = f"{where}:{line}"
        if not comma or not factor:
            _fail(here, f"{plain[:40]!r} is not a line VARIABLE, RULE")
        if not _NAME.fullmatch(name):
            _fail(here, f"{name[:40]!r} is not the name of a variable; letters, digits, _ . : [ ] - after a letter")
        if name in factors:
            _fail(here, f"variable {name!r} has a second rule; the first is in line {factors[name][0]}")
        if len(factor) > MAX_LENGTH:
            _fail(here, f"the rule has {len(factor)} characters; at most {MAX_LENGTH} are read")
        factors[name] = line, factor
    if not factors:
        raise FileError(f"{where}: the file has no rules; a line is VARIABLE, RULE")
    return factors


def _translate(factor: str, here: str) -> tuple[str, list[str]]:
    """The rule in our own words, and the variables that it names."""
    words: list[str] = []
    used: list[str] = []
    at, end = 0, len(factor.rstrip())
    while at < end:
        match = _TOKEN.match(factor, at)
        if match is None:
            _fail(here, f"{factor[at:].strip()[:20]!r} is not understood in a rule; it has names, 0, 1, ! & | and ( )")
        name = match["name"]
        if name is not None and name.lower() not in {"true", "false"}:
            used.append(name)
            words.append(f"'{name}'")
        else:
            words.append(_WORDS.get(match[0].strip(), match[0].strip().lower()))
        at = match.end()
    return " ".join(words), used


def _infix(rule: Expression, names: tuple[str, ...]) -> str:
    stack: list[str] = []
    for step in rule.program:
        if isinstance(step, int):
            stack.append(names[step])
        elif step in {"0", "1"}:
            stack.append(step)
        elif step == "not":
            stack.append(f"!{stack.pop()}")
        else:
            right, left = stack.pop(), stack.pop()
            signs = {"and": f"({left} & {right})", "or": f"({left} | {right})"}
            stack.append(signs.get(step, f"(({left} & !{right}) | (!{left} & {right}))"))
    return stack.pop()


def _fail(here: str, problem: str) -> NoReturn:
    raise FileError(f"{here}: {problem}")
