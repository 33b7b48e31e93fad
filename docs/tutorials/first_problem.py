# %% [markdown]
# # A first problem
#
# A packaging machine does not respond to the panel. It is idle, running or jammed, and you cannot see which. You can
# press *start*, which takes three minutes of a technician's time, or send a *ping*, which takes one. Which state is
# it in, and what does it cost at most to find out?
#
# This tutorial goes from the model to a proved answer, in Python alone. It takes five minutes.
#
# ## The model
#
# A model lists transitions: in this state, this action gives this reading and leads to that state.

# %%
from ascertain import machine_from_transitions

machine = machine_from_transitions(
    [
        ("idle", "start", "ok", "running"),
        ("running", "start", "no", "running"),
        ("jammed", "start", "no", "jammed"),
        ("idle", "ping", "quiet", "idle"),
        ("running", "ping", "busy", "running"),
        ("jammed", "ping", "quiet", "jammed"),
    ]
)
print("states: ", *machine.states)
print("actions:", *machine.actions)

# %% [markdown]
# No single action settles the question. A *ping* does not distinguish idle from jammed, and *start* does not
# distinguish running from jammed. *Start* also changes the state.
#
# ## The question
#
# `pose` adds the question to the model. Every state is a hypothesis unless you list fewer, and the answer is the
# state's name unless you group states under labels. Costs are exact numbers: integers, fractions, or texts such as
# `"1/50"`.

# %%
from ascertain import pose

task = pose(machine, cost={"start": 3, "ping": 1})

# %% [markdown]
# ## The cheapest experiment
#
# `settle` looks for the experiment whose worst cost is lowest, and among those for one whose mean is lowest. The
# solution is one of three things, and `match` says which: `Solved`, `Unsolvable` (with a witness), or `Bounded` (a
# limit was reached; lower and upper bound are known).

# %%
from ascertain import Bounded, Solved, Unsolvable, settle

settled = settle(task)
match settled.solution:
    case Solved(cost=cost, policy=policy):
        print("lowest worst cost:", cost)
    case Unsolvable():
        print("no experiment settles this question")
    case Bounded(lower=lower, upper=upper):
        print("the lowest worst cost is between", lower, "and", upper)

assert cost == 4

# %% [markdown]
# Walk the policy on a simulated machine in each state to see what it does:

# %%
from ascertain import SimulatedPlant, walk_policy

for number, name in enumerate(machine.states):
    walk = walk_policy(task, policy, SimulatedPlant(machine, number))
    steps = ", ".join(f"{action} -> {reading}" for action, reading in walk.transcript)
    print(f"{name:8} {steps:32} cost {walk.cost}: {walk.verdict.label}")
    assert walk.verdict.label == name

# %% [markdown]
# The worst cost is 4. `draw_policy("tree.svg", task, policy)` draws the policy as a tree.
#
# Starting first would have the same worst cost and a higher mean: pinging finds a running machine at cost 1. If only
# the mean matters to you, minimise it:

# %%
mean = settle(task, objective="expected").solution
print("lowest mean cost:", mean.cost, "- first action:", machine.actions[mean.policy.action[0]])
assert mean.cost == 3

# %% [markdown]
# (All states are equally likely here; `weights` changes that.)
#
# ## The proof
#
# `settle` has already written a certificate and had it checked by a separate program, `ascertain_check`. It has two
# claims that meet, so that the cost is the optimum:

# %%
print(settled.verdict)
print(*settled.verdict.proved, sep="\n")
assert settled.verdict.proved == (
    "the policy settles the question at a cost of at most 4",
    "no policy settles the question for less than 4",
)

# %% [markdown]
# `settled.write_certificate("proof.json")` writes two files, `proof.json` and `proof.task.json`. Anyone can check
# them with `python -P -m ascertain_check proof.task.json proof.json`, without the solver.
#
# ## When the question has no answer
#
# Suppose that *start* is not allowed today. Then idle and jammed react alike to everything that is left:

# %%
from ascertain import find_obstruction

only_ping = pose(machine, actions=["ping"])
obstruction = find_obstruction(only_ping)
first, second = obstruction.pair
print(machine.states[first], "and", machine.states[second], "cannot be distinguished")
assert isinstance(settle(only_ping).solution, Unsolvable)

# %% [markdown]
# What is assumed in all of this: the machine really follows the model, and readings are never wrong. The next
# tutorials relax the second assumption. [What is guaranteed, and what is assumed](../guarantees.md) lists all of
# them.
