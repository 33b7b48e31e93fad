"""Kernels of `sequences/`."""
