# %% [markdown]
# # A live plant
#
# So far plants were simulated. Now the observer talks to another process: a program that you write for your device,
# in any language, in about ten lines. It reads a numbered action from its standard input and writes the number and
# the reading to its standard output.
#
# ## The plant

# %%
from pathlib import Path

print(Path("examples/plants/lamp.py").read_text(encoding="utf-8"))

# %% [markdown]
# This lamp greets with its name and with `retry-safe`: if it is asked the same number again, it repeats its answer
# and does nothing. So a lost answer can be asked for again without pressing the switch twice. [Plants](../plants.md)
# has the whole protocol, also over TCP.
#
# ## The problem
#
# Was the lamp lit before we came? Looking is wrong one time in twenty, and the answer may be wrong once in a million.

# %%
print(Path("examples/plants/lamp.toml").read_text(encoding="utf-8"))

# %% [markdown]
# ## A dry run
#
# Before anything is sent, ask what the first action would be:

# %%
import sys

from ascertain import observe

problem = "examples/plants/lamp.toml"
plant = f"exec:{sys.executable} examples/plants/lamp.py"
dry = observe(problem, plant, dry_run=True)
print("would send:", dry.run.next_action)
assert dry.run.next_action == "look"

# %% [markdown]
# ## The run
#
# `identity` refuses a plant of another name. `journal` writes every step to disk before and after it is done, so that
# a crash loses nothing. `certificate` writes the proof of the answer.

# %%
from ascertain import Certified

run = observe(problem, plant, identity="lamp", journal="lamp.journal", certificate="lamp.json")
for action, reading, _ in run.facts()["transcript"]:
    print(f"{action} -> {reading}")
print(run.run.verdict)
print("certificate:", run.certificate)
assert run.run.verdict == Certified("lit")
assert run.certificate == "VERIFIED"

# %% [markdown]
# Five looks that agree are the least that can be enough: each multiplies the odds by 19, and 19^5 is the first power
# of 19 above a million.
#
# ## After a crash
#
# The same call with `resume=True` continues where the journal ends. This one has ended, so that the verdict is given
# again and no plant is opened:

# %%
again = observe(problem, plant, journal="lamp.journal", resume=True)
print(again.run.verdict, "from plant:", again.plant)
assert again.run.verdict == run.run.verdict

# %% [markdown]
# ## Someone else checks it
#
# The certificate holds the journal's records, the bank and the readings. The checker needs Python alone. It
# recomputes the evidence, and says what it had to trust:

# %%
import subprocess

check = subprocess.run(
    [sys.executable, "-P", "-m", "ascertain_check", "-v", "lamp.task.json", "lamp.json"],
    capture_output=True,
    text=True,
    check=True,
)
print(check.stdout)
assert check.stdout.startswith("VERIFIED")

# %% [markdown]
# ## A plant that fails
#
# A plant that hangs up, answers garbage or takes too long never leads to a guess. Here the program ends at once:

# %%
from ascertain import Abstained, AscertainError

try:
    broken = observe(problem, f"exec:{sys.executable} -c pass", timeout=5)
except AscertainError as error:
    print(type(error).__name__ + ":", error)
else:
    print(broken.run.verdict)
    assert isinstance(broken.run.verdict, Abstained)

# %% [markdown]
# [Plants](../plants.md#faults) has the table of faults and what becomes of each. [Guarantees](../guarantees.md) says
# what a run certificate proves and what it trusts.
