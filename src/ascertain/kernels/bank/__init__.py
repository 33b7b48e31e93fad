"""Inner loops of the compilers."""
