"""Hidden models: word probabilities, classes and separating words against all words, worlds against definitions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import AscertainError, LimitError, ModelError, TaskError
from ascertain.model import Model
from ascertain.model.files import read_listed, read_model, write_model
from ascertain.model.files.json_hidden import parse_any_model
from ascertain.model.hidden import Belief, HiddenModel, as_hidden, certain, make_belief, make_joint, propagate
from ascertain.model.hidden_build import (
    complete_hidden,
    forbid_entering_hidden,
    keep_readings,
    restrict_hidden,
    with_hidden_reset,
)
from ascertain.model.hidden_checks import missing_laws, stuck_hidden_states, unreached_states, unused_actions
from ascertain.policy.verdict import Abstained, Certified
from ascertain.quotients import belief_pairs
from ascertain.quotients import words as words_module
from ascertain.quotients.belief_pairs import PairSearch
from ascertain.quotients.hidden import (
    find_hidden_obstruction,
    group_states,
    hidden_words,
    push,
    take_hidden_quotient,
)
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.refinement import refine
from ascertain.quotients.separation import separating_word
from ascertain.quotients.span import PRIME, QuickSpan, Span
from ascertain.quotients.words import span_words
from ascertain.sequential.bank import Bank, reuse_bank, uniform_bank
from ascertain.sequential.evidence import Doubts
from ascertain.sequential.hidden_world import HiddenWorld, hidden_world
from ascertain.sequential.labelling import label_states, label_table
from ascertain.sequential.probing import FixedSchedule
from ascertain.sequential.worlds import ListWorld
from ascertain.task.hidden_task import Beliefs, HiddenTask, pose_hidden
from ascertain.task.pose import Log, Pattern, Reset, pose
from ascertain.task.problem import HiddenProblem, read_any_problem, read_problem
from tests.reference.hidden import (
    NaiveHiddenWorld,
    are_alike,
    shortest_difference,
    support_after,
    word_probability,
    words,
)
from tests.strategies import models, names, noisy_machines

F = Fraction


@st.composite
def masses(draw: st.DrawFn, size: int, most: int = 4) -> dict[int, Fraction]:
    """A law on 0 .. size - 1 with few places and a small denominator."""
    places = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=most, unique=True))
    parts = [draw(st.integers(1, 3)) for _ in places]
    return {place: F(part, sum(parts)) for place, part in zip(places, parts, strict=True)}


@st.composite
def hidden_models(draw: st.DrawFn, *, max_states: int = 3, partial: bool | None = False) -> HiddenModel:
    """Small hidden models that often repeat a law, so that states are often equivalent."""
    n, num_actions, num_readings = (draw(st.integers(1, size)) for size in (max_states, 2, 2))
    pool = [
        make_joint({divmod(cell, num_readings): p for cell, p in draw(masses(n * num_readings, 3)).items()})
        for _ in range(draw(st.integers(1, 4)))
    ]
    holes = [()] if partial is True or (partial is None and draw(st.booleans())) else []
    joint = tuple(tuple(draw(st.sampled_from([*pool, *holes])) for _ in range(num_actions)) for _ in range(n))
    initial = tuple(make_belief(draw(masses(n))) for _ in range(draw(st.integers(0, 1))))
    return HiddenModel(
        states=names("s", n),
        actions=names("a", num_actions),
        readings=names("y", num_readings),
        joint=joint,
        initial=initial,
    )


@st.composite
def beliefs(draw: st.DrawFn, model: HiddenModel) -> Belief:
    return make_belief(draw(masses(model.num_states)))


@st.composite
def hidden_tasks(draw: st.DrawFn, partial: bool | None = False) -> HiddenTask:
    model = draw(hidden_models(partial=partial))
    drawn = [draw(beliefs(model)) for _ in range(draw(st.integers(1, 4)))]
    label = [draw(st.integers(0, 2)) for _ in drawn]
    pairs = list(dict.fromkeys(zip(drawn, label, strict=True)))
    return HiddenTask(
        model=model,
        belief=tuple(b for b, _ in pairs),
        name=names("h", len(pairs)),
        label=tuple(k for _, k in pairs),
        labels=names("l", 3),
        cost=(F(1),) * model.num_actions,
    )


TIGER = HiddenModel(
    states=("left", "right"),
    actions=("listen", "open"),
    readings=("hear-left", "hear-right"),
    joint=tuple(
        (
            make_joint({(s, s): F(17, 20), (s, 1 - s): F(3, 20)}),
            make_joint({(t, y): F(1, 4) for t, y in product(range(2), range(2))}),
        )
        for s in range(2)
    ),
    initial=(make_belief({0: 1, 1: 1}),),
)


# ------------------------------------------------------------------------------------------------------------ models


@given(hidden_models(partial=None), st.data())
def test_what_propagation_leaves_is_the_probability_of_the_word(model: HiddenModel, data: st.DataObject) -> None:
    belief = data.draw(beliefs(model))
    letters = st.tuples(st.integers(0, model.num_actions - 1), st.integers(0, len(model.readings) - 1))
    word = tuple(data.draw(st.lists(letters, max_size=3)))
    weights = dict(belief)
    for a, y in word:
        weights = propagate(model, weights, a, y)
    assert sum(weights.values(), F(0)) == word_probability(model, belief, word)


@given(models(max_states=4, max_actions=2, max_readings=2))
def test_a_machine_seen_as_a_hidden_model_reads_and_moves_alike(machine: Model) -> None:
    hidden = as_hidden(machine)
    for s, a in product(range(machine.num_states), range(machine.num_actions)):
        law = hidden.joint[s][a]
        assert {y: p for _, y, p in law} == machine.reading_law(s, a)
        assert {t for t, _, _ in law} == ({int(machine.successor[s, a])} if law else set())
    assert hidden.initial == tuple(certain(s) for s in machine.initial)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"joint": (((),),)}, "a row for each of the 1 states, with an entry for each of the 2 actions"),
        ({"joint": ((((0, 0, F(1, 2)),), ()),)}, "action 'a' in state 's': the probabilities sum to 1/2"),
        ({"joint": ((((0, 1, F(1)), (0, 0, F(0))), ()),)}, "ascending order"),
        ({"joint": ((((0, 2, F(1)),), ()),)}, r"a reading outside 0 \.\. 1"),
        ({"joint": ((((1, 0, F(1)),), ()),)}, r"a state outside 0 \.\. 0"),
        ({"joint": ((((0, 0, F(2)), (0, 1, F(-1))), ()),)}, "only positive probabilities"),
        ({"initial": (((0, F(1, 3)),),)}, "an initial belief: the probabilities sum to 1/3"),
        ({"initial": (((1, F(1)),),)}, r"must list states 0 \.\. 0"),
        ({"states": ()}, "at least one state"),
        ({"readings": ("y", "y")}, "the reading 'y' is listed twice"),
    ],
)
def test_a_hidden_model_that_does_not_hang_together_is_refused(changes: dict[str, object], sentence: str) -> None:
    fields: dict[str, object] = {"states": ("s",), "actions": ("a", "b"), "readings": ("x", "y")}
    fields["joint"] = ((((0, 0, F(1)),), ()),)
    with pytest.raises(ModelError, match=sentence):
        HiddenModel(**{**fields, **changes})  # type: ignore[arg-type]


def test_models_are_built_from_models() -> None:
    partial = HiddenModel(
        states=("s", "t"), actions=("go", "stay"), readings=("x",), joint=((((1, 0, F(1)),), ()), ((), ()))
    )
    assert (missing_laws(partial), unused_actions(partial), stuck_hidden_states(partial)) == (3, [1], [1])
    assert unreached_states(partial) == []
    whole = complete_hidden(partial)
    assert whole.joint[1][0] == ((1, 1, F(1)),)
    assert (whole.is_total, complete_hidden(whole) is whole, whole.readings) == (True, True, ("x", "undefined"))
    assert restrict_hidden(TIGER, ["listen"]).joint == tuple((row[0],) for row in TIGER.joint)
    again = with_hidden_reset(TIGER, "RESET")
    assert again.joint[0][2] == ((0, 2, F(1, 2)), (1, 2, F(1, 2)))
    assert with_hidden_reset(partial, "RESET", to=1).joint[0][2] == ((1, 1, F(1)),)
    assert forbid_entering_hidden(TIGER, [0]).joint[1] == (TIGER.joint[1][0], ())
    stay = restrict_hidden(replace(TIGER, initial=(certain(0),)), ["listen"])
    assert (unreached_states(stay), unreached_states(TIGER)) == ([1], [])
    for wrong, sentence in (
        (lambda: with_hidden_reset(partial, "RESET"), "has none; say where it leads"),
        (lambda: with_hidden_reset(TIGER, "open"), "already exists"),
        (lambda: restrict_hidden(TIGER, []), "none was kept"),
        (lambda: TIGER.state_named("lft"), "did you mean 'left'"),
        (lambda: TIGER.action_named("lsten"), "did you mean 'listen'"),
        (lambda: make_belief({0: 0}), "positive probability"),
    ):
        with pytest.raises(ModelError, match=sentence):
            wrong()


@given(hidden_models(partial=None), st.data())
def test_readings_kept_in_states_change_no_probability(model: HiddenModel, data: st.DataObject) -> None:
    kept = keep_readings(model)
    belief = data.draw(beliefs(model))
    letters = st.tuples(st.integers(0, model.num_actions - 1), st.integers(0, len(model.readings) - 1))
    word = tuple(data.draw(st.lists(letters, max_size=2)))
    one, other = dict(belief), dict(belief)
    for a, y in word:
        one, other = propagate(model, one, a, y), propagate(kept, other, a, y)
    assert sum(one.values(), F(0)) == sum(other.values(), F(0))


# -------------------------------------------------------------------------------------------------------- JSON files


@given(hidden_models(partial=None))
def test_a_hidden_model_is_written_as_json_and_read_again(tmp_path_factory: pytest.TempPathFactory, model) -> None:
    path = tmp_path_factory.mktemp("hidden") / "model.json"
    write_model(model, path)
    assert read_model(path) == model
    with pytest.raises(ModelError, match="this model is hidden; machines"):
        read_listed(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "hiden"}, "kind is 'hiden'; machine, noisy or hidden was expected"),
        ({"colour": 1}, "unknown key 'colour'"),
        ({"version": 2}, "version 1"),
        ({"transitions": 3}, "transitions must be a list"),
        ({"transitions": [["s", "a"]]}, r"transitions\[0\] is not understood"),
        ({"transitions": [["s", "a", []]]}, r"transitions\[0\] lists no next state"),
        ({"transitions": [["s", "a", [["s", "y"]]]]}, r"\[next state, reading, probability\] was expected"),
        ({"transitions": [["s", "a", [["s", "y", 0.5]]]]}, "0.5 is not an exact number"),
        ({"transitions": [["s", "a", [["s", "y", "1/2"]]]]}, "the probabilities sum to 1/2"),
        ({"transitions": [["s", "a", [["s", "y", "-1"]]]]}, "has a negative probability"),
        ({"transitions": [["s", "a", [["s", "y", 0]]]]}, "lists only zeros"),
        ({"transitions": [["s", "a", [["s", "y", 1], ["s", "y", 1]]]]}, "'s' and 'y' twice"),
        ({"transitions": [["s", "a", [["s", "y", 1]]]] * 2}, "in state 's' again"),
        ({"transitions": [["s", "a", [["t", "y", 1]]]], "states": ["s"]}, "names 't', which states does not list"),
        ({"states": ["s", "s"]}, "states lists a name twice"),
        ({"initial": {"s": "1/2"}}, "an initial belief: the probabilities sum to 1/2"),
        ({"initial": [3]}, "a name in quotes was expected"),
    ],
)
def test_what_is_wrong_with_a_hidden_json_model_is_said(changes: dict[str, object], sentence: str) -> None:
    data: dict[str, object] = {"kind": "hidden", "transitions": [["s", "a", [["s", "y", 1]]]]}
    assert isinstance(parse_any_model(data, "m"), HiddenModel)
    with pytest.raises(AscertainError, match=sentence):
        parse_any_model({**data, **changes}, "m")


def test_a_machine_may_say_its_kind_too() -> None:
    model = parse_any_model({"kind": "machine", "transitions": [["s", "a", "y", "s"]]}, "m")
    assert model.kind == "machine"


# --------------------------------------------------------------------------------------------------- linear algebra


@given(st.lists(st.lists(st.integers(-3, 3) | st.sampled_from((PRIME, 1 - PRIME)), min_size=4, max_size=4), max_size=7))
def test_a_span_has_the_rank_of_its_vectors(vectors: list[list[int]]) -> None:
    span, quick = Span(), QuickSpan()
    rank = 0
    for i, vector in enumerate(vectors):
        before, rank = rank, exact_rank(vectors[: i + 1])
        assert span.add(vector) == quick.add(vector) == (rank > before)
        assert span.dimension == quick.dimension == rank
    assert all(not any(span.reduce(vector)) for vector in vectors)


def exact_rank(vectors: list[list[int]]) -> int:
    """The order of the largest minor that is not zero."""
    for size in range(min(len(vectors), 4), 0, -1):
        for rows, columns in product(combinations(vectors, size), combinations(range(4), size)):
            if determinant([[row[c] for c in columns] for row in rows]):
                return size
    return 0


def determinant(matrix: list[list[int]]) -> int:
    if not matrix:
        return 1
    first, *rest = matrix
    minors = ([row[:c] + row[c + 1 :] for row in rest] for c in range(len(first)))
    return sum((-1) ** c * x * determinant(minor) for c, (x, minor) in enumerate(zip(first, minors, strict=True)))


@given(hidden_models())
def test_basis_words_have_the_probabilities_that_their_vectors_say(model: HiddenModel) -> None:
    span = span_words(model)
    assert all(len(word) <= model.num_states - 1 for word in span.words)
    for word, vector in zip(span.words, span.vectors, strict=True):
        exact = [word_probability(model, certain(s), word) for s in range(model.num_states)]
        assert any(exact)
        factor = next(F(v) / p for v, p in zip(vector, exact, strict=True) if p)
        assert [p * factor for p in exact] == [F(v) for v in vector]


@settings(max_examples=60)
@given(hidden_models(), st.data())
def test_beliefs_are_equivalent_when_all_words_up_to_the_theoretical_length_agree(
    model: HiddenModel, data: st.DataObject
) -> None:
    one, other = data.draw(beliefs(model)), data.draw(beliefs(model))
    expected = shortest_difference(model, one, other, model.num_states - 1)
    span = span_words(model)
    assert (span.signature(one) == span.signature(other)) == (expected is None)
    assert expected == shortest_difference(model, one, other, model.num_states)
    for word in (span.separating_word(one, other), PairSearch(model).compare(one, other).word):
        assert (None if word is None else len(word)) == expected
        if word is not None:
            assert word_probability(model, one, word) != word_probability(model, other, word)


@settings(max_examples=60)
@given(hidden_models(partial=True, max_states=3), st.data())
def test_with_forbidden_actions_pairs_are_decided_as_by_trying_all_words(
    model: HiddenModel, data: st.DataObject
) -> None:
    one, other = data.draw(beliefs(model)), data.draw(beliefs(model))
    found = PairSearch(model).compare(one, other)
    # The bound n - 1 is not for partial models; what is found beyond four letters is checked on its own.
    expected = shortest_difference(model, one, other, 3)
    if found.word is None or len(found.word) > 3:
        assert expected is None
    else:
        assert expected == len(found.word)
    if found.word is not None:
        assert word_probability(model, one, found.word) != word_probability(model, other, found.word)
    if found.alike:
        assert are_alike(model, one, other, 3)
    elif found.word is None:
        assert not are_alike(model, one, other, 4)


def may_be_done(model: HiddenModel, belief: Belief, word: tuple[tuple[int, int], ...]) -> bool:
    """Whether each action of the word is defined wherever the plant may be by then."""
    return all(model.joint[s][a] for i, (a, _) in enumerate(word) for s in support_after(model, belief, word[:i]))


@settings(max_examples=60)
@given(hidden_tasks(partial=None))
def test_the_quotient_merges_what_is_alike_and_nothing_else(task: HiddenTask) -> None:
    model, quotient = task.model, take_hidden_quotient(task)
    longest = model.num_states - 1 if model.is_total else 3
    assert (quotient.block, quotient.span.dimension) == group_states(model)
    for s, t in product(range(model.num_states), repeat=2):
        same = quotient.block[s] == quotient.block[t]
        assert same == are_alike(model, certain(s), certain(t), longest)
    for (h, one), (g, other) in product(enumerate(task.belief), repeat=2):
        same = quotient.hypothesis_class[h] == quotient.hypothesis_class[g]
        assert same == (task.label[h] == task.label[g] and are_alike(model, one, other, longest))
    for h, c in enumerate(quotient.hypothesis_class):
        assert quotient.reduced.label[c] == task.label[h]
        pushed = push(task.belief[h], quotient.block)
        for word in words(model, 2):
            # Words that are forbidden on the way are no experiments, and need not be kept.
            allowed = may_be_done(model, task.belief[h], word)
            assert allowed == may_be_done(quotient.reduced.model, pushed, word)
            if allowed:
                assert word_probability(model, task.belief[h], word) == word_probability(
                    quotient.reduced.model, pushed, word
                )
    for (p, q), word in hidden_words(quotient):
        pair = certain(quotient.representative[p]), certain(quotient.representative[q])
        assert (None if word is None else len(word)) == shortest_difference(model, *pair, longest)


@settings(max_examples=60)
@given(hidden_tasks(partial=None))
def test_obstructions_are_the_pairs_that_no_allowed_word_tells_apart(task: HiddenTask) -> None:
    longest = task.model.num_states - 1 if task.model.is_total else 4
    expected = [
        (h, g)
        for h, g in product(range(task.num_hypotheses), repeat=2)
        if h < g
        and task.label[h] != task.label[g]
        and shortest_difference(task.model, task.belief[h], task.belief[g], longest) is None
    ]
    found = find_hidden_obstruction(task)
    assert (found is None) == (not expected)
    if found is not None:
        assert (found.pair, found.num_pairs) == (expected[0], len(expected))
        assert found.rules_out()
        assert not found.rules_out(alpha=F(1, 2))
        assert all(found.coarse_label[task.label[h]] == found.coarse_label[task.label[g]] for h, g in expected)
        assert sorted(name for group in found.groups for name in group) == sorted(task.labels)
        same = task.belief[found.pair[0]] == task.belief[found.pair[1]]
        assert (found.reason == "same state") == same
        assert task.name[found.pair[0]] in found.sentence


@given(models(max_states=5, max_actions=2, max_readings=2))
def test_hidden_algebra_finds_the_classes_and_words_that_refinement_finds(machine: Model) -> None:
    hidden = as_hidden(machine)
    block, _ = group_states(hidden)
    expected = refine(machine).block
    assert all(
        (block[s] == block[t]) == (expected[s] == expected[t]) for s, t in product(range(machine.num_states), repeat=2)
    )
    search = PairSearch(hidden)
    for s in range(1, machine.num_states):
        word, own = search.compare(certain(0), certain(s)).word, separating_word(machine, 0, s)
        assert (word is None) == (own is None)
        assert word is None or own is None or len(word) == len(own)


@given(noisy_machines(max_states=4, max_actions=2, max_readings=2))
def test_hidden_obstruction_agrees_with_that_of_the_machine(machine: Model) -> None:
    label = lambda name: str(int(name[1:]) % 2)  # noqa: E731
    own = find_obstruction(pose(machine, label=label))
    found = find_hidden_obstruction(pose_hidden(as_hidden(machine), label=label))
    assert (own is None) == (found is None)
    if own is not None and found is not None:
        assert (own.pair, own.num_pairs, own.groups) == (found.pair, found.num_pairs, found.groups)


def test_limits_of_the_linear_algebra_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "MAX_STATES", 1)
    with pytest.raises(LimitError, match="the model has 2 states; exact linear algebra"):
        span_words(TIGER)
    monkeypatch.undo()
    monkeypatch.setattr(belief_pairs, "MAX_NODES", 0)
    with pytest.raises(LimitError, match="more than 0 pairs of supports"):
        PairSearch(TIGER).compare(certain(0), certain(0))


# ------------------------------------------------------------------------------------------------------------ worlds


@st.composite
def worlds(draw: st.DrawFn) -> tuple[HiddenModel, list[Belief], Bank, Fraction]:
    model = draw(hidden_models())
    listed = [draw(beliefs(model)) for _ in range(draw(st.integers(1, 4)))]
    chosen = draw(st.lists(st.integers(0, len(listed) - 1), min_size=1, max_size=3, unique=True))
    parts = [draw(st.integers(1, 3)) for _ in chosen]
    spare = draw(st.integers(0, 2))
    bank = Bank(tuple(chosen), tuple(F(p, sum(parts) + spare) for p in parts))
    return model, listed, bank, draw(st.sampled_from((F(0), F(1, 2), F(1, 5), F(9, 10))))


STEPS = st.lists(
    st.tuples(st.sampled_from(("read", "read", "read", "missing", "doubt")), st.integers(0, 1), st.integers(0, 1)),
    max_size=6,
)


@given(worlds(), STEPS)
def test_a_hidden_world_leaves_what_the_definition_leaves(drawn, steps) -> None:
    model, listed, bank, alpha = drawn
    codes = [h % 2 for h in range(len(listed))]
    world = HiddenWorld(model, listed, bank, alpha, labelling=label_table(codes, ("even", "odd"), "hypothesis"))
    naive = NaiveHiddenWorld(model, listed, bank, alpha)
    for kind, a, y in steps:
        action, reading = a % model.num_actions, y % len(model.readings)
        assert world.is_allowed(action)
        if kind == "doubt":
            if world.num_doubts == 2:
                continue
            world.doubt(action)
            naive.doubt(action)
        else:
            world.observe(action, reading if kind == "read" else None)
            naive.observe(action, reading if kind == "read" else None)
        if naive.numerator == 0:
            assert world.verdict() == Abstained("no candidate of the bank explains the readings")
            assert world.evidence_against(0) == -math.inf
            return
        agree(world, naive, codes)


def agree(world: HiddenWorld, naive: NaiveHiddenWorld, codes: list[int]) -> None:
    current = world.current_beliefs()
    assert set(current) == naive.left
    for case, belief in current.items():
        assert belief == make_belief({s: p for s, p in naive.cases[case].items() if p})
    labels = {codes[h] for h, _ in naive.left}
    for label in (0, 1):
        rivals = [case for case in naive.left if codes[case[0]] != label]
        assert world.rivals_left(label) == len(rivals)
        strongest = world.strongest_rival(label)
        assert (strongest is None) == (not rivals)
        if strongest is not None:
            least = min(naive.numerator / naive.likelihood(case) for case in rivals)
            assert strongest.evidence_nats == pytest.approx(math.log(least), abs=1e-6)
            assert world.belief_numbered(strongest.current) == current[strongest.hypothesis, strongest.ran]
            assert world.glance(label).rivals == len(rivals)
    expected = Certified(("even", "odd")[labels.pop()]) if len(labels) == 1 else None
    if not naive.left:
        expected = Abstained("the readings contradict every state of the world")
    assert world.verdict() == expected
    for h in range(len(world.beliefs)):
        values = [naive.likelihood(case) for case in naive.cases if case[0] == h]
        own = math.log(naive.numerator) - math.log(max(values)) if max(values) else math.inf
        assert world.evidence_against(h) == pytest.approx(own, abs=1e-6)
    held = {s for belief in current.values() for s, _ in belief}
    assert world.current_state() == (next(iter(held)) if len(held) == 1 else None)
    assert all(world.may_be_in(lambda states, s=s: states == s) == (s in held) for s in range(world.hidden.num_states))
    number, code = world.leader()
    best = max(w * naive.likelihood(case) for case, w in naive.weight.items())
    leaders = [case for case, w in naive.weight.items() if w * naive.likelihood(case) == best]
    assert code in {codes[h] for h, _ in leaders}
    assert world.belief_numbered(number) in [
        make_belief({s: p for s, p in naive.cases[case].items() if p}) for case in leaders
    ]


@given(noisy_machines(max_states=4, max_actions=2, max_readings=2, partial=False), STEPS)
def test_on_a_machine_a_hidden_world_agrees_with_a_listed_one(machine, steps) -> None:
    n = machine.num_states
    bank, alpha = uniform_bank(range(n)), F(1, 5)
    one = ListWorld(machine, range(n), bank, alpha)
    other = HiddenWorld(as_hidden(machine), [certain(s) for s in range(n)], bank, alpha)
    for kind, a, y in steps:
        action, reading = a % machine.num_actions, y % len(machine.readings)
        for world in (one, other):
            if kind == "doubt":
                world.doubt(action)
            else:
                world.observe(action, reading if kind == "read" else None)
        assert one.verdict() == other.verdict()
        assert (one.world_steps, one.verifier_steps, one.propagation_steps) == (
            other.world_steps,
            other.verifier_steps,
            other.propagation_steps,
        )
        if not isinstance(one.verdict(), Abstained):
            assert [one.rivals_left(s) for s in range(n)] == [other.rivals_left(s) for s in range(n)]


def chance_of_error(task: HiddenTask, truth: int, budget: int, start: int = 0) -> Fraction:
    """The exact probability that the world of a question answers wrongly within a budget, by every transcript."""
    rule = FixedSchedule(tuple(range(start % task.model.num_actions, task.model.num_actions)))

    def walk(history: tuple[tuple[int, int], ...], weights: dict[int, Fraction]) -> Fraction:
        world = hidden_world(task)
        for a, y in history:
            world.observe(a, y)
        verdict = world.verdict()
        if verdict is not None or len(history) == budget:
            mistaken = isinstance(verdict, Certified) and verdict.label != task.labels[task.label[truth]]
            return sum(weights.values(), F(0)) if mistaken else F(0)
        a = rule.choose(world)
        after = [(y, propagate(task.model, weights, a, y)) for y in range(len(task.model.readings))]
        return sum((walk((*history, (a, y)), left) for y, left in after if left), F(0))

    return walk((), dict(task.belief[truth]))


@settings(max_examples=40)
@given(hidden_tasks(), st.sampled_from((F(1, 2), F(1, 4), F(1, 10))), st.integers(0, 1))
def test_a_wrong_answer_is_rarer_than_the_risk_whatever_hypothesis_is_true(
    task: HiddenTask, alpha: Fraction, start: int
) -> None:
    risky = replace(task, alpha=alpha)
    assert all(chance_of_error(risky, truth, 4, start) <= alpha for truth in range(task.num_hypotheses))


def test_the_error_about_the_tiger_is_positive_and_within_the_risk() -> None:
    task = pose_hidden(restrict_hidden(TIGER, ["listen"]), alpha="1/5")
    assert chance_of_error(task, 0, 6) == chance_of_error(task, 1, 6)
    assert 0 < chance_of_error(task, 0, 6) <= task.alpha


def test_listening_settles_where_the_tiger_is() -> None:
    world = hidden_world(pose_hidden(restrict_hidden(TIGER, ["listen"]), alpha="1/100"))
    while world.verdict() is None:
        world.observe(0, 0)
    assert world.verdict() == Certified("left")
    # (17/3)^k >= 2 * 100 - 1 first at k = 4: half of the mixture is the true hypothesis itself.
    assert len(world.history) == 4
    assert world.current_state() == 0


def test_a_bank_may_be_completed_late_on_beliefs_too() -> None:
    listed = [certain(0), certain(1), make_belief({0: 1, 1: 1})]
    later = lambda: Bank((1,), (F(1, 2),))  # noqa: E731
    world = HiddenWorld(TIGER, listed, reuse_bank(0, F(1, 200), F(1, 100), later), F(1, 100))
    whole = HiddenWorld(TIGER, listed, Bank((0, 1), (F(1, 2), F(1, 2))), F(1, 100))
    for _ in range(3):
        world.observe(0, 1)
        whole.observe(0, 1)
    world.complete_bank()
    for h in range(3):
        assert world.evidence_against(h) == pytest.approx(whole.evidence_against(h))


def test_an_action_is_forbidden_while_a_hypothesis_may_be_where_it_is_not_defined() -> None:
    model = HiddenModel(
        states=("a", "b"),
        actions=("look", "press"),
        readings=("x", "y"),
        joint=(
            (make_joint({(0, 0): F(9, 10), (0, 1): F(1, 10)}), ((0, 0, F(1)),)),
            (make_joint({(1, 0): F(1, 10), (1, 1): F(9, 10)}), ()),
        ),
    )
    world = HiddenWorld(model, [certain(0), make_belief({0: 1, 1: 1})], uniform_bank((0, 1)), F(1, 4))
    assert (world.is_allowed(0), world.is_allowed(1), world.is_allowed(2)) == (True, False, False)
    with pytest.raises(TaskError, match="action 'press' is not defined in a state where the plant may be"):
        world.observe(1, 0)
    certain_world = HiddenWorld(model, [certain(0), certain(1)], uniform_bank((0, 1)), F(1, 4))
    certain_world.observe(0, 0)
    certain_world.observe(0, 0)
    assert certain_world.verdict() == Certified("0")
    assert certain_world.is_allowed(1)


def test_too_many_doubts_and_impossible_worlds_are_refused() -> None:
    world = HiddenWorld(TIGER, [certain(0)], uniform_bank((0,)), F(1, 4), doubts=Doubts(limit=1))
    world.doubt(0)
    world.doubt(1)
    assert world.verdict() == Abstained("more than 1 actions may or may not have run")
    for wrong, sentence in (
        (lambda: HiddenWorld(TIGER, [], uniform_bank((0,)), F(1, 4)), "at least one hypothesis"),
        (lambda: HiddenWorld(TIGER, [certain(0)], uniform_bank((1,)), F(1, 4)), "lists hypothesis 1; there are 1"),
        (
            lambda: HiddenWorld(TIGER, [certain(0)], uniform_bank((0,)), F(1, 4), labelling=label_states()),
            "labels on a hidden model belong to hypotheses",
        ),
        (lambda: world.evidence_against(1), "hypothesis 1 is not one of the world's"),
        (lambda: world.belief_numbered(99), "99 is no belief of this world"),
    ):
        with pytest.raises(TaskError, match=sentence):
            wrong()


# ------------------------------------------------------------------------------------------------- tasks and problems


def test_a_question_is_posed_about_states_and_beliefs() -> None:
    assert pose_hidden(TIGER).name == ("left", "right")
    assert pose_hidden(TIGER, hypotheses="initial").belief == TIGER.initial
    assert pose_hidden(TIGER, hypotheses=Pattern("^l")).name == ("left",)
    table = Beliefs({"even": {"left": "1/2", "right": "1/2"}, "sure": {"left": 1}})
    task = pose_hidden(TIGER, hypotheses=table, label={"even": "unknown", "*": "known"}, reset=Reset("RESET"))
    assert task.belief == (make_belief({0: 1, 1: 1}), certain(0))
    assert [task.labels[k] for k in task.label] == ["unknown", "known"]
    assert task.model.actions == ("listen", "open", "RESET")
    assert pose_hidden(TIGER, label={"nominal": "left"}).labels == ("nominal", "other")


@pytest.mark.parametrize(
    ("words_", "sentence"),
    [
        ({"about": "current"}, "stays a belief and cannot be certified"),
        ({"flip": "1/50"}, "this model says its noise itself"),
        ({"undefined": "loop"}, "'loop' is not understood"),
        ({"hypotheses": Log("x.csv")}, "a log is not followed on a hidden model"),
        ({"hypotheses": "some"}, "'some' is not understood"),
        ({"hypotheses": []}, "nothing is named"),
        ({"hypotheses": Pattern("z")}, "nothing is named"),
        ({"hypotheses": ["lefd"]}, "did you mean 'left'"),
        ({"hypotheses": Beliefs({"b": {"left": "1/2"}})}, "sum to 1/2"),
        ({"hypotheses": Beliefs({"b": {"left": "3/2", "right": "-1/2"}})}, "must not be negative"),
        ({"label": {"lefd": "x", "*": "y"}}, "'lefd' is not a hypothesis; did you mean 'left'"),
        ({"label": {"bits": ["b"]}}, "for Boolean plants and networks; this model is a hidden"),
        ({"cost": {"listen": 0}}, "a cost must be positive"),
        ({"alpha": 1}, "alpha is 1"),
    ],
)
def test_what_a_hidden_question_cannot_ask_is_said(words_: dict[str, object], sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        pose_hidden(TIGER, **words_)  # type: ignore[arg-type]


PROBLEM = """
[model]
kind = "hidden"
initial = { a = "1/2", b = "1/2" }
transitions = [
  ["a", "look", [["a", "x", "9/10"], ["b", "y", "1/10"]]],
  ["b", "look", [["b", "y", 1]]],
  ["c", "look", [["c", "y", 1]]],
]
[task]
hypotheses = { beliefs = { mixed = { a = "1/2", b = "1/2" }, second = { b = 1 }, third = { c = 1 } } }
[risk]
alpha = "1/100"
"""


def test_a_problem_file_may_be_about_a_hidden_model(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(PROBLEM)
    problem = read_any_problem(path)
    assert isinstance(problem, HiddenProblem)
    assert problem.task.name == ("mixed", "second", "third")
    found = find_hidden_obstruction(problem.task)
    assert found is not None
    assert found.pair == (1, 2)
    assert found.groups == (("mixed",), ("second", "third"))
    with pytest.raises(TaskError, match=r"the model is hidden, and this needs a machine.*inspect and quotient"):
        read_problem(path)
    path.write_text(PROBLEM + "[observe]\nbudget = 3\n")
    with pytest.raises(TaskError, match=r"\[observe\] is for machines and Boolean plants"):
        read_any_problem(path)
    path.write_text(
        'model = { transitions = [["s", "a", "y", "s"]] }\n[task]\nhypotheses = { beliefs = { s = { s = 1 } } }'
    )
    with pytest.raises(TaskError, match="beliefs are for hidden models"):
        read_any_problem(path)
