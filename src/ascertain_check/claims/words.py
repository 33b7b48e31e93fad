"""The claim that words do what they are for: separate states, identify them, bring the machine home, synchronize it.

A *word* is a list of actions, done one after another whatever is read. Nothing is proved but what a replay shows; in
particular not that a word is a shortest one. Let h and g be hypotheses of different labels; `of[h]` lists words of h.

- *separated*: h and g both have some word along which they read differently, and each hypothesis allows its words. One
  word for all: a preset distinguishing sequence. All words for all: a characterising set. Otherwise: harmonised
  identifiers.
- *identified*: h reads differently from g along one of the words of h; g allows all that comes before the difference.
  Nothing is said of an h without words. One word each: UIO sequences.
- *homed*: all hypotheses allow the one word, and those that read alike along it end in states of one label.
- *synchronized*: all hypotheses allow the one word and end in states of one label, whatever they read.

The first two are about the start, where labels stay with hypotheses, the last two about the current state.
"""

from __future__ import annotations

from itertools import combinations
from typing import TypeAlias

from ascertain_check.claim import register
from ascertain_check.reading import Object, quote, read_index, read_list, read_object, read_text
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import spend

Word: TypeAlias = list[int]


@register("words", about=("machine",))
def check_words(task: Task, claim: Object) -> str:
    shows = read_text(read_object(claim, "claim shows words of?", "the claim 'words'")["shows"], "shows")
    if shows not in ("separated", "identified", "homed", "synchronized"):
        raise Malformed(f"shows: {quote(shows)} is not known")
    ending = shows in ("homed", "synchronized")
    data = read_object(
        claim, "claim shows words" if ending else "claim shows words of", f"the claim 'words' that shows {shows}"
    )
    words = [
        [read_index(a, task.num_actions, "an action") for a in read_list(word, "a word")]
        for word in read_list(data["words"], "words", 1 if ending else None)
    ]
    if ending != (task.current is not None):
        raise Refuted(f"{shows} is about {'the current state' if ending else 'the start'}; the task is not")
    if ending:
        return check_ends(task, words[0], by_reading=shows == "homed")
    lists = [
        read_list(entry, "the words of a hypothesis") for entry in read_list(data["of"], "of", len(task.hypotheses))
    ]
    of = [{read_index(k, len(words), "the number of a word") for k in entry} for entry in lists]
    return check_separated(task, words, of) if shows == "separated" else check_identified(task, words, of)


def run(task: Task, state: int, word: Word) -> tuple[int, list[int]]:
    """The state that a word ends in, and what is read along it."""
    readings: list[int] = []
    spend(5 + 2 * len(word))
    for a in word:
        after, y = task.successor[state][a], task.behaviour[state][a]
        if after is None or y is None:
            raise Refuted(f"action {a} is not allowed in state {state}")
        state = after
        readings.append(y)
    return state, readings


def check_separated(task: Task, words: list[Word], of: list[set[int]]) -> str:
    read = [{k: run(task, s, words[k])[1] for k in mine} for (_, s), mine in zip(task.hypotheses, of, strict=True)]
    for h, g in combinations(range(len(of)), 2):
        spend(5 + sum(1 + len(words[k]) // 16 for k in of[h] & of[g]))
        if task.hypotheses[h][0] != task.hypotheses[g][0] and all(read[h][k] == read[g][k] for k in of[h] & of[g]):
            raise Refuted(f"no word of both separates hypotheses {h} and {g}")
    return f"{len(words)} words separate the labels: every two hypotheses of different labels share one that does"


def check_identified(task: Task, words: list[Word], of: list[set[int]]) -> str:
    for h, mine in enumerate(of):
        for g in range(len(of)) if mine else ():
            spend(5)
            differs = [read_differently(task, task.hypotheses[h][1], task.hypotheses[g][1], words[k]) for k in mine]
            if task.hypotheses[h][0] != task.hypotheses[g][0] and not any(differs):
                raise Refuted(f"no word of hypothesis {h} tells it from hypothesis {g}")
    return f"{sum(map(bool, of))} of {len(of)} hypotheses have words that tell them from all of other labels"


def read_differently(task: Task, s: int, t: int, word: Word) -> bool:
    """Whether two states read differently along a word, which both allow up to there."""
    for a in word:
        (x,), (y,) = (run(task, state, [a])[1] for state in (s, t))
        if x != y:
            return True
        s, t = run(task, s, [a])[0], run(task, t, [a])[0]
    return False


def check_ends(task: Task, word: Word, *, by_reading: bool) -> str:
    assert task.current is not None
    labels: dict[tuple[int, ...], int] = {}
    for h, (_, s) in enumerate(task.hypotheses):
        end, readings = run(task, s, word)
        if labels.setdefault(tuple(readings) if by_reading else (), task.current[end]) != task.current[end]:
            raise Refuted(f"the word leads hypothesis {h} to another label than one before it")
    known = "what is read along it tells the label that is reached" if by_reading else "it leads to one label"
    return f"a word of {len(word)} actions: from every hypothesis {known}"
