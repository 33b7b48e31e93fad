"""Transports of wiring files, one file each with its template (`KIND.toml`) beside it.

A module here defines a subclass of `AbstractAdapter` (`ascertain.plant.wiring.adapter` has the contract) and a
`PlantKind` that names it. The help of the command line imports all of them, so packages of extras are imported in
`connect`.
"""
