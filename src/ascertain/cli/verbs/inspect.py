"""`ascertain inspect`: what a model or a problem is, before anything is spent on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson

if TYPE_CHECKING:
    from ascertain.model import BooleanPlant, Model
    from ascertain.model.files import Read
    from ascertain.problem.problem import HiddenProblem
    from ascertain.quotients.obstruction import Obstruction
    from ascertain.quotients.quotient import Quotient


def command(
    file: Annotated[
        Path,
        typer.Argument(help="A model (.dot, .json, .pomdp and others, see docs/formats.md) or a problem (.toml)."),
    ],
    as_json: AsJson = False,
) -> None:
    """Say what a model or a problem is: its size, its classes, and whether something rules every experiment out.

    Exit code 1 when two hypotheses with different labels can never be told apart.

    Example:  ascertain inspect problem.toml
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_any_problem
    from ascertain.model.files import NotAModel, read_with_notes
    from ascertain.problem.problem import HiddenProblem
    from ascertain.quotients.obstruction import find_obstruction
    from ascertain.quotients.quotient import take_quotient

    try:
        read = read_with_notes(file)
    except NotAModel:
        problem = load_any_problem(file)
    else:
        _inspect_model(file, read, as_json)
        return
    if isinstance(problem, HiddenProblem):
        _inspect_hidden_problem(file, problem, as_json)
        return
    task = problem.task
    quotient = take_quotient(task)
    obstruction = find_obstruction(task, quotient=quotient)
    facts = {**_task_facts(quotient, obstruction), "notes": list(problem.notes)}
    print_json("inspect", facts) if as_json else _print_task(file, facts)
    if obstruction is not None:
        raise typer.Exit(1)


def _inspect_model(file: Path, read: Read, as_json: bool) -> None:
    from ascertain.cli.show.hidden import class_facts, hidden_facts
    from ascertain.cli.show.output import print_json, print_line, print_table
    from ascertain.model import BooleanPlant
    from ascertain.model.files import settle_model
    from ascertain.model.hidden import HiddenModel

    model = settle_model(read.model)
    if isinstance(model, HiddenModel):
        facts = {**hidden_facts(model), **class_facts(model)}
    else:
        facts = _plant_facts(model) if isinstance(model, BooleanPlant) else _machine_facts(model)
    facts |= {**read.facts, "notes": [*read.notes, *facts.get("notes", ())]}
    if as_json:
        print_json("inspect", facts)
        return
    notes = facts.pop("notes")
    print_table(str(file), _rows(facts))
    for remark in notes:
        print_line(f"Note: {remark}.")


def _inspect_hidden_problem(file: Path, problem: HiddenProblem, as_json: bool) -> None:
    from ascertain.cli.show.hidden import task_facts
    from ascertain.cli.show.output import print_json
    from ascertain.quotients.obstruction import find_obstruction
    from ascertain.quotients.quotient import take_quotient

    quotient = take_quotient(problem.task)
    obstruction = find_obstruction(problem.task, quotient=quotient)
    facts = {**task_facts(quotient, obstruction), "notes": list(problem.notes)}
    print_json("inspect", facts) if as_json else _print_task(file, facts)
    if obstruction is not None:
        raise typer.Exit(1)


def _plant_facts(plant: BooleanPlant) -> dict[str, Any]:
    return {
        "kind": plant.kind,
        "bits": plant.num_bits,
        "states": 2**plant.num_bits,
        "actions": plant.num_actions,
        "readings": len(plant.readings),
        "flip": str(plant.flip),
        "reversible_commands": sum(command.is_reversible for command in plant.commands),
        "tapped_bits": len({command.tap for command in plant.commands}),
    }


def _machine_facts(model: Model) -> dict[str, Any]:
    from ascertain.cli.show.model_facts import model_facts
    from ascertain.quotients.refinement import refine

    return {**model_facts(model, [model.states[s] for s in model.initial]), "classes": refine(model).num_classes}


def _task_facts(quotient: Quotient, obstruction: Obstruction | None) -> dict[str, Any]:
    from ascertain.cli.show.hidden import obstruction_facts

    task = quotient.task
    return {
        **_machine_facts(task.model),
        "hypotheses": task.num_hypotheses,
        "labels": len(task.labels),
        "about": task.about,
        "alpha": str(task.alpha),
        "beta": str(task.beta),
        "state_classes": quotient.num_classes,
        "classes": quotient.reduced.num_hypotheses,
        "obstructed": obstruction is not None,
        "obstruction": None if obstruction is None else obstruction_facts(obstruction),
    }


def _print_task(file: Path, facts: dict[str, Any]) -> None:
    from ascertain.cli.show.output import print_line, print_table, shorten

    obstruction = facts.pop("obstruction")
    del facts["notes"]  # told when the problem was read
    print_table(str(file), _rows(facts))
    if obstruction is None:
        rest = (
            "whether its readings suffice for the stated risk, only a run can say (observe)"
            if facts["kind"] == "hidden"
            else "whether an experiment settles them all is for the solver to say"
        )
        print_line(f"No two hypotheses with different labels are obstructed; {rest}.")
        return
    print_line(f"Obstructed: {obstruction['sentence']}.")
    groups = ["{" + ", ".join(group) + "}" if len(group) > 1 else group[0] for group in obstruction["coarsening"]]
    finest = "The finest question" if facts["about"] == "start" else "A question"
    print_line(f"{finest} that is not obstructed has the labels: {shorten(groups)}.")


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    from ascertain.cli.show.output import shorten

    def show(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return shorten(value) or "none" if isinstance(value, list) else str(value)  # pyright: ignore

    return [(name.replace("_", " "), show(value)) for name, value in facts.items()]
