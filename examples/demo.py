"""What `make demo` shows: a leak found for certain, a question nobody can answer, and five servers told apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "out"

STEPS = [
    ("What is the plant, and can the question be settled?", ["inspect", "valve/leak.toml"]),
    ("Which states can no experiment tell apart?", ["quotient", "valve/leak.toml"]),
    (
        "The cheapest experiment that tells which valve leaks, with its proof:",
        ["solve", "valve/leak.toml", "--certificate", OUT / "leak.json", "--draw", OUT / "leak.html"],
    ),
    ("A stranger checks the proof, with Python alone:", None),
    ("Was the train serviced? No experiment can tell:", ["inspect", "valve/serviced.toml"]),
    (
        "Which of five mail servers is it?",
        ["fingerprint", *sorted((HERE / "servers").glob("*.dot")), "--draw", OUT / "servers.html"],
    ),
]


def main() -> int:
    OUT.mkdir(exist_ok=True)
    for title, arguments in STEPS:
        print(f"\n{'─' * 80}\n{title}\n", flush=True)
        if arguments is None:
            command = [
                sys.executable,
                "-m",
                "ascertain_check",
                "-v",
                str(OUT / "leak.task.json"),
                str(OUT / "leak.json"),
            ]
        else:
            command = [sys.executable, "-m", "ascertain", *map(str, arguments)]
        code = subprocess.run(command, cwd=HERE, check=False).returncode
        if code not in {0, 1}:
            return code
    print(f"\nLook at {OUT / 'leak.html'} and {OUT / 'servers.html'}; go on with docs/quickstart.md.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
