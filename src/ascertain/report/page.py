"""Pages: self-contained, open offline, print, light and dark, wide and narrow. A template holds no computing.

Whatever names a file brings, they stay text: everything is escaped, and no page has a script or asks for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascertain.drawing.printable import printable
from ascertain.errors import FileError, import_extra
from ascertain.report.figures import NARROW, draw_figure
from ascertain.report.record import Figure, Page
from ascertain.report.tables import Table, is_text, show
from ascertain.version import __version__
from ascertain.writing import write_whole

if TYPE_CHECKING:
    from jinja2 import Environment

LONG = 18
"""Cells with more letters are broken into lines."""


def make_environment(*packages: str, verdicts: Mapping[str, str] | None = None) -> Environment:
    """What fills templates: those of these packages and the common ones.

    `verdicts` gives for words that begin a cell the class of their colour.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader

    loader = ChoiceLoader([PackageLoader(package) for package in (*packages, "ascertain.report")])
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True)
    filters: dict[str, Any] = {
        "show": show,
        "printable": printable,
        "lines": _lines,
        "verdict": partial(_cell_class, verdicts=verdicts or {}),
        "side": _side,
        "words": _is_wordy,
    }
    environment.filters.update(filters)
    return environment


def draw_twice(figure: Figure, scope: str, draw: Callable[..., str] = draw_figure) -> tuple[Figure, str, str]:
    """A figure with its drawings for wide and for narrow screens."""
    return figure, draw(figure, scope=scope), draw(figure, NARROW, scope=f"{scope}-narrow")


def draw_page(page: Page) -> str:
    """The page as HTML text."""
    sections = [
        (section, [draw_twice(figure, section.name) for figure in section.figures]) for section in page.sections
    ]
    return make_environment().get_template("page.html").render(page=page, sections=sections, version=__version__)


def check_page(path: str | Path) -> None:
    """Refuse, before any work is done for it, a page that could not be drawn or written."""
    import_extra("matplotlib", "plots")
    try:
        folder = Path(path).resolve().parent
    except (OSError, ValueError, RuntimeError) as reason:  # a null character, or links that go round in a circle
        raise FileError(f"{str(path)!r} cannot be the name of a page ({reason}); choose another one") from None
    if not folder.is_dir():
        raise FileError(f"{path}: there is no folder {folder}; make it, or choose another place for the page")
    if Path(path).is_dir():
        raise FileError(f"{path}: this is a folder; name the file that the page is to be written to")


def write_page(path: str | Path, page: Page) -> None:
    """Write the page, whole or not at all."""
    write_whole(path, draw_page(page).encode("utf-8", "replace"))


def _cell_class(cell: object, verdicts: Mapping[str, str]) -> str:
    """The class of a cell of words: that of its verdict, and "long" where its lines are to be broken."""
    if not isinstance(cell, str):
        return ""
    of = next((kind for word, kind in verdicts.items() if cell.startswith(word)), "")
    return f"{of} long".strip() if len(cell) > LONG else of


def _side(table: Table, column: int) -> str:
    """The class of a column, its head included: numbers are at the right."""
    return "" if is_text(table, column) else "number"


def _is_wordy(table: Table) -> bool:
    """Whether a table is one of sentences, which need the width of a narrow screen each."""
    return all(is_text(table, column) for column in range(1, len(table.columns)))


def _lines(text: str) -> str:
    """Text whose lines are kept and whose other characters are made printable."""
    return "\n".join(printable(line) for line in text.split("\n"))
