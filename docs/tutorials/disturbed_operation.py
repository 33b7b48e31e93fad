# %% [markdown]
# # A disturbed operation
#
# A turntable has six positions, p0 to p5. A sensor shows a magnet at p0 and a notch at p3, and nothing special
# elsewhere. Last night a program sent eight commands to it. This morning nobody is sure that all of them were carried
# out: a step may have been lost, or taken twice, and some of the logged readings may be wrong. Where is the turntable
# now?
#
# ## The log and what is declared about it

# %%
from pathlib import Path

print(Path("examples/operation/turntable.csv").read_text(encoding="utf-8"))

# %% [markdown]
# The problem file says where the operation started, and what may have gone wrong: at most two commands were replaced,
# a *step* by nothing or by two steps, a *back* by nothing or by two. It expects at most one replacement and at most
# one wrong reading; explanations that need more rank lower.

# %%
print(Path("examples/operation/turntable.toml").read_text(encoding="utf-8"))

# %% [markdown]
# ## What may have happened
#
# `compile_operation` computes the *bank*: all states that the operation may have ended in, each with the best
# explanation of the log that leads there. States with equally good explanations form a *shell*.

# %%
from ascertain import compile_operation

operation = "examples/operation/turntable.toml"
bank = compile_operation(operation)
for candidate in bank.facts()["candidates"]:
    changes = [
        f"line {r['line']}: {r['sent']} -> {' '.join(r['done']) or 'nothing'}" for r in candidate["replacements"]
    ]
    wrong = candidate["contradicted"]
    print(
        f"shell {candidate['shell']}  {candidate['state']}  {'; '.join(changes)}",
        f"(wrong readings: {wrong})" if wrong else "",
    )

# %% [markdown]
# The log as sent ends in p4, the *nominal* end. But the magnet came one command too early. The best explanation is
# that the step before it was taken twice, and then the turntable is at p5.
#
# This is a ranking, not an answer. It used old readings only, and it may be wrong.
#
# ## Fresh readings decide
#
# `observe` starts from the expected state, takes fresh readings on the plant, and changes to the bank as soon as the
# expected state no longer explains them. Here the plant is simulated, with a disturbance that the seed decides.

# %%
from ascertain import Certified, observe

run = observe(operation, "simulated:4")
for action, reading, _ in run.facts()["transcript"]:
    print(f"{action:5} -> {reading}")
print(run.run.verdict, "- the truth:", run.truth)
assert run.run.verdict == Certified("p5")
assert run.right

# %% [markdown]
# The step shows the magnet, which it does not do from p4, the expected state. So the observer changes to the bank.
# Readings before the change are not scored for the new stage, so it looks once more: the magnet rules out every other
# end state.
#
# ## If the declaration is wrong
#
# Suppose that more went wrong than was declared, and the true state is not in the bank. The observer then compares
# with every state of the turntable, in the bank or not: a missing candidate costs readings or an abstention, not a
# wrong answer beyond alpha. Start the plant at p1, which is in no shell:

# %%
assert "p1" not in {candidate["state"] for candidate in bank.facts()["candidates"]}
run = observe(operation, "simulated:0:p1")
print(run.run.verdict)
assert not (isinstance(run.run.verdict, Certified) and run.run.verdict.label != "p1")

# %% [markdown]
# [The bank](../bank.md) explains scores, shells, weights and how many shells to keep; [guarantees](../guarantees.md)
# says what is assumed.
