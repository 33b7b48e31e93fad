"""What a person sees of a running session, on standard error: a panel on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ascertain.cli.show.output import plain
from ascertain.report.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

    from ascertain.live.faults import Heard
    from ascertain.live.session import Watch
    from ascertain.observer.staged import Observer

BAR = 30


@contextmanager
def show_session(panel: bool) -> Generator[Watch]:
    """A callback that shows each step: in a panel that changes, or line by line."""
    if not panel:
        yield _write_step
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda observer, heard: live.update(_panel(observer, heard))


def _write_step(observer: Observer, heard: Heard | None) -> None:
    if heard is not None:
        sys.stderr.write(
            printable(f"{observer.counters.actions:4d}  {_step(observer, heard)}   {_evidence(observer)}") + "\n"
        )
        sys.stderr.flush()


def _step(observer: Observer, heard: Heard) -> str:
    """What was done last and what came of it."""
    model, steps = observer.settings.model, observer.transcript
    for fault in heard.faults:
        if heard.outcome == "failure":
            return f"the plant: {fault}"
    last = steps[-1]
    result = model.readings[last.reading] if last.reading is not None else heard.outcome
    return f"{model.actions[last.action]} -> {result}"


def _evidence(observer: Observer) -> str:
    view = observer.view
    leading = "nothing fits" if view.label is None else view.label
    if view.rivals == 0:
        return f"[{view.stage}] {leading}: every rival is beaten, cost {view.cost}"
    rivals = "" if view.rivals is None else f", rivals left {view.rivals:,}"
    numbers = f"{_nats(view.evidence_nats)} of {_nats(view.threshold_nats)} nats{rivals}, cost {view.cost}"
    return f"[{view.stage}] {leading}: {numbers}"


def _nats(value: float) -> str:
    return "inf" if value == math.inf else "-inf" if value == -math.inf else f"{round(value, 2) + 0.0:.2f}"


def _panel(observer: Observer, heard: Heard | None) -> Table:
    from rich.table import Table

    view = observer.view
    table = Table(title="observing", title_justify="left", show_header=False)
    table.add_row("last", plain("-" if heard is None else _step(observer, heard)))
    table.add_row("stage", plain(view.stage))
    table.add_row("leading label", plain("nothing fits" if view.label is None else view.label))
    table.add_row("evidence", plain(_bar(view.evidence_nats, view.threshold_nats)))
    table.add_row("rivals left", plain("many" if view.rivals is None else f"{view.rivals:,}"))
    table.add_row("readings, actions, cost", plain(f"{view.readings}, {view.actions}, {view.cost}"))
    return table


def _bar(evidence: float, threshold: float) -> str:
    """How far the evidence has come, drawn and in numbers."""
    part = 1.0 if evidence == math.inf else 0.0 if threshold == math.inf else max(0.0, min(1.0, evidence / threshold))
    full = int(BAR * part)
    return f"{'█' * full}{'░' * (BAR - full)} {_nats(evidence)} of {_nats(threshold)} nats"
