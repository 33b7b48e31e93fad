"""Witnesses: the hash of the first record of a run, shown to somebody else before the first action.

Whoever has it can say later that the settings of a run were fixed before its first reading: every certificate of the
run begins with a record of this hash. What takes it is a command, named by the person who begins the run and by nobody
else: no problem file can name one.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from typing import TypeAlias

from ascertain.errors import TaskError

Witness: TypeAlias = Callable[[str], object]
"""Is given the hash, and raises what keeps the run from beginning."""
STANDARD_ERROR = 2
"""Its file descriptor."""


def command_witness(command: str) -> Witness:
    """What runs a command with the hash as its last argument; it must succeed.

    There is no shell. What the command prints goes to the standard error, so that the results stay by themselves.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise TaskError(f"--witness: {command!r} is not a command: {error}") from None
    if not words:
        raise TaskError('--witness: a command is needed, such as "git notes append -m"')

    def tell(digest: str) -> None:
        try:
            done = subprocess.run(  # noqa: S603 - whoever begins the run names it, and there is no shell
                [*words, digest], stdin=subprocess.DEVNULL, stdout=STANDARD_ERROR, check=False
            )
        except (OSError, ValueError) as error:
            raise TaskError(f"--witness: {words[0]!r} cannot be run: {error}; nothing was sent") from None
        if done.returncode:
            raise TaskError(f"--witness: {words[0]!r} ended with exit code {done.returncode}; nothing was sent")

    return tell
