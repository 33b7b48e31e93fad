"""Environments of Gymnasium as plants, its own and one that goes wrong, and problems as environments."""

from __future__ import annotations

import contextlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import ascertain
from ascertain.errors import AscertainError, PlantFault, TaskError
from ascertain.pipeline.environment import as_environment
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Restarted
from ascertain.plant.wiring.plant import WiredPlant, open_wiring
from tests.calls import call
from tests.conftest import ROOT

gymnasium = pytest.importorskip("gymnasium")
env_checker = pytest.importorskip("gymnasium.utils.env_checker")
from tests import gymnasium_lamp  # noqa: E402, F401  registers the lamp

EXAMPLES = ROOT / "examples"
LAMP = EXAMPLES / "plants" / "lamp.toml"
POND, LAKE = EXAMPLES / "plants" / "frozen_lake.toml", EXAMPLES / "wiring" / "frozen_lake.toml"
WIRING = """
[plant]
kind = "gymnasium"
address = "AscertainLamp-v0"
timeout = {timeout}
arguments = {{ {arguments} }}
{plant}
[[action]]
name = "look"
{look}
bands = {{ dark = "< 10", lit = ">= 10" }}
[[action]]
name = "press the switch"
steps = [{{ query = 1 }}]
read = "/terminated"
map = {{ false = "click", true = "bang" }}
"""
LOOK = 'steps = [{ query = 0, take = "/observation/0" }]'


def wire(folder: Path, arguments: str = "", plant: str = "", timeout: float = 5.0, look: str = LOOK) -> Path:
    path = folder / "lamp.toml"
    path.write_text(WIRING.format(arguments=arguments, plant=plant, timeout=timeout, look=look))
    return path


def open_lamp(*args: Any, **words: Any) -> contextlib.closing[WiredPlant]:
    return contextlib.closing(open_wiring(wire(*args, **words)))


@pytest.mark.parametrize(("lit", "label"), [("true", "lit"), ("false", "dark")])
def test_an_environment_is_observed(tmp_path: Path, lit: str, label: str) -> None:
    facts = json.loads(call("observe", LAMP, "--plant", wire(tmp_path, f"lit = {lit}"), "--json").stdout)
    assert (facts["verdict"], facts["label"], facts["plant"]) == ("certified", label, "AscertainLamp-v0")


@pytest.mark.parametrize(("rows", "label"), [('"SF", "HG"', "hole below"), ('"SH", "FG"', "hole right")])
def test_the_frozen_lake_of_gymnasium_says_where_its_hole_is(tmp_path: Path, rows: str, label: str) -> None:
    path = tmp_path / "lake.toml"
    path.write_text(LAKE.read_text().replace('"SF", "HG"', rows))
    assert f"certified: {label}" in call("observe", POND, "--plant", path).stdout
    with contextlib.closing(open_wiring(path)) as plant:  # both models, walked: resets are as the model has them
        problem = ascertain.read_problem(POND)
        model: Any = problem.question.model
        state = model.state_named(label, "here")
        for action in ["left", "down", "right", "right", "down", "left", "down", "down", "right"] * 2:
            ((state, reading, _),) = model.joint_law(state, model.action_named(action, "here"))
            assert plant.send(action) == model.readings[reading]


def test_values_are_found_by_pointers(tmp_path: Path) -> None:
    steps = 'steps = [{ query = 1 }, { query = "reset" }, { query = 1, take = "/info/deep/x/1" }]\nread = "/info/part"'
    path = wire(tmp_path, plant="seed = 5", look=steps)
    path.write_text(path.read_text().replace('bands = { dark = "< 10", lit = ">= 10" }', ""))
    with contextlib.closing(open_wiring(path)) as plant:
        assert plant.send("look") == "3"
    for pointer, reading in (("/reward", "0"), ("/info/deep/x/1", "0.5"), ("/truncated", "false")):
        path.write_text(path.read_text().replace('read = "/info/part"', f'read = "{pointer}"'))
        with contextlib.closing(open_wiring(path)) as plant:
            assert plant.send("look") == reading
        path.write_text(path.read_text().replace(f'read = "{pointer}"', 'read = "/info/part"'))
    with open_lamp(tmp_path, plant="seed = 5", look='read = "/info/seed"') as plant:
        assert plant.send("look") == "dark"  # 5, of the first reset: nothing was done yet


@pytest.mark.parametrize(
    ("mode", "fault", "match"),
    [
        ("gone", HungUp, "the simulator has died"),
        ("bug", PlantFault, "ZeroDivisionError: a bug"),
        ("nan", Garbled, "fits nothing"),
        ("odd", Garbled, "has nothing at '/observation/0'"),
        ("slow", InDoubt, "did not answer in time; it may have been done"),
    ],
)
def test_faults_of_an_environment(tmp_path: Path, mode: str, fault: type[PlantFault], match: str) -> None:
    with open_lamp(tmp_path, f'at = 2, mode = "{mode}", seconds = 0.8', timeout=0.5) as plant:
        assert plant.send("look") == "lit"
        with pytest.raises(fault, match=match):
            plant.send("look")
        assert not plant.may_repeat("look")
        if mode == "slow":
            assert plant.send("press the switch") == "click"  # waits for the one that was late, whose value is dropped
            assert plant.send("look") == "dark"
        elif mode == "gone":
            with pytest.raises(HungUp):
                plant.send("look")


def test_the_end_of_an_episode_is_a_fault_or_a_reset_as_the_wiring_says(tmp_path: Path) -> None:
    end = 'at = 2, mode = "end"'
    with open_lamp(tmp_path, end) as plant:
        assert [plant.send("look"), plant.send("press the switch")] == ["lit", "bang"]
        with pytest.raises(HungUp, match="the episode is over"):
            plant.send("look")
        assert not plant.may_repeat("look")
    with open_lamp(tmp_path, end, 'episode_end = "reset"', look=LOOK) as plant:
        path = plant.wiring.path
        assert [plant.send("look"), plant.send("look")] == ["lit", "lit"]
        assert [plant.send("press the switch"), plant.send("look"), plant.send("look")] == ["click", "dark", "lit"]
    ended = json.loads(call("observe", LAMP, "--plant", wire(tmp_path, end), "--json", code=4).stdout)
    assert ended["verdict"] == "abstained" and "the episode is over" in ended["reason"]
    with contextlib.closing(open_wiring(path)) as plant, pytest.raises(Restarted):
        plant.resume(["look"])


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "AscertainLamp-v0",
            "NoSuchThing-v0",
            "{path}: [plant] address: 'NoSuchThing-v0' cannot be made: NameNotFound",
        ),
        (
            "query = 1",
            "query = 2",
            "{path}: [[action]] query 2 is no action of AscertainLamp-v0, which takes Discrete(2)",
        ),
        (
            "query = 1",
            "query = [1]",
            "{path}: [[action]] query [1] is no action of AscertainLamp-v0, which takes Discrete(2)",
        ),
        ("query = 1", 'query = "on"', "{path}: [[action]] 'press the switch' step 1: query 'on' is not understood"),
        (
            "/terminated",
            "terminated",
            "{path}: [[action]] 'press the switch' read: take: 'terminated' is not understood",
        ),
        (
            "arguments = {  }",
            "arguments = { lamp = 3 }",
            "{path}: [plant] address: 'AscertainLamp-v0' cannot be made: TypeError",
        ),
        ("arguments", 'episode_end = "again"\narguments', "{path}: [plant] episode_end: 'again' is not understood"),
        ("arguments", "reconnect = true\narguments", "{path}: [plant] reconnect: connecting starts a plant"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    path = wire(tmp_path)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(TaskError) as error:
        open_wiring(path)
    assert str(error.value).startswith(sentence.replace("{path}", str(path)))


def test_an_environment_may_be_in_a_module_beside_the_file_and_take_lists(tmp_path: Path) -> None:
    (tmp_path / "pendulum_of_mine.py").write_text("""
import gymnasium, numpy as np
class Pendulum(gymnasium.Env):
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (), np.float32)
    def reset(self, *, seed=None, options=None):
        self.x = 0.0
        return np.float32(self.x), {}
    def step(self, action):
        self.x += float(action[0])
        return np.float32(self.x), 0.0, False, False, {}
gymnasium.register("PendulumOfMine-v0", entry_point=Pendulum)
""")
    path = tmp_path / "w.toml"
    path.write_text("""
[plant]
kind = "gymnasium"
address = "pendulum_of_mine:PendulumOfMine-v0"
[[action]]
name = "push"
steps = [{ query = [0.5] }]
""")
    with contextlib.closing(open_wiring(path)) as plant:
        assert [plant.send("push"), plant.send("push")] == ["0.5", "1"]


# ------------------------------------------------------------------------------------- a problem as an environment

PROBLEMS = [LAMP, POND, EXAMPLES / "valve" / "leak.toml"]


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_gymnasium_finds_nothing_wrong_with_a_problem_as_an_environment(path: Path) -> None:
    environment = as_environment(path)
    env_checker.check_env(environment)
    again = gymnasium.make(environment.spec)
    assert again.reset(seed=4)[0] == len(environment.readings)
    again.close()


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_an_episode_is_what_the_model_allows_and_rewards_are_minus_the_costs(path: Path) -> None:
    problem = ascertain.read_problem(path)
    question: Any = problem.listed_question
    model = question.model
    environment = ascertain.as_environment(problem, wrong="7/2", max_actions=8)
    rights: set[bool] = set()
    for seed in range(30):
        observation, info = environment.reset(seed=seed)
        environment.action_space.seed(seed)
        assert (observation, info) == (len(environment.readings), {"reading": None, "cost": "0"})
        worlds = {(h, question.start_of(h)) for h in range(question.num_hypotheses)}
        cost, is_over = Fraction(0), False
        while not is_over:
            action = int(environment.action_space.sample())
            observation, reward, is_answered, is_cut, info = environment.step(action)
            is_over = is_answered or is_cut
            if action >= len(environment.actions):
                assert is_answered and reward in (0.0, -3.5) and info["right"] == (reward == 0.0)
                label = environment.labels[action - len(environment.actions)]
                truths = {(label in question.true_labels(question.start_of(h), end)) for h, end in worlds}
                assert info["right"] in truths  # what is said of the answer is true in a world that fits the readings
                rights.add(info["right"])
                continue
            a = model.action_named(environment.actions[action], "here")
            cost += question.cost[a]
            assert reward == -float(question.cost[a]) and info["cost"] == str(cost)
            seen = None if info["reading"] is None else model.readings.index(info["reading"])
            assert observation == (len(environment.readings) if seen is None else seen)
            laws = {(h, s): model.joint_law(s, a) for h, s in worlds}
            worlds = {(h, t) for (h, _), law in laws.items() for t, y, _ in law if y == seen} | {
                (h, s) for (h, s), law in laws.items() if not law and seen is None
            }
            assert worlds
    assert rights == {True, False}
    with pytest.raises(TaskError):
        environment.step(0)


def test_an_agent_that_follows_the_solution_is_always_right_and_pays_what_it_costs() -> None:
    environment = as_environment(POND)
    right = environment.actions.index("right")
    below, on_the_right = (len(environment.actions) + environment.labels.index(f"hole {x}") for x in ("below", "right"))
    for seed in range(20):
        environment.reset(seed=seed)
        _, reward, *_, info = environment.step(right)
        *_, is_answered, _, last = environment.step(below if info["reading"] == "ice" else on_the_right)
        assert reward == -1.0 and is_answered and last == {"reading": None, "cost": "1", "right": True}


def test_an_environment_of_a_problem_can_be_wired(tmp_path: Path) -> None:
    gymnasium.register(
        "PondOfOurs-v0", entry_point="ascertain.pipeline.environment:as_environment", kwargs={"problem": str(POND)}
    )
    path = tmp_path / "w.toml"
    text = (
        LAKE.read_text()
        .replace("FrozenLake-v1", "PondOfOurs-v0")
        .replace('take = "/terminated"', 'take = "/info/reading"')
    )
    text = text.replace('map = { true = "end", false = "ice" }', "").replace("arguments", "# arguments")
    path.write_text(
        text.replace("query = 1", "query = 3").replace("query = 2", "query = 1").replace("query = 3", "query = 2")
    )
    assert "certified: hole" in call("observe", POND, "--plant", path).stdout


@pytest.mark.parametrize(("words", "sentence"), [({"wrong": -1}, "negative"), ({"max_actions": 0}, "1 or more")])
def test_wrong_settings_are_refused(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        as_environment(LAMP, **words)
