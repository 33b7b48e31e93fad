"""Learning: votes, the cache, hypotheses checked by conformance, and what is claimed of the model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import AscertainError, FileError, PlantFault, TaskError
from ascertain.live.answers import Answers, LimitMet, Revised, Unstable
from ascertain.live.deadline import Deadline
from ascertain.live.journal import Journal
from ascertain.live.recorder import Notebook
from ascertain.model import Machine
from ascertain.model.build import with_reset
from ascertain.model.files import read_model
from ascertain.model.noisy import with_flip
from ascertain.pipeline.conform import conform
from ascertain.pipeline.identify import identify
from ascertain.pipeline.learn import Learned
from ascertain.pipeline.learn import learn as learn_anew
from ascertain.plant.abstract import AbstractPlant, as_plant
from ascertain.plant.faults import Late
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.task.canonical import canonical_bytes
from ascertain_check import check
from tests.conftest import ROOT
from tests.reference.learning import are_equivalent, count_votes, settle_word
from tests.strategies import machines
from tests.test_cli import run

pytest.importorskip("aalpy")
SERVERS = ROOT / "examples" / "servers"
FIR = f"exec:python {SERVERS / 'fir.py'}"
ACTIONS = ("HELO", "AUTH", "SEND", "QUIT")


def learn(plant: Any, actions: Sequence[str], **how: Any) -> Learned:
    """What is learned is the same each time: samples are drawn by one seed."""
    return learn_anew(plant, actions, **{"seed": "1", **how})


def begun(machine: Machine) -> Machine:
    """The machine with one initial state."""
    return replace(machine, initial=machine.initial[:1] or (0,))


def simulated(machine: Machine, seed: int | str = 0, flip: Fraction = Fraction(0)) -> SimulatedPlant:
    """The machine with a reset, as a plant; with noise on what it reads if that is asked for."""
    whole = with_reset(machine, "RESET")
    return SimulatedPlant(with_flip(whole, flip) if flip else whole, whole.initial[0], seed)


def birch() -> Machine:
    machine = read_model(SERVERS / "birch.dot")
    assert isinstance(machine, Machine)
    return machine


class Through(AbstractPlant):
    """Another plant, with something done before each action is sent."""

    def __init__(self, plant: AbstractPlant, before: Callable[[int, str], None], name: str = "through") -> None:
        self.plant, self.before, self.name, self.sent = plant, before, name, 0

    def send(self, action: str) -> str:
        self.sent += 1
        self.before(self.sent, action)
        return self.plant.send(action)


# ------------------------------------------------------------------------------------------------------------ votes


class Dice(AbstractPlant):
    """Reads at random, mostly the same."""

    def __init__(self, seed: int, faces: int) -> None:
        self.random, self.faces = Random(seed), faces

    def send(self, action: str) -> str:
        return str(max(0, self.random.randrange(-6, self.faces)))


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.lists(st.text("ab", max_size=4), max_size=12))
@settings(max_examples=150)
def test_votes_are_counted_as_the_definition_says(seed: int, faces: int, lead: int, words: list[str]) -> None:
    notebook = Notebook()
    answers = Answers(Dice(seed, faces), "R", recorder=notebook, lead=lead, most=6)
    given_before: dict[tuple[str, ...], str] = {}
    for word in (("R", *word) for word in words):
        before = len(notebook.records)
        try:
            found = answers.ask(word[1:])
        except Unstable as fault:
            runs = [(record["actions"], record["readings"]) for record in notebook.records]
            settled = settle_word(runs, word, lead)
            assert len(notebook.records) - before == 6 and fault.word == word[: len(settled) + 1]
            assert fault.votes == count_votes(runs, fault.word, settled)
            continue
        except Revised:
            found = None
        runs = [(record["actions"], record["readings"]) for record in notebook.records]
        settled = settle_word(runs, word, lead)
        assert len(settled) == len(word)
        # No run too many: before the last one something was not settled yet.
        assert len(runs) == before or len(settle_word(runs[:-1], word, lead)) < len(word)
        changed = any(given_before.get(word[: k + 1], y) != y for k, y in enumerate(settled))
        assert (found is None) == changed
        if found is None:
            answers.forget_given()
            given_before = {}
        else:
            assert found == settled[1:]
            given_before |= {word[: k + 1]: y for k, y in enumerate(settled)}
    runs = [(record["actions"], record["readings"]) for record in notebook.records]
    for word, readings in answers.settled("ab"):
        assert settle_word(runs, ("R", *word), lead)[1:] == readings


def test_a_run_that_went_another_way_has_no_vote_on_what_follows() -> None:
    notebook = Notebook()
    for readings in (
        ["r", "1", "x"],
        ["r", "2", "y"],
        ["r", "2", "y"],
        ["r", "1", "x"],
        ["r", "1", "x"],
        ["r", "1", "x"],
    ):
        notebook.append({"record": "run", "actions": ["R", "a", "b"], "readings": readings})
    answers = Answers(Dice(0, 1), "R", recorder=notebook, lead=2)
    assert answers.ask(("a", "b")) == ("1", "x") and answers.num_runs == 0
    assert list(answers.disputed("ab")) == [(("R", "a"), {"1": 4, "2": 2})]


# --------------------------------------------------------------------------------------------------------- learning


@given(machines(partial=False, max_states=4, max_actions=2), st.integers(0, 100))
@settings(max_examples=40)
def test_what_is_learned_is_the_machine_where_the_claim_covers_it(machine: Machine, seed: int) -> None:
    truth = begun(machine)
    found = learn(simulated(truth), truth.actions, conform_by=["complete:3"], votes=1, seed=str(seed))
    assert (found.status, found.certificate, found.exit_code) == ("learned", "VERIFIED", 0)
    assert found.machine is not None and found.machine.num_states <= 4
    # The truth has at most 4 states, and the claim is about all machines of at most 1 + 3.
    assert are_equivalent(found.machine, truth, truth.actions)


def test_the_default_finds_the_servers_and_claims_what_it_checked(tmp_path: Path) -> None:
    for name in ("alder", "birch", "cedar", "dogwood", "elm"):
        truth = read_model(SERVERS / f"{name}.dot")
        assert isinstance(truth, Machine)
        found = learn(simulated(truth), truth.actions, out=tmp_path / f"{name}.dot", seed="7", votes=1)
        assert found.claim == "sample:100+complete:0" and len(found.statements) == 2
        assert found.machine is not None and found.machine.num_states == 4
        task = (tmp_path / f"{name}.task.json").read_bytes()
        assert str(check(task, (tmp_path / f"{name}.json").read_bytes())) == "VERIFIED"
        written = read_model(tmp_path / f"{name}.dot")
        assert isinstance(written, Machine) and are_equivalent(written, truth, truth.actions)
        assert (tmp_path / f"{name}.dot").read_text().startswith("// Learned from 'simulated': sample:100+complete:0")


def test_rounds_share_the_confidence(tmp_path: Path) -> None:
    found = learn(simulated(birch()), ACTIONS, out=tmp_path / "b.dot", conform_by=["sample:50"], seed="7")
    [claim] = json.loads((tmp_path / "b.json").read_text())["claims"]
    assert found.rounds > 1 and claim["seed"] == f"7:{found.rounds}"
    assert Fraction(claim["confidence"]) == 1 - Fraction(1, 20) / (found.rounds * (found.rounds + 1))


def test_a_reset_that_reads_something_of_its_own_is_an_action_of_the_model(tmp_path: Path) -> None:
    class Chatty(AbstractPlant):
        def __init__(self, name: str) -> None:
            machine = read_model(SERVERS / f"{name}.dot")
            assert isinstance(machine, Machine)
            self.plant = simulated(machine)

        def send(self, action: str) -> str:
            return "220" if (reading := self.plant.send(action)) == "reset" else reading

    files = [tmp_path / "birch.dot", tmp_path / "cedar.dot"]
    for file in files:
        found = learn(Chatty(file.stem), ACTIONS, out=file, votes=1)
        assert found.machine is not None and found.machine.actions[-1] == "RESET"
        assert conform(file, Chatty(file.stem), complete=0).exit_code == 0
    assert identify(files, Chatty("cedar"), conform_by="complete:0").verdict == Certified("cedar")


# ------------------------------------------------------------------------------------------------------------ noise


def test_plants_that_flip_readings_are_voted_right_or_reported() -> None:
    truth, right, told = birch(), 0, 0
    for seed in range(12):
        found = learn(
            simulated(truth, seed, Fraction(1, 40)), ACTIONS, votes=3, max_votes=12, seed=str(seed), max_queries=20_000
        )
        if found.status == "learned":
            assert found.machine is not None
            equal = are_equivalent(found.machine, truth, ACTIONS[:2])
            assert equal or found.num_disputed, "silently wrong"
            right += equal
        told += found.status == "unstable" or found.num_disputed > 0
    assert right >= 10 and told == 12


def test_a_plant_that_reads_at_random_is_unstable_and_no_model_is_written(tmp_path: Path) -> None:
    found = learn(simulated(birch(), 1, Fraction(1, 2)), ACTIONS, out=tmp_path / "b.dot", max_votes=4)
    assert (found.status, found.exit_code, found.claim, found.certificate) == ("unstable", 3, None, None)
    assert (
        found.unstable is not None and len(found.unstable.votes) > 1 and "does not repeat itself" in str(found.reason)
    )
    assert found.facts()["unstable"]["word"][0] == "RESET" and not (tmp_path / "b.dot").exists()


def test_a_reset_that_reads_at_random_is_unstable() -> None:
    class Fickle(AbstractPlant):
        def __init__(self) -> None:
            self.plant, self.resets = simulated(birch()), 0

        def send(self, action: str) -> str:
            reading = self.plant.send(action)
            self.resets += reading == "reset"
            return f"reset {self.resets % 2}" if reading == "reset" else reading

    found = learn(Fickle(), ACTIONS)
    assert found.unstable is not None and found.unstable.word == ("RESET",)


def test_answers_that_are_outvoted_are_learned_again() -> None:
    class Liar(AbstractPlant):
        """Says at first that it needs no greeting."""

        def __init__(self) -> None:
            self.plant, self.word, self.lies = simulated(birch()), list[str](), 0

        def send(self, action: str) -> str:
            self.word = [] if action == "RESET" else [*self.word, action]
            reading = self.plant.send(action)
            if self.word == ["AUTH"] and self.lies < 3:
                self.lies += 1
                return "235"
            return reading

    found = learn(Liar(), ACTIONS, seed="1", max_votes=20)
    assert found.status == "learned" and found.machine is not None
    assert are_equivalent(found.machine, birch(), ACTIONS[:2])
    [dispute] = found.disputed
    assert dispute.word == ("RESET", "AUTH") and dispute.votes["235"] == 3 and found.num_disputed == 1


# ------------------------------------------------------------------------------------------------ cache and limits


def test_a_limit_keeps_what_was_read_and_resuming_goes_on(tmp_path: Path) -> None:
    whole = learn(simulated(birch()), ACTIONS, conform_by=["complete:1"], votes=1)
    cache, queries = tmp_path / "b.cache", 0
    for part in range(100):
        found = learn(
            simulated(birch()),
            ACTIONS,
            conform_by=["complete:1"],
            votes=1,
            cache=cache,
            resume=part > 0,
            max_queries=30,
            out=tmp_path / "b.dot",
        )
        assert found.known == queries and found.queries <= 30
        queries += found.queries
        if found.status == "learned":
            break
        assert (found.status, found.exit_code) == ("limit", 3) and not (tmp_path / "b.dot").exists()
    # The suite that is planned depends on what is known by then, so that the number may differ a little.
    assert found.status == "learned" and 0 < part == (queries - 1) // 30 and queries < 1.5 * whole.queries
    assert found.machine == whole.machine and found.certificate == "VERIFIED"


@pytest.mark.parametrize("moment", [1, 2, 57])
def test_an_interruption_loses_nothing_but_the_run_under_way(moment: int, tmp_path: Path) -> None:
    def stop(sent: int, _: str) -> None:
        if sent == moment:
            raise KeyboardInterrupt

    cache, how = tmp_path / "b.cache", {"conform_by": ["complete:1"], "votes": 1}
    with pytest.raises(KeyboardInterrupt):
        learn(Through(simulated(birch()), stop), ACTIONS, cache=cache, **how)
    with Journal(cache) as journal:
        runs = sum(record["record"] == "run" for record in journal.records)
    found = learn(Through(simulated(birch()), lambda *_: None), ACTIONS, cache=cache, resume=True, **how)
    assert found.known == runs and found.status == "learned"
    with pytest.raises(FileError, match=r"plant is 'through' there and 'another' now"):
        learn(Through(simulated(birch()), stop, "another"), ACTIONS, cache=cache, resume=True)
    with pytest.raises(FileError, match=r"begun already; add --resume"):
        learn(simulated(birch()), ACTIONS, cache=cache)


def test_more_votes_are_asked_for_on_what_is_known(tmp_path: Path) -> None:
    cache = tmp_path / "b.cache"
    once = learn(simulated(birch()), ACTIONS, conform_by=["complete:0"], cache=cache, votes=1)
    twice = learn(simulated(birch()), ACTIONS, conform_by=["complete:0"], cache=cache, votes=2, resume=True)
    assert twice.known == once.queries and 0 < twice.queries <= once.queries


def test_other_limits_end_learning() -> None:
    assert learn(simulated(birch()), ACTIONS, max_states=2).reason == "a hypothesis has 4 states, more than 2"
    assert learn(simulated(birch()), ACTIONS, time_limit=1e-9).reason == "the deadline of 1e-09 s has passed"

    now = [0.0]

    def late(_sent: int, _action: str) -> None:
        now[0] += 1
        raise Late("nothing came")

    deadline = Deadline(3, lambda: now[0])
    answers = Answers(Through(simulated(birch()), late), "RESET", recorder=Notebook(), retries=9, deadline=deadline)
    with pytest.raises(LimitMet, match="the deadline of 3 s has passed"):
        answers.ask(("HELO",))


def test_words_are_begun_again_after_a_fault_and_a_fault_that_stays_is_raised() -> None:
    def stumble(sent: int, _: str) -> None:
        if sent % 50 == 0:
            raise Late("nothing came")

    found = learn(Through(simulated(birch()), stumble), ACTIONS)
    assert found.status == "learned" and found.faults

    def fail(sent: int, _: str) -> None:
        if sent > 30:
            raise Late("nothing came")

    with pytest.raises(PlantFault, match="nothing came"):
        learn(Through(simulated(birch()), fail), ACTIONS)


def test_a_cache_from_anyone_is_checked(tmp_path: Path) -> None:
    for k, wrong in enumerate(
        ({"actions": ["RESET"]}, {"actions": [1], "readings": ["a"]}, {"actions": [], "readings": []})
    ):
        path = tmp_path / f"{k}.cache"
        with Journal(path) as journal:
            begin = {"record": "commitment", "format": "ascertain-answers", "version": 1}
            journal.begin({**begin, "plant": "simulated", "reset": "RESET", "made_by": "us"})
            journal.append({"record": "run", **wrong})
        with pytest.raises(FileError, match=r"record 1(: a run has| has)"):
            learn(simulated(birch()), ACTIONS, cache=path, resume=True)
    other = tmp_path / "other.cache"
    with Journal(other) as journal:
        journal.begin(
            {"record": "commitment", "format": "ascertain-conformance", "version": 1, "made_by": "us"}
            | {"task_sha256": "", "hypothesis": 0, "reset": 0, "method": {}, "words": 0}
        )
    with pytest.raises(FileError, match=r"format is 'ascertain-conformance' there"):
        learn(simulated(birch()), ACTIONS, cache=other, resume=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"actions": []}, "name each action once"),
        ({"actions": ["HELO", "HELO"]}, "name each action once"),
        ({"actions": ["HELO", "RESET"]}, "'RESET' is the reset"),
        ({"conform_by": []}, "say how hypotheses are checked"),
        ({"conform_by": ["all"]}, "is not understood"),
        ({"votes": 0}, "votes: a lead of 0"),
        ({"votes": 11}, "votes: a lead of 11"),
        ({"out": "model.json"}, "written as .dot"),
        ({"resume": True}, "no such cache"),
        ({"plant": "simulated:1"}, "answers by a model, which is what is to be learned"),
        ({"plant": "manual:"}, "answers by a model"),
        ({"time_limit": -1}, r"time_limit \(--time\): -1 is not understood"),
        ({"identity": "another"}, "'another' was expected"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(options: dict[str, Any], sentence: str) -> None:
    given = {"plant": simulated(birch()), "actions": ACTIONS, **options}
    with pytest.raises(AscertainError, match=sentence):
        learn(**given)


def test_a_limit_that_is_refused_begins_no_cache(tmp_path: Path) -> None:
    with pytest.raises(AscertainError, match="0 is not understood"):
        learn(simulated(birch()), ACTIONS, time_limit=0, cache=tmp_path / "cache")
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------------------------------- the verb


def test_the_verb_learns_writes_and_says_what_it_claims(tmp_path: Path) -> None:
    out = tmp_path / "fir.dot"
    first = run(
        "learn", "--plant", FIR, "--actions", ",".join(ACTIONS), "--out", out, "--max-queries", "30", "--votes", "1"
    )
    assert first.returncode == 3 and "30 queries were made" in first.stdout and "--resume goes on" in first.stdout
    assert not out.exists() and (tmp_path / "fir.cache").exists()
    asked = run(
        "learn", "--plant", FIR, "--actions", ",".join(ACTIONS), "--out", out, "--resume", "--votes", "1", "--json"
    )
    facts = json.loads(asked.stdout)
    assert asked.returncode == 0 and facts["schema"] == "ascertain/learn" and facts["status"] == "learned"
    assert (facts["states"], facts["known"], facts["certificate"]) == (4, 30, "VERIFIED") and out.exists()
    claims = json.loads((tmp_path / "fir.json").read_text())["claims"]
    assert {(claim["plant"]["identity"], claim["plant"]["address"]) for claim in claims} == {("fir", FIR)}


def test_a_certificate_of_another_model_is_refuted(tmp_path: Path) -> None:
    found = learn(simulated(birch()), ACTIONS, out=tmp_path / "b.dot", votes=1)
    assert found.status == "learned"
    data = json.loads((tmp_path / "b.json").read_text())
    data["claims"][1]["transcript"] = data["claims"][1]["transcript"][: len(data["claims"][1]["transcript"]) // 2]
    verdict = check((tmp_path / "b.task.json").read_bytes(), canonical_bytes(data))
    assert str(verdict).startswith("REFUTED")


def test_bare_plants_are_learned() -> None:
    class Lamp:
        lit = False

        def send(self, action: str) -> str:
            self.lit = action == "press" and not self.lit if action != "look" else self.lit
            return {"RESET": "reset", "press": "click"}.get(action, "lit" if self.lit else "dark")

    found = learn(Lamp(), ["press", "look"])
    assert found.machine is not None and found.machine.num_states == 2 and as_plant(Lamp()).name == found.plant


def test_votes_are_a_number_of_runs() -> None:
    with pytest.raises(TaskError, match="1 <= lead <= runs"):
        Answers(Dice(0, 1), "R", recorder=Notebook(), lead=3, most=2)


SLOW = """
import sys, time
for line in sys.stdin:
    number, _, action = line.strip().partition(" ")
    time.sleep(0.02)
    reading = "reset" if action == "RESET" else action
    print("plant slow" if number == "hello" else f"{number} {reading}", flush=True)
"""


def test_ctrl_c_keeps_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    words = [
        "--plant",
        f"exec:{sys.executable} {tmp_path / 'slow.py'}",
        "--actions",
        "a,b",
        "--out",
        tmp_path / "m.dot",
    ]
    command = [sys.executable, "-m", "ascertain", "learn", *map(str, words), "--conform", "sample:5000"]
    head = tmp_path / "m.cache.head"
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if head.exists() and int(head.read_text().split()[0]) > 10:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read().splitlines()  # the program may complain that nobody hears it any more
        assert (said[-1], process.wait(60)) == ("ascertain: interrupted", 130)
    assert not (tmp_path / "m.dot").exists()
    with Journal(tmp_path / "m.cache") as journal:
        known = sum(record["record"] == "run" for record in journal.records)
    found = learn_anew(str(words[1]), ["a", "b"], conform_by=["complete:0"], cache=tmp_path / "m.cache", resume=True)
    assert known >= 9 and (found.known, found.status) == (known, "learned")
