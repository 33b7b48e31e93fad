"""Solving real questions beside another version of the package, in the same run.

    git worktree add ../before f09e26f
    python -m benchmarks.beside ../before [--calls N]

Each version runs in processes of its own, in turn, twice each; the lesser of the two counts, in milliseconds of
processor time. *Whole* is a process, as a version runs by default, from its beginning to the end of one call of
`solve`, with imports and reading the models. The others are with compiled kernels: *first* is the first call in a
process whose kernels are on disk, *warm* the least of N further calls, each on a task made anew. No proofs are written.
Choosing the least mean is part of a call where a version does that by default.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEASURE = """
import json, sys, time
from dataclasses import replace
from benchmarks.solving import ALL_STATES, FINGERPRINTS, pose
from ascertain.search.exact import solve
times = {}
for name in sys.argv[2:] or [*FINGERPRINTS, *ALL_STATES]:
    task, spent = pose(name), []
    for _ in range(int(sys.argv[1]) + 1):
        anew = replace(task)
        began = time.process_time()
        solve(anew, prove="never")
        spent.append(time.process_time() - began)
        if len(spent) > 1 and sum(spent) > 20:
            break
    if len(spent) == 1:
        times[name] = [1000 * time.process_time()]
    else:
        times[name] = [1000 * spent[0], 1000 * min(spent[1:])]
print(json.dumps(times))
"""


def measure(tree: Path, calls: int, *names: str, mode: str = "compiled") -> dict[str, list[float]]:
    """First and warm milliseconds, by name; without calls but the first, those of the whole process.

    All names in one process if none is given.
    """
    models = os.environ.get("ASCERTAIN_MODELS", str(ROOT.parent / "shared" / "models"))
    words = {"PYTHONPATH": str(tree / "src"), "ASCERTAIN_KERNELS": mode, "ASCERTAIN_MODELS": models}
    command = [sys.executable, "-W", "ignore", "-c", MEASURE, str(calls), *names]
    text = subprocess.run(command, cwd=tree, env={**os.environ, **words}, check=True, capture_output=True, text=True)
    return json.loads(text.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="a working tree of the other version")
    parser.add_argument("--calls", type=int, default=100, help="warm calls of which the least is taken")
    options = parser.parse_args()
    trees = options.tree.resolve(), ROOT
    names = list(measure(trees[1], 1))
    measure(trees[0], 1)  # fills the caches of kernels, as the line above does
    print("instance | whole: there, here, ratio | first: there, here, ratio | warm: there, here, ratio")
    for name in names:
        runs = [
            [[*measure(tree, 0, name, mode="auto")[name], *measure(tree, options.calls, name)[name]] for tree in trees]
            for _ in range(2)
        ]
        there, here = ([min(times) for times in zip(*of, strict=True)] for of in zip(*runs, strict=True))
        columns = (f"{old:.2f}, {new:.2f}, {new / old:.2f}" for old, new in zip(there, here, strict=True))
        print(" | ".join((name, *columns)), flush=True)


if __name__ == "__main__":
    main()
