"""The page: the question, the experiment, the run, a replay and a check, for people who would rather look than read.

Everything on it comes from the roads of `pipeline/`, which run in processes of their own (`worker.py`); the page draws.
"""
