"""Systems that AALpy learns from, as plants, and our machines as systems that AALpy learns from.

AALpy calls what it learns from a SUL (system under learning): `pre` resets it, `step` sends it a letter, `post` ends a
query. AALpy is imported only when a SUL is made here; a SUL that is wrapped brings it along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

from ascertain.errors import ModelError, PlantFault, import_extra
from ascertain.plant.faults import Refused
from ascertain.plant.simulated import SimulatedPlant

if TYPE_CHECKING:
    from ascertain.model import Model


@final
class SulPlant:
    """An AALpy SUL behind `send`: actions and readings are the texts of its letters and outputs.

    `letters` maps action names to letters that are no text. The action named `reset`, if there is one, ends the query
    and begins another; its reading is `reset_reading`. The plant begins with a reset of its own and is closed by
    `close` or at the end of a `with` block.
    """

    def __init__(
        self,
        sul: Any,
        *,
        letters: Mapping[str, Any] | None = None,
        reset: str | None = None,
        reset_reading: str = "reset",
    ) -> None:
        if not all(callable(getattr(sul, word, None)) for word in ("pre", "step", "post")):
            raise ModelError(f"a system under learning has pre, step and post; this is a {type(sul).__name__}")
        self._sul, self._letters = sul, dict(letters or {})
        self._reset, self._reset_reading = reset, reset_reading
        self._call(sul.pre)

    def send(self, action: str) -> str:
        """Carry out the action and return what was read."""
        if action == self._reset:
            self.close()
            self._call(self._sul.pre)
            return self._reset_reading
        return str(self._call(self._sul.step, self._letters.get(action, action)))

    def close(self) -> None:
        """End the query that is under way."""
        self._call(self._sul.post)

    def __enter__(self) -> SulPlant:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _call(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as reason:  # whatever a system that is not ours may raise
            raise PlantFault(f"the system under learning failed: {type(reason).__name__}: {reason}") from reason


def machine_sul(model: Model, *, start: str | None = None, undefined: str = "undefined", seed: int = 0) -> Any:
    """A SUL that behaves like the machine; where an action is not defined it outputs `undefined` and stays.

    Every query begins in `start`, which may be left out where the machine has one initial state. Readings of a noisy
    machine are drawn, afresh in every query, as the seed has it.
    """
    if start is None and len(model.initial) != 1:
        raise ModelError(f"the machine has {len(model.initial)} initial states; say in which one the SUL starts")
    begin = model.initial[0] if start is None else model.state_named(start, "start")
    base: Any = import_extra("aalpy.base", "aalpy").SUL

    class MachineSul(base):
        """The machine, reset before every query."""

        def __init__(self) -> None:
            super().__init__()  # pyright: ignore[reportUnknownMemberType]
            self.queries = 0
            self.plant = SimulatedPlant(model, begin, seed)

        def pre(self) -> None:
            self.queries += 1
            self.plant = SimulatedPlant(model, begin, f"{seed} {self.queries}")

        def post(self) -> None:
            """Nothing to clean up."""

        def step(self, letter: Any) -> str:
            try:
                return self.plant.send(str(letter))
            except Refused:
                return undefined

    return MachineSul()
