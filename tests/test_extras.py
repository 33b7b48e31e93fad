"""A plain installation has neither joblib nor matplotlib: the core works without them, the rest names its extra."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ascertain.cli import main
from ascertain.errors import MissingExtraError, import_extra
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"
BLOCKED = ("joblib", "matplotlib")
PROGRAM = """
import json, sys


class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is blocked")


sys.meta_path.insert(0, Block())
from typer.testing import CliRunner
import ascertain
from ascertain.cli.main import build

calls = json.load(sys.stdin)
app = build()
results = []
for call in calls:
    done = CliRunner().invoke(app, call)
    results.append([done.exit_code, done.stdout, done.stderr])
results.append(sorted(set({blocked!r}) & set(sys.modules)))
json.dump(results, sys.stdout)
"""


def run_without(blocked: Sequence[str], calls: Sequence[Sequence[object]]) -> tuple[list[Any], list[str]]:
    """Exit code, output and errors of calls in one process where these packages cannot be imported."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(blocked=tuple(blocked))],
        input=json.dumps([[str(word) for word in call] for call in calls]),
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    *results, loaded = json.loads(done.stdout)
    return results, loaded


def test_every_core_verb_works_without_joblib_and_matplotlib(tmp_path: Path) -> None:
    valve, servers = EXAMPLES / "valve" / "leak.toml", EXAMPLES / "servers"
    press = EXAMPLES / "operation" / "press.toml"
    new, proof, policy = tmp_path / "new.toml", tmp_path / "proof.json", tmp_path / "policy.json"
    calls: list[list[object]] = [
        ["--help"],
        ["--version"],
        ["init", new],
        ["inspect", valve],
        ["quotient", valve],
        ["solve", valve, "--certificate", proof],
        ["solve", valve, "--json"],
        ["bounds", valve],
        ["fingerprint", *sorted(servers.glob("*.dot"))],
        ["bank", press],
        ["observe", press, "--plant", "simulated:1"],
        ["verify", valve, proof],
        ["task", valve],
    ]
    results, loaded = run_without(BLOCKED, calls)
    for call, (code, _, errors) in zip(calls, results, strict=True):
        assert code == 0, (call, code, errors)
    assert loaded == []
    policy.write_text(results[6][1])
    [(code, _, errors)], _ = run_without(BLOCKED, [["simulate", valve, "--policy", policy]])
    assert code == 0, errors


NEEDY: dict[str, tuple[list[object], str]] = {
    "reproduce": (["reproduce", "story", "--settings", "small"], "paper"),
    "calibrate": (["calibrate", "small", "--blocks", "1"], "paper"),
    "bounds": (["bounds", EXAMPLES / "valve" / "leak.toml", "--alpha", "1/9", "--draw", "bounds.svg"], "plots"),
}


@pytest.mark.parametrize("package", BLOCKED)
def test_a_verb_that_needs_more_ends_with_one_sentence_that_names_the_extra(package: str) -> None:
    needy = {verb: call for verb, call in NEEDY.items() if verb != "bounds" or package == "matplotlib"}
    results, _ = run_without([package], [words for words, _ in needy.values()])
    for (_, extra), (code, output, errors) in zip(needy.values(), results, strict=True):
        sentence = f"ascertain: {package} is not installed; install it with: pip install 'ascertain[{extra}]'\n"
        assert (code, output, errors) == (2, "", sentence)


def test_learning_names_its_extra(tmp_path: Path) -> None:
    words = ["learn", "--plant", f"exec:{sys.executable} {EXAMPLES / 'servers' / 'fir.py'}", "--actions", "HELO"]
    [(code, _, errors)], _ = run_without(["aalpy"], [[*words, "--out", tmp_path / "m.dot"]])
    assert (code, errors) == (2, "ascertain: aalpy is not installed; install it with: pip install 'ascertain[aalpy]'\n")
    assert not list(tmp_path.iterdir())


def test_a_plain_installation_asks_for_neither() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not [line for line in project["dependencies"] if line.startswith(BLOCKED)]
    extras = project["optional-dependencies"]
    assert [line for line in extras["plots"] if line.startswith("matplotlib")]
    assert [line for line in extras["paper"] if line.startswith("joblib")] and "ascertain[plots]" in extras["paper"]


def test_a_missing_module_is_a_sentence_and_a_present_one_is_returned() -> None:
    assert import_extra("json.decoder", "plots") is json.decoder
    with pytest.raises(MissingExtraError, match=r"^nowhere is not installed; .*pip install 'ascertain\[plots\]'$"):
        import_extra("nowhere.to.be.found", "plots")


def test_a_verb_that_cannot_be_loaded_does_not_hinder_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("conduct", "nowhere.verbs:command", "ascertain.verbs")
    found = metadata.entry_points
    ours = {"group": "ascertain.verbs"}
    monkeypatch.setattr(metadata, "entry_points", lambda **words: [broken] if words == ours else found(**words))
    app = main.build()
    assert CliRunner().invoke(app, ["task", str(EXAMPLES / "valve" / "leak.toml")]).exit_code == 0
    assert "conduct" in CliRunner().invoke(app, ["--help"]).stdout
    for words in (["conduct"], ["conduct", "an", "--orchestra", "x"]):
        done = CliRunner().invoke(app, words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("ascertain: the verb 'conduct' cannot be loaded (ModuleNotFoundError: No module")
