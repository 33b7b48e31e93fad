"""One folder a study. Importing this package imports their entries, not the studies themselves (see `registry.py`).

Modules beside the folders are what several studies share.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ascertain_paper.registry import STUDIES, choose_studies, study_names

__all__ = ["STUDIES", "choose_studies", "study_names"]

for found in iter_modules(__path__):
    if found.ispkg:
        import_module(f"{__name__}.{found.name}")
