"""How well it can be done: the cheapest experiment, and the proof that none is cheaper."""
