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

from ascertain.errors import AscertainError, FileError
from ascertain.model.boolean import MAX_BITS
from ascertain.model.expression import MAX_LENGTH, Expression, Spelling, Token, fold, parse_tokens, split_text
from ascertain.model.files import Format, Option, Options, Read
from ascertain.model.files.text import fail, read_text
from ascertain.model.network import BooleanNetwork

_NAME = re.compile(r"[A-Za-z_][\w.:\[\]-]*")
"""The name of a variable."""
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_][\w.:\[\]-]*)|(?P<constant>[01])(?!\w)|(?P<sign>[!&|()]))")
"""A part of a rule, with the blanks before it."""
_WORDS = {"!": "not", "&": "and", "|": "or"}
"""The signs of rules in the words of `model.expression`."""
_SPELLING = Spelling("'&', '|'", "a variable", {word: sign for sign, word in _WORDS.items()})
"""What messages call the parts of a rule: as the file spells them."""


def read_network(path: str | Path) -> BooleanNetwork:
    """The network in a .bnet file, of which `read_model` gives the machine."""
    return parse_bnet(read_text(path), str(path))


def parse_bnet(text: str, where: str) -> BooleanNetwork:
    """The network in the text of a .bnet file; `where` begins every error message."""
    factors = _read_factors(text, where)
    names = list(factors)
    tokens: dict[str, list[Token]] = {}
    for name, (line, factor) in factors.items():
        tokens[name] = _split(factor, f"{where}:{line}")
        names += dict.fromkeys(word for word, is_name in tokens[name] if is_name and word not in names)
        if len(names) > MAX_BITS:
            raise FileError(f"{where}:{line}: more than {MAX_BITS} variables; larger networks are not read")
    rules = tuple(
        parse_tokens(tokens[name], names, f"{where}:{factors[name][0]}", _SPELLING) if name in tokens else None
        for name in names
    )
    inputs = tuple(v for v, rule in enumerate(rules) if rule is None or rule.program == (v,))
    state = tuple(v for v in range(len(names)) if v not in inputs)
    try:
        return BooleanNetwork(tuple(names), rules, inputs, observed=state)
    except AscertainError as reason:
        raise type(reason)(f"{where}: {reason}") from None


def write_bnet(network: BooleanNetwork) -> str:
    """The text of a .bnet file that reads back as the same rules."""
    lines = [
        f"{name}, {name if rule is None else _infix(rule, network.variables)}"
        for name, rule in zip(network.variables, network.rules, strict=True)
    ]
    return "\n".join(["targets, factors", *lines, ""])


def _read(text: str, where: str, options: Options) -> Read:
    declared = options["network"]
    network = parse_bnet(text, where)
    meant = declared.get("inputs") or ()
    bare = [name for name, rule in zip(network.variables, network.rules, strict=True) if rule is None]
    # A name that is misspelt in a rule would otherwise become an action of the experimenter unnoticed.
    notes = tuple(f"no line gives {name} a rule: it is taken as an input" for name in bare if name not in meant)
    return Read(network.declare(declared.get("inputs"), declared.get("observed")), notes=notes)


_NETWORK = Option(
    "network",
    '[network] is for one Boolean network, model = "FILE.bnet"',
    keys={"inputs": (), "observed": (), "as": ("machine", "plant")},
)
"""What a problem says about a network that its file does not: which variables are set, which seen, and as what."""
BNET = Format("Boolean network", (".bnet",), _read, write_bnet, (BooleanNetwork,), (_NETWORK,))
"""Networks, which are written as networks too, and never as the machine that they describe."""


def _read_factors(text: str, where: str) -> dict[str, tuple[int, str]]:
    factors: dict[str, tuple[int, str]] = {}
    for line, content in enumerate(text.splitlines(), start=1):
        plain = content.split("#", 1)[0].strip()
        name, comma, factor = (part.strip() for part in plain.partition(","))
        if not plain or (name.lower(), factor.lower()) == ("targets", "factors"):
            continue
        here = f"{where}:{line}"
        if not comma or not factor:
            fail(here, f"{plain[:40]!r} is not a line VARIABLE, RULE")
        if not _NAME.fullmatch(name):
            fail(here, f"{name[:40]!r} is not the name of a variable; letters, digits, _ . : [ ] - after a letter")
        if name in factors:
            fail(here, f"variable {name!r} has a second rule; the first is in line {factors[name][0]}")
        if len(factor) > MAX_LENGTH:
            fail(here, f"the rule has {len(factor)} characters; at most {MAX_LENGTH} are read")
        factors[name] = line, factor
    if not factors:
        raise FileError(f"{where}: the file has no rules; a line is VARIABLE, RULE")
    return factors


def _split(factor: str, here: str) -> list[Token]:
    """The tokens of a rule, operators in the words of `model.expression`; names are marked as such."""
    tokens: list[Token] = []
    sentence = "is not understood in a rule; it has names, 0, 1, ! & | and ( )"
    for match in split_text(factor, _TOKEN, lambda found, _: FileError(f"{here}: {found!r} {sentence}")):
        text, name = match[0].strip(), match["name"]
        is_name = name is not None and name.lower() not in {"true", "false"}
        tokens.append((text, True) if is_name else (_WORDS.get(text, text.lower()), False))
    return tokens


def _infix(rule: Expression, names: tuple[str, ...]) -> str:
    """The rule in signs; a chain of one sign needs no parentheses."""
    text, _ = fold(rule.program, lambda v: (names[v], ""), lambda x: (str(x), ""), _negate, _join)
    return text


def _negate(part: tuple[str, str]) -> tuple[str, str]:
    return _check((f"!{_enclose(part)}", ""))


def _join(op: str, left: tuple[str, str], right: tuple[str, str]) -> tuple[str, str]:
    a, b, sign = _enclose(left), _enclose(right), "&" if op == "and" else "|"
    text = f"({a} & !{b}) | (!{a} & {b})" if op == "xor" else f"{_enclose(left, sign)} {sign} {b}"
    return _check((text, sign))


def _check(part: tuple[str, str]) -> tuple[str, str]:
    if len(part[0]) > MAX_LENGTH:
        raise FileError(f"a rule would have more than {MAX_LENGTH} characters in .bnet, which has no 'xor'")
    return part


def _enclose(part: tuple[str, str], plain: str = "") -> str:
    """A part of a rule, in parentheses unless it is a name or a chain of the sign `plain`."""
    text, sign = part
    return text if sign in {"", plain} else f"({text})"
