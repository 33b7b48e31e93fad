"""The tab *Question*: the problem as text and as a form, its model, and whether it can be answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import events, ui

from ascertain.problem.edit import set_key
from ascertain.studio.parts import heading, notice, paragraph, quoted, scrolled, table, tried
from ascertain.studio.state import Studio

FACTS = ("kind", "states", "actions", "readings", "initial", "missing_transitions", "stuck_states", "state_classes")
"""What is told of a model."""
MOST_ACTIONS = 40
"""Actions that have a field each: the prices of more are better written in the text."""
ALLOW = "allow "
"""Before the name of an action: its field that says whether it may be taken."""
WAIT = 0.7
"""Seconds without typing after which the text is read."""


def show_question(studio: Studio) -> dict[str, Any]:
    """The tab; what it returns is drawn anew when the question has changed."""

    def put_text() -> None:  # also right after a change in the form, lest somebody types on in the text before it
        if editor.value != studio.text:
            editor.value = studio.text

    with ui.element("div").classes("studio-columns"):
        with ui.column().classes("w-full"):
            heading("The problem")
            editor = _show_editor(studio)
        with ui.column().classes("w-full"):
            heading("Can it be answered?")
            answer = ui.refreshable(_show_answer)
            answer(studio)
            with ui.expansion("Form: prices, risks, actions", icon="tune").classes("w-full studio-expansion"):
                update_form = show_controls(studio, put_text)
    heading("The model")
    model = ui.refreshable(_show_model)
    model(studio)

    def draw() -> None:
        mark_line(editor, studio.look.line)
        put_text()
        update_form()
        for part in (answer, model):
            part.refresh()

    return {"question": draw}


def _show_editor(studio: Studio) -> ui.codemirror:
    timer: list[ui.timer] = []

    def changed(event: events.ValueChangeEventArguments[str]) -> None:
        for old in timer:
            old.cancel()
        timer.clear()
        if event.value != studio.text:  # and not put there because the text was changed elsewhere
            studio.note_typed(event.value)  # at once, so that a change made in the form now is made in this text
            timer.append(ui.timer(WAIT, studio.look_again, once=True))

    editor = ui.codemirror(studio.text, language="TOML", line_wrapping=True, on_change=changed)
    editor.classes("studio-editor").props('aria-label="Text of the problem"')
    with ui.row().classes("gap-2 items-center"):
        ui.button("Save", icon="save", on_click=lambda: _save(studio)).props("no-caps").mark("save")
        ui.button("Drop changes", on_click=studio.drop).props("no-caps outline")
    return editor


async def _save(studio: Studio) -> None:
    refused = await studio.save()
    ui.notify(refused or f"{studio.problem} is saved", type="negative" if refused else "positive", multi_line=True)


def mark_line(editor: ui.codemirror, line: int | None) -> None:
    """Mark the line that an error is about."""
    editor.decorations = [] if line is None else [{"kind": "line", "line": line, "class": "studio-error-line"}]


def _show_answer(studio: Studio) -> None:
    look = studio.look
    if studio.problem is None:
        notice("info", "There is no problem file (.toml) in this folder; `ascertain init problem.toml` writes one.")
        return
    if studio.is_edited:
        notice("warn", "The text has changes that are not saved.")
    if look.sentence:
        where = "" if look.line is None else f"Line {look.line}: "
        notice("bad", where + look.sentence)
        return
    if look.busy:
        notice("info", "Reading …")
    if look.found is None:
        return
    found, facts = look.found, look.found["facts"]
    about = "the state at the start" if found["about"] == "start" else "the state when the experiment ends"
    if "large" in found:
        notice("info", f"The states are too many to list. {found['large']}")
    elif facts["obstructed"]:
        obstruction = facts["obstruction"]
        notice("bad", f"No experiment can answer it: {obstruction['sentence']}.")
        groups = [" or ".join(group) for group in obstruction["coarsening"]]
        finest = "The finest question" if found["about"] == "start" else "A question"
        paragraph(f"{finest} that nothing rules out has these answers:")
        table([(group,) for group in groups[:50]], ("answer",))
    else:
        rest = "whether one experiment settles them all, the next tab says."
        if facts["kind"] == "hidden":
            rest = "whether its readings suffice at this risk, only a run can say."
        notice("good", f"Any two hypotheses with different answers can be told apart; {rest}")
    rows: list[tuple[object, ...]] = [("asked about", about), ("hypotheses", f"{found['num_hypotheses']:,}")]
    rows += [("answers", facts["labels"])] if "labels" in facts else []
    rows += [("risk of a wrong answer, alpha", found["alpha"]), ("risk of no answer, beta", found["beta"])]
    table(rows)


def show_controls(studio: Studio, changed: Callable[[], None] = lambda: None) -> Callable[[], None]:
    """Prices, risks and forbidden actions; what is changed is changed in the text, and `changed` is called then.

    What is returned brings them up to date. Fields whose value was changed elsewhere are set; all others are left as
    they are, for somebody may be typing there.
    """
    shown: dict[str, Any] = {}
    fields: dict[str, ui.input | ui.checkbox] = {}

    @tried
    def write(section: str, key: str, value: int | str | list[str] | None) -> None:
        before = studio.text
        studio.edit(set_key(before, section, key, value))
        if studio.text != before:
            changed()

    def write_field(field: str, section: str, key: str) -> None:
        shown[field] = typed = str(fields[field].value or "").strip()
        write(section, key, int(typed) if typed.isdigit() and section == "cost" else typed or None)

    def allow(key: str, allowed: bool) -> None:
        if shown[key] != allowed:  # and it is not set because the text has changed
            shown[key] = allowed
            kept = [name.removeprefix(ALLOW) for name in fields if name.startswith(ALLOW) and fields[name].value]
            known = studio.look.found["prices"] if studio.look.found else ()
            beyond = [name for name, _ in known if f"{ALLOW}{name}" not in fields]  # for which there is no field
            all_are = len(kept) + len(beyond) == len(studio.look.found["actions"] if studio.look.found else ())
            write("task", "actions", None if all_are else [*kept, *beyond])

    @ui.refreshable
    def build() -> None:
        shown.clear()
        fields.clear()
        if studio.look.found is None:
            return
        shown.update(_values(studio.look.found))
        with ui.element("div").classes("studio-form"):
            for risk, said in (("alpha", "Risk of a wrong answer, alpha"), ("beta", "Risk of no answer, beta")):
                box = fields[risk] = ui.input(said, value=shown[risk]).props("outlined dense").mark(f"risk-{risk}")
                box.on("change", lambda _, key=risk: write_field(key, "risk", key))
            for action in studio.look.found["actions"][:MOST_ACTIONS]:
                _show_action(action)
        paragraph("What is changed here is changed in the text; saving writes it to the file.")

    def _show_action(action: str) -> None:
        allowed, price = f"{ALLOW}{action}", f"price {action}"
        with ui.row().classes("items-center gap-2 no-wrap"):
            kept = fields[allowed] = ui.checkbox(value=shown[allowed]).mark(f"allow-{action}")
            kept.props(f"aria-label={quoted(f'Allow {action}')}")
            kept.on_value_change(lambda event: allow(allowed, bool(event.value)))
            box = fields[price] = ui.input(f"{action}: price", value=shown[price]).mark(f"price-{action}")
            box.props("outlined dense").bind_enabled_from(kept, "value")
            forbidden = ui.label("forbidden").classes("studio-text")
            forbidden.bind_visibility_from(kept, "value", backward=lambda value: not value)
            box.on("change", lambda: write_field(price, "cost", action))

    def update() -> None:
        if studio.look.found is None or (studio.look.busy and shown):  # what is known is of an earlier text
            return
        values = _values(studio.look.found)
        if values.keys() != shown.keys():
            build.refresh()
            return
        for key, value in values.items():
            if shown[key] != value:
                shown[key] = value
                fields[key].set_value(value)

    build()
    return update


def _values(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields show, by name."""
    prices = dict(found["prices"])
    values: dict[str, Any] = {"alpha": found["alpha"], "beta": found["beta"]}
    for action in found["actions"][:MOST_ACTIONS]:
        values |= {f"{ALLOW}{action}": action in prices, f"price {action}": prices.get(action)}
    return values


def _show_model(studio: Studio) -> None:
    found = studio.look.found
    if found is None:
        return
    facts = found["facts"]
    with ui.element("div").classes("studio-columns"):
        with ui.column().classes("w-full"):
            table([(name.replace("_", " "), _say(facts[name])) for name in FACTS if name in facts], caption="Model")
        with ui.column().classes("w-full"):
            if found["hypotheses"]:
                more = found["num_hypotheses"] - len(found["hypotheses"])
                rows = [(name, label, _alike(found["hypotheses"], name, c)) for name, label, c in found["hypotheses"]]
                caption = f"Hypotheses and answers{f'; {more:,} more are not listed' if more > 0 else ''}"
                with scrolled("Hypotheses"):
                    table(rows, ("hypothesis", "answer", "cannot be told from"), caption)
    if found["flowchart"] is not None:
        paragraph(
            "States that no experiment tells apart share a colour and a number behind their names. "
            "Actions that lead back to the same state are written inside of it."
        )
        with scrolled("State diagram").classes("studio-diagram"):
            ui.mermaid(found["flowchart"], config={"securityLevel": "strict", "theme": "neutral"})
    else:
        paragraph("The model is too large to be drawn; its sizes are above.")


def _alike(hypotheses: Sequence[tuple[str, str, int]], name: str, c: int) -> str:
    others = [other for other, _, d in hypotheses if d == c and other != name]
    return "" if not others else others[0] + (f" and {len(others) - 1} more" if len(others) > 1 else "")


def _say(value: object) -> str:
    if isinstance(value, list):
        names = [str(name) for name in value[:6]]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return ", ".join(names) + (f" and {len(value) - 6} more" if len(value) > 6 else "")  # pyright: ignore
    return f"{value:,}" if isinstance(value, int) else str(value)
