"""What `make demo` shows: a leak found for certain, servers told apart, and the studies of the paper.

On a machine where nothing was compiled before, a process beside the first steps compiles what the studies need: once,
so that their workers find it on the disk.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from ascertain.bank.compile import compile_bank, compiler_names
from ascertain.cli.show.output import print_line
from ascertain.kernels._jit import use_compiled_kernels
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.report.folder import prepare_folder, write_results
from ascertain_paper.report.tables import Table, show
from ascertain_paper.reproduce import run_study
from ascertain_paper.studies import study_names
from ascertain_paper.study import Study
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import load_testbed

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "out"
PREPARE = "--prepare"

STEPS = [
    (
        "The cheapest experiment that tells which valve of a gas train leaks, with its proof:",
        ["solve", "valve/leak.toml", "--certificate", OUT / "leak.json", "--draw", OUT / "leak.html"],
    ),
    ("A stranger checks the proof, with Python alone:", None),
    ("Was the train serviced? No experiment can tell:", ["inspect", "valve/serviced.toml"]),
    (
        "Which of five mail servers is it?",
        ["fingerprint", *sorted((HERE / "servers").glob("*.dot")), "--draw", OUT / "servers.html"],
    ),
]


def main() -> int:
    prepare_folder(OUT)
    with subprocess.Popen([sys.executable, __file__, PREPARE]) as preparing:
        for title, arguments in STEPS:
            code = show_step(title, arguments)
            if code not in {0, 1}:
                preparing.terminate()
                return code
        if preparing.wait():
            return 1
    headline("The paper's studies: the controllers in full, the others in their quick form")
    began = time.monotonic()
    studies = run_studies()
    write_results(OUT, studies)
    by_name = {study.name: study for study in studies}
    show_table(by_name["controller"].tables[0])
    for study in studies:
        print_line(f"{study.name}: {study.answer or study.findings[0]}")
    alarms = [f"ALARM: {study.name}: {alarm}" for study in studies for alarm in study.alarms]
    for alarm in alarms:
        print_line(alarm)
    print()
    print_line(f"{len(studies)} studies in {time.monotonic() - began:.0f} s, {len(alarms)} alarms. Look at")
    for name, what in (
        ("report.html", "every table and figure, and one operation told as a story"),
        ("leak.html", "the experiment that finds the leak"),
        ("servers.html", "the experiment that tells the servers apart"),
    ):
        print_line(f"  {OUT / name}   {what}")
    print_line("To look at questions, experiments and runs on a page: cd examples/valve, ascertain studio leak.toml,")
    print_line("with the program in .venv/bin. It prints the address to open; docs/studio.md shows it.")
    print_line("And go on with docs/quickstart.md, or docs/reproduce.md for the studies in full.")
    return 1 if alarms else 0


def prepare() -> int:
    """Compile the kernels of the studies, by doing a little of what they do."""
    use_compiled_kernels()
    testbed = load_testbed("small")
    operation = testbed.logged(testbed.draw(next(iter(testbed.slots()))))
    for compiler in compiler_names():
        compile_bank(operation, compiler)
    run_study("story", Conditions(settings=load_settings("small"), engine=start_engine(workers=1)))
    return 0


def headline(title: str) -> None:
    print(f"\n{'─' * 80}\n{title}\n", flush=True)


def show_step(title: str, arguments: list[object] | None) -> int:
    """One verb of the command line, as a person would type it; None is the checker."""
    headline(title)
    command = (
        [sys.executable, "-m", "ascertain", *map(str, arguments)]
        if arguments is not None
        else [sys.executable, "-P", "-m", "ascertain_check", "-v", str(OUT / "leak.task.json"), str(OUT / "leak.json")]
    )
    return subprocess.run(command, cwd=HERE, check=False).returncode


def run_studies() -> list[Study]:
    """All studies, one after the other, on all cores; nothing is stored but the results."""
    use_compiled_kernels()  # the workers find everything on the disk
    conditions = Conditions(settings=load_settings("testbed"), engine=start_engine())
    studies: list[Study] = []
    for name in study_names():
        print(f"  {name:<14} ", end="", flush=True)  # said before it is done: some take a minute
        studies.append(run_study(name, conditions))
        print(f"{studies[-1].seconds:6.1f} s", flush=True)
    return studies


def show_table(table: Table) -> None:
    """The table as aligned text: names at the left, numbers at the right, reasons left to the report."""
    print(table.title)
    rows = [table.columns, *([show(cell).partition(":")[0] for cell in row] for row in table.rows)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.columns))]
    for row in rows:
        first, *rest = (
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join((first, *rest)))
    print()


if __name__ == "__main__":
    try:
        sys.exit(prepare() if PREPARE in sys.argv else main())
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        sys.exit(130)
