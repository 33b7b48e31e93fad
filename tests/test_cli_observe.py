"""`ascertain observe` as a person meets it: every kind of plant, every way to end, journal and certificate."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ascertain_check.verdicts import refuted
from tests.calls import call
from tests.conftest import LAMP
from tests.test_lines import lamp_over, serving

PYTHON = f"exec:{sys.executable} {LAMP.with_name('lamp.py')}"
SHELL = f"exec:sh {LAMP.with_name('lamp.sh')}"


def observe(*arguments: object, code: int = 0, typed: str | None = None) -> Any:
    """The verb, with actions in turn, which every test can foresee, unless it says otherwise."""
    in_turn = () if "--probing" in arguments else ("--probing", "round-robin")
    return call("observe", *arguments, *in_turn, code=code, typed=typed)


def answer(*arguments: object, code: int = 0, typed: str | None = None) -> dict[str, Any]:
    return json.loads(observe(*arguments, "--json", code=code, typed=typed).stdout)


def complaint(*arguments: object, code: int = 2) -> str:
    """The one sentence on standard error of a call that must be refused."""
    done = observe(*arguments, code=code)
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def program(tmp_path: Path, body: str) -> str:
    path = tmp_path / "plant.py"
    head = "import sys, os, time\nsay = lambda x: print(x, flush=True)\nhear = lambda: sys.stdin.readline().strip()\n"
    path.write_text(head + body)
    return f"exec:{sys.executable} {path}"


def test_a_simulated_plant_is_settled_and_the_json_says_how() -> None:
    facts = answer(LAMP, "--plant", "simulated:3:lit")
    expected = {
        "verdict": "certified",
        "label": "lit",
        "reason": None,
        "alpha": "1/1000000",
        "truth": "lit",
        "right": True,
    }
    assert {key: facts[key] for key in expected} == expected
    assert facts["schema"] == "ascertain/observe"
    assert facts["readings"] == facts["actions"] == len(facts["transcript"])
    cost = {"look": 1, "press the switch": 2}
    assert int(facts["cost"]) == sum(cost[action] for action, _, _ in facts["transcript"])
    # A seed repeats all but the time of day.
    assert facts == answer(LAMP, "--plant", "simulated:3:lit") | {key: facts[key] for key in ("began", "ended")}


def test_without_json_lines_go_to_standard_error_and_the_answer_to_standard_output() -> None:
    done = observe(LAMP, "--plant", "simulated:3:lit")
    assert done.stdout.startswith("certified: lit\n")
    lines = done.stderr.splitlines()
    assert "look -> dark" in lines[1] and "of 13.82 nats" in lines[1] and "rivals left 1" in lines[1]
    assert "every rival is beaten" in lines[-1]


@pytest.mark.parametrize("plant", [PYTHON, SHELL])
def test_the_example_plants_are_observed(plant: str) -> None:
    facts = answer(LAMP, "--plant", plant, "--identity", "lamp", "--timeout", "20")
    assert (facts["verdict"], facts["label"], facts["plant"]) == ("certified", "lit", "lamp")
    assert "truth" not in facts


def test_a_plant_over_tcp_is_observed() -> None:
    with serving(lamp_over) as address:
        facts = answer(LAMP, "--plant", address, "--timeout", "20", "--policy", "eager", "--probing", "separating")
    assert (facts["verdict"], facts["label"]) == ("certified", "lit")
    assert {action for action, _, _ in facts["transcript"]} == {"look"}


def test_a_recording_is_observed_and_one_that_ends_early_is_a_plant_fault(tmp_path: Path) -> None:
    facts = answer(LAMP, "--plant", "simulated:5")
    path = tmp_path / "run.csv"
    rows = [f"{action},{reading}" for action, reading, _ in facts["transcript"]]
    path.write_text("\n".join(["command,reading", *rows]) + "\n")
    again = answer(LAMP, "--plant", f"replay:{path}")
    assert (again["label"], again["transcript"]) == (facts["label"], facts["transcript"])
    path.write_text("\n".join(["command,reading", *rows[:3]]) + "\n")
    short = answer(LAMP, "--plant", f"replay:{path}", code=4)
    assert short["verdict"] == "abstained"
    assert "the recording ends after 3 actions" in short["reason"]
    path.write_text("command,reading\nlook,lit\n")
    assert (
        f"{path}:2: 'press the switch' was asked where 'look'"
        in answer(LAMP, "--plant", f"replay:{path}", code=4)["reason"]
    )


def test_a_person_can_be_the_plant() -> None:
    typed = "click\nlti\nlit\n" + "click\ndark\nclick\nlit\n" * 5
    facts = answer(LAMP, "--plant", "manual:", typed=typed)
    assert (facts["verdict"], facts["label"]) == ("certified", "dark")
    done = observe(LAMP, "--plant", "manual:", code=4, typed="click\n")
    assert "do press the switch, then type what you read (click;" in done.stderr
    assert "abstained: the input ended where a reading for 'look' was expected" in done.stdout


def test_a_plant_that_dies_hangs_or_garbles_ends_in_exit_code_4_and_a_reason(tmp_path: Path) -> None:
    greet = "hear(); say('plant p'); hear(); say('1 click'); hear();"
    for body, reason in [
        ("os._exit(1)", "the plant has hung up"),
        ("os.kill(os.getpid(), 9)", "the plant has hung up"),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush(); hear()", "not UTF-8 text"),
        ("say('x' * 10000); hear()", "more than 4096 bytes"),
        ("say('2 !the door is shut'); hear()", "was not carried out: the door is shut"),
    ]:
        facts = answer(LAMP, "--plant", program(tmp_path, f"{greet} {body}"), "--timeout", "20", code=4)
        assert facts["verdict"] == "abstained"
        assert reason in facts["reason"]
        assert facts["plant_failed"] is True
        assert len(facts["faults"]) == 1


@pytest.mark.parametrize("reading", ["purple", "click"])
def test_a_reading_that_no_state_gives_is_none_of_these_with_a_certificate(tmp_path: Path, reading: str) -> None:
    greet = "hear(); say('plant p'); hear(); say('1 click'); hear();"
    plant = program(tmp_path, f"{greet} say('2 {reading}'); hear()")
    proof = tmp_path / "none.json"
    journal = ("--journal", tmp_path / "run.journal")
    facts = answer(LAMP, "--plant", plant, "--timeout", "20", "--certificate", proof, *journal, code=1)
    assert (facts["verdict"], facts["plant_failed"], facts["faults"]) == ("none of these", False, [])
    assert facts["witness"] == [["press the switch", "click"], ["look", reading]]
    assert facts["transcript"][-1] == ["look", reading, True]
    assert (facts["certificate"], facts["actions"], facts["readings"]) == ("VERIFIED", 2, 2)
    again = answer(LAMP, "--plant", plant, *journal, "--resume", code=1)
    assert (again["verdict"], again["witness"]) == (facts["verdict"], facts["witness"])


def test_a_silent_plant_is_given_up_after_its_time() -> None:
    plant = "exec:sh -c 'read hello; echo plant p; sleep 600'"
    facts = answer(LAMP, "--plant", plant, "--timeout", "3", "--strict", code=4)
    assert (facts["verdict"], facts["actions"], facts["faults"][0]["kind"]) == ("abstained", 0, "late")


def test_a_plant_of_another_name_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    plant = program(tmp_path, f"hear(); say('plant impostor'); open({str(tmp_path / 'heard')!r}, 'w').write(hear())")
    assert "'impostor', and 'lamp' was expected" in complaint(LAMP, "--plant", plant, "--identity", "lamp", code=4)
    assert (tmp_path / "heard").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--plant", "simulate:1"], "did you mean 'simulated'?"),
        (["--plant", "simulated:1", "--resume"], "--resume needs --journal"),
        (["--plant", "simulated:1", "--resume", "--journal", "none.db"], "no such journal"),
        (["--plant", "simulated:1", "--policy", "eagre"], "did you mean 'eager'?"),
        (["--plant", "simulated:1", "--policy", "staged"], "needs a nominal"),
        (["--plant", "simulated:1", "--alpha", "2"], "alpha is 2"),
        (["--plant", "simulated:1", "--probing", "x"], "probing"),
        (["--plant", "simulated:1", "--timeout", "-1"], "--timeout"),
        (["--plant", "replay:no-such.csv"], "there is no such file"),
        (["--plant", "simulated:1", "--journal", str(LAMP)], "is an input of the question"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str) -> None:
    assert sentence in complaint(LAMP, *arguments)


def test_a_plant_that_cannot_be_reached_is_a_plant_fault() -> None:
    assert "cannot be started" in complaint(LAMP, "--plant", "exec:/no/such/program", code=4)


def test_an_abstention_for_want_of_budget_is_exit_code_3(tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    facts = answer(LAMP, "--plant", "simulated:1", "--budget", "2", "--certificate", certificate, code=3)
    assert facts["reason"] == "the budget of 2 actions is spent"
    assert facts["certificate"] is None
    assert not certificate.exists()


def test_a_dry_run_shows_the_next_action_and_starts_nothing(tmp_path: Path) -> None:
    plant = program(tmp_path, f"open({str(tmp_path / 'started')!r}, 'w').close()")
    done = observe(LAMP, "--plant", plant, "--dry-run", "--journal", tmp_path / "j.db")
    assert done.stdout == "next action: press the switch\n"
    assert not (tmp_path / "started").exists()
    assert not (tmp_path / "j.db").exists()


def test_each_action_is_sent_only_if_it_is_approved() -> None:
    facts = answer(LAMP, "--plant", PYTHON, "--approve", "--timeout", "20", code=3, typed="y\nYES\n\n")
    assert facts["actions"] == 2
    assert facts["reason"] == "the action 'press the switch' was not approved"
    facts = answer(LAMP, "--plant", "simulated:1", "--approve", code=3, typed="")
    assert facts["actions"] == 0


def test_a_journalled_run_can_be_certified_and_resumes_to_its_verdict(tmp_path: Path) -> None:
    journal, certificate = tmp_path / "run.journal", tmp_path / "answer.json"
    facts = answer(LAMP, "--plant", "simulated:8", "--journal", journal, "--certificate", certificate)
    assert facts["certificate"] == "VERIFIED"
    assert certificate.exists() and (tmp_path / "answer.task.json").exists()
    assert "--resume" in complaint(LAMP, "--plant", "simulated:8", "--journal", journal)
    again = answer(LAMP, "--plant", "exec:/never/started", "--journal", journal, "--resume")
    assert (again["verdict"], again["transcript"]) == ("certified", facts["transcript"])
    refused = complaint(LAMP, "--plant", "simulated:8", "--journal", journal, "--resume", "--alpha", "1/7")
    assert "another problem" in refused or "something else" in refused
    plain = answer(LAMP, "--plant", "simulated:8", "--certificate", tmp_path / "plain.json")
    assert plain["certificate"] == "VERIFIED"


def wide_plant(tmp_path: Path, num_bits: int) -> Path:
    """A plant of which both ends are read; the hypotheses are far apart, up to the largest state."""
    problem = tmp_path / "wide.toml"
    problem.write_text(
        f"""
[model]
bits = {num_bits}
flip = "1/50"
[[model.command]]
name = "low"
gates = []
tap = "b0"
[[model.command]]
name = "high"
gates = [["xor", "b0", "b1", "b{num_bits - 1}"]]
tap = "b{num_bits - 1}"
[task]
hypotheses = ["{"0" * num_bits}", "{"1" * num_bits}", "1{"0" * (num_bits - 1)}"]
label = "state"
[risk]
alpha = "1/1000000"
[observe]
policy = "eager"
"""
    )
    return problem


@pytest.mark.parametrize("num_bits", [50, 64])
def test_states_of_many_bits_are_observed_and_their_certificate_is_verified(tmp_path: Path, num_bits: int) -> None:
    """Their numbers have more than 15 digits, beyond what a double holds, and up to 20, the checker's limit."""
    problem, certificate = wide_plant(tmp_path, num_bits), tmp_path / "wide.json"
    for state in ("1" * num_bits, "1" + "0" * (num_bits - 1)):
        facts = answer(
            problem, "--plant", f"simulated:1:{state}", "--certificate", certificate, "--journal", tmp_path / state
        )
        assert (facts["label"], facts["certificate"]) == (state, "VERIFIED")
    bank = json.loads(certificate.read_text())["claims"][0]["bank"]
    assert [s for s, _ in bank] == [0, 1 << (num_bits - 1), (1 << num_bits) - 1]
    assert call("verify", tmp_path / "wide.task.json", certificate).stdout.startswith("VERIFIED\n")
    spoilt = certificate.read_text().replace(str((1 << num_bits) - 1), str((1 << num_bits) - 2))
    certificate.write_text(spoilt)
    call("verify", tmp_path / "wide.task.json", certificate, code=1)


def test_a_certificate_of_ours_that_does_not_verify_is_exit_code_5_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ascertain.pipeline.certify.check", lambda *_: refuted("a rival is not beaten"))
    certificate = tmp_path / "c.json"
    done = observe(LAMP, "--plant", "simulated:8", "--certificate", certificate, "--json", code=5)
    assert json.loads(done.stdout)["certificate"] == "REFUTED: a rival is not beaten"
    last = done.stderr.splitlines()[-1]
    assert str(certificate) in last
    assert "the certificate of this run does not verify; this is a fault of ours" in last


def test_a_question_that_needs_no_reading_is_answered_and_certified_without_one(tmp_path: Path) -> None:
    problem = tmp_path / "p.toml"
    problem.write_text(LAMP.read_text() + '[task]\nlabel = { "*" = "a lamp" }\n')
    facts = answer(problem, "--plant", "simulated:1", "--certificate", tmp_path / "c.json")
    assert (facts["label"], facts["actions"], facts["certificate"]) == ("a lamp", 0, "VERIFIED")


def test_a_run_whose_verdict_was_not_written_any_more_is_only_given_its_verdict(tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    facts = answer(LAMP, "--plant", "simulated:8", "--journal", journal)
    cut_last_record(journal)
    again = answer(
        LAMP, "--plant", "exec:/never/started", "--journal", journal, "--resume", "--certificate", tmp_path / "c"
    )
    assert again["transcript"] == facts["transcript"]
    assert again["certificate"] == "VERIFIED"


def test_a_finished_journal_gives_the_same_verdict_reason_and_exit_code_again(tmp_path: Path) -> None:
    greet = "hear(); say('plant p'); hear(); say('1 click'); hear();"
    doubts = tmp_path / "doubts.toml"
    doubts.write_text(LAMP.read_text() + "doublings = 1\n")
    for number, (problem, arguments, code, cause) in enumerate(
        [
            (LAMP, ["--plant", program(tmp_path, f"{greet} os._exit(1)"), "--timeout", "20"], 4, "plant"),
            (LAMP, ["--plant", SHELL, "--timeout", "20", "--budget", "2"], 3, "observer"),
            (LAMP, ["--plant", "simulated:1", "--approve"], 3, "person"),
            (LAMP, ["--plant", "manual:"], 4, "plant"),
            (doubts, ["--plant", "manual:"], 4, "plant"),
            (LAMP, ["--plant", "simulated:8"], 0, None),
        ]
    ):
        journal = tmp_path / f"{number}.journal"
        once = answer(problem, *arguments, "--journal", journal, code=code, typed="~\n" * 2 * (problem == doubts))
        with contextlib.closing(sqlite3.connect(journal)) as store:
            [last] = store.execute("SELECT body FROM record ORDER BY number DESC LIMIT 1").fetchone()
        assert json.loads(last).get("cause") == cause
        budget = ["--budget", "2"] if "--budget" in arguments else []
        plant = ["--plant", "exec:/never/started", "--journal", journal, "--resume"]
        for _ in range(2):
            again = answer(problem, *plant, *budget, code=code)
            same = ("verdict", "label", "reason", "plant_failed", "transcript", "cost")
            assert [again[key] for key in same] == [once[key] for key in same]


class RemoteLamp:
    """A lamp over TCP that outlives its connections, does not say what it did last, and hangs up once, at an action.

    Before it hangs up it has carried the action out, or not. If it is retry-safe it remembers its last answer.
    """

    def __init__(self, stumbles_at: int, carried_out: bool, retry_safe: bool) -> None:
        self.stumbles_at, self.carried_out, self.retry_safe = stumbles_at, carried_out, retry_safe
        self.lit, self.last, self.answer, self.calls = True, "", "", 0
        self.heard: list[int] = []

    def serve(self, connection: socket.socket) -> None:
        self.calls += 1
        for line in connection.makefile("r"):
            number, _, action = line.strip().partition(" ")
            if number == "hello":
                connection.sendall(b"plant lamp retry-safe\n" if self.retry_safe else b"plant lamp\n")
                continue
            self.heard.append(int(number))
            hang_up = self.calls == 1 and number == str(self.stumbles_at)
            if not (hang_up and not self.carried_out) and not (self.retry_safe and number == self.last):
                self.lit = self.lit != (action == "press the switch")
                self.last, self.answer = number, "click" if action != "look" else "lit" if self.lit else "dark"
            if hang_up:
                return
            connection.sendall(f"{number} {self.answer}\n".encode())


@pytest.mark.parametrize(
    ("number", "retry_safe", "code"), [(3, True, 0), (4, False, 0), (3, False, 3)], ids=["safe", "look", "press"]
)
@pytest.mark.parametrize("carried_out", [True, False])
def test_on_resumption_an_open_action_is_in_doubt_unless_the_plant_is_retry_safe(
    tmp_path: Path, number: int, retry_safe: bool, code: int, carried_out: bool
) -> None:
    """A plant that cannot say what it did last is not taken to have done the action, nor not to have done it.

    The third action presses the switch: after one reading nobody knows any more whether it was lit at the beginning.
    """
    lamp, journal = RemoteLamp(number, carried_out, retry_safe), tmp_path / "j.db"
    with serving(lamp.serve) as address:
        arguments = [LAMP, "--plant", address, "--timeout", "20", "--journal", journal]
        answer(*arguments, code=4)
        cut_last_record(journal)  # as if we had been killed while the answer was awaited
        facts = answer(*arguments, "--resume", code=code)
    assert facts["label"] == ("lit" if code == 0 else None)
    doubted = [i for i, (_, _, certain) in enumerate(facts["transcript"], 1) if not certain]
    assert doubted == ([] if retry_safe else [number])
    once_more = [number] if retry_safe else []
    assert lamp.heard == [*range(1, number + 1), *once_more, *range(number + 1, facts["actions"] + 1)]


def cut_last_record(journal: Path) -> None:
    """What a crash before the last record leaves behind, the head included."""
    with contextlib.closing(sqlite3.connect(journal, isolation_level=None)) as store:
        store.execute("DELETE FROM record WHERE number = (SELECT max(number) FROM record)")
        number, head = store.execute("SELECT number, hash FROM record ORDER BY number DESC").fetchone()
    journal.with_name(f"{journal.name}.head").write_text(f"{number + 1} {head}\n")


def test_a_dry_run_that_resumes_writes_nothing(tmp_path: Path) -> None:
    """The last verdict is missing: a run that goes on would record it before anything else."""
    journal, risk = tmp_path / "j.db", tmp_path / "risk"
    shared = ["--risk-file", risk, "--total-alpha", "1/100", "--alpha", "1/1000"]
    answer(LAMP, "--plant", "simulated:8", "--journal", journal, *shared)
    cut_last_record(journal)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    seen = answer(LAMP, "--journal", journal, "--resume", "--dry-run", "--risk-file", risk)
    assert seen["verdict"] == "certified"
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_journal_that_was_never_begun_is_begun_later(tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    complaint(LAMP, "--plant", "exec:/no/such/program", "--journal", journal, code=4)
    assert answer(LAMP, "--plant", "simulated:8", "--journal", journal)["verdict"] == "certified"


def test_an_interrupted_session_ends_with_130_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """The plant remembers its run in a file, as a real one would be where it was; the fourth answer takes for ever."""
    memory = tmp_path / "memory"
    body = f"""
import json
try: last, lit, answer = json.load(open({str(memory)!r}))
except OSError: last, lit, answer = 0, True, ""
for line in sys.stdin:
    number, _, action = line.strip().partition(" ")
    if number == "hello":
        say(f"plant lamp retry-safe last={{last}}")
        continue
    if int(number) != last:
        lit = lit != (action == "press the switch")
        last, answer = int(number), "click" if action != "look" else "lit" if lit else "dark"
        json.dump([last, lit, answer], open({str(memory)!r}, "w"))
        if last == 4: time.sleep(600)
    say(f"{{number}} {{answer}}")
"""
    journal = tmp_path / "j.db"
    arguments = [
        LAMP,
        "--plant",
        program(tmp_path, body),
        "--journal",
        journal,
        "--timeout",
        "100",
        "--probing",
        "round-robin",
    ]
    command = [sys.executable, "-m", "ascertain", "observe", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 120
        while not (memory.exists() and memory.read_text().startswith("[4")) and time.monotonic() < until:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert errors.splitlines()[-1] == "ascertain: interrupted"
    facts = answer(*arguments, "--resume")
    assert (facts["verdict"], facts["label"]) == ("certified", "lit")
    assert all(certain for _, _, certain in facts["transcript"])
    assert json.loads(memory.read_text())[0] == facts["actions"]  # nothing was done twice


def test_on_a_terminal_a_panel_shows_evidence_rivals_and_cost() -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "ascertain", "observe", str(LAMP), "--plant", "simulated:3:lit"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env=environment, text=True) as running:
        os.close(slave)
        shown = io.BytesIO()
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            shown.write(data)
        output, _ = running.communicate(timeout=60)
    os.close(master)
    panel = shown.getvalue().decode()
    assert running.returncode == 0
    assert output.startswith("certified: lit")
    for word in ("leading label", "evidence", "13.82 nats", "rivals left", "cost"):
        assert word in panel, panel
