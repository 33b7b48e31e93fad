"""The toolbox of state identification against its definitions, on all words up to a cost."""

from __future__ import annotations

import copy
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NoReturn, get_args
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import AscertainError, LimitError, ModelError, TaskError
from ascertain.interruption import OutOfTime, limited, look_up
from ascertain.model import Machine
from ascertain.model.named import shift_register
from ascertain.pipeline.certify import certify
from ascertain.pipeline.found_sequence import FoundSequence, SequenceKind
from ascertain.pipeline.sequence import find_sequence
from ascertain.problem.pose import pose
from ascertain.search.exact import solve
from ascertain.search.solution import Solution
from ascertain.sequences import characterising, incomplete, unique
from ascertain.sequences.characterising import find_characterising_set, find_harmonised_identifiers
from ascertain.sequences.cheapest_path import Sought, find_cheapest
from ascertain.sequences.incomplete import find_identifiable
from ascertain.sequences.preset import Aim, find_preset_word
from ascertain.sequences.separating_tree import grow_separating_tree
from ascertain.sequences.unique import find_unique_words
from ascertain.task.task import Task
from ascertain_check import check
from tests.calls import answer, call
from tests.conftest import ROOT
from tests.reference import sequences as slow
from tests.reference.optimum import optimum
from tests.reference.spoilers import poke
from tests.strategies import machines, tasks
from tests.test_checker_campaign import random_task

BUDGET = Fraction(4)
"""What all words up to it are tried for: a few hundred of two actions that cost a half."""
DIAL = ROOT / "examples" / "sequences" / "dial.dot"


def cerny(n: int) -> Machine:
    """Cerny's automaton: one action turns, the other takes the last state to the first; nothing is read."""
    here = np.arange(n, dtype=np.int32)
    return Machine(
        states=tuple(f"m{s}" for s in here.tolist()),
        actions=("turn", "press"),
        readings=("-",),
        successor=np.column_stack(((here + 1) % n, np.where(here == n - 1, 0, here))).astype(np.int32),
        output=np.zeros((n, 2), dtype=np.int32),
    )


def by_state(task: Task) -> Task:
    """The task about the start in which every state has its own label."""
    kept = np.unique(task.state)
    names = tuple(task.model.states[s] for s in kept.tolist())
    return Task(model=task.model, state=kept, label=np.arange(len(kept), dtype=np.int32), labels=names, cost=task.cost)


@given(tasks(machines(max_states=4, max_actions=2), about="start"), st.sampled_from(get_args(Aim)))
@settings(max_examples=150)
def test_a_preset_word_is_the_cheapest_of_all_words(task: Task, aim: Aim) -> None:
    task = by_state(task)
    found = find_preset_word(task, aim)
    scale = task.integer_costs()[1]
    assert found.sought.is_decided
    if found.sought.word is not None:
        assert slow.does(task, found.sought.word, aim)
        assert sum(task.cost[a] for a in found.sought.word) * scale == found.sought.upper
    least = next((c for c, word in slow.words_within(task.cost, BUDGET) if slow.does(task, word, aim)), None)
    if least is not None or (found.sought.upper is not None and found.sought.upper / scale <= BUDGET):
        assert least is not None and found.sought.upper == least * scale


def test_a_homing_word_is_found_where_settling_pair_by_pair_leads_astray() -> None:
    """Every two of u, v, s and t are settled by some word, p and q by none: `b`, nearest for s and t, makes them so."""
    machine = Machine(
        states=tuple("uvstpq"),
        actions=("a", "b"),
        readings=("0", "1", "2"),
        successor=np.array([[0, 0], [1, 1], [2, 4], [3, 5], [4, 4], [5, 5]], dtype=np.int32),
        output=np.array([[0, 0], [0, 1], [0, 2], [1, 2], [2, 2], [2, 2]], dtype=np.int32),
    )
    first = np.arange(4, dtype=np.int32)
    task = replace(pose(machine), state=first, label=first, labels=tuple("uvst"), state_label=None)
    for kind in ("preset-homing", "preset-distinguishing"):
        found = find_sequence(kind, task)
        assert found.words == (("a", "b"),)
        assert found.verdict is not None
        assert found.verdict.word == "VERIFIED"


@given(tasks(machines(max_states=4, max_actions=2), about="start"))
@settings(max_examples=100)
def test_a_uio_sequence_is_the_cheapest_of_all_words(task: Task) -> None:
    task = by_state(task)
    scale = task.integer_costs()[1]
    for h, found in enumerate(find_unique_words(task)):
        assert found.is_decided
        assert found.word is None or slow.is_unique(task, h, found.word)
        words = slow.words_within(task.cost, BUDGET)
        least = next((c for c, word in words if slow.is_unique(task, h, word)), None)
        if least is not None or (found.upper is not None and found.upper / scale <= BUDGET):
            assert least is not None and found.upper == least * scale


@given(tasks(machines(max_states=5, max_actions=2, partial=False), about="start"))
@settings(max_examples=100)
def test_a_splitting_tree_separates_every_two_states_at_the_least_cost(task: Task) -> None:
    cost, scale = task.integer_costs()
    tree = grow_separating_tree(task.model, cost=cost)
    for s, t in combinations(range(task.model.num_states), 2):
        word = tree.separating_word(s, t)
        if word is None:
            assert slow.distance(task, s, t, BUDGET) is None
        else:
            assert slow.separates(task, s, t, word)
            spent = Fraction(sum(int(cost[a]) for a in word)) / scale
            assert spent > BUDGET or slow.distance(task, s, t, BUDGET) == spent
    leaves = [v for v in range(len(tree.child)) if tree.child[v] < 0]
    assert sorted(s for v in leaves for s in tree.members(v)) == list(range(task.model.num_states))


@given(tasks(machines(max_states=5, max_actions=2, partial=False), about="start"))
@settings(max_examples=60)
def test_w_and_harmonised_identifiers_separate_what_can_be_separated(task: Task) -> None:
    for kind in ("characterising-set", "identifiers"):
        check_family(task, find_sequence(kind, task))


def check_family(task: Task, found: FoundSequence) -> None:
    """Words for all states, or some for each, that separate what can be separated."""
    asked, number = found.task, {name: a for a, name in enumerate(task.model.actions)}
    words = [tuple(number[name] for name in word) for word in found.words]
    every = tuple(range(len(words)))
    of = dict.fromkeys(asked.model.states, every) if found.of is None else found.of
    family = {h: [words[k] for k in of[asked.model.states[h]]] for h in range(asked.num_hypotheses)}
    assert slow.is_harmonised(asked, family)
    assert found.lower is not None and found.upper is not None and found.lower <= found.upper
    assert str(found.verdict) == "VERIFIED"


@given(tasks(machines(max_states=4, max_actions=2), about="start", max_hypotheses=4, unit_costs=True))
@settings(max_examples=60)
def test_the_largest_identifiable_set_is_the_largest_and_then_the_cheapest(task: Task) -> None:
    found = find_identifiable(task)
    assert (len(found.labels), found.cost) == slow.best_sets(task)
    assert found.most == len(found.labels) and found.is_cheapest


@given(tasks(machines(max_states=4), about="start"), st.sampled_from(("start", "current")))
@settings(max_examples=40)
def test_adaptive_kinds_are_the_optimum_of_their_question(task: Task, about: str) -> None:
    found = find_sequence("adaptive-distinguishing" if about == "start" else "adaptive-homing", task)
    assert found.upper == optimum(found.task)
    assert str(found.verdict) == "VERIFIED"
    assert found.exit_code == (1 if found.upper is None else 0)


@pytest.mark.parametrize("n", range(2, 9))
def test_the_machines_of_cernys_series_need_a_word_of_the_square_of_n_minus_one(n: int) -> None:
    found = find_sequence("synchronizing", pose(cerny(n)))
    assert found.is_optimal and found.upper == len(found.words[0]) == (n - 1) ** 2


def test_beyond_its_limit_a_synchronizing_word_is_greedy_between_two_bounds() -> None:
    found = find_sequence("synchronizing", pose(cerny(24)), max_nodes=1000)
    assert found.status == "found" and found.stopped_by == "nodes" and not found.is_optimal
    assert found.lower is not None and found.upper is not None and found.lower <= 23**2 <= found.upper
    assert found.upper <= 23 * 23 * 24 / 2
    assert str(found.verdict) == "VERIFIED"


def test_what_is_certified_of_each_kind_is_what_was_found() -> None:
    for kind in get_args(SequenceKind):
        found = find_sequence(kind, pose(shift_register(3)))
        assert found.status == ("none" if kind == "synchronizing" and not found.words else "found")
        assert (found.verdict is None) == (kind == "splitting-tree")
        assert found.verdict is None or found.verdict.word == "VERIFIED"


def test_without_readings_nothing_tells_states_apart_and_a_sentence_says_which() -> None:
    machine = pose(cerny(3))
    for kind in ("adaptive-distinguishing", "preset-distinguishing", "uio"):
        found = find_sequence(kind, machine)
        assert found.exit_code == 1 and found.reason is not None and "'m0'" in found.reason
    assert find_sequence("preset-homing", machine).upper == 4
    assert find_sequence("adaptive-homing", machine).upper == 4
    for kind in ("characterising-set", "identifiers", "splitting-tree"):
        reason = find_sequence(kind, machine).reason
        assert reason is not None and "equivalent" in reason


def test_machines_that_a_kind_is_not_for_are_refused_in_a_sentence() -> None:
    partial = Machine(
        states=("p", "q"),
        actions=("a", "b"),
        readings=("0", "1"),
        successor=np.array([[1, 0], [0, -1]], dtype=np.int32),
        output=np.array([[0, 1], [1, -1]], dtype=np.int32),
    )
    for kind in ("characterising-set", "identifiers", "splitting-tree"):
        with pytest.raises(TaskError, match="action 'b' is not allowed in state 'q'"):
            find_sequence(kind, pose(partial))
        assert find_sequence(kind, pose(partial, actions=["a"])).status == "found"
    assert find_sequence("preset-distinguishing", pose(partial)).words == (("a",),)
    with pytest.raises(TaskError, match="noise"):
        find_sequence("uio", pose(partial, flip=Fraction(1, 10)))
    with pytest.raises(TaskError, match="noise"):
        find_preset_word(pose(partial, flip=Fraction(1, 10)), "homing")
    for find in (find_characterising_set, find_harmonised_identifiers):
        with pytest.raises(ModelError, match="'m0' and 'm1' are equivalent"):
            find(cerny(3))
        assert find(shift_register(2))[0]
    with pytest.raises(TaskError, match="a kind of sequence"):
        find_sequence("adaptive", pose(partial))
    with pytest.raises(TaskError, match="--cost"):
        find_sequence("uio", pose(partial), cost={"a": 2})
    with pytest.raises(TaskError, match="about the start"):
        find_sequence("incomplete", pose(partial, about="current"))
    with pytest.raises(ModelError):
        grow_separating_tree(partial)
    with pytest.raises(LimitError, match="3000"):
        find_sequence("uio", pose(shift_register(13)))


def test_what_cannot_be_told_apart_is_left_out_and_named() -> None:
    found = find_sequence("incomplete", ROOT / "examples" / "valve" / "serviced.toml")
    facts = found.facts()
    assert facts["incomplete"]["labels"] == ["other"] and facts["incomplete"]["cores"] == [["other", "serviced"]]
    assert found.reason == "left out: serviced" and facts["incomplete"]["most"] == 1 and found.exit_code == 0


def test_costs_count_and_choose_the_word() -> None:
    machine = Machine(
        states=("p", "q"),
        actions=("near", "far"),
        readings=("0", "1"),
        successor=np.zeros((2, 2), dtype=np.int32),
        output=np.array([[0, 0], [1, 1]], dtype=np.int32),
    )
    assert find_sequence("preset-distinguishing", pose(machine, cost={"near": "5/2"})).words == (("far",),)
    dear = find_sequence("preset-distinguishing", pose(machine, cost={"near": "5/2"}, actions=["near"]))
    assert (dear.upper, dear.words) == (Fraction(5, 2), (("near",),))


def test_out_of_time_every_kind_says_so() -> None:
    for kind in get_args(SequenceKind):
        found = find_sequence(kind, pose(cerny(60)), time_limit=0)
        assert found.status in ("undecided", "found") and found.stopped_by == "time", kind
        assert found.exit_code in (0, 3)
    with pytest.raises(OutOfTime), limited(lambda: 0.0, "over"):
        grow_separating_tree(cerny(3))


# The claim.


def judged(task: Task, claim: dict[str, Any]) -> str:
    return certify(task, [claim])[1].word


@st.composite
def claims(draw: st.DrawFn, task: Task) -> dict[str, Any]:
    """Claims of words, some of which are true."""
    shows = draw(st.sampled_from(("separated", "identified", "homed", "synchronized")))
    word = st.lists(st.integers(0, task.model.num_actions - 1), max_size=4)
    if shows in ("homed", "synchronized"):
        return {"claim": "words", "shows": shows, "words": [draw(word)]}
    words = draw(st.lists(word, min_size=1, max_size=3))
    mine = st.lists(st.integers(0, len(words) - 1), max_size=3)
    return {"claim": "words", "shows": shows, "words": words, "of": [draw(mine) for _ in task.state]}


@given(tasks(machines(max_states=3, max_actions=2)), st.data())
@settings(max_examples=200)
def test_a_claim_of_words_is_verified_exactly_if_the_definition_holds(task: Task, data: st.DataObject) -> None:
    claim = data.draw(claims(task))
    assert (judged(task, claim) == "VERIFIED") == slow.is_true(task, claim)


def spoil(rng: Random, claim: dict[str, Any]) -> None:
    """A letter is changed, left out or added, a word is swapped or taken from a hypothesis, or another thing is said to
    be shown."""
    words, kind = claim["words"], rng.randrange(6)
    word = rng.choice(words)
    if kind == 0:
        claim["shows"] = rng.choice(("separated", "identified", "homed", "synchronized"))
    elif kind == 1:
        word.insert(rng.randint(0, len(word)), rng.randrange(2))
    elif kind == 2 and word:
        word.pop(rng.randrange(len(word)))
    elif kind == 3 and word:
        word[rng.randrange(len(word))] = rng.randrange(2)
    elif kind == 4 and "of" in claim:
        mine = rng.choice(claim["of"])
        mine[:] = rng.sample(range(len(words)), rng.randint(0, len(words)))
    else:
        poke(rng, claim)


def true_words(rng: Random, task: Task) -> list[dict[str, Any]]:
    """Claims of random words that are true by the definitions."""
    found: list[dict[str, Any]] = []
    letters = range(task.model.num_actions)
    for _ in range(60):
        words = [rng.choices(letters, k=rng.randint(0, 4)) for _ in range(rng.randint(1, 3))]
        if task.state_label is not None:
            claim: dict[str, Any] = {"shows": rng.choice(("homed", "synchronized")), "words": words[:1]}
        else:
            of = [rng.sample(range(len(words)), rng.randint(0, len(words))) for _ in task.state]
            claim = {"shows": rng.choice(("separated", "identified")), "words": words, "of": of}
        claim["claim"] = "words"
        if slow.is_true(task, claim):
            found.append(claim)
    return found


def campaign(seeds: range, cases: int) -> Counter[tuple[str, str]]:
    """Spoilt claims of words: whatever is verified is true by the definitions."""
    count: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        rng = Random(seed)
        task = random_task(rng)
        claims = true_words(rng, task) if task.model.kind == "machine" else []
        for case in range(cases if claims else 0):
            claim = copy.deepcopy(rng.choice(claims))
            for _ in range(rng.randint(1, 2)):
                if isinstance(claim.get("words"), list) and all(isinstance(word, list) for word in claim["words"]):
                    spoil(rng, claim)
            word = judged(task, claim)
            assert word != "VERIFIED" or slow.is_true(task, claim), (seed, case, claim)
            count["words", word] += 1
    return count


def test_nothing_false_is_verified_among_spoilt_claims() -> None:
    count = campaign(range(20), 40)
    assert min(count["words", word] for word in ("VERIFIED", "REFUTED", "MALFORMED")) > 20, count


# The command.


def test_the_command_writes_what_it_found(tmp_path: Path) -> None:
    facts = answer("sequence", "synchronizing", DIAL, "--certificate", tmp_path / "proof.json")
    assert facts["upper"] == "9"
    assert check((tmp_path / "proof.task.json").read_bytes(), (tmp_path / "proof.json").read_bytes()).word == "VERIFIED"
    call("sequence", "splitting-tree", DIAL, "--out", tmp_path / "tree.json", "--draw", tmp_path / "tree.txt")
    assert "turn turn press" in (tmp_path / "tree.txt").read_text(encoding="utf-8")
    tree = json.loads((tmp_path / "tree.json").read_text(encoding="utf-8"))["tree"]
    assert tree["action"][0] == tree["actions"].index("press") and len(tree["element"]) == 4


def test_what_cannot_be_drawn_or_read_is_refused(tmp_path: Path) -> None:
    assert "--out FILE.json" in call("sequence", "uio", DIAL, "--draw", tmp_path / "words.svg", code=2).stderr
    call("sequence", "uoi", DIAL, code=2)
    call("sequence", "uio", DIAL, "--cost", "turn", code=2)
    call("sequence", "uio", DIAL, "--out", tmp_path / "words.csv", code=2)
    with pytest.raises(AscertainError):
        find_sequence("uio", tmp_path / "none.dot")


@pytest.mark.slow
def test_a_machine_of_a_million_states_has_its_splitting_tree() -> None:
    rng, n = np.random.default_rng(1), 10**6
    machine = Machine(
        states=tuple(map(str, range(n))),
        actions=("a", "b"),
        readings=("0", "1"),
        successor=rng.integers(0, n, (n, 2)).astype(np.int32),
        output=rng.integers(0, 2, (n, 2)).astype(np.int32),
    )
    tree = grow_separating_tree(machine)
    task = pose(machine, hypotheses=["0", "1"])
    for s, t in rng.integers(0, n, (1000, 2)).tolist():
        word = tree.separating_word(s, t)
        assert (word is None) == (tree.leaf[s] == tree.leaf[t])
        assert word is None or slow.separates(task, s, t, word)


@given(tasks(machines(max_states=5, max_actions=2, partial=False), about="start"))
@settings(max_examples=40)
def test_words_that_are_known_when_time_runs_out_separate_what_can_be_separated(task: Task) -> None:
    for kind in ("characterising-set", "identifiers"):
        left = [1.0]

        def run_out(*_: object, left: list[float] = left, **__: object) -> NoReturn:
            left[0] = 0.0
            look_up()
            raise AssertionError("time is over")

        with patch.object(characterising, "find_splitters", run_out), limited(lambda left=left: left[0], "time"):
            check_family(task, find_sequence(kind, task))


def test_uio_sequences_that_are_known_when_time_runs_out_are_kept() -> None:
    left = [1.0]

    def find(*arguments: Any, **options: Any) -> Sought:
        found = find_cheapest(*arguments, **options)
        left[0] = 0.0
        return found

    with patch.object(unique, "find_cheapest", find), limited(lambda: left[0], "time"):
        found = find_sequence("uio", pose(shift_register(3), about="start"))
    assert (found.status, found.stopped_by) == ("undecided", "time")
    assert len(found.words) == 1


def two_counters() -> Task:
    """Which state of two equal counters is it? Of each state and its equal in the other counter one can be told."""
    here = np.arange(6, dtype=np.int32)
    twice = Machine(
        states=tuple(f"c{s}" for s in here.tolist()),
        actions=("up",),
        readings=("-", "wrap"),
        successor=np.where(here % 3 == 2, here - 2, here + 1).astype(np.int32)[:, None],
        output=(here % 3 == 2).astype(np.int32)[:, None],
    )
    return pose(twice, about="start")


def test_the_last_search_for_an_incomplete_identification_gets_as_much_time_as_the_best_one_took() -> None:
    task = two_counters()
    given_limits: list[tuple[float, float]] = []

    def record(task: Task, **options: Any) -> Solution:
        result = solve(task, **options)
        taken = replace(result.stats, seconds=float(len(given_limits)))
        given_limits.append((options["time_limit"], taken.seconds))
        return replace(result, stats=taken)

    with patch.object(incomplete, "solve", record), limited(lambda: 100.0, "ages"):
        found = find_identifiable(task)
    assert found.stopped_by is None
    assert all(limit <= 100.0 for limit, _ in given_limits)
    assert any(limit < 100.0 for limit, _ in given_limits)
    assert found.seconds in {seconds for _, seconds in given_limits}


@pytest.mark.parametrize("work", [1, 3, 8])
def test_ctrl_c_leaves_the_best_set_of_labels_so_far(work: int) -> None:
    task, calls = two_counters(), itertools.count()

    def interrupted(task: Task, **options: Any) -> Solution:
        if next(calls) == work:
            raise KeyboardInterrupt
        return solve(task, **options)

    with patch.object(incomplete, "solve", interrupted):
        found = find_sequence("incomplete", task)
    assert (found.stopped_by, found.exit_code, found.status) == ("interrupt", 130, "found")
    assert found.incomplete is not None and not found.incomplete.is_cheapest
    assert len(found.incomplete.labels) == min(work, 3)


def test_ctrl_c_leaves_the_bound_of_a_search_for_a_word() -> None:
    def expand(node: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        if node[0] > 3:
            raise KeyboardInterrupt
        yield 0, (node[0] + 1,)

    found = find_cheapest(tuple(range(1)), lambda node: False, expand, [5])
    assert (found.word, found.lower, found.stopped_by) == (None, 20, "interrupt")
