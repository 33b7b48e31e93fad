"""Valid samples spoilt, reproducibly: the target, a seed and a number determine an input.

Most changes leave a text nearly what it was, so that it is refused for what it says and not at its first word: a token
is swapped for another of the format, a number for an unusual one, a setting for one of another type, a value of JSON
for another. Binary files are changed in place, since a page that moves is never looked into. The rest is rough: bytes
that are no text, deep nesting, files that end early.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from ascertain.errors import AscertainError

LONGEST = 2**16
"""Bytes of an input: more are cut off, so that a campaign is about faults and not about size."""
RARE = 0.02
"""Of the inputs begin as a large sample, where a target has one."""

_TOKEN = re.compile(rb"[A-Za-z_]+|[0-9]+|\s+|.", re.DOTALL)
_NEVER = re.compile(r"(?!)")
_TEXTS = [
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", "\u2028".encode(), "\u0663".encode(),
    "\U0001f600".encode(),
    "\u202e".encode(), b"\r", b"\n", b"\r\n", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\\u0000", b"\\ud800", b"\\",
    b'"', b"'",
    b'"""', b"'''", b"%", b"%0", b"%s", b"{}", b"[]", b"[[", b"]]", b"{", b"}", b"(", b")", b"<", b">", b"<!--", b"-->",
    b",", b";", b":", b"=", b"#", b"//", b"/*", b"*/", b"*", b"-", b"->", b"--", b"!", b"&", b"|", b"~", b"?", b".",
    b"..",
    b"../", b"/dev/null", b"true", b"false", b"null", b"None", b"", b" ", b"\t",
]  # fmt: skip
_NUMBERS = [
    b"0", b"-0", b"1", b"-1", b"2", b"7", b"10", b"16", b"63", b"64", b"65", b"255", b"256", b"1000", b"65536",
    b"99999",
    b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"1e9", b"1e308",
    b"1e999",
    b"1e-999", b"1e999999999", b"0.5", b".5", b"5.", b"1/2", b"1/0", b"0/1", b"-1/2", b"3/2", b"nan", b"NaN", b"inf",
    b"-Infinity", b"0x10", b"1_000", b"007", b"9" * 50, b"9" * 5000, b"0." + b"3" * 300, "\u0661".encode(),
]  # fmt: skip
_SETTINGS = [
    b"0", b"1", b"-1", b"2", b"3", b"16", b"64", b"100", b"1000000", b"9999999999", b"9" * 5000, b"1.5", b"1e400",
    b"inf", b"nan", b"true",
    b"1979-05-27", b"07:32:00", b'""', b'"0"', b'"1/2"', b'"1/0"', b'"-1/3"', b'"1e9999999"', b'"1e999"',
    b'"\\u0000"', b"[]", b"{}", b"[[]]",
    b"[1, 2]", b"[2, 1]", b"[0, 0, 0]", b'["a", "a"]', b'[["a"]]', b"{a = 1}", b'{log = "before.jsonl"}',
    b'{pattern = "(a*)*b"}',
    b'{pattern = "("}', b'{bits = []}', b'{expression = "1"}', b'{nominal = ""}', b'{beliefs = {}}', b'"all"',
    b'"initial"', b'"common"',
    b'"m.dot"', b'"cell.bnet"', b'"press_plant.toml"', b'"tiger.pomdp"', b'"p.toml"', b'"."', b'"/dev/zero"',
    b'"valve.dot"', b'"missing.dot"',
]  # fmt: skip
_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 2**31, 2**63, 2**64, 10**30, 0.5, 1e308, float("nan"), float("inf"), "", "0",
    "1",
    "-1", "1/2", "1/0", "2/4", "1/" + "9" * 1999, "\ud800", "\0", "a\nb", "\u202e", "x" * 3000, "state", [], [[]],
    {}, {"": {}}, [0], [-1],
    [True], [0, 0], ["0", "1"], {"0": 0}, [None],
]  # fmt: skip
_FIELDS = [
    bytes(4), b"\0", b"\x01", b"\x7f", b"\x80", b"\xff", b"\0\0", b"\0\x01", b"\x7f\xff", b"\xff\xff", b"\xff" * 4,
    b"\xff" * 8, b"\x80\0\0\0", b"\x7f\xff\xff\xff", b"\0\0\0\x01", b"\x02\0", b"\x04\0", b"\0" * 16,
]  # fmt: skip
"""What is written over places of a binary file: zeros, ones, least and greatest numbers of some widths."""


@dataclass(frozen=True)
class Target:
    """A reader, samples that it accepts, and what it may refuse inputs with."""

    name: str
    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...] = (AscertainError,)
    words: tuple[bytes, ...] = ()
    """Words of the format that its samples may lack."""
    rare: tuple[bytes, ...] = ()
    """Samples that take long, which few inputs begin as."""
    early: re.Pattern[str] = _NEVER
    """Found in the names of the functions that a refusal came through, `a>b>c`, when it was no more than unreadable."""
    between: bytes = b""
    """What stands between the parts of a sample, each of which may be JSON."""
    binary: bool = False
    """Whether inputs are mostly changed in place."""

    @cached_property
    def all_samples(self) -> tuple[bytes, ...]:
        return *self.samples, *self.rare

    @cached_property
    def tokens(self) -> list[list[bytes]]:
        return [_TOKEN.findall(sample) for sample in self.all_samples]

    @cached_property
    def dictionary(self) -> list[bytes]:
        return sorted({token for tokens in self.tokens for token in tokens if not token.isspace()} | set(self.words))

    @cached_property
    def alike(self) -> dict[tuple[int, bool, bool], list[bytes]]:
        """The words of the format by their shape."""
        found = dict[tuple[int, bool, bool], list[bytes]]()
        for word in self.dictionary:
            found.setdefault(_shape(word), []).append(word)
        return found

    @cached_property
    def trees(self) -> list[list[bytes]]:
        """Of each sample the parts that it is made of, where all of them are JSON; otherwise nothing."""
        split = [sample.split(self.between) if self.between else [sample] for sample in self.all_samples]
        return [parts if all(_is_tree(part) for part in parts if part) else [] for parts in split]


def make_input(target: Target, seed: int, number: int) -> bytes:
    """The input of that number: a sample, spoilt one to four times."""
    rng = Random(f"{target.name} {seed} {number}")
    usual = len(target.samples)
    which = int(rng.random() * usual)
    if target.rare and rng.random() < RARE:
        which = usual + int(rng.random() * len(target.rare))
    if target.binary and rng.random() < 0.8:
        return _spoil_places(rng, target.all_samples[which])[:LONGEST]
    if target.trees[which] and rng.random() < 0.6:
        parts = list(target.trees[which])
        at = int(rng.random() * len(parts))
        parts[at] = _spoil_tree(rng, parts[at]) if parts[at] else b"[]"
        data = target.between.join(parts)
    else:
        tokens = list(target.tokens[which])
        for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
            _spoil_tokens(rng, target, tokens)
        data = b"".join(tokens)
    if rng.random() < 0.1:
        data = _spoil_bytes(rng, data)
    return data[:LONGEST]


def _shape(token: bytes) -> tuple[int, bool, bool]:
    return len(token), token.isalpha(), token.isdigit()


# A text, token by token.


def _spoil_tokens(rng: Random, target: Target, tokens: list[bytes]) -> None:
    """One change of a text, token by token, in place."""
    if not tokens:
        tokens.append(rng.choice(target.dictionary or [b"0"]))
    n = len(tokens)
    at = int(rng.random() * n)
    match int(rng.random() * 18):
        case 0:
            del tokens[at : at + rng.choice((1, 1, 2, 5, 20))]
        case 1:
            tokens[at:at] = tokens[at : at + rng.choice((1, 1, 2, 5, 20))] * rng.choice((1, 1, 2, 5))
        case 2:
            other = int(rng.random() * n)
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3 | 4:
            tokens[at] = rng.choice(target.dictionary)
        case 5:
            tokens.insert(at, rng.choice(target.dictionary))
        case 6:
            tokens[at : at + 1 - (rng.random() < 0.5)] = [rng.choice(_TEXTS)]
        case 7:
            other_tokens = rng.choice(target.tokens)
            begin = int(rng.random() * len(other_tokens))
            tokens[at : at + rng.choice((1, 1, 2, 5, 20))] = other_tokens[begin : begin + rng.choice((1, 3, 10, 40))]
        case 8:
            _repeat(rng, tokens, at)
        case 9 | 10:
            _swap_lines(rng, tokens, at)
        case 11 | 12 | 13:
            _spoil_setting(rng, tokens, at)
        case 14:
            _swap_words(rng, tokens, at)
        case 15:
            tokens[at] = rng.choice(target.alike.get(_shape(tokens[at]), [b"0"]))
        case _:
            _spoil_number(rng, tokens, at)


def _find_near(tokens: list[bytes], at: int, fits: Callable[[bytes], bool]) -> int:
    """The first token from a place on, or from the beginning, that fits; the place itself where none does."""
    for i in range(at, len(tokens)):
        if fits(tokens[i]):
            return i
    return next((i for i in range(at) if fits(tokens[i])), at)


def _spoil_number(rng: Random, tokens: list[bytes], at: int) -> None:
    """Another number: one or two more or less, as often as an unusual one."""
    at = _find_near(tokens, at, bytes.isdigit)
    small = rng.random() < 0.5 and tokens[at].isdigit() and len(tokens[at]) < 10
    tokens[at] = b"%d" % max(0, int(tokens[at]) + rng.choice((-2, -1, 1, 2))) if small else rng.choice(_NUMBERS)


def _swap_words(rng: Random, tokens: list[bytes], at: int) -> None:
    """One word of the text in place of another, so that names are said twice or lead elsewhere."""
    at = _find_near(tokens, at, bytes.isalpha)
    tokens[at] = tokens[_find_near(tokens, int(rng.random() * len(tokens)), bytes.isalpha)]


def _spoil_setting(rng: Random, tokens: list[bytes], at: int) -> None:
    """Another value behind one of the equals signs, up to the end of its line or of its place in a table."""
    at = _find_near(tokens, at, b"=".__eq__)
    if tokens[at] == b"=":
        ends = (i for i in range(at, len(tokens)) if b"\n" in tokens[i] or tokens[i] in {b",", b"}"})
        tokens[at + 1 : next(ends, len(tokens))] = [b" ", rng.choice(_SETTINGS)]
    else:
        _spoil_number(rng, tokens, at)


def _swap_lines(rng: Random, tokens: list[bytes], at: int) -> None:
    """Two lines change places, one is left out, or one is said twice."""
    first, second = sorted((_line_at(tokens, at), _line_at(tokens, int(rng.random() * len(tokens)))))
    upper, lower = tokens[slice(*first)], tokens[slice(*second)]
    choice = int(rng.random() * 3)
    if first == second or choice == 0:
        del tokens[slice(*first)]
    elif choice == 1:
        tokens[second[0] : second[0]] = upper
    else:
        tokens[slice(*second)] = upper
        tokens[slice(*first)] = lower


def _line_at(tokens: list[bytes], at: int) -> tuple[int, int]:
    """Where the line of a token begins and ends."""
    begin = at
    while begin and b"\n" not in tokens[begin - 1]:
        begin -= 1
    while at < len(tokens) and b"\n" not in tokens[at]:
        at += 1
    return begin, at + 1


def _repeat(rng: Random, tokens: list[bytes], at: int) -> None:
    """Deep nesting and long lines; seldom very deep, since that is slow to write down."""
    rough = rng.random()
    times = rng.choice((4, 10, 60, 100, 300) if rough < 0.9 else (1100, 5000) if rough < 0.99 else (20000, 100000))
    what = rng.choice((b"[", b"{", b"(", b"{a=", b'{"a":', b"not ", b"!", b"a", b" ", b"\n", b"-", b"<b>", tokens[at]))
    tokens.insert(at, what[:40] * times)


# Bytes, whatever they mean.


def _spoil_bytes(rng: Random, data: bytes) -> bytes:
    """One change of bytes: flipped, overwritten, cut out, or cut off."""
    if not data:
        return bytes([rng.randrange(256)])
    at = int(rng.random() * len(data))
    match int(rng.random() * 5):
        case 0:
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case 1:
            return data[:at] + rng.randbytes(rng.choice((1, 2, 8))) + data[at + rng.choice((1, 4)) :]
        case 2:
            return data[:at]
        case 3:
            return data[at:]
        case _:
            return data[:at] + data[at + rng.choice((1, 2, 16, 200)) :]


def _spoil_places(rng: Random, sample: bytes) -> bytes:
    """One to four changes of a binary file that leave everything else where it is, at most cutting off its end."""
    data = bytearray(sample)
    size = len(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = int(rng.random() * size)
        match int(rng.random() * 6):
            case 0:
                data[at] ^= 1 << int(rng.random() * 8)
            case 1:
                data[at] = int(rng.random() * 256)
            case 2:
                field = rng.choice(_FIELDS)
                data[at : at + len(field)] = field
            case 3:
                data[at] = (data[at] + rng.choice((-2, -1, 1, 2))) % 256
            case 4:
                length, other = rng.choice((1, 2, 4, 16, 100)), int(rng.random() * size)
                data[at : at + length] = data[other : other + length]
            case _ if rng.random() < 0.2:
                del data[at - at % 512 :]
                size = max(1, len(data))
                data = data or bytearray(1)
            case _:
                data[at : at + 2] = rng.randbytes(2)
        size = len(data)
    return bytes(data)


# JSON as a tree, which stays JSON.


def _spoil_tree(rng: Random, sample: bytes) -> bytes:
    """A JSON text with one to three of its values changed."""
    root: Any = [json.loads(sample)]
    places = list(_places(root))
    for again in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(root)) if again else places
        holder, key = places[int(rng.random() * len(places))]
        other, there = places[int(rng.random() * len(places))]
        match int(rng.random() * 8):
            case 0 | 1:
                holder[key] = _copy(rng.choice(_VALUES))
            case 2 if holder is not root:
                del holder[key]
            case 3 | 7:
                holder[key] = _copy(other[there])
            case 4 if isinstance(holder, list):
                holder.insert(key, _copy(holder[key]))
            case 5 if isinstance(holder, dict):
                holder[rng.choice(("", "extra", str(there), "\ud800"))] = holder.pop(key)
            case 6 if type(holder[key]) is int:
                holder[key] += rng.choice((-1, 1, 2, 1000))
            case _:
                holder[key] = [_copy(holder[key])]
    return json.dumps(root[0], ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    stack = [value]
    while stack:
        holder = stack.pop()
        for key in range(len(holder)) if isinstance(holder, list) else holder:
            yield holder, key
            if isinstance(holder[key], dict | list):
                stack.append(holder[key])


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


def _is_tree(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False
