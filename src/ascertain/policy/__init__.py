"""What to do: policies, and the automaton that the exact solver returns."""
