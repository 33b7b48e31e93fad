"""What `inspect` says of every model whose states are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascertain.model.abstract import AbstractListed


def model_facts(model: AbstractListed, initial: list[str]) -> dict[str, Any]:
    """Its size, what is missing in it and what in it can never happen; `initial` names where the plant may begin."""
    from ascertain.model import checks

    return {
        "kind": model.kind,
        "states": model.num_states,
        "actions": model.num_actions,
        "readings": len(model.readings),
        "initial": initial,
        "missing_transitions": checks.count_missing(model),
        "unreachable_states": len(checks.unreachable_states(model)),
        "useless_actions": [model.actions[a] for a in checks.useless_actions(model)],
        "stuck_states": len(checks.stuck_states(model)),
        "laws_sum_to_one": not checks.unsound_laws(model),
        "strongly_connected": checks.is_strongly_connected(model),
    }
