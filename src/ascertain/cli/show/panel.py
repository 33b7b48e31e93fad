"""What a person sees of a running session, on standard error: a panel on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ascertain.cli.show.output import plain
from ascertain.drawing.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

    from ascertain.pipeline.moments import Moment, Watch

CONTROLLER = "controller"
"""The stage of a run that follows a policy: it collects no evidence that could be shown."""
BAR = 30
"""Characters of the bar that shows the evidence: it fits beside its numbers in 80 columns."""


@contextmanager
def show_session(panel: bool) -> Generator[Watch]:
    """A callback that shows each step: in a panel that changes, or line by line."""
    if not panel:
        yield _write_step
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda moment: live.update(_panel(moment))


def _write_step(moment: Moment) -> None:
    if moment.last is not None:
        sys.stderr.write(printable(f"{moment.view.actions:4d}  {moment.last}   {_evidence(moment)}") + "\n")
        sys.stderr.flush()


def _evidence(moment: Moment) -> str:
    view = moment.view
    if view.stage == CONTROLLER:
        return f"[{view.stage}] {'' if view.label is None else f'{view.label}, '}cost {view.cost}"
    leading = "nothing fits" if view.label is None else view.label
    if not view.noisy:
        rivals = "no rival" if view.rivals == 0 else "rivals" if view.rivals is None else f"rivals {view.rivals:,}"
        return f"{leading}: {rivals} left, cost {view.cost}"
    if view.rivals == 0:
        return f"[{view.stage}] {leading}: every rival is beaten, cost {view.cost}"
    rivals = "" if view.rivals is None else f", rivals left {view.rivals:,}"
    numbers = f"{_nats(view.evidence_nats)} of {_nats(view.threshold_nats)} nats{rivals}, cost {view.cost}"
    return f"[{view.stage}] {leading}: {numbers}"


def _nats(value: float) -> str:
    return "inf" if value == math.inf else "-inf" if value == -math.inf else f"{round(value, 2) + 0.0:.2f}"


def _panel(moment: Moment) -> Table:
    from rich.table import Table

    view = moment.view
    table = Table(title="observing", title_justify="left", show_header=False)
    table.add_row("last", plain(moment.last or "-"))
    if view.noisy or view.stage == CONTROLLER:
        table.add_row("stage", plain(view.stage))
    if view.stage != CONTROLLER:
        table.add_row("leading label", plain("nothing fits" if view.label is None else view.label))
        if view.noisy:
            table.add_row("evidence", plain(_bar(view.evidence_nats, view.threshold_nats)))
        table.add_row("rivals left", plain("many" if view.rivals is None else f"{view.rivals:,}"))
    table.add_row("readings, actions, cost", plain(f"{view.readings}, {view.actions}, {view.cost}"))
    return table


def _bar(evidence: float, threshold: float) -> str:
    """How far the evidence has come, drawn and in numbers."""
    part = 1.0 if evidence == math.inf else 0.0 if threshold == math.inf else max(0.0, min(1.0, evidence / threshold))
    full = int(BAR * part)
    return f"{'█' * full}{'░' * (BAR - full)} {_nats(evidence)} of {_nats(threshold)} nats"
