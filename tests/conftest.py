"""What every test may use: the real machines, where they are there."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAMP = ROOT / "examples" / "plants" / "lamp.toml"
"""The smallest problem about a plant: a lamp, lit or dark, and its switch."""

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


@pytest.fixture
def one_time(monkeypatch: pytest.MonkeyPatch) -> str:
    """Records of this test all say the same time, so that whole journals can be compared."""
    time = "2026-11-18T05:00:00+00:00"
    monkeypatch.setattr("ascertain.live.recorder.tell_time", lambda: time)
    return time


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser, for pages."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()
