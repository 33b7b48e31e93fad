"""How long to keep looking: evidence, the worlds it is held against, and what to probe next."""
