"""Probing rules are a registry: one that a test module brings is chosen by the command line and by a problem file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ascertain.cli.main import build
from ascertain.errors import AscertainError
from ascertain.evidence.probing import AbstractRule
from ascertain.evidence.worlds import AbstractWorld
from ascertain.observer.probing import PROBING, ProbingRule
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action
from tests.conftest import ROOT

LAMP = ROOT / "examples" / "plants" / "lamp.toml"


class LastAllowed(AbstractRule):
    """The last action that is allowed, always."""

    def __init__(self, question: AbstractQuestion) -> None:
        self.num_actions = question.model.num_actions

    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        return max(a for a in range(self.num_actions) if (world.is_allowed(a) if allowed is None else a in allowed))


LAST = ProbingRule(
    "last",
    "the last action that is allowed",
    LastAllowed,
    serves=lambda question: question.model.num_actions > 1,
    audience="questions with a choice of actions",
)


@pytest.fixture
def last() -> Iterator[ProbingRule]:
    PROBING.register(LAST)
    yield LAST
    PROBING._by_word.pop("last")


def observe(problem: Path, *words: str, code: int) -> dict[str, Any]:
    done = CliRunner().invoke(build(), ["observe", str(problem), "--plant", "simulated:3", "--json", *words])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def test_a_rule_of_a_test_module_is_used_by_the_command_line(last: ProbingRule) -> None:
    facts = observe(LAMP, "--probing", "last", "--budget", "3", code=3)
    assert [action for action, _, _ in facts["transcript"]] == ["look"] * 3
    turns = observe(LAMP, "--probing", "round-robin", "--budget", "3", code=3)
    assert [action for action, _, _ in turns["transcript"]] == ["press the switch", "look", "press the switch"]


def test_a_problem_file_may_name_it(last: ProbingRule, tmp_path: Path) -> None:
    problem = tmp_path / "problem.toml"
    problem.write_text(LAMP.read_text().replace("budget = 60", 'budget = 3\nprobing = "last"'))
    assert {action for action, _, _ in observe(problem, code=3)["transcript"]} == {"look"}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("seperating", "did you mean 'separating'"),
        ("last", "; planned (the cheapest experiment that the solver finds); round-robin"),
    ],
)
def test_a_name_that_nobody_has_is_refused_with_those_that_there_are(name: str, sentence: str) -> None:
    done = CliRunner().invoke(build(), ["observe", str(LAMP), "--plant", "simulated:3", "--probing", name])
    assert done.exit_code == 2 and sentence in done.stderr


def test_a_rule_says_whom_it_serves_and_a_name_is_taken_once(last: ProbingRule, tmp_path: Path) -> None:
    with pytest.raises(AscertainError, match="'last' is taken already"):
        PROBING.register(ProbingRule("last", "", LastAllowed))
    problem = tmp_path / "problem.toml"
    problem.write_text('[task]\nactions = ["look"]\n' + LAMP.read_text().replace('"press the switch" = 2', ""))
    done = CliRunner().invoke(build(), ["observe", str(problem), "--plant", "simulated:3", "--probing", "last"])
    assert done.exit_code == 2 and "last is for questions with a choice of actions; use separating" in done.stderr
