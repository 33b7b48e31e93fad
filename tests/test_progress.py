"""What is shown of counted work: how much of how much, how fast, how long still; in place, or now and then a line."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from ascertain.cli.show import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the time."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return lambda time: now.__setitem__(0, time)


def test_a_pipe_gets_a_line_now_and_then_and_none_at_the_end(
    clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.counting("operations") as show:
        for done in range(2001):
            clock(done * 0.9)
            show(done, 2000)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "12 of 2,000 operations   1.1 a second   29 min 49 s left"
    assert lines[1] == "24 of 2,000 operations   1.1 a second   29 min 38 s left"
    assert 30 < len(lines) < 60  # in half an hour


def test_what_an_earlier_call_did_does_not_count_as_fast(
    clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.counting("blocks") as show:
        show(900, 1000)
        clock(20)
        show(900, 1000)
        clock(40)
        show(910, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "900 of 1,000 blocks",
        "910 of 1,000 blocks   15.0 a minute   6 min 0 s left",
    ]


def test_a_terminal_gets_one_line_that_changes_and_goes(
    clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.counting("operations") as show:
        for done in range(4):
            clock(done * 0.6)
            show(done, 4)
        clock(2.4)
        show(4, 4)
    first, *rest = terminal.getvalue().split(progress.CLEAR)
    assert first == ""
    assert rest == [
        "2 of 4 operations   1.7 a second   1 s left",
        "3 of 4 operations   1.7 a second   1 s left",
        "",
    ]


@pytest.mark.parametrize(
    ("rate", "told"),
    [(1_234_567.0, "1,234,567 a second"), (2.25, "2.2 a second"), (0.5, "30.0 a minute"), (1 / 1800, "2.0 an hour")],
)
def test_a_rate_is_told_in_the_unit_in_which_it_is_at_least_one(rate: float, told: str) -> None:
    assert progress.tell_rate(rate) == told


@pytest.mark.parametrize(("seconds", "told"), [(59.4, "59 s"), (59.6, "1 min 0 s"), (7260.0, "2 h 1 min")])
def test_a_time_is_told_in_its_two_largest_units(seconds: float, told: str) -> None:
    assert progress.tell_span(seconds) == told
