"""Policies under noise: information states, controllers, and bounds from both sides."""
