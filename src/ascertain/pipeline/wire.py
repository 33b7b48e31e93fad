"""The road of wiring files: read one, reach its plant, say what every action would do, and try one."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ascertain.errors import TaskError, did_you_mean
from ascertain.plant.wiring.file import Wiring, read_wiring
from ascertain.plant.wiring.plant import WiredPlant, describe


@final
@dataclass(frozen=True)
class CheckedWiring:
    """A wiring that holds: its plant was reached."""

    wiring: Wiring
    identity: str | None
    """What the plant says it is; None when it does not say."""
    tried: str | None = None
    reading: str | None = None
    """What the action that was tried read."""

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `wire --json` prints."""
        wiring = self.wiring
        return {
            "file": str(wiring.path),
            "kind": wiring.kind,
            "address": wiring.address,
            "identity": self.identity,
            "actions": [describe(action) for action in wiring.actions.values()],
            "tried": self.tried,
            "reading": self.reading,
        }


def check_wiring(path: str | Path, *, attempt: str | None = None, timeout: float = 10.0) -> CheckedWiring:
    """Read a wiring file, connect to its plant and read its identity; carry out one action, `attempt`, if it is named.

    Nothing else is sent. `timeout` holds where the file does not say one. A plant that cannot be reached is a
    PlantFault, and so is a fault of the action that is tried.
    """
    wiring = read_wiring(path)
    if attempt is not None and wiring.action(attempt) is None:
        hint = did_you_mean(attempt, wiring.actions) or f"; there are {', '.join(list(wiring.actions)[:12])}"
        raise TaskError(f"--try: {wiring.path} has no action {attempt!r}{hint}")
    with closing(WiredPlant(wiring, timeout=timeout)) as plant:
        return CheckedWiring(wiring, plant.identity, attempt, None if attempt is None else plant.send(attempt))
