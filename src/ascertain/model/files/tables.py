"""How large a table a file may ask for: a few bytes of text can name many states and many actions."""

from __future__ import annotations

from ascertain.errors import FileError

MAX_CELLS = 2**25
"""States times actions; each table of a model then takes at most an eighth of a gibibyte."""


def check_size(where: str, num_states: int, num_actions: int) -> tuple[int, int]:
    """The shape of the tables, or an error when they would be too large."""
    if num_states * num_actions > MAX_CELLS:
        raise FileError(
            f"{where}: {num_states} states times {num_actions} actions are more than the {MAX_CELLS} table entries "
            f"that are read; use fewer of either"
        )
    return num_states, num_actions
