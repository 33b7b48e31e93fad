"""Policies: the automaton, its plain form, walking it on plants, and drawing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given

from ascertain.drawing.outline import Outline
from ascertain.drawing.tree import draw_dot, draw_html, draw_svg
from ascertain.errors import FileError, LimitError, ModelError, PlantFault, TaskError
from ascertain.live.walk import walk_policy
from ascertain.model.build import machine_from_transitions
from ascertain.model.named import shift_register
from ascertain.model.noisy import with_flip
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.automaton import Automaton, PolicyTable
from ascertain.policy.plain import named_policy_data, parse_policy
from ascertain.policy.policy import Abstain, Answer, Ask
from ascertain.policy.verdict import Certified, NoneOfThese
from ascertain.problem.pose import pose
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.task import Task
from tests.strategies import machines, tasks

SWITCH = machine_from_transitions(
    [("a", "look", "0", "a"), ("b", "look", "1", "b"), ("a", "turn", "ok", "b"), ("b", "turn", "ok", "a")], "a"
)


def look() -> tuple[Task, Automaton]:
    task = pose(SWITCH)
    return task, Automaton(action=(0, -1, -1), label=(-1, 0, 1), children=({0: 1, 1: 2}, {}, {}))


def test_an_automaton_is_walked() -> None:
    _, policy = look()
    assert policy.decide(policy.start()) == Ask(0)
    assert policy.decide(policy.next(0, 1)) == Answer(1)
    assert isinstance(policy.decide(policy.next(0, 7)), Abstain)
    assert policy.next(policy.next(0, 7), 0) == -1
    assert (policy.size, policy.depth) == (3, 1)


@pytest.mark.parametrize("children", [({0: 0},), ({0: 5},), ({}, {})])
def test_an_automaton_that_could_go_in_circles_is_refused(children: tuple[dict[int, int], ...]) -> None:
    with pytest.raises(ModelError):
        Automaton(action=(0,), label=(-1,), children=children)


@given(tasks(machines(max_states=5)))
def test_the_plain_form_comes_back_as_it_went(task: Task) -> None:
    if task.model.kind != "machine":
        return
    result = solve(task)
    if isinstance(result, Solved):
        assert parse_policy(named_policy_data(task, result.policy), task, "here") == result.policy


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], 'a list "nodes"'),
        ({"nodes": [3]}, "node 0: either"),
        ({"nodes": [{"answer": "zebra"}]}, "'zebra' is not a label"),
        ({"nodes": [{"action": "fly", "next": {}}]}, "'fly' is not an action"),
        ({"nodes": [{"action": "look", "next": {"9": 1}}]}, "'9' is not a reading"),
        ({"nodes": [{"action": "look", "next": {"0": True}}]}, "must be a number"),
        ({"nodes": [{"action": "look", "next": {"0": 1}}]}, "a number from 0 to 0"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(data: object, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        parse_policy(data, look()[0], "plan.json")


def test_a_walk_ends_with_an_answer_and_its_cost() -> None:
    task, policy = look()
    walk = walk_policy(task, policy, SimulatedPlant(task.model, 1))
    assert (walk.verdict, walk.cost, walk.transcript) == (Certified("b"), 1, (("look", "1"),))


def test_a_reading_that_no_hypothesis_gives_is_none_of_these_and_never_a_guess() -> None:
    class Odd:
        def send(self, action: str) -> str:
            return "2"

    class Impossible:
        def send(self, action: str) -> str:
            return "ok"

    task, policy = look()
    assert walk_policy(task, policy, Odd()).verdict == NoneOfThese((("look", "2"),))
    assert walk_policy(task, policy, Impossible()).verdict == NoneOfThese((("look", "ok"),))


def test_a_simulated_plant_refuses_what_its_model_does_not_define() -> None:
    m = machine_from_transitions([("a", "go", "x", "b"), ("b", "back", "x", "a")])
    with pytest.raises(PlantFault, match="'back' is not defined in state 'a'"):
        SimulatedPlant(m, 0).send("back")


def test_simulated_noise_follows_its_law_and_its_seed() -> None:
    noisy = with_flip(SWITCH, Fraction(1, 4))
    runs = [[SimulatedPlant(noisy, 0, seed).send("look") for seed in range(4000)] for _ in range(2)]
    assert runs[0] == runs[1]
    share = Counter(runs[0])["1"] / 4000
    assert abs(share - 0.25) < 0.03  # four standard deviations are 0.027


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def hostile() -> tuple[Task, Outline]:
    m = machine_from_transitions([("<b>a", "<script>", '"0&', "<b>a"), ("b\n", "<script>", "1", "b\n")])
    task = pose(m)
    policy = Automaton(action=(0, -1, -1), label=(-1, 0, 1), children=({0: 1, 1: 2}, {}, {}))
    return task, policy.named(task).outline


def test_drawings_escape_names_and_fetch_nothing() -> None:
    _, outline = hostile()
    svg = draw_svg(outline, "a < b")
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    page = Tags()
    page.feed(draw_html(outline, "a < b", [("cost", "1")]))
    assert not any(tag in {"script", "link", "img", "iframe"} for tag, _ in page.seen)
    assert sum(tag == "details" for tag, _ in page.seen) == 1
    assert '\\"0&' in draw_dot(outline)


def test_shared_subtrees_are_drawn_once() -> None:
    task = pose(SWITCH)
    policy = Automaton(
        action=(1, 0, 0, -1, -1), label=(-1, -1, -1, 0, 1), children=({0: 1, 2: 2}, {0: 2, 1: 2}, {0: 3, 1: 4}, {}, {})
    )
    outline = policy.named(task).outline
    kinds = Counter(node.kind for node in walk(outline))
    assert kinds == {"ask": 3, "again": 2, "answer": 2}
    assert outline.width == 4


def walk(node: Outline) -> Iterator[Outline]:
    yield node
    for child in node.children:
        yield from walk(child)


def test_what_is_forbidden_is_never_sent() -> None:
    task = pose(SWITCH, never=["b"])
    policy = Automaton(action=(1, -1), label=(-1, 0), children=({2: 1}, {}))
    sent: list[str] = []

    class Watched:
        def send(self, action: str) -> str:
            sent.append(action)
            return "ok"

    with pytest.raises(TaskError, match="asks 'turn', which is forbidden"):
        walk_policy(task, policy, Watched())
    assert sent == []


def test_names_cannot_move_the_cursor_or_break_a_drawing() -> None:
    m = machine_from_transitions([("a", "\x1b[31mlook", "0\x07", "a"), ("b", "\x1b[31mlook", "1\u202e", "b")])
    task = pose(m)
    policy = Automaton(action=(0, -1, -1), label=(-1, 0, 1), children=({0: 1, 1: 2}, {}, {}))
    outline = policy.named(task).outline
    for text in (draw_svg(outline, "t"), draw_dot(outline), draw_html(outline, "t", [])):
        assert not any(c in text for c in "\x1b\x07\u202e")
    ElementTree.fromstring(draw_svg(outline, "t"))


def test_a_printed_policy_is_its_tree_with_costs_the_worst_case_and_names_of_shared_nodes() -> None:
    shared = Automaton(
        action=(1, 0, 0, -1, -1), label=(-1, -1, -1, 0, 1), children=({0: 1, 2: 2}, {0: 2, 1: 2}, {0: 3, 1: 4}, {}, {})
    )
    task = pose(SWITCH, cost={"turn": "1/2"})
    assert str(shared.named(task)).splitlines() == [
        "turn                   cost so far, * worst",
        "├── 0 → look           1/2 *",
        "│   ├── 0 → look  #1   3/2 *",
        "│   │   ├── 0 → ✔ a    5/2 *",
        "│   │   └── 1 → ✔ b    5/2 *",
        "│   └── 1 → as at #1   3/2 *",
        "└── ok → as at #1      1/2",
    ]
    assert str(look()[1]).splitlines() == ["action 0", "├── reading 0 → ✔ label 0", "└── reading 1 → ✔ label 1"]
    assert repr(shared) == "Automaton(nodes=5, depth=3)"


@given(tasks(machines(max_states=5)))
def test_the_worst_branch_of_a_drawing_costs_what_the_optimum_costs(task: Task) -> None:
    result = solve(task) if task.model.kind == "machine" else None
    if isinstance(result, Solved) and result.policy.size > 1:
        leaves = [node for node in walk(result.policy.outline) if node.worst and node.kind == "answer" and node.cost]
        again = any(node.kind == "again" for node in walk(result.policy.outline))
        assert again or {Fraction(leaf.cost) for leaf in leaves} == {result.cost}


def test_a_policy_in_circles_is_drawn_without_a_worst_case() -> None:
    table = PolicyTable(action=(0, -1), label=(-1, 0), children=({0: 0, 1: 1}, {})).named(pose(SWITCH))
    assert "* worst" not in str(table) and "as at #1" in str(table)


@pytest.mark.parametrize("suffix", ["svg", "html", "dot", "txt"])
def test_a_policy_draws_itself_into_a_file(suffix: str, tmp_path: Path) -> None:
    task, policy = look()
    policy.named(task).draw(tmp_path / f"tree.{suffix}")
    assert "look" in (tmp_path / f"tree.{suffix}").read_text(encoding="utf-8")
    with pytest.raises(FileError, match="give the file one of these suffixes"):
        policy.draw(tmp_path / "tree.png")


def test_a_policy_that_is_too_deep_is_not_drawn_but_still_printed_in_a_line() -> None:
    n = 400
    deep = Automaton((*(0,) * n, -1), (*(-1,) * n, 0), (*({0: v + 1} for v in range(n)), {}))
    assert str(deep) == "Automaton(nodes=401, depth=400)"
    with pytest.raises(LimitError, match="at most 300"):
        deep.draw("tree.svg")


def test_a_small_machine_draws_its_states_and_a_large_one_is_a_table(tmp_path: Path) -> None:
    SWITCH.draw(tmp_path / "switch.svg")
    root = ElementTree.fromstring((tmp_path / "switch.svg").read_text(encoding="utf-8"))
    texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"a", "b", "look / 0", "turn / ok"} <= texts
    large = shift_register(4)
    assert "<table" in large.html() and "<svg" not in large.html()
    with pytest.raises(LimitError, match="too large to draw"):
        large.draw(tmp_path / "large.svg")
