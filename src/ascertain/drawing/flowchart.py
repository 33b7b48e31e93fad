"""The flowchart of a machine that is too large for a circle, as Mermaid text: whoever shows it lays it out.

States that no experiment tells apart share a colour, and say so in words: a number stands behind their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ascertain.drawing.printable import shorten

MOST_STATES, MOST_ARROWS = 40, 160
"""More do not stand apart on a screen."""
MOST_LABELS, LONGEST = 3, 24
"""Labels that an arrow shows, and characters of each."""
COLOURS = ("#ffe08a", "#a8d8ff", "#ffc2c2", "#c4ecb8", "#e0c8ff", "#ffd0a8", "#b8f0e8", "#f4c8e8")
"""Light enough for black letters on them (a contrast of 12 to 1 and more)."""


def draw_flowchart(
    states: Sequence[str], arrows: Mapping[tuple[int, int], Sequence[str]], block: Sequence[int]
) -> str | None:
    """Mermaid text; `arrows[s, t]` lists what leads from s to t, `block[s]` is the class of s. None: too large."""
    if not arrows or len(states) > MOST_STATES or len(arrows) > MOST_ARROWS:
        return None
    shared = {c: n for n, c in enumerate(c for c, size in Counter(block).items() if size > 1)}
    lines = ["flowchart LR"]
    for s, name in enumerate(states):
        said = f" · alike {shared[block[s]] + 1}" if block[s] in shared else ""
        stays = arrows.get((s, s), ())  # what leads back is written inside: loops would lie upon one another
        lines.append(f'  s{s}("{_encode(name)}{said}{"<br>" if stays else ""}{_list(stays)}")')
    lines += [f'  s{s} -->|"{_list(labels)}"| s{t}' for (s, t), labels in arrows.items() if s != t]
    for c, n in shared.items():
        members = ",".join(f"s{s}" for s in range(len(states)) if block[s] == c)
        lines.append(f"  classDef alike{n} fill:{COLOURS[n % len(COLOURS)]},stroke:#444,color:#000")
        lines.append(f"  class {members} alike{n}")
    return "\n".join(lines)


def _list(labels: Sequence[str]) -> str:
    """The first labels below one another."""
    more = [f"and {len(labels) - MOST_LABELS} more"] * (len(labels) > MOST_LABELS)
    return "<br>".join([*map(_encode, labels[:MOST_LABELS]), *more])


def _encode(name: str) -> str:
    """A name whose every character but letters and digits is written as its number: it cannot be read as markup."""
    return "".join(c if c.isalnum() or c == " " else f"#{ord(c)};" for c in shorten(name, LONGEST))
