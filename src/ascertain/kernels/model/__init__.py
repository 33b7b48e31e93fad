"""Inner loops of Boolean plants."""
