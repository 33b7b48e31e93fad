"""The tab *Question*: the problem as text and as a form, its model, and whether it can be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from nicegui import events, ui

from ascertain.problem.edit import set_key
from ascertain.studio.parts import heading, notice, paragraph, table, tried
from ascertain.studio.state import Studio

FACTS = ("kind", "states", "actions", "readings", "initial", "missing_transitions", "stuck_states", "state_classes")
"""What is told of a model."""
WAIT = 0.7
"""Seconds without typing after which the text is read."""


def show_question(studio: Studio) -> dict[str, Any]:
    """The tab; what it returns is drawn anew when the question has changed."""
    with ui.element("div").classes("studio-columns"):
        with ui.column().classes("w-full"):
            heading("The problem")
            editor = _show_editor(studio)
        with ui.column().classes("w-full"):
            heading("Can it be answered?")
            answer = ui.refreshable(_show_answer)
            answer(studio)
            form = ui.refreshable(_show_form)
            form(studio)
    heading("The model")
    model = ui.refreshable(_show_model)
    model(studio)

    def draw() -> None:
        mark_line(editor, studio.look.line)
        if editor.value != studio.text:
            editor.value = studio.text
        for part in (answer, form, model):
            part.refresh()

    return {"question": draw}


def _show_editor(studio: Studio) -> ui.codemirror:
    timer: list[ui.timer] = []

    def changed(event: events.ValueChangeEventArguments[str]) -> None:
        for old in timer:
            old.cancel()
        typed = event.value != studio.text  # and not put there because the text was changed elsewhere
        timer[:] = [ui.timer(WAIT, partial(studio.edit, event.value), once=True)] if typed else []

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


def _show_form(studio: Studio) -> None:
    if studio.look.found is None:
        return
    with ui.expansion("Form: prices, risks, actions", icon="tune").classes("w-full studio-expansion"):
        show_controls(studio)


def show_controls(studio: Studio) -> None:
    """Prices, risks and forbidden actions; what is changed is changed in the text."""
    found = studio.look.found
    if found is None:
        return
    prices: Mapping[str, str] = dict(found["prices"])

    @tried
    def write(section: str, key: str, value: int | str | list[str] | None) -> None:
        studio.edit(set_key(studio.text, section, key, value))

    with ui.element("div").classes("studio-form"):
        for risk, said in (("alpha", "Risk of a wrong answer, alpha"), ("beta", "Risk of no answer, beta")):
            box = ui.input(said, value=found[risk]).props("outlined dense").mark(f"risk-{risk}")
            box.on("change", lambda _, key=risk, box=box: write("risk", key, str(box.value or "").strip() or None))
        for action in found["actions"][:40]:
            allowed = action in prices
            with ui.row().classes("items-center gap-2 no-wrap"):
                kept = ui.checkbox(value=allowed).props(f'aria-label="Allow {_plain(action)}"').mark(f"allow-{action}")
                kept.on_value_change(
                    lambda event, name=action: write("task", "actions", _allowed(found, name, bool(event.value)))
                )
                price = ui.input(f"{action}: price" if allowed else f"{action}: forbidden", value=prices.get(action))
                price.props("outlined dense").set_enabled(allowed)
                price.mark(f"price-{action}")
                price.on("change", lambda _, name=action, box=price: write("cost", name, _number(str(box.value or ""))))
    paragraph("What is changed here is changed in the text; saving writes it to the file.")


def _allowed(found: Mapping[str, Any], name: str, allowed: bool) -> list[str] | None:
    """The actions that are left; None where all are."""
    kept = {action for action, _ in found["prices"]} - {name} | ({name} if allowed else set[str]())
    return None if len(kept) == len(found["actions"]) else [action for action in found["actions"] if action in kept]


def _number(text: str) -> int | str | None:
    return int(text) if text.strip().isdigit() else text.strip() or None


def _plain(name: str) -> str:
    return "".join(c for c in name if c.isalnum() or c in " ._-")


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
                with ui.element("div").classes("studio-scroll").props('tabindex=0 role=region aria-label="Hypotheses"'):
                    table(rows, ("hypothesis", "answer", "cannot be told from"), caption)
    if found["flowchart"] is not None:
        paragraph(
            "States that no experiment tells apart share a colour and a number behind their names. "
            "Actions that lead back to the same state are written inside of it."
        )
        with (
            ui.element("div")
            .classes("studio-scroll studio-diagram")
            .props('tabindex=0 role=region aria-label="State diagram"')
        ):
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
