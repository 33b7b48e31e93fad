"""Policies: the automaton, its plain form, walking it on plants, and drawing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from ascertain.report.drawing import draw_dot, draw_html, draw_svg
from ascertain.report.outline import Outline, outline_policy
from hypothesis import given

from ascertain.errors import FileError, ModelError, PlantFault, TaskError
from ascertain.live.walk import walk_policy
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_flip
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.automaton import Automaton
from ascertain.policy.plain import named_policy_data, parse_policy
from ascertain.policy.policy import Abstain, Answer, Ask
from ascertain.policy.verdict import Abstained, Certified
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.pose import pose
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
        ({"nodes": [{"action": "look", "next": {"0": 0}}]}, "children come after"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(data: object, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        parse_policy(data, look()[0], "plan.json")


def test_a_walk_ends_with_an_answer_and_its_cost() -> None:
    task, policy = look()
    walk = walk_policy(task, policy, SimulatedPlant(task.model, 1))
    assert (walk.verdict, walk.cost, walk.transcript) == (Certified("b"), 1, (("look", "1"),))


def test_an_unknown_reading_is_an_abstention_and_never_a_guess() -> None:
    class Odd:
        def send(self, action: str) -> str:
            return "2"

    class Impossible:
        def send(self, action: str) -> str:
            return "ok"

    task, policy = look()
    assert walk_policy(task, policy, Odd()).verdict == Abstained("reading '2' is outside the model")
    assert walk_policy(task, policy, Impossible()).verdict == Abstained(
        "none of these: a reading that no hypothesis explains"
    )


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
    return task, outline_policy(task, policy)


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
    outline = outline_policy(task, policy)
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
    outline = outline_policy(task, policy)
    for text in (draw_svg(outline, "t"), draw_dot(outline), draw_html(outline, "t", [])):
        assert not any(c in text for c in "\x1b\x07\u202e")
    ElementTree.fromstring(draw_svg(outline, "t"))
