"""Plants that are named by their wiring file: `--plant wiring.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascertain.plant import PlantContext, PlantKind

if TYPE_CHECKING:
    from ascertain.plant.wiring.plant import WiredPlant


def _open(text: str, context: PlantContext) -> WiredPlant:
    # The help of the command line imports this module, and wiring files need readers of models' files.
    from ascertain.plant.wiring.file import read_wiring
    from ascertain.plant.wiring.plant import open_for

    return open_for(read_wiring(text), context)


WIRING = PlantKind("wiring", "WIRING.toml", _open, reads_file=True)
"""Whatever a table says how to reach."""
