"""Characterising sets and harmonised identifiers: words that tell every two states of a machine apart.

A *characterising set* W (Chow, 1978) has for every two states a word along which they read differently. *Harmonised
identifiers* (Petrenko, 1991; Luo, Petrenko and von Bochmann, 1994) give each state s a set H_s such that every two
states s and t have a word in both H_s and H_t along which they read differently: a tester that does not know
which of the two it is in front of can use it all the same.

They exist exactly up to equivalence, so states stand for classes here. What is made small is the total cost of the
words, and then their number. Small machines: the cheapest cover of the pairs by words that split alike
(`conformance/identifiers.py`), up to limits; a smallest W is hard to find. Larger ones: the words of the splitting
tree, as where time runs out. Either way the lower bound is what the farthest pair needs, for identifiers the farthest
of each state, summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from ascertain.conformance.identifiers import Splitter, cover, find_splitters, identify, useful_splitters
from ascertain.errors import LimitError, ModelError
from ascertain.interruption import OutOfTime
from ascertain.model import Model
from ascertain.sequences.cheapest_path import Word
from ascertain.sequences.separating_tree import SeparatingTree, grow_separating_tree, read_along
from ascertain.types import LongArray

Family: TypeAlias = tuple[tuple[Word, ...], ...]
"""For each state its words."""

MOST_COVERED = 40
"""States of machines whose pairs are covered by the cheapest words: some seconds, at most."""
MOST_LISTED = 1_000
"""States whose words are listed at all: those of a splitting tree can be as many and as long as there are states."""
BEHAVIOURS, OPTIONS = 3_000, 150
"""Words that are looked at for a cover, up to those that split and lead alike, and those of them it chooses from."""


def find_characterising_set(model: Model, cost: LongArray | None = None) -> tuple[tuple[Word, ...], int]:
    """Words that tell every two states of a minimal complete machine apart, and a lower bound on what any such cost."""
    cost = np.ones(model.num_actions, dtype=np.int64) if cost is None else cost
    tree = _checked_tree(model, cost)
    known = _list_words(tree)
    if model.num_states > MOST_COVERED or model.num_states == 1:
        return known, tree.dearest
    try:
        found = _cover_pairs(model, cost)
    except OutOfTime:
        return known, tree.dearest
    price = cost.tolist()
    return min(found, known, key=lambda words: _rank(words, price)), tree.dearest


def _cover_pairs(model: Model, cost: LongArray) -> tuple[Word, ...]:
    """The cheapest words, of some, that tell every two states apart."""
    splitters = _find_splitters(model, cost)
    pairs = list(combinations(range(model.num_states), 2))
    options = [sum(1 << k for k, (s, t) in enumerate(pairs) if x.separated[s] >> t & 1) for x in splitters]
    kept = _undominated(options)
    priced = [(options[k], splitters[k].weight * len(splitters) + 1) for k in kept]
    chosen = [splitters[kept[k]].word for k in cover(priced, (1 << len(pairs)) - 1)[0]]
    return tuple(sorted(chosen, key=lambda w: (len(w), w)))


def find_harmonised_identifiers(model: Model, cost: LongArray | None = None) -> tuple[Family, int]:
    """Harmonised identifiers of a minimal complete machine, and a lower bound on what any such cost in all."""
    cost = np.ones(model.num_actions, dtype=np.int64) if cost is None else cost
    tree = _checked_tree(model, cost)
    n, price = model.num_states, cost.tolist()
    # The state that is farthest from s parts from it at some node above s, and the dearest is the lowest of these.
    lower = sum(int(tree.weight[tree.parent[leaf]]) for leaf in tree.leaf) if n > 1 else 0
    known = tuple(tuple(tree.identifiers(s)) for s in range(n))
    if n > MOST_COVERED or n == 1:
        return known, lower
    known = _pruned(model, known)
    try:
        found = _identify_all(model, cost)
    except OutOfTime:
        return known, lower
    return min(found, known, key=lambda family: _rank([w for words in family for w in words], price)), lower


def _identify_all(model: Model, cost: LongArray) -> Family:
    """For each state the cheapest words, of some, that identify it, harmonised."""
    n, price = model.num_states, cost.tolist()
    splitters = _find_splitters(model, cost)
    chosen = [{x.word for x in _identify(splitters, s, n)} for s in range(n)]
    for s, t in combinations(range(n), 2):
        able = [w for w in chosen[s] | chosen[t] if read_along(model, s, w) != read_along(model, t, w)]
        if not any(w in chosen[s] and w in chosen[t] for w in able):
            word = min(able, key=lambda w: (_weigh(w, price), w))
            chosen[s].add(word)
            chosen[t].add(word)
    return _pruned(model, tuple(tuple(sorted(words, key=lambda w: (len(w), w))) for words in chosen))


def _checked_tree(model: Model, cost: LongArray) -> SeparatingTree:
    if model.num_states > MOST_LISTED:
        raise LimitError(
            f"the machine has {model.num_states} classes of states; their words are listed up to {MOST_LISTED}, and a "
            "splitting tree holds those of millions"
        )
    tree = grow_separating_tree(model, cost=cost)
    if tree.num_classes < model.num_states:
        shared = next(v for v in tree.leaf.tolist() if tree.past[v] - tree.first[v] > 1)
        one, other = (model.states[s] for s in tree.members(shared)[:2])
        raise ModelError(f"the states {one!r} and {other!r} are equivalent, and a minimal machine is needed")
    return tree


def _find_splitters(model: Model, cost: LongArray) -> list[Splitter]:
    """Some words that split the states."""
    tables = model.successor.tolist(), model.behaviour.tolist(), cost.tolist()
    return find_splitters(*tables, max_behaviours=BEHAVIOURS)


def _undominated(options: Sequence[int]) -> list[int]:
    """Places of options that no other one beats, the cheapest first, and of these such that all pairs are covered."""
    kept: list[int] = []
    covered = 0
    for k, mask in enumerate(options):  # the cheapest first
        if any(mask & ~options[j] == 0 for j in kept):
            continue
        if len(kept) < OPTIONS or mask & ~covered:
            kept.append(k)
            covered |= mask
    return kept


def _identify(splitters: Sequence[Splitter], state: int, num_states: int) -> list[Splitter]:
    most = len(splitters)
    useful = useful_splitters(splitters, state)
    return identify(useful, state, num_states, lambda x: x.weight * most + 1)[0]


def _list_words(tree: SeparatingTree) -> tuple[Word, ...]:
    """The words of a tree that are no beginnings of others."""
    words = {tree.word(v) for v in range(len(tree.child)) if tree.child[v] >= 0}
    begun = {word[:k] for word in words for k in range(len(word))}
    return tuple(sorted((word for word in words if word not in begun), key=lambda w: (len(w), w)))


def _pruned(model: Model, family: Family) -> Family:
    """The family without what it can do without; a word stays for all states or goes for some."""
    n = len(family)
    sets = [list(words) for words in family]
    reads = [{w: read_along(model, s, w) for w in {w for words in family for w in words}} for s in range(n)]
    for s in range(n):
        for word in sorted(sets[s], key=lambda w: (-len(w), w)):
            rest = [w for w in sets[s] if w != word]
            if all(
                any(w in sets[t] and reads[s][w] != reads[t][w] for w in rest)
                for t in range(n)
                if t != s and word in sets[t] and reads[s][word] != reads[t][word]
            ):
                sets[s] = rest
    return tuple(map(tuple, sets))


def _weigh(word: Word, price: Sequence[int]) -> int:
    return sum(price[a] for a in word)


def _rank(words: Sequence[Word], price: Sequence[int]) -> tuple[int, int]:
    return sum(_weigh(word, price) for word in words), len(words)
