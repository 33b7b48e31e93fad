"""The fleet on the tab *Run*: which hosts, and a table of them as they come."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import events, ui

from ascertain.drawing.printable import printable
from ascertain.errors import TaskError
from ascertain.studio.fleets import Fleet
from ascertain.studio.parts import downloads, heading, notice, paragraph, table, tried
from ascertain.studio.state import Studio

OpenReplay = Callable[[str, str], None]
"""Shows a journal of a problem on the tab *Replay*."""
SIMULATED = "simulated:{name}"
"""The plant of a simulated fleet: what a host is called is its seed."""
COLUMNS = (("host", "host"), ("state", "how it is"), ("said", "answer, last step, or fault"), ("cost", "cost"))
"""Of the table, by key."""
ANSWERED = ("certified", "none of these", "abstained")
"""How hosts are that need not be asked again."""
PRESS = """<q-td :props="props"><q-btn flat dense no-caps label="Replay" :aria-label="'Replay ' + props.row.host"
  @click="() => $parent.$emit('replay', props.row.host)" /></q-td>"""
"""The button of a row; Vue puts what stands in the row into it as text."""


def show_fleet_setup(studio: Studio) -> Callable[[], None]:
    """What a fleet needs; returns what starts it."""
    wirings = studio.folder.list_wirings()
    plants = {SIMULATED: "Simulation: the name of each host is its seed", **{name: name for name in wirings}}
    with ui.element("div").classes("studio-form"):
        plant = ui.select(plants, value=next(iter(wirings), SIMULATED), label="Plant").mark("fleet-plant")
        hosts = ui.input("Hosts", autocomplete=studio.folder.list_hosts()).mark("fleet-hosts")
        parallel = ui.number("Hosts at once", value=32, min=1, max=1000, precision=0).mark("fleet-parallel")
        other = ui.input("Or another plant, such as tcp://{host}:{port}").mark("fleet-other")
        other.set_visibility(studio.folder.allow_exec)
        for field in (plant, hosts, parallel, other):
            field.props("outlined dense")
        certificates = ui.checkbox("A certificate for each answer").mark("fleet-certificates")
    paragraph(
        "Hosts are a file (.csv) of this folder with a column called name, or names with commas between them, or a "
        "pattern such as box-[01-20]. The address in a wiring file names columns in braces, such as "
        "tcp://{host}:{port}. Nobody approves single actions of a fleet: once started, it asks all hosts."
    )

    def start() -> None:
        chosen = str(other.value or plant.value)
        at_once = int(parallel.value or 1)
        studio.start_fleet(chosen, str(hosts.value or ""), parallel=at_once, certificates=bool(certificates.value))

    return start


def show_fleet(studio: Studio, replay: OpenReplay) -> Callable[[], None]:
    """How the fleet goes; returns what draws it anew."""
    said = ui.refreshable(_show_said)
    said(studio)
    columns = [{"name": key, "field": key, "label": name, "align": "left", "sortable": True} for key, name in COLUMNS]
    columns.append({"name": "replay", "field": "host", "label": "journal", "align": "left"})
    words = ui.input("Search the hosts").props("outlined dense clearable").mark("search-hosts")
    rows = ui.table(columns=columns, rows=[], row_key="host", pagination=25).classes("w-full studio-hosts")
    rows.props('flat bordered dense wrap-cells aria-label="Hosts of the fleet"').bind_filter_from(words, "value")
    rows.add_slot("body-cell-replay", PRESS)

    @tried
    def pressed(event: events.GenericEventArguments) -> None:
        if studio.fleet is not None and event.args in studio.fleet.rows:
            journal = studio.fleet.journal(event.args)
            if not studio.folder.find(journal).is_file():
                raise TaskError(f"{event.args}: nothing was recorded, as its plant was not met")
            replay(journal, studio.fleet.problem)

    rows.on("replay", pressed)
    drawn: list[list[dict[str, Any]]] = [[]]

    def draw() -> None:
        fleet = studio.fleet
        said.refresh()
        for part in (words, rows):
            part.set_visibility(fleet is not None and bool(fleet.rows))
        if fleet is not None:
            shown = [_row(host, *row) for host, row in fleet.rows.items()]
            if shown != drawn[-1]:
                drawn[:] = [shown]
                rows.update_rows(shown, clear_selection=False)  # pyright: ignore[reportUnknownMemberType]

    draw()
    return draw


def _row(host: str, *cells: str) -> dict[str, Any]:
    return {"host": host, **{key: printable(cell) for (key, _), cell in zip(COLUMNS[1:], cells, strict=True)}}


def _show_said(studio: Studio) -> None:
    fleet = studio.fleet
    if fleet is None:
        return
    heading("The fleet")
    for remark in fleet.notes[-3:]:
        notice("info", remark)
    if fleet.phase == "refused":
        notice("bad", fleet.sentence)
        return
    kind, sentence = _say(fleet)
    notice(kind, sentence)
    table(list(fleet.counts().items()), ("how they are", "hosts"))
    paragraph(f"Journals: {fleet.folder}")
    if fleet.result is not None:
        failed = sum(number for state, number in fleet.counts().items() if state not in ANSWERED)
        if failed:
            again = ui.button(f"Try the other {failed:,} again", on_click=tried(partial(studio.go_on, fleet.folder)))
            again.props("no-caps outline").mark("fleet-again")
        downloads(studio.folder.find(fleet.folder), [fleet.result["file"]])


def _say(fleet: Fleet) -> tuple[str, str]:
    """How a fleet is in a sentence, and of which kind that is."""
    match fleet.phase:
        case "running":
            return "info", f"{fleet.done:,} of {fleet.total:,} hosts are done. Stop lets nothing more be sent."
        case "stopping":
            return "warn", "Nothing more is sent. Answers under way are waited for, 3 s at most; stop again to end now."
        case "ended":
            assert fleet.result is not None
            return "good", f"All {fleet.total:,} hosts are done, in {fleet.result['seconds']:.1f} s."
        case "stopped":
            return "warn", "Stopped. Nothing is in doubt but what was still unanswered. Below, Go on does what is left."
        case _:
            return (
                "bad",
                "The process of the fleet was ended. The journals hold what was done; Go on does what is left.",
            )
