"""What every listed model has: states, actions and readings by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ascertain.errors import ModelError, did_you_mean
from ascertain.types import Action, State


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractNamed:
    """Names of states, actions and readings; each is found by its name."""

    states: tuple[str, ...]
    actions: tuple[str, ...]
    readings: tuple[str, ...]
    index: Mapping[str, State] = field(init=False, repr=False, compare=False)
    """`index[name]` is the state of that name."""

    def __post_init__(self) -> None:
        for what, names in (("state", self.states), ("action", self.actions), ("reading", self.readings)):
            check_names(what, names)
        object.__setattr__(self, "index", {name: s for s, name in enumerate(self.states)})

    @property
    def num_states(self) -> int:
        return len(self.states)

    @property
    def num_actions(self) -> int:
        return len(self.actions)

    def state_named(self, name: str, where: str = "state") -> State:
        """The state of that name; `where` begins the message when there is none."""
        if name not in self.index:
            raise ModelError(f"{where}: {name!r} is not a state of the model{did_you_mean(name, self.index)}")
        return self.index[name]

    def action_named(self, name: str, where: str = "action") -> Action:
        """The action of that name; `where` begins the message when there is none."""
        if name not in self.actions:
            raise ModelError(f"{where}: {name!r} is not an action of the model{did_you_mean(name, self.actions)}")
        return self.actions.index(name)


def check_names(what: str, names: tuple[str, ...]) -> None:
    """Refuse no names at all and a name that is listed twice."""
    if not names:
        raise ModelError(f"a model needs at least one {what}; it has none")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f"the {what} {name!r} is listed twice; names must differ")
        seen.add(name)
