"""The answers of the checker, and the exceptions that lead to the worse ones.

A certificate is MALFORMED when it, or the task, does not say what the format requires, so that there is nothing to
judge; it is REFUTED when it says something that does not follow. REFUTED means that this proof fails, not that the
claim is false. It is UNDECIDED when deciding takes more work than the budget allows (see work.py),
and INSUFFICIENT when it is verified and does not say what was required of it (see required.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace


class Malformed(Exception):
    """The file does not follow the format."""


class Refuted(Exception):
    """The certificate does not prove what it claims."""


class Undecided(Exception):
    """Deciding takes more work than is allowed."""


@dataclass(frozen=True)
class Verdict:
    """VERIFIED, with a sentence for every claim; or REFUTED, MALFORMED or UNDECIDED, with the first reason found."""

    word: str
    exit_code: int
    reason: str = ""
    proved: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    """Those of the sentences that say what had to be trusted."""

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


def verified(proved: tuple[str, ...], trusted: tuple[str, ...]) -> Verdict:
    return Verdict("VERIFIED", 0, proved=(*proved, *trusted), trusted=trusted)


def insufficient(verdict: Verdict, unsaid: str) -> Verdict:
    """The certificate is right, and does not say what is required of it."""
    return replace(verdict, word="INSUFFICIENT", exit_code=1, reason=f"verified, but it does not say {unsaid}")


def refuted(reason: str) -> Verdict:
    return Verdict("REFUTED", 1, reason)


def malformed(reason: str) -> Verdict:
    return Verdict("MALFORMED", 2, reason)


def undecided(reason: str) -> Verdict:
    return Verdict("UNDECIDED", 3, reason)
