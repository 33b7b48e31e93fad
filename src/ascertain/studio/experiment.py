"""The tab *Experiment*: both sides while the search runs, the tree, the proof, and the files of the command line."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from nicegui import ui

from ascertain.studio.parts import downloads, heading, notice, paragraph, table, tried
from ascertain.studio.question import show_controls
from ascertain.studio.state import Search, Studio
from ascertain.studio.tree import show_tree

MOST_POINTS = 300
"""Points of a line while the search runs: as many as a small picture has columns."""


def show_experiment(studio: Studio) -> dict[str, Any]:
    """The tab; what it returns is drawn anew when the search or the question has changed."""
    around = ui.checkbox("Both sides at other risks too (takes longer)").mark("around")
    with ui.row().classes("gap-2 items-center"):
        ui.button("Find the experiment", icon="search", on_click=tried(lambda: studio.solve(bool(around.value)))).props(
            "no-caps"
        ).mark("solve")
        stop = ui.button("Stop", icon="stop", on_click=partial(_stop, studio)).props("no-caps outline").mark("stop")
    with ui.expansion("Change prices, risks, forbidden actions", icon="tune").classes("w-full studio-expansion"):
        form = ui.refreshable(show_controls)
        form(studio)
    running = ui.refreshable(_show_running)
    running(studio)
    found = ui.refreshable(_show_found)
    found(studio)
    drawn: list[Any] = [None]

    def draw() -> None:
        search = studio.search
        around.set_visibility(bool(studio.look.found and studio.look.found["noisy"]))
        stop.set_enabled(search is not None and not search.is_over)
        running.refresh()
        state = (id(studio.last), search is not None and search.sentence, search is None, studio.text)
        if drawn[0] != state:
            drawn[0] = state
            found.refresh()

    def asked() -> None:
        form.refresh()
        draw()

    draw()
    return {"experiment": draw, "question": asked}


def _stop(studio: Studio) -> None:
    if studio.search is not None and studio.search.job is not None:
        studio.search.job.stop()


def _show_running(studio: Studio) -> None:
    search = studio.search
    if search is None or search.is_over:
        return
    seconds = time.monotonic() - search.began
    with notice("info", f"Searching: {search.doing} ({seconds:.0f} s). Stop ends it with the best so far."):
        ui.spinner(size="sm").props("aria-hidden=true")
    if search.sides:
        last = search.sides[-1]
        table(
            [
                ("lower bound", last["lower"]),
                ("best experiment found", last["upper"]),
                ("configurations", f"{last['configurations']:,}"),
            ],
            caption="Both sides",
        )


def _show_found(studio: Studio) -> None:
    if studio.search is not None and studio.search.sentence:
        notice("bad", studio.search.sentence)
    search = studio.last
    if search is None or search.found is None:
        if studio.search is None:
            paragraph("Nothing was looked for yet.")
        return
    if search.text != studio.text:
        notice("warn", "The problem has changed since; this is the experiment of the text before.")
    found = search.found
    _show_solve(found) if found["verb"] == "solve" else _show_bounds(found)
    if found["proved"]:
        heading("What the certificate proves", 3)
        for sentence in found["proved"]:
            notice("good", sentence)
        paragraph("It assumes that the plant is one of the models: docs/guarantees.md lists all assumptions.")
    heading("Files", 3)
    paragraph("The same files as `ascertain solve` and `ascertain bounds` write.")
    downloads(search.out, found["files"])
    if found["nodes"]:
        heading("The tree", 3)
    show_tree(found["nodes"], found["num_nodes"])
    _show_sides(search)


def _show_solve(found: dict[str, Any] | Any) -> None:
    facts = found["facts"]
    if facts["status"] == "unsolvable":
        notice("bad", "No experiment settles the question, whatever it may cost. The tree shows why.")
        if found["obstruction"]:
            paragraph(f"{found['obstruction']}.")
    elif facts["status"] == "bounded":
        cost = "no experiment was found" if facts["upper"] == "inf" else f"the best found costs {facts['upper']}"
        notice("warn", f"Stopped before the end: {cost}; none costs less than {facts['lower']}.")
    else:
        notice("good", f"The cheapest experiment costs {facts['upper']} in the worst case.")
    stats = facts["stats"]
    rows = [("worst cost", facts["upper"]), ("lower bound", facts["lower"]), ("mean cost", facts["mean"])]
    rows += [("nodes, depth", f"{stats['nodes']:,}, {stats['depth']}")] if stats["nodes"] else []
    table([*rows, ("certificate", facts["certificate"] or "none")], caption="Cost")


def _show_bounds(found: dict[str, Any] | Any) -> None:
    facts = found["facts"]
    lower, upper = facts["lower"]["best"], facts["upper"]
    if lower == "inf":
        notice("bad", "No experiment keeps to these risks, whatever it may cost.")
    else:
        notice("good", f"Expected cost in the worst case: at least {lower}, and {upper or 'no policy was found'}.")
    rows = [("lower bound", name, value) for name, value in facts["lower"].items()]
    rows += [("achieved", name, value or "none found") for name, value in facts["upper_by_method"].items()]
    table(rows, ("side", "by", "cost"), f"Both sides at alpha = {facts['alpha']}, beta = {facts['beta']}")
    if facts["hardest"]:
        paragraph(f"What makes it hard: {facts['hardest'].get('why', '')}")
    for remark in facts["remarks"]:
        notice("info", remark)
    if found["around"]:
        table(found["around"], ("alpha", "lower bound", "achieved"), "Both sides against alpha")
        ui.echart(
            {
                "tooltip": {"trigger": "axis"},
                "legend": {"data": ["lower bound", "achieved"]},
                "xAxis": {"type": "category", "name": "alpha", "data": [row[0] for row in found["around"]]},
                "yAxis": {"type": "value", "name": "expected cost"},
                "series": [
                    {
                        "name": "lower bound",
                        "type": "line",
                        "symbol": "triangle",
                        "data": [r[1] for r in found["around"]],
                    },
                    {"name": "achieved", "type": "line", "symbol": "circle", "data": [r[2] for r in found["around"]]},
                ],
            }
        ).classes("studio-chart").props('role=img aria-label="Both sides against alpha, as in the table above"')


def _show_sides(search: Search) -> None:
    """How both sides came closer, if there was time to see it."""
    points = search.sides[:: max(1, len(search.sides) // MOST_POINTS)]
    if len(points) > 2:
        rows = [(f"{p['seconds']:.1f}", p["lower"], p["upper"], f"{p['configurations']:,}") for p in points[-20:]]
        table(rows, ("seconds", "lower bound", "best found", "configurations"), "How both sides came closer")
