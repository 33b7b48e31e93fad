"""Every line below the imports is wrong, and a type checker must say so of each."""

import ascertain
from ascertain import Bounded, Solved, Unsolvable, observe, pose, read_model, read_problem, settle

settle(wrong=1)
settle("problem.toml", time_limit="1 s")
settle("problem.toml").solution.cost
settle("problem.toml").policy.size
settle("problem.toml").answer
Unsolvable.cost
Solved(cost=1)
Bounded()
pose(3)
pose("lamp.dot", hypothesis="all")
read_model(None)
read_problem("problem.toml").taks
observe()
observe("problem.toml", "simulated:7", policy=3)
observe("problem.toml", 7)
ascertain.nonsense
ascertain.Machine(states=("a",))
ascertain.with_flip("lamp.dot", 1)
ascertain.SimulatedPlant().send
settle("problem.toml").cost
ascertain.bound("problem.toml").cost
observe("problem.toml", "simulated:7").label
ascertain.fingerprint(["a.dot"]).cost
ascertain.calibrate([3])
ascertain.with_flip("lamp.dot", 0.05)
settle("problem.toml").policy.draw("tree.svg")
ascertain.draw_policy("tree.svg")
