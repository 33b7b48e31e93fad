"""Certified active observability: the cheapest experiment that settles a question about a plant, with proof.

The vocabulary stands in `__init__.pyi`, in reading order, one import a line. Type checkers and editors read it there;
at run time a name is imported from its home when it is first used, so that importing `ascertain` is quick.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    """A name of the vocabulary, or `__all__`."""
    from importlib import import_module

    home = _homes()
    if name == "__all__":
        return list(home)
    if name not in home:
        raise AttributeError(f"module 'ascertain' has no attribute {name!r}")
    found: object = getattr(import_module(home[name]), name)
    if name != "__version__":
        from ascertain.checking import checked

        found = checked(found, name)
    # Kept, so that the name is looked up once and a function that is pickled by its name is found again.
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(_homes())


def _homes() -> dict[str, str]:
    """The module that each name lives in."""
    import re
    from pathlib import Path

    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"^from ([\w.]+) import (\w+) as \2$", stub, re.MULTILINE)}
