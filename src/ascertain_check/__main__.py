"""The command: python -m ascertain_check [-v] TASK.json CERTIFICATE.json.

Prints VERIFIED, REFUTED: why, or MALFORMED: why, and exits with 0, 1 or 2. What a verified run had to trust follows;
with -v also what was verified, one sentence a line.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ascertain_check import reading
from ascertain_check.certificate import check
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
    if len(paths) != 2:
        return malformed("two files are needed: python -m ascertain_check [-v] TASK.json CERTIFICATE.json")
    try:
        task, certificate = (read_file(path) for path in paths)
    except Malformed as reason:
        return malformed(str(reason))
    return check(task, certificate)


def read_file(path: str) -> bytes:
    """At most one byte more than is allowed, so that an endless file ends."""
    try:
        with Path(path).open("rb") as file:
            return file.read(reading.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise Malformed(f"{reading.quote(path)} cannot be read: {reason}") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
