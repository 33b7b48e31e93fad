"""Inner loops of planning under noise."""
