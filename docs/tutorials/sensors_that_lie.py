# %% [markdown]
# # Sensors that lie
#
# A lamp is behind a door. You can look through the crack, which shows the wrong thing one time in twenty, or press
# the switch, which clicks and toggles the lamp. Was the lamp lit when you came?
#
# With noise no finite number of readings is certain. So the question changes: *how much does an answer cost that is
# wrong with probability at most alpha, and missing with probability at most beta?*
#
# ## The same machine, with noise
#
# `flip` replaces a reading, with this probability, by another reading that the same action can give. Probabilities
# are exact.

# %%
from ascertain import machine_from_transitions, pose

lamp = machine_from_transitions(
    [
        ("dark", "look", "dark", "dark"),
        ("lit", "look", "lit", "lit"),
        ("dark", "press the switch", "click", "lit"),
        ("lit", "press the switch", "click", "dark"),
    ]
)
task = pose(lamp, cost={"press the switch": 2}, flip="1/20", alpha="1/1000", beta="1/100")

# %% [markdown]
# ## What must an answer cost?
#
# `bound` looks at the question from both sides. The *lower bound* holds for every experiment that keeps to alpha and
# beta. The *upper bound* is the expected cost of a concrete policy, which is returned as well.

# %%
from ascertain import bound

found = bound(task, certified=True)
print(f"lower bound {float(found.best):.3f}")
print(f"upper bound {float(found.upper):.3f}")
print(f"ratio       {float(found.ratio):.3f}")
assert found.best <= found.upper

# %% [markdown]
# So at this risk about three looks are needed on average, and no cleverness changes that by more than the ratio says.
# What makes it expensive is the pair of hypotheses that is hardest to distinguish:

# %%
print(found.hardest.why)

# %% [markdown]
# The policy keeps to both risks. This is evaluated exactly, not simulated, and the certificate says so:

# %%
wrong, abstained = found.risk
print(f"wrong with probability at most {float(wrong):.6f}, abstains with at most {float(abstained):.6f}")
print(found.verdict)
print(*found.verdict.proved, sep="\n")
assert wrong <= task.alpha
assert abstained <= task.beta

# %% [markdown]
# ## How the cost grows with the risk
#
# A hundred times less risk costs one or two looks more, not a hundred times as many. A look that agrees adds a fixed
# amount of evidence, and the evidence needed grows with the logarithm of 1/alpha.

# %%
for at in (bound(task, alpha="1/10"), found, bound(task, alpha="1/100000")):
    print(f"alpha {at.question.alpha!s:>8}: expected cost between {float(at.best):.3f} and {float(at.upper):.3f}")

# %% [markdown]
# ## Run it
#
# `observe` decides after each reading: act, answer, or abstain. Its guarantee holds at whatever moment it stops. Here
# the plant is simulated: `simulated:SEED:STATE` starts the model in a state of your choice.
# `examples/plants/lamp.toml` is the same lamp as a problem file, at alpha = 1/1,000,000.

# %%
from ascertain import Certified, observe

for seed in (0, 7, 8):
    run = observe("examples/plants/lamp.toml", f"simulated:{seed}:lit")
    facts = run.facts()
    shown = " ".join(reading for _, reading, _ in facts["transcript"])
    print(f"seed {seed}: {facts['label']} after {facts['readings']} readings ({shown})")
    assert run.run.verdict == Certified("lit")

# %% [markdown]
# A look that contradicts the others costs further looks, not a wrong answer.
#
# ## Declare the worst sensor you would use
#
# Everything above rests on one number that you supplied: 1/20. If the sensor is worse than declared, answers are
# wrong more often than alpha. If it is better, you only pay for some extra readings. And 1/20 must hold for each
# reading *given the past*: a sensor that sticks to a wrong value breaks the guarantee even if it is right 19 times in
# 20 on average. See [what is assumed](../guarantees.md#what-is-assumed) and [noise](../noise.md).
