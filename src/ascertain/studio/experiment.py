"""The tab *Experiment*: both sides while the search runs, the tree, the proof, and the files of the command line."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import partial
from typing import Any

from nicegui import ui

from ascertain.studio.parts import downloads, heading, notice, paragraph, table, tried
from ascertain.studio.question import show_controls
from ascertain.studio.state import Search, Studio
from ascertain.studio.tree import Tree, show_tree

MOST_POINTS = 300
"""Points of a line while the search runs: as many as a small picture has columns."""

LONGEST_FRACTION = 7
"""Letters of a fraction that is shown as it is: longer ones say little to people."""


def show_experiment(studio: Studio) -> dict[str, Any]:
    """The tab; what it returns is drawn anew when the search or the question has changed."""
    around = ui.checkbox("Both sides at other risks too (takes longer)").mark("around")
    with ui.row().classes("gap-2 items-center"):
        ui.button("Find the experiment", icon="search", on_click=tried(lambda: studio.solve(bool(around.value)))).props(
            "no-caps"
        ).mark("solve")
        stop = ui.button("Stop", icon="stop", on_click=partial(_stop, studio)).props("no-caps outline").mark("stop")
    with ui.expansion("Change prices, risks, forbidden actions", icon="tune").classes("w-full studio-expansion"):
        again = ui.checkbox("Search again after each change", value=True).mark("solve-again")
        update_form = show_controls(
            studio, tried(lambda: studio.solve_again(bool(around.value)) if again.value else None)
        )
    running = ui.refreshable(_show_running)
    running(studio)
    around_it = ui.refreshable(_show_around)
    around_it(studio)
    found = ui.refreshable(_show_found)
    found(studio)
    drawn: list[Any] = [None, None]

    def draw() -> None:
        search = studio.search
        around.set_visibility(bool(studio.look.found and studio.look.found["noisy"]))
        stop.set_enabled(search is not None and not search.is_over)
        running.refresh()
        points = (id(studio.last), 0 if studio.last is None else len(studio.last.points))
        if drawn[1] != points:
            drawn[1] = points
            around_it.refresh()
        old = studio.last is not None and studio.last.text != studio.text
        state = (id(studio.last), search is not None and search.sentence, search is None, old)
        if drawn[0] != state:
            drawn[0] = state
            found.refresh()

    def asked() -> None:
        update_form()
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
        search.tree = search.tree or Tree(found["nodes"])
        show_tree(search.tree)
    elif found["num_nodes"]:
        paragraph(f"The tree has {found['num_nodes']:,} lines: too many to show. Download it.")
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
        achieved = "no policy was found" if upper is None else f"{_short(upper)} is achieved"
        notice("good", f"Expected cost in the worst case: at least {_short(lower)}, and {achieved}.")
    rows = [("lower bound", name, _short(value)) for name, value in facts["lower"].items()]
    rows += [("achieved", name, _short(value or "none found")) for name, value in facts["upper_by_method"].items()]
    table(rows, ("side", "by", "cost"), f"Both sides at alpha = {facts['alpha']}, beta = {facts['beta']}")
    if facts["hardest"]:
        paragraph(f"What makes it hard: {facts['hardest'].get('why', '')}")
    for remark in facts["remarks"]:
        notice("info", remark)


def _show_around(studio: Studio) -> None:
    """Both sides against alpha, as far as they are known, as a table and as a picture."""
    points = [] if studio.last is None else studio.last.points
    if not points:
        return
    heading("Both sides against alpha", 3)
    rows = [(p["alpha"], _round(p["lower"]), _round(p["upper"])) for p in points]
    table(rows, ("alpha", "lower bound", "achieved"), "Expected cost in the worst case")
    lines = (("lower bound", "lower", "triangle", "dashed"), ("achieved", "upper", "circle", "solid"))
    ui.echart(
        {
            "animation": False,
            "aria": {"enabled": True},
            "tooltip": {"trigger": "axis"},
            "legend": {"data": [name for name, *_ in lines], "top": 0},
            "xAxis": {
                "type": "category",
                "name": "alpha",
                "nameLocation": "middle",
                "nameGap": 26,
                "data": [f"{float(Fraction(p['alpha'])):g}" for p in points],
            },
            "yAxis": {"type": "value", "name": "expected cost"},
            "series": [
                {
                    "name": name,
                    "type": "line",
                    "symbol": symbol,
                    "symbolSize": 9,
                    "lineStyle": {"type": style},
                    "data": [p[key] for p in points],
                }
                for name, key, symbol, style in lines
            ],
        }
    ).classes("studio-chart").props('role=img aria-label="Both sides against alpha, as in the table above"').mark(
        "around-chart"
    )


def _short(cost: str) -> str:
    """A cost that people can read; the files have it exactly."""
    return cost if len(cost) <= LONGEST_FRACTION else f"≈ {float(Fraction(cost)):.6g}"


def _round(cost: float | None) -> str:
    return "none" if cost is None else f"{cost:.6g}"


def _show_sides(search: Search) -> None:
    """How both sides came closer, if there was time to see it."""
    points = search.sides[:: max(1, len(search.sides) // MOST_POINTS)]
    if len(points) > 2:
        rows = [(f"{p['seconds']:.1f}", p["lower"], p["upper"], f"{p['configurations']:,}") for p in points[-20:]]
        table(rows, ("seconds", "lower bound", "best found", "configurations"), "How both sides came closer")
