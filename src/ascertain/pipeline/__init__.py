"""The roads: one file for each thing that a user can ask for, from a problem to a result that carries its proof."""
