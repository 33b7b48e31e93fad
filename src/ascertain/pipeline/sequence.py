"""Sequence: the classical words and trees of state identification, each by its name.

model -> the question that the kind asks -> its search -> one result -> certificate
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ascertain.certificate.claims.obstruction import obstruction_claim
from ascertain.certificate.claims.words import Shows, words_claim
from ascertain.errors import TaskError, find_name
from ascertain.interruption import OutOfTime, limited, seconds_left
from ascertain.model import Model
from ascertain.model.files import NotAModel, read_listed
from ascertain.pipeline.certify import certify
from ascertain.pipeline.found_sequence import FoundSequence, SequenceKind, Status
from ascertain.pipeline.settle import Settled, settle
from ascertain.problem.pose import pose
from ascertain.problem.problem import Problem, find_question, read_any_problem
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.quotient import reduce_model
from ascertain.quotients.refinement import refine
from ascertain.quotients.separation import list_reachable, successors_within
from ascertain.rational import Number
from ascertain.search.exact import SearchProgress
from ascertain.sequences.characterising import find_characterising_set, find_harmonised_identifiers
from ascertain.sequences.cheapest_path import MOST_NODES, Sought, Word
from ascertain.sequences.incomplete import find_identifiable, restrict_labels
from ascertain.sequences.preset import Aim, find_preset_word
from ascertain.sequences.separating_tree import grow_separating_tree
from ascertain.sequences.unique import find_unique_words
from ascertain.task.question import About
from ascertain.task.task import Task, check_task

__all__ = ["FoundSequence", "SequenceKind", "find_sequence"]  # what the verb needs comes from here

MOST_REPLAYED = 10_000_000
"""Pairs of hypotheses times words that are certified: the checker takes some seconds."""
SHORTEST = 0.2
"""Seconds that the last search of several may take, whatever is left: its policy is the answer."""


def find_sequence(
    kind: SequenceKind | str,
    question: Task | Problem | str | Path,
    *,
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Number] | None = None,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    progress: SearchProgress | None = None,
) -> FoundSequence:
    """Find a distinguishing, homing or synchronizing sequence, UIOs, W, identifiers, a splitting tree, or the best
    incomplete identification of a machine without noise.

    `question` is a task or a problem, whose hypotheses, actions, costs and forbidden states count (and its labels for
    "incomplete" alone), or the file of a problem, or that of a machine, whose states are all possible; of such a file
    `actions` keeps these only, and `cost` has the costs of those that do not cost 1. `time_limit` is in seconds, and
    `max_nodes` limits what a search over sets of states keeps. `progress` is told of the search for a policy.
    """
    kinds = get_args(SequenceKind)
    most = MOST_NODES if max_nodes is None else max_nodes
    wanted: SequenceKind = kinds[find_name(kind, kinds, "KIND", f"a kind of sequence ({', '.join(kinds)})", TaskError)]
    task = _pose(question, actions, cost)
    if not task.model.is_exact:
        raise TaskError(f"{wanted}: sequences are for machines without noise, and this one has noise; see bounds")
    with _within(time_limit):
        try:
            match wanted:
                case "adaptive-distinguishing" | "adaptive-homing":
                    return _adapt(wanted, task, time_limit, progress)
                case "preset-distinguishing" | "preset-homing" | "synchronizing":
                    return _preset(wanted, task, most)
                case "uio":
                    return _identify(wanted, task, most)
                case "characterising-set" | "identifiers":
                    return _characterise(wanted, task)
                case "splitting-tree":
                    return _split(wanted, task)
                case "incomplete":
                    return _leave_out(wanted, task)
        except OutOfTime:
            return FoundSequence(kind=wanted, task=task, status="undecided", lower=Fraction(0), stopped_by="time")


def _within(time_limit: float | None) -> AbstractContextManager[None]:
    if time_limit is None:
        return nullcontext()
    deadline = time.monotonic() + time_limit
    return limited(lambda: deadline - time.monotonic(), "the time limit")


def _pose(
    question: Task | Problem | str | Path, actions: Sequence[str] | None, cost: Mapping[str, Number] | None
) -> Task:
    """The problem's task, or the one in which the machine of a file may be in any of its states."""
    if isinstance(question, str | Path):
        try:
            return pose(read_listed(question), actions=actions, cost=cost)
        except NotAModel as problem:
            question = read_any_problem(question, problem.text)
    if actions is not None or cost:
        raise TaskError("--actions and --cost are for the file of a model; a problem says its actions and costs itself")
    return check_task(find_question(question, lambda problem: problem.task)[0])


def _by_state(task: Task, about: About) -> Task:
    """The task in which every state has a label of its own."""
    model = task.model
    state = np.unique(task.state)
    if about == "current":
        every = np.arange(model.num_states, dtype=np.int32)
        return replace(task, state=state, label=state, labels=model.states, state_label=every)
    labels = tuple(model.states[s] for s in map(int, state))
    return replace(task, state=state, label=np.arange(len(state), dtype=np.int32), labels=labels, state_label=None)


def _certified(found: FoundSequence, claim: dict[str, Any] | None) -> FoundSequence:
    """The result with the certificate of a claim; without, where there is none or the checker would take minutes."""
    if claim is None or found.task.num_hypotheses**2 * len(claim.get("words", ())) > MOST_REPLAYED:
        return found
    certificate, verdict = certify(found.task, [claim])
    return replace(found, certificate=certificate, verdict=verdict)


def _adapt(kind: SequenceKind, task: Task, time_limit: float | None, progress: SearchProgress | None) -> FoundSequence:
    asked = _by_state(task, "start" if kind == "adaptive-distinguishing" else "current")
    return _of_settled(kind, asked, settle(asked, time_limit=time_limit, progress=progress, prove="when solved"))


def _of_settled(kind: SequenceKind, task: Task, settled: Settled) -> FoundSequence:
    """The result of a search for a policy."""
    reason = None
    if settled.status == "unsolvable":
        among = ", ".join(settled.unsettled[:8]) + (" and others" if len(settled.unsettled) > 8 else "")
        reason = f"the states {among} cannot be settled among themselves"
        reason = reason if settled.obstruction is None else settled.obstruction.sentence
    lower, upper = settled.interval
    undecided: Status = "undecided" if settled.policy is None else "found"
    return FoundSequence(
        kind=kind,
        task=task,
        status="none" if settled.status == "unsolvable" else undecided,
        lower=lower,
        upper=upper,
        reason=reason,
        stopped_by=settled.stopped_by,
        settled=settled,
        certificate=settled.certificate,
        verdict=settled.verdict,
    )


def _preset(kind: SequenceKind, task: Task, max_nodes: int) -> FoundSequence:
    aim, shows = _AIMS[kind]
    asked = _by_state(task, "start" if aim == "distinguishing" else "current")
    found = find_preset_word(asked, aim, max_nodes=max_nodes)
    sought, names = found.sought, asked.model.states
    claim, reason = None, None
    if sought.word is not None:
        each = [[0]] * asked.num_hypotheses if aim == "distinguishing" else None
        claim = words_claim(shows, [sought.word], each)
    elif found.pair is not None and aim == "synchronizing":
        one, other = (names[s] for s in found.pair)
        reason = f"no word that both allow brings the states {one!r} and {other!r} together"
    elif found.pair is not None:
        obstruction = find_obstruction(asked)
        assert obstruction is not None
        claim, reason = obstruction_claim(asked, *obstruction.pair), obstruction.sentence
    elif sought.lower is None:
        what = "the only uncertainty" if sought.nodes == 1 else f"all {sought.nodes} uncertainties"
        reason = f"{what} that words lead to {'was' if sought.nodes == 1 else 'were'} searched"
    words = () if sought.word is None else (sought.word,)
    return _certified(_of_words(kind, asked, [sought], words, reason=reason), claim)


_AIMS: dict[SequenceKind, tuple[Aim, Shows]] = {
    "preset-distinguishing": ("distinguishing", "separated"),
    "preset-homing": ("homing", "homed"),
    "synchronizing": ("synchronizing", "synchronized"),
}
"""What each kind of preset word is for, and what a replay of it shows."""


def _of_words(
    kind: SequenceKind,
    task: Task,
    sought: Sequence[Sought],
    words: Sequence[Word],
    of: Sequence[Sequence[int]] | None = None,
    reason: str | None = None,
) -> FoundSequence:
    """The result of searches for words: found when all were, none when one of them has none."""
    scale = task.integer_costs()[1]
    lower = None if any(x.lower is None for x in sought) else sum(x.lower or 0 for x in sought) / scale
    upper = None if any(x.upper is None for x in sought) else sum(x.upper or 0 for x in sought) / scale
    names = (task.model.states[int(s)] for s in task.state)
    return FoundSequence(
        kind=kind,
        task=task,
        status="found" if upper is not None else "none" if lower is None else "undecided",
        lower=lower,
        upper=upper,
        words=tuple(tuple(task.model.actions[a] for a in word) for word in words),
        of=None if of is None else {name: tuple(mine) for name, mine in zip(names, of, strict=True)},
        reason=reason,
        stopped_by=next((x.stopped_by for x in sought if x.stopped_by), None),
    )


def _identify(kind: SequenceKind, task: Task, max_nodes: int) -> FoundSequence:
    asked = _by_state(task, "start")
    alike = _tell_equivalent(asked)  # while there is time
    sought = find_unique_words(asked, max_nodes=max_nodes)
    words = list(dict.fromkeys(x.word for x in sought if x.word is not None))
    of = [[] if x.word is None else [words.index(x.word)] for x in sought]
    without = [asked.labels[h] for h, x in enumerate(sought) if x.lower is None]
    reason = f"no UIO sequence exists for {_list(without)}" if without else None
    found = _of_words(kind, asked, sought, words, of, _join(reason, alike))
    return _certified(found, words_claim("identified", words, of) if words else None)


def _characterise(kind: SequenceKind, task: Task) -> FoundSequence:
    asked, model = _complete(kind, task)
    partition, alike = refine(model), _tell_equivalent(asked)
    reduced, block = reduce_model(model, partition), [int(c) for c in partition.block]
    cost, _ = asked.integer_costs()
    if kind == "identifiers":
        family, lower = find_harmonised_identifiers(reduced, cost)
        words = list(dict.fromkeys(w for mine in family for w in mine))
        place = {word: k for k, word in enumerate(words)}
        each = [[place[w] for w in mine] for mine in family]
        weighed = [w for mine in family for w in mine]
    else:
        chosen, lower = find_characterising_set(reduced, cost)
        words = weighed = list(chosen)
        each = [list(range(len(words)))] * reduced.num_states
    upper = sum(int(cost[a]) for word in weighed for a in word)
    of = [each[c] for c in block]
    found = _of_words(kind, asked, [Sought(None, lower, upper)], words, of, alike)
    # Equivalent states share a label where the words are certified: nothing separates them.
    names = tuple(reduced.states)
    classes = replace(asked, label=partition.block, labels=names)
    found = replace(found, task=classes, of=found.of if kind == "identifiers" else None)
    return _certified(found, words_claim("separated", words, of))


def _split(kind: SequenceKind, task: Task) -> FoundSequence:
    asked, model = _complete(kind, task)
    cost, scale = asked.integer_costs()
    tree = grow_separating_tree(model, cost=cost)
    dearest = tree.dearest / scale
    reason = None if tree.num_classes == model.num_states else _tell_equivalent(asked)
    return FoundSequence(kind=kind, task=asked, status="found", lower=dearest, upper=dearest, reason=reason, tree=tree)


def _complete(kind: SequenceKind, task: Task) -> tuple[Task, Model]:
    """The machine that hypotheses can become, which must be complete, and the task on it."""
    states, model = list_reachable(task.model, task.state), task.model
    if len(states) < model.num_states:
        names = tuple(model.states[s] for s in map(int, states))
        tables = {"successor": successors_within(model, states), "behaviour": model.behaviour[states]}
        model = model.rebuilt(**tables, states=names, initial=(), origin=())
    if not model.is_total:
        s, a = (int(i) for i in np.argwhere(~model.defined)[0])
        raise TaskError(
            f"{kind}: action {model.actions[a]!r} is not allowed in state {model.states[s]!r}, and a complete machine "
            "is needed; leave the action out (--actions, or [task] actions in a problem file), or write undefined = "
            '"self-loop" in a problem file if it is the model that does not define it'
        )
    every = np.arange(model.num_states, dtype=np.int32)
    asked = replace(task, model=model, state=every, label=every, labels=model.states, state_label=None)
    return asked, model


def _leave_out(kind: SequenceKind, task: Task) -> FoundSequence:
    found = find_identifiable(task)
    kept = restrict_labels(task, found.labels)
    left = seconds_left()
    with limited(lambda: inf, "no limit"):  # what was solved in time is solved once more, for its proof
        settled = settle(kept, time_limit=None if left is None else max(left, SHORTEST), prove="when solved")
    without = found.name(frozenset(int(k) for k in task.label) - found.labels)
    reason = f"left out: {_list(without)}" if without else None
    stopped = found.stopped_by or settled.stopped_by
    return replace(_of_settled(kind, kept, settled), incomplete=found, stopped_by=stopped, reason=reason)


def _tell_equivalent(task: Task) -> str | None:
    """Which states of the hypotheses no experiment tells apart."""
    block = refine(task.model).block[task.state]
    order = np.argsort(block, kind="stable")
    twice = np.flatnonzero(block[order][1:] == block[order][:-1])
    if not len(twice):
        return None
    one, other = (task.model.states[int(task.state[order[k]])] for k in (twice[0], twice[0] + 1))
    more = f", and {len(twice) - 1} more like that" if len(twice) > 1 else ""
    return f"the states {one!r} and {other!r} are equivalent: no experiment tells them apart{more}"


def _join(*sentences: str | None) -> str | None:
    return "; ".join(filter(None, sentences)) or None


def _list(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
