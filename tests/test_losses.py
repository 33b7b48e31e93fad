"""Readings that may be lost beside a bound on errors, by enumeration with errors and losses that know the past."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ascertain.errors import AscertainError
from ascertain.evidence.worlds import MachineWorld
from ascertain.model import NoisyMachine
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_flip, with_losses
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import start_observer
from ascertain.pipeline.observe import observe
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose import pose
from ascertain.problem.problem import read_any_problem
from ascertain.task.bank import uniform_bank
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.task import Task
from ascertain_check import check
from ascertain_check.listed_world import score_laws
from ascertain_check.task import read_task
from tests.by_hand import build, identify
from tests.reference.misfit import THETAS, chance_of, is_alarm
from tests.reference.run_claims import canonical
from tests.reference.small_observers import set_up

F, LOST = Fraction(1, 10), Fraction(1, 5)
ARROWS = [
    ("a", "look", "x", "a"), ("b", "look", "y", "b"), ("c", "look", "-", "c"),
    ("a", "turn", "y", "b"), ("b", "turn", "x", "c"), ("c", "turn", "x", "a"),
]  # fmt: skip


def model(f: Fraction = F, lost: Fraction = LOST) -> NoisyMachine:
    return with_losses(machine_from_transitions(ARROWS), f, lost, "-")


def worst_laws(machine: NoisyMachine):
    """No error, or all of f on one reading; then each reading is lost as often as is allowed, or never."""
    assert machine.at_most is not None and machine.lost is not None
    f, (silence, loss) = machine.at_most, machine.lost

    def laws(state: int, action: int) -> list[dict[int, Fraction]]:
        law = machine.law_at(state, action)
        right = machine._predicted(law)
        assert right is not None
        found = []
        for y in (None, *(y for y, _ in law if y != right)):
            before = {right: Fraction(1)} if y is None else {right: 1 - f, y: f}
            for which in product((Fraction(0), loss), repeat=len(before)):
                after: dict[int, Fraction] = {}
                for (z, p), gone in zip(before.items(), which, strict=True):
                    after[z] = after.get(z, Fraction(0)) + p * (1 - gone)
                    after[silence] = after.get(silence, Fraction(0)) + p * gone
                found.append({z: p for z, p in after.items() if p})
        return found

    return laws


@pytest.mark.parametrize(
    ("f", "lost"), [(F, LOST), (Fraction(1, 50), Fraction(1, 10)), (Fraction(2, 5), Fraction(1, 20))]
)
def test_the_mean_of_the_factor_is_at_most_one(f: Fraction, lost: Fraction):
    machine = model(f, lost)
    scores = [dict(law) for law in machine.scores]
    means = [
        sum(p * scores[machine.law[c, a]][y] / scores[machine.law[z, a]][y] for y, p in law.items())
        for a, z, c in product(range(2), range(3), range(3))
        for law in worst_laws(machine)(z, a)
    ]
    assert max(means) == 1  # attained, so that no larger factor would do


def test_losses_alone_are_too_little_against_a_state_that_predicts_silence():
    """Errors may read as silence too, so that its probability is up to 1 - (1-f)(1-l), not l."""
    f, m = F, (1 - F) * (1 - LOST)
    too_large = (1 - f) / LOST  # the factor at silence if only losses made it
    assert m * f / m + (1 - m) * too_large > 1 >= m * f / m + (1 - m) * (1 - f) / (1 - m)


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 15)])
def test_errors_and_losses_that_know_the_past_keep_to_alpha_and_gamma(alpha: Fraction):
    machine, gamma = model(), Fraction(1, 2)
    task = pose(machine, alpha=alpha)
    options = set_up(task, policy="eager", budget=4, probing="round-robin", nominal=None, misfit=gamma)
    observer = start_observer(options, lambda: uniform_bank(range(3)))
    for z in range(3):
        wrong = lambda verdict, z=z: isinstance(verdict, Certified) and verdict.label != machine.states[z]  # noqa: E731
        assert chance_of(wrong, observer, z, worst_laws(machine)) <= alpha
        assert chance_of(is_alarm, observer, z, worst_laws(machine)) <= gamma + alpha


@pytest.mark.parametrize("seed", range(30))
def test_misfit_counts_silence_as_agreement(seed: int):
    machine, rng, gamma = model(), Random(seed), Fraction(1, 4)
    world, silence = MachineWorld(machine, uniform_bank(range(3)), Fraction(0)), machine.readings.index("-")
    state, wrong = {z: z for z in range(3)}, dict.fromkeys(range(3), 0)
    for t in range(1, 11):
        action, reading = rng.randrange(2), rng.randrange(3)
        world.observe(action, reading)
        for z in range(3):
            law = machine.law_at(state[z], action)
            wrong[z] += reading not in (machine._predicted(law), silence)
            state[z] = machine.next_state(state[z], action)
        g = [sum(Fraction(x) ** k / (1 - F + x * F) ** t for x in THETAS) / 5 for k in wrong.values()]
        assert world.misfits(gamma) == (min(g) >= 1 / gamma)


def test_the_checker_counts_as_we_do_and_the_form_says_what_is_lost(tmp_path: Path):
    task = pose(machine_from_transitions(ARROWS), at_most=F, lost=LOST, alpha="1/100")
    data = json.loads(canonical_bytes(task_data(task)))
    assert data["model"]["lost"] == [task.model.readings.index("-"), "1/5"]
    assert score_laws(read_task(data)) == list(task.model.scores)


def _problem(folder: Path, noise: str) -> Path:
    arrows = "".join(f'{s} -> {t} [label="{a}/{y}"];\n' for s, a, y, t in ARROWS)
    (folder / "m.dot").write_text(f"digraph m {{\n{arrows}}}\n")
    path = folder / "p.toml"
    path.write_text(f'model = "m.dot"\n[noise]\n{noise}\n[risk]\nalpha = "1/1000"\n')
    return path


def test_a_run_with_losses_is_certified_and_checked(tmp_path: Path):
    path = _problem(tmp_path, 'at_most = "1/50"\nlost = "1/10"\nreads = "-"')
    found = observe(path, "simulated:3", certificate=tmp_path / "run.json")
    assert found.is_certified and found.right and found.certificate == "VERIFIED"


@pytest.mark.parametrize(
    ("noise", "why"),
    [('lost = "1/10"', "lost is a bound beside at_most"), ('at_most = "2/5"\nlost = "1/2"', "is needed with")],
)
def test_losses_that_cannot_be_are_refused(tmp_path: Path, noise: str, why: str):
    with pytest.raises(AscertainError, match=why):
        read_any_problem(_problem(tmp_path, noise))


def test_a_run_with_more_lost_readings_than_its_settings_allow_abstains() -> None:
    noisy, exact = (pose_machine(flip) for flip in (Fraction(1, 20), Fraction(0)))
    for question, losses, allowed in ((noisy, 10, 10), (noisy, 2, 2), (exact, 2, 30)):
        settings = ObserverSettings(question=question, alpha=Fraction(1, 1000), nominal=0, losses=losses)
        observer = start_observer(settings)
        for _ in range(allowed):
            observer = observer.update(0, None)
            assert observer.verdict is None
        if question is noisy:
            assert observer.update(0, None).verdict == Abstained(f"more than {losses} readings were lost")
        assert ("losses" in settings.settings_data()) == (losses != 10)


def pose_machine(flip: Fraction) -> Task:
    machine = build([[0], [1]], [[0], [1]])
    return identify(with_flip(machine, flip) if flip else machine, alpha=Fraction(1, 1000))


@pytest.mark.parametrize(("silent", "word"), [("1/2", "REFUTED"), ("1/20", "MALFORMED")])
def test_a_law_that_is_no_noise_within_the_bounds_is_malformed(silent: str, word: str) -> None:
    """Lower bounds take it as it stands. With few losses and many mistakes it would prove that what a policy does at a
    cost of 2.1, under every noise within the bounds, costs 50 at least."""
    wrong = str(1 - Fraction(9, 20) - Fraction(silent))
    laws = [[[0, "9/20"], [1, wrong], [2, silent]], [[0, wrong], [1, "9/20"], [2, silent]]]
    model = {"kind": "noisy", "states": ["s", "t"], "actions": ["look"], "readings": ["0", "1", "-"], "laws": laws}
    model |= {"successor": [[0], [1]], "law": [[0], [1]], "at_most": "1/10", "lost": [2, "1/2"]}
    task = {"format": "ascertain-task", "version": 1, "model": model, "hypotheses": [[0, 0], [1, 1]], "cost": ["1"]}
    task |= {"labels": ["s", "t"], "alpha": "1/4", "beta": "1/8", "current": None}
    nodes: list[Any] = [{"ask": 0, "next": {"0": 4, "1": 5, "2": i + 1}} for i in range(3)]
    nodes += [{"ask": 0, "next": {"0": 4, "1": 5}}, {"answer": 0}, {"answer": 1}]
    risks = {"alpha": "1/4", "beta": "1/8"}
    upper = {"claim": "within-risk", "cost": "21/10", "policy": {"nodes": nodes}, **risks}
    lower = {"claim": "information", "cost": "50", "pair": [0, 1], **risks}
    head = {"format": "ascertain-certificate", "version": 1, "made_by": ""}
    text = canonical(task)
    head["task_sha256"] = sha256(text).hexdigest()
    if word == "REFUTED":
        assert check(text, canonical(head | {"claims": [upper]})).word == "VERIFIED"
    assert check(text, canonical(head | {"claims": [upper, lower]})).word == word
