"""Asking a person: questions go to standard error, answers come from standard input, completed on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ascertain.drawing.printable import printable


def ask(question: str) -> str:
    """What was typed; EOFError at the end of input."""
    shown = "\n".join(printable(line) for line in question.split("\n"))
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        return input(shown)
    sys.stderr.write(shown)
    sys.stderr.flush()
    line = "" if sys.stdin is None else sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def approve(action: str) -> bool:
    """Whether the action may be sent; anything but a yes is a no."""
    try:
        return ask(f"send {action}? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def offer_completion(words: Iterable[str]) -> None:
    """Complete these words with the tabulator key, where the terminal can."""
    if sys.stdin is None or not sys.stdin.isatty():
        return
    try:
        import readline
    except ImportError:  # not on every platform
        return
    known = sorted(words)

    def complete(text: str, number: int) -> str | None:
        fitting = [word for word in known if word.startswith(text)]
        return fitting[number] if number < len(fitting) else None

    readline.set_completer_delims("\n")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
