"""Silence that is no evidence: no answer rests on it, whoever keeps silent and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascertain.errors import AscertainError
from ascertain.model.build import machine_from_transitions
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.pipeline.observe import observe
from ascertain.policy.verdict import Certified
from ascertain.problem.pose import pose
from ascertain.task.bank import uniform_bank
from ascertain.task.task import Task

ARROWS = [
    ("a", "ping", "-", "a"), ("a", "ask", "x", "b"),
    ("b", "ping", "ok", "a"), ("b", "ask", "x", "c"),
    ("c", "ping", "ok", "c"), ("c", "ask", "y", "c"),
    ("d", "ping", "-", "d"), ("d", "ask", "-", "d"),
]  # fmt: skip


def _task() -> Task:
    return pose(machine_from_transitions(ARROWS))


def _observer(task: Task, silent: bool) -> Observer:
    silence = task.model.readings.index("-") if silent else None
    options = ObserverSettings(question=task, alpha=task.alpha, policy="eager", budget=6, silence=silence)
    return start_observer(options, lambda: uniform_bank(range(4)))


def _answers(observer: Observer, state: int) -> set[str]:
    """What may be answered when the plant is in this state and any reading may become silence, at anybody's will."""
    advice = observer.next()
    if not isinstance(advice, Act):
        return {advice.label} if isinstance(advice, Certified) else set()
    model = observer.settings.model.deterministic
    assert model is not None
    (right,) = model.reading_law(state, advice.action)
    after = model.next_state(state, advice.action)
    shown = {right, model.readings.index("-")}
    return {label for y in shown for label in _answers(observer.update(advice.action, y), after)}


@pytest.mark.parametrize("state", range(4))
def test_no_answer_is_wrong_whatever_becomes_silence(state: int):
    task = _task()
    assert _answers(_observer(task, silent=True), state) <= {task.model.states[state]}


def test_with_silence_as_evidence_an_answer_may_be_wrong():
    task = _task()
    found = {task.model.states[z]: _answers(_observer(task, silent=False), z) for z in range(4)}
    assert any(labels - {name} for name, labels in found.items())


MODEL = """digraph m {
 a -> a [label="look/-"]; a -> a [label="ask/x"]; b -> b [label="look/0"]; b -> b [label="ask/y"];
}
"""


class Stopped:
    """A server that is not there: every action times out, which reads "-"."""

    def send(self, action: str) -> str:
        return "-"


def _problem(folder: Path, more: str = "") -> Path:
    arrows = "".join(f'{s} -> {t} [label="{a}/{y}"];\n' for s, a, y, t in ARROWS)
    (folder / "m.dot").write_text(f"digraph m {{\n{arrows}}}\n")
    path = folder / "p.toml"
    path.write_text(f'model = "m.dot"\n{more}')
    return path


def test_a_server_that_is_not_there_is_not_certified(tmp_path: Path):
    assert observe(_problem(tmp_path), Stopped(), budget=20).facts()["label"] == "d"
    path = _problem(tmp_path, '[observe]\nsilence = "no evidence"\n')
    assert observe(path, Stopped(), budget=20).facts()["reason"] == "the budget of 20 actions is spent"


def test_silence_where_no_state_keeps_it_is_silence_too(tmp_path: Path):
    (tmp_path / "m.dot").write_text(MODEL)
    (tmp_path / "p.toml").write_text('model = "m.dot"\n[observe]\nsilence = "no evidence"\n')
    found = observe(tmp_path / "p.toml", Stopped(), budget=5).facts()
    assert found["reason"] == "the budget of 5 actions is spent"


def test_the_certificate_and_the_journal_rest_on_what_the_answer_does(tmp_path: Path):
    path = _problem(tmp_path, '[observe]\nsilence = "no evidence"\n')
    found = observe(path, "simulated:1:b", journal=tmp_path / "j", certificate=tmp_path / "c.json")
    assert (found.facts()["label"], found.certificate) == ("b", "VERIFIED")
    again = observe(path, "simulated:1:b", journal=tmp_path / "j", resume=True)
    assert again.facts()["transcript"] == found.facts()["transcript"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('[noise]\nreads = "none"\n[observe]\nsilence = "no evidence"\n', "'none' is not a reading of the model"),
        ('[noise]\nflip = "1/50"\n[observe]\nsilence = "no evidence"\n[risk]\nalpha = "1/100"\n', "without noise"),
        ('[observe]\nsilence = "golden"\n', "golden"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(tmp_path: Path, more: str, why: str):
    with pytest.raises(AscertainError, match=why):
        observe(_problem(tmp_path, more), Stopped())
