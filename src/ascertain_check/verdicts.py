"""The three answers of the checker, and the two exceptions that lead to the worse ones.

A certificate is MALFORMED when it, or the task, does not say what the format requires, so that there is nothing to
judge; it is REFUTED when it says something that does not follow. REFUTED means that this proof fails, not that the
claim is false.
"""

from __future__ import annotations

from dataclasses import dataclass


class Malformed(Exception):
    """The file does not follow the format."""


class Refuted(Exception):
    """The certificate does not prove what it claims."""


@dataclass(frozen=True)
class Verdict:
    """VERIFIED, with a sentence for every claim, or REFUTED or MALFORMED, with the first reason found."""

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


def refuted(reason: str) -> Verdict:
    return Verdict("REFUTED", 1, reason)


def malformed(reason: str) -> Verdict:
    return Verdict("MALFORMED", 2, reason)
