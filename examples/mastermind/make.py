"""Write the game of Mastermind as a problem file: which code is hidden, and how many guesses until it is known?

    python examples/mastermind/make.py PLACES COLOURS FOLDER

Every code is a state, a hypothesis and an action: guessing it. A guess changes nothing and reads its marks: how many
places are right, and how many more colours are in the code at another place. FOLDER gets code.json, the model, and
which.toml, the problem. Then, for instance:

    ascertain solve FOLDER/which.toml --certificate proof.json
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

PROBLEM = """# Which code is hidden? Guess until it is known; guessing it as well would be one guess more.
model = "code.json"

[task]
hypotheses = "all"
label = "state"
"""


def mark(code: str, guess: str) -> str:
    """How many places are right, and how many more colours are."""
    right = sum(map(str.__eq__, code, guess))
    shared = sum(min(code.count(colour), guess.count(colour)) for colour in set(guess))
    return f"{right}+{shared - right}"


def write(places: int, colours: int, folder: Path) -> None:
    """Write the model and the problem."""
    codes = ["".join(code) for code in itertools.product("123456789"[:colours], repeat=places)]
    folder.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(f'["{code}","{guess}","{mark(code, guess)}","{code}"]' for code in codes for guess in codes)
    (folder / "code.json").write_text(
        f'{{"format":"ascertain-model","version":1,"transitions":[\n{rows}\n]}}\n', "utf-8"
    )
    (folder / "which.toml").write_text(PROBLEM, "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4 or not (sys.argv[1].isdigit() and sys.argv[2] in set("23456789")):
        sys.exit("usage: make.py PLACES COLOURS FOLDER, with 2 to 9 colours")
    write(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
