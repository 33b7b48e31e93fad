"""The verbs of the paper's studies, which `ascertain` finds by their entry points."""

from __future__ import annotations

from ascertain.errors import import_extra


def need_paper() -> None:
    """One sentence that names the extra where what the studies need is not installed."""
    for package in ("joblib", "matplotlib"):
        import_extra(package, "paper")
