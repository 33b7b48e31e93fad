"""Is this the checker, on Python's own standard library? A folder can hold a `hashlib.py` that says VERIFIED.

`python -m` looks for modules in the current directory first. `python -P -m ascertain_check` and the command
`ascertain-check` do not; with -I in the place of -P, PYTHONPATH is ignored too. Whoever leaves -P out is
protected as far as can be: the current directory is taken off the path before anything is imported that the checker
uses, and a checker that finds a module of the standard library elsewhere does not judge. Against a folder with an
`ascertain_check.py`, and against modules that have done their work when they are loaded, only these options help.
"""

from __future__ import annotations

import os
import sys

REPLACED = frozenset({"distutils"})
"""What installers put in the place of a module of the standard library; the checker does not use it."""


def forget_current_directory() -> None:
    """Take off the path what `python -m` without -P has put there; that this is so is known while it loads us."""
    if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
        del sys.path[:1]


def find_shadows() -> list[str]:
    """Modules that are called like those of the standard library, and were loaded from elsewhere: name and file."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    homes = {os.path.dirname(os.__file__), os.path.join(sys.base_exec_prefix, sys.platlibdir, python)}
    real = tuple(os.path.realpath(home) + os.sep for home in homes)
    found: list[str] = []
    for name, module in sorted(sys.modules.items()):
        file, top = getattr(module, "__file__", None), name.partition(".")[0]
        is_python = top in sys.stdlib_module_names and top not in REPLACED
        if is_python and isinstance(file, str) and not os.path.realpath(file).startswith(real):
            found.append(f"{name} from {file!a}")
    return found
