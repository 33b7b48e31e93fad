"""Slow and obvious twins of the toolbox: all words up to a cost, and each definition read off them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from ascertain.sequences.incomplete import restrict_labels
from ascertain.task.task import Task
from tests.reference.optimum import optimum

Word = tuple[int, ...]


def words_within(cost: Sequence[Fraction], budget: Fraction) -> Iterator[tuple[Fraction, Word]]:
    """Every word that costs no more, with its cost, the cheapest first."""
    found: list[tuple[Fraction, Word]] = [(Fraction(0), ())]
    for spent, word in found:
        found += [(spent + c, (*word, a)) for a, c in enumerate(cost) if spent + c <= budget]
    return iter(sorted(found))


def run(task: Task, state: int, word: Word) -> tuple[tuple[int, ...], int] | None:
    """What is read along a word, and where it ends; None where it is not allowed."""
    readings: list[int] = []
    for a in word:
        law = task.model.reading_law(state, a)
        if not law:
            return None
        readings += law
        state = task.model.next_state(state, a)
    return tuple(readings), state


def does(task: Task, word: Word, aim: str) -> bool:
    """Whether a preset word distinguishes, homes or synchronizes the states of the hypotheses."""
    ends = [run(task, int(s), word) for s in task.state]
    if any(end is None for end in ends):
        return False
    whole = [end for end in ends if end is not None]
    if aim == "distinguishing":
        return len({readings for readings, _ in whole}) == len(whole)
    if aim == "homing":
        return len({readings for readings, _ in whole}) == len(set(whole))
    return len({end for _, end in whole}) == 1


def is_unique(task: Task, hypothesis: int, word: Word) -> bool:
    """Whether a word is a UIO sequence of a hypothesis: the others differ before they could forbid anything."""
    own = run(task, int(task.state[hypothesis]), word)
    if own is None:
        return False
    for g, s in enumerate(task.state):
        if g != hypothesis:
            differs = False
            for k in range(1, len(word) + 1):
                other = run(task, int(s), word[:k])
                if other is None:
                    return False
                if other[0] != own[0][:k]:
                    differs = True
                    break
            if not differs:
                return False
    return True


def separates(task: Task, s: int, t: int, word: Word) -> bool:
    one, other = run(task, s, word), run(task, t, word)
    return one is not None and other is not None and one[0] != other[0]


def distance(task: Task, s: int, t: int, budget: Fraction) -> Fraction | None:
    """The least cost of a word that separates two states; None where no word of the budget does."""
    return next((spent for spent, word in words_within(task.cost, budget) if separates(task, s, t, word)), None)


def best_sets(task: Task) -> tuple[int, Fraction]:
    """How many labels can be told apart at most, and the least worst cost of telling so many apart."""
    labels = sorted({int(k) for k in task.label})
    for size in range(len(labels), 0, -1):
        costs = [optimum(restrict_labels(task, frozenset(kept))) for kept in combinations(labels, size)]
        known = [cost for cost in costs if cost is not None]
        if known:
            return size, min(known)
    raise AssertionError("one label needs no telling apart")


def is_harmonised(task: Task, family: Mapping[int, Sequence[Word]]) -> bool:
    """Whether every two states of different labels share a word that separates them."""
    return all(
        any(word in family[h] and separates(task, int(task.state[h]), int(task.state[g]), word) for word in family[g])
        for h, g in combinations(range(task.num_hypotheses), 2)
        if task.label[h] != task.label[g]
    )


# Claims of words, judged by the definitions.


def is_true(task: Task, claim: dict[str, object]) -> bool:
    """Whether a claim `words` of the right shape is true."""
    words: list[Word] = [tuple(word) for word in claim["words"]]  # type: ignore[attr-defined]
    shows, pairs = claim["shows"], list(zip(task.state.tolist(), task.label.tolist(), strict=True))
    if shows in ("homed", "synchronized"):
        if task.state_label is None:
            return False
        ends = [run(task, s, words[0]) for s, _ in pairs]
        if None in ends:
            return False
        left = {(readings if shows == "homed" else (), int(task.state_label[t])) for readings, t in filter(None, ends)}
        return len(left) == len({readings for readings, _ in left})
    if task.state_label is not None:
        return False
    of: list[list[int]] = claim["of"]  # type: ignore[assignment]
    if shows == "separated":
        allowed = all(run(task, s, words[k]) is not None for (s, _), mine in zip(pairs, of, strict=True) for k in mine)
        return allowed and is_harmonised(task, {h: [words[k] for k in mine] for h, mine in enumerate(of)})
    return all(
        _tells(task, pairs[h], other, [words[k] for k in of[h]]) for h in range(len(pairs)) for other in pairs if of[h]
    )


def _tells(task: Task, one: tuple[int, int], other: tuple[int, int], words: Sequence[Word]) -> bool:
    differs = False
    for word in words:
        for k in range(1, len(word) + 1):
            own, its = run(task, one[0], word[:k]), run(task, other[0], word[:k])
            if own is None or its is None:
                return False
            if own[0] != its[0]:
                differs = True
                break
    return differs or one[1] == other[1]
