"""The results of studies in a folder: the page, a file for each table and figure, and the records as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ascertain.errors import FileError
from ascertain.writing import write_whole
from ascertain_paper.report.figures import draw_figure
from ascertain_paper.report.page import draw_page
from ascertain_paper.report.plain import study_data
from ascertain_paper.report.tables import to_csv, to_latex, to_markdown
from ascertain_paper.study import Study


def prepare_folder(folder: Path) -> None:
    """Make the folder, before any work is done for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise FileError(f"{folder}: the folder cannot be made ({reason.strerror})") from None


def write_results(folder: Path, studies: Sequence[Study], *, latex: bool = False) -> Path:
    """Write everything and return the page's path; each file appears whole or not at all."""
    for study in studies:
        write_whole(folder / f"{study.name}.json", json.dumps(study_data(study), indent=1, ensure_ascii=False).encode())
        for table in study.tables:
            name = table.name if table.name.startswith(study.name) else f"{study.name}-{table.name}"
            write_whole(folder / f"{name}.csv", to_csv(table).encode())
            write_whole(folder / f"{name}.md", to_markdown(table).encode())
            if latex:
                write_whole(folder / f"{name}.tex", to_latex(table).encode())
        for name, content in study.attachments.items():
            write_whole(folder / name, content)
        for figure in study.figures:
            name = figure.name if figure.name.startswith(study.name) else f"{study.name}-{figure.name}"
            write_whole(folder / f"{name}.svg", draw_figure(figure).encode())
    page = folder / "report.html"
    write_whole(page, draw_page(studies).encode())
    return page
