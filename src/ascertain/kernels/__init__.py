"""Compiled loops, mirroring the folders that call them.

A kernel takes integers and arrays, writes what its caller allocated and raises nothing: its caller has checked shapes
and ranges. Each has a slow obvious twin in `tests/reference/`.
"""
