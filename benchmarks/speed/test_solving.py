"""How fast real fingerprinting tasks are solved, kernels warm, quotient and pair table included.

Run with `pytest benchmarks/speed/test_solving.py -m '' -s`; the rival and fresh processes are in `benchmarks.solving`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.reference.search_tasks import FINGERPRINTS, fingerprint

from ascertain.search.exact import solve
from ascertain.search.solution import Solved


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_fingerprinting_finds_the_optimum(models_dir: Path, name: str, benchmark: Any) -> None:
    pattern, best = FINGERPRINTS[name]
    task = fingerprint(models_dir, pattern)
    solve(task, prove="never")
    result = benchmark(lambda: solve(task, prove="never"))
    assert isinstance(result, Solved)
    assert result.cost == best
