"""Plants without programming: a table says how each action is done and read, and an adapter speaks the transport.

`adapter.py` is the contract of adapters, `file.py` reads the table, `decoding.py` makes readings of values, and
`plant.py` does the steps and says what each fault means.
"""
