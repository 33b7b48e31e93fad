"""Every reader of files and lines as a target of the fuzzer, with samples that it accepts.

    python -m tests.fuzz_targets [--inputs N] [--seconds S] [--seed K] [--first I] [--every M] [NAME ...]

runs a campaign from the command line, one target after the other, and prints a line for each and every finding.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn
from zlib import crc32

import numpy as np

from ascertain.bank.calibration_file import Calibration, read_calibration, write_calibration
from ascertain.errors import PlantFault, TaskError
from ascertain.model import Machine, NoisyMachine
from ascertain.model.expression import parse_expression
from ascertain.model.files import read_model
from ascertain.model.files.fuzzer_folder import read_alphabet
from ascertain.observer.records import START, hash_record
from ascertain.plant.channel import Channel
from ascertain.plant.line_plant import LinePlant
from ascertain.problem.observer import pose_observer
from ascertain.problem.pose import pose
from ascertain.problem.problem import Problem, read_any_problem
from ascertain.rational import rational_field
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.log import read_log
from ascertain_check import Verdict, check
from ascertain_paper.testbed.settings import read_settings

from .fuzz_journals import BETWEEN, SHORT, Spot, journal_reader, make_journal, make_store, records_reader, store_reader
from .fuzz_samples import (
    ALPHABETS,
    BESIDE,
    CSV,
    EXPRESSIONS,
    HIDDEN,
    KISS,
    KISSES,
    LINES,
    LOG,
    MODELS,
    NETWORK,
    NETWORKS,
    PLANT,
    POMDP,
    PROBLEMS,
    RATIONALS,
    SMALL,
    TESTBED,
)
from .fuzzing import Tally, Target, fuzz

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, DATA, CERTIFICATES = ROOT / "examples", ROOT / "tests" / "data", ROOT / "tests" / "certificates" / "verified"


def _model_reader(place: Path, name: str) -> Callable[[bytes], object]:
    """Reads a model by its suffix; a machine is also asked about and written down, as every verb would."""
    spot = Spot(place / name)

    def read(data: bytes) -> None:
        model = read_model(spot.put(data))
        if isinstance(model, Machine | NoisyMachine) and model.num_states <= 64 and len(model.actions) <= 64:
            canonical_bytes(task_data(pose(model)))

    return read


def _file_reader(place: Path, name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    spot = Spot(place / name)
    return lambda data: read(spot.put(data))


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
    if verdict.exit_code and any(words in verdict.reason for words in ("is not JSON", "is not UTF-8", "too deeply")):
        _refuse_unreadable(verdict)
    if verdict.exit_code:
        raise TaskError(str(verdict))


def _refuse_unreadable(verdict: Verdict) -> NoReturn:
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


UNREADABLE = {
    "dot": "read_text|parse_graph",
    "json": "read_text|parse_json",
    "boolean": "read_text|parse_toml",
    "bnet": "read_text|_read_factors|_split",
    "kiss2": "read_text|parse_kiss2>(_fail|_read_size)|_read_row>_fail",
    "pomdp": "read_text|>read>(fail|expect_colon|read_names|read_values|read_start)",
    "problem": "read_any_problem>(read_text|parse_toml)",
    "csv": "read_text|_check_columns",
    "jsonl": "read_text|_json_rows$",
    "settings": "read_settings$|parse_toml",
    "calibration": "read_text|parse_json",
    "expression": "_split",
    "rational": "rational_field",
    "journal": "__init__>__init__|_read_head|_load>read$|parse_json",
    "records": "__init__>__init__|_read_head|_load>read$|parse_json",
    "store": "_connect|_read_about",
    "certificate": "_refuse_unreadable",
    "lines": "_greet",
    "alphabet": "read_text|read_alphabet>fail",
}
"""By target, what a refusal came through when the input was not understood at all (see `Target.early`)."""


@cache
def make_targets() -> dict[str, Target]:
    """All targets by name; what they write goes where no disk is waited for, if there is such a place."""
    memory = Path("/dev/shm")
    home = tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if os.access(memory, os.W_OK) else None)
    place = Path(home.name)
    make_targets.home = home  # type: ignore[attr-defined]  # the directory goes when the process does
    for path in EXAMPLES.glob("*/*.*"):
        shutil.copy(path, place)
    for name, text in BESIDE.items():
        (place / name).write_bytes(text)
    texts = lambda *patterns: tuple(p.read_bytes() for pattern in patterns for p in sorted(ROOT.glob(pattern)))  # noqa: E731
    journal, head, records = make_journal(place)
    some_records = b"\n".join(records.split(b"\n")[:SHORT])
    models = tuple(json.dumps(model).encode() for model in MODELS)
    certificates = _certificates()

    def target(name: str, read: Callable[[bytes], object], samples: tuple[bytes, ...], **more: Any) -> Target:
        return Target(name, read, samples, early=re.compile(UNREADABLE[name]), **more)

    listed = [
        target("dot", _model_reader(place, "m.dot"), texts("tests/data/dot/*.dot"), rare=texts("examples/*/*.dot")),
        target("json", _model_reader(place, "m.json"), models),
        target("boolean", _model_reader(place, "m.toml"), (PLANT,), rare=texts("examples/*/press_plant.toml")),
        target("bnet", _model_reader(place, "m.bnet"), (NETWORK, *NETWORKS), rare=texts("examples/cell/cell.bnet")),
        target("kiss2", _model_reader(place, "m.kiss2"), KISSES, rare=(KISS,)),
        target("pomdp", _model_reader(place, "m.pomdp"), (POMDP, HIDDEN), rare=texts("examples/tiger/tiger.pomdp")),
        target("problem", _file_reader(place, "p.toml", _read_problem), PROBLEMS, rare=_problems()),
        target("csv", _file_reader(place, "l.csv", read_log), (CSV,), rare=texts("examples/operation/*.csv")),
        target("jsonl", _file_reader(place, "l.jsonl", read_log), (LOG, LOG.splitlines()[0]), between=b"\n"),
        target(
            "settings",
            _file_reader(place, "s.toml", read_settings),
            (TESTBED,),
            rare=texts("src/ascertain_paper/testbed/small.toml"),
        ),
        target("calibration", _file_reader(place, "c.json", read_calibration), (_calibration(place),)),
        target("expression", _read_expression, tuple(text.encode() for text in EXPRESSIONS)),
        target(
            "rational",
            lambda data: rational_field(data.decode("utf-8", "replace"), "number", TaskError),
            tuple(text.encode() for text in RATIONALS),
        ),
        target("journal", journal_reader(place), (journal + BETWEEN + head,), binary=True),
        target("records", records_reader(place), (*[some_records] * 4, records), between=b"\n"),
        target("store", store_reader(place), (make_store(place),), binary=True),
        target(
            "certificate",
            _read_certificate,
            tuple(sample for sample in certificates if len(sample) <= SMALL),
            rare=tuple(sample for sample in certificates if len(sample) > SMALL),
            between=BETWEEN,
        ),
        target("lines", _read_lines, LINES),
        target("alphabet", _file_reader(place, "alphabet.xml", read_alphabet), ALPHABETS),
    ]
    return {target.name: target for target in listed}


def _problems() -> tuple[bytes, ...]:
    found = sorted(EXAMPLES.glob("*/*.toml"))
    texts = (path.read_bytes() for path in found if path.name != "press_plant.toml")
    return tuple(text for text in texts if b"[plant]" not in text)  # not wiring files


def main() -> None:
    parser = argparse.ArgumentParser(description="Put spoilt inputs to every reader.")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--every", type=int, default=100_000, help="inputs after which a line is printed")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    targets = make_targets()
    for name in options.names or targets:
        total, end = Tally(name), options.first + options.inputs
        for first in range(options.first, end, options.every):
            left = options.seconds - total.elapsed
            part = fuzz(targets[name], min(options.every, end - first), options.seed, seconds=left, first=first)
            _print_findings(part)
            total.join(part)
            print(total, flush=True)
            if total.elapsed >= options.seconds:
                break


def _print_findings(tally: Tally) -> None:
    for where, (number, data, what) in tally.findings.items():
        print(f"--- {tally.target} input {number}: {where}\n{data[:300]!r}\n{what}", flush=True)


if __name__ == "__main__":
    main()
