"""The loop: a policy meets a plant."""
