"""The page: a problem, five tabs, and the run in reach from all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files

from nicegui import ui

from ascertain.studio.check import show_check
from ascertain.studio.experiment import show_experiment
from ascertain.studio.live import SIMULATION, show_run
from ascertain.studio.parts import heading, tried
from ascertain.studio.question import show_question
from ascertain.studio.retell import show_replay
from ascertain.studio.state import Studio

EVERY = 0.25
"""Seconds between two looks at what has changed: quick enough to be seen as at once."""


@cache
def _style() -> str:
    return files("ascertain.studio").joinpath("style.css").read_text("utf-8")


def show_page(studio: Studio) -> None:
    """One window of the page."""
    ui.add_css(_style())
    ui.colors(primary="#1d4f91", negative="#b3261e", positive="#1b6e2c")
    dark = ui.dark_mode(None)
    redraw: list[dict[str, Callable[[], None]]] = []
    with ui.header().classes("items-center gap-3 q-py-xs"):
        heading("ascertain studio", 1)
        names = studio.folder.list_problems()
        names = names if studio.problem is None or studio.problem in names else [studio.problem, *names]
        problem = ui.select(names, value=studio.problem, label="Problem", on_change=lambda event: choose(event.value))
        problem.props('dark dense outlined options-dense aria-label="Problem"').classes("grow").mark("problem")
        shades = {"auto": None, "light": False, "dark": True}
        shade = ui.select([*shades], value="auto", label="Colours")
        shade.on_value_change(lambda event: dark.set_value(shades[event.value]))
        shade.props("dark dense outlined options-dense").classes("w-24")
    banner = ui.label(SIMULATION).classes("studio-banner").props("role=alert").mark("simulation")
    tabs = ui.tabs().props("no-caps align=left outside-arrows mobile-arrows").classes("w-full")
    with tabs:
        for name in ("Question", "Experiment", "Run", "Replay", "Check"):
            ui.tab(name)
    panels = ui.tab_panels(tabs, value="Question", animated=False).classes("w-full").props("keep-alive")
    ui.skip_link("Skip to the content", target=panels)

    def replay(journal: str, problem: str) -> None:
        panels.set_value("Replay")
        open_journal(journal, problem)

    with panels:
        with ui.tab_panel("Question"):
            redraw.append(show_question(studio))
        with ui.tab_panel("Experiment"):
            redraw.append(show_experiment(studio))
        with ui.tab_panel("Run"):
            redraw.append(show_run(studio, replay))
        with ui.tab_panel("Replay"):
            open_journal, list_journals = show_replay(studio)
        with ui.tab_panel("Check"):
            list_files = show_check(studio)
    listed: dict[str, Callable[[], object]] = {"Replay": list_journals, "Check": list_files}
    panels.on_value_change(lambda event: listed.get(str(event.value), lambda: None)())

    with ui.footer().classes("items-center gap-2 q-py-xs").mark("run-bar") as bar:
        said = ui.label().classes("grow studio-text")
        pause = ui.button("Pause", icon="pause", on_click=lambda: studio.pause(True))
        pause.props("no-caps color=white text-color=black").mark("pause")
        go_on = ui.button("Go on", icon="play_arrow", on_click=lambda: studio.pause(False))
        go_on.props("no-caps color=white text-color=black").mark("unpause")
        abort = ui.button("Abort the run", icon="stop", on_click=studio.abort)
        stop = ui.button("Stop the fleet", icon="stop", on_click=studio.stop_fleet)
        for button, marker in ((abort, "abort"), (stop, "stop-fleet")):
            button.props("no-caps color=negative").mark(marker)
    redraw.append({"run": partial(_draw_bar, studio, bar, said, (pause, go_on, abort, stop), banner)})

    @tried
    def choose(name: str | None) -> None:
        if name is not None and name != studio.problem:
            studio.choose(name)

    seen: Counter[str] = Counter(studio.version)

    def look() -> None:
        changed = {topic for topic, number in studio.version.items() if seen[topic] != number}
        seen.update({topic: studio.version[topic] - seen[topic] for topic in changed})
        if "question" in changed and problem.value != studio.problem:
            problem.set_value(studio.problem)
        for part in redraw:
            for draw in dict.fromkeys(part[topic] for topic in changed if topic in part):
                draw()

    for part in redraw:
        part.get("run", lambda: None)()
    ui.timer(EVERY, look)


def _draw_bar(studio: Studio, bar: ui.footer, said: ui.label, buttons: tuple[ui.button, ...], banner: ui.label) -> None:
    """The run, or the fleet, in reach from every tab."""
    now, live = studio.now, studio.live
    bar.set_visibility(now is not None and not now.is_over)
    simulated = now is not None and now.is_simulated
    banner.set_visibility(simulated)
    ui.query("body").classes(**{"add" if simulated else "remove": "studio-simulated"})
    ui.page_title("SIMULATION - ascertain studio" if simulated else "ascertain studio")
    paused = live is not None and live.paused
    shown = (live is not None and not paused, paused, live is not None, live is None)
    for button, is_shown in zip(buttons, shown, strict=True):
        button.set_visibility(is_shown)
    if live is not None and not live.is_over:
        action = live.proposal.get("action", "")
        doing = {"proposed": "Next", "asking": "Do", "sending": "Sending"}
        word = "Paused before" if live.paused else doing.get(live.phase)
        going = f"{word}: {action}" if word and action else "The run goes on"
        said.set_text("Aborted: nothing more is sent" if live.aborted else going)
    elif studio.fleet is not None and not studio.fleet.is_over:
        stopping = "Stopping" if studio.fleet.phase == "stopping" else "The fleet"
        said.set_text(f"{stopping}: {studio.fleet.done:,} of {studio.fleet.total:,} hosts are done")
