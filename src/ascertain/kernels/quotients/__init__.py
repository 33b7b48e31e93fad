"""Inner loops of partition refinement and of pairs of states."""
