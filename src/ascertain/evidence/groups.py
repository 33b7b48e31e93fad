"""Groups: hypotheses that are not beaten and agree about which of the doubted actions ran, as arrays side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from ascertain.kernels.evidence.worlds import Listed
from ascertain.types import BoolArray, LongArray, WordArray


@final
@dataclass(frozen=True, eq=False)
class Group:
    """`hypothesis[j]` is now in `current[j]`, with penalty `penalty[j]`, if the doubted actions ran as `ran` says."""

    ran: tuple[bool, ...]
    hypothesis: WordArray
    current: WordArray
    penalty: LongArray

    @property
    def size(self) -> int:
        return self.hypothesis.size

    def only(self, kept: BoolArray | LongArray | slice) -> Group:
        """The hypotheses that a mask, a list of positions or a slice picks out."""
        return Group(self.ran, self.hypothesis[kept], self.current[kept], self.penalty[kept])

    def filtered(self, kernel: Callable[[Listed], int]) -> Group:
        """What a kernel leaves, which is given a copy, moves what is left to the front and returns how many."""
        listed = Listed(self.hypothesis.copy(), self.current.copy(), self.penalty.copy())
        size = kernel(listed)
        return Group(self.ran, listed.hypothesis[:size], listed.current[:size], listed.penalty[:size])


Rank: TypeAlias = Callable[[Group], LongArray]
"""An order of hypotheses: a number for each of a group, the least being first."""


def start_group(states: WordArray) -> Group:
    """Hypotheses before any reading; hypothesis h is in `states[h]`."""
    size = states.size
    return Group((), np.arange(size, dtype=np.uint64), states.astype(np.uint64), np.zeros(size, dtype=np.int64))


def double_group(group: Group, moved: WordArray) -> list[Group]:
    """Both cases of an action that may have led the hypotheses to `moved` or not have run."""
    return [
        Group((*group.ran, True), group.hypothesis, moved, group.penalty),
        Group((*group.ran, False), group.hypothesis, group.current, group.penalty),
    ]


def find_two_labels(codes: Iterable[WordArray]) -> set[int]:
    """The distinct codes, or the first two found when there are more."""
    found: set[int] = set()
    for block in codes:
        if block.size:
            found.add(int(block[0]))
            other = np.flatnonzero(block != block[0])
            found.update(int(code) for code in block[other[:1]])
        if len(found) > 1:
            return set(list(found)[:2])
    return found


def by_penalty(group: Group) -> LongArray:
    """The order of strength: the hypothesis of least penalty is the strongest."""
    return group.penalty


def keep_strongest(groups: list[Group], limit: int, rank: Rank = by_penalty) -> list[Group]:
    """The `limit` hypotheses of least rank among all groups; of equals those of least number, in the first group."""
    groups = [group for group in groups if group.size]
    if sum(group.size for group in groups) <= limit:
        return merge_groups(groups)
    ranks = np.concatenate([rank(group) for group in groups])
    last = np.partition(ranks, limit - 1)[limit - 1]
    kept = ranks < last
    equal = np.flatnonzero(ranks == last)
    if len(groups) > 1:
        hypothesis = np.concatenate([group.hypothesis for group in groups])
        equal = equal[np.argsort(hypothesis[equal], kind="stable")]
    kept[equal[: limit - np.count_nonzero(kept)]] = True
    ends = np.cumsum([group.size for group in groups])
    parts = np.split(kept, ends[:-1])
    return merge_groups([group.only(part) for group, part in zip(groups, parts, strict=True) if part.any()])


def merge_groups(groups: list[Group]) -> list[Group]:
    """One group for each way that the doubts may have gone."""
    by_case: dict[tuple[bool, ...], list[Group]] = {}
    for group in groups:
        by_case.setdefault(group.ran, []).append(group)
    return [
        Group(
            ran,
            np.concatenate([part.hypothesis for part in parts]),
            np.concatenate([part.current for part in parts]),
            np.concatenate([part.penalty for part in parts]),
        )
        for ran, parts in by_case.items()
    ]
