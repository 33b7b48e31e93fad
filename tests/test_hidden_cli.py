"""Hidden problems on the command line: observe with every kind of plant, certificates, and what other verbs say."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.calls import call
from tests.conftest import ROOT
from tests.test_cli_observe import cut_last_record
from tests.test_lines import serving

TIGER = ROOT / "examples" / "tiger"
WHERE = TIGER / "where.toml"
WRONG_ONCE = ["hear-right", "hear-left", "hear-left", "hear-left", "hear-left", "hear-left", "hear-left"]


def answer(*arguments: object, code: int = 0, typed: str | None = None) -> dict[str, Any]:
    return json.loads(call("observe", *arguments, "--json", code=code, typed=typed).stdout)


def problem(folder: Path, *lines: str) -> Path:
    """The tiger's question with more said about it."""
    path = folder / "problem.toml"
    head = [f"model = {json.dumps(str(TIGER / 'tiger.pomdp'))}", "[task]", 'actions = ["listen"]']
    path.write_text("\n".join([*head, *lines]) + "\n")
    return path


# ------------------------------------------------------------------------------------------------------------ plants


def test_a_simulated_hidden_plant_is_observed_and_the_seed_decides_all() -> None:
    facts = answer(WHERE, "--plant", "simulated:7")
    assert (facts["verdict"], facts["policy"], facts["alpha"], facts["right"]) == ("certified", "eager", "1/1000", True)
    assert facts["label"] == facts["truth"] == facts["current_state"]
    assert facts == answer(WHERE, "--plant", "simulated:7") | {key: facts[key] for key in ("began", "ended")}
    stated = answer(WHERE, "--plant", "simulated:7:tiger-right", "--alpha", "1/1000000")
    assert (stated["label"], stated["truth"], stated["alpha"]) == ("tiger-right", "tiger-right", "1/1000000")


def test_a_belief_that_is_drawn_from_is_named_and_one_that_is_no_hypothesis_is_neither_right_nor_wrong(
    tmp_path: Path,
) -> None:
    path = problem(
        tmp_path,
        'hypotheses = { beliefs = { even = { tiger-left = "1/2", tiger-right = "1/2" }, sure = { tiger-left = 1 } } }',
        '[risk]\nalpha = "1/100"',
        "[observe]\nbudget = 40",
    )
    assert answer(path, "--plant", "simulated:3:sure", code=3)["truth"] == "sure"
    other = answer(path, "--plant", "simulated:3:tiger-right")
    assert (other["truth"], other["label"], other["right"]) == ("tiger-right", "even", None)


def test_a_program_is_observed_and_what_it_does_not_say_is_coped_with(tmp_path: Path) -> None:
    """The second answer is missing, and of the fourth action it is not known whether it was done."""
    script = tmp_path / "plant.py"
    script.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    number, _, action = line.strip().partition(' ')\n"
        "    said = {'2': '?', '4': '~'}.get(number, 'hear-left')\n"
        "    print('plant tiger' if number == 'hello' else f'{number} {said}', flush=True)\n"
    )
    facts = answer(WHERE, "--plant", f"exec:{sys.executable} {script}", "--timeout", "20", "--identity", "tiger")
    assert facts["label"] == "tiger-left"
    assert [reading for _, reading, _ in facts["transcript"]][:4] == ["hear-left", None, "hear-left", None]
    assert [certain for _, _, certain in facts["transcript"]][:4] == [True, True, True, False]
    assert facts["readings"] == 5 and facts["actions"] == 7
    strict = answer(WHERE, "--plant", f"exec:{sys.executable} {script}", "--timeout", "20", "--strict", code=4)
    assert strict["verdict"] == "abstained"


def test_a_hidden_plant_over_tcp_a_recording_and_a_person_are_observed(tmp_path: Path) -> None:
    def serve(connection: socket.socket) -> None:
        for line in connection.makefile("r"):
            number, _, _ = line.strip().partition(" ")
            said = "plant tiger" if number == "hello" else f"{number} {WRONG_ONCE[int(number) - 1]}"
            connection.sendall(f"{said}\n".encode())

    with serving(serve) as address:
        facts = answer(WHERE, "--plant", address, "--timeout", "20")
    assert (facts["label"], facts["readings"]) == ("tiger-left", 7)
    log = tmp_path / "run.csv"
    log.write_text("\n".join(["command,reading", *(f"listen,{reading}" for reading in WRONG_ONCE)]) + "\n")
    assert answer(WHERE, "--plant", f"replay:{log}")["transcript"] == facts["transcript"]
    typed = answer(WHERE, "--plant", "manual:", typed="hear-rihgt\n" + "\n".join(WRONG_ONCE) + "\n")
    assert typed["transcript"] == facts["transcript"]
    assert answer(WHERE, "--plant", "manual:", typed="hear-left\n", code=4)["verdict"] == "abstained"


def test_a_dry_run_and_a_refusal_send_nothing_and_budgets_and_limits_hold(tmp_path: Path) -> None:
    done = call("observe", WHERE, "--plant", "exec:/never/started", "--dry-run")
    assert done.stdout == "next action: listen\n"
    facts = answer(WHERE, "--plant", "simulated:7", "--approve", typed="y\nn\n", code=3)
    assert (facts["actions"], facts["reason"]) == (1, "the action 'listen' was not approved")
    assert answer(WHERE, "--plant", "simulated:7", "--budget", 2, code=3)["reason"] == (
        "the budget of 2 actions is spent"
    )
    limited = problem(tmp_path, '[risk]\nalpha = "1/1000"', "[observe]\nlimits = { listen = 3 }")
    assert answer(limited, "--plant", "simulated:7", code=3)["actions"] == 3
    zero = call("observe", problem(tmp_path), "--plant", "exec:/never/started", code=2)
    assert "alpha is 0, and with noise nothing rules out 'tiger-left' against 'tiger-right' for certain" in zero.stderr


# ----------------------------------------------------------------------------------------- journals and certificates


@pytest.mark.parametrize("policy", ["eager", "staged", "readwise", "reuse"])
def test_a_journalled_run_is_certified_and_verified_by_all_three(tmp_path: Path, policy: str) -> None:
    path = problem(
        tmp_path, '[risk]\nalpha = "1/1000"', '[observe]\nnominal = "tiger-left"\nrejection = "1/10"\nbudget = 100'
    )
    for truth in ("tiger-left", "tiger-right"):
        journal, proof = tmp_path / f"{truth}.journal", tmp_path / f"{truth}.json"
        arguments = [path, "--plant", f"simulated:5:{truth}", "--policy", policy, "--journal", journal]
        facts = answer(*arguments, "--certificate", proof)
        assert (facts["label"], facts["certificate"]) == (truth, "VERIFIED")
        switched = [event["why"] for event in facts["events"]]
        assert switched == (["eager"] if policy == "eager" else [] if truth == "tiger-left" else switched[:1])
        assert (facts["stage"] == "nominal") == (not switched)
        again = answer(*arguments, "--resume")
        assert (again["verdict"], again["transcript"]) == ("certified", facts["transcript"])
        assert call("verify", path, proof).stdout.startswith("VERIFIED")
        assert call("verify", proof.with_suffix(".task.json"), proof).stdout.startswith("VERIFIED")
        command = [sys.executable, "-P", "-m", "ascertain_check", str(proof.with_suffix(".task.json")), str(proof)]
        alone = subprocess.run(command, capture_output=True, text=True, check=True)
        assert alone.stdout.startswith("VERIFIED")
        spoilt = tmp_path / "spoilt.json"
        spoilt.write_text(proof.read_text().replace(truth, "tiger-left" if truth == "tiger-right" else "tiger-right"))
        assert call("verify", path, spoilt, code=1).stdout.startswith("REFUTED")
        assert call("verify", WHERE, proof).stdout.startswith("VERIFIED"), "[observe] is no part of the question"
    other = problem(tmp_path, '[risk]\nalpha = "1/999"')
    assert "another task" in call("verify", other, tmp_path / "tiger-left.json", code=1).stdout


def test_a_run_that_broke_off_goes_on_where_its_journal_ends(tmp_path: Path) -> None:
    journal = tmp_path / "run.journal"
    whole = answer(WHERE, "--plant", "simulated:2", "--alpha", "1/100000")
    first = answer(WHERE, "--plant", "simulated:2", "--alpha", "1/100000", "--journal", journal)
    assert first["transcript"] == whole["transcript"]
    for _ in range(4):
        cut_last_record(journal)
    arguments = [WHERE, "--plant", "simulated:2", "--alpha", "1/100000", "--journal", journal, "--resume"]
    resumed = answer(*arguments, "--certificate", tmp_path / "proof.json")
    assert (resumed["transcript"], resumed["certificate"]) == (whole["transcript"], "VERIFIED")
    refused = call("observe", *arguments, "--probing", "round-robin", code=2)
    assert "committed to something else" in refused.stderr


def test_the_canonical_form_of_a_hidden_problem_is_printed() -> None:
    data = json.loads(call("task", WHERE).stdout)
    assert data["model"]["kind"] == "hidden"
    assert data["hypotheses"] == [["tiger-left", [[0, "1"]], 0], ["tiger-right", [[1, "1"]], 1]]
    assert call("task", WHERE, "--observed").stdout == call("task", WHERE).stdout
    assert len(call("task", WHERE, "--sha256").stdout.strip()) == 64


# ------------------------------------------------------------------------------------------------------- other verbs


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", WHERE],
        ["bounds", WHERE],
        ["simulate", WHERE, "--policy", "policy.json"],
        ["bank", WHERE],
        ["fingerprint", TIGER / "tiger.pomdp", TIGER / "tiger.pomdp"],
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_verbs_that_need_a_machine_say_so_and_what_to_use_instead(arguments: list[object]) -> None:
    done = call(*arguments, code=2)
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, lines
    assert "hidden" in lines[0] and "whose transitions are certain" in lines[0]
    assert all(verb in lines[0] for verb in ("observe", "inspect", "quotient"))


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ('[operation]\nlog = "run.csv"', "[operation] is for machines and Boolean plants"),
        ("[weights]\ntiger-left = 2", "[weights] is for machines and Boolean plants"),
        ('[observe]\ncompiler = "direct"', "[observe] compiler is for machines and Boolean plants"),
        ("[observe]\nshells = 2", "[observe] shells is for machines and Boolean plants"),
        ('[observe]\nprobing = "planned"', "probing: planned is for machines without noise"),
        ('[observe]\nnominal = "tiger"', "[observe] nominal: 'tiger' is not a hypothesis"),
        ("[observe]\nlimits = { look = 1 }", "[observe] limits: 'look' is not an action of the question"),
        ("[observe]\nbudgte = 1", "did you mean 'budget'"),
    ],
)
def test_what_a_hidden_problem_cannot_say_about_observing_is_one_sentence(
    tmp_path: Path, section: str, sentence: str
) -> None:
    done = call("observe", problem(tmp_path, section), "--plant", "simulated:1", code=2)
    assert sentence in done.stderr.strip().splitlines()[-1]
    assert done.stdout == ""


def test_policies_that_need_a_nominal_say_so() -> None:
    for policy in ("staged", "readwise", "reuse"):
        done = call("observe", WHERE, "--plant", "simulated:1", "--policy", policy, code=2)
        assert f"the policy {policy!r} needs a nominal" in done.stderr


# ------------------------------------------------------------------------------------------------------------- notes


@pytest.mark.parametrize("verb", ["inspect", "quotient", "task"])
def test_every_verb_says_that_rows_were_renormalised(tmp_path: Path, verb: str) -> None:
    text = (TIGER / "tiger.pomdp").read_text().replace("0.85 0.15", "0.850001 0.15")
    assert "0.850001" in text
    (tmp_path / "near.pomdp").write_text(text)
    path = tmp_path / "near.toml"
    path.write_text('model = "near.pomdp"\ninexact_rows = "renormalised"\n')
    assert "WERE RENORMALISED" in call(verb, path).stderr


def test_what_became_of_dont_cares_is_said_of_problems_too(tmp_path: Path) -> None:
    (tmp_path / "lamp.kiss2").write_text(".i 1\n.o 1\n0 off on -\n1 off off 1\n0 on on 1\n1 on off 0\n")
    path = tmp_path / "lamp.toml"
    for word in ("forbidden", "completed"):
        path.write_text(f'model = "lamp.kiss2"\ndont_care = "{word}"\n')
        assert f"lamp.kiss2: 1 lines leave something open, which is {word}" in call("inspect", path).stderr


def test_observe_says_beforehand_what_no_run_can_settle(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(f"model = {json.dumps(str(TIGER / 'tiger.pomdp'))}\n[task]\nactions = ['open-left']\n")
    asked = ("observe", path, "--plant", "simulated:1", "--alpha", "1/10", "--budget", 3)
    assert "no experiment tells them apart; if either is true, this run will not" in call(*asked, code=3).stderr
    assert "this run will not" not in call("observe", WHERE, "--plant", "simulated:1").stderr
