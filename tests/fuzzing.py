"""A fuzzer of our own: valid samples are spoilt, reproducibly, and what a reader does with each is judged.

An input is determined by its target, a seed and a number, so that a failure can be made again from those three. A
reader may accept an input or refuse it with an error of its own kind; any other exception is a *finding*, and so is an
input that takes more than SECONDS of processor time, needs more than MEMORY, or is refused in a sentence that cannot
be printed.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy as _copy
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, NoReturn

from ascertain.errors import AscertainError

SECONDS = 1.0
"""Of processor time, for one input; other work on the machine does not count."""
HANG = 60.0
"""Seconds after which an input that computes nothing is given up."""
MEMORY = 2**30
"""Bytes that may be mapped beyond what was when the campaign began."""
LONGEST = 2**16
"""Bytes of an input: more are cut off, so that a campaign is about faults and not about size."""

_TOKEN = re.compile(rb"[A-Za-z_]+|[0-9]+|\s+|.", re.DOTALL)
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


class TooSlow(BaseException):
    """Raised by the watchdog; not an Exception, so that no reader can take it for one of its own."""


class Finding(AssertionError):
    """An input that a reader did not take as it should."""


@dataclass(frozen=True)
class Target:
    """A reader, samples that it accepts, and what it may refuse inputs with."""

    name: str
    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...] = (AscertainError,)
    words: tuple[bytes, ...] = ()
    """Words of the format that its samples may lack."""

    @cached_property
    def tokens(self) -> list[list[bytes]]:
        return [_TOKEN.findall(sample) for sample in self.samples]

    @cached_property
    def dictionary(self) -> list[bytes]:
        return sorted({token for tokens in self.tokens for token in tokens if not token.isspace()} | set(self.words))

    @cached_property
    def is_json(self) -> list[bool]:
        return [_load(sample) is not None for sample in self.samples]


@dataclass
class Tally:
    """What came of a campaign."""

    target: str
    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: dict[str, tuple[int, bytes, str]] = field(default_factory=dict[str, tuple[int, bytes, str]])
    """By where it happened: the number of the first input, the input, and what came out."""

    def __str__(self) -> str:
        rate = self.inputs / max(self.seconds, 1e-9)
        return (
            f"{self.target}: {self.inputs} inputs, {self.accepted} accepted, {self.refused} refused, {rate:.0f} a "
            f"second, slowest {self.slowest:.3f} s, {len(self.findings)} findings"
        )


# Making inputs.


def make_input(target: Target, seed: int, number: int) -> bytes:
    """The input of that number: a sample, spoilt one to four times."""
    rng = Random(f"{target.name} {seed} {number}")
    which = rng.randrange(len(target.samples))
    if target.is_json[which] and rng.random() < 0.5:
        data = _spoil_tree(rng, target.samples[which])
    else:
        tokens = list(target.tokens[which])
        for _ in range(rng.choice((1, 1, 2, 3, 4))):
            _spoil_tokens(rng, target, tokens)
        data = b"".join(tokens)
    if rng.random() < 0.15:
        data = _spoil_bytes(rng, data)
    return data[:LONGEST]


def _spoil_tokens(rng: Random, target: Target, tokens: list[bytes]) -> None:
    """One change of a text, token by token, in place."""
    if not tokens:
        tokens.append(rng.choice(target.dictionary or [b"0"]))
    n, at = len(tokens), rng.randrange(len(tokens))
    span = slice(at, at + rng.choice((1, 1, 2, 5, 20)))
    match rng.randrange(13):
        case 0:
            del tokens[span]
        case 1:
            tokens[at:at] = tokens[span] * rng.choice((1, 1, 2, 5))
        case 2:
            other = rng.randrange(n)
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3 | 4:
            tokens[at] = rng.choice(target.dictionary)
        case 5:
            tokens.insert(at, rng.choice(target.dictionary))
        case 6:
            tokens.insert(at, rng.choice(_TEXTS))
        case 7:
            tokens[at] = rng.choice(_TEXTS)
        case 8:
            _spoil_number(rng, tokens, at)
        case 9:
            other_tokens = rng.choice(target.tokens)
            begin = rng.randrange(len(other_tokens))
            tokens[span] = other_tokens[begin : begin + rng.choice((1, 3, 10, 40))]
        case 10:
            _swap_lines(rng, tokens)
        case 11:
            _spoil_setting(rng, tokens)
        case _:
            _repeat(rng, tokens, at)


def _spoil_number(rng: Random, tokens: list[bytes], at: int) -> None:
    places = [i for i, token in enumerate(tokens) if token.isdigit()]
    tokens[rng.choice(places) if places else at] = rng.choice(_NUMBERS)


def _spoil_setting(rng: Random, tokens: list[bytes]) -> None:
    """Another value behind one of the equals signs, up to the end of its line or of its place in a table."""
    places = [i for i, token in enumerate(tokens) if token == b"="]
    if places:
        at = rng.choice(places)
        ends = (i for i in range(at, len(tokens)) if b"\n" in tokens[i] or tokens[i] in {b",", b"}"})
        tokens[at + 1 : next(ends, len(tokens))] = [b" ", rng.choice(_SETTINGS)]


def _swap_lines(rng: Random, tokens: list[bytes]) -> None:
    lines = b"".join(tokens).splitlines(keepends=True)
    if lines:
        first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
        if rng.random() < 0.3:
            del lines[first]
    tokens[:] = _TOKEN.findall(b"".join(lines))


def _repeat(rng: Random, tokens: list[bytes], at: int) -> None:
    """Deep nesting and long lines; seldom very deep, since that is slow to write down."""
    times = rng.choice((10, 60, 100, 300, 1100)) if rng.random() < 0.97 else rng.choice((5000, 20000, 100000))
    what = rng.choice((b"[", b"{", b"(", b"{a=", b'{"a":', b"not ", b"!", b"a", b" ", b"\n", b"-", b"<b>", tokens[at]))
    tokens.insert(at, what[:40] * times)


def _spoil_bytes(rng: Random, data: bytes) -> bytes:
    """One change of bytes: flipped, overwritten, cut out, or cut off."""
    if not data:
        return bytes([rng.randrange(256)])
    at = rng.randrange(len(data))
    match rng.randrange(5):
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


def _spoil_tree(rng: Random, sample: bytes) -> bytes:
    """A JSON text with one to three of its values changed."""
    root = [_load(sample)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(root))
        holder, key = rng.choice(places)
        other, there = rng.choice(places)
        match rng.randrange(7):
            case 0 | 1:
                holder[key] = _copy(rng.choice(_VALUES))
            case 2 if holder is not root:
                del holder[key]
            case 3:
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
    for key in range(len(value)) if isinstance(value, list) else list(value):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _load(text: bytes) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


# Judging what comes of them.


def fuzz(target: Target, count: int, seed: int = 0, *, seconds: float = float("inf"), first: int = 0) -> Tally:
    """Put so many inputs to a reader, or as many as can be in that time; findings are collected, not raised."""
    tally, begin = Tally(target.name), time.monotonic()
    with watched():
        for number in range(first, first + count):
            data = make_input(target, seed, number)
            try:
                took, accepted = judge(target, data)
            except Finding as finding:
                where, _, what = str(finding).partition("\n")
                tally.findings.setdefault(where, (number, data, what))
                took, accepted = 0.0, None
            tally.inputs += 1
            tally.accepted += accepted is True
            tally.refused += accepted is False
            tally.slowest = max(tally.slowest, took)
            tally.seconds = time.monotonic() - begin
            if tally.seconds > seconds:
                break
    return tally


def judge(target: Target, data: bytes) -> tuple[float, bool]:
    """How long one input took, and whether it was accepted; a Finding when it was taken in any other way."""
    begin = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, HANG)
    try:
        target.read(data)
    except target.refusals as refusal:
        _check_sentence(refusal)
        return time.process_time() - begin, False
    except (Exception, TooSlow) as fault:
        signal.setitimer(signal.ITIMER_PROF, 0)
        raise Finding(_describe(fault)) from fault
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.process_time() - begin, True


def _check_sentence(refusal: Exception) -> None:
    sentence = str(refusal)
    try:
        sentence.encode()
    except UnicodeEncodeError:
        raise Finding(f"a sentence that cannot be printed, {_place(refusal)}\n{sentence!a}") from refusal
    if not sentence or len(sentence) > 5000:
        raise Finding(f"a sentence of {len(sentence)} characters, {_place(refusal)}\n{sentence[:200]!a}") from refusal


def _describe(fault: BaseException) -> str:
    trace = "".join(traceback.format_exception(fault, limit=-4))
    return f"{type(fault).__name__} {_place(fault)}\n{trace}"


def _place(fault: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if "ascertain" in frame.filename]
    ours = [frame for frame in frames if "/src/" in frame.filename] or frames
    return f"at {ours[-1].filename.rpartition('/')[2]}:{ours[-1].name}" if ours else "nowhere"


@contextmanager
def watched() -> Iterator[None]:
    """The watchdog's signals and the limit of memory, for as long as the campaign lasts."""

    def bark(number: int, frame: object) -> NoReturn:
        raise TooSlow(f"more than {SECONDS if number == signal.SIGPROF else HANG} seconds")

    handlers = {number: signal.signal(number, bark) for number in (signal.SIGPROF, signal.SIGALRM)}
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _mapped_bytes() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (wanted if soft < 0 else min(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _mapped_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # Linux alone says how much is mapped
        return int(file.read().split()[0]) * resource.getpagesize()
