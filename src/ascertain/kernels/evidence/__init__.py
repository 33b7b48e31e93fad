"""Inner loops of worlds and of probing."""
