"""Misfit in problem files, on the road `observe`, and in journals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from ascertain.errors import AscertainError
from ascertain.live.journal import Journal
from ascertain.pipeline.observe import observe
from ascertain.problem.observer import pose_observer
from ascertain.problem.problem import read_any_problem

MODEL = """digraph m {
 a -> a [label="look/0"]; b -> b [label="look/1"];
}
"""


def problem(folder: Path, risk: str = "", noise: str = '[noise]\nflip = "1/50"\n') -> Path:
    (folder / "m.dot").write_text(MODEL)
    path = folder / "p.toml"
    path.write_text(f'model = "m.dot"\n{noise}[risk]\nalpha = "1/1000000000000"\n{risk}')
    return path


@pytest.mark.parametrize(("risk", "gamma"), [("", "1/1000"), ('misfit = "1/50"\n', "1/50"), ("misfit = 0\n", "0")])
def test_a_problem_says_the_risk_of_a_false_alarm(tmp_path: Path, risk: str, gamma: str):
    settings, _ = pose_observer(read_any_problem(problem(tmp_path, risk)))
    assert settings.misfit == Fraction(gamma)


def test_without_noise_nothing_looks_for_a_misfit(tmp_path: Path):
    settings, _ = pose_observer(read_any_problem(problem(tmp_path, noise="")))
    assert settings.misfit == 0


def test_a_risk_that_is_none_is_refused(tmp_path: Path):
    with pytest.raises(AscertainError, match=r"\[risk\] misfit: 2 is not a probability"):
        read_any_problem(problem(tmp_path, "misfit = 2\n"))


class Alternating:
    """A plant that no state of the model is: it reads 0, 1, 0, 1 and so on."""

    def __init__(self) -> None:
        self.turn = 0

    def send(self, action: str) -> str:
        self.turn += 1
        return str(self.turn % 2)


def test_an_outsider_is_a_misfit_and_the_journal_holds_what_was_committed_to(tmp_path: Path):
    found = observe(problem(tmp_path), Alternating(), journal=tmp_path / "j.db")
    facts = found.facts()
    assert (facts["verdict"], facts["reason"]) == ("abstained", "no model explains the readings")
    assert facts["misfit"] == "1/1000" and facts["cause"] == "observer"
    with Journal(tmp_path / "j.db") as journal:
        assert journal.records[0]["settings"]["misfit"] == "1/1000"


def test_a_journal_from_before_goes_on_without(tmp_path: Path):
    path = problem(tmp_path, "misfit = 0\n")
    begun = observe(path, Alternating(), journal=tmp_path / "j.db", budget=40)
    assert begun.facts()["reason"] == "the budget of 40 actions is spent"
    # The file of today says nothing of a misfit, nor does the journal: the run is the one that it was.
    again = observe(problem(tmp_path), Alternating(), journal=tmp_path / "j.db", budget=40, resume=True)
    assert again.facts()["reason"] == begun.facts()["reason"]
    assert again.facts()["misfit"] == "0"


def test_a_resumed_run_keeps_its_own_risk(tmp_path: Path):
    first = observe(problem(tmp_path), Alternating(), journal=tmp_path / "j.db", budget=3)
    again = observe(problem(tmp_path), Alternating(), journal=tmp_path / "j.db", budget=3, resume=True)
    assert again.facts()["misfit"] == first.facts()["misfit"] == "1/1000"
