"""How sure we are: e-values against every state of a world, triggers, and probing rules."""
