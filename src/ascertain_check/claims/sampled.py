"""The claim that words drawn from a declared distribution agreed with the specification.

If a word of the distribution disagrees with probability p, then n words drawn independently all agree with probability
(1 - p)^n. So with confidence 1 - delta, p is at most any number with (1 - p)^n <= delta. The words are drawn again
here: the number drawn k-th below m for word j is the SHA-256 of "SEED:j:k" modulo m, hashes from the largest multiple
of m on being skipped; a word is one of the access words, one of the actions, and then further actions as long as a
number drawn below `stop` is not 0. That the seed was fixed before the plant was touched has to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import count

from ascertain_check import trust
from ascertain_check.claim import register
from ascertain_check.observed import KEYS, Word, read_observed, read_words
from ascertain_check.reading import Object, canonical_bytes, read_index, read_object, read_rational, read_text
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend

MAX_STOP = 1000
"""Words have `stop` - 1 further actions in the mean."""


@register("sampled", about=("machine",), trusted=(trust.DETERMINISTIC, trust.SEED))
def check_sampled(task: Task, claim: Object) -> str:
    data = read_object(claim, f"{KEYS} access seed stop words first confidence bound", "the claim 'sampled'")
    observed = read_observed(task, data)
    access = read_words(data["access"], observed.actions, "access")
    seed = read_text(data["seed"], "seed")
    canonical_bytes(seed, "seed")  # half a surrogate pair has no bytes
    stop = read_index(data["stop"], MAX_STOP + 1, "stop")
    num_words = read_index(data["words"], len(observed.runs) + 1, "words")
    first = read_index(data["first"], len(observed.runs) + 1, "first")
    confidence, bound = read_rational(data["confidence"], "confidence"), read_rational(data["bound"], "bound")
    if stop < 2 or num_words < 1 or confidence >= 1 or bound > 1:
        raise Malformed("stop must be at least 2, words at least 1, the confidence below 1 and the bound at most 1")
    if (1 - bound) ** num_words > 1 - confidence:
        raise Refuted("so many words do not prove this bound with this confidence")
    for j in range(num_words):
        if first + j >= len(observed.runs) or observed.runs[first + j] != draw(seed, j, access, observed.actions, stop):
            raise Refuted(f"word {j} of the sample is not the one that the seed draws, or was not run")
    return (
        f"sampled conformance to hypothesis {observed.hypothesis}: {num_words} words agreed, so that with confidence "
        f"{confidence} a word disagrees with probability at most {bound} (access word of one of {len(access)} states, "
        f"one of {len(observed.actions)} actions, then {stop - 1} further actions in the mean){observed.plant}"
    )


def draw(seed: str, word: int, access: list[Word], actions: list[int], stop: int) -> Word:
    """A word of the sample."""
    spend(20)
    hashes = list_hashes(seed, word)
    drawn = [*access[below(hashes, len(access))], actions[below(hashes, len(actions))]]
    while below(hashes, stop):
        drawn.append(actions[below(hashes, len(actions))])
    return tuple(drawn)


def list_hashes(seed: str, word: int) -> Iterator[int]:
    for k in count():
        spend(len(seed) >> 6)  # whoever hashes it reads the seed
        yield int.from_bytes(sha256(f"{seed}:{word}:{k}".encode()).digest(), "big")


def below(hashes: Iterator[int], bound: int) -> int:
    spend(20)
    limit = 2**256 // bound * bound
    return next(x for x in hashes if x < limit) % bound
