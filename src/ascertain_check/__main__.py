"""The command: ascertain-check [--require CLAIM] [--budget N] TASK CERTIFICATE, or python -P -m ascertain_check

Prints VERIFIED, REFUTED: why, MALFORMED: why or UNDECIDED: why, and exits with 0, 1, 2 or 3. What was verified follows,
one sentence a line, and what had to be trusted. With --require, which can be repeated, a certificate that is verified
and does not say what is required is INSUFFICIENT, with exit code 1 (see required.py). --budget N allows N steps of work
(see work.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from stat import S_ISREG

from ascertain_check import reading
from ascertain_check.certificate import check
from ascertain_check.origin import find_shadows
from ascertain_check.verdicts import Malformed, Verdict, malformed
from ascertain_check.work import default_budget

USAGE = "two files are needed: ascertain-check [--require CLAIM] [--budget N] TASK.json CERTIFICATE.json"


def main(arguments: list[str]) -> int:
    try:
        paths, require, budget = read_arguments(arguments)
    except Malformed as reason:
        verdict = malformed(str(reason))
    else:
        verdict = judge(paths, require, budget)
    show(verdict)
    return verdict.exit_code


def show(verdict: Verdict) -> None:
    """Print the verdict; where the reader has gone (`| head -1`) the rest is lost, also what is flushed at exit."""
    try:
        print(verdict, *verdict.proved, sep="\n", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_arguments(arguments: list[str]) -> tuple[list[str], list[str], int | None]:
    """The files, what is required, and the budget, if one is given; -v is taken too, and changes nothing."""
    paths: list[str] = []
    require: list[str] = []
    budget: int | None = None
    left = iter(arguments)
    for word in left:
        if word == "--require":
            require.append(next(left, ""))
        elif word == "--budget":
            text = next(left, "")
            if not reading.INDEX.fullmatch(text):
                raise Malformed("--budget: a number of steps is needed")
            budget = int(text)
        elif word != "-v":
            paths.append(word)
    return paths, require, budget


def judge(paths: list[str], require: Sequence[str] = (), budget: int | None = None) -> Verdict:
    """The verdict on two files, a task and a certificate, within the default budget if none is given."""
    if shadows := find_shadows():
        return malformed(f"nothing is judged, for modules of Python come from elsewhere: {'; '.join(shadows[:3])}")
    if len(paths) != 2:
        return malformed(USAGE)
    try:
        task, certificate = (read_file(path) for path in paths)
    except Malformed as reason:
        return malformed(str(reason))
    allowed = default_budget(len(task) + len(certificate)) if budget is None else budget
    return check(task, certificate, require, allowed)


def read_file(path: str) -> bytes:
    """At most one byte more than is allowed; pipes and devices, which may never end or never begin, are refused."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(handle, "rb") as file:
            if not S_ISREG(os.fstat(handle).st_mode):
                raise Malformed(f"{reading.quote(path)} is not a regular file")
            return file.read(reading.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise Malformed(f"{reading.quote(path)} cannot be read: {reason}") from None


def run() -> None:
    """The command `ascertain-check`."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
