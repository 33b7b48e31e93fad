"""Probing rules are a registry: one that a test module brings is chosen by the command line and by a problem file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import AscertainError
from ascertain.evidence.probing import AbstractRule
from ascertain.evidence.worlds import AbstractWorld
from ascertain.live.journal import Journal
from ascertain.observer.probing import PROBING, ProbingRule
from ascertain.problem.observer import pose_observer
from ascertain.problem.problem import read_any_problem, read_problem
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action
from tests.calls import answer, call
from tests.conftest import LAMP, ROOT


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


def observe(problem: Path, *words: object, code: int = 0) -> dict[str, Any]:
    return answer("observe", problem, "--plant", "simulated:3", *words, code=code)


def complain(problem: Path, *words: object) -> str:
    return call("observe", problem, "--plant", "simulated:3", *words, code=2).stderr


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
        ("last", "; planned (the cheapest experiment that the solver finds); planned-mean (the"),
    ],
)
def test_a_name_that_nobody_has_is_refused_with_those_that_there_are(name: str, sentence: str) -> None:
    assert sentence in complain(LAMP, "--probing", name)


def test_a_rule_says_whom_it_serves_and_a_name_is_taken_once(last: ProbingRule, tmp_path: Path) -> None:
    with pytest.raises(AscertainError, match="'last' is taken already"):
        PROBING.register(ProbingRule("last", "", LastAllowed))
    problem = tmp_path / "problem.toml"
    problem.write_text('[task]\nactions = ["look"]\n' + LAMP.read_text().replace('"press the switch" = 2', ""))
    assert "last is for questions with a choice of actions; use separating" in complain(problem, "--probing", "last")


PLANT = """
[model]
bits = {bits}
flip = "1/50"
{commands}
[task]
hypotheses = {listed}
[risk]
alpha = "1/1000"
"""


def write_plant(folder: Path, bits: int, extra: str = "") -> Path:
    """A plant of so many bits, each of which can be read, and a list of four states."""
    names = [f"b{i}" for i in range(bits)]
    commands = [f'[[model.command]]\nname = "read {name}"\ngates = []\ntap = "{name}"\n' for name in names[:8]]
    listed = [format(z, f"0{bits}b") for z in (0, 1, 6, 0b10100000)]
    path = folder / "plant.toml"
    path.write_text(PLANT.format(bits=json.dumps(names), commands="".join(commands), listed=json.dumps(listed)) + extra)
    return path


@pytest.mark.parametrize("bits", [8, 40, 64])
def test_boolean_plants_of_any_size_are_probed_by_look_ahead(bits: int, tmp_path: Path) -> None:
    problem = write_plant(tmp_path, bits)
    settings, _ = pose_observer(read_problem(problem))
    assert settings.probing == "look-ahead"
    facts = observe(problem)
    assert facts["right"] is True
    assert facts["readings"] < observe(problem, "--probing", "round-robin")["readings"]


@pytest.mark.parametrize(
    ("problem", "rule"),
    [("valve/leak.toml", "planned"), ("plants/lamp.toml", "separating"), ("tiger/where.toml", "separating")],
)
def test_machines_are_probed_by_plan_or_by_separation(problem: str, rule: str) -> None:
    assert pose_observer(read_any_problem(ROOT / "examples" / problem))[0].probing == rule


@pytest.mark.usefixtures("one_time")
def test_a_run_keeps_the_rule_that_it_was_begun_with(tmp_path: Path) -> None:
    problem, journal = write_plant(tmp_path, 8), tmp_path / "run.journal"
    whole = observe(problem, "--probing", "round-robin")
    assert whole["transcript"] != observe(problem)["transcript"]
    observe(problem, "--probing", "round-robin", "--journal", journal)
    with Journal(journal) as kept:
        records = kept.records
    cut = tmp_path / "cut.journal"
    with Journal(cut) as kept:
        for record in records[:7]:
            kept.append(record)
    # Whoever names another rule, on the command line or in the file, is refused as before.
    named = write_plant(tmp_path, 8, '[observe]\nprobing = "separating"\n')
    for words in (("--probing", "look-ahead"), ()):
        told = complain(problem if words else named, *words, "--journal", cut, "--resume")
        assert "committed to something else (settings)" in told
    write_plant(tmp_path, 8)
    again = observe(problem, "--journal", cut, "--resume")
    assert again["transcript"] == whole["transcript"]
    with Journal(cut) as kept:
        assert kept.records == records
    # A journal of another problem is refused as that, also where its rule does not serve this one.
    assert "another problem" in complain(LAMP, "--journal", cut, "--resume")
