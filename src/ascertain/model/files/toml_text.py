"""TOML read within bounds: a short file cannot take long, nor fill the memory.

Python's reader takes time and memory that grow with the square of the parts of one dotted key, so that a key of a few
thousand parts, which no format of ours has, is refused before it is read. Whatever else is wrong is one sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

from ascertain.errors import FileError

MAX_PARTS = 100
_LONG_KEY = re.compile(rf"(?:\.[ \t]*+(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+){{{MAX_PARTS}}}")


def parse_toml(text: str, where: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """What a TOML text holds; `where` begins every error message."""
    if long_key := _LONG_KEY.search(text):
        line = 1 + text.count("\n", 0, long_key.start())
        raise FileError(
            f"{where}: line {line} has a name of more than {MAX_PARTS} parts between dots; no key here has as many"
        )
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as reason:
        raise FileError(f"{where}: this is not TOML: {reason}") from None
    except (ValueError, RecursionError):
        raise FileError(f"{where}: this is not TOML: a number is too long or tables are nested too deeply") from None
