"""Small parts of the page: tables, notices, headings; whatever is put into them is text and never markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from html import escape
from pathlib import Path
from typing import ParamSpec

from nicegui import ui

from ascertain.drawing.printable import printable
from ascertain.errors import AscertainError

P = ParamSpec("P")

MARKS = {"good": "✔", "bad": "✘", "warn": "⚠", "info": "ℹ"}  # noqa: RUF001  the sign that stands for information
"""What says in a sign, beside the colour, what a notice is."""


def heading(text: str, level: int = 2) -> None:
    """A heading that screen readers find."""
    ui.html(escape(printable(text)), sanitize=False, tag=f"h{level}").classes("studio-heading")


def paragraph(text: str) -> None:
    """A paragraph of plain text."""
    ui.label(printable(text)).classes("studio-text")


def notice(kind: str, text: str) -> ui.element:
    """A sentence in a box; its sign says what it is, and screen readers are told at once."""
    box = ui.element("div").classes(f"studio-notice studio-{kind}").props("role=status")
    with box:
        ui.label(MARKS[kind]).props("aria-hidden=true").classes("studio-mark")
        ui.label(printable(text)).classes("studio-text")
    return box


def table(rows: Iterable[Sequence[object]], header: Sequence[str] = (), caption: str = "") -> ui.html:
    """A table; without a header the first cell of each row is one."""
    head = "".join(f'<th scope="col">{_cell(name)}</th>' for name in header)
    first = "td" if header else 'th scope="row"'
    last = "td" if header else "th"
    body = "".join(
        f"<tr><{first}>{_cell(row[0])}</{last}>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in rows
    )
    said = f"<caption>{_cell(caption)}</caption>" if caption else ""
    whole = f"<table>{said}{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    return ui.html(whole, sanitize=False).classes("studio-table")


def _cell(value: object) -> str:
    return escape(printable("" if value is None else str(value)))


def scrolled(name: str) -> ui.element:
    """A region of its own that is scrolled, also by the keyboard."""
    return ui.element("div").classes("studio-scroll").props(f"tabindex=0 role=region aria-label={quoted(name)}")


def downloads(folder: Path, files: Iterable[str]) -> None:
    """A button for each file."""
    with ui.row().classes("gap-2").props('role=group aria-label="Downloads"'):
        for name in files:
            button = ui.button(name, icon="download", on_click=partial(ui.download.file, folder / name))
            button.props(f"outline no-caps dense aria-label={quoted(f'Download {name}')}")


def quoted(text: str) -> str:
    """The text as a property of an element takes it, without whatever would end it."""
    return '"' + "".join(c for c in text if c.isalnum() or c in " ._-") + '"'


def tried(action: Callable[P, None]) -> Callable[P, None]:
    """An action whose refusal is shown as a sentence."""

    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            action(*args, **kwargs)
        except AscertainError as reason:
            ui.notify(printable(str(reason)), type="negative", multi_line=True, close_button="Close", timeout=10_000)

    return run
