"""The exact solver on real and hard questions, with a SAT encoding as a rival in the same run.

    python -m benchmarks.solving [--sat SECONDS] [--hard SECONDS ...] [--only WORD]

Each of our runs is a process of its own with warm kernel caches. *first* is its first call of `solve`, which also loads
machine code from the cache; *again* is its second call; both include the quotient and the table of pairs. *proof* is
what writing the proof adds, *least mean* what choosing the least mean among policies of least worst cost adds. Loading
files and importing the package are left out, for us and for the rival. Seconds are of processor time, on one core, for
both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.sat_rival import solve_by_sat
from tests.reference.search_tasks import DEZYNE, FINGERPRINTS, all_states, fingerprint, hard_task, load

from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved, Unsolvable
from ascertain.task.task import Task

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = {
    "MQTT single_client": 1.3,
    "MQTT two_client_will_retain": 20.0,
    "Bankcard": 0.7,
    "tlsprint TLS12": 0.2,
    "tlsprint TLS10": 4.3,
    "DTLS servers-all_cert": 2.6,
    "Dezyne model4": 20.0,
}
"""Seconds of the best existing exact tool, one call in a fresh process; 20 where it had not finished by then."""
ALL_STATES = {"Dezyne model4": DEZYNE, "ESM": "esm/esm-0.dot"}
COLUMNS = (
    "instance",
    "states x actions, labels",
    "D",
    "first s",
    "again s",
    "proof s (rows)",
    "least mean s",
    "policy nodes, depth",
    "SAT s",
    "SAT/again",
    "published/again",
)
HARD = [(30, 8), (30, 10), (30, 12), (40, 10), (50, 10), (60, 8), (60, 12)]


@dataclass(frozen=True)
class Run:
    """What one process found."""

    answer: str
    states: int
    actions: int
    hypotheses: int
    first: float
    again: float
    proof: float
    mean: float
    rows: int
    depth: int
    nodes: int


def pose(name: str) -> Task:
    models = Path(os.environ.get("ASCERTAIN_MODELS", ROOT.parent / "shared" / "models"))
    if name in ALL_STATES:
        return all_states(load(models / ALL_STATES[name]))
    return fingerprint(models, FINGERPRINTS[name][0])


def run_one(name: str) -> Run:
    """Solve four times in this process: cold, again, with a proof, and with the least mean."""
    task = pose(name)
    seconds: list[float] = []
    for prove in ("never", "never", "always"):
        started = time.process_time()
        result = solve(replace(task), prove=prove, least_mean=False)  # a task anew: a quotient stays with its task
        seconds.append(time.process_time() - started)
    started = time.process_time()
    solve(replace(task), prove="never")
    seconds.append(time.process_time() - started)
    assert not isinstance(result, Bounded)
    proof = result.witness if isinstance(result, Unsolvable) else result.proof
    assert proof is not None
    solved = isinstance(result, Solved)
    return Run(
        answer=str(result.cost) if solved else "inf",
        states=task.model.num_states,
        actions=task.model.num_actions,
        hypotheses=len(set(task.label.tolist())),
        first=seconds[0],
        again=seconds[1],
        proof=max(0.0, seconds[2] - seconds[1]),
        mean=max(0.0, seconds[3] - seconds[1]),
        rows=len(proof.rows),
        depth=result.policy.depth if solved else 0,
        nodes=result.policy.size if solved else 0,
    )


def in_fresh_process(name: str) -> Run:
    command = [sys.executable, "-m", "benchmarks.solving", "--one", name]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return Run(**json.loads(text))


def print_real(sat_seconds: float, only: str) -> None:
    print(" | ".join(COLUMNS))
    for name in [*FINGERPRINTS, *ALL_STATES]:
        if only not in name:
            continue
        in_fresh_process(name)  # fills the kernel caches
        run = in_fresh_process(name)
        sat, ratio = "-", "-"
        if name != "ESM":
            best, lower, seconds = solve_by_sat(pose(name), sat_seconds)
            assert best is None or str(best) == run.answer, "the rival disagrees"
            sat = f"{seconds:.2f}" if best is not None else f">{seconds:.0f} (at {lower})"
            ratio = f"{'>' if best is None else ''}{seconds / run.again:.0f}"
        known = PUBLISHED.get(name)
        cells = [
            name,
            f"{run.states} x {run.actions}, {run.hypotheses}",
            run.answer,
            f"{run.first:.3f}",
            f"{run.again:.4f}",
            f"{run.proof:.3f} ({run.rows})",
            f"{run.mean:.3f}",
            f"{run.nodes}, {run.depth}",
            sat,
            ratio,
            "-" if known is None else f"{known / run.again:.0f}",
        ]
        print(" | ".join(cells), flush=True)


def print_hard(limits: list[float], seeds: range, only: str) -> None:
    print("hard: states, hypotheses, seed | " + " | ".join(f"after {limit:.0f} s" for limit in limits))
    for states, hypotheses in HARD:
        for seed in seeds:
            cells: list[str] = []
            for limit in limits:
                result = solve(hard_task(seed, states, hypotheses), time_limit=limit, prove="never")
                if isinstance(result, Solved):
                    cells.append(f"{result.cost} solved in {result.stats.seconds:.2f} s")
                    break
                assert isinstance(result, Bounded)
                cells.append(f"[{result.lower}, {result.upper}]")
            print(f"{states}, {hypotheses}, {seed} | " + " | ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", help="solve one instance and print what was found as JSON")
    parser.add_argument("--sat", type=float, default=60.0, help="seconds for the rival on each instance")
    parser.add_argument("--hard", type=float, nargs="*", default=[10.0, 60.0], help="time limits for hard instances")
    parser.add_argument("--seeds", type=int, default=2, help="hard instances of each size")
    parser.add_argument("--only", default="", help="instances whose name contains this; 'hard' for the hard ones")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asdict(run_one(options.one))))
        return
    print_real(options.sat, options.only)
    if options.hard and options.only in {"", "hard"}:
        print_hard(options.hard, range(1, options.seeds + 1), options.only)


if __name__ == "__main__":
    main()
