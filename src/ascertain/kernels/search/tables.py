"""What a search reads: the machine on states, what actions cost, distances of pairs and values of small sets."""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels.quotients.pairs import ShortArray
from ascertain.types import IntArray, LongArray


class PairTable(NamedTuple):
    """Distances of the pairs that were met; all arrays are empty where those of all pairs are known."""

    slot: IntArray
    """Open addressing: the number of a pair, or -1."""
    key: LongArray
    """`key[p]` is i << 31 | j."""
    distance: LongArray
    """The distance of pair p where `choice[p] >= NONE`, and else a lower bound."""
    choice: ShortArray
    """The first action of a cheapest word, or NONE, OPEN or GIVEN_UP."""
    local: IntArray
    """The place of pair p among those of a query, if `explored` says so there."""
    explored: IntArray
    """Scratch: the pairs of the query at hand. Its length is the room of a long query."""
    direct: LongArray
    """Scratch, by place: the least cost of an action that tells the pair apart at once."""
    lead: IntArray
    """Scratch, by place and action: the place where it leads; -1 for nowhere, -2 - p for a pair p that is known."""
    below: LongArray
    above: LongArray
    used: LongArray


class Subsets(NamedTuple):
    """Values of small sets; `most` is 2 where there are none."""

    most: int
    first: LongArray
    """`first[m]` is where the sets of size m begin in `value`."""
    binomial: LongArray
    """`binomial[s, i]`, for i up to `most`."""
    value: IntArray


class SearchTables(NamedTuple):
    """What a search reads: the machine on states, costs, and how far each pair of states is from being told apart."""

    successor: IntArray
    reading: IntArray
    cost: LongArray
    least: int
    """The least cost of an action."""
    by_leaves: LongArray
    """`by_leaves[n]` is what n labels cost at least (`search/leaves.py`); empty where that says nothing."""
    distance: LongArray
    """Of all states i > j, at i (i - 1) / 2 + j; empty where pairs are measured when they are met."""
    choice: ShortArray
    """The first action of a cheapest word for each pair, numbered alike."""
    pairs: PairTable
    state_label: IntArray
    """The label of each state in a task about the current state; empty in one about the start."""
    bits: int
    """How many bits of a member are its label."""
    mean: bool
    """Whether costs are weighted means rather than maxima."""
    subsets: Subsets
    """D of all small sets of states, once these are worth their while."""
    chosen: IntArray
    """Scratch for the choice of a small set: places of members, and what they add to a rank."""
