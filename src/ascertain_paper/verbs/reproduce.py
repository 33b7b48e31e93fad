"""`ascertain reproduce`: the studies of the paper, and the audits of its guarantee, on the testbed."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson
from ascertain.errors import FileError
from ascertain_paper.studies import choose_studies, study_names
from ascertain_paper.verbs import need_paper

if TYPE_CHECKING:
    from ascertain.types import Progress
    from ascertain_paper.study import Study


def command(
    study: Annotated[str, typer.Argument(metavar="STUDY", help=f"One of {', '.join(study_names())}, all.")],
    full: Annotated[
        bool, typer.Option("--full/--quick", metavar="", help="The paper's size, or a small form of it.")
    ] = False,
    exhaustive: Annotated[
        bool,
        typer.Option(
            "--exhaustive", metavar="", help="Compare our direct compiler on every operation too: twice the time."
        ),
    ] = False,
    settings: Annotated[
        str,
        typer.Option("--settings", metavar="SETTINGS", help='"testbed", "tuned", "small", or a settings file (TOML).'),
    ] = "testbed",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write report.html, tables (CSV, Markdown), figures (SVG) here."),
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", metavar="", help="With --out: tables in LaTeX too.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="With --out: go on where an earlier call stopped.")
    ] = False,
    label: Annotated[
        str, typer.Option("--study", metavar="NAME", help="With --out: a new study, in a folder NAME within that one.")
    ] = "",
    parquet: Annotated[
        bool, typer.Option("--parquet", metavar="", help="With --out: single results as Parquet too.")
    ] = False,
    models: Annotated[
        Path | None,
        typer.Option("--models", metavar="FOLDER", help="Machines (.dot) for openworld; else ours."),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="ENGINE", help='"local", "dask://HOST:PORT" or "ray://HOST:PORT".')
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, metavar="N", help="Processes; results are the same for any number."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a study of the paper on the testbed, its figures beside the paper's own.

    Exit code 1 when something was found that must not be: a wrong answer, two compilers that disagree, a violation.

    Example:  ascertain reproduce controller --out out
    """
    need_paper()
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.progress import announce_compilation, counting
    from ascertain.kernels._jit import use_compiled_kernels
    from ascertain_paper.campaign.conditions import Conditions
    from ascertain_paper.campaign.engines import start_engine
    from ascertain_paper.campaign.frozen import name_folder
    from ascertain_paper.campaign.parquet import import_parquet
    from ascertain_paper.report.folder import prepare_folder, write_results
    from ascertain_paper.reproduce import run_study
    from ascertain_paper.testbed.settings import find_settings

    chosen = choose_studies(study)
    if out is None and (latex or resume or label or parquet):
        raise FileError("--latex, --resume, --study and --parquet say what happens in a folder; give it with --out")
    if parquet:
        import_parquet()
    frozen = find_settings(settings)
    if out is not None:
        out = name_folder(out, label)
        prepare_folder(out)
    announce_compilation()
    use_compiled_kernels()  # studies are long, and some measure how long things take
    computing = start_engine(engine, workers)
    with ExitStack() as shown:
        shown.callback(computing.close)

        def progress(what: str) -> Progress:
            return shown.enter_context(counting(what))

        conditions = Conditions(
            settings=frozen,
            engine=computing,
            quick=not full,
            exhaustive=exhaustive,
            folder=out,
            resume=resume,
            parquet=parquet,
            models=models,
            progress=progress,
        )
        studies = [run_study(name, conditions) for name in chosen]
    if out is not None:
        write_results(out, studies, latex=latex)
    if as_json:
        from ascertain_paper.report.plain import study_data

        print_json("reproduce", study_data(studies[0]) if study != "all" else {"studies": [*map(study_data, studies)]})
    else:
        _print(studies, out)
    if any(found.alarms for found in studies):
        raise typer.Exit(1)


def _print(studies: list[Study], out: Path | None) -> None:
    from ascertain.cli.show.output import note, print_line, print_table
    from ascertain.report.tables import show

    for study in studies:
        for table in study.tables:
            print_table(table.title, [tuple(show(cell) for cell in row) for row in table.rows], table.columns)
        for sentence in study.findings:
            print_line(sentence)
        for alarm in study.alarms:
            note(f"ALARM: {study.name}: {alarm}")
    if out is not None:
        print_line(f"Look at {out / 'report.html'}.")
