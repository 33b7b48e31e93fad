"""Policies under noise as things: exported, written, read back, drawn, simulated; files that do not fit are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ascertain.errors import AscertainError, FileError, LimitError, TaskError
from ascertain.live.walk import walk_policy
from ascertain.model.build import machine_from_transitions
from ascertain.model.named import register
from ascertain.pipeline.bound import bound
from ascertain.pipeline.observe import observe
from ascertain.pipeline.settle import settle
from ascertain.pipeline.simulate import simulate, simulate_runs
from ascertain.planning.composition import compose, skeleton
from ascertain.planning.exported import Controller, export_policy
from ascertain.planning.lagrangian import search_prices
from ascertain.planning.policy_file import read_policy, write_policy
from ascertain.planning.policy_forms import parse_controller, policy_data
from ascertain.planning.two_sided import bound_both_sides
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.policy import AbstractPolicy
from ascertain.problem.pose import pose
from ascertain.problem.pose_plant import pose_plant
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from tests.reference.registers import far_sensor, parity_register, permutation_automaton, sensor_bank

TENTH = Fraction(1, 10)
ALPHA, BETA = Fraction(1, 20), Fraction(1, 10)


def posed(task: Task) -> Task:
    return replace(task, alpha=ALPHA, beta=BETA)


def sensors(count: int = 3) -> Task:
    return posed(pose(sensor_bank(count), flip=TENTH))


def far() -> Task:
    return posed(pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH))


def plant(label: Any, make: Callable[[int, Fraction], Any] = register) -> PlantTask:
    return replace(pose_plant(make(4, TENTH), label=label), alpha=ALPHA, beta=BETA)


def searched(task: Task, slots: Any) -> Any:
    found = search_prices(task, ALPHA, BETA, slots=slots).best
    assert found is not None
    return found.policy


def composed(task: Task) -> Any:
    plan = solve(skeleton(task))
    assert isinstance(plan, Solved)
    return compose(task, plan.policy, ALPHA, BETA)["best"]


def cases() -> dict[str, tuple[Task | PlantTask, Any]]:
    """Every kind of upper side, on a small question."""
    three, moved = sensors(), posed(pose(permutation_automaton(3, 2, 1), flip=TENTH))
    which, levels = plant({"bits": ["b0", "b1", "b2", "b3"]}, parity_register), plant({"nominal": "0101"})
    certain = pose(far_sensor(3), hypotheses=["left0", "right0"])
    return {
        "driven": (far(), searched(far(), "named")),
        "ranked": (three, searched(three, "ranked")),
        "nameless": (moved, searched(moved, "nameless")),
        "tree": (far(), composed(far())),
        "product": (which, bound_both_sides(which).policy),
        "levels": (levels, bound_both_sides(levels).policy),
        "deterministic": (certain, bound_both_sides(certain).policy),
    }


CASES = cases()


def walk(policy: AbstractPolicy[Any], controller: Controller, seed: int) -> tuple[object, object]:
    """What a policy does on a plant, and what it answers; not why it abstains."""
    question = controller.question
    start = question.start_of(seed % min(question.num_hypotheses, 16))
    done = walk_policy(question, policy, SimulatedPlant(question.model, start, seed), controller.label)
    return done.transcript, getattr(done.verdict, "label", None)


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_is_read_back_and_does_what_was_found(name: str, tmp_path: Path) -> None:
    question, policy = CASES[name]
    controller = export_policy(question, policy)
    read = read_policy(write_policy(tmp_path / "p.json", controller), [question])
    write_policy(tmp_path / "again.json", read)
    assert (tmp_path / "p.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert read.risk() == controller.risk()
    for seed in range(200):
        wanted = walk(policy, controller, seed)
        assert walk(controller.policy, controller, seed) == walk(read.policy, read, seed) == wanted


@pytest.mark.parametrize("name", CASES)
def test_the_exported_policy_is_evaluated_within_what_was_certified(name: str) -> None:
    question, policy = CASES[name]
    wrong, abstain, cost = export_policy(question, policy).risk()
    assert wrong <= question.alpha or name == "deterministic"
    assert abstain <= question.beta
    if name in ("product", "levels", "deterministic"):
        upper = bound_both_sides(question).upper
        assert upper is not None and cost <= upper


@pytest.mark.parametrize("name", CASES)
def test_answers_have_the_names_of_the_question(name: str, tmp_path: Path) -> None:
    question, policy = CASES[name]
    path = write_policy(tmp_path / "p.json", export_policy(question, policy))
    counted = simulate_runs(question, path, runs=150, seed=3)
    # Far more than alpha would be wrong if answers were named wrongly.
    assert counted.wrong.count <= 25
    assert counted.abstained.count <= 40


@pytest.mark.parametrize("name", CASES)
def test_the_policy_is_drawn(name: str) -> None:
    question, policy = CASES[name]
    assert export_policy(question, policy).outline().lines > 2


def test_a_24_bit_register_is_not_expanded(tmp_path: Path) -> None:
    question = pose_plant(register(24, TENTH), alpha=Fraction(1, 4_000_000), beta=Fraction(1, 1000))
    found = bound(question)
    path = found.write_policy(tmp_path / "p.json")
    assert path.stat().st_size < 200_000
    read = read_policy(path, [question])
    assert found.upper is not None and read.risk()[2] <= found.upper
    assert read.label(5) == f"{5:024b}"
    assert simulate(question, path, state=f"{5:024b}").walks[0].right


def test_a_plain_table_of_a_controller_does_the_same() -> None:
    question, policy = CASES["ranked"]
    controller = export_policy(question, policy)
    table = controller.table()
    assert Controller(question, table).risk() == controller.risk()
    with pytest.raises(LimitError, match="not enumerated"):
        export_policy(*CASES["product"]).table()


TREE = [
    {"action": "look0", "alpha": "1/50", "beta": "1/20", "cost": "9", "next": {"1": 1, "0": 2}},
    {"answer": "s0"},
    {"action": "look1", "alpha": "1/50", "beta": "1/20", "next": {"1": 3, "0": 4}},
    {"answer": "s1"},
    {"answer": "s2"},
]


def test_a_tree_of_tests_that_someone_wrote_is_composed_and_evaluated() -> None:
    wrong, abstain, cost = parse_controller({"tree": TREE}, sensors(), "here").risk()
    assert 0 < wrong <= Fraction(2, 50) and 0 < abstain <= Fraction(2, 20) + Fraction(2, 50)
    assert 2 < cost < 20
    stricter = [{**node, "alpha": "1/1000"} if "alpha" in node else node for node in TREE]
    assert parse_controller({"tree": stricter}, sensors(), "here").risk()[0] <= Fraction(2, 1000) < wrong


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"alpha": "2"}, "node 0: alpha: '2' is not a probability"),
        ({"alpha": "0"}, "node 0: alpha: '0' is not a probability"),
        ({"cost": "1/100"}, "node 0: cost: the best test found"),
        ({"next": {"1": 0, "0": 2}}, "children come after"),
        ({"action": "zebra"}, "'zebra' is not an action"),
    ],
)
def test_a_tree_of_tests_that_does_not_fit_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        parse_controller({"tree": [{**TREE[0], **change}, *TREE[1:]]}, sensors(), "here")


def test_a_node_that_tests_needs_its_risks() -> None:
    for key in ("alpha", "beta"):
        bare = {k: v for k, v in TREE[0].items() if k != key}
        with pytest.raises(FileError, match=f"node 0: {key} is missing"):
            parse_controller({"tree": [bare, *TREE[1:]]}, sensors(), "here")
    bare = {k: v for k, v in TREE[0].items() if k in ("action", "next")}
    with pytest.raises(FileError, match="needs alpha and beta"):
        parse_controller({"tree": [bare, *TREE[1:]]}, sensors(), "here")


def spoil(data: Any, path: list[Any], value: Any) -> Any:
    """A copy with one place changed; a value of None removes it."""
    copy = json.loads(json.dumps(data))
    spot = copy
    for key in path[:-1]:
        spot = spot[key]
    if value is None:
        del spot[path[-1]]
    else:
        spot[path[-1]] = value
    return copy


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["format"], "ascertain-task", 'the format must be "ascertain-policy"'),
        (["version"], 2, "the version 1"),
        (["version"], True, "the version 1"),
        (["made_by"], None, "'made_by' is missing"),
        (["task_sha256"], "0" * 64, "another task"),
        (["alpha"], "1/3", "another task"),
        (["alpha"], "7", "alpha is 7"),
        (["alpha"], "x", "alpha: 'x' is not a number"),
        (["extra"], 1, "'extra' does not belong here"),
        (["policy"], [], 'a policy has a list "nodes"'),
        (["policy", "nodes"], {}, 'a list "nodes"'),
        (["policy", "nodes"], [], "at least one"),
        (["policy", "most_actions"], -1, "most_actions: '-1' is not a number from 0"),
        (["policy", "most_actions"], 10**7, "is not a number from 0"),
        (["policy", "most_actions"], "9", "is not a number from 0"),
        (["policy", "nodes", 0, "action"], "zebra", "node 0: 'zebra' is not an action"),
        (["policy", "nodes", 0, "action"], ["x"], "is not an action"),
        (["policy", "nodes", 0, "next", "dark"], 10**9, "must be a number from 0"),
        (["policy", "nodes", 0, "next", "dark"], True, "must be a number from 0"),
        (["policy", "nodes", 0, "next", "zebra"], 0, "'zebra' is not a reading"),
        (["policy", "nodes", 0, "answer"], "left0", 'either "answer", or "action" and "next"'),
        (["policy", "slots"], {"labels": []}, "an object with labels, sensors is needed"),
        (["policy", "slots"], {"labels": [], "sensors": []}, "at least one slot"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(path: list[Any], value: Any, sentence: str, tmp_path: Path) -> None:
    question, policy = CASES["driven"]
    written = write_policy(tmp_path / "p.json", export_policy(question, policy))
    written.write_text(
        json.dumps(spoil(json.loads(written.read_text(encoding="utf-8")), path, value)), encoding="utf-8"
    )
    with pytest.raises(FileError, match=sentence):
        read_policy(written, [question])


@pytest.mark.parametrize(
    ("name", "path", "value", "sentence"),
    [
        ("ranked", ["slots", "labels", 0], "zebra", "is not a label"),
        ("ranked", ["slots", "sensors", 0], "zebra", "is not an action"),
        ("ranked", ["slots", "sensors", 0], None, "one for each hypothesis"),
        ("ranked", ["nodes", 0, "action"], 3, "'3' is not an action"),
        ("ranked", ["nodes", 0, "moves"], [], "an object by reading"),
        ("ranked", ["nodes", 0, "moves", "0"], [0, 0, 1], "every slot"),
        ("ranked", ["nodes", 0, "moves", "0"], ["0", 1, 2], "numbers of slots"),
        ("product", ["tests", 0, 0, "next", "2"], 0, "'2' is not a reading"),
        ("product", ["tests", 0, 0], {"answer": 2}, "'2' is not a label"),
        ("product", ["order", 0, "test"], 9, "test: '9' is not a number"),
        ("product", ["order", 0, "action"], "sum1", "is read twice"),
        ("product", ["order", 0], None, "no test reads 'sum0'"),
        ("product", ["order", 0, "more"], 1, "an object with action, test"),
        ("levels", ["levels", "nominal", 0], 7, "is not a number from 0 to 1"),
        ("levels", ["levels", "nominal", 0], 0, "values that are nominal"),
        ("levels", ["levels", "caps", 0], 0, "at least 1"),
        ("levels", ["levels", "caps", 0], None, "a cap for each level"),
        ("levels", ["levels", "actions", 0], None, "each factor"),
        ("levels", ["levels", "up"], 10**9, "is not a number"),
        ("deterministic", ["nodes", 0, "next"], 3, 'either "answer"'),
    ],
)
def test_every_form_is_checked(name: str, path: list[Any], value: Any, sentence: str) -> None:
    question, policy = CASES[name]
    data = spoil(policy_data(export_policy(question, policy)), path, value)
    with pytest.raises(FileError, match=sentence):
        parse_controller(data, question, "here")


@pytest.mark.parametrize(("name", "other"), [("product", "driven"), ("driven", "product"), ("levels", "product")])
def test_a_form_for_another_kind_of_question_is_refused(name: str, other: str) -> None:
    data = policy_data(export_policy(*CASES[name]))
    with pytest.raises(FileError, match=r"here: "):
        parse_controller(data, CASES[other][0], "here")


@pytest.mark.parametrize("name", CASES)
def test_whatever_stands_in_a_file_is_a_policy_or_one_sentence(name: str) -> None:
    question, policy = CASES[name]
    data = policy_data(export_policy(question, policy))
    rng = Random(f"spoilt {name}")
    values: list[Any] = [None, -1, 0, 1, 10**9, True, "", "zebra", [], {}, [0], {"0": 0}, {"answer": None}]
    for _ in range(120):
        spot: Any = json.loads(json.dumps(data))
        root = spot
        while True:
            key = rng.choice(list(spot) if isinstance(spot, dict) else range(len(spot)))
            if not isinstance(spot[key], dict | list) or not spot[key] or rng.random() < 0.2:
                break
            spot = spot[key]
        spot[key] = rng.choice(values)
        try:
            parse_controller(root, question, "here")
        except FileError as error:
            assert str(error).startswith("here")


def test_what_goes_round_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascertain.live.walk.MAX_ACTIONS", 100)
    circle = parse_controller(
        {"nodes": [{"action": "walk", "next": {"dark": 0, "left": 0, "right": 0}}]}, far(), "here"
    )
    with pytest.raises(AscertainError, match="not ended after 100 actions"):
        simulate(far(), circle, state="left0")
    with pytest.raises(AscertainError, match="go on for ever"):
        circle.risk()


def test_the_plan_of_solve_is_a_policy_file_that_simulate_and_observe_take(tmp_path: Path) -> None:
    task = pose(machine_from_transitions([("a", "look", "0", "a"), ("b", "look", "1", "b")]))
    path = settle(task).write_policy(tmp_path / "plan.json")
    assert [walk.right for walk in simulate(task, str(path)).walks] == [True, True]
    seen = observe(task, "simulated:1", policy=path, certificate=tmp_path / "c.json")
    assert (seen.right, seen.certificate) == (True, "VERIFIED")
    stuck = pose(machine_from_transitions([("a", "look", "0", "a"), ("b", "look", "0", "b")]))
    with pytest.raises(TaskError, match="no policy was found, so that there is none to write"):
        settle(stuck).write_policy(tmp_path / "none.json")


def test_a_policy_to_simulate_is_a_name_or_a_path() -> None:
    task = pose(machine_from_transitions([("a", "look", "0", "a"), ("b", "look", "1", "b")]))
    assert simulate(task, "certified") == simulate(task)
    with pytest.raises(TaskError, match="did you mean 'certified'"):
        simulate(task, "certifed")
    with pytest.raises(TaskError, match="observe runs those that collect evidence"):
        simulate(task, "eager")
    with pytest.raises(FileError, match="no such file"):
        simulate(task, "./certified")


def test_a_policy_that_cannot_be_followed_is_refused_with_the_name_of_its_file(tmp_path: Path) -> None:
    task = pose(machine_from_transitions([("a", "look", "0", "a"), ("b", "look", "1", "b")]))
    path = tmp_path / "endless.json"
    path.write_text('{"nodes": [{"action": "look", "next": {"0": 0, "1": 0}}]}')
    with pytest.raises(TaskError, match=r"endless.json: the policy may go on for ever"):
        observe(task, "simulated:1", policy=path)
