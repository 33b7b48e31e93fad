"""Benchmarks find the real machines as the tests do."""

from __future__ import annotations

from tests.conftest import models_dir

__all__ = ["models_dir"]
