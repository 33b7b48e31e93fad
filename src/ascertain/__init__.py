"""Certified active observability: the cheapest experiment that settles a question about a plant, with proof.

The vocabulary, in reading order. Names are resolved when they are first used, so that importing `ascertain` is quick.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

__version__ = version("ascertain")

_HOME = {
    # what the plant is
    "Machine": "model.machine",
    "NoisyMachine": "model.noisy",
    "machine_from_transitions": "model.build",
    "with_reset": "model.build",
    "restrict": "model.build",
    "forbid_entering": "model.build",
    "complete": "model.build",
    "union": "model.union",
    "product": "model.product",
    "with_flip": "model.noisy",
    "BooleanPlant": "model.boolean",
    "HiddenModel": "model.hidden",
    "as_hidden": "model.hidden",
    "BooleanNetwork": "model.network",
    "read_model": "model.files",
    "write_model": "model.files",
    "count_missing": "model.checks",
    "unsound_laws": "model.checks",
    "useless_actions": "model.checks",
    "stuck_states": "model.checks",
    "unreachable_states": "model.checks",
    "is_strongly_connected": "model.checks",
    # what is to be ascertained
    "Task": "task.task",
    "pose": "task.pose",
    "Reset": "task.pose",
    "Pattern": "task.pose",
    "Log": "task.pose",
    "read_problem": "problem.problem",
    "read_any_problem": "problem.problem",
    "HiddenTask": "task.hidden_task",
    "pose_hidden": "task.hidden_task",
    "PlantTask": "task.plant_task",
    "pose_plant": "task.plant_task",
    # what cannot matter
    "take_quotient": "quotients.quotient",
    "separating_word": "quotients.separation",
    "find_obstruction": "quotients.obstruction",
    "take_hidden_quotient": "quotients.hidden",
    "find_hidden_obstruction": "quotients.hidden",
    # how well it can be done
    "solve": "search.exact",
    "Solved": "search.solution",
    "Unsolvable": "search.solution",
    "Bounded": "search.solution",
    "pose_fingerprint": "quotients.fingerprint",
    # how long to keep looking
    "Bank": "task.bank",
    "nominal_bank": "task.bank",
    "weighted_bank": "task.bank",
    "ListWorld": "evidence.worlds",
    "MachineWorld": "evidence.worlds",
    "BooleanWorld": "evidence.boolean_world",
    "HiddenWorld": "evidence.hidden_world",
    "Trigger": "evidence.trigger",
    "FixedSchedule": "evidence.probing",
    "round_robin": "evidence.probing",
    "Separating": "evidence.probing",
    "SeparatingBeliefs": "evidence.belief_probing",
    "audit": "evidence.audit",
    # what may have happened
    "Operation": "bank.operation",
    "compile_bank": "bank.compile",
    "bank_shells": "bank.shells",
    # the decision
    "ObserverSettings": "observer.settings",
    "pose_observer": "problem.observer",
    "start_observer": "observer.staged",
    "Act": "observer.staged",
    # what to do, and doing it
    "Automaton": "policy.automaton",
    "Certified": "policy.verdict",
    "Abstained": "policy.verdict",
    "evaluate": "policy.evaluate",
    "Table": "policy.table",
    "Product": "policy.product",
    "evaluate_product": "policy.combination",
    "SimulatedPlant": "plant.simulated",
    "SimulatedHiddenPlant": "plant.simulated_hidden",
    "walk_policy": "live.walk",
    "run_session": "live.session",
    # what convinces a stranger
    "settle": "pipeline.settle",
    "write_certificate": "certificate",
    # what goes wrong
    "AscertainError": "errors",
}

__all__ = ["__version__", *_HOME]  # noqa: PLE0604  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ascertain' has no attribute {name!r}")
    return getattr(import_module(f"ascertain.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
