"""The tab *Run*: a run on a simulated, manual or wired plant, or a fleet of them; the next action and why, and what is
known so far."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from nicegui import ui

from ascertain.studio.fleet import OpenReplay, show_fleet, show_fleet_setup
from ascertain.studio.parts import downloads, heading, notice, paragraph, scrolled, table, tried
from ascertain.studio.state import Live, Studio

SIMULATION = "SIMULATION: no plant is asked. Nothing here is about a real plant."
"""Said all over the page while a simulated run is looked at."""
MOST_STEPS = 100
"""Steps that are listed, the last ones: the journal has them all."""
MOST_POINTS = 500
"""Steps that are drawn, the last ones."""
MARKS = {"?": "Nothing could be read", "!": "The action was not done", "~": "Not sure whether it was done"}
"""What a person may say in place of a reading, as in the line protocol."""
PHASES = {
    "starting": "The run is being prepared.",
    "deciding": "The next action is being chosen.",
    "sending": "The action is under way.",
}
"""What happens while nobody is asked for anything."""


def show_run(studio: Studio, replay: OpenReplay) -> dict[str, Any]:
    """The tab; what it returns is drawn anew when the run has changed. `replay` shows a journal on its own tab."""
    setup = ui.refreshable(_show_setup)
    now = ui.refreshable(_show_now)
    known = ui.refreshable(_show_known)
    steps = ui.refreshable(_show_steps)
    now(studio)
    # Not drawn anew with every step, so that it can be pressed.
    each = ui.checkbox("Approve each action", on_change=lambda event: studio.ask_each(bool(event.value)))
    known(studio)
    chart = ui.echart({}).classes("studio-chart")
    chart.props('role=img aria-label="The course of the run, as in the list of steps"')
    steps(studio)
    draw_fleet = show_fleet(studio, replay)
    setup(studio)
    drawn: list[Any] = [None]

    def draw() -> None:
        going = studio.live is not None and not studio.live.is_over
        each.set_visibility(going)
        each.set_value(studio.live is not None and studio.live.each)
        draw_fleet()
        state = (studio.now is not None and not studio.now.is_over, studio.problem, studio.is_edited)
        if drawn[0] != state:  # not while somebody fills it in
            drawn[0] = state
            setup.refresh()
        for part in (now, known, steps):
            part.refresh()
        options = _chart(studio.live)
        chart.set_visibility(bool(options))
        drawing = cast("dict[str, Any]", chart.options)  # pyright: ignore[reportUnknownMemberType]
        if options and options != drawing:
            drawing.clear()
            drawing.update(options)
            chart.update()

    return {"run": draw, "question": draw}


def _show_setup(studio: Studio) -> None:
    if studio.now is not None and not studio.now.is_over:
        return
    heading("A new run")
    if studio.problem is None:
        paragraph("Choose a problem first.")
        return
    if studio.is_edited:
        notice("warn", "The problem has unsaved changes, and a run is bound to the file: save or drop them first.")
    wirings = studio.folder.list_wirings()
    kinds = {"simulated": "Simulation", "manual": "By hand: you do it and tell what you read"}
    kinds |= {"wired": "Wired plant"} if wirings else {}
    kinds |= {"fleet": "A fleet: many plants at once"}
    kinds |= {"other": "Another plant (a program, a socket)"} if studio.folder.allow_exec else {}
    kind = ui.radio(kinds, value="simulated").props('aria-label="Plant"').mark("kind")
    with ui.element("div").classes("studio-form"):
        seed = ui.input("Seed of the simulation", value="1").props("outlined dense").mark("seed")
        seed.bind_visibility_from(kind, "value", value="simulated")
        wiring = ui.select(wirings, value=wirings[0] if wirings else None, label="Wiring file").props("outlined dense")
        wiring.mark("wiring").bind_visibility_from(kind, "value", value="wired")
        other = ui.input("Plant, such as exec:python plant.py").props("outlined dense").mark("other")
        other.bind_visibility_from(kind, "value", value="other")
    with ui.element("div").classes("w-full").bind_visibility_from(kind, "value", value="fleet"):
        start_fleet = show_fleet_setup(studio)
    each = ui.checkbox("Approve each action before it is sent", value=False).mark("each")
    each.bind_visibility_from(kind, "value", lambda chosen: chosen != "fleet")
    kind.on_value_change(lambda event: each.set_value(event.value in ("wired", "other")))

    @tried
    def start() -> None:
        if kind.value == "fleet":
            start_fleet()
            return
        texts = {"simulated": f"simulated:{seed.value}", "manual": "manual:"}
        chosen = {**texts, "wired": wiring.value, "other": other.value}[str(kind.value)]
        studio.start_run(str(chosen or ""), each=bool(each.value))

    ui.button("Start the run", icon="play_arrow", on_click=start).props("no-caps").mark("start")
    if unfinished := studio.list_open():
        heading("Runs that have not ended", 3)
        for journal in unfinished[:20]:
            start_file = studio.read_start(journal)
            with ui.row().classes("items-center gap-2"):
                hosts = f", hosts {start_file['hosts']}" if "hosts" in start_file else ""
                paragraph(f"{journal}: {start_file['problem']}, {start_file['plant']}{hosts}")
                ui.button("Go on", on_click=tried(partial(studio.go_on, journal))).props("no-caps outline")


def _show_now(studio: Studio) -> None:
    live = studio.live
    if live is None:
        return
    heading("Now")
    for said in live.notes[-3:]:
        notice("info", said)
    if live.phase == "ended":
        _show_end(live)
    elif live.is_over:
        notice("bad", live.sentence)
        if live.phase == "broken":
            paragraph("It is listed below under the runs that have not ended, and can be gone on with.")
    elif live.phase == "asking":
        _show_question(studio, live)
    elif live.phase == "proposed":
        _show_proposal(studio, live)
    else:
        notice("info", PHASES[live.phase] + (f" {live.proposal['action']}" if live.phase == "sending" else ""))


def _show_proposal(studio: Studio, live: Live) -> None:
    with ui.element("div").classes("studio-card"):
        ui.label(("Next, once the run goes on: " if live.paused else "Next: ") + live.proposal["action"]).classes(
            "studio-next"
        )
        paragraph(f"Why: {live.proposal['why']}.")
        if live.paused:
            notice("warn", "Paused. Nothing is sent until you press Go on.")
        elif live.each:
            approve = partial(studio.approve, live.proposal["number"])
            button = ui.button(f"Approve: {live.proposal['action']}", icon="send", on_click=approve)
            button.props("no-caps size=lg").classes("studio-big").mark("approve")


def _show_question(studio: Studio, live: Live) -> None:
    """Big buttons, for whoever stands at the plant."""
    with ui.element("div").classes("studio-card"):
        ui.label(f"Do this now: {live.proposal['action']}").classes("studio-next")
        paragraph(f"Why: {live.proposal['why']}.")
        if live.prompt.startswith("'"):
            notice("warn", live.prompt.partition("\n")[0])
        heading("What do you read?", 3)
        with ui.element("div").classes("studio-readings"):
            for reading in live.proposal["readings"][:60]:
                button = ui.button(reading or "(nothing)", on_click=partial(studio.read, escape_reading(reading)))
                button.props("no-caps size=lg").classes("studio-big")
        with ui.row().classes("gap-2"):
            for mark, said in MARKS.items():
                ui.button(said, on_click=partial(studio.read, mark)).props("no-caps outline")
        typed = ui.input("Something else").props("outlined dense")
        typed.on("keydown.enter", lambda: studio.read(typed.value) if typed.value else None)


def escape_reading(reading: str) -> str:
    """A reading as a person would type it: one that begins with a mark, or is empty, is escaped."""
    plain = reading == reading.strip() and reading[:1] not in ("?", "!", "~", "")
    return reading if plain else "".join(f"%{byte:02X}" for byte in reading.encode()) or "%"


def _show_end(live: Live) -> None:
    assert live.result is not None
    facts = live.result["facts"]
    if facts["verdict"] == "certified":
        risk = "with certainty" if facts["alpha"] == "0" else f"with a risk of at most {facts['alpha']}"
        notice("good", f"Answer: {facts['label']}, {risk}, {facts['assumed'] or 'checked by conformance'}.")
    elif facts["verdict"] == "none of these":
        notice("bad", f"None of these: {facts['reason']}.")
    else:
        notice("warn", f"No answer: {facts['reason']}.")
    rows = [("actions", facts["actions"]), ("readings", facts["readings"]), ("cost", facts["cost"])]
    rows += [("plant", facts["plant"]), ("identity", facts["identity"])] if facts["identity"] else []
    rows += [("it began as (simulated)", facts["truth"])] if "truth" in facts else []
    if facts.get("right") is not None:
        rows.append(("the answer is right (simulated)", "yes" if facts["right"] else "NO"))
    rows += [
        ("certificate", facts["certificate"] or "none yet; only an answer is certified"),
        ("journal", live.journal),
    ]
    table(rows)
    downloads(live.out, live.result["files"])


def _show_known(studio: Studio) -> None:
    live = studio.live
    if live is None or not live.steps:
        return
    heading("What is known")
    view = live.steps[-1]["view"]
    rows: list[tuple[object, ...]] = [("fits best", view["label"] or "nothing yet")]
    if view["threshold_nats"] is not None:
        reached = "all rivals are beaten" if view["evidence_nats"] is None else f"{view['evidence_nats']:.2f} nats"
        rows.append(("evidence against the strongest rival", f"{reached}, of {view['threshold_nats']:.2f} needed"))
    rows.append(("rivals left", "not counted" if view["rivals"] is None else f"{view['rivals']:,}"))
    bound = live.bound.get("value")
    rows.append(("cost so far", f"{view['cost']}" + ("" if bound is None else f"; bound {bound}")))
    table(rows)
    if live.bound:
        paragraph(f"The bound: {live.bound['meaning']}.")
    if view["threshold_nats"] is not None:
        part = 1.0 if view["evidence_nats"] is None else view["evidence_nats"] / view["threshold_nats"]
        bar = ui.linear_progress(max(0.0, min(1.0, part)), show_value=False, size="18px")
        bar.props('aria-label="Evidence, as a part of what is needed"')


def _show_steps(studio: Studio) -> None:
    live = studio.live
    if live is None or not live.steps:
        return
    faults = [(n, fault) for n, step in enumerate(live.steps) for fault in step["faults"]]
    if faults:
        heading("Faults", 3)
        table(faults[-50:], ("action", "what was met"))
    heading("Steps", 3)
    steps = list(enumerate(live.steps))[1:][-MOST_STEPS:]
    listed = [
        (n, step["last"], step["view"]["label"], step["view"]["rivals"], step["view"]["cost"])
        for n, step in reversed(steps)
    ]
    with scrolled("Steps"):
        table(listed, ("", "action and reading", "fits best", "rivals left", "cost"), "The last step first")


def _chart(live: Live | None) -> dict[str, Any]:
    """The course of the run as a picture; empty where there is nothing to see yet."""
    views = [] if live is None else [step["view"] for step in live.steps]
    if len(views) < 3:
        return {}
    noisy = views[-1]["threshold_nats"] is not None
    shown = views[-MOST_POINTS:]
    first = len(views) - len(shown)
    lines = {"evidence": "evidence_nats", "threshold": "threshold_nats"} if noisy else {"rivals left": "rivals"}
    marks = ("circle", "none")
    return {
        "animation": False,
        "legend": {"data": list(lines), "top": 0},
        "tooltip": {"trigger": "axis"},
        "xAxis": {
            "type": "category",
            "name": "actions",
            "nameLocation": "middle",
            "nameGap": 26,
            "data": [first + n for n in range(len(shown))],
        },
        "yAxis": {"type": "value", "name": "nats" if noisy else "rivals"},
        "series": [
            {"name": name, "type": "line", "step": "end", "symbol": mark, "data": [view[key] for view in shown]}
            for (name, key), mark in zip(lines.items(), marks, strict=False)
        ],
    }
