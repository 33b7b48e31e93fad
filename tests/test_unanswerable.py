"""Questions that cannot be answered cost nothing: they are refused, or end as soon as that is known."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from ascertain.errors import TaskError
from ascertain.model import Machine, NoisyMachine
from ascertain.model.files import write_model
from ascertain.model.hidden import as_hidden
from ascertain.model.named import register
from ascertain.pipeline.observe import observe
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Contradicted
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose import pose
from ascertain.problem.pose_hidden import Beliefs, pose_hidden
from ascertain.problem.pose_plant import pose_plant
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.supports import find_uncertain_pair
from ascertain.task.task import Task
from tests.calls import answer, call
from tests.strategies import noisy_machines, tasks

LEFT = "nothing that is allowed tells apart what is left: "


def table(successor: list[list[int]], output: list[list[int]]) -> Machine:
    return Machine(
        states=tuple("abcdef"[: len(successor)]),
        actions=tuple("xyz"[: len(successor[0])]),
        readings=("0", "1"),
        successor=np.array(successor, dtype=np.int32),
        output=np.array(output, dtype=np.int32),
    )


TWINS = table([[0], [1], [2]], [[0], [0], [1]])
"""a and b are two names of one state; c is told by a reading."""


# ---- hypotheses that nothing tells apart


def test_a_run_stops_when_only_twins_are_left_and_names_them() -> None:
    for start, verdict in (("a", Abstained(LEFT + "a or b")), ("b", Abstained(LEFT + "a or b")), ("c", Certified("c"))):
        run = observe(pose(TWINS), f"simulated:1:{start}").run
        assert (run.verdict, run.observer.counters.actions) == (verdict, 1)
    alike = observe(pose(TWINS, hypotheses=["a", "b"]), "simulated:1")
    assert (alike.run.verdict, alike.run.observer.counters.actions) == (Abstained(LEFT + "a or b"), 0)


def test_with_noise_too_and_within_the_actions_that_it_took_to_beat_the_others() -> None:
    task = pose(TWINS, flip="1/10", alpha="1/1000")
    run = observe(task, "simulated:3:a").run
    assert run.verdict == Abstained(LEFT + "a or b") and 3 <= run.observer.counters.actions < 30


def test_a_label_that_asks_for_the_class_is_answered() -> None:
    task = pose(TWINS, label="class")
    assert task.labels == ("a or b", "c")
    for start, label in (("a", "a or b"), ("b", "a or b"), ("c", "c")):
        assert observe(task, f"simulated:1:{start}").run.verdict == Certified(label)
    apart = register(3)
    assert pose(apart, label="class").labels == pose(apart).labels
    many = table([[0]] * 1, [[0]])
    large = Machine(
        states=tuple(f"s{i}" for i in range(20)),
        actions=many.actions,
        readings=many.readings,
        successor=np.zeros((20, 1), dtype=np.int32),
        output=np.zeros((20, 1), dtype=np.int32),
    )
    assert pose(large, label="class").labels == (" or ".join(f"s{i}" for i in range(8)) + " or 12 others",)


def test_classes_of_a_hidden_model_are_those_of_its_beliefs() -> None:
    even = {"a": "1/2", "c": "1/2"}
    beliefs = Beliefs({"one": even, "two": {"b": "1/2", "c": "1/2"}, "same": even, "sure": {"c": 1}})
    hidden = as_hidden(TWINS)
    task = pose_hidden(hidden, hypotheses=beliefs, label="class", alpha="1/100")
    assert task.labels == ("one or two or same", "sure") and task.num_hypotheses == 3
    named = pose_hidden(hidden, hypotheses=Beliefs({"a": {"a": 1}, "b": {"b": 1}, "c": {"c": 1}}), alpha="1/100")
    run = observe(named, "simulated:1:a").run
    assert run.verdict == Abstained(LEFT + "a or b") and run.observer.counters.actions < 5


def test_a_stalemate_counts_only_what_everything_left_allows() -> None:
    # y would tell a from b, but c forbids it, and x does not rule c out.
    model = table([[0, 0], [1, 1], [2, -1]], [[0, 0], [0, 1], [0, -1]])
    run = observe(pose(model), "simulated:1:a").run
    assert (run.verdict, run.observer.counters.actions) == (Abstained(LEFT + "a or b or c"), 0)
    # Where x leads to states that allow y, it is found out.
    through = table([[3, 0], [4, 1], [2, -1], [3, 3], [4, 4]], [[0, 0], [0, 1], [1, -1], [0, 0], [0, 1]])
    task = pose(through, hypotheses=["a", "b", "c"])
    assert {observe(task, f"simulated:1:{s}").run.verdict for s in "abc"} == set(map(Certified, "abc"))


def test_a_question_about_the_current_state_may_be_settled_without_a_reading() -> None:
    model = table([[2, 0], [2, 1], [2, 2]], [[0, 0], [0, 0], [0, 0]])
    run = observe(pose(model, about="current"), "simulated:1:a").run
    assert run.verdict == Certified("c")
    assert observe(pose(model), "simulated:1:a").run.verdict == Abstained(LEFT + "a or b or c")


def test_a_search_that_is_too_long_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascertain.observer.stalemate.MAX_LOOKUPS", 1)
    run = observe(pose(TWINS), "simulated:1:a", budget=5).run
    assert run.verdict == Abstained("the budget of 5 actions is spent")


@pytest.mark.parametrize("bits", [3, 14])
def test_bits_of_a_plant_that_nothing_reads_are_named_as_what_is_left(bits: int) -> None:
    """All bits but the last are read; a large plant is looked at once what is left is a list."""
    plant = register(bits, Fraction(1, 10))
    read = [plant.actions[i] for i in range(bits - 1)]
    run = observe(pose_plant(plant, actions=read, alpha="1/100"), SimulatedPlant(plant, 0, 1)).run
    assert isinstance(run.verdict, Abstained)
    assert run.verdict.reason == LEFT + f"{'0' * bits} or 1{'0' * (bits - 1)}"
    assert run.observer.counters.actions < 20 * bits


# ---- certainty under noise


def by_words(task: Task) -> set[frozenset[int]]:
    """Pairs of hypotheses of different labels that show the same words of readings, as long as a word must be."""
    model, found = task.model, set[frozenset[int]]()
    longest = model.num_states * (model.num_states - 1) // 2 + 1
    for h, g in product(range(task.num_hypotheses), repeat=2):
        if h >= g or task.label[h] == task.label[g]:
            continue
        pairs = {(int(task.state[h]), int(task.state[g]))}
        apart = by_law = False
        for _ in range(longest):
            after = set[tuple[int, int]]()
            for (s, t), a in product(pairs, range(model.num_actions)):
                one, other = model.reading_law(s, a), model.reading_law(t, a)
                if not one or not other:
                    continue
                apart |= one.keys() != other.keys()
                by_law |= one != other
                after.add((model.next_state(s, a), model.next_state(t, a)))
            pairs = after
        if not apart and by_law:
            found.add(frozenset((h, g)))
    return found


@settings(max_examples=60)
@given(tasks(noisy_machines(max_states=3, max_actions=2, max_readings=2), max_hypotheses=3))
def test_a_pair_is_uncertain_exactly_when_its_words_have_the_same_supports(task: Task) -> None:
    if task.state_label is not None:
        return  # there words may also settle a pair by leading it to one label
    found, pairs = find_uncertain_pair(task), by_words(task)
    if found is not None:
        names = [task.name_candidate(s) for s in task.candidates]
        assert any({names[h] for h in pair} == set(found) for pair in pairs)
    elif find_obstruction(task) is None:  # else labels are joined, which may hide a pair
        assert not pairs


def test_noise_without_risk_is_refused_before_anything_is_sent() -> None:
    class Untouched(AbstractPlant):
        name = "untouched"

        def send(self, action: str) -> str:
            raise AssertionError(f"{action} was sent")

    noisy = pose(register(2).as_machine(), flip="1/10")
    refusal = "alpha is 0, and with noise nothing rules out"
    for question in (noisy, pose_plant(register(2, Fraction(1, 10))), pose_hidden(as_hidden(noisy.model))):
        with pytest.raises(TaskError, match=refusal):
            observe(question, Untouched())
        assert find_uncertain_pair(question) is not None


def test_noise_that_leaves_something_impossible_is_no_reason_to_refuse() -> None:
    half = Fraction(1, 2)
    model = NoisyMachine(
        states=("a", "b"),
        actions=("x",),
        readings=("0", "1", "2"),
        successor=np.array([[0], [1]], dtype=np.int32),
        law=np.array([[0], [1]], dtype=np.int32),
        laws=(((0, half), (1, half)), ((1, half), (2, half))),
    )
    for question in (pose(model), pose_hidden(as_hidden(model))):
        assert find_uncertain_pair(question) is None
        assert isinstance(observe(question, "simulated:5:a").run.verdict, Certified)


# ---- what ran is counted, and named for what it is


def test_an_action_whose_reading_is_refused_is_counted_and_resumed_as_counted(tmp_path: Path) -> None:
    class Odd(AbstractPlant):
        name = "odd"

        def send(self, action: str) -> str:
            raise Contradicted("two answers to one action")

    task = pose(TWINS, cost={"x": 3})
    found = observe(task, Odd(), journal=tmp_path / "j").facts()
    assert (found["actions"], found["readings"], found["cost"]) == (1, 0, "3")
    assert found["transcript"] == [["x", None, True]] and found["plant_failed"]
    again = observe(task, Odd(), journal=tmp_path / "j", resume=True).facts()
    assert {key: again[key] for key in ("actions", "cost", "reason", "transcript")} == {
        key: found[key] for key in ("actions", "cost", "reason", "transcript")
    }
    third = observe(task, Odd(), journal=tmp_path / "j", resume=True).facts()
    assert third["actions"] == 1


def test_an_exact_run_speaks_of_rivals_and_not_of_nats(tmp_path: Path) -> None:
    path = tmp_path / "twins.toml"
    write_model(TWINS, tmp_path / "m.json")
    path.write_text('model = "m.json"\n[task]\nlabel = "class"\n')
    done = call("observe", path, "--plant", "simulated:1:a")
    assert "certified: a or b" in done.stdout and "began as (simulated)" in done.stdout
    for word in ("nats", "fallback", "alpha", "truth"):
        assert word not in done.stdout + done.stderr
    assert answer("observe", path, "--plant", "simulated:1:c")["truth"] == "c"
