"""What every test may use: the real machines, where they are there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A suite that is started in the background inherits that interrupts are ignored, and so would the programs it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def find_models() -> Path | None:
    """The directory of real machines: ASCERTAIN_MODELS, or the one beside the checkout; None where there is none."""
    path = Path(os.environ.get("ASCERTAIN_MODELS", ROOT.parent / "shared" / "models"))
    return path if (path / "MANIFEST.tsv").is_file() else None


@pytest.fixture(scope="session")
def models_dir() -> Path:
    path = find_models()
    if path is None:
        pytest.skip("the real machines are not here; set ASCERTAIN_MODELS to their directory")
    return path
