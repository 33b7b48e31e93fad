"""The tree of what was observed from reset on, and when it proves that the plant conforms.

Let c be a specification over the actions I, A a finite set of words that holds the empty one, and k a number. The
*fault domain* (A, k) holds all complete deterministic machines over I each of whose reachable states is reached by a
word of A followed by at most k actions (Vaandrager and Melse, CONCUR 2025). Let T be a tree of observed words; two of
its nodes are *apart* when T has a word after both of them along which their readings differ.

*Theorem.* Suppose that T agrees with c, holds every word of A.I^(<=k+1), and that all u in A.I^(<=k+1) and v in
A.I^(<=k) that lead c into different states are apart. Then every machine of the domain that shows T is equivalent to c.

*Proof.* Let N be one. Map the state that N reaches by v in A.I^(<=k) to the state that c reaches by v. This is well
defined: if N reaches one state by v and by v', then v and v' are not apart, so c reaches one state by them. It is total
on the states of N, by the domain. It keeps readings, because T shows what is read at v i. It commutes with i: the state
of N after v i is also its state after some v' in A.I^(<=k), so v i and v' are not apart and c reaches the same state by
both. So it is a homomorphism that maps start to start, and the two machines are equivalent. QED

*Corollary.* With A a state cover of c, every machine of at most num_states(c) + k states that shows T is in the domain.

A tree here agrees with its specification by construction, so nodes carry states and no readings. Nodes with the same
state and the same words below them have one *key*: apartness is decided once for each pair of keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TypeAlias, final

from ascertain.conformance.specification import Specification, Word

Key: TypeAlias = int
"""Number of a state together with the words observed after it."""


@final
class ObservationTree:
    """Words that were, or would be, observed from reset on, all of them as the specification says."""

    def __init__(self, spec: Specification) -> None:
        self.spec = spec
        self.state = [0]
        """`state[node]`; node 0 is the root."""
        self.children: list[dict[int, int]] = [{}]
        self._parent = [0]
        self._numbers: dict[tuple[int, tuple[tuple[int, Key], ...]], Key] = {}
        self._parts: list[tuple[int, dict[int, Key]]] = []
        self._apart: dict[tuple[Key, Key], bool] = {}
        self.key = [self._find_key(0)]
        """`key[node]`: equal for nodes with the same state and the same words below."""

    def _find_key(self, node: int) -> Key:
        below = tuple(sorted((i, self.key[child]) for i, child in self.children[node].items()))
        name = (self.state[node], below)
        if name not in self._numbers:
            self._numbers[name] = len(self._parts)
            self._parts.append((name[0], dict(below)))
        return self._numbers[name]

    def insert(self, word: Word, start: int = 0) -> int:
        """Add a word, observed after a node, if it is not there; returns the node that it leads to."""
        node, fresh = start, False
        for i in word:
            child = self.children[node].get(i)
            if child is None:
                child, fresh = len(self.state), True
                self.children[node][i] = child
                self.state.append(self.spec.successor[self.state[node]][i])
                self.children.append({})
                self._parent.append(node)
                self.key.append(self._find_key(child))
            node = child
        if fresh:
            self._update(node)
        return node

    def _update(self, node: int) -> None:
        """Keys on the way to the root, after something changed below a node."""
        while node:
            node = self._parent[node]
            self.key[node] = self._find_key(node)

    def find(self, word: Word) -> int | None:
        """The node that a word leads to, if it was observed."""
        node: int | None = 0
        for i in word:
            node = self.children[node].get(i)
            if node is None:
                return None
        return node

    def are_apart(self, one: Key, other: Key) -> bool:
        """Whether some word was observed after both, with different readings."""
        if one == other:
            return False
        pair = (one, other) if one < other else (other, one)
        known = self._apart.get(pair)
        if known is None:
            known = self._apart[pair] = self._decide(one, other)
        return known

    def _decide(self, one: Key, other: Key) -> bool:
        stack, seen = [(one, other)], {(one, other)}
        while stack:
            (s, below), (t, beside) = (self._parts[key] for key in stack.pop())
            for i in below.keys() & beside.keys():
                if self.spec.output[s][i] != self.spec.output[t][i]:
                    return True
                pair = (below[i], beside[i])
                if pair[0] != pair[1] and pair not in seen:
                    seen.add(pair)
                    stack.append(pair)
        return False

    def state_of(self, key: Key) -> int:
        return self._parts[key][0]

    def words(self) -> Iterator[Word]:
        """The maximal words: those that no other observed word goes on from."""
        stack: list[tuple[int, Word]] = [(0, ())]
        while stack:
            node, word = stack.pop()
            if not self.children[node]:
                yield word
            stack.extend((child, (*word, i)) for i, child in self.children[node].items())


def extended(words: Iterable[Word], num_actions: int, extra: int) -> dict[Word, None]:
    """Each word followed by at most `extra` actions; each once, in the order of their making."""
    tails = [w for length in range(extra + 1) for w in product(range(num_actions), repeat=length)]
    return dict.fromkeys(word + tail for word in words for tail in tails)


def find_gap(tree: ObservationTree, access: Iterable[Word], extra: int) -> tuple[Word, Word] | None:
    """Two words that keep the tree from proving conformance over (access, extra): a missing word twice, or a pair
    that is not apart; None where the hypothesis of the theorem holds."""
    access = list(access)
    inner = extended(access, tree.spec.num_actions, extra)
    outer = extended(access, tree.spec.num_actions, extra + 1)
    by_key: tuple[dict[Key, Word], dict[Key, Word]] = ({}, {})
    for words, keys in zip((inner, outer), by_key, strict=True):
        for word in words:
            node = tree.find(word)
            if node is None:
                return word, word
            keys.setdefault(tree.key[node], word)
    for one, v in by_key[0].items():
        for other, u in by_key[1].items():
            if tree.state_of(one) != tree.state_of(other) and not tree.are_apart(one, other):
                return u, v
    return None
