"""How things show themselves: a line, a table, a tree, a diagram; from plain data, so that every folder can use it.

`report/` makes whole pages; here one thing draws itself for a terminal, a notebook or a file.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def template(name: str) -> Template:
    """A template of this folder; whatever is put into it is escaped."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("ascertain.drawing", "templates")
    return Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True).get_template(name)
