"""How fast real fingerprinting tasks are solved, kernels warm, quotient and pair table included.

Run with `pytest benchmarks/speed/test_solving.py -m '' -s`; the rival and fresh processes are in `benchmarks.solving`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import find_models
from tests.reference.search_tasks import FINGERPRINTS, fingerprint

from ascertain.search.exact import solve
from ascertain.search.solution import Solved


@pytest.fixture(scope="module")
def models() -> Path:
    path = find_models()
    if path is None:
        pytest.skip("the real machines are not here; set ASCERTAIN_MODELS to their directory")
    return path


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_fingerprinting_finds_the_optimum(models: Path, name: str, benchmark: Any) -> None:
    pattern, best = FINGERPRINTS[name]
    task = fingerprint(models, pattern)
    solve(task, prove="never")
    result = benchmark(lambda: solve(task, prove="never"))
    assert isinstance(result, Solved)
    assert result.cost == best
