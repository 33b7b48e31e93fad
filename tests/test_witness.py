"""Why a question is unsolvable, drawn: every branch of the tree is true of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from ascertain.drawing.outline import Outline
from ascertain.errors import LimitError
from ascertain.model.build import machine_from_transitions
from ascertain.pipeline.settle import settle
from ascertain.problem.pose import pose
from ascertain.search import witness
from ascertain.search.solution import Unsolvable
from ascertain.search.witness import outline_witness
from ascertain.task.task import Task
from tests.strategies import machines, tasks

# Each of x and y tells one of the three apart, and after either all are in one state.
ONE_SHOT = [
    *(("a", "x", "0", "end"), ("b", "x", "0", "end"), ("c", "x", "1", "end"), ("end", "x", "-", "end")),
    *(("a", "y", "0", "end"), ("b", "y", "1", "end"), ("c", "y", "0", "end"), ("end", "y", "-", "end")),
]


def one_shot() -> Task:
    return pose(machine_from_transitions(ONE_SHOT), hypotheses=["a", "b", "c"])


def test_the_witness_says_what_is_left_after_every_action(tmp_path: Path) -> None:
    settle(one_shot()).draw(tmp_path / "why.txt")
    assert (tmp_path / "why.txt").read_text().splitlines() == [
        "a or b or c",
        "├── x / 0 → ✘ labels differ, but all react as end",
        "└── y / 0 → ✘ labels differ, but all react as end",
    ]


@pytest.mark.parametrize("suffix", [".html", ".svg", ".dot"])
def test_the_witness_is_drawn_in_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"why{suffix}"
    settle(one_shot()).draw(path, "Why not")
    assert "all react as end" in path.read_text()


@given(tasks(machines(max_states=5)))
def test_every_set_has_an_answer_to_every_action_that_it_allows(task: Task) -> None:
    solution = settle(task).solution
    if not isinstance(solution, Unsolvable):
        return
    rows = solution.witness.rows
    names = {f"{a} / {y}" for a in task.model.actions for y in task.model.readings}

    def check(node: Outline) -> None:
        if node.kind == "ask":
            assert len(node.children) == len(rows[node.number].moves) > 0
        for child in node.children:
            assert child.reading in names
            assert child.number in {k for _, k in rows[node.number].moves.values()}
            check(child)

    check(outline_witness(task, solution.witness))


def test_a_witness_that_nobody_could_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "MAX_ROWS", 1)
    with pytest.raises(LimitError, match="at most 1 are drawn"):
        settle(one_shot()).draw(tmp_path / "why.txt")
