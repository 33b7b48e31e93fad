"""One file a claim. Importing this package imports them all, and each registers its claims (see `claim.py`)."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ascertain_check.claim import CLAIMS

__all__ = ["CLAIMS"]

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
