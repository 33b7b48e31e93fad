"""One file a compiler. Importing this package imports them all, and each registers itself (see `bank/compiler.py`)."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ascertain.bank.compiler import COMPILERS

__all__ = ["COMPILERS"]

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
