"""Every reader of files and lines as a target of the fuzzer, with samples that it accepts.

    python -m tests.fuzz_targets [--inputs N] [--seconds S] [--seed K] [--first I] [NAME ...]

runs a campaign from the command line, one target after the other, and prints a line for each and every finding.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from ascertain.bank.calibration_file import Calibration, read_calibration, write_calibration
from ascertain.certificate.chain import START, commitment_record, hash_record
from ascertain.errors import PlantFault, TaskError
from ascertain.instances.named import register
from ascertain.instances.settings import read_settings
from ascertain.live.journal import Journal
from ascertain.live.record_store import TABLE
from ascertain.live.resume import resume_observer
from ascertain.live.session import run_session
from ascertain.model import Machine, NoisyMachine
from ascertain.model.expression import parse_expression
from ascertain.model.files import read_model
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.pose import pose_observer
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import start_observer
from ascertain.plant.channel import Channel
from ascertain.plant.line_plant import LinePlant
from ascertain.plant.simulated import SimulatedPlant
from ascertain.rational import rational_field
from ascertain.study.store import create_store, open_store
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.log import read_log
from ascertain.task.plant_task import pose_plant
from ascertain.task.pose import pose
from ascertain.task.problem import Problem, read_any_problem
from ascertain_check import check

from .fuzzing import Target, fuzz

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, DATA, CERTIFICATES = ROOT / "examples", ROOT / "tests" / "data", ROOT / "tests" / "certificates" / "verified"
BETWEEN = b"\x1e\x1e"
"""Stands between the files of an input that is made of two."""

KISS = b"""# a lamp
.i 2
.o 1
.s 2
.p 5
.r off
-1 off on 1
10 off off -
00 off * 0
1- on on 1
01 on off 0
.e
"""
MODELS = [
    {
        "format": "ascertain-model",
        "version": 1,
        "initial": "shut",
        "states": ["shut", "ajar"],
        "origin": ["m", "m"],
        "transitions": [["shut", "open", "ok", "ajar"], ["ajar", "look", {"wide": "9/10", "dark": "1/10"}, "ajar"]],
    },
    {"transitions": [["a", "x", "0", "b"], ["b", "x", "1", "a"], ["a", "y", "0", "a"]], "initial": ["a", "b"]},
    {
        "kind": "hidden",
        "initial": [{"l": "1/2", "r": "1/2"}, {"l": 1}],
        "transitions": [
            ["l", "listen", [["l", "hear-l", "17/20"], ["l", "hear-r", "3/20"]]],
            ["r", "listen", [["r", "hear-l", "3/20"], ["r", "hear-r", "17/20"]]],
        ],
    },
]
POMDP = b"""discount: 1
values: cost
states: 3
actions: go stay
observations: a b
start include: 0 1
T: go : 0 0 1/2 1/2
T: go : 1 uniform
T: go : 2 reset
T: stay identity
O: * : 0 : a 1
O: * : 1 0.25 0.75
O: go : 2 uniform
O: stay : 2
uniform
R: * : * : * : * -1
"""
EXPRESSIONS = ("b0 and not (b1 or b2)", "'b1' xor true or 0 and b2", "not not (((b0)))", "open[0] and 'and' or b.x")
RATIONALS = ("3", "1/50", "0.02", "2.5e-7", "-1_000/7", " +12.50E+3 ")
LINES = (
    b"plant lamp retry-safe last=0\n1 dark\n2 ?smoke\n3 lit%20up\n3 lit%20up\n",
    b"plant la%20mp\n1 dark\r\n1 dark\n2 !stuck\n3 ~\n",
    b"plant % last=0\n1 %\n2 a b\n4 late\n3 x\n",
)
PROBLEM = b"""model = "valve.dot"
undefined = "self-loop"
[task]
hypotheses = { log = "before.jsonl" }
label = { nominal = "tight-low" }
about = "current"
actions = ["wait", "gauge"]
[cost]
default = 1
wait = "5/2"
[weights]
default = 2
"tight-low" = "1/3"
[reset]
action = "RESET"
reading = "again"
to = "tight-low"
[noise]
flip = "1/50"
[risk]
alpha = "1/2000000"
beta = "1/100"
[observe]
nominal = "tight-low"
budget = 600
policy = "readwise"
threshold = 100
probing = "separating"
limits = { wait = 3 }
nominal_share = "1/2"
rejection = "1/1000"
doublings = 4
compiler = "merging"
shells = 3
[operation]
log = "before.jsonl"
start = "tight-low"
replaced = 1
alternatives = { wait = ["", ["wait", "wait"]], "*" = ["wait"] }
window = { replacements = [0, 1], flips = [0, 4] }
"""
QUESTION = pose_plant(register(3, Fraction(1, 10)), alpha="1/20")
SETTINGS = ObserverSettings(question=QUESTION, alpha=QUESTION.alpha, nominal=5)
MAKE_BANK = HypothesesBank(range(8))
ABOUT = {"study": "squares", "settings": "a" * 64}


def _model_reader(place: Path, name: str) -> Callable[[bytes], object]:
    """Reads a model by its suffix; a machine is also asked about and written down, as every verb would."""

    def read(data: bytes) -> None:
        (place / name).write_bytes(data)
        model = read_model(place / name)
        if isinstance(model, Machine | NoisyMachine) and model.num_states <= 64 and len(model.actions) <= 64:
            canonical_bytes(task_data(pose(model)))

    return read


def _file_reader(place: Path, name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    def reader(data: bytes) -> None:
        (place / name).write_bytes(data)
        read(place / name)

    return reader


def _read_problem(path: Path) -> None:
    """A problem as far as an observer would read it, its operation and log included."""
    problem = read_any_problem(path)
    if isinstance(problem, Problem):
        canonical_bytes(task_data(problem.question))
        pose_observer(problem)


def _read_expression(data: bytes) -> None:
    expression = parse_expression(data.decode("utf-8", "replace"), ("b0", "b1", "b2", "open[0]", "and", "b.x"))
    states = np.arange(64, dtype=np.uint64)
    assert expression.hold_states(states).tolist() == [expression.holds(s) for s in range(64)]


def _read_lines(data: bytes) -> None:
    """What a plant sends, through real pipes, so that lines are cut as they come."""
    incoming, plant_says = os.pipe()
    plant_hears, outgoing = os.pipe()
    try:
        os.write(plant_says, data[:60000])
        os.close(plant_says)
        plant = LinePlant(lambda: Channel(incoming, outgoing, lambda: None), timeout=5.0)
        for action in ("look", "press the switch", "look"):
            with suppress(PlantFault):
                plant.send(action)
        if plant.retry_safe:
            plant.repeat("look")
    finally:
        for end in (incoming, plant_hears, outgoing):
            os.close(end)


# Journals and stores.


def _clear(path: Path) -> None:
    for other in path.parent.glob(f"{path.name}*"):
        other.unlink()


def _resume(path: Path) -> None:
    with Journal(path) as journal:
        resume_observer(
            journal,
            start_observer(SETTINGS, journal.watch_bank(SETTINGS, MAKE_BANK)),
            commitment_record(SETTINGS, MAKE_BANK),
        )


def _journal_files(place: Path) -> tuple[bytes, bytes, bytes]:
    """A journal, the records of it one a line, and its head."""
    path = place / "sample.journal"
    with Journal(path) as journal:
        observer = start_observer(SETTINGS, journal.watch_bank(SETTINGS, MAKE_BANK))
        plant = SimulatedPlant(QUESTION.plant, 5, 1)
        run_session(observer, plant, recorder=journal, commitment=commitment_record(SETTINGS, MAKE_BANK))
        records = journal.records
    lines = b"\n".join(canonical_bytes(record) for record in records)
    head = path.with_name(path.name + ".head").read_bytes()
    return path.read_bytes(), lines, head


def _journal_reader(place: Path) -> Callable[[bytes], object]:
    """The file itself and its head."""
    path = place / "bytes.journal"

    def read(data: bytes) -> None:
        _clear(path)
        journal, _, head = data.partition(BETWEEN)
        path.write_bytes(journal)
        path.with_name(path.name + ".head").write_bytes(head)
        _resume(path)

    return read


def _records_reader(place: Path) -> Callable[[bytes], object]:
    """Records, one a line, chained and with the right head, so that what they say has to be refused."""
    path = place / "records.journal"

    def read(data: bytes) -> None:
        _clear(path)
        head, rows = START, list[tuple[int, str, str]]()
        for number, line in enumerate(data.split(b"\n")):
            body = line.decode("utf-8", "replace")
            with suppress(ValueError, RecursionError, TypeError, TaskError):
                head = hash_record(head, json.loads(body))
            rows.append((number, body, head))
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(TABLE)
        connection.executemany("INSERT INTO record VALUES (?, ?, ?)", rows)
        connection.commit()
        connection.close()
        path.with_name(path.name + ".head").write_bytes(f"{len(rows)} {head}\n".encode())
        _resume(path)

    return read


def _store_file(place: Path) -> bytes:
    path = place / "sample.store"
    with create_store(path, ABOUT) as store:
        store.add([(n, {"square": n * n, "half": f"{n}/2"}) for n in range(5)])
    return path.read_bytes()


def _store_reader(place: Path) -> Callable[[bytes], object]:
    path = place / "bytes.store"

    def read(data: bytes) -> None:
        _clear(path)
        path.write_bytes(data)
        with open_store(path, ABOUT) as store:
            if len(store) == len(store.numbers()) == len(list(store.results())):
                store.export()

    return read


def _calibration(place: Path) -> bytes:
    facts = {"settings": "small", "settings_hash": "ab" * 32, "compiler": "merging", "seeds": (1, 2)}
    ranks: Any = ((1, None), (2, 3), (1, 1))
    made = Calibration(**facts, strata=("one", "two"), blocks=("0", "1", "2"), ranks=ranks, place=2)  # pyright: ignore
    write_calibration(made, place / "sample.calibration")
    return (place / "sample.calibration").read_bytes()


# The checker.


def _read_certificate(data: bytes) -> None:
    """A task and a certificate; every second one is signed anew, so that the proof itself has to be judged."""
    task, _, certificate = data.partition(BETWEEN)
    if crc32(data) & 1:
        with suppress(ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError, TaskError):
            certificate = _sign(task, certificate)
    verdict = check(task, certificate)
    if verdict.exit_code:
        raise TaskError(str(verdict))


def _sign(task: bytes, certificate: bytes) -> bytes:
    digest, data = sha256(canonical_bytes(json.loads(task))).hexdigest(), json.loads(certificate)
    data["task_sha256"] = digest
    for claim in data["claims"]:
        if "records" in claim:
            claim["records"][0]["task_sha256"] = digest
            head = START
            for record in claim["records"]:
                head = hash_record(head, record)
            claim["head"] = head
    return canonical_bytes(data)


def _certificates() -> tuple[bytes, ...]:
    names = sorted(path for path in CERTIFICATES.glob("*.json") if not path.name.endswith(".task.json"))
    return tuple(path.with_suffix(".task.json").read_bytes() + BETWEEN + path.read_bytes() for path in names)


@cache
def make_targets() -> dict[str, Target]:
    """All targets by name; what they write goes where no disk is waited for, if there is such a place."""
    memory = Path("/dev/shm")
    home = tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if os.access(memory, os.W_OK) else None)
    place = Path(home.name)
    make_targets.home = home  # type: ignore[attr-defined]  # the directory goes when the process does
    for path in EXAMPLES.glob("*/*.*"):
        shutil.copy(path, place)
    (place / "before.jsonl").write_bytes(_log_lines())
    texts = lambda *patterns: tuple(p.read_bytes() for pattern in patterns for p in sorted(ROOT.glob(pattern)))  # noqa: E731
    journal, records, head = _journal_files(place)
    settings = texts("src/ascertain/instances/small.toml")
    listed = [
        Target("dot", _model_reader(place, "m.dot"), texts("tests/data/dot/*.dot", "examples/servers/*.dot")),
        Target("json", _model_reader(place, "m.json"), tuple(json.dumps(model).encode() for model in MODELS)),
        Target("boolean", _model_reader(place, "m.toml"), texts("examples/operation/press_plant.toml")),
        Target("bnet", _model_reader(place, "m.bnet"), texts("examples/cell/cell.bnet")),
        Target("kiss2", _model_reader(place, "m.kiss2"), (KISS,)),
        Target("pomdp", _model_reader(place, "m.pomdp"), (POMDP, *texts("examples/tiger/tiger.pomdp"))),
        Target("problem", _file_reader(place, "p.toml", _read_problem), (PROBLEM, *_problems())),
        Target("csv", _file_reader(place, "l.csv", read_log), texts("examples/operation/*.csv")),
        Target("jsonl", _file_reader(place, "l.jsonl", read_log), (_log_lines(), _log_lines().splitlines()[0])),
        Target("settings", _file_reader(place, "s.toml", read_settings), settings),
        Target("calibration", _file_reader(place, "c.json", read_calibration), (_calibration(place),)),
        Target("expression", _read_expression, tuple(text.encode() for text in EXPRESSIONS)),
        Target(
            "rational",
            lambda data: rational_field(data.decode("utf-8", "replace"), "number", TaskError),
            tuple(text.encode() for text in RATIONALS),
        ),
        Target("journal", _journal_reader(place), (journal + BETWEEN + head,)),
        Target("records", _records_reader(place), (records,)),
        Target("store", _store_reader(place), (_store_file(place),)),
        Target("certificate", _read_certificate, _certificates()),
        Target("lines", _read_lines, LINES),
    ]
    return {target.name: target for target in listed}


def _log_lines() -> bytes:
    rows = [{"command": "wait", "reading": "waited", "trusted": True}, {"command": "wait", "reading": "waited"}]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _problems() -> list[bytes]:
    found = sorted(EXAMPLES.glob("*/*.toml"))
    return [path.read_bytes() for path in found if path.name != "press_plant.toml"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Put spoilt inputs to every reader.")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    targets = make_targets()
    for name in options.names or targets:
        tally = fuzz(targets[name], options.inputs, options.seed, seconds=options.seconds, first=options.first)
        print(tally, flush=True)
        for where, (number, data, what) in tally.findings.items():
            print(f"--- {name} input {number}: {where}\n{data[:300]!r}\n{what}", flush=True)


if __name__ == "__main__":
    main()
