"""Plants: simulated, recorded, by hand, or whatever has a method send."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import ModelError, PlantFault, TaskError
from ascertain.model.boolean import BooleanPlant
from ascertain.model.named import register
from ascertain.plant.abstract import BarePlant, as_plant, check_identity
from ascertain.plant.faults import (
    Garbled,
    HungUp,
    InDoubt,
    Late,
    Missing,
    Refused,
)
from ascertain.plant.manual import ManualPlant
from ascertain.plant.replayed import Recorded, ReplayedPlant
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.plants import open_plant
from ascertain.problem.problem import read_problem
from ascertain.problem.truth import draw_truth, end_of_run
from tests.conftest import ROOT
from tests.reference.models import enumerate_noisy
from tests.strategies import models
from tests.test_lines import fake

LAMP = ROOT / "examples" / "plants"


# ----------------------------------------------------------------------------------------------------- simulated


def test_a_boolean_plant_reads_as_its_enumeration_does() -> None:
    plant = register(4, Fraction(1, 3))
    for state in range(16):
        small, large = SimulatedPlant(plant, state, 7), SimulatedPlant(enumerate_noisy(plant), state, 7)
        word = [plant.actions[i % 4] for i in range(40)]
        assert [small.send(a) for a in word] == [large.send(a) for a in word]
        assert small.state == large.state


def test_the_flips_of_a_boolean_plant_come_as_often_as_it_says() -> None:
    plant = SimulatedPlant(register(1, Fraction(1, 4)), 1, 3)
    wrong = sum(plant.send(plant.model.actions[0]) == "0" for _ in range(8000))
    assert 1850 < wrong < 2150  # 2000 expected; 3.9 standard deviations


@given(models(partial=False), st.integers(0, 99), st.data())
def test_a_resumed_simulation_reads_what_an_uninterrupted_one_reads(model, seed, data) -> None:
    word = data.draw(st.lists(st.sampled_from(model.actions), max_size=12))
    cut = data.draw(st.integers(0, len(word)))
    whole, later = SimulatedPlant(model, 0, seed), SimulatedPlant(model, 0, seed)
    readings = [whole.send(a) for a in word]
    later.resume(word[:cut])
    assert [later.send(a) for a in word[cut:]] == readings[cut:]
    assert not word or cut == len(word) or later.repeat(word[-1]) == readings[-1]
    assert later.state == whole.state


def test_a_simulated_plant_refuses_what_its_model_does_not_define() -> None:
    problem = read_problem(ROOT / "examples" / "valve" / "leak.toml")
    model = problem.task.model
    s, a = next((s, a) for s in range(model.num_states) for a in range(model.num_actions) if model.successor[s, a] < 0)
    with pytest.raises(Refused, match="is not defined in state"):
        SimulatedPlant(model, s).send(model.actions[a])
    with pytest.raises(ModelError, match="not an action"):
        SimulatedPlant(model, 0).send("nonsense")


def test_the_truth_of_a_seed_is_a_hypothesis_and_always_the_same() -> None:
    problem = read_problem(LAMP / "lamp.toml")
    truths = [draw_truth(problem, seed).start for seed in range(40)]
    assert truths == [draw_truth(problem, seed).start for seed in range(40)]
    assert set(truths) == {0, 1}
    valve = read_problem(ROOT / "examples" / "valve" / "leak.toml")
    assert {draw_truth(valve, seed).start for seed in range(300)} == set(valve.task.state.tolist())


OPERATION = """
[model]
bits = 5
flip = "1/20"
[[model.command]]
name = "fill"
gates = [["set", "b0"], ["copy", "b1", "b0"]]
tap = "b1"
[[model.command]]
name = "drain"
gates = [["clear", "b0"], ["xor", "b2", "b1", "b3"]]
tap = "b2"
[[model.command]]
name = "turn"
gates = [["not", "b3"], ["cnot", "b4", "b3"]]
tap = "b4"
[risk]
alpha = "1/1000"
[operation]
log = "run.csv"
start = "00000"
replaced = 2
alternatives = { "*" = ["", "turn"], fill = ["drain", "fill fill"] }
"""


def test_the_truth_after_an_operation_is_the_end_of_a_run_that_agrees_with_trusted_readings(tmp_path: Path) -> None:
    from ascertain.problem.operation import pose_operation

    (tmp_path / "p.toml").write_text(OPERATION)
    rows = ["fill,1,true", "turn,1,", "drain,0,true", "fill,1,", "turn,1,true", "drain,0,", "turn,1,"]
    (tmp_path / "run.csv").write_text("command,reading,trusted\n" + "\n".join(rows) + "\n")
    problem = read_problem(tmp_path / "p.toml")
    operation, plant = pose_operation(problem), problem.question.model
    assert isinstance(plant, BooleanPlant)
    counts: set[int] = set()
    for seed in range(150):
        truth = draw_truth(problem, seed)
        assert truth == draw_truth(problem, seed)
        state, instead = operation.start, dict(truth.replacements)
        for t, row in enumerate(rows):
            command, reading, trusted = row.split(",")
            for name in instead.get(t, (plant.actions.index(command),)):
                state, _ = plant.step(state, name)
            tapped = state >> plant.commands[plant.actions.index(command)].tap & 1
            assert not trusted or tapped == int(reading)
        assert state == truth.start == end_of_run(operation, truth.replacements)
        counts.add(len(instead))
        for t, word in instead.items():
            assert word in operation.alternatives[int(operation.sent[t])]
    assert counts == {0, 1, 2}


# --------------------------------------------------------------------------------------------- recorded, by hand


def test_a_recording_answers_in_its_order_and_refuses_anything_else_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("command,reading\nlook,lit\n\npress the switch,click\nlook,\n")
    plant = open_plant(f"replay:{path}", read_problem(LAMP / "lamp.toml"))
    assert plant.send("look") == "lit"
    with pytest.raises(Refused, match=r"run\.csv:4: 'look' was asked where 'press the switch' was recorded"):
        plant.send("look")
    assert plant.send("press the switch") == "click"
    with pytest.raises(Missing, match="nothing was read"):
        plant.send("look")
    with pytest.raises(HungUp, match="the recording ends after 3 actions"):
        plant.send("look")


def test_a_recording_can_be_taken_up_midway() -> None:
    plant = ReplayedPlant([Recorded(2, "a", "x"), Recorded(3, "b", None), Recorded(4, "a", "y")], "log")
    plant.resume(["a", "b"])
    assert plant.send("a") == "y"
    with pytest.raises(Refused, match="log:2"):
        ReplayedPlant([Recorded(2, "a", "x")], "log").resume(["b"])


def test_a_recording_goes_past_an_action_in_doubt_now_as_when_it_is_taken_up_again() -> None:
    rows = [Recorded(2, "a", "x"), Recorded(3, "a", "y"), Recorded(4, "a", "z")]
    plant, again = ReplayedPlant(rows, "log"), ReplayedPlant(rows, "log")
    plant.resume(["a"])
    plant.skip("a")
    again.resume(["a", "a"])
    assert plant.send("a") == again.send("a") == "z"


def test_a_person_is_asked_for_readings_that_the_action_can_give() -> None:
    answers = iter(["click", "lit"])
    plant = ManualPlant({"look": ("lit", "dark"), "press": ("click",)}, lambda prompt: next(answers))
    assert plant.send("look") == "lit"


def by_hand(*typed: str, readings: tuple[str, ...] = ("open", "shut")) -> tuple[ManualPlant, list[str]]:
    answers, prompts = iter(typed), []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    return ManualPlant({"look": readings}, ask), prompts


def test_a_person_is_shown_the_readings_and_asked_again_after_a_typing_mistake() -> None:
    plant, prompts = by_hand("opne", "%zz", "  shut ")
    assert plant.send("look") == "shut"
    assert "do look" in prompts[0] and "open, shut" in prompts[0]
    assert "did you mean 'open'?" in prompts[1]
    assert "what you type then counts as read" in prompts[2]
    assert len(prompts) == 3


def test_what_a_person_types_the_third_time_counts_as_read_though_the_model_has_no_such_reading() -> None:
    plant, prompts = by_hand("ajar", "ajar", "ajar", "shut")
    assert plant.send("look") == "ajar"
    assert len(prompts) == 3
    with pytest.raises(Garbled):
        by_hand("ajar", "", " ")[0].send("look")


def test_a_person_can_say_that_nothing_was_read_or_done_or_known_and_leave() -> None:
    plant, _ = by_hand("?", "!stuck", "~")
    for fault in (Missing, Refused, InDoubt, HungUp):
        with pytest.raises(fault):
            plant.send("look")


def test_a_reading_that_looks_like_a_mark_is_typed_escaped() -> None:
    plant, _ = by_hand("%3F", "%", "!ok", readings=("?", "", "!ok"))
    assert [plant.send("look"), plant.send("look")] == ["?", ""]
    with pytest.raises(Refused):
        plant.send("look")


# ----------------------------------------------------------------------------------------------- names and texts


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("simulate:7", "did you mean 'simulated'?"),
        ("simulated:", "the seed '' is not a whole number"),
        ("simulated:x", "the seed 'x'"),
        ("simulated:1:nowhere", "'nowhere' is not a state"),
        ("tcp://host", "write tcp://HOST:PORT"),
        ("tcp://host:99999", "write tcp://HOST:PORT"),
        ("tcp://:80", "write tcp://HOST:PORT"),
        ("tcp://host:80/path", "write tcp://HOST:PORT"),
        (
            "frobnicate",
            "; write exec:COMMAND, tcp://HOST:PORT, manual: (you type readings), replay:FILE, simulated:SEED[:STATE]",
        ),
    ],
)
def test_a_plant_that_is_not_understood_is_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises((TaskError, ModelError)) as caught:
        open_plant(text, read_problem(LAMP / "lamp.toml"))
    assert complaint in str(caught.value)


def test_a_simulated_plant_can_be_told_its_state() -> None:
    plant = open_plant("simulated:3:lit", read_problem(LAMP / "lamp.toml"))
    assert sum(plant.send("look") == "lit" for _ in range(50)) > 40


def test_a_timeout_that_makes_no_sense_is_refused() -> None:
    for timeout in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(TaskError, match="--timeout"):
            open_plant("simulated:1", read_problem(LAMP / "lamp.toml"), timeout=timeout)


def test_a_plant_that_is_not_the_one_meant_is_refused() -> None:
    plant, _ = fake(greeting=b"plant valve%207")
    check_identity(plant, None)
    check_identity(plant, "valve 7")
    with pytest.raises(PlantFault, match="it is 'valve 7', and 'valve 8' was expected"):
        check_identity(plant, "valve 8")


def test_anything_that_sends_is_a_plant_and_its_broken_connections_are_faults() -> None:
    class Bench:
        name = "bench"
        errors = iter([TimeoutError("slow"), ConnectionResetError("gone"), EOFError()])

        def send(self, action: str) -> str:
            raise next(self.errors)

    plant = as_plant(Bench())
    assert isinstance(plant, BarePlant) and plant.name == "bench" and not plant.retry_safe
    for fault in (Late, HungUp, HungUp):
        with pytest.raises(fault):
            plant.send("a")
    with pytest.raises(AssertionError, match="not retry-safe"):
        plant.repeat("a")
    assert as_plant(plant) is plant


def test_the_plants_of_the_docs_are_the_example_files() -> None:
    page = (ROOT / "docs" / "plants.md").read_text(encoding="utf-8")
    for name, language, first in (("lamp.py", "py", "lit, last"), ("lamp.sh", "sh", "lit=lit")):
        shown = page.split(f"```{language}\n")[1].split("```")[0]
        source = (LAMP / name).read_text(encoding="utf-8")
        assert source[source.index(first) :] == shown
