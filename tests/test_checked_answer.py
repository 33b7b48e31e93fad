"""Answers of `observe` that are checked: is the plant what the answer names at all?"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ascertain.errors import FileError, LimitError, TaskError
from ascertain.live.deadline import Deadline
from ascertain.model import Machine
from ascertain.pipeline.observe import observe
from ascertain.pipeline.observed import Observed
from ascertain.plant.faults import Late
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.pose import Reset, pose
from ascertain.task.task import Task
from tests.conftest import ROOT
from tests.reference import conformance as slow
from tests.test_cli import complaint, run
from tests.test_conformance import lock, machine_of, random_table

WHICH = ROOT / "examples" / "servers" / "which.toml"
FIR = f"exec:python {ROOT / 'examples' / 'servers' / 'fir.py'}"
HOME = Reset("RESET", to="s0")


def claims_of(path: Path) -> list[str]:
    return [claim["claim"] for claim in json.loads(path.read_text())["claims"]]


def where(machine: Machine, **words: Any) -> Task:
    """In which state is it? A reset leads to state 0, wherever it began."""
    return pose(machine, reset=HOME, **words)


def in_state(task: Task, state: int) -> SimulatedPlant:
    return SimulatedPlant(task.model, state)


@pytest.mark.parametrize(("how", "claim"), [("complete:0", "conforms"), ("sample:20", "sampled")])
def test_a_known_server_is_answered_and_checked(how: str, claim: str, tmp_path: Path) -> None:
    found = observe(WHICH, "simulated:3", conform_by=how, certificate=tmp_path / "c.json")
    assert found.verdict == Certified("alder or elm") and (found.certificate, found.exit_code) == ("VERIFIED", 0)
    assert claims_of(tmp_path / "c.json") == ["run", claim]
    facts = found.facts()
    assert facts["assumed"] is None and facts["conformance"]["verdict"] == "conforms"
    assert observe(WHICH, "simulated:3").facts()["assumed"] == "if it is one of the models"


@pytest.mark.parametrize("how", ["complete:0", "complete:1", "sample:30"])
@pytest.mark.parametrize("about", ["start", "current"])
def test_a_question_about_the_state_is_checked_from_where_the_reset_leads(how: str, about: Any, tmp_path: Path) -> None:
    task = where(lock(4), about=about)
    for state in range(4):
        found = observe(task, in_state(task, state), conform_by=how, certificate=tmp_path / "c.json")
        assert isinstance(found.verdict, Certified) and found.right and found.certificate == "VERIFIED"
        assert found.conformed is not None and found.conformed.plan.spec.start == 0
        assert found.facts()["current_state"] is None  # the words have moved the plant


def test_a_label_of_several_states_is_confirmed_by_one_that_explains_the_run(tmp_path: Path) -> None:
    task = where(lock(4), label={"s0": "low", "s1": "low", "s2": "high", "s3": "high"})
    for state in range(4):
        found = observe(task, in_state(task, state), conform_by="complete:0", certificate=tmp_path / "c.json")
        assert found.verdict == Certified("low" if state < 2 else "high") and found.certificate == "VERIFIED"


def test_what_conforms_after_an_answer_is_the_machine_whatever_the_plant_is(tmp_path: Path) -> None:
    rng, ends = Random(5), set[str]()
    small = [table for n in (1, 2) for table in slow.all_machines(n, 2, 2)]
    for _ in range(6):
        table = random_table(rng, 3)
        machine = machine_of(table, 2)
        task = where(machine, label="class")
        for other in rng.sample(small, 12):
            truth = where(machine_of(other, 2))
            found = observe(task, in_state(truth, 0), conform_by="complete:0", certificate=tmp_path / "c.json")
            if found.conformed is None:
                continue
            ends.add(type(found.verdict).__name__)
            if slow.are_equivalent(other, table):
                assert isinstance(found.verdict, Certified)
            elif slow.in_domain(other, found.conformed.plan.spec.access, 0):
                assert isinstance(found.verdict, NoneOfThese | Abstained)
            if not isinstance(found.verdict, Abstained):
                assert found.certificate == "VERIFIED"
    assert {"Certified", "NoneOfThese"} <= ends


def test_an_outsider_is_none_of_these_and_the_page_says_so(tmp_path: Path) -> None:
    assert observe(WHICH, FIR).verdict == Certified("alder or elm")
    files: dict[str, Any] = {"certificate": tmp_path / "c.json", "report": tmp_path / "r.html"}
    told: list[str] = []
    found = observe(WHICH, FIR, conform_by="complete:0", note=told.append, **files)
    assert isinstance(found.verdict, NoneOfThese) and (found.exit_code, found.certificate) == (1, "VERIFIED")
    assert claims_of(tmp_path / "c.json") == ["none-of-these"]
    assert any(text.startswith("conformance: 13 words") for text in told)
    page = (tmp_path / "r.html").read_text()
    assert "None of these" in page and "had taken it for alder or elm" in page and "The word that shows it" in page
    observe(WHICH, "simulated:3", conform_by="complete:0", report=tmp_path / "r.html")
    assert "every machine of at most 4 states that shows these readings" in (tmp_path / "r.html").read_text()


class Failing:
    """A plant that fails for good after so many actions."""

    def __init__(self, plant: SimulatedPlant, actions: int) -> None:
        self.plant, self.left = plant, actions

    def send(self, action: str) -> str:
        self.left -= 1
        if self.left < 0:
            raise Late("it is gone")
        return self.plant.send(action)


@pytest.mark.parametrize("actions", [2, 8, 20])
def test_a_run_that_breaks_off_goes_on_in_whichever_part_it_was(actions: int, tmp_path: Path) -> None:
    task = where(lock(4))
    words: dict[str, Any] = {"conform_by": "sample:9", "journal": tmp_path / "j", "strict": True}
    try:
        broken: Observed | None = observe(task, Failing(in_state(task, 2), actions), **words)
    except Late:
        broken = None  # in the conformance run
    if broken is not None and isinstance(broken.verdict, Abstained):
        return  # the experiment itself has ended, with its own cause
    found = observe(task, in_state(task, 2), resume=True, certificate=tmp_path / "c.json", **words)
    assert found.verdict == Certified("s2") and found.certificate == "VERIFIED"
    (tmp_path / "other.conformance").touch()
    with pytest.raises(FileError, match="add --resume"):
        observe(task, in_state(task, 0), **{**words, "journal": tmp_path / "other"})
    again = observe(task, in_state(task, 0), resume=True, **words)
    assert again.conformed is not None and found.conformed is not None
    assert again.conformed.steps == found.conformed.steps  # nothing was left to be sent


def test_after_the_deadline_no_further_word_is_begun() -> None:
    task, now = where(lock(4)), [0.0]

    class Slow:
        def __init__(self) -> None:
            self.plant = in_state(task, 1)

        def send(self, action: str) -> str:
            now[0] += 1
            return self.plant.send(action)

    found = observe(task, Slow(), conform_by="complete:0", deadline=Deadline(12, lambda: now[0]))
    assert isinstance(found.verdict, Abstained) and "words agreed by then" in found.verdict.reason
    assert found.exit_code == 3 and found.conformed is not None and found.conformed.claim is None


def two_machines(label: dict[str, str]) -> Task:
    """Two locks of different sizes side by side, each with its own reset."""
    one = Machine(
        states=("a0", "a1", "b0"),
        actions=("go", "RESET"),
        readings=("0", "1", "reset"),
        successor=np.array([[1, 0], [0, 0], [2, 2]], dtype=np.int32),
        output=np.array([[0, 2], [1, 2], [0, 2]], dtype=np.int32),
    )
    return pose(one, hypotheses=["a0", "b0"], label=label)


def test_what_no_words_can_check_is_refused_before_anything_is_sent() -> None:
    class Untouched:
        def send(self, action: str) -> str:
            raise AssertionError("nothing is sent")

    def refused(task: Task, match: str, **words: Any) -> None:
        with pytest.raises(TaskError, match=match):
            observe(task, Untouched(), **{"conform_by": "complete:0", **words})

    task = where(lock(3))
    refused(task, 'write "complete:K"', conform_by="complete")
    refused(task, 'write "complete:K"', conform_by="sample:0")
    refused(task, "'HOME' is not an action of the question", reset="HOME")
    refused(pose(lock(3)), r"add it \(in a problem file")
    refused(task, "'a0' is no reset", reset="a0")
    refused(task, "is for conformance", reset="HOME", conform_by=None)
    refused(task, "leave one of them out", approve=lambda _: True)
    noisy = where(lock(3), flip=Fraction(1, 50), alpha=Fraction(1, 100))
    refused(noisy, "without noise")
    for k in ("complete:30", "complete:9999", "complete:999999999"):
        with pytest.raises(LimitError, match="complete conformance with"):
            observe(task, Untouched(), conform_by=k)
    refused(two_machines({"a0": "x", "b0": "x"}), "several machines that differ after a reset")
    told_apart = two_machines({"a0": "x", "b0": "y"})
    assert observe(told_apart, in_state(told_apart, 0), conform_by="complete:0").exit_code == 0


def test_silence_that_is_no_evidence_and_conformance_exclude_each_other(tmp_path: Path) -> None:
    text = WHICH.read_text().replace('models = ["', f'models = ["{WHICH.parent}/')
    for name in ("birch", "cedar", "dogwood", "elm"):
        text = text.replace(f'"{name}.dot"', f'"{WHICH.parent}/{name}.dot"')
    (tmp_path / "p.toml").write_text(text + '\n[observe]\nsilence = "no evidence"\n')
    told = complaint("observe", tmp_path / "p.toml", "--plant", "simulated:1", "--conform", "complete:0")
    assert "silence says that it is no evidence" in told


def test_that_the_plant_began_in_a_hypothesis_is_not_shown_by_words_from_reset() -> None:
    class Stuck:
        """Reads as if it were in state 3, whatever is done, until its first reset: no state of the lock does."""

        def __init__(self, task: Task) -> None:
            self.plant, self.reset = SimulatedPlant(task.model, 3), False

        def send(self, action: str) -> str:
            self.reset = self.reset or action == "RESET"
            return self.plant.send(action) if self.reset else SimulatedPlant(task.model, 3).send(action)

    task = where(lock(4))
    for plant in (in_state(task, 3), Stuck(task)):
        found = observe(task, plant, conform_by="complete:0")
        assert found.is_certified and found.conformed is not None and found.conformed.exit_code == 0
        assert found.assumed == "if it began in one of the hypotheses"
    whole = observe(
        where(lock(4), label=dict.fromkeys(lock(4).states, "a lock")), in_state(task, 3), conform_by="complete:0"
    )
    assert whole.is_certified and whole.assumed is None


def test_the_verb_says_what_is_shown_and_what_is_assumed() -> None:
    done = run("observe", WHICH, "--plant", "simulated:3")
    assert done.returncode == 0 and "if it is one of the models" in done.stdout
    done = run("observe", WHICH, "--plant", "simulated:3", "--conform", "complete:0")
    assert done.returncode == 0 and "What is shown: every machine of at most 4 states" in done.stdout
    assert "if it is one of" not in done.stdout and "13 words, 41 actions" in done.stderr
    done = run("observe", WHICH, "--plant", FIR, "--conform", "sample:100", "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["verdict"] == "none of these"
