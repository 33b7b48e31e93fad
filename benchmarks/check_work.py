"""What files of about a megabyte take the checker: processor time, memory and the verdict, for every hard family.

    python benchmarks/check_work.py [NAME ...]

Each file is checked in a process of its own, within the default budget. The families are those of
`tests/reference/hard_files.py`: for every kind of claim one that asks for more than its size says.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEGABYTE, MOST = 1_000_000, 200_000


def main(names: list[str]) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.reference.hard_files import FAMILIES

    if names[:1] == ["--one"]:
        check_one(names[1], int(names[2]))
        return
    for name in names or FAMILIES:
        number = 100
        while number < MOST and sum(map(len, FAMILIES[name](2 * number))) < MEGABYTE:
            number *= 2
        subprocess.run([sys.executable, __file__, "--one", name, str(number)], check=True)


def check_one(name: str, number: int) -> None:
    from tests.reference.hard_files import FAMILIES

    from ascertain_check import check
    from ascertain_check.work import default_budget

    task, certificate = FAMILIES[name](number)
    before = resource.getrusage(resource.RUSAGE_SELF)
    verdict = check(task, certificate, (), default_budget(len(task) + len(certificate)))
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = (len(task) + len(certificate)) // 1000
    print(f"{name:15} {size:5} kB {seconds:6.2f} s {after.ru_maxrss // 1024:5} MB  {verdict.word}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
