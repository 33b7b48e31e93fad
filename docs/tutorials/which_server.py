# %% [markdown]
# # Which server is it?
#
# You have models of five mail servers: from a specification, from automata learning, or from last year's audit. A box
# in the field runs one of them. Which one, in as few requests as possible? This is *fingerprinting*.
#
# `examples/servers/` holds five small servers as Graphviz files. Each has the requests HELO, AUTH, SEND and QUIT and
# answers with a status code.

# %%
from pathlib import Path

from ascertain import fingerprint, read_model

files = sorted(Path("examples/servers").glob("*.dot"))
machines = {file.stem: read_model(file) for file in files}
for name, machine in machines.items():
    print(f"{name:8} {machine.num_states} states, {machine.num_actions} requests")

# %% [markdown]
# ## Servers that cannot be distinguished
#
# `fingerprint` uses the requests that all servers know, and a reset that takes the box back to its start. Before it
# searches, it merges servers that react alike to every experiment:

# %%
found = fingerprint(machines)
for names in found.classes:
    print(" or ".join(names))

assert ("alder", "elm") in found.classes

# %% [markdown]
# `elm` has one state more than `alder`, but no sequence of requests shows the difference. The two share one answer,
# "alder|elm".
#
# ## The cheapest experiment
#
# The cost of an experiment here is its number of requests and resets. `expected` is the mean over servers, if all are
# equally likely.

# %%
settled = found.settled
print("worst cost:", settled.solution.cost)
print("mean cost: ", found.expected)
print("checked:   ", settled.verdict)
assert settled.solution.cost == 7

# %% [markdown]
# A reset is often slow: a new connection, a reboot. Give it its real cost, and the solver avoids it:

# %%
for reset_cost in (1, 3, 10, None):
    result = fingerprint(machines, reset_cost=reset_cost)
    what = "no reset" if reset_cost is None else f"a reset costs {reset_cost}"
    print(f"{what:18} worst cost {result.settled.solution.cost}")

# %% [markdown]
# The best experiment needs no reset at all, so its cost does not change.
#
# ## Run it on the box
#
# Whatever has a method `send(action) -> reading` is a plant. Here the box is a simulation of `birch`; yours would
# open a connection.

# %%
from ascertain import Certified, SimulatedPlant, walk_policy

birch = machines["birch"]
box = SimulatedPlant(birch, birch.initial[0])
walk = walk_policy(settled.task, settled.policy, box)
for request, status in walk.transcript:
    print(f"{request:6} {status}")
print(walk.verdict)
assert walk.verdict == Certified("birch")

# %% [markdown]
# ## A box that is none of them
#
# A status code that no server gives at that point ends the experiment with an abstention. It is never matched to the
# nearest server:


# %%
class Stranger:
    """Answers everything with the same code."""

    def send(self, action: str) -> str:
        return "500"


stranger = walk_policy(settled.task, settled.policy, Stranger())
print(stranger.verdict)
assert not isinstance(stranger.verdict, Certified)

# %% [markdown]
# The reverse is not guaranteed. A box that is none of the models but reacts like one of them *during the experiment*
# is named as that one: the answer is right if the box is one of the listed servers. See [what is
# assumed](../guarantees.md#what-is-assumed). [Conformance](../conformance.md) checks it on the box:
# `identify(servers, box, conform_by="complete:0")`.
#
# ## A transcript from somewhere else
#
# If you only have a recording, ask which servers explain it:

# %%
from ascertain import explain_transcript

Path("seen.csv").write_text("command,reading\nHELO,250\nAUTH,235\nHELO,250\nSEND,250\n", encoding="utf-8")
explained = explain_transcript(machines, "seen.csv")
print("explained by:", *explained.classes)
assert explained.classes == ("birch",)

# %% [markdown]
# On the command line the same is `ascertain fingerprint examples/servers/*.dot`;
# [fingerprinting](../fingerprinting.md) has the options.
