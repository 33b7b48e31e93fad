"""Silence that is no evidence: no answer rests on it, whoever keeps silent and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import AscertainError
from ascertain.live.session import run_session
from ascertain.model.build import machine_from_transitions
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.pipeline.observe import observe
from ascertain.plant.faults import Missing
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified, NoneOfThese
from ascertain.problem.fingerprint import pose_fingerprint
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


def _tells(task: Task, state: int, rival: int, silence: int) -> bool:
    """Whether some word makes the state say something that the rival does not say then."""
    behaviour, successor, seen = task.model.behaviour, task.model.successor, {(state, rival)}
    queue = list(seen)
    for z, g in queue:
        for a in task.actions:
            if behaviour[z, a] not in (silence, behaviour[g, a]):
                return True
            after = int(successor[z, a]), int(successor[g, a])
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return False


Tables = list[list[tuple[tuple[int, str], tuple[int, str]]]]
"""By machine and state what two actions do: where they lead, and what is read."""
ROW = st.tuples(st.integers(0, 2), st.sampled_from("-xy"))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.tuples(ROW, ROW), min_size=3, max_size=3), min_size=2, max_size=4))
def test_a_server_is_named_wherever_its_readings_alone_tell_it_from_every_other(tables: Tables) -> None:
    arrows = [
        [(f"s{s}", a, y, f"s{t}") for s, row in enumerate(table) for a, (t, y) in zip("ab", row, strict=True)]
        for table in tables
    ]
    machines = {f"m{i}": machine_from_transitions(rows, initial="s0") for i, rows in enumerate(arrows)}
    task = pose_fingerprint(machines)
    silence = task.model.readings.index("-") if "-" in task.model.readings else None
    for h, state in enumerate(task.state.tolist()):
        rivals = [int(g) for i, g in enumerate(task.state) if task.label[i] != task.label[h]]
        options = ObserverSettings(
            question=task, alpha=task.alpha, policy="eager", budget=30, silence=silence, probing="planned"
        )
        run = run_session(
            start_observer(options, lambda: uniform_bank(task.state.tolist())), SimulatedPlant(task.model, state)
        )
        told = silence is None or all(_tells(task, state, g, silence) for g in rivals)
        assert isinstance(run.verdict, Certified) == told
        if told:
            assert run.verdict == Certified(task.labels[int(task.label[h])])


class Odd:
    """The first reading is lost, and the second is one that no model has."""

    def __init__(self) -> None:
        self.sent = 0

    def send(self, action: str) -> str:
        self.sent += 1
        if self.sent == 1:
            raise Missing("not read")
        return "smoke"


def test_what_was_not_read_is_no_part_of_a_proof(tmp_path: Path):
    """The same action twice: lost, and then none of these. As a reading of no model the lost one would prove it too."""
    (tmp_path / "m.dot").write_text('digraph m { a -> a [label="ask/x"]; b -> b [label="ask/y"]; }\n')
    (tmp_path / "p.toml").write_text('model = "m.dot"\n')
    notes = list[str]()
    found = observe(tmp_path / "p.toml", Odd(), certificate=tmp_path / "c.json", note=notes.append)
    assert found.verdict == NoneOfThese((("ask", "?"), ("ask", "smoke"))) and found.exit_code == 1
    assert found.certificate is None and not (tmp_path / "c.json").exists()
    assert "every reading" in notes[-1]
