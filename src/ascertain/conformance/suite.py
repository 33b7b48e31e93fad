"""A complete suite: words, run from reset, that satisfy the theorem of `tree.py` at a low cost.

With V = A.I^(<=k) and its *frontier* A.I^(k+1) without V, a suite must tell every node of V and of the frontier from
every node of V that has another state; frontier nodes need not be told from each other. There are about as many times
more frontier nodes than nodes of V as there are actions, so the frontier decides about the cost: after each of its
nodes a set of words that identifies its state is observed, the same set for every node of one state, the cheapest
that can be had. Those words must also be observed after the nodes of V that they tell it from; where they are not
yet, they are added. Identifying sets are chosen again, with what they would add after V in their price, until nothing
is gained.

The *floor* is what the frontier alone costs: every frontier node lies in a subtree of its own and needs an identifying
set there. No suite for the same access words costs less, where the sets were found exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from ascertain.conformance.identifiers import Splitter, find_splitters, identify, useful_splitters
from ascertain.conformance.plan import AbstractPlan
from ascertain.conformance.specification import Specification, Word
from ascertain.conformance.tree import Key, ObservationTree, extended, find_gap
from ascertain.errors import LimitError

MAX_FRONTIER = 2_000_000
"""Frontier nodes that a suite may have: as many runs, days on any plant."""
MAX_EXTRA = 1000
"""What the checker takes; with two actions a suite for twenty is too long already."""
PASSES = 6
"""How often identifying sets are chosen again; gains after the third were seen to be small."""


def check_size(num_states: int, num_actions: int, extra: int) -> None:
    """Refuse a suite that nobody could run, for a specification of this size."""
    if extra > MAX_EXTRA:
        raise LimitError(f"complete conformance with {extra} extra states; at most {MAX_EXTRA} are looked at")
    if num_states * num_actions ** (extra + 1) > MAX_FRONTIER:
        raise LimitError(
            f"complete conformance with {extra} extra states, over {num_actions} actions, needs more than "
            f"{MAX_FRONTIER:,} runs here; take fewer extra states, fewer actions, or a sample"
        )


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Suite(AbstractPlan):
    """Words that are complete for a fault domain, together with what was observed before; the cheapest first.

    Their floor is that of all suites with the same access words.
    """

    extra: int
    """k: the plant may have so many states more than the specification, or be any other machine of the fault domain."""

    @property
    def method(self) -> dict[str, Any]:
        return {"complete": self.extra}

    @property
    def statement(self) -> str:
        return (
            f"every machine of at most {self.spec.num_states + self.extra} states that shows these readings is "
            "equivalent to the model, and so is every larger one whose states are all reached by one of "
            f"{len(self.spec.access)} access words and at most {self.extra} further actions"
        )


def plan_suite(spec: Specification, extra: int = 0, *, observed: Iterable[Word] = ()) -> Suite:
    """A suite that proves conformance over the fault domain (access words, extra); `observed` words count."""
    observed = tuple(observed)
    check_size(spec.num_states, spec.num_actions, extra)
    planner = _Planner(spec, extra, observed)
    plans = (planner.plan() for _ in range(PASSES))
    words = min(plans, key=lambda words: sum(spec.weigh(word) + spec.reset_weight for word in words))
    return Suite(spec=spec, words=words, floor=planner.floor, extra=extra)


class _Planner:
    """Plans suites, each with what the last one learned about which words are observed after V."""

    def __init__(self, spec: Specification, extra: int, observed: Sequence[Word]) -> None:
        self.spec, self.extra, self.observed = spec, extra, observed
        inner = extended(spec.access, spec.num_actions, extra)
        self.inner = list(inner)
        self.frontier = [w for w in extended(spec.access, spec.num_actions, extra + 1) if w not in inner]
        self.count, self.depth = Counter[int](), Counter[int]()
        """For each state its frontier nodes, and what the words to them weigh together."""
        for word in self.frontier:
            s = spec.after(0, word)
            self.count[s] += 1
            self.depth[s] += spec.weigh(word)
        splitters = find_splitters(spec.successor, spec.output, spec.weight)
        self.splitters = splitters
        self.useful = [useful_splitters(splitters, s) for s in range(spec.num_states)]
        self.after_inner: list[set[Word]] = [set() for _ in range(spec.num_states)]
        """For each state the words that the last plan added after nodes of V with that state."""
        self.inner_of: list[list[Word]] = [[] for _ in range(spec.num_states)]
        for word in self.inner:
            self.inner_of[spec.after(0, word)].append(word)
        self.floor = self._find_floor()

    def _run_weight(self, state: int, x: Splitter) -> int:
        """What observing a word after every frontier node of a state weighs."""
        return self.depth[state] + self.count[state] * (x.weight + self.spec.reset_weight)

    def _find_floor(self) -> Fraction | None:
        spec, weight, all_exact = self.spec, 0, True
        if spec.num_states == 1:
            weight = self.depth[0] + self.count[0] * spec.reset_weight
        for s in range(spec.num_states if spec.num_states > 1 else 0):
            chosen, exact = identify(self.useful[s], s, spec.num_states, lambda x, s=s: self._run_weight(s, x))
            weight += sum(self._run_weight(s, x) for x in chosen)
            all_exact &= exact
        return Fraction(weight) * spec.reset_cost / spec.reset_weight if all_exact else None

    def plan(self) -> tuple[Word, ...]:
        spec, tree = self.spec, ObservationTree(self.spec)
        for word in self.observed:
            tree.insert(word)
        seen = set(tree.words()) if self.observed else set[Word]()
        sets = [self._choose(s) for s in range(spec.num_states)]
        for word in self.frontier:
            node = tree.insert(word)
            for x in sets[tree.state[node]]:
                tree.insert(x.word, node)
        self.after_inner = [set() for _ in range(spec.num_states)]
        self._part_from_frontier(tree, sets)
        self._part_from_each_other(tree)
        assert find_gap(tree, spec.access, self.extra) is None
        words = (word for word in tree.words() if word not in seen)
        return tuple(sorted(words, key=lambda w: (spec.weigh(w), len(w), w)))

    def _choose(self, s: int) -> list[Splitter]:
        """An identifying set of a state: cheap after the frontier, and for what it makes observed after V."""
        if self.spec.num_states == 1 or not self.count[s]:
            return []

        def price(x: Splitter) -> int:
            return self._run_weight(s, x) + self._inner_weight(s, x)

        return identify(self.useful[s], s, self.spec.num_states, price)[0]

    def _inner_weight(self, s: int, x: Splitter) -> int:
        """What it weighs to observe a word after all nodes of V that it tells from s, as far as it was not there."""
        spec, total = self.spec, 0
        if all(not words for words in self.after_inner):
            return 0  # in the first plan the frontier alone decides
        for t in range(spec.num_states):
            if x.separated[s] >> t & 1:
                prefix = _separating_prefix(spec, s, t, x.word)
                if len(prefix) > 1 and not any(w[: len(prefix)] == prefix for w in self.after_inner[t]):
                    total += sum(spec.weigh(v) + spec.weigh(prefix) + spec.reset_weight for v in self.inner_of[t])
        return total

    def _part_from_frontier(self, tree: ObservationTree, sets: Sequence[Sequence[Splitter]]) -> None:
        """Make every node of V apart from the frontier nodes of other states."""
        spec = self.spec
        keys: dict[Key, int] = {}
        for word in self.frontier:
            node = tree.insert(word)
            keys[tree.key[node]] = tree.state[node]
        # Words after deep nodes are also words after the nodes above them.
        for word in sorted(self.inner, key=lambda w: (-len(w), w)):
            node = tree.insert(word)
            t = tree.state[node]
            while unmet := {s for key, s in keys.items() if s != t and not tree.are_apart(tree.key[node], key)}:
                offers: dict[Word, int] = {}
                for s in sorted(unmet):
                    for x in sets[s]:
                        if x.separated[s] >> t & 1:
                            offers.setdefault(_separating_prefix(spec, s, t, x.word), 0)
                for prefix in offers:
                    offers[prefix] = sum(_separates(spec, s, t, prefix, sets[s]) for s in unmet)
                choice = min(offers, key=lambda p: (self._added_weight(tree, word, node, p) / offers[p], p))
                tree.insert(choice, node)
                self.after_inner[t].add(choice)

    def _part_from_each_other(self, tree: ObservationTree) -> None:
        """Make the nodes of V of different states apart."""
        nodes = [(word, tree.insert(word)) for word in self.inner]
        for n, (word, node) in enumerate(nodes):
            for other, beside in nodes[:n]:
                s, t = tree.state[node], tree.state[beside]
                if s != t and not tree.are_apart(tree.key[node], tree.key[beside]):
                    able = [x.word for x in self.splitters if x.separated[s] >> t & 1]
                    choice = min(
                        (_separating_prefix(self.spec, s, t, x) for x in able),
                        key=lambda p: (
                            self._added_weight(tree, word, node, p) + self._added_weight(tree, other, beside, p),
                            p,
                        ),
                    )
                    for place, state in ((node, s), (beside, t)):
                        tree.insert(choice, place)
                        self.after_inner[state].add(choice)

    def _added_weight(self, tree: ObservationTree, word: Word, node: int, tail: Word) -> int:
        """What a word after a node adds to the cost: nothing where it is there, its rest where it goes on from a
        leaf."""
        here: int = node
        for k, i in enumerate(tail):
            child = tree.children[here].get(i)
            if child is None:
                rest = self.spec.weigh(tail[k:])
                return rest if not tree.children[here] else self.spec.weigh(word + tail) + self.spec.reset_weight
            here = child
        return 0


def _separating_prefix(spec: Specification, s: int, t: int, word: Word) -> Word:
    """The shortest prefix of a word along which two states read differently."""
    for k, i in enumerate(word):
        if spec.output[s][i] != spec.output[t][i]:
            return word[: k + 1]
        s, t = spec.successor[s][i], spec.successor[t][i]
    raise AssertionError("the word tells the two states apart")


def _separates(spec: Specification, s: int, t: int, prefix: Word, identifiers: Sequence[Splitter]) -> bool:
    """Whether a word that is observed after t tells it from s, of which the words of `identifiers` are observed."""
    for x in identifiers:
        common = 0
        while common < min(len(prefix), len(x.word)) and prefix[common] == x.word[common]:
            common += 1
        if spec.readings(s, prefix[:common]) != spec.readings(t, prefix[:common]):
            return True
    return False
