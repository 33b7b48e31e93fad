"""The program `ascertain`: its verbs, and what becomes of everything that can go wrong.

Exit codes: 0 done or certified, 1 refuted, unsolvable, obstructed or none of these, 2 bad input, 3 abstained or
undecided within the limit, 4 plant fault, 5 internal error, 130 interrupted.
"""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, final

import typer
from typer.exceptions import TyperException

from ascertain.cli.starting import look_for_cycles_rarely, use_one_thread
from ascertain.cli.verbs import (
    bank,
    bounds,
    calibrate,
    conform,
    fingerprint,
    initialise,
    inspect,
    journal,
    learn,
    observe,
    quotient,
    sequence,
    simulate,
    solve,
    studio,
    task,
    verify,
    wire,
)
from ascertain.drawing.printable import printable
from ascertain.errors import AscertainError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

VERBS: dict[str, Callable[..., None]] = {
    "init": initialise.command,
    "inspect": inspect.command,
    "quotient": quotient.command,
    "solve": solve.command,
    "bounds": bounds.command,
    "fingerprint": fingerprint.command,
    "sequence": sequence.command,
    "simulate": simulate.command,
    "bank": bank.command,
    "calibrate": calibrate.command,
    "wire": wire.command,
    "observe": observe.command,
    "conform": conform.command,
    "learn": learn.command,
    "journal": journal.command,
    "verify": verify.command,
    "task": task.command,
    "studio": studio.command,
}
"""Ours, in the order of the help; other packages add theirs by entry point."""

EPILOG = "What is guaranteed, and what is assumed: docs/guarantees.md"
"""Stands below the help of every verb."""


def guarded(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with every way it can end turned into one sentence on standard error and an exit code."""

    @functools.wraps(verb)
    def run(*args: Any, **options: Any) -> None:
        try:
            use_one_thread()
            verb(*args, **options)
            if sys.stdout:  # None where standard output was closed before we began
                sys.stdout.flush()
        except AscertainError as reason:
            raise _end(str(reason), reason.exit_code) from None
        except KeyboardInterrupt:
            raise _end("interrupted", 130) from None
        except OSError as reason:
            # Files are read and written with errors of their own: this is standard output, or a name that no file has.
            where = "the answer cannot be written" if reason.filename is None else str(reason.filename)
            raise _end(f"{where}: {reason.strerror}", 2) from None
        except typer.Exit:
            raise
        except Exception as fault:
            if os.environ.get("ASCERTAIN_DEBUG"):
                raise
            where = f"internal error: {type(fault).__name__}: {fault}; set ASCERTAIN_DEBUG=1 to see where"
            raise _end(where, 5) from None

    return run


@final
class _Output(io.FileIO):
    """Standard output whose reader may go (`| head`): what is then written is lost, and the verb ends as it would.

    Any other failure is an error once; what is left in buffers is lost, so that Python does not complain again at exit.
    """

    failed = False

    def write(self, data: Any, /) -> int:
        try:
            return len(data) if self.failed else super().write(data)
        except BrokenPipeError:
            return len(data)
        except OSError:
            self.failed = True
            raise


def _outlive_reader() -> None:
    """Let standard output be read by whoever likes for as long as they like."""
    if sys.stdout:  # None where it was closed before we began
        raw = io.BufferedWriter(_Output(sys.stdout.fileno(), "w", closefd=False))
        encoding, errors, lines = sys.stdout.encoding, sys.stdout.errors, sys.stdout.isatty()
        sys.stdout = io.TextIOWrapper(raw, encoding=encoding, errors=errors, line_buffering=lines)


def _end(sentence: str, code: int) -> typer.Exit:
    _say(sentence)
    return typer.Exit(code)


def _say(sentence: str) -> None:
    """One line on standard error; what files and their names bring along is escaped."""
    typer.echo(f"ascertain: {printable(' '.join(sentence.split()))}", err=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        from ascertain.version import __version__

        typer.echo(f"ascertain {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    pass


def _add_verb(app: typer.Typer, found: EntryPoint) -> None:
    """A verb of another package; where that cannot be imported, one that says so, so that all others still work."""
    try:
        app.command(found.name, epilog=EPILOG)(guarded(found.load()))
    except Exception as reason:
        sentence = f"the verb {found.name!r} cannot be loaded ({type(reason).__name__}: {reason})"

        def refuse(_: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
            raise AscertainError(sentence)

        app.command(found.name, help="Not installed.", context_settings={"ignore_unknown_options": True})(
            guarded(refuse)
        )


def build(verb: str = "") -> typer.Typer:
    """The command line with all its verbs; with this one alone if it is ours, so that nobody waits for the others."""
    app = typer.Typer(
        name="ascertain",
        help="Find the cheapest experiment that settles a question about a plant, and prove it.",
        epilog="Start with `ascertain init problem.toml`, then `ascertain inspect problem.toml`.",
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_options)
    if verb in VERBS:
        app.command(verb, epilog=EPILOG)(guarded(VERBS[verb]))
        return app
    from importlib.metadata import entry_points

    for name, command in VERBS.items():
        app.command(name, epilog=EPILOG)(guarded(command))
    for found in sorted(entry_points(group="ascertain.verbs"), key=lambda found: found.name):
        if found.name not in VERBS:
            _add_verb(app, found)
    return app


def _explain(usage: TyperException) -> str:
    """What was typed wrongly, in our words: those of the validator name neither the value nor what it should be."""
    message = usage.format_message().strip().rstrip(".").replace("Value error, ", "").partition(", unable to parse")[0]
    errors: Any = getattr(usage.__cause__, "errors", None)
    given = "this" if errors is None else repr(errors(include_url=False)[0]["input"])
    return message.replace("Input should be", f"{given} was given; it must be")


def main() -> NoReturn:
    """Run the command line; what was typed wrongly gets one sentence too."""
    try:
        _outlive_reader()
        look_for_cycles_rarely()
        words = sys.argv[1:] or ["--help"]
        code = build(words[0])(words, prog_name="ascertain", standalone_mode=False)
    except TyperException as usage:
        code, context = usage.exit_code, getattr(usage, "ctx", None)
        verb = "ascertain" if context is None else context.command_path
        _say(f"{_explain(usage)}; see `{verb} --help`")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
        _say("interrupted")
    sys.exit(code)
