"""The exact solver at scale: families of questions that grow, with greedy and a SAT encoding as rivals in the same run.

    python -m benchmarks.scaling [--time SECONDS] [--sat SECONDS] [--only WORD] [--shared]
    python -m benchmarks.scaling --rows NAME [--time SECONDS]

Each run is a process of its own with warm kernel caches. *result* is the interval after the limit or the optimum,
*ended* when `solve` returned, by the clock and of processor time, *first policy* what `solve` begins with and how long
that takes. On a machine that others use too, --shared counts processor time wherever the solver looks at the clock, so
that it has as much of it as it would have with a core of its own. *Greedy* is one-step greedy by Gini's index, written
here in plain Python: the action, or the shortest word, that takes away most pairs of labels. SAT is
`benchmarks/sat_rival.py`, where its encoding is not too large. Making the task is left out for all. --rows says how
long the rows of a proof, and the certificate as text, take to write after a search of one instance.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.sat_rival import solve_by_sat
from tests.reference.scaling_tasks import (
    counter,
    dtls_clients,
    locks,
    mastermind,
    mutants,
    odd_permutations,
    random_machine,
    random_union,
    shift_register,
)

from ascertain.certificate.claims.lower import lower_claim
from ascertain.quotients.quotient import take_quotient
from ascertain.search.configuration import build_arena
from ascertain.search.deepening import Search
from ascertain.search.exact import solve, write_proof
from ascertain.search.first_policy import find_first_policy
from ascertain.search.solution import Bounded, Proof, Solved
from ascertain.task.canonical import canonical_bytes
from ascertain.task.task import Task

ROOT = Path(__file__).resolve().parent.parent
ARCHIVE = Path(os.environ.get("ASCERTAIN_MODELS", ROOT.parent / "shared" / "models")) / "dtls-clients-psk.tar.xz"
INSTANCES: dict[str, Callable[[], Task]] = {
    "counter mod 200": lambda: counter(200),
    "mutants 50": lambda: mutants(50),
    "mutants 100": lambda: mutants(100),
    "mutants 300": lambda: mutants(300),
    "mutants 1000": lambda: mutants(1000),
    "locks 20": lambda: locks(20),
    "odd permutations 100, 16": lambda: odd_permutations(100, 16),
    "random union 500": lambda: random_union(500),
    "random union 2000": lambda: random_union(2000),
    "random 15000, 20": lambda: random_machine(15_000, 20),
    "random 30000, 20": lambda: random_machine(30_000, 20),
    "random 100000, 20": lambda: random_machine(100_000, 20),
    "random 1000000, 20": lambda: random_machine(1_000_000, 20),
    "shift register 13, all": lambda: shift_register(13, 1 << 13),
    "shift register 17, 3": lambda: shift_register(17, 3),
    "Mastermind 4, 6": lambda: mastermind(4, 6),
    "DTLS clients 30": lambda: dtls_clients(ARCHIVE, 30),
    "DTLS clients 100": lambda: dtls_clients(ARCHIVE, 100),
    "DTLS clients 200": lambda: dtls_clients(ARCHIVE, 200),
}
MOST_FOR_SAT = 2_000
"""States times hypotheses divided by ten up to which the rival's encoding is made: beyond it takes gigabytes."""


def run_one(name: str, limit: float) -> dict[str, Any]:
    """One call of `solve` in this process."""
    task = INSTANCES[name]()
    vars(task).pop("_quotient", None)  # posing the question may have made one
    began, cpu = time.perf_counter(), time.process_time()
    result = solve(task, time_limit=limit, prove="never", least_mean=False)
    ended, used = time.perf_counter() - began, time.process_time() - cpu
    cpu = time.process_time()
    policy = find_first_policy(task, eager=True)
    greedy_seconds = time.process_time() - cpu
    lower, upper = (result.lower, result.upper) if isinstance(result, Bounded) else (None, None)
    return {
        "states": task.model.num_states,
        "actions": task.model.num_actions,
        "labels": len(task.labels),
        "answer": str(result.cost) if isinstance(result, Solved) else f"[{lower}, {upper}]",
        "ended": ended,
        "processor": used,
        "ours": None if policy is None else worst_of(task, policy),
        "greedy seconds": greedy_seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def write_rows(name: str, limit: float) -> str:
    """Rows of the lower bound that a search has reached, and processor time for forming and for writing them."""
    quotient = take_quotient(INSTANCES[name]())
    search = Search(build_arena(quotient.reduced), time_limit=limit)
    search.run()
    proof, began = write_proof(search, quotient), time.process_time()
    proof = write_proof(search, quotient)  # again, with kernels that are loaded
    if not isinstance(proof, Proof):
        return f"{name}: D >= {proof.bound} is proved by shares, without rows"
    formed = time.process_time()
    text = canonical_bytes(lower_claim(proof.bound, proof.rows, proof.root, proof.block))
    written = time.process_time()
    return (
        f"{name}: D >= {proof.bound}, {len(proof.rows)} rows in {formed - began:.2f} s, "
        f"{len(text) / 2**20:.1f} MB of text in {written - formed:.2f} s"
    )


def worst_of(task: Task, policy: Any) -> str:
    from ascertain.policy.evaluate import cost_by_hypothesis

    return str(max(cost_by_hypothesis(task, policy)))


def greedy(task: Task, seconds: float) -> str:
    """The worst cost of one-step greedy in plain Python, and the seconds of processor time it took."""
    began = time.process_time()
    successor, reading = task.model.successor.tolist(), task.model.behaviour.tolist()
    start = tuple(sorted(zip(task.state.tolist(), task.label.tolist(), strict=True)))
    worst, stack = Fraction(0), [(start, Fraction(0))]
    while stack:
        if time.process_time() - began > seconds:
            return f"> {seconds:.0f} s"
        members, spent = stack.pop()
        if len({k for _, k in members}) == 1:
            worst = max(worst, spent)
            continue
        found = greedy_word(task, successor, reading, members, began + seconds)
        if found is None:
            return "stuck"
        price, branches = found
        stack.extend((branch, spent + price) for branch in branches)
    return f"{worst} in {time.process_time() - began:.1f} s"


def greedy_word(
    task: Task,
    successor: list[list[int]],
    reading: list[list[int]],
    members: tuple[tuple[int, int], ...],
    until: float,
) -> tuple[Fraction, list[tuple[tuple[int, int], ...]]] | None:
    """The price of the shortest word that splits the members, of these the best, and what it leaves."""
    front, seen = [(Fraction(0), members)], {members}
    while front and time.process_time() < until:
        best: tuple[int, Fraction, list[tuple[tuple[int, int], ...]]] | None = None
        onward: list[tuple[Fraction, tuple[tuple[int, int], ...]]] = []
        for spent, here in front:
            for a, cost in enumerate(task.cost):
                if any(successor[s][a] < 0 for s, _ in here):
                    continue
                left: dict[int, set[tuple[int, int]]] = {}
                for s, k in here:
                    left.setdefault(reading[s][a], set()).add((successor[s][a], k))
                if any(len({s for s, _ in branch}) < len(branch) for branch in left.values()):
                    continue  # two labels meet
                after = [tuple(sorted(branch)) for _, branch in sorted(left.items())]
                if len(after) > 1:
                    rest = sum(len(branch) ** 2 for branch in after)
                    if best is None or rest < best[0]:
                        best = (rest, spent + cost, after)
                elif after[0] not in seen:
                    seen.add(after[0])
                    onward.append((spent + cost, after[0]))
        if best is not None:
            return best[1], best[2]
        front = onward
    return None


def in_fresh_process(name: str, limit: float, shared: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scaling", "--one", name, "--time", str(limit)]
    command += ["--shared"] if shared else []
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", help="solve one instance and print what was found as JSON")
    parser.add_argument("--rows", help="write the rows of a proof after a search of one instance")
    parser.add_argument("--time", type=float, default=30.0, help="seconds for each instance")
    parser.add_argument("--sat", type=float, default=30.0, help="seconds for the rival")
    parser.add_argument("--only", default="", help="instances whose name contains this")
    parser.add_argument("--shared", action="store_true", help="count processor time for the clock")
    options = parser.parse_args()
    if options.shared:
        time.monotonic = time.process_time  # for all who look at the clock by this name
    if options.rows:
        print(write_rows(options.rows, options.time))
        return
    if options.one:
        print(json.dumps(run_one(options.one, options.time)))
        return
    print("instance | states x actions, labels | result | ended s (processor s) | first policy (s) | greedy | SAT | GB")
    for name, make in INSTANCES.items():
        if options.only not in name:
            continue
        run = in_fresh_process(name, options.time, options.shared)
        task = make()
        sat = "-"
        if run["states"] * run["labels"] <= 10 * MOST_FOR_SAT:
            best, lower, seconds = solve_by_sat(task, options.sat)
            sat = f"{best} in {seconds:.1f} s" if best is not None else f">= {lower} in {seconds:.0f} s"
        cells = [
            name,
            f"{run['states']} x {run['actions']}, {run['labels']}",
            run["answer"],
            f"{run['ended']:.1f} ({run['processor']:.1f})",
            f"{run['ours']} ({run['greedy seconds']:.2f})",
            greedy(task, min(10.0, options.time)),
            sat,
            f"{run['peak']:.1f}",
        ]
        print(" | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
