"""Whatever a file holds or is called, it reaches the terminal escaped, from every verb."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ascertain.cli.main import VERBS, main
from ascertain.drawing.printable import printable

pytest.importorskip("aalpy")  # which `learn` needs

EVIL = "\x1b[2K\x1b]0;x\x07\x9b31m\x85\u202e\u2066\u200bVERIFIED\u2028[bold red]"
"""Escape sequences of both kinds, an end of line, controls of direction, and markup of our own tables."""
ESCAPED = r"\u202e\u2066\u200bVERIFIED"

PROBLEM = """
[model]
initial = "EVIL0"
transitions = [
  ["EVIL0", "EVILlook", "EVILdark", "EVIL0"], ["EVIL1", "EVILlook", "EVILlit", "EVIL1"],
  ["EVIL0", "EVILpress", "EVILclick", "EVIL1"], ["EVIL1", "EVILpress", "EVILclick", "EVIL0"],
  ["EVIL0", "RESET", "EVILreset", "EVIL0"], ["EVIL1", "RESET", "EVILreset", "EVIL0"],
]
[task]
label = "state"
[risk]
alpha = "1/10"
beta = "1/10"
"""
NOISY = """
[model]
initial = "EVIL0"
transitions = [
  ["EVIL0", "EVILlook", { "EVIL0" = "9/10", "EVIL1" = "1/10" }, "EVIL0"],
  ["EVIL1", "EVILlook", { "EVIL1" = "9/10", "EVIL0" = "1/10" }, "EVIL1"],
]
[risk]
alpha = "1/10"
beta = "1/10"
"""
OPERATION = """
[operation]
log = "EVIL.csv"
start = "EVIL0"
replaced = 1
alternatives = { "EVILpress" = [""] }
window = { replacements = [0, 1], flips = [0, 0] }
"""
WIRING = """
[plant]
kind = "python"
address = "evil_bench:Bench"
[[action]]
name = "EVILlook"
steps = [{ query = "EVIL" }]
[[action]]
name = "EVILpress"
steps = [{ query = "press" }]
[[action]]
name = "RESET"
steps = [{ query = "reset" }]
"""
BENCH = """
class Bench:
    identity = "EVIL"
    lit = False
    def send(self, command):
        if command == "press":
            self.lit = not self.lit
            return "EVILclick"
        if command == "reset":
            self.lit = False
            return "EVILreset"
        return "EVILlit" if self.lit else "EVILdark"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of evil names and contents, entered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("NO_COLOR", "1")
    name = EVIL.replace("\u2028", "")  # in TOML strings, and in names of files
    toml = {f"{EVIL}.toml": PROBLEM, "noisy.toml": NOISY, "wiring.toml": WIRING, "operation.toml": PROBLEM + OPERATION}
    for file, text in toml.items():
        (tmp_path / file).write_text(text.replace("EVIL", "".join(f"\\u{ord(c):04x}" for c in EVIL)), "utf-8")
    (tmp_path / "evil_bench.py").write_text(BENCH.replace("EVIL", EVIL.encode("unicode_escape").decode()), "utf-8")
    (tmp_path / f"{EVIL}.csv").write_text(f"command,reading\n{EVIL}press,{EVIL}click\n{EVIL}look,{EVIL}lit\n", "utf-8")
    (tmp_path / f"runs{EVIL}.csv").write_text(f"log,end\n{EVIL}.csv,{EVIL}1\n", "utf-8")
    for letter in "ab":
        last = "lit" if letter == "a" else "dark"
        text = f'digraph {{ s0 -> s0 [label="{name}look / {name}{last}"]; s0 -> s0 [label="RESET / {name}reset"]; }}'
        (tmp_path / f"{letter}{name}.dot").write_text(text, "utf-8")
    return tmp_path


def call(*words: str) -> int:
    """What the command ends with, in this process."""
    with pytest.MonkeyPatch.context() as monkeypatch, pytest.raises(SystemExit) as ended:
        monkeypatch.setattr(sys, "argv", ["ascertain", *words])
        monkeypatch.setattr(sys, "stdout", sys.stdout)  # which the command replaces
        main()
    return ended.value.code if isinstance(ended.value.code, int) else 0


def check_printed(capfd: pytest.CaptureFixture[str]) -> str:
    """Everything that was printed, which is plain."""
    out, err = capfd.readouterr()
    for line in (out + err).split("\n"):
        assert line.isprintable(), ascii(line)
    return out + err


EVIL_FILE = f"{EVIL}.toml"
WORKING: dict[str, list[list[str]]] = {
    "init": [["init", f"new{EVIL}.toml"], ["init", "--plant", "http", f"wiring{EVIL}.toml"]],
    "inspect": [["inspect", EVIL_FILE]],
    "quotient": [["quotient", EVIL_FILE]],
    "solve": [["solve", EVIL_FILE, "--certificate", f"{EVIL}.json"]],
    "bounds": [["bounds", "noisy.toml"]],
    "fingerprint": [["fingerprint", *(f"{x}{EVIL}.dot".replace("\u2028", "") for x in "ab")]],
    "sequence": [["sequence", "uio", f"a{EVIL}.dot".replace("\u2028", "")]],
    "simulate": [["simulate", EVIL_FILE, "--runs", "2"]],
    "bank": [["bank", "operation.toml"]],
    "calibrate": [["calibrate", "operation.toml", "--runs", f"runs{EVIL}.csv"]],
    "wire": [["wire", "wiring.toml", "--try", f"{EVIL}look"]],
    "observe": [
        ["observe", EVIL_FILE, "--plant", "wiring.toml", "--journal", f"{EVIL}.journal"],
        ["observe", EVIL_FILE, "--plant", "wiring.toml", "--identity", f"no{EVIL}"],
        ["observe", EVIL_FILE, "--plant", "python:evil_bench:Bench", "--hosts", "[1-2]"],
    ],
    "conform": [["conform", EVIL_FILE, "--plant", "wiring.toml", "--complete", "0", "--label", f"{EVIL}0"]],
    "learn": [
        ["learn", "--plant", "wiring.toml", "--actions", f"{EVIL}look", "--conform", "sample:9", "--out", f"{EVIL}.dot"]
    ],
    "journal": [["journal", f"{EVIL}.journal"]],
    "verify": [["verify", f"{EVIL}.task.json", f"{EVIL}.json"]],
    "task": [["task", EVIL_FILE, "--sha256"]],
}
"""For each verb, calls that print what evil files hold."""


def test_every_verb_escapes_what_it_prints(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert set(WORKING) == set(VERBS) - {"studio"}  # which serves until it is interrupted
    for verb, calls in WORKING.items():
        for words in calls:
            code = call(*words)
            printed = check_printed(capfd)
            # Another plant is refused; so are operations whose names cannot be printed.
            assert code == (4 if "--identity" in words else 2 if verb == "calibrate" else 0), printed
            assert ESCAPED in printed or verb in ("simulate", "bank", "learn", "verify", "task"), verb
    for words in (WORKING["inspect"][0], WORKING["wire"][0], WORKING["journal"][0], WORKING["observe"][2]):
        assert call(*words, "--json") == 0
        assert ESCAPED in check_printed(capfd)


def test_every_verb_escapes_what_it_refuses(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    missing = f"no/such/{EVIL}.dot"
    more = {
        "fingerprint": [missing],
        "verify": [missing],
        "observe": ["--plant", "simulated:1"],
        "conform": ["--plant", "simulated:1", "--complete", "0"],
        "learn": ["--plant", missing, "--actions", "a", "--out", "m.dot"],
    }
    first = {"learn": [], "sequence": ["uio", missing]}
    for verb in VERBS:
        code = call(verb, *first.get(verb, [missing]), *more.get(verb, []))
        printed = check_printed(capfd)
        assert code == 2 and ESCAPED in printed, printed
    assert call(f"verb{EVIL}") == 2 and ESCAPED in check_printed(capfd)
    assert call("inspect", EVIL_FILE, f"--no{EVIL}") == 2 and ESCAPED in check_printed(capfd)


def test_a_terminal_sees_no_control_but_ours(place: Path) -> None:
    """Colours and the like are ours: after them nothing is left but plain text; the canonical form is escaped too."""
    for words in (["task", EVIL_FILE], ["solve", EVIL_FILE]):
        leader, follower = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
        done = subprocess.Popen(
            [sys.executable, "-m", "ascertain", *words], stdout=follower, stderr=follower, env=environment
        )
        os.close(follower)
        seen = b""
        while True:
            try:
                seen += os.read(leader, 65536)
            except OSError:  # at the end, on Linux
                break
        assert done.wait() == 0, seen
        os.close(leader)
        text = re.sub(r"\x1b\[[0-9;]*m", "", seen.decode()).replace("\r\n", "\n")
        assert "VERIFIED" in text
        for line in text.split("\n"):
            assert line.isprintable(), ascii(line)


def test_what_is_escaped_can_be_told_apart() -> None:
    assert printable("valve 1: ü → 漢") == "valve 1: ü → 漢"
    assert printable("a\x1b\x9b\u202e\n\ud800\U000e0001") == r"a\x1b\x9b\u202e\n\ud800\U000e0001"
