"""A commented problem file to start from, with a small machine inside."""

from __future__ import annotations

from pathlib import Path

from ascertain.errors import FileError
from ascertain.writing import write_whole

STARTER = """\
# A problem for ascertain: a model of the plant, a question about its state, costs and risk.
# Try:  ascertain inspect {name}     what it is, and whether something rules every experiment out
#       ascertain quotient {name}    which states no experiment tells apart
#       ascertain solve {name}       the cheapest experiment, and its proof

# The model: a file (model = "plant.dot"), several (models = ["a.dot", "b.dot"]), or a table like this one.
# Each transition is [state, action, reading, next state]. An action that a state does not list is forbidden there;
# undefined = "self-loop" makes it do nothing instead.
[model]
initial = "idle"
transitions = [
  ["idle",    "start", "ok",    "running"],
  ["idle",    "ping",  "quiet", "idle"],
  ["running", "start", "no",    "running"],
  ["running", "ping",  "busy",  "running"],
  ["jammed",  "start", "no",    "jammed"],
  ["jammed",  "ping",  "quiet", "jammed"],
]

# The question: which states may the plant be in, and what do we want to know about them?
[task]
hypotheses = "all"            # "all", "initial", ["idle", "jammed"], or {{ log = "before.csv" }}
label = "state"               # "state", "machine", {{ nominal = "idle" }}, {{ pattern = "^(idle|run)" }}, or a table:
                              # {{ idle = "ready", "*" = "not ready" }}
# about = "current"           # ask for the state at the end of the experiment instead of the one at its start

[cost]                        # what an action costs; integers, or rationals such as "1/2"
default = 1
start = 3

# [reset]                     # one more action that leads back to the initial state from everywhere
# action = "RESET"

# [safety]
# never = ["jammed"]          # no action may lead here, from any state that the plant may still be in

# [noise]
# flip = "1/50"               # a reading is replaced, with this probability, by another one of the same action

# [weights]                   # how likely states are, for --objective expected
# running = 2

# [risk]
# alpha = "1/1000"            # how often an answer may be wrong
# beta = "1/100"              # how often there may be no answer
"""


def write_starter(path: str | Path, *, force: bool = False) -> None:
    """Write the starter; a file that is there already is written over only with `force`."""
    path = Path(path)
    if path.exists() and not force:
        raise FileError(f"{path}: this file is there already; choose another name or add --force")
    write_whole(path, STARTER.format(name=path).encode())
