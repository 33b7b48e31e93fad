"""Tables as text: Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io

from ascertain.report.tables import Table, is_text, show

_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
    }
)


def to_markdown(table: Table) -> str:
    """A Markdown table with its title and note."""
    rows = [list(table.columns), *([show(cell) for cell in row] for row in table.rows)]
    lines = [_bar(rows[0]), _bar(["---" if is_text(table, k) else "---:" for k in range(len(table.columns))])]
    lines += [_bar(row) for row in rows[1:]]
    note = f"\n{table.note}\n" if table.note else ""
    return f"### {table.title}\n\n" + "\n".join(lines) + f"\n{note}"


def to_csv(table: Table) -> str:
    """The cells as they are, for programs; a rational as "p/q". Columns of one name are told apart by what precedes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names: list[str] = []
    for name in table.columns:
        names.append(name if table.columns.count(name) == 1 or not names else f"{names[-1]} ({name})")
    writer.writerow(names)
    writer.writerows([["" if cell is None else cell for cell in row] for row in table.rows])
    return text.getvalue()


def to_latex(table: Table) -> str:
    """A `tabular` between booktabs rules, with its caption above and its note below."""
    columns = "".join("l" if is_text(table, k) else "r" for k in range(len(table.columns)))
    head = " & ".join(name.translate(_LATEX) for name in table.columns)
    body = "\n".join(" & ".join(show(cell).translate(_LATEX) for cell in row) + r" \\" for row in table.rows)
    note = f"\n\\par\\smallskip\\footnotesize {table.note.translate(_LATEX)}" if table.note else ""
    return (
        f"\\begin{{table}}\n\\caption{{{table.title.translate(_LATEX)}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        f"{head} \\\\\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}{note}\n\\end{{table}}\n"
    )


def _bar(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
