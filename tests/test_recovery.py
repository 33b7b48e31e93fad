"""Runs that go on after a fault of the plant, from a reset: never wrong, certified, and refused where they cannot."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import FileError, PlantFault
from ascertain.live.journal import Journal
from ascertain.live.recovery import find_reset, why_not
from ascertain.model.build import machine_from_transitions, with_reset
from ascertain.model.machine import Machine
from ascertain.model.noisy import with_flip
from ascertain.model.union import union
from ascertain.observer.records import hash_records
from ascertain.pipeline.identify import identify
from ascertain.pipeline.observe import observe
from ascertain.pipeline.observed import Observed
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Contradicted, Garbled, HungUp, Late, Refused, Restarted
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese
from ascertain.problem.fingerprint import pose_fingerprint
from ascertain.problem.pose import pose
from ascertain.task.task import Task
from ascertain_check.certificate import check
from tests.journal_runs import memory_folder
from tests.reference.recovery import is_reset, linked_states
from tests.test_identify import SERVERS, truth

FAULTS = (HungUp, Garbled, Refused, Restarted, Contradicted, Late)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    yield from memory_folder()


def draw_machine(chance: random.Random) -> Machine:
    size = chance.randint(2, 4)
    rows = [
        (f"s{s}", a, chance.choice("01"), f"s{chance.randrange(size)}")
        for s in range(size)
        for a in ("a", "b", "c")
        if s == 0 or chance.random() < 0.9
    ]
    return machine_from_transitions(rows, initial="s0")


def draw_task(chance: random.Random) -> Task:
    """Several machines with a reset, of which at least two can be told apart."""
    while True:
        machines = {f"m{i}": draw_machine(chance) for i in range(3)}
        task = pose_fingerprint(machines, reset_cost=Fraction(1))
        if len(task.labels) > 1:
            return task


class Failing(AbstractPlant):
    """A plant that is somewhere in its part of the model when it is met, and fails after some actions."""

    name = identity = "failing"

    def __init__(self, task: Task, state: int, chance: random.Random, *, fails: float) -> None:
        self.plant, self.chance, self.fails = SimulatedPlant(task.model, state), chance, fails

    def send(self, action: str) -> str:
        if self.chance.random() < self.fails:
            if self.chance.random() < 0.5:
                self.plant.send(action)
            raise self.chance.choice(FAULTS)("it fails")
        return self.plant.send(action)


def run_to_the_end(task: Task, h: int, seed: int, folder: Path) -> tuple[Observed, int]:
    """Resume a run again and again, each time on a plant that the fault has left anywhere; with the number of times."""
    chance, start = random.Random(f"faults {seed}"), int(task.state[h])
    anywhere = sorted(linked_states(task, start))
    for sitting in range(60):
        state = start if sitting == 0 else chance.choice(anywhere)
        # Of a plant that does not fail a whole sitting is a chance to end.
        plant = Failing(task, state, chance, fails=0.25 if sitting < 50 else 0)
        again = sitting > 0
        found = observe(task, plant, journal=folder / "j", resume=again, certificate=folder / "c.json")
        if not found.run.plant_failed:
            return found, sitting
    raise AssertionError("it never ended")


@pytest.mark.parametrize("block", range(4))
def test_a_run_that_faults_break_off_again_and_again_is_never_wrong_and_is_certified(
    block: int, tmp_path: Path
) -> None:
    gone_on = 0
    for seed in range(8 * block, 8 * block + 8):
        task, folder = draw_task(random.Random(f"task {seed}")), tmp_path / str(seed)
        folder.mkdir()
        h = seed % len(task.state)
        found, sittings = run_to_the_end(task, h, seed, folder)
        assert found.run.verdict == Certified(task.labels[int(task.label[h])]), seed
        assert found.certificate == "VERIFIED"
        gone_on += sittings
        with Journal(folder / "j") as journal:
            assert sum(record["record"] == "plant" for record in journal.records) == sittings + 1
    assert gone_on > 3


def test_the_reset_that_is_found_is_the_cheapest_that_the_slow_twin_knows() -> None:
    seen = set[object]()
    for seed in range(120):
        chance = random.Random(seed)
        machines = [draw_machine(chance) for _ in range(chance.randint(1, 3))]
        model = union({f"m{i}": m for i, m in enumerate(machines)})
        if chance.random() < 0.6:
            model = with_reset(model, "RESET", to=chance.choice((None, 0)))
        task = pose(model, hypotheses="initial", label="state", cost={a: chance.randint(1, 3) for a in model.actions})
        resets = [a for a in task.actions if is_reset(task, a)]
        expected = min(resets, key=lambda a: (task.cost[a], a), default=None)
        assert find_reset(task) == expected, seed
        seen.add(expected)
    assert None in seen and len(seen) > 2


def test_a_run_cannot_go_on_where_noise_or_the_question_or_the_model_forbids_it() -> None:
    ring = machine_from_transitions([("a", "go", "0", "b"), ("b", "go", "1", "a")], initial="a")
    posed = pose(with_reset(ring, "RESET"), label="state")
    assert "one state, where nothing tells how it began" in str(why_not(posed, find_reset(posed)))
    assert why_not(pose(with_reset(ring, "RESET"), label="state", about="current"), 1) is None
    assert "no reset" in str(why_not(pose(ring, label="state"), find_reset(pose(ring, label="state"))))
    noisy = pose(with_reset(with_flip(ring, Fraction(1, 10)), "RESET"), label="state", alpha="1/10")
    assert find_reset(noisy) is None and "noisy" in str(why_not(noisy, None))


class Broken(AbstractPlant):
    """Fails at an action, counted from 1; says that it is what it is called."""

    def __init__(self, plant: AbstractPlant, at: int, identity: str | None = "unit 7") -> None:
        self.plant, self.left, self.identity = plant, at, identity

    def send(self, action: str) -> str:
        self.left -= 1
        if self.left == 0:
            raise HungUp("it has gone")
        return self.plant.send(action)


def test_the_journal_tells_the_fault_and_the_certificate_that_the_run_went_on(tmp_path: Path) -> None:
    first = identify(SERVERS, Broken(truth("cedar"), 3), journal=tmp_path / "j")
    assert first.exit_code == 4 and isinstance(first.verdict, Abstained)
    found = identify(
        SERVERS, Broken(truth("cedar"), 99), journal=tmp_path / "j", resume=True, certificate=tmp_path / "c.json"
    )
    assert found.verdict == Certified("cedar") and found.certificate == "VERIFIED"
    with Journal(tmp_path / "j") as journal:
        kinds = [record["record"] for record in journal.records]
        records = journal.records
    assert kinds[:8] == ["commitment", "plant", "stage", "intent", "reading", "intent", "reading", "intent"]
    assert kinds[8:11] == ["verdict", "plant", "intent"]
    assert (records[8]["cause"], records[9]["identity"]) == ("plant", "unit 7")
    task_text, text = ((tmp_path / name).read_bytes() for name in ("c.task.json", "c.json"))
    sentence = check(task_text, text).proved[0]
    assert "'unit 7'" in sentence and "gone on from a reset after 1 faults" in sentence
    # A finished run stays what it is.
    again = identify(SERVERS, Broken(truth("cedar"), 99), journal=tmp_path / "j", resume=True)
    assert again.verdict == found.verdict


def test_without_a_plant_the_verdict_of_a_run_that_failed_is_given_again(tmp_path: Path) -> None:
    task = pose_fingerprint({"m": ring_of(2), "n": ring_of(3)}, reset_cost=Fraction(1))
    observe(task, Broken(SimulatedPlant(task.model, int(task.state[0])), 2), journal=tmp_path / "j")
    with Journal(tmp_path / "j") as journal:
        number = len(journal.records)
    assert observe(task, None, journal=tmp_path / "j", resume=True).exit_code == 4
    with Journal(tmp_path / "j") as journal:
        assert len(journal.records) == number


def ring_of(size: int) -> Machine:
    rows = [(f"s{i}", "go", "1" if i == size - 1 else "0", f"s{(i + 1) % size}") for i in range(size)]
    return machine_from_transitions(rows, initial="s0")


def test_a_run_that_cannot_go_on_says_why_and_stays_as_it_was(tmp_path: Path) -> None:
    task, notes = pose(with_reset(ring_of(3), "RESET"), label="state"), list[str]()
    observe(task, Broken(SimulatedPlant(task.model, 1), 1), journal=tmp_path / "j")
    again = observe(task, SimulatedPlant(task.model, 1), journal=tmp_path / "j", resume=True, note=notes.append)
    assert again.exit_code == 4
    assert any("does not go on: 'RESET' leads every hypothesis to one state" in note for note in notes)


def test_a_reset_that_is_in_doubt_is_not_gone_on_from(tmp_path: Path) -> None:
    class Silent(AbstractPlant):
        identity = "unit 7"

        def send(self, action: str) -> str:
            raise Late("nothing comes")

    task = pose_fingerprint({"m": ring_of(2), "n": ring_of(3)}, reset_cost=Fraction(1))
    plant = SimulatedPlant(task.model, int(task.state[1]))
    observe(task, Broken(plant, 2), journal=tmp_path / "j")
    assert observe(task, Silent(), journal=tmp_path / "j", resume=True).exit_code == 4
    found = observe(task, Broken(plant, 99), journal=tmp_path / "j", resume=True)
    assert found.run.verdict == Certified(task.labels[1])
    assert all(certain for _, _, certain in found.transcript)


def test_a_crash_between_the_reset_and_its_reading_sends_it_again(tmp_path: Path) -> None:
    class PowerCut(BaseException):
        pass

    class Cut(AbstractPlant):
        identity = "unit 7"

        def send(self, action: str) -> str:
            assert action == "RESET"
            raise PowerCut

    task = pose_fingerprint({"m": ring_of(2), "n": ring_of(3)}, reset_cost=Fraction(1))
    plant = SimulatedPlant(task.model, int(task.state[1]))
    observe(task, Broken(plant, 2), journal=tmp_path / "j")
    for _ in range(2):
        with pytest.raises(PowerCut):
            observe(task, Cut(), journal=tmp_path / "j", resume=True)
    found = observe(task, Broken(plant, 99), journal=tmp_path / "j", resume=True, certificate=tmp_path / "c.json")
    assert found.run.verdict == Certified(task.labels[1]) and found.certificate == "VERIFIED"


def test_none_of_these_after_a_fault_is_said_and_not_certified(tmp_path: Path) -> None:
    class Odd(AbstractPlant):
        identity = "unit 7"

        def send(self, action: str) -> str:
            return "reset" if action == "RESET" else "2"

    task, notes = pose_fingerprint({"m": ring_of(2), "n": ring_of(3)}, reset_cost=Fraction(1)), list[str]()
    observe(task, Broken(SimulatedPlant(task.model, int(task.state[1])), 2), journal=tmp_path / "j")
    found = observe(
        task, Odd(), journal=tmp_path / "j", resume=True, certificate=tmp_path / "c.json", note=notes.append
    )
    assert isinstance(found.run.verdict, NoneOfThese) and found.certificate is None
    assert any("without a fault of the plant" in note for note in notes)


# What is not the same plant.


@pytest.mark.parametrize(
    ("identity", "address", "expected", "complaint"),
    [
        ("unit 8", "bench", None, "begun on the plant 'unit 7' at 'bench', and this is 'unit 8'"),
        (None, "bench", None, "and this is without a name at 'bench'"),
        ("unit 7", "shelf", None, "if it is the same one, add --identity unit 7"),
        ("unit 7", "shelf", "unit 7", None),
        ("unit 7", "bench", None, None),
    ],
)
def test_a_run_is_resumed_on_the_plant_that_it_was_begun_on(
    identity: str | None, address: str, expected: str | None, complaint: str | None, tmp_path: Path
) -> None:
    task = pose_fingerprint({"m": ring_of(2), "n": ring_of(3)}, reset_cost=Fraction(1))
    plant = SimulatedPlant(task.model, int(task.state[1]))
    began = Broken(plant, 2)
    began.address = "bench"
    observe(task, began, journal=tmp_path / "j")
    again = Broken(plant, 99, identity)
    again.address = address
    if complaint is None:
        found = observe(task, again, journal=tmp_path / "j", resume=True, identity=expected)
        assert found.run.verdict == Certified(task.labels[1])
        return
    with pytest.raises(PlantFault) as refused:
        observe(task, again, journal=tmp_path / "j", resume=True, identity=expected)
    assert complaint in str(refused.value)


def test_a_conformance_run_is_resumed_on_the_same_plant_too(tmp_path: Path) -> None:
    def meet(identity: str, at: int) -> Broken:
        return Broken(truth("cedar"), at, identity)

    with pytest.raises(PlantFault, match="it has gone"):
        identify(SERVERS, meet("unit 7", 12), conform_by="complete:0", journal=tmp_path / "j", retries=0)
    with pytest.raises(PlantFault, match="begun on the plant 'unit 7', and this is 'unit 8'"):
        identify(SERVERS, meet("unit 8", 999), conform_by="complete:0", journal=tmp_path / "j", resume=True)
    found = identify(SERVERS, meet("unit 7", 999), conform_by="complete:0", journal=tmp_path / "j", resume=True)
    assert found.verdict == Certified("cedar")
    assert found.facts()["conformance"]["identity"] == "unit 7"


# What the checker says of records that tell of faults.


def recovered(folder: Path) -> tuple[bytes, dict[str, Any]]:
    identify(SERVERS, Broken(truth("cedar"), 3), journal=folder / "j")
    identify(SERVERS, Broken(truth("cedar"), 99), journal=folder / "j", resume=True, certificate=folder / "c.json")
    return (folder / "c.task.json").read_bytes(), json.loads((folder / "c.json").read_bytes())


def judge(task: bytes, certificate: dict[str, Any], records: list[dict[str, Any]], **changes: Any) -> str:
    claim = {**certificate["claims"][0], "records": records, "head": hash_records(records), **changes}
    return str(check(task, json.dumps({**certificate, "claims": [claim]}).encode()))


def test_the_checker_refuses_records_that_go_on_in_another_way(tmp_path: Path) -> None:
    task, certificate = recovered(tmp_path)
    claim = certificate["claims"][0]
    records: list[dict[str, Any]] = claim["records"]
    assert judge(task, certificate, records) == "VERIFIED"
    reset = records[10]["action"]
    other = (reset + 1) % len(json.loads(task)["model"]["actions"])
    swapped = [{**r, "action": other} if i in (10, 11) else r for i, r in enumerate(records)]
    transcript = [[other, *step[1:]] if i == 2 else step for i, step in enumerate(claim["transcript"])]
    assert "is not a reset" in judge(task, certificate, swapped, transcript=transcript)
    cases: list[tuple[list[dict[str, Any]], str]] = [
        ([*records[:9], *records[10:]], "do not begin with their only commitment"),
        ([*records[:8], *records[9:]], "name the plant where it has not failed"),
        ([*records[:2], *records[8:10], *records[2:]], "is not a reset"),
        ([{**r, "cause": "deadline"} if i == 8 else r for i, r in enumerate(records)], "is not certified"),
        ([{**r, "time": "noon"} if i == 8 else r for i, r in enumerate(records)], "a time such as"),
        ([{k: v for k, v in r.items() if k != "time"} if i == 8 else r for i, r in enumerate(records)], "has a time"),
        ([{**r, "ran": 1} if i == 8 else r for i, r in enumerate(records)], "must be true"),
        ([{**r, "identity": 7} if i == 9 else r for i, r in enumerate(records)], "a string is needed"),
        ([{**r, "actions": ["one"]} if i == 9 else r for i, r in enumerate(records)], "a list of length"),
        ([*records[:10], records[-1]], "without a reset"),
        ([{**r, "identity": 7} if i == 1 else r for i, r in enumerate(records)], "a string is needed"),
        ([{**r, "address": 7} if i == 9 else r for i, r in enumerate(records)], "a string is needed"),
        ([{**r, "time": "noon"} if i == 1 else r for i, r in enumerate(records)], "a time such as"),
        ([{**r, "label": "cedar"} if i == 8 else r for i, r in enumerate(records)], "is not certified"),
        ([{**r, "reason": 7} if i == 8 else r for i, r in enumerate(records)], "a string is needed"),
        ([*records[:-1], {k: v for k, v in records[-1].items() if k != "time"}], "has a time"),
        ([*records[:11], {**records[10], "action": other}, *records[11:]], "leave open what came of an action"),
        (
            [{**r, "actions": [7] * len(r["actions"])} if i == 9 else r for i, r in enumerate(records)],
            "a string is needed",
        ),
        ([*records[:-1], {**records[-1], "cause": "plant"}], "has no cause"),
        ([*records[:-1], {**records[-1], "ran": True}], "has no cause"),
    ]
    for changed, complaint in cases:
        assert complaint in judge(task, certificate, changed), complaint
    doubted = [{"record": "doubt", "action": reset} if i == 11 else r for i, r in enumerate(records)]
    assert "nobody knows whether the reset ran" in judge(task, certificate, doubted)


def test_a_journal_that_goes_on_in_another_way_is_not_resumed(tmp_path: Path) -> None:
    recovered(tmp_path)
    with Journal(tmp_path / "j") as journal:
        records = journal.records
    reset = records[10]["action"]
    cases = {
        "goes on with a reset": [*records[:10], {"record": "intent", "action": reset - 1}],
        "only if that ran": [*records[:11], {"record": "doubt", "action": reset}],
        "the plant has not failed": [*records[:5], records[9]],
        "a 'identity' of the wrong type": [records[0], {**records[1], "identity": 3}],
    }
    for number, (complaint, changed) in enumerate(cases.items()):
        with Journal(tmp_path / f"k{number}") as journal:
            for record in changed:
                journal.append(record)
        with pytest.raises(FileError, match=complaint):
            identify(SERVERS, Broken(truth("cedar"), 99), journal=tmp_path / f"k{number}", resume=True)


def test_the_checker_follows_records_of_two_faults_and_an_action_in_doubt(tmp_path: Path) -> None:
    task, certificate = recovered(tmp_path)
    claim = certificate["claims"][0]
    records: list[dict[str, Any]] = claim["records"]
    doubt = {"record": "doubt", "action": records[7]["action"]}
    assert judge(task, certificate, [*records[:8], doubt, *records[8:]]) == "VERIFIED"  # such a doubt is no step
    assert judge(task, certificate, [*records[:8], {**records[8], "ran": True}, *records[9:]]) == "VERIFIED"
    elsewhere = {"identity": "unit 9", "address": "shelf", "time": "2026-11-19T05:00:00+00:00"}
    fault = [records[8], {**records[9], **elsewhere}]
    twice = [*records[:12], *fault, *records[10:]]
    transcript = [*claim["transcript"][:3], *claim["transcript"][2:]]
    assert judge(task, certificate, twice, transcript=transcript) == "VERIFIED"
    told = {**claim, "records": twice, "head": hash_records(twice), "transcript": transcript}
    sentence = check(task, json.dumps({**certificate, "claims": [told]}).encode()).proved[0]
    times = f"from {records[1]['time']} to {records[-1]['time']}"
    said = f"; recorded on the plant 'unit 9' at 'shelf', {times}; gone on from a reset after 2 faults"
    assert sentence.endswith(said)
    without = [*records[:-1], *fault, records[-1]]
    assert "without a reset" in judge(task, certificate, without)


def test_a_run_without_faults_tells_of_none(tmp_path: Path) -> None:
    identify(SERVERS, Broken(truth("cedar"), 99), journal=tmp_path / "j", certificate=tmp_path / "c.json")
    sentence = check((tmp_path / "c.task.json").read_bytes(), (tmp_path / "c.json").read_bytes()).proved[0]
    assert "; recorded on the plant 'unit 7' at " in sentence and "faults" not in sentence
