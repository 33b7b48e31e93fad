"""The registry of claims: a claim from elsewhere is written, verified and refuted by the command line as any."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import ascertain.certificate.claims
import ascertain_check.claims
from ascertain.certificate import write_certificate
from ascertain.task.task import Task
from ascertain_check.__main__ import main
from ascertain_check.claim import CLAIMS, LISTED, register
from ascertain_check.reading import Object, read_index, read_list, read_object
from ascertain_check.task import Task as CheckedTask
from ascertain_check.verdicts import Refuted
from tests.calls import call
from tests.conftest import ROOT
from tests.test_certificate import register as shift_register

CORPUS = ROOT / "tests" / "certificates" / "verified"
TRUSTED = "trusted, not proved: that the actions were done"


# What a file of `ascertain/certificate/claims/` would hold, and below what one of `ascertain_check/claims/` would.


def homing_claim(word: Sequence[int]) -> dict[str, Any]:
    """After this word of actions all hypotheses are in one state."""
    return {"claim": "homing", "word": list(word)}


def check_homing(task: CheckedTask, claim: Object) -> str:
    data = read_object(claim, "claim word", "the claim 'homing'")
    word = [read_index(a, task.num_actions, "an action") for a in read_list(data["word"], "word")]
    states = {state for _, state in task.hypotheses}
    for a in word:
        after = {task.successor[s][a] for s in states}
        if None in after:
            raise Refuted(f"action {a} is not allowed")
        states = {s for s in after if s is not None}
    if len(states) > 1:
        raise Refuted(f"{len(states)} states are left")
    return f"after {len(word)} actions there is one state left"


@pytest.fixture
def homing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Registers the claim until the test ends."""

    def add(about: tuple[str, ...] = LISTED) -> None:
        monkeypatch.delitem(CLAIMS, "homing", raising=False)
        register("homing", about=about, trusted=(TRUSTED,))(check_homing)

    monkeypatch.setitem(CLAIMS, "homing", CLAIMS["achieves"])  # so that the entry is removed at the end
    monkeypatch.delitem(CLAIMS, "homing")
    return add


def verify(path: Path, task: Task, word: Sequence[int]) -> tuple[int, list[str]]:
    """What `ascertain verify` says; `python -P -m ascertain_check` must agree."""
    certificate, beside = write_certificate(path, task, [homing_claim(word)])
    code = main([str(beside), str(certificate)])
    return code, call("verify", beside, certificate, code=code).stdout.splitlines()


def test_a_claim_from_elsewhere_is_verified_and_refuted_by_the_command_line(
    tmp_path: Path, homing: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    task, path = shift_register(2), tmp_path / "claim.json"
    code, lines = verify(path, task, [0, 0])
    assert (code, lines) == (2, ["MALFORMED: the claim 'homing' is not known to this checker"])
    homing()
    assert verify(path, task, [0]) == (1, ["REFUTED: 2 states are left"])
    assert verify(path, task, [0, 5]) == (2, ["MALFORMED: an action: an index below 1 is needed"])
    capsys.readouterr()
    code, lines = verify(path, task, [0, 0])
    assert (code, lines[:-1]) == (0, ["VERIFIED", "  after 2 actions there is one state left", f"  {TRUSTED}"])
    assert capsys.readouterr().out == f"VERIFIED\nafter 2 actions there is one state left\n{TRUSTED}\n"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("boolean", "models whose states are listed; this task has a Boolean plant"),
        ("hidden", "models whose transitions are certain; this task has a hidden one"),
        ("noisy", "machines without noise; this task has a noisy one"),
    ],
)
def test_a_claim_is_refuted_of_a_model_that_it_is_not_about(
    tmp_path: Path, homing: Callable[..., None], kind: str, sentence: str
) -> None:
    """On a task of the corpus with such a model, and with the certificate that belongs to it."""
    homing(("machine",))
    task = next(p for p in CORPUS.glob("*.task.json") if json.loads(p.read_text())["model"]["kind"] == kind)
    certificate = json.loads(task.with_name(task.name.replace(".task", "")).read_text())
    path = tmp_path / "claim.json"
    path.write_text(json.dumps({**certificate, "claims": [homing_claim([0])]}))
    done = call("verify", task, path, code=1)
    assert done.stdout == f"REFUTED: the claim 'homing' is about {sentence}\n"


def test_a_claim_may_be_about_other_models_than_machines(tmp_path: Path, homing: Callable[..., None]) -> None:
    homing(("noisy", "hidden"))
    sentence = "models with noise; this task has a machine without"
    assert verify(tmp_path / "claim.json", shift_register(1), [0]) == (
        1,
        [f"REFUTED: the claim 'homing' is about {sentence}"],
    )


def test_a_name_stands_for_one_claim() -> None:
    with pytest.raises(ValueError, match="there is a claim 'run' already"):
        register("run", about=LISTED)(check_homing)


def test_a_file_in_the_folder_is_all_that_the_checker_needs(tmp_path: Path) -> None:
    """A copy of the package with one more file knows one more claim."""
    copy = tmp_path / "ascertain_check"
    shutil.copytree(ROOT / "src" / "ascertain_check", copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "claims" / "small.py").write_text(
        "from ascertain_check.claim import LISTED, register\n"
        "@register('small', about=LISTED)\n"
        "def check_small(task, claim): return f'{task.num_states} states are few'\n"
    )
    task = shift_register(1)
    certificate, beside = write_certificate(tmp_path / "small.json", task, [{"claim": "small"}])
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ascertain_check", "-v", str(beside), str(certificate)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "VERIFIED\n2 states are few\n"), done.stderr


def test_both_packages_have_one_file_for_every_claim() -> None:
    written, checked = (
        {module.name for module in iter_modules(package.__path__)}
        for package in (ascertain.certificate.claims, ascertain_check.claims)
    )
    assert written == checked
    assert {name.replace("-", "_") for name in CLAIMS} - written == {"achieves_expected"}  # stands with achieves
