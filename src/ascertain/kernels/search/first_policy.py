"""A first policy at once: at every configuration the word that tells most pairs of labels apart for its cost.

The *impurity* of a configuration is the number of its ordered pairs of members with different labels. A word that
leaves the members together until its last action splits them there; its *gain* is the impurity that it takes away. The
word of the largest gain for its cost is taken (Gini's index, one split ahead), found breadth first over what the
members become; the search goes on while a longer word could still be better and the width allows it, or, if it is
*eager*, ends with the shortest words that split. *By the largest*, what is left is not the impurity of all branches
together but that of the worst of them.

The policy is a tree, written node by node. What is still open is a stack of configurations, each with the node that
decides about it. Throughout: q is a word, c a member, k how many there are.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.search.graph import Scratch, branch
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import IntArray, LongArray

LAST_BITS = (1 << 40) - 1
"""What is left of a digest after each member, so that no product overflows."""

DONE, PAUSED, FULL, STUCK = range(4)
"""Why `plan_first` returned: the policy is whole; the limit is reached; an array has no room; nothing splits a set."""
NODES, OPEN = range(2)
"""Places in `FirstPolicy.used`: nodes written, configurations open."""


class FirstPolicy(NamedTuple):
    """The tree so far, and what is open."""

    action: IntArray
    """By node; -1 where it answers."""
    label: IntArray
    """The answer, or -1."""
    parent: IntArray
    reading: IntArray
    """The reading of the parent's action that leads here."""
    open_node: IntArray
    open_begin: LongArray
    """`members[open_begin[i] : open_begin[i + 1]]` is the configuration of `open_node[i]`."""
    members: IntArray
    used: LongArray


class Words(NamedTuple):
    """Scratch: words that leave the members together, and what these become."""

    moved: IntArray
    """`moved[begin[q] : begin[q + 1]]` are the members after word q."""
    begin: LongArray
    came: IntArray
    """The word that q prolongs."""
    by: IntArray
    """The action that it adds."""
    spent: LongArray
    digest: LongArray


def _members_looked_at(plan: FirstPolicy, width: int, eager: bool) -> int:
    """How many, times words, a decision about the topmost configuration takes."""
    top = int(plan.used[OPEN])
    return int(plan.open_begin[top] - plan.open_begin[top - 1]) if eager and top > 0 else width


@kernel(
    work=lambda tables, plan, width, eager: 8 * tables.cost.size * _members_looked_at(plan, width, eager), sliced=True
)
def plan_first(
    tables: SearchTables,
    scratch: Scratch,
    words: Words,
    plan: FirstPolicy,
    width: int,
    eager: bool,
    by_largest: bool,
    limit: int,
) -> int:
    """Decide about at most `limit` open configurations; `width` bounds members times words looked at for each."""
    for _ in range(limit):
        if plan.used[OPEN] == 0:
            return DONE
        top = int(plan.used[OPEN]) - 1
        begin = int(plan.open_begin[top])
        k = int(plan.open_begin[top + 1]) - begin
        node = int(plan.open_node[top])
        code = plan.members[begin : begin + k]
        if impurity(tables, code, k, scratch) == 0:
            plan.label[node] = label_of(tables, int(code[0]))
            plan.used[OPEN] = top
            continue
        # A word is at most as long as there are words; its branches are at most as many as there are members.
        most = len(words.spent) + k + 1
        if plan.used[NODES] + most > len(plan.action) or top + most > len(plan.open_node):
            return FULL
        if begin + 2 * k > len(plan.members):
            return FULL
        q, a = choose_word(tables, code, k, scratch, words, width, eager, by_largest)
        if q < 0:
            return STUCK
        plan.used[OPEN] = top
        write_word(tables, scratch, words, plan, node, q, a, begin)
    return PAUSED


@kernel
def label_of(tables: SearchTables, c: int) -> int:
    """The label of a member."""
    return c & ((1 << tables.bits) - 1)


@kernel
def impurity(tables: SearchTables, code: IntArray, k: int, scratch: Scratch) -> int:
    """Ordered pairs of members with different labels among `code[:k]`."""
    mask = (1 << tables.bits) - 1
    count = scratch.rename  # -1 between uses
    total = k * k
    for i in range(k):
        label = int(code[i]) & mask
        count[label] += 1
        # The n-th member of a label adds n^2 - (n - 1)^2 to the sum of squares; the count is one less.
        total -= 2 * int(count[label]) + 1
    for i in range(k):
        count[int(code[i]) & mask] = -1
    return total


@kernel
def choose_word(
    tables: SearchTables,
    code: IntArray,
    k: int,
    scratch: Scratch,
    words: Words,
    width: int,
    eager: bool,
    by_largest: bool,
) -> tuple[int, int]:
    """The word of the largest gain for its cost: a word that leaves the members together, and a last action; or -1."""
    whole = impurity(tables, code, k, scratch)
    words.begin[0] = 0
    words.begin[1] = k
    words.spent[0] = 0
    for i in range(k):
        words.moved[i] = code[i]
    words.digest[0] = digest_of(words.moved, 0, k)
    count = 1
    best = -1
    best_action = -1
    best_gain = 0
    best_cost = 1
    weight = scratch.weight
    q = 0
    while q < count:
        spent = int(words.spent[q])
        # A longer word could at best take away everything.
        if best >= 0 and whole * best_cost <= best_gain * (spent + int(tables.least)):
            break
        if best >= 0 and (q * k > width or (eager and spent > words.spent[best])):
            break
        begin = int(words.begin[q])
        size = int(words.begin[q + 1]) - begin
        for a in range(len(tables.cost)):
            left = branch(tables, words.moved[begin : begin + size], weight, size, a, scratch)
            if left < 0:
                continue
            price = spent + int(tables.cost[a])
            rest = rest_of(tables, scratch, left, by_largest)
            if (scratch.key[0] >> 31) != (scratch.key[left - 1] >> 31) or rest == 0:
                gain = whole - rest
                if gain * best_cost > best_gain * price:
                    best = q
                    best_action = a
                    best_gain = gain
                    best_cost = price
            elif count + 1 < len(words.spent) and words.begin[count] + left <= len(words.moved):
                count = add_word(scratch, words, count, q, a, left, price)
        q += 1
    return best, best_action


@kernel
def rest_of(tables: SearchTables, scratch: Scratch, size: int, by_largest: bool) -> int:
    """The impurity of the branches in `scratch.key` together, or of the worst of them."""
    total = 0
    begin = 0
    mask = (1 << tables.bits) - 1
    count = scratch.rename
    while begin < size:
        y = int(scratch.key[begin]) >> 31
        end = begin
        squares = 0
        while end < size and int(scratch.key[end]) >> 31 == y:
            label = int(scratch.key[end]) & mask
            count[label] += 1
            squares += 2 * int(count[label]) + 1
            end += 1
        impure = (end - begin) * (end - begin) - squares
        total = max(total, impure) if by_largest else total + impure
        for i in range(begin, end):
            count[int(scratch.key[i]) & mask] = -1
        begin = end
    return total


@kernel
def add_word(scratch: Scratch, words: Words, count: int, q: int, a: int, size: int, price: int) -> int:
    """Append what q and a lead to, unless it was met before; the new number of words."""
    begin = int(words.begin[count])
    for i in range(size):
        words.moved[begin + i] = int(scratch.key[i]) & ((1 << 31) - 1)
    digest = digest_of(words.moved, begin, begin + size)
    # Equal digests of different sets lose a word, which does no harm.
    for p in range(count):
        if words.digest[p] == digest:
            return count
    words.begin[count + 1] = begin + size
    words.came[count] = q
    words.by[count] = a
    words.spent[count] = price
    words.digest[count] = digest
    return count + 1


@kernel
def digest_of(code: IntArray, begin: int, end: int) -> int:
    """Members as a number of 40 bits; they are ascending."""
    h = end - begin
    for i in range(begin, end):
        h = (h * 1000003 + int(code[i])) & LAST_BITS
    return h


@kernel
def write_word(
    tables: SearchTables,
    scratch: Scratch,
    words: Words,
    plan: FirstPolicy,
    node: int,
    q: int,
    a: int,
    begin: int,
) -> None:
    """Write the nodes of a word that begins at `node`, and open the branches after its last action."""
    # The words that lead to q, first one first: they are turned round in place of their digests, which are done with.
    length = 0
    p = q
    while p > 0:
        words.digest[length] = p
        p = int(words.came[p])
        length += 1
    used = plan.used
    for step in range(length - 1, -1, -1):
        p = int(words.digest[step])
        plan.action[node] = words.by[p]
        # All members read alike, so one of them says what is read.
        state = int(words.moved[words.begin[words.came[p]]]) >> tables.bits
        node = add_child(plan, node, int(tables.reading[state, words.by[p]]))
    plan.action[node] = a
    first = int(words.begin[q])
    size = int(words.begin[q + 1]) - first
    left = branch(tables, words.moved[first : first + size], scratch.weight, size, a, scratch)
    i = 0
    where = begin
    while i < left:
        y = int(scratch.key[i]) >> 31
        child = add_child(plan, node, y)
        top = int(used[OPEN])
        plan.open_node[top] = child
        plan.open_begin[top] = where
        while i < left and int(scratch.key[i]) >> 31 == y:
            plan.members[where] = int(scratch.key[i]) & ((1 << 31) - 1)
            where += 1
            i += 1
        plan.open_begin[top + 1] = where
        used[OPEN] = top + 1


@kernel
def add_child(plan: FirstPolicy, node: int, y: int) -> int:
    """A new node, reached from `node` by reading y."""
    child = int(plan.used[NODES])
    plan.used[NODES] = child + 1
    plan.parent[child] = node
    plan.reading[child] = y
    plan.action[child] = -1
    plan.label[child] = -1
    return child
