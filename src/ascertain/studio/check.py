"""The tab *Check*: a task and a certificate, dropped or chosen; the verdict, what is proved and what is assumed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from nicegui import events, ui

from ascertain.errors import AscertainError
from ascertain.studio.guard import MAX_BODY
from ascertain.studio.parts import heading, notice, paragraph, table
from ascertain.studio.state import Studio

KINDS = {"VERIFIED": "good", "REFUTED": "bad", "MALFORMED": "bad", "UNDECIDED": "warn"}
"""How a verdict is shown."""
ASSUMED = (
    "The task file describes the plant: the plant is one of its hypotheses, and moves and reads as the model says.",
    "Readings are wrong at most as often as declared, given the past.",
    "Readings that are lost are lost whatever they would have been.",
    "Of a run: what the journal holds was recorded as it happened, on the plant that is named there.",
    "One run is one spend of alpha: no other run of the question was made and thrown away.",
)
"""What no certificate can prove (docs/guarantees.md); without noise only the first matters."""


def show_check(studio: Studio) -> Callable[[], None]:
    """The tab; what it returns lists the files anew."""
    chosen: dict[str, Path | None] = {"task": None, "certificate": None}
    verdict: dict[str, Any] = {}
    room = Path(mkdtemp(prefix="ascertain-check-"))
    left: Callable[[], None] = partial(shutil.rmtree, room, True)
    ui.context.client.on_delete(left)  # pyright: ignore[reportUnknownMemberType]

    def pick(what: str, name: str | None) -> None:
        chosen[what] = None if name is None else studio.folder.find(name)

    async def take(what: str, event: events.UploadEventArguments) -> None:
        place = room / f"{what}.json"  # whatever it is called elsewhere
        await event.file.save(place)
        chosen[what] = place
        ui.notify(f"{what}: {event.file.name[:80]}", type="positive")

    boxes: dict[str, ui.select] = {}
    with ui.element("div").classes("studio-columns"):
        for what, said in (
            ("task", "The task: a problem (.toml) of this folder, or a canonical task (.task.json)"),
            ("certificate", "The certificate (.json)"),
        ):
            with ui.column().classes("w-full"):
                heading(what.capitalize())
                paragraph(said)
                names = list_files(studio)[what]
                box = boxes[what] = ui.select(names, label=f"Choose a {what}", clearable=True, with_input=True)
                box.props("outlined dense").classes("w-full").mark(f"choose-{what}")
                box.on_value_change(lambda event, what=what: pick(what, event.value))
                drop = ui.upload(
                    label=f"Or drop a {what} here (.json)",
                    auto_upload=True,
                    max_files=1,
                    max_file_size=MAX_BODY,
                    on_upload=lambda event, what=what: take(what, event),
                    on_rejected=lambda: ui.notify("One JSON file of at most 64 MB is taken", type="negative"),
                )
                drop.props("accept=.json flat bordered").classes("w-full").mark(f"drop-{what}")

    async def check() -> None:
        verdict.clear()
        if chosen["task"] is None or chosen["certificate"] is None:
            verdict.update(event="refused", sentence="A task and a certificate are needed.")
        else:
            verdict.update(event="busy")
            shown.refresh()
            try:
                if chosen["task"].suffix == ".toml":
                    studio.folder.check_problem(studio.folder.name(chosen["task"]))
                work = {"job": "check", "task": str(chosen["task"]), "certificate": str(chosen["certificate"])}
                verdict.update(await studio.workers.ask(work))
            except AscertainError as reason:
                verdict.update(event="refused", sentence=str(reason))
        shown.refresh()

    ui.button("Check", icon="verified", on_click=check).props("no-caps").mark("check")

    @ui.refreshable
    def shown() -> None:
        if verdict:
            _show_verdict(verdict)

    shown()

    def list_again() -> None:
        for what, names in list_files(studio).items():
            kept = boxes[what].value if boxes[what].value in names else None
            boxes[what].set_options(names, value=kept)  # pyright: ignore[reportUnknownMemberType]

    return list_again


def list_files(studio: Studio) -> dict[str, list[str]]:
    """The files of the folder that may be tasks and certificates."""
    files = studio.folder.list_json()
    tasks = [name for name in files if name.endswith(".task.json")]
    return {
        "task": [*studio.folder.list_problems(), *tasks],
        "certificate": [name for name in files if name not in tasks],
    }


def _show_verdict(verdict: dict[str, Any]) -> None:
    if verdict["event"] == "busy":
        notice("info", "Checking …")
        return
    if verdict["event"] != "done":
        notice("bad", str(verdict["sentence"]))
        return
    found = verdict["result"]
    heading("Verdict")
    notice(KINDS[found["word"]], f"{found['word']}{': ' if found['reason'] else ''}{found['reason']}")
    if found["proved"]:
        table([(sentence,) for sentence in found["proved"]], ("claims that are proved",))
    heading("What is assumed", 3)
    for sentence in ASSUMED:
        paragraph(f"• {sentence}")
