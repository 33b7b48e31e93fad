"""Naming a plant in one command, and checking that it is one of the machines at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import TaskError
from ascertain.model.build import machine_from_transitions
from ascertain.pipeline.conform import read_method
from ascertain.pipeline.fingerprint import explain_transcript, pose_machines
from ascertain.pipeline.identify import Identified, identify
from ascertain.plant.faults import Missing
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified, NoneOfThese
from ascertain.task.hypotheses import states_after_log
from ascertain.task.log import read_log
from ascertain_check import check
from tests.conftest import ROOT
from tests.test_cli import complaint, run

SERVERS = sorted((ROOT / "examples" / "servers").glob("*.dot"))
FIR = f"exec:python {ROOT / 'examples' / 'servers' / 'fir.py'}"


def truth(name: str) -> SimulatedPlant:
    task = pose_machines(SERVERS, 1)
    return SimulatedPlant(task.model, int(task.state[[task.model.origin[int(s)] for s in task.state].index(name)]))


@pytest.mark.parametrize("how", [None, "complete:0", "complete:1", "sample:20"])
@pytest.mark.parametrize("name", ["birch", "elm", "dogwood"])
def test_a_known_server_is_named_and_conforms(name: str, how: str | None, tmp_path: Path) -> None:
    found = identify(SERVERS, truth(name), conform_by=how, certificate=tmp_path / "c.json")
    assert isinstance(found.verdict, Certified) and name in found.verdict.label.split("|")
    assert (found.certificate, found.exit_code) == ("VERIFIED", 0)
    claims = [claim["claim"] for claim in json.loads((tmp_path / "c.json").read_text())["claims"]]
    assert claims == {None: ["run"], "sample:20": ["run", "sampled"]}.get(how, ["run", "conforms"])
    assert (found.assumed is None) == (how is not None)


def test_an_outsider_passes_for_a_model_until_its_conformance_is_checked(tmp_path: Path) -> None:
    named = identify(SERVERS, FIR)
    assert named.verdict == Certified("alder|elm") and named.assumed == "if it is one of the models"
    found = identify(SERVERS, FIR, conform_by="complete:0", certificate=tmp_path / "c.json", journal=tmp_path / "j")
    assert isinstance(found.verdict, NoneOfThese) and (found.exit_code, found.certificate) == (1, "VERIFIED")
    assert found.facts()["witness"][-1] == ["AUTH", "503"] and found.cost > named.cost
    again = identify(SERVERS, FIR, conform_by="complete:0", journal=tmp_path / "j", resume=True)
    assert again.verdict == found.verdict


def test_a_lost_reading_in_the_experiment_does_not_count_for_conformance() -> None:
    class Forgetful:
        def __init__(self) -> None:
            self.plant, self.sent = truth("cedar"), 0

        def send(self, action: str) -> str:
            self.sent += 1
            reading = self.plant.send(action)
            if self.sent == 2:
                raise Missing("lost")
            return reading

    found = identify(SERVERS, Forgetful(), conform_by="complete:0")
    assert found.verdict == Certified("cedar") and found.conformed is not None
    assert found.conformed.steps[0][0] == "RESET"


def test_the_verb_says_what_nothing_has_checked_and_what_is_wrong(tmp_path: Path) -> None:
    done = run("fingerprint", *SERVERS, "--plant", FIR)
    assert done.returncode == 0 and "This holds if it is one of the models" in done.stdout
    facts = json.loads(run("fingerprint", *SERVERS, "--plant", FIR, "--conform", "sample:50", "--json").stdout)
    assert facts["verdict"] == "none of these" and facts["conformance"]["method"]["sample"] == 50
    assert 'write "complete:K"' in complaint("fingerprint", *SERVERS, "--plant", FIR, "--conform", "all")
    assert "name it with --plant" in complaint("fingerprint", *SERVERS, "--conform", "complete:0")
    assert "name it with --plant" in complaint("fingerprint", *SERVERS, "--identity", "fir")
    assert "--resume needs --journal FILE" in complaint("fingerprint", *SERVERS, "--plant", FIR, "--resume")
    assert "ACTION=C" in complaint("fingerprint", *SERVERS, "--cost", "3")
    assert "an action that all machines know" in complaint("fingerprint", *SERVERS, "--actions", "HELO,PING")
    with pytest.raises(TaskError, match="what a reset costs"):
        identify(SERVERS, FIR, conform_by="complete:0", reset_cost=None)
    with pytest.raises(TaskError, match="complete:K"):
        read_method("complete:-1")


def test_prices_of_actions_change_the_experiment() -> None:
    cheap = identify(SERVERS, truth("dogwood"))
    dear = identify(SERVERS, truth("dogwood"), cost={"AUTH": 50})
    assert dear.verdict == cheap.verdict and dear.cost > cheap.cost
    few = identify(SERVERS, truth("dogwood"), actions=["HELO", "AUTH", "SEND"])
    assert {action for action, _, _ in few.observed.transcript} <= {"HELO", "AUTH", "SEND", "RESET"}


def test_the_objective_changes_the_experiment_and_a_resumed_run_keeps_it(tmp_path: Path) -> None:
    """Looking is cheap and leaves two machines; opening is dear and tells all: 10 at worst, or 6 in the mean."""
    looks = {"one": "x", "two": "y", "three": "z", "four": "z"}
    arrows = {name: [("s", "look", seen, "s"), ("s", "open", name, "s")] for name, seen in looks.items()}
    machines = {name: machine_from_transitions(arrow, initial="s") for name, arrow in arrows.items()}
    task = pose_machines(machines, 1, cost={"open": 10})

    def find(state: int, **words: Any) -> Identified:
        return identify(machines, SimulatedPlant(task.model, state), cost={"open": 10}, **words)

    costs = {
        objective: [find(int(s), objective=objective).cost for s in task.state] for objective in ("worst", "expected")
    }
    assert costs == {"worst": [10, 10, 10, 10], "expected": [1, 1, 11, 11]}
    found = find(2, objective="expected", journal=tmp_path / "j")
    again = find(2, journal=tmp_path / "j", resume=True)
    assert again.observed.transcript == found.observed.transcript and again.verdict == found.verdict == Certified(
        "three"
    )


def test_a_transcript_that_no_machine_explains_is_shown_up_to_what_contradicts_the_last_and_proved(
    tmp_path: Path,
) -> None:
    log, proof = tmp_path / "seen.csv", tmp_path / "proof.json"
    log.write_text("command,reading\nAUTH,503\nHELO,250\nAUTH,503\nHELO,250\n")
    found = explain_transcript(SERVERS, log, certificate=proof)
    assert found.verdict == NoneOfThese((("AUTH", "503"), ("HELO", "250"), ("AUTH", "503")))
    assert (found.classes, found.certificate) == ((), "VERIFIED")
    assert str(check((tmp_path / "proof.task.json").read_bytes(), proof.read_bytes())) == "VERIFIED"
    log.write_text("command,reading\nAUTH,503\nHELO,250\n")
    assert explain_transcript(SERVERS, log).verdict is None


def test_a_blank_reading_of_a_transcript_was_lost_and_proves_nothing(tmp_path: Path) -> None:
    log, proof = tmp_path / "seen.csv", tmp_path / "proof.json"
    log.write_text("command,reading\nAUTH,\nHELO,-\n")
    assert explain_transcript(SERVERS, log).classes == ("dogwood",)
    log.write_text("command,reading\nAUTH,\nHELO,\nAUTH,503\nHELO,250\n")
    found = explain_transcript(SERVERS, log, certificate=proof)
    assert found.verdict == NoneOfThese((("AUTH", "?"), ("HELO", "?"), ("AUTH", "503")))
    assert found.certificate is None and not proof.exists()
    task = pose_machines(SERVERS, 1)
    states = states_after_log(task.model, task.model, read_log(log)[:2], "log")
    assert 0 < len(states) < task.model.num_states


def test_an_action_that_a_machine_does_not_define_proves_nothing(tmp_path: Path) -> None:
    arrows = {"one": 'a -> b [label="go/x"]; b -> b [label="see/1"];', "two": 'a -> a [label="go/x"];'}
    for name, arrow in arrows.items():
        start = '__start0 [shape=none, label=""]; __start0 -> a; a -> a [label="see/2"];'
        (tmp_path / f"{name}.dot").write_text(f"digraph m {{ {start} {arrow} }}\n")
    log, files = tmp_path / "seen.csv", [tmp_path / f"{name}.dot" for name in arrows]
    log.write_text("command,reading\ngo,x\ngo,y\n")
    found = explain_transcript(files, log, certificate=tmp_path / "proof.json")
    assert found.verdict is not None and str(found.certificate).startswith("REFUTED: action")
    assert not (tmp_path / "proof.json").exists()
    done = run("fingerprint", *files, "--transcript", log, "--certificate", tmp_path / "proof.json")
    assert done.returncode == 1 and "no certificate is written: REFUTED" in done.stderr
