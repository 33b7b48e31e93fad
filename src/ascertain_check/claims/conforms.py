"""The claim that a plant conforms: no machine of a fault domain but the specification shows what was observed.

Let c be the specification over the actions I, from where a reset leads on, A the access words, k the number `extra`,
and T the tree of the observed runs, which agrees with c. The *fault domain* holds all complete deterministic machines
over I each of whose reachable states is reached by a word of A followed by at most k actions. Two nodes of T are
*apart* when T has a word after both along which their readings differ.

*Theorem.* If T holds every word of A.I^(<=k+1), and all u in A.I^(<=k+1) and v in A.I^(<=k) that lead c into different
states are apart, then every machine of the domain that shows T is equivalent to c.

*Proof.* Let N be such a machine. Map the state that N reaches by v in A.I^(<=k) to the state that c reaches by v. If N
reaches one state by v and v', they are not apart, so c reaches one state by both: the map is well defined. By the
domain it is defined on all states of N. It keeps readings, as T holds v i. N's state after v i is also its state
after some v' in A.I^(<=k), so v i and v' are not apart and c reaches one state by both: the map commutes with i. QED

If the words of A reach every state of c, the domain holds all machines with at most num_states(c) + k states: among the
words of A some reach as many different states of such a machine as c has states (they are pairwise apart), and each
further action on a shortest way reaches a new one. Nodes with one class and the same words below them are apart from
the same nodes, so pairs of such *kinds* are compared instead.
"""

from __future__ import annotations

from ascertain_check import trust
from ascertain_check.claim import register
from ascertain_check.observed import KEYS, Observed, Word, read_observed, read_words
from ascertain_check.reading import Object, read_index, read_object
from ascertain_check.task import Task
from ascertain_check.verdicts import Refuted
from ascertain_check.work import KEEP, spend

MAX_EXTRA = 1000
"""A suite for k extra states has more than |I|^k runs, so that no honest file comes near."""


class Tree:
    """The observed words as a tree; every node has the class that the specification is in there."""

    def __init__(self, task: Task, observed: Observed) -> None:
        self.task, self.state = task, [observed.start]
        self.children: list[dict[int, int]] = [{}]
        for run in observed.runs:
            node = 0
            for action in run:
                node = self.child(node, action)
        self.number_kinds(observed.classes)

    def child(self, node: int, action: int) -> int:
        if action not in self.children[node]:
            self.children[node][action] = len(self.state)
            after = self.task.successor[self.state[node]][action]
            assert after is not None  # the transcript went there
            self.state.append(after)
            self.children.append({})
        return self.children[node][action]

    def number_kinds(self, classes: list[int | None]) -> None:
        """Equal kinds: the same class, and the same words below."""
        numbers: dict[tuple[int | None, tuple[tuple[int, int], ...]], int] = {}
        self.kind = [0] * len(self.state)
        self.parts: list[tuple[int, dict[int, int]]] = []
        """For each kind a state of its class, and the kinds below."""
        self.of_class: list[int | None] = []
        for node in reversed(range(len(self.state))):  # what is below has the larger number
            below = {a: self.kind[child] for a, child in self.children[node].items()}
            name = (classes[self.state[node]], tuple(sorted(below.items())))
            if name not in numbers:
                numbers[name] = len(self.parts)
                self.parts.append((self.state[node], below))
                self.of_class.append(name[0])
            self.kind[node] = numbers[name]

    def find(self, word: Word) -> int:
        node = 0
        for action in word:
            if action not in self.children[node]:
                raise Refuted("an access word was not observed")
            node = self.children[node][action]
        return node

    def apart(self, one: int, other: int) -> bool:
        """Whether a word was observed after both kinds with different readings."""
        stack, seen = [(one, other)], {(one, other)}
        while stack:
            x, y = stack.pop()
            spend(KEEP)
            (s, below), (t, beside) = self.parts[x], self.parts[y]
            spend(2 * len(below) + 2 * len(beside))
            for a in below.keys() & beside.keys():
                if self.task.behaviour[s][a] != self.task.behaviour[t][a]:
                    return True
                pair = (below[a], beside[a])
                if pair not in seen:
                    seen.add(pair)
                    stack.append(pair)
        return False


@register("conforms", about=("machine",), trusted=(trust.DETERMINISTIC,))
def check_conforms(task: Task, claim: Object) -> str:
    data = read_object(claim, f"{KEYS} access extra", "the claim 'conforms'")
    observed = read_observed(task, data)
    access = read_words(data["access"], observed.actions, "access")
    extra = read_index(data["extra"], MAX_EXTRA + 1, "extra")
    tree = Tree(task, observed)
    roots = [tree.find(word) for word in access]
    depth = depths(tree, roots, observed.actions, extra)
    inner = {tree.kind[node] for node, d in depth.items() if d <= extra}
    for u in {tree.kind[node] for node in depth}:
        spend(len(inner))
        for v in inner:
            if tree.of_class[u] != tree.of_class[v] and not tree.apart(u, v):
                raise Refuted("two nodes of different classes are not apart")
    return sentence(observed, {observed.classes[tree.state[node]] for node in roots}, len(access), extra)


def depths(tree: Tree, roots: list[int], actions: list[int], extra: int) -> dict[int, int]:
    """The nodes of A.I^(<=k+1), each with the least number of actions after a word of A that it takes."""
    depth = dict.fromkeys(roots, 0)
    queue = list(depth)
    for node in queue:  # the nearest first
        if depth[node] > extra:
            continue
        for action in actions:
            if action not in tree.children[node]:
                raise Refuted(f"action {action} was not tried after every access word and {extra} further actions")
            child = tree.children[node][action]
            if child not in depth:
                depth[child] = depth[node] + 1
                queue.append(child)
    return depth


def sentence(observed: Observed, reached: set[int | None], num_words: int, extra: int) -> str:
    size = observed.num_classes
    most = f"every machine of at most {size + extra} states, and " if len(reached) == size else ""
    return (
        f"complete conformance: {most}every complete deterministic machine over the {len(observed.actions)} actions "
        f"whose states are all reached by one of {num_words} words and at most {extra} further actions, and that shows "
        f"these {len(observed.runs)} runs, is equivalent to hypothesis {observed.hypothesis} after a reset"
        f"{observed.plant}"
    )
