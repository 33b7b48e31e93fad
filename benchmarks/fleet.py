"""A thousand servers over TCP, some slow, dead, mute or none of the models: named at once, also after kill -9.

    python benchmarks/fleet.py [--number 1000] [--parallel 64] [--split 1] [--kill] [--conform complete:0]

prints how long it takes, how much processor time, and how many answers are wrong or missing. `--split N` starts N
processes, each on its part of the hosts, to compare with the threads of one. `--kill` kills the run halfway with
SIGKILL and resumes it; the time is that of both together.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVERS = ROOT / "examples" / "servers"


def split_hosts(hosts: Path, parts: int) -> list[Path]:
    """The hosts in so many files."""
    head, *rows = hosts.read_text().splitlines()
    files = [hosts.with_name(f"hosts{i}.csv") for i in range(parts)]
    for i, file in enumerate(files):
        file.write_text("\n".join([head, *rows[i::parts]]) + "\n")
    return files


def run(
    files: list[Path], folder: Path, words: list[str], *, kill_at: int | None = None
) -> list[dict[str, Any]] | None:
    """The results of all processes; None when they were killed, which is done when so many hosts have begun."""
    command = [sys.executable, "-m", "ascertain", "fingerprint", *map(str, sorted(SERVERS.glob("*.dot")))]
    command += ["--plant", "tcp://{host}:{port}", "--journal", str(folder), "--timeout", "2", "--json", *words]
    with tempfile.TemporaryDirectory() as place:
        outputs = [(Path(place) / str(i)).open("w+b") for i in range(len(files))]
        started = [
            subprocess.Popen([*command, "--hosts", str(file)], stdout=out, stderr=subprocess.DEVNULL)
            for file, out in zip(files, outputs, strict=True)
        ]
        while kill_at is not None and any(process.poll() is None for process in started):
            if len(list(folder.glob("*.head"))) >= kill_at:
                for process in started:
                    process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.01)
        codes = [process.wait() for process in started]
        lines = [json.loads(line) for out in outputs if not out.seek(0) for line in out]
        for out in outputs:
            out.close()
    return None if -signal.SIGKILL in codes else lines


def judge(lines: list[dict[str, Any]], hosts: Path) -> tuple[Counter[str], int, int]:
    """How many hosts of each kind came to what, how many answers are wrong, and how many hosts are missing."""
    truth = {row["name"]: row for row in csv.DictReader(hosts.read_text().splitlines())}
    found, wrong = Counter[str](), 0
    for line in lines:
        row = truth[line["host"]]
        verdict = line.get("verdict") or "no answer"
        found[f"{row['kind']}: {verdict}, exit code {line['exit_code']}"] += 1
        wrong += verdict == "certified" and row["truth"] not in line["label"].split("|")
    return found, wrong, len(truth) - len({line["host"] for line in lines})


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--number", type=int, default=1000)
    words.add_argument("--parallel", type=int, default=64)
    words.add_argument("--split", type=int, default=1)
    words.add_argument("--kill", action="store_true")
    words.add_argument("--conform")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as place:
        hosts, folder = Path(place) / "hosts.csv", Path(place) / "journals"
        serving = [sys.executable, str(SERVERS / "fleet.py"), str(hosts), "--number", str(given.number)]
        server = subprocess.Popen(serving, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdout is not None and server.stdin is not None
        server.stdout.readline()
        files = [hosts] if given.split == 1 else split_hosts(hosts, given.split)
        options = ["--parallel", str(given.parallel // given.split)]
        options += ["--conform", given.conform] if given.conform else []
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        lines = run(files, folder, options, kill_at=given.number // 2 if given.kill else None)
        if given.kill:
            assert lines is None, "it was over before it could be killed"
            lines = run(files, folder, [*options, "--resume"])
        assert lines is not None
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        server.stdin.close()
        server.wait()
        found, wrong, missing = judge(lines, hosts)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    print(f"{given.number} hosts, {given.parallel} at once in {given.split} processes{', killed once' * given.kill}:")
    print(f"{seconds:.1f} s; processor time {user:.1f} s user, {system:.1f} s system; load {os.getloadavg()[0]:.1f}")
    print(f"wrong {wrong}, missing {missing}")
    for what, number in sorted(found.items()):
        print(f"  {number:5d} {what}")


if __name__ == "__main__":
    main()
