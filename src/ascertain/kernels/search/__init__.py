"""Inner loops of the exact search."""
