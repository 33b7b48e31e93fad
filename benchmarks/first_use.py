"""What the first use of a command costs, and the later ones: fresh processes, without and with kept machine code.

    python -m benchmarks.first_use [--runs 3] [--rival CHECKOUT] [--only WORD] [--large]

Every command runs in a process of its own: *cold* with an empty folder for machine code, *warm* with the folder that a
run before it has left. Seconds are of processor, user and system, of the whole process, and medians. The rival is
another checkout of ascertain, such as version 0.1.0, on its own examples and with folders of its own; its cold runs are
single, because it compiles. Bytecode is there from the beginning, as after an installation.

`--large` instead runs some large instances with ASCERTAIN_KERNELS set to auto and to compiled, cold and warm, and
prints what auto takes in units of compiled. Warm runs, a single one of each unless `--runs` says more, find what a
compiled run has left.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VALVE, LAMP = "examples/valve/leak.toml", "examples/plants/lamp.toml"
COMMANDS: dict[str, tuple[list[str], float, float]] = {
    "inspect": (["inspect", VALVE], 2.5, 0.8),
    "solve": (["solve", VALVE, "--certificate", "{folder}/proof.json"], 2.5, 0.8),
    "fingerprint": (["fingerprint", *(f"examples/servers/{n}.dot" for n in ("alder", "birch", "cedar"))], 2.5, 0.8),
    "simulate": (["simulate", VALVE, "--policy", "{folder}/plan.json", "--state", "leak2-high-serviced"], 2.5, 0.8),
    "verify": (["verify", VALVE, "{folder}/proof.json"], 2.5, 0.8),
    "bank, turntable": (["bank", "examples/operation/turntable.toml"], 2.5, 0.8),
    "bank, press": (["bank", "examples/operation/press.toml", "--shells", "2"], 2.5, 0.8),
    "observe, turntable": (["observe", "examples/operation/turntable.toml", "--plant", "simulated:4"], 2.5, 0.8),
    "observe, press": (["observe", "examples/operation/press.toml", "--plant", "simulated:3"], 2.5, 0.8),
    "bounds, lamp": (["bounds", LAMP, "--alpha", "1/1000", "--beta", "1/100"], 3.0, 1.5),
}
"""The words of each command, and the seconds that it may take cold and warm."""


class Bench:
    """A checkout with folders of its own for machine code, bytecode and what its commands write."""

    def __init__(self, checkout: Path, folder: Path, only: str) -> None:
        self.checkout, self.folder = checkout.resolve(), folder
        folder.mkdir()
        plan = self.start(["-m", "ascertain", "solve", VALVE, "--json"], "first")
        (folder / "plan.json").write_bytes(plan.stdout)
        for name, (words, _, _) in COMMANDS.items():  # everything once, so that all bytecode is there
            if only in name or name == "solve":
                self.start(["-m", "ascertain", *self.fill(words)], "first")

    def fill(self, words: Sequence[str]) -> list[str]:
        return [word.replace("{folder}", str(self.folder)) for word in words]

    def start(self, words: Sequence[str], cache: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
        environment = {
            **{key: value for key, value in os.environ.items() if key not in {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}},
            "PYTHONPATH": f"{self.checkout / 'src'}{os.pathsep}{self.checkout}",
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
            "NUMBA_CACHE_DIR": str(self.folder / cache),
            **variables,
        }
        done = subprocess.run(
            [sys.executable, *words], cwd=self.checkout, env=environment, capture_output=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.decode(errors='replace')}")
        return done

    def seconds(self, words: Sequence[str], cache: str, **variables: str) -> float:
        """Of processor, for one process."""
        before = os.times()
        self.start(words, cache, **variables)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    def cold_and_warm(self, words: Sequence[str], colds: int, warms: int, **variables: str) -> tuple[float, float]:
        """Medians; a process before the warm ones fills the cache, and another may have to load all of it."""
        cold: list[float] = []
        for _ in range(colds):
            shutil.rmtree(self.folder / "cache", ignore_errors=True)
            cold.append(self.seconds(words, "cache", **variables))
        self.seconds(words, "cache", **variables)
        warm = [self.seconds(words, "cache", **variables) for _ in range(warms)]
        return statistics.median(cold), statistics.median(warm)


def print_commands(folder: Path, runs: int, rival: Path | None, only: str) -> None:
    ours = Bench(ROOT, folder / "ours", only)
    theirs = None if rival is None else Bench(rival, folder / "rival", only)
    print("| command | cold s | at most | warm s | at most | rival cold s | rival warm s | cold ratio | warm ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (words, most_cold, most_warm) in COMMANDS.items():
        if only not in name:
            continue
        cold, warm = ours.cold_and_warm(["-m", "ascertain", *ours.fill(words)], runs, runs)
        cells = [name, f"{cold:.2f}", f"{most_cold}", f"{warm:.2f}", f"{most_warm}"]
        if theirs is None:
            cells += ["-"] * 4
        else:
            other, again = theirs.cold_and_warm(["-m", "ascertain", *theirs.fill(words)], 1, runs)
            cells += [f"{other:.2f}", f"{again:.2f}", f"{other / cold:.1f}", f"{again / warm:.1f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def print_large(folder: Path, runs: int, only: str) -> None:
    bench = Bench(ROOT, folder / "ours", "solve")
    print("| instance | compiled cold s | auto cold s | ratio | compiled warm s | auto warm s | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name in LARGE:
        if only not in name:
            continue
        words = ["-m", "benchmarks.first_use", "--one", name]
        cold, warm = dict[str, float](), dict[str, list[float]]({mode: [] for mode in MODES})
        for mode in MODES:  # compiled last, for the warm runs
            shutil.rmtree(bench.folder / "cache", ignore_errors=True)
            cold[mode] = bench.seconds(words, "cache", ASCERTAIN_KERNELS=mode)
        for _ in range(runs):
            for mode in MODES:
                warm[mode].append(bench.seconds(words, "cache", ASCERTAIN_KERNELS=mode))
        cells = [name]
        for found in (cold, {mode: statistics.median(warm[mode]) for mode in MODES}):
            cells += [f"{found['compiled']:.2f}", f"{found['auto']:.2f}", f"{found['auto'] / found['compiled']:.3f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def solve_hard(seed: int, states: int, hypotheses: int) -> None:
    from tests.reference.search_tasks import hard_task

    from ascertain.search.exact import solve

    solve(hard_task(seed, states, hypotheses), prove="never")


def compile_logs(compiler: str, number: int) -> None:
    from ascertain.bank.compile import compile_bank
    from ascertain_paper.testbed.testbed import load_testbed

    testbed = load_testbed()
    slots = [slot for block in range(-(-number // 20)) for slot in testbed.block_slots("compilers", block)][:number]
    for slot in slots:
        compile_bank(testbed.logged(testbed.draw(slot)), compiler)


def bound_instance(name: str) -> None:
    from tests.reference.suite import list_instances

    from ascertain.planning.two_sided import bound_both_sides

    question = next(instance for instance in list_instances(ROOT / "examples") if instance.name == name).make()
    bound_both_sides(question, Fraction(1, 4_000_000), Fraction(1, 1000))


LARGE: dict[str, Callable[[], None]] = {
    "solve, 70 states, 12 hypotheses": lambda: solve_hard(1, 70, 12),
    "merging, 1600 logs": lambda: compile_logs("merging", 1600),
    "exhaustive, 40 logs": lambda: compile_logs("exhaustive", 40),
    "bounds, one of 4 sensors": lambda: bound_instance("one of 4 sensors"),
}
"""Questions like those of `solving.py`, `compilers.py` and `two_sided.py`, of 5 to 20 s with compiled kernels."""
MODES = ("auto", "compiled")
"""What large instances are run with, in this order."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, help="processes that a median is taken of; 3, or 1 with --large")
    parser.add_argument("--rival", type=Path, help="a checkout of another version")
    parser.add_argument("--only", default="", help="commands or instances whose name contains this")
    parser.add_argument("--large", action="store_true", help="large instances instead")
    parser.add_argument("--one", choices=LARGE, help="run one large instance in this process")
    options = parser.parse_args()
    if options.one:
        LARGE[options.one]()
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.large:
            print_large(Path(folder), options.runs or 1, options.only)
        else:
            print_commands(Path(folder), options.runs or 3, options.rival, options.only)


if __name__ == "__main__":
    main()
