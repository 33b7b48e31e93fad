"""Tutorials: Python files in the percent format, which are notebooks, scripts and pages at once.

A line "# %% [markdown]" begins a cell of text, a line "# %%" one of code. Jupytext opens such a file as a notebook;
`python FILE` runs it; `render` runs it and gives its page, with what each cell prints below the cell.
"""

from __future__ import annotations

import ast
import io
import re
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

BEGIN = re.compile(r"^# %%(?P<markdown> \[markdown\])?$", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A piece of a tutorial."""

    is_text: bool
    source: str
    """Markdown, or code."""


def read_cells(text: str) -> list[Cell]:
    """The cells of a file in the percent format; what stands before the first is not part of the tutorial."""
    marks = list(BEGIN.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    bodies = [text[mark.end() : end].strip("\n") for mark, end in zip(marks, ends, strict=True)]
    return [
        Cell(True, re.sub(r"^# ?", "", body, flags=re.MULTILINE)) if mark["markdown"] else Cell(False, body)
        for mark, body in zip(marks, bodies, strict=True)
    ]


def run_code(source: str, name: str, scope: dict[str, object]) -> tuple[str, object]:
    """Run a cell; what it printed, and the value of its last line if that is an expression, as a notebook shows it."""
    body = ast.parse(source, name).body
    last = body[-1] if body else None
    shown = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(ast.Module(body if shown is None else body[:-1], []), name, "exec"), scope)  # noqa: S102  # our own tutorials
        value = None if shown is None else eval(compile(shown, name, "eval"), scope)  # noqa: S307
    return printed.getvalue(), value


def render(path: Path, folder: Path) -> str:
    """The page of a tutorial as Markdown, run in a folder that holds `examples/`; raises what the tutorial raises."""
    scope: dict[str, object] = {"__name__": "__main__"}
    parts: list[str] = []
    with chdir(folder):
        for cell in read_cells(path.read_text(encoding="utf-8")):
            if cell.is_text:
                parts.append(cell.source)
                continue
            printed, value = run_code(cell.source, path.name, scope)
            parts.append(f"```python\n{cell.source}\n```")
            html = getattr(value, "_repr_html_", None)
            if value is not None and html is None:
                printed += f"{value!r}\n"
            if printed:
                parts.append(f"``` {{ .text .output }}\n{printed}```")
            if html is not None:
                parts.append(f'<div class="shown">\n{html()}\n</div>')
    return "\n\n".join(parts) + "\n"
