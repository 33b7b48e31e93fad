"""The tab *Replay*: any journal of the folder, step by step, with what the observer knew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import background_tasks, ui

from ascertain.errors import AscertainError
from ascertain.studio.parts import heading, notice, paragraph, scrolled, table
from ascertain.studio.state import Studio

NO_PROBLEM = "(none: steps only)"
"""Chosen where nobody knows which problem a journal is of."""
OUTCOMES = {"missing": "(not read)", "doubt": "(may not have run)", "open": "(nothing is recorded)"}
"""What stands for a reading that there is none of."""


def show_replay(studio: Studio) -> tuple[Callable[[str, str], None], Callable[[], object]]:
    """The tab; what it returns opens a journal of a problem, and lists the journals anew."""
    told: dict[str, Any] = {}
    here = [0]
    chosen: dict[str, str] = {}

    @ui.refreshable
    def choice() -> None:
        journals = studio.folder.list_journals()
        problems = [NO_PROBLEM, *studio.folder.list_problems()]
        first = chosen.get("journal", journals[0] if journals else None)
        if first is None:
            paragraph("There is no journal in this folder yet; every run of this page keeps one in runs/.")
            ui.button("List again", on_click=choice.refresh).props("no-caps outline")
            return
        listed = journals if first in journals else [first, *journals]  # of a large fleet not all are offered
        guess = chosen.get("problem", _guess(studio, first))
        with ui.element("div").classes("studio-form"):
            journal = ui.select(listed, label="Journal", value=first, with_input=True).mark("journal")
            problem = ui.select(problems, label="Problem", value=guess if guess in problems else NO_PROBLEM)
            problem.mark("journal-problem")
            for box in (journal, problem):
                box.props("outlined dense")

            def choose(name: str | None) -> None:
                if name is not None:
                    chosen["journal"] = name
                    problem.set_value(_guess(studio, name))

            journal.on_value_change(lambda event: choose(event.value))
            problem.on_value_change(lambda event: chosen.update(problem=event.value))
        with ui.row().classes("gap-2"):
            ui.button("Replay", icon="replay", on_click=lambda: read(journal.value, problem.value)).props(
                "no-caps"
            ).mark("replay")
            ui.button("List again", on_click=choice.refresh).props("no-caps outline")

    async def read(journal: str | None, problem: str | None) -> None:
        if journal is None:
            return
        try:
            path = None if problem in (None, NO_PROBLEM) else str(studio.folder.find(problem))
            if problem is not None and path is not None:
                studio.folder.check_problem(problem)
            work = {"job": "retell", "journal": str(studio.folder.find(journal)), "path": path}
            heard = await studio.workers.ask(work)
        except AscertainError as reason:
            heard = {"event": "refused", "sentence": str(reason)}
        told.clear()
        told.update(heard, journal=journal)
        here[0] = 0
        story.refresh()

    @ui.refreshable
    def story() -> None:
        if told:
            _show_story(told, here, story.refresh)

    def open_journal(journal: str, problem: str) -> None:
        chosen.update(journal=journal, problem=problem)
        choice.refresh()
        background_tasks.create(read(journal, problem))  # pyright: ignore[reportUnknownMemberType]

    choice()
    story()
    return open_journal, choice.refresh


def _guess(studio: Studio, journal: str) -> str:
    try:
        name = studio.read_start(journal, within=True)["problem"]
    except AscertainError:
        name = studio.problem or NO_PROBLEM
    return name if name in studio.folder.list_problems() else NO_PROBLEM


def _show_story(told: Mapping[str, Any], here: list[int], refresh: Any) -> None:
    if told["event"] != "done":
        notice("bad", str(told["sentence"]))
        return
    run = told["result"]
    if str(run["address"] or "").startswith("simulated"):
        notice("warn", "This run was a SIMULATION: no plant was asked.")
    ended = "it has not ended" if run["verdict"] is None else f"{run['verdict']}: {run['label'] or run['reason']}"
    rows: list[tuple[object, ...]] = [("journal", told["journal"]), ("plant", run["identity"] or run["address"])]
    table([*rows, ("began", run["began"]), ("ended", run["ended"]), ("end", ended)])
    if run["without"]:
        notice("info", f"What the observer knew is not shown: {run['without']}.")
    steps = run["steps"]
    if not steps:
        paragraph("Nothing was done.")
        return
    here[0] = max(0, min(here[0], len(steps) - 1))

    def go(number: int) -> None:
        here[0] = number
        refresh()

    heading(f"Step {here[0] + 1} of {len(steps)}", 3)
    with ui.row().classes("gap-2 items-center").props('role=group aria-label="Steps of the run"'):
        for said, number in (("First", 0), ("Back", here[0] - 1), ("Forward", here[0] + 1), ("Last", len(steps) - 1)):
            button = ui.button(said, on_click=lambda _, n=number: go(n)).props("no-caps outline")
            button.set_enabled(0 <= number < len(steps) and number != here[0])
    slider = ui.slider(min=1, max=max(2, len(steps)), value=here[0] + 1).props('label aria-label="Step"')
    slider.on("change", lambda event: go(int(event.args) - 1))
    step = steps[here[0]]
    rows = [("action", step["action"]), ("reading", OUTCOMES.get(step["outcome"], step["reading"]))]
    rows += [("then", step["remark"])] if step["remark"] else []
    view = run["views"][here[0]] if here[0] < len(run["views"]) else None
    if view is not None:
        rows += [("fitted best", view["label"] or "nothing"), ("stage", view["stage"])]
        rows += [("rivals left", "not counted" if view["rivals"] is None else view["rivals"]), ("cost", view["cost"])]
        if view["threshold_nats"] is not None:
            reached = "all rivals beaten" if view["evidence_nats"] is None else f"{view['evidence_nats']:.2f} nats"
            rows.append(("evidence", f"{reached}, of {view['threshold_nats']:.2f} needed"))
    table(rows, caption="What was done, and what the observer knew after it")
    shown = range(max(0, here[0] - 50), min(len(steps), here[0] + 50))
    listed = [
        ("▶" if n == here[0] else "", n + 1, steps[n]["action"], OUTCOMES.get(steps[n]["outcome"], steps[n]["reading"]))
        for n in shown
    ]
    with scrolled("Steps around this one"):
        table(listed, ("here", "", "action", "reading"))
