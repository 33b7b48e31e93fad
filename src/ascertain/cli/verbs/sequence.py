"""`ascertain sequence`: the classical words and trees of state identification, each by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson, CertificateFile, Costs, Drawing, TimeLimit, read_costs

if TYPE_CHECKING:
    from ascertain.pipeline.sequence import FoundSequence

KINDS = (
    "adaptive-distinguishing, preset-distinguishing, adaptive-homing, preset-homing, synchronizing, uio, "
    "characterising-set, identifiers, splitting-tree or incomplete"
)
"""For the help; the road knows them too, and refuses others."""
SHOWN = 40
"""Words in the table; --json has them all."""


def command(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What is sought: {KINDS}.")],
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A machine, or a problem whose hypotheses and costs count.")
    ],
    actions: Annotated[
        str | None, typer.Option("--actions", metavar="A,B,...", help="Use only these actions of the machine.")
    ] = None,
    cost: Costs = None,
    time: TimeLimit = None,
    nodes: Annotated[
        int | None,
        typer.Option("--nodes", min=1, metavar="N", help="Keep at most so many sets of states in a search for words."),
    ] = None,
    certificate: CertificateFile = None,
    draw: Drawing = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.json", help="Write the result here, a tree with all its nodes."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find a sequence of state identification: the cheapest that does it, or the proof that there is none.

    The state is unknown: any of the machine, or a hypothesis of the problem. Distinguishing tells the state before the
    sequence, homing the one after it; synchronizing leads to one state, whatever is read. Adaptive is a tree, preset
    one word. uio: for each state a word that no other answers alike. characterising-set (W): words that together tell
    every two states apart; identifiers: such words for each state. These two are small, with a lower bound.
    splitting-tree: a cheapest separating word for every two states. incomplete: the most that one experiment can tell.

    Definitions, literature and what each one costs to find: docs/sequences.md. Exit code 0 found, 1 there is none
    (proved), 3 when a limit was met before anything was found, 130 after Ctrl-C.

    Example:  ascertain sequence synchronizing dial.dot --cost turn=3
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import refuse_overwriting
    from ascertain.cli.show.progress import announce_compilation, bounds_closing_in
    from ascertain.cli.show.solutions import check_drawing, save_certificate, save_drawing
    from ascertain.errors import FileError
    from ascertain.pipeline.certify import certificate_files
    from ascertain.pipeline.found_sequence import DRAWN
    from ascertain.pipeline.sequence import find_sequence

    check_drawing(draw)
    check_drawing(out, (".json",), "the result")
    if draw is not None and kind not in DRAWN:
        raise FileError(f"{draw}: only {', '.join(DRAWN)} are drawn; write the words of others with --out FILE.json")
    refuse_overwriting([draw, out, *certificate_files(certificate)], [model])
    announce_compilation()
    with bounds_closing_in() as progress:
        found = find_sequence(
            kind,
            model,
            actions=None if actions is None else actions.split(","),
            cost=read_costs(cost or []),
            time_limit=time,
            max_nodes=nodes,
            progress=progress,
        )
    if found.settled is not None:
        save_drawing(draw, found.settled, f"{kind}: {model.stem}")
    elif draw is not None:
        found.draw(draw, f"{kind}: {model.stem}")
    save_certificate(certificate, found, "there is nothing here that the checker could replay in seconds")
    if out is not None:
        found.write(out)
    print_json("sequence", found.facts()) if as_json else _print(found, model)
    raise typer.Exit(found.exit_code)


def _print(found: FoundSequence, model: Path) -> None:
    from ascertain.cli.show.output import print_line, print_table, print_verdict, shorten
    from ascertain.cli.show.solutions import print_outline, print_policy

    facts = found.facts()
    head = {"found": _say_cost(found), "none": "there is none", "undecided": f"undecided; lower bound {facts['lower']}"}
    print_line(f"{model}: {found.kind}: {head[found.status]}")
    if found.incomplete is not None:
        told = f"{len(found.incomplete.labels)} labels can be told apart (at most {found.incomplete.most}): "
        print_line(told + shorten(facts["incomplete"]["labels"]))
    if found.of is not None:
        nothing = "none found" if found.stopped_by else "none"
        rows = [
            (state, ", ".join(_spell(found.words[k]) for k in places) or nothing) for state, places in found.of.items()
        ]
        print_table("words of each state", rows[:SHOWN], ("state", "words"))
    else:
        for word in found.words[:SHOWN]:
            print_line(f"  {_spell(word)}")
    if found.settled is not None and found.settled.policy is not None:
        print_policy(found.settled)
    if found.tree is not None:
        print_line(f"{found.tree.num_classes} classes of states, {len(found.tree.child)} nodes")
        if found.tree.num_classes <= SHOWN:
            print_outline(found.tree.outline())
    if found.reason is not None:
        print_line(f"{found.reason[0].upper()}{found.reason[1:]}.")
    if found.stopped_by is not None:
        print_line(f"Stopped by {found.stopped_by}.")
    if found.verdict is not None:
        print_verdict(found.verdict)


def _spell(word: tuple[str, ...]) -> str:
    return " ".join(word) or "(nothing)"


def _say_cost(found: FoundSequence) -> str:
    facts = found.facts()
    if found.tree is not None:
        return f"the dearest separating word costs {facts['upper']}"
    return f"cost {facts['upper']}" + (
        ", and none is cheaper" if found.is_optimal else f"; lower bound {facts['lower']}"
    )
