"""A first policy: at every configuration the word that splits it best, judged one split ahead.

Words are single actions and the cheapest words of pairs; where none of them can be used, the splitting tree goes on.
The policy is entered into the graph of configurations as upper bounds and plans. It need not exist where the task is
solvable, nor be cheap; it lets a search that is cut short return something. `improve_plan` tries, at each step of the
policy at hand, several more words, each completed greedily, and keeps what is cheaper, until nothing is.
"""

from __future__ import annotations

import time

import numpy as np

from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.greedy import MOST_PAIRS, follow_pair, rank_words
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.search.configuration import Member, is_pure
from ascertain.search.graph import SearchGraph
from ascertain.search.splitting import SplittingTree
from ascertain.types import Action

MOST_RANKED = 60_000
"""Members times actions of a configuration whose words are ranked anew: a tenth of a second at most, so that limits are
kept."""


def plan_greedily(graph: SearchGraph, tree: SplittingTree | None, deadline: float | None = None) -> bool:
    """Enter a greedy policy into the graph, if the steps do not lead to a dead end; whether they did not."""
    return _Planner(graph, tree, deadline).attempt(graph.start)


def enter_policy(graph: SearchGraph, policy: Automaton, most: int, deadline: float | None = None) -> bool:
    """Enter a policy that settles the start into the graph, if its configurations hold at most so many members."""
    return _Planner(graph, None, deadline).enter(policy, most)


def improve_plan(graph: SearchGraph, tree: SplittingTree | None, width: int, deadline: float | None = None) -> None:
    """Lower the upper bound of the start, if trying `width` words at each step of its policy finds a cheaper one."""
    planner = _Planner(graph, tree, deadline)
    before = INFINITE
    while graph.upper(0) < before:
        before = graph.upper(0)
        # The last steps first: what they save, earlier ones can count on.
        for here in reversed(planner.list_steps()):
            is_large = len(here) * graph.arena.num_actions > MOST_RANKED
            # What a large one does stays, and is worth what the later steps have come to.
            for word in [planner.planned(here)] if is_large else planner.rank(here, width):
                if planner.is_over:
                    return
                planner.attempt(here, word)


class _Planner:
    def __init__(self, graph: SearchGraph, tree: SplittingTree | None, deadline: float | None = None) -> None:
        self.graph = graph
        self.arena = graph.arena
        self.tree = tree
        self.deadline = deadline
        self.steps: dict[int, tuple[Action, list[int]]] = {}
        """For each planned node its action and the branches that are not pure."""

    @property
    def is_over(self) -> bool:
        """Whether the time is."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def plan(self, start: dict[Member, int], word: list[Action] | None = None) -> bool:
        """Plan every configuration that the plans lead to, beginning with this word; False at a dead end."""
        open_yet: list[tuple[dict[Member, int], list[Action]]] = [(start, word or [])]
        while open_yet:
            if self.is_over:
                return False
            here, going = open_yet.pop()
            node = self.graph.intern(here)
            # What is planned already, or has a policy from an earlier plan, need not be planned again.
            if not going and (node in self.steps or self.graph.upper(node) < INFINITE):
                continue
            going = going or self.choose(here)
            if not going:
                return False
            branches = self.branch(here, going[0])
            self.steps[node] = (going[0], [self.graph.intern(after) for after in branches])
            # A word goes on only through what it has not split.
            open_yet.extend((after, going[1:] if len(branches) == 1 else []) for after in branches)
        return True

    def attempt(self, here: dict[Member, int], word: list[Action] | None = None) -> bool:
        """Complete a policy that begins with this word, and enter what it improves; False at a dead end."""
        self.steps = {}
        if not self.plan(here, word):
            return False
        self.value()
        return True

    def enter(self, policy: Automaton, most: int) -> bool:
        """Enter a policy step by step; False, and nothing entered, where it leads through more members than `most`."""
        self.steps, size = {}, 0
        open_yet = [(self.graph.start, policy.start())]
        while open_yet:
            here, at = open_yet.pop()
            node = self.graph.intern(here)
            size += len(here)
            if size > most or self.is_over:
                return False
            if node in self.steps or policy.action[at] == NOWHERE:
                continue
            after = [(y, left) for y, left in sorted(self.graph.branch(here, policy.action[at]).items())]
            kept = [(left, policy.children[at][y]) for y, left in after if not is_pure(left)]
            self.steps[node] = (policy.action[at], [self.graph.intern(left) for left, _ in kept])
            open_yet.extend(kept)
        self.value()
        return True

    def list_steps(self) -> list[dict[Member, int]]:
        """The configurations of more than two members that the present policy leads to, parents first."""
        found: dict[int, dict[Member, int]] = {}
        open_yet = [self.graph.start]
        while open_yet:
            here = open_yet.pop()
            node = self.graph.intern(here)
            if len(here) > 2 and node not in found:
                found[node] = here
                open_yet.extend(self.branch(here, int(self.graph.data.plan[node])))
        return list(found.values())

    def choose(self, here: dict[Member, int]) -> list[Action]:
        """The word to do next; empty at a dead end."""
        words = self.rank(here, 1)
        if words:
            return words[0]
        action = None if self.tree is None else self.tree.action_for(s for _, s in here)
        return [] if action is None else [action]

    def rank(self, here: dict[Member, int], width: int) -> list[list[Action]]:
        """The best-looking words that split a configuration, at most so many."""
        tables, scratch = self.arena.tables, self.graph.scratch
        (code, weight), k = self.graph.encode(here), len(here)
        room = self.arena.num_actions + min(k * (k - 1) // 2, 2 * MOST_PAIRS)
        value, pair = np.empty(room, dtype=np.int64), np.zeros((room, 2), dtype=np.int32)
        count = rank_words(tables, code, weight, k, scratch, value, pair)
        words: list[list[Action]] = []
        for w in np.argsort(value[:count], kind="stable")[:width].tolist():
            if value[w] >= INFINITE:
                break
            word = [w]
            if w >= self.arena.num_actions:
                i, j = pair[w].tolist()
                _, length = follow_pair(tables, code, weight, k, i, j, scratch)
                word = scratch.trial[k : k + length].tolist()
            if word not in words:
                words.append(word)
        return words

    def planned(self, here: dict[Member, int]) -> list[Action]:
        """What the present policy does in a configuration that it leads to, as a word."""
        return [int(self.graph.data.plan[self.graph.intern(here)])]

    def branch(self, here: dict[Member, int], action: Action) -> list[dict[Member, int]]:
        """What is left after each reading and is not pure."""
        return [left for _, left in sorted(self.graph.branch(here, action).items()) if not is_pure(left)]

    def value(self) -> None:
        """Upper bounds from the plans, deepest first; again until nothing changes, for plans may share branches."""
        data, changed = self.graph.data, True
        while changed:
            changed = False
            for node, (action, branches) in reversed(self.steps.items()):
                after = [int(data.upper[b]) for b in branches]
                if any(u >= INFINITE for u in after):
                    continue
                rest = sum(after) if self.graph.mean else max(after, default=0)
                value = self.arena.cost(action) * int(data.total[node]) + rest
                if value < data.upper[node]:
                    # The plan first: an interrupt between the two must not leave a bound that no plan attains.
                    data.plan[node] = action
                    data.upper[node] = value
                    changed = True
