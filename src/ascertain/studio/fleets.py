"""A fleet on the page: many plants at once, a row for each host, and what is left of it after a restart.

Its journals stand in a folder of their own, runs/NAME.fleet; beside it NAME.fleet.start says how it was begun. To go
on with it is `observe --hosts --resume`: hosts that have ended are not asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from ascertain.errors import TaskError
from ascertain.studio.jobs import AbstractOngoing, Event

if TYPE_CHECKING:
    from ascertain.studio.state import Studio

INTERRUPTED = 130
"""The code of work that was stopped."""


@final
@dataclass(kw_only=True)
class Fleet(AbstractOngoing):
    """A fleet that goes on, or has ended."""

    folder: str
    phase: str = "running"
    """running, stopping; ended, stopped, refused or broken."""
    rows: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])
    """By host: how it is, the answer or what was done last or why there is none, and the cost."""
    done: int = 0
    total: int = 0

    def counts(self) -> dict[str, int]:
        """How many hosts are how; those that were not met yet wait."""
        found: dict[str, int] = {}
        for state, _, _ in self.rows.values():
            found[state] = found.get(state, 0) + 1
        waiting = self.total - len(self.rows)
        return {**found, **({"waiting": waiting} if waiting > 0 else {})}

    def journal(self, host: str) -> str:
        """Where the run of a host is recorded."""
        return f"{self.folder}/{host}.journal"


def begin_fleet(
    studio: Studio, plant: str, hosts: str, *, parallel: int, certificates: bool, folder: str | None
) -> Fleet:
    """Begin a fleet of the problem as its file says it; with a folder, go on with the one whose journals it holds."""
    checked, named = studio.folder.check_fleet(plant, hosts)
    resume = folder is not None
    begun: dict[str, Any] = {"plant": plant, "hosts": hosts, "parallel": parallel, "certificates": certificates}
    folder = folder or studio.note_run(".fleet", begun)
    assert studio.problem is not None
    fleet = Fleet(problem=studio.problem, plant=plant, folder=folder)
    place = studio.folder.find(folder)
    work = {
        "job": "fleet",
        "path": str(studio.folder.find(studio.problem)),
        "plant": checked,
        "hosts": named,
        "folder": str(place),
        "resume": resume,
        "parallel": parallel,
        "certificates": str(place / "certificates") if certificates else None,
    }
    fleet.job = studio.workers.begin(work, lambda event: _hear(studio, fleet, event))
    return fleet


def stop_fleet(fleet: Fleet) -> None:
    """Let nothing more be sent; answers that are under way are waited for a moment. The second time it ends at once."""
    if fleet.job is None or fleet.is_over:
        raise TaskError("there is no fleet that goes on")
    if fleet.phase == "stopping":
        fleet.job.kill()
    fleet.phase = "stopping"
    fleet.job.stop()


def _hear(studio: Studio, fleet: Fleet, event: Event) -> None:
    match event["event"]:
        case "rows":
            fleet.done, fleet.total = event["done"], event["total"]
            fleet.rows |= {name: (state, studio.shorten(said), cost) for name, state, said, cost in event["rows"]}
        case "note":
            fleet.notes.append(event["said"])
        case "done":
            fleet.result, fleet.phase = event["result"], "ended"
            studio.note_end(fleet.folder, event["result"]["counts"])
        case "refused" if event["code"] != INTERRUPTED:
            fleet.sentence, fleet.phase = studio.shorten(event["sentence"]), "refused"
            studio.forget_refused(fleet.folder)
        case "refused" | "lost" as ended:
            fleet.phase = "stopped" if ended == "refused" else "broken"
            fleet.rows |= {n: ("stopped", said, cost) for n, (s, said, cost) in fleet.rows.items() if s == "running"}
        case _:
            raise AssertionError(f"what a fleet never says: {event['event']}")
    studio.version["run"] += 1
