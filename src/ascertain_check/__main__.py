"""The command: ascertain-check [-v] TASK.json CERTIFICATE.json, or python -P -m ascertain_check.

Prints VERIFIED, REFUTED: why, or MALFORMED: why, and exits with 0, 1 or 2. What a verified run had to trust follows;
with -v also what was verified, one sentence a line.
"""

from __future__ import annotations

import os
import sys
from stat import S_ISREG

from ascertain_check import reading
from ascertain_check.certificate import check
from ascertain_check.origin import find_shadows
from ascertain_check.verdicts import Malformed, Verdict, malformed


def main(arguments: list[str]) -> int:
    verbose = arguments[:1] == ["-v"]
    verdict = judge(arguments[1:] if verbose else arguments)
    print(verdict)
    for sentence in verdict.proved if verbose else verdict.trusted:
        print(sentence)
    return verdict.exit_code


def judge(paths: list[str]) -> Verdict:
    """The verdict on two files, a task and a certificate."""
    if shadows := find_shadows():
        return malformed(f"nothing is judged, for modules of Python come from elsewhere: {'; '.join(shadows[:3])}")
    if len(paths) != 2:
        return malformed("two files are needed: ascertain-check [-v] TASK.json CERTIFICATE.json")
    try:
        task, certificate = (read_file(path) for path in paths)
    except Malformed as reason:
        return malformed(str(reason))
    return check(task, certificate)


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
